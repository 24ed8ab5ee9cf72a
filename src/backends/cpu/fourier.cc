#include "backends/cpu/fourier.h"

#include <algorithm>
#include <bit>
#include <numbers>
#include <utility>

#include "base/stop_scope.h"

namespace emplace::cpu {
namespace {

using Complex = std::complex<double>;

constexpr size_t kStretch = 65536;  // a power of two: what is done between two looks at whether it is wanted

Complex root(double part) { return std::polar(1.0, -2 * std::numbers::pi * part); }

Complex product(Complex a, Complex b) {
  return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
}

}  // namespace

Fourier::Fourier(size_t length) : length_(length), padded_(length) {
  if (length < 2) return;
  if (!std::has_single_bit(length)) padded_ = std::bit_ceil(2 * length - 1);
  for (const size_t i : paced(padded_ / 2))
    roots_.push_back(root(static_cast<double>(i) / static_cast<double>(padded_)));
  if (padded_ == length) return;
  kernel_.resize(padded_);
  for (const size_t i : paced(length)) {
    // i² modulo 2n keeps the angle exact for long signals.
    const auto square = static_cast<double>(static_cast<unsigned __int128>(i) * i % (2 * length));
    chirp_.push_back(root(square / static_cast<double>(2 * length)));
    kernel_[i] = kernel_[(padded_ - i) % padded_] = std::conj(chirp_[i]);
  }
  halving(kernel_, roots_);
}

void Fourier::halving(std::span<Complex> v, const Values& roots) const {
  const size_t n = v.size();
  Pace pace;
  for (size_t i = 1, j = 0; i < n; ++i) {
    pace.step();
    size_t bit = n >> 1;
    for (; j & bit; bit >>= 1) j ^= bit;
    j ^= bit;
    if (i < j) std::swap(v[i], v[j]);
  }
  for (size_t half = 1; half < n; half *= 2)
    for (size_t begin = 0; begin < n; begin += 2 * half) {
      if (begin % kStretch == 0) StopScope::attend();
      for (size_t k = 0; k < half;) {
        for (const size_t end = std::min(half, k + kStretch); k < end; ++k) {
          const Complex a = v[begin + k];
          const Complex b = product(v[begin + k + half], roots[k * (n / (2 * half))]);
          v[begin + k] = a + b;
          v[begin + k + half] = a - b;
        }
        if (k % kStretch == 0) StopScope::attend();
      }
    }
}

void Fourier::convolution(std::span<Complex> values) const {
  Values work(padded_);
  for (const size_t i : paced(length_)) work[i] = product(values[i], chirp_[i]);
  halving(work, roots_);
  for (const size_t i : paced(padded_)) work[i] = std::conj(product(work[i], kernel_[i]));
  halving(work, roots_);
  const double scale = 1.0 / static_cast<double>(padded_);
  for (const size_t i : paced(length_)) values[i] = product(std::conj(work[i]) * scale, chirp_[i]);
}

void Fourier::forward(std::span<Complex> values) const {
  if (length_ < 2) return;
  if (padded_ == length_) halving(values, roots_);
  else convolution(values);
}

void Fourier::inverse(std::span<Complex> values) const {
  for (Complex& v : values) v = std::conj(v);
  forward(values);
  const double scale = 1.0 / static_cast<double>(length_);
  for (Complex& v : values) v = std::conj(v) * scale;
}

}  // namespace emplace::cpu
