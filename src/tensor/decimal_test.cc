#include "tensor/decimal.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <limits>

namespace emplace {
namespace {

std::string text(const Decimal& d) {
  return (d.negative ? "-" : "") + d.integer_part() + "." + d.fraction_part();
}

TEST(DecimalTest, ShortestDependsOnTheWidth) {
  EXPECT_EQ(text(shortest_decimal(0.1)), "0.1");
  EXPECT_EQ(text(shortest_decimal(0.1f)), "0.1");
  EXPECT_EQ(text(shortest_decimal(static_cast<double>(0.1f))), "0.10000000149011612");
  EXPECT_EQ(text(shortest_decimal(Half(0.1f))), "0.1");
  EXPECT_EQ(text(shortest_decimal(16777216.0f)), "16777216.");
  EXPECT_EQ(text(shortest_decimal(-0.0)), "-0.");
}

TEST(DecimalTest, FixedRoundsTheNumberItself) {
  EXPECT_EQ(text(fixed_decimal(0.5, 0)), "0.");
  EXPECT_EQ(text(fixed_decimal(1.5, 0)), "2.");
  EXPECT_EQ(text(fixed_decimal(1234.5678, 2)), "1234.57");
  EXPECT_EQ(text(fixed_decimal(0.00049, 3)), "0.");
  EXPECT_EQ(text(fixed_decimal(9.996, 2)), "10.");
  EXPECT_EQ(text(fixed_decimal(-0.04, 2)), "-0.04");
}

TEST(DecimalTest, ScientificHoldsTheLargestAndTheSmallest) {
  constexpr double kLargest = std::numeric_limits<double>::max();
  EXPECT_EQ(scientific_decimal(kLargest, 2).digits, "18");
  EXPECT_EQ(scientific_decimal(kLargest, 2).exponent(), 308);
  EXPECT_EQ(shortest_decimal(5e-324).exponent(), -324);
  EXPECT_EQ(fixed_decimal(kLargest, 8).integer_part().size(), 309u);
  EXPECT_EQ(shortest_decimal(0.0).exponent(), 0);
}

// Every half must read back, and no decimal with a digit less may.
TEST(DecimalTest, HalvesAreAsShortAsCanBe) {
  for (uint32_t bits = 1; bits < 0x7c00; ++bits) {
    Half h;
    h.bits = static_cast<uint16_t>(bits);
    const Decimal d = shortest_decimal(h);
    const auto reads = [&](int64_t digits, int exponent) {
      const std::string s = std::to_string(digits) + "e" + std::to_string(exponent);
      return Half(static_cast<float>(std::strtod(s.c_str(), nullptr))).bits == h.bits;
    };
    const int64_t digits = std::stoll(d.digits);
    const int exponent = d.point - static_cast<int>(d.digits.size());
    ASSERT_TRUE(reads(digits, exponent)) << bits;
    ASSERT_FALSE(digits >= 10 &&
                 (reads(digits / 10, exponent + 1) || reads(digits / 10 + 1, exponent + 1)))
        << bits;
  }
}

}  // namespace
}  // namespace emplace
