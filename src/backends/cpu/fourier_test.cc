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

TEST(Fourier, TransformsAnyLengthByTheDefinition) {
  for (size_t n : {1, 2, 3, 4, 5, 7, 8, 12, 17, 64, 97}) {
    Values v = some(n);
    const Values expected = slowly(v);
    Fourier(n).forward(v);
    for (size_t i = 0; i < n; ++i) EXPECT_LT(std::abs(v[i] - expected[i]), 1e-9) << n;
  }
}

TEST(Fourier, TheInverseLeadsBack) {
  for (size_t n : {1, 2, 6, 16, 31, 1000}) {
    Values v = some(n);
    const Fourier fourier(n);
    fourier.forward(v);
    fourier.inverse(v);
    const Values expected = some(n);
    for (size_t i = 0; i < n; ++i) EXPECT_LT(std::abs(v[i] - expected[i]), 1e-10) << n;
  }
}

}  // namespace
}  // namespace emplace::cpu
