#pragma once
#include <iterator>
#include <random>
#include <string>

#include "emplace/tensor.h"

namespace emplace::testing {

// Small random choices, the same for the same seed on any machine (no std::distribution).
class Random {
 public:
  explicit Random(uint64_t seed) : bits_(seed * 0x9e3779b97f4a7c15ull + 1) {}
  // In [0, n); n > 0.
  int below(size_t n) { return static_cast<int>(bits_() % n); }
  int between(int low, int high) { return low + below(static_cast<size_t>(high - low + 1)); }
  bool chance(int percent) { return below(100) < percent; }
  template <class C>
  auto& pick(C& c) {
    return c[static_cast<size_t>(below(std::size(c)))];
  }

 private:
  std::mt19937_64 bits_;
};

// A value of any dtype whose elements are multiples of 1/4 in [-3, 3] as far as it can hold them.
Tensor random_tensor(Random& r, DType dtype, const Shape& shape);
Tensor small_integers(Random& r, DType dtype, const Shape& shape, int low, int high);

// Same dtype, shape and bits.
bool same_bits(const Tensor& a, const Tensor& b);
std::string describe(const Tensor& t);

}  // namespace emplace::testing
