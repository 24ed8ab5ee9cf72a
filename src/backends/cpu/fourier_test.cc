#include "backends/cpu/fourier.h"

#include <gtest/gtest.h>

#include <numbers>

namespace emplace::cpu {
namespace {

using Values = std::vector<std::complex<double>>;

Values some(size_t n) {
  Values v(n);
  for (size_t i = 0; i < n; ++i)
    v[i] = {static_cast<double>(i * 7 % 5) - 2, static_cast<double>(i * 3 % 4)};
  return v;
}

// By the definition.
Values slowly(const Values& v) {
  Values out(v.size());
  for (size_t k = 0; k < v.size(); ++k)
    for (size_t i = 0; i < v.size(); ++i)
      out[k] += v[i] * std::polar(1.0, -2 * std::numbers::pi * static_cast<double>(i * k % v.size()) /
                                           static_cast<double>(v.size()));
  return out;
}

void here(int64_t n, double, FunctionRef<void(int64_t, int64_t)> f) { f(0, n); }

template <class T>
Values one(const Values& v, bool inverse) {
  std::vector<std::complex<T>> x(v.begin(), v.end());
  Fourier<T>::of(static_cast<int64_t>(v.size()))->one({x.data(), 0, 1}, {x.data(), 0, 1}, inverse, here);
  return {x.begin(), x.end()};
}

TEST(Fourier, TransformsAnyLengthByTheDefinition) {
  for (size_t n : {1, 2, 3, 4, 5, 7, 8, 12, 17, 29, 37, 64, 97, 121, 343, 360, 1000, 1024, 1009}) {
    const Values v = some(n), expected = slowly(v), got = one<double>(v, false);
    const Values narrow = one<float>(v, false);
    for (size_t i = 0; i < n; ++i) {
      EXPECT_LT(std::abs(got[i] - expected[i]), 1e-8) << n;
      EXPECT_LT(std::abs(narrow[i] - expected[i]), 1e-5 * static_cast<double>(n) + 1e-5) << n;
    }
  }
}

TEST(Fourier, TheInverseLeadsBack) {
  for (size_t n : {1, 2, 6, 16, 31, 1000, 4099, 1 << 14}) {
    const Values expected = some(n), got = one<double>(one<double>(expected, false), true);
    for (size_t i = 0; i < n; ++i) EXPECT_LT(std::abs(got[i] - expected[i]), 1e-9) << n;
  }
}

// Signals side by side, with any strides, are those that stand alone.
TEST(Fourier, TransformsSeveralSignalsAtOnce) {
  for (const size_t n : {1, 6, 16, 35, 41, 47, 72})
    for (int count = 1; count <= Fourier<double>::kLanes; ++count) {
      const auto signals = static_cast<size_t>(count);
      Values all(n * signals), out(n * signals);
      for (size_t i = 0; i < all.size(); ++i) all[i] = some(n * signals + 5)[i + 5];
      std::vector<double> work;
      Fourier<double>::of(static_cast<int64_t>(n))
          ->some({all.data(), 1, count}, {out.data(), static_cast<int64_t>(n), 1}, count, false, work);
      for (size_t l = 0; l < signals; ++l) {
        Values alone(n);
        for (size_t i = 0; i < n; ++i) alone[i] = all[i * signals + l];
        const Values expected = slowly(alone);
        for (size_t i = 0; i < n; ++i) EXPECT_LT(std::abs(out[l * n + i] - expected[i]), 1e-8) << n;
      }
    }
}

}  // namespace
}  // namespace emplace::cpu
