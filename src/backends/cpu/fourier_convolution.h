#pragma once
// Transforms of lengths with a large prime factor, as convolutions.
#include <algorithm>
#include <memory>
#include <vector>

#include "backends/cpu/fourier.h"
#include "backends/cpu/fourier_lanes.h"
#include "base/stop_scope.h"

namespace emplace::cpu {

// Whether Rader's way will do: it takes a transform as long as there are
// numbers below the prime.
bool by_powers(int64_t n);
// The least number whose powers are all numbers below the prime n but 0.
uint64_t generator_of(uint64_t n);
uint64_t power(uint64_t base, uint64_t exponent, uint64_t modulus);
// The least length of quick passes from n on.
int64_t quick_length(int64_t n);

// What a transform as a convolution needs. The one back goes with its parts
// exchanged, which makes it one forth.
template <class T>
struct Convolution {
  std::shared_ptr<const Fourier<T>> plan;  // of the convolution's length
  std::vector<std::complex<T>> spectrum;   // of what is convolved with, divided by the length
  std::vector<int64_t> from,
      to;                              // Rader's: the powers of a generator, and of its inverse
  std::vector<std::complex<T>> chirp;  // Bluestein's

  explicit Convolution(int64_t length) {
    std::vector<std::complex<double>> kernel;
    if (by_powers(length)) order(length, kernel);
    else sweep(length, kernel);
    const auto size = static_cast<int64_t>(kernel.size());
    plan = Fourier<T>::of(size);
    const auto here = [](int64_t count, double, FunctionRef<void(int64_t, int64_t)> f) {
      f(0, count);
    };
    Fourier<double>::of(size)->one({kernel.data(), 0, 1}, {kernel.data(), 0, 1}, false, here);
    spectrum.reserve(kernel.size());
    for (const size_t i : paced(kernel.size()))
      spectrum.push_back(std::complex<T>(kernel[i] / static_cast<double>(size)));
  }

  void order(int64_t length, std::vector<std::complex<double>>& kernel) {
    const auto n = static_cast<uint64_t>(length);
    const uint64_t g = generator_of(n), back = power(g, n - 2, n);
    uint64_t forth = 1, inverse = 1;
    for ([[maybe_unused]] const uint64_t i : paced(n - 1)) {
      from.push_back(static_cast<int64_t>(forth));
      to.push_back(static_cast<int64_t>(inverse));
      kernel.push_back(root(static_cast<int64_t>(inverse), length));
      forth = forth * g % n;
      inverse = inverse * back % n;
    }
  }

  void sweep(int64_t length, std::vector<std::complex<double>>& kernel) {
    const auto n = static_cast<uint64_t>(length);
    const auto padded = static_cast<uint64_t>(quick_length(2 * length - 1));
    kernel.resize(padded);
    for (const uint64_t i : paced(n)) {
      // i² modulo 2n keeps the angle exact for long signals.
      const auto square = static_cast<int64_t>(static_cast<unsigned __int128>(i) * i % (2 * n));
      const std::complex<double> w = root(square, 2 * length);
      chirp.push_back(std::complex<T>(w));
      kernel[i] = kernel[(padded - i) % padded] = std::conj(w);
    }
  }

  // E: a number, or eight of as many signals. a: what is convolved, of the
  // signal x.
  template <class E>
  static void before(const Convolution& c, const E* x, E* a) {
    for (size_t i = 0; i < c.from.size(); ++i) a[i] = x[c.from[i]];
    for (size_t i = 0; i < c.chirp.size(); ++i)
      multiply(x[i], c.chirp[i].real(), c.chirp[i].imag(), a[i]);
    for (size_t i = c.chirp.size(); i < c.spectrum.size() && !c.chirp.empty(); ++i) a[i] = E{};
  }
  template <class E>
  static void between(const Convolution& c, E* a, E* x) {
    const E first = x[0];
    if (!c.from.empty()) add(first, a[0], x[0]);
    for (size_t i = 0; i < c.spectrum.size(); ++i) {
      multiply(a[i], c.spectrum[i].real(), c.spectrum[i].imag(), a[i]);
      if (i == 0 && !c.from.empty()) add(a[0], first, a[0]);
      exchange(a[i]);
    }
  }
  template <class E>
  static void after(const Convolution& c, E* a, E* x) {
    for (size_t i = 0; i < std::max(c.to.size(), c.chirp.size()); ++i) exchange(a[i]);
    for (size_t i = 0; i < c.to.size(); ++i) x[c.to[i]] = a[i];
    for (size_t i = 0; i < c.chirp.size(); ++i)
      multiply(a[i], c.chirp[i].real(), c.chirp[i].imag(), x[i]);
  }
};

}  // namespace emplace::cpu
