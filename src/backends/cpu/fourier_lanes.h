#pragma once
// Complex numbers of eight signals at a time, for fourier.cc.
#include <complex>
#include <cstdint>
#include <numbers>

namespace emplace::cpu {

constexpr int kLanes = 8;

// Eight numbers, one of each signal.
template <class T>
struct EightOf {
  typedef T V __attribute__((vector_size(kLanes * sizeof(T)), may_alias));
};

template <class T>
struct alignas(kLanes * sizeof(T)) Lanes {
  typename EightOf<T>::V re, im;
};

// The root of unity at `part` turns, of a turn of n.
inline std::complex<double> root(int64_t part, int64_t n) {
  return std::polar(1.0,
                    -2 * std::numbers::pi * static_cast<double>(part % n) / static_cast<double>(n));
}

template <class T>
[[gnu::always_inline]] inline void add(const Lanes<T>& a, const Lanes<T>& b, Lanes<T>& to) {
  to.re = a.re + b.re;
  to.im = a.im + b.im;
}
template <class T>
[[gnu::always_inline]] inline void subtract(const Lanes<T>& a, const Lanes<T>& b, Lanes<T>& to) {
  to.re = a.re - b.re;
  to.im = a.im - b.im;
}
// a + i·b and a - i·b
template <class T>
[[gnu::always_inline]] inline void add_turned(const Lanes<T>& a, const Lanes<T>& b, Lanes<T>& plus,
                                              Lanes<T>& minus) {
  plus.re = a.re - b.im;
  plus.im = a.im + b.re;
  minus.re = a.re + b.im;
  minus.im = a.im - b.re;
}
template <class T>
[[gnu::always_inline]] inline void multiply(const Lanes<T>& a, T re, T im, Lanes<T>& to) {
  const auto r = a.re * re - a.im * im;
  to.im = a.re * im + a.im * re;
  to.re = r;
}

template <class T>
[[gnu::always_inline]] inline void exchange(Lanes<T>& a) {
  const auto re = a.re;
  a.re = a.im;
  a.im = re;
}
// The same of a single number.
template <class T>
inline void add(const std::complex<T>& a, const std::complex<T>& b, std::complex<T>& to) {
  to = a + b;
}
template <class T>
inline void multiply(const std::complex<T>& a, T re, T im, std::complex<T>& to) {
  to = {a.real() * re - a.imag() * im, a.real() * im + a.imag() * re};
}
template <class T>
inline void exchange(std::complex<T>& a) {
  a = {a.imag(), a.real()};
}

}  // namespace emplace::cpu
