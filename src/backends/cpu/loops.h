#pragma once
#include <algorithm>
#include <cstdint>

#include "backends/cpu/simd.h"
#include "backends/cpu/visit.h"

namespace emplace::cpu {

// Innermost loops of elementwise kernels, one for each op and dtype; what surrounds them knows
// neither. `out` may be an input's own memory. A step is 1, or 0 for one element that meets all.
using UnaryLoop = void (*)(const void* in, void* out, int64_t n);
using BinaryLoop = void (*)(const void* a, int64_t step_a, const void* b, int64_t step_b, void* out,
                            int64_t n);

// Where integers wrap around: arithmetic in this type is defined for every value.
template <class T>
struct WrapOf {
  using type = T;
};
template <class T>
requires std::is_integral_v<T>
struct WrapOf<T> {
  using type = std::conditional_t<sizeof(T) <= 4, uint32_t, uint64_t>;
};
template <class T>
using Wrap = typename WrapOf<T>::type;

template <class T>
inline constexpr bool kIsSmallFloat = std::is_same_v<T, Half> || std::is_same_v<T, Bfloat16>;
template <class T>
inline constexpr bool kIsComplex =
    std::is_same_v<T, Complex64> || std::is_same_v<T, Complex128>;
// What arithmetic on T is done in.
template <class T>
using Compute = std::conditional_t<kIsSmallFloat<T>, float, T>;

template <class Op, class T, class R>
void unary_loop(const void* in, void* out, int64_t n) {
  const T* x = static_cast<const T*>(in);
  R* y = static_cast<R*>(out);
#pragma GCC ivdep
  for (int64_t i = 0; i < n; ++i) y[i] = static_cast<R>(Op{}(static_cast<Compute<T>>(x[i])));
}

// The dtypes in common use: they get loops of their own for each pair of steps, and a second copy
// for AVX2. The others share one plain loop, which keeps the library small and quick to build.
template <class T>
inline constexpr bool kHot = std::is_same_v<T, float> || std::is_same_v<T, double> ||
                             std::is_same_v<T, int32_t> || std::is_same_v<T, int64_t> ||
                             kIsSmallFloat<T> || std::is_same_v<T, bool>;

template <class Op, class T, class R, int kStepA, int kStepB>
void fixed_steps(const T* a, const T* b, R* out, int64_t n) {
#pragma GCC ivdep
  for (int64_t i = 0; i < n; ++i)
    out[i] = static_cast<R>(Op{}(static_cast<Compute<T>>(a[i * kStepA]),
                                 static_cast<Compute<T>>(b[i * kStepB])));
}

template <class Op, class T, class R>
void binary_loop(const void* a, int64_t step_a, const void* b, int64_t step_b, void* out,
                 int64_t n) {
  const T* x = static_cast<const T*>(a);
  const T* y = static_cast<const T*>(b);
  R* z = static_cast<R*>(out);
  if constexpr (kHot<T>) {
    if (step_a && step_b) return fixed_steps<Op, T, R, 1, 1>(x, y, z, n);
    if (step_a) return fixed_steps<Op, T, R, 1, 0>(x, y, z, n);
    return fixed_steps<Op, T, R, 0, 1>(x, y, z, n);
  } else {
    for (; n > 0; --n, x += step_a, y += step_b)
      *z++ = static_cast<R>(Op{}(static_cast<Compute<T>>(*x), static_cast<Compute<T>>(*y)));
  }
}

template <class T, auto F>
auto pick() {
  if constexpr (kHot<T>)
    return best<F>();
  else
    return F;
}

template <class Op, class T, class R>
UnaryLoop unary_loop_of() {
  return pick<T, unary_loop<Op, T, R>>();
}

template <class Op, class T, class R>
BinaryLoop binary_loop_of() {
  return pick<T, binary_loop<Op, T, R>>();
}

}  // namespace emplace::cpu
