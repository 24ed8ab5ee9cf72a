#include <gtest/gtest.h>

#include "emplace/tensor.h"
#include "tensor/text.h"

namespace emplace {
namespace {

TEST(SummaryTest, RowsStandInBracketsUntilSoManyElementsAreWritten) {
  const Tensor t = Tensor::of<int32_t>({1, 2, 3, 4}, {2, 2});
  EXPECT_EQ(summary_in_rows(t, 3), "[1 2][3...]...");
  EXPECT_EQ(summary_in_rows(t, 2), "[1 2]...");
  EXPECT_EQ(summary_in_rows(t, 9), "[1 2][3 4]");
  const Tensor deep = Tensor::of<int32_t>({1, 2, 3, 4, 5, 6, 7, 8}, {2, 2, 2});
  EXPECT_EQ(summary_in_rows(deep, 3), "[[1 2][3...]]...");
  EXPECT_EQ(summary_in_rows(Tensor(DType::kFloat, {0, 2}), 3), "");
}

TEST(SummaryTest, ShowsTheFirstElementsOnOneLine) {
  const Tensor t = Tensor::of<float>({1, 2, 3, 4, 5, 6}, {3, 2});
  EXPECT_EQ(t.summary(3), "1 2 3...");
  EXPECT_EQ(t.summary(6), "1 2 3 4 5 6");
  EXPECT_EQ(t.summary(0), "...");
  EXPECT_EQ(t.summary(-5), "...");
}

TEST(SummaryTest, AnEmptyTensorIsEmptyText) {
  EXPECT_EQ(Tensor(DType::kFloat, {0}).summary(3), "");
  EXPECT_EQ(Tensor().summary(3), "");
}

TEST(SummaryTest, EveryKindOfElementHasAText) {
  EXPECT_EQ(Tensor::of<bool>({true, false}, {2}).summary(3), "1 0");
  EXPECT_EQ(Tensor::of<int8_t>({-1, 65}, {2}).summary(3), "-1 65");
  EXPECT_EQ(Tensor::of<Half>({Half(0.1f)}, {1}).summary(3), "0.0999755859");
  EXPECT_EQ(Tensor::of<Complex64>({{1, -2}}, {1}).summary(3), "(1,-2)");
  EXPECT_EQ(Tensor::of<std::string>({"a\n", "b"}, {2}).summary(3), "a\\n b");
  EXPECT_EQ(Tensor(DType::kVariant, {2}).summary(1), "<Variant empty>...");
}

}  // namespace
}  // namespace emplace
