#include "backends/cpu/simd_math.h"

#include <cmath>

#include <gtest/gtest.h>

#include "backends/cpu/cpu_testutil.h"

namespace emplace::cpu {
namespace {

// Over 60,000 floats from `low` to `high`: how many units in the last place off, at most.
double worst(const char* op, double (*exact)(double), double low, double high) {
  constexpr int kCount = 60'001;
  Tensor x(DType::kFloat, {kCount});
  for (int i = 0; i < kCount; ++i)
    x.data<float>()[i] = static_cast<float>(low + (high - low) * i / (kCount - 1));
  const Tensor y = kernels().run1(op, {x});
  double most = 0;
  for (int i = 0; i < kCount; ++i) {
    const double right = exact(static_cast<double>(x.data<float>()[i]));
    const float near = static_cast<float>(right);
    const double unit = std::nextafter(std::abs(near), HUGE_VALF) - std::abs(near);
    most = std::max(most, std::abs(y.data<float>()[i] - right) / unit);
  }
  return most;
}

TEST(SimdMath, FloatsAreRightToAFewUnits) {
  EXPECT_LT(worst("Exp", std::exp, -86, 88), 2);
  EXPECT_LT(worst("Exp", std::exp, -1, 1), 2);
  EXPECT_LT(worst("Tanh", std::tanh, -12, 12), 6);
  EXPECT_LT(worst("Tanh", std::tanh, -0.01, 0.01), 4);
  EXPECT_LT(worst("Erf", std::erf, -6, 6), 7);
  EXPECT_LT(worst("Erf", std::erf, -0.01, 0.01), 4);
  EXPECT_LT(worst("Sqrt", std::sqrt, 0, 1e6), 0.51);
  EXPECT_LT(worst("Rsqrt", [](double x) { return 1 / std::sqrt(x); }, 1e-3, 1e3), 1.6);
  EXPECT_LT(worst("Sigmoid", [](double x) { return 1 / (1 + std::exp(-x)); }, -20, 20), 4);
}

TEST(SimdMath, EndsOfTheRangeAreStds) {
  const float inf = std::numeric_limits<float>::infinity(), nan = std::nanf("");
  const Tensor x = floats({inf, -inf, nan, 0.0f, -0.0f, 1e30f, -1e30f, 1e-42f, -1e-42f});
  auto check = [&](const char* op, float (*one)(float)) {
    const Tensor y = kernels().run1(op, {x});
    for (int i = 0; i < 9; ++i) {
      const float got = y.data<float>()[i], right = one(x.data<float>()[i]);
      EXPECT_TRUE(std::isnan(right) ? std::isnan(got) : got == right)
          << op << " of " << x.data<float>()[i] << ": " << got << " for " << right;
      if (right == 0) { EXPECT_EQ(std::signbit(got), std::signbit(right)) << op << i; }
    }
  };
  check("Exp", std::exp);
  check("Tanh", std::tanh);
  check("Sqrt", std::sqrt);
  check("Rsqrt", [](float v) { return 1 / std::sqrt(v); });
}

}  // namespace
}  // namespace emplace::cpu
