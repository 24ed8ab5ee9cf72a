#pragma once
#include "backends/cpu/loops.h"

namespace emplace::cpu {

// Halves to floats and back, several at a time where the machine can; rounded to nearest even.
void widen_halves(const Half* from, float* to, int64_t n);
void narrow_floats(const float* from, Half* to, int64_t n);

inline constexpr int64_t kHalfBlock = 512;  // elements that are floats at a time

// A loop over halves by one over floats, block by block.
template <UnaryLoop (*kFloatLoop)()>
void halves_unary(const void* in, void* out, int64_t n) {
  static const UnaryLoop loop = kFloatLoop();
  const Half* x = static_cast<const Half*>(in);
  Half* y = static_cast<Half*>(out);
  float wide[kHalfBlock];
  for (int64_t i = 0; i < n; i += kHalfBlock) {
    const int64_t m = std::min(kHalfBlock, n - i);
    widen_halves(x + i, wide, m);
    loop(wide, wide, m);
    narrow_floats(wide, y + i, m);
  }
}

template <BinaryLoop (*kFloatLoop)()>
void halves_binary(const void* a, int64_t step_a, const void* b, int64_t step_b, void* out,
                   int64_t n) {
  static const BinaryLoop loop = kFloatLoop();
  const Half *x = static_cast<const Half*>(a), *y = static_cast<const Half*>(b);
  Half* z = static_cast<Half*>(out);
  float wide_x[kHalfBlock], wide_y[kHalfBlock], wide_z[kHalfBlock];
  if (n > 0 && step_a == 0) widen_halves(x, wide_x, 1);
  if (n > 0 && step_b == 0) widen_halves(y, wide_y, 1);
  for (int64_t i = 0; i < n; i += kHalfBlock) {
    const int64_t m = std::min(kHalfBlock, n - i);
    if (step_a) widen_halves(x + i, wide_x, m);
    if (step_b) widen_halves(y + i, wide_y, m);
    loop(wide_x, step_a, wide_y, step_b, wide_z, m);
    narrow_floats(wide_z, z + i, m);
  }
}

}  // namespace emplace::cpu
