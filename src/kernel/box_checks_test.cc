#include "kernel/box_checks.h"

#include <gtest/gtest.h>

#include <cmath>

#include "emplace/error.h"

namespace emplace {
namespace {

template <class F>
std::string refusal(F f) {
  try {
    f();
  } catch (const Error& e) {
    return std::string(e.message());
  }
  return "";
}

TEST(BoxChecks, BoxesAndScoresMustFit) {
  const Tensor boxes(DType::kFloat, Shape{3, 4}), scores(DType::kFloat, Shape{3});
  EXPECT_EQ(refusal([&] { check_boxes(boxes, scores); }), "");
  EXPECT_EQ(refusal([&] { check_boxes(boxes, Tensor(DType::kFloat, Shape{2})); }),
            "scores has incompatible shape (Dimensions must be equal, but are 3 and 2)");
  EXPECT_EQ(refusal([&] { check_boxes(Tensor(DType::kFloat, Shape{3, 5}), scores); }),
            "boxes must have 4 columns (Dimension must be 4 but is 5)");
  EXPECT_EQ(refusal([&] { check_boxes(boxes, scores, true); }), "overlaps must be square");
}

TEST(BoxChecks, NumbersAreScalarsWithinBounds) {
  EXPECT_EQ(most_boxes(Tensor::scalar<int32_t>(7)), 7);
  EXPECT_EQ(refusal([] { most_boxes(Tensor::scalar<int32_t>(-1)); }),
            "output size must be non-negative");
  EXPECT_EQ(refusal([] { check_overlap(1.f); }), "");
  EXPECT_EQ(refusal([] { check_overlap(NAN); }), "iou_threshold must be in [0, 1]");
  EXPECT_EQ(refusal([] { check_threshold(Tensor::of({1.f}, {1})); }),
            "thresholds must be 0-D (scalar), got shape [1]");
}

}  // namespace
}  // namespace emplace
