#include "backends/cpu/extreme.h"

#include <cmath>
#include <random>

#include <gtest/gtest.h>

#include "backends/cpu/cpu_testutil.h"

namespace emplace::cpu {
namespace {

Tensor row_of(int64_t n, uint32_t seed) {
  std::mt19937 bits(seed);
  Tensor t(DType::kFloat, {1, n});
  for (int64_t i = 0; i < n; ++i)
    t.data<float>()[i] = static_cast<float>(static_cast<int>(bits() % 1000) - 500);
  return t;
}

float reduced(const char* op, const Tensor& t) {
  return *kernels().run1(op, {t, Tensor::scalar<int32_t>(1)}).data<float>();
}
int64_t place(const char* op, const Tensor& t) {
  return *kernels().run1(op, {t, Tensor::scalar<int32_t>(1)}).data<int64_t>();
}

TEST(Extreme, OfEveryLengthIsTheOneALoopFinds) {
  for (int64_t n = 1; n < 700; n += n < 80 ? 1 : 37) {
    const Tensor t = row_of(n, static_cast<uint32_t>(n));
    const float *begin = t.data<float>(), *end = begin + n;
    EXPECT_EQ(reduced("Max", t), *std::max_element(begin, end)) << n;
    EXPECT_EQ(reduced("Min", t), *std::min_element(begin, end)) << n;
    EXPECT_EQ(place("ArgMax", t), std::max_element(begin, end) - begin) << n;
    EXPECT_EQ(place("ArgMin", t), std::min_element(begin, end) - begin) << n;
  }
}

TEST(Extreme, NanAnywhereMakesMaxAndMinNanAndIsNoPlace) {
  for (int64_t n : {1, 7, 32, 33, 100, 257})
    for (int64_t at = 0; at < n; at += 1 + n / 9) {
      Tensor t = row_of(n, 5);
      t.data<float>()[at] = std::nanf("");
      EXPECT_TRUE(std::isnan(reduced("Max", t))) << n << " at " << at;
      EXPECT_TRUE(std::isnan(reduced("Min", t))) << n << " at " << at;
      if (n > 1) { EXPECT_NE(place("ArgMax", t), at); }
    }
}

TEST(Extreme, WholeNumbersAndDoublesToo) {
  const Tensor low = ints({INT32_MIN, -7, INT32_MIN});
  EXPECT_EQ(*kernels().run1("Max", {low, ints({0})}).data<int32_t>(), -7);
  EXPECT_EQ(*kernels().run1("ArgMax", {ints({INT32_MIN, INT32_MIN}), Tensor::scalar<int32_t>(0)})
                 .data<int64_t>(), 0);
  const Tensor doubles = tensor<double>({1, -2, 3}, {3});
  EXPECT_EQ(*kernels().run1("Min", {doubles, ints({0})}).data<double>(), -2);
}

TEST(Extreme, InfinitiesCount) {
  const float inf = std::numeric_limits<float>::infinity();
  EXPECT_EQ(*kernels().run1("Max", {floats({-inf, -inf}), ints({0})}).data<float>(), -inf);
  EXPECT_EQ(*kernels().run1("ArgMin", {floats({1, -inf, 2}), Tensor::scalar<int32_t>(0)})
                 .data<int64_t>(), 1);
}

}  // namespace
}  // namespace emplace::cpu
