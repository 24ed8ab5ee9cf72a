#include "emplace/dtype.h"

#include <gtest/gtest.h>

#include <cmath>

#include "emplace/tensor.h"

namespace emplace {
namespace {

TEST(DTypeTest, EveryNameLeadsBackToItsDType) {
  for (int i = 1; i <= 23; ++i) {
    const auto t = static_cast<DType>(i);
    EXPECT_EQ(dtype_from_name(dtype_name(t)), t) << i;
    EXPECT_EQ(dtype_from_name(dtype_enum_name(t)), t) << i;
    EXPECT_EQ(dtype_from_name(dtype_proto_name(t)), t) << i;
    EXPECT_GT(dtype_size(t), 0u) << i;
  }
}

TEST(DTypeTest, FloatsHaveThreeNames) {
  EXPECT_EQ(dtype_name(DType::kFloat), "float32");
  EXPECT_EQ(dtype_enum_name(DType::kFloat), "DT_FLOAT");
  EXPECT_EQ(dtype_proto_name(DType::kFloat), "float");
  EXPECT_EQ(dtype_name(DType::kHalf), "float16");
  EXPECT_EQ(dtype_enum_name(DType::kHalf), "DT_HALF");
  EXPECT_EQ(dtype_proto_name(DType::kHalf), "half");
}

TEST(DTypeTest, UnknownNamesAndNumbersAreInvalid) {
  EXPECT_EQ(dtype_from_name("floaty"), DType::kInvalid);
  EXPECT_EQ(dtype_from_name(""), DType::kInvalid);
  EXPECT_EQ(dtype_size(static_cast<DType>(77)), 0u);
  EXPECT_EQ(dtype_enum_name(static_cast<DType>(77)), "DT_INVALID");
}

TEST(DTypeTest, SizesAreThoseOfTheCppTypes) {
  EXPECT_EQ(dtype_size(DType::kBool), sizeof(bool));
  EXPECT_EQ(dtype_size(DType::kBfloat16), sizeof(Bfloat16));
  EXPECT_EQ(dtype_size(DType::kComplex128), sizeof(Complex128));
  EXPECT_EQ(dtype_size(DType::kString), sizeof(std::string));
  EXPECT_EQ(dtype_size(DType::kResource), sizeof(ResourceHandle));
  EXPECT_EQ(dtype_size(DType::kVariant), sizeof(Variant));
}

TEST(DTypeTest, BoolAndQuantisedAreNoIntegers) {
  EXPECT_TRUE(is_integer(DType::kInt8));
  EXPECT_TRUE(is_integer(DType::kUint64));
  EXPECT_FALSE(is_integer(DType::kBool));
  EXPECT_FALSE(is_integer(DType::kQint8));
  EXPECT_TRUE(is_unsigned(DType::kUint32));
  EXPECT_FALSE(is_unsigned(DType::kInt32));
}

TEST(DTypeTest, HalfKeepsEveryBitPatternThroughFloat) {
  for (uint32_t bits = 0; bits < 0x10000; ++bits) {
    Half h;
    h.bits = static_cast<uint16_t>(bits);
    const auto f = static_cast<float>(h);
    if (std::isnan(f)) continue;
    ASSERT_EQ(Half(f).bits, h.bits);
  }
}

TEST(DTypeTest, Bfloat16RoundsToNearestEven) {
  EXPECT_EQ(Bfloat16(1.0f).bits, 0x3f80);
  EXPECT_EQ(Bfloat16(1.00390625f).bits, 0x3f80);  // half way, down to even
  EXPECT_EQ(Bfloat16(1.01171875f).bits, 0x3f82);  // half way, up to even
  EXPECT_TRUE(std::isnan(static_cast<float>(Bfloat16(std::nanf("")))));
  EXPECT_TRUE(std::isinf(static_cast<float>(Bfloat16(3.4e38f))));
}

}  // namespace
}  // namespace emplace
