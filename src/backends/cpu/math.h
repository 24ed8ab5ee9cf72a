#pragma once
#include <cmath>
#include <limits>

#include "backends/cpu/loops.h"

namespace emplace::cpu {

// Products of complex numbers by the plain formula: std's looks for infinities, at ten times the
// cost.
template <class T>
T times(T a, T b) {
  if constexpr (kIsComplex<T>)
    return T(a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real());
  else
    return static_cast<T>(static_cast<Wrap<T>>(a) * static_cast<Wrap<T>>(b));
}
template <class T>
T plus(T a, T b) {
  return static_cast<T>(static_cast<Wrap<T>>(a) + static_cast<Wrap<T>>(b));
}
template <class T>
T minus(T a, T b) {
  return static_cast<T>(static_cast<Wrap<T>>(a) - static_cast<Wrap<T>>(b));
}
template <class T>
T negate(T a) {
  if constexpr (std::is_integral_v<T>)
    return minus(T{0}, a);
  else
    return -a;
}
template <class T>
T conjugate(T a) {
  if constexpr (kIsComplex<T>)
    return std::conj(a);
  else
    return a;
}
template <class T>
bool is_nan(T a) {
  if constexpr (std::is_floating_point_v<T>)
    return a != a;
  else
    return false;
}
// NaN wins, on either side.
template <class T>
T larger(T a, T b) {
  return is_nan(a) || a > b ? a : b;
}
template <class T>
T smaller(T a, T b) {
  return is_nan(a) || a < b ? a : b;
}

}  // namespace emplace::cpu
