#pragma once
#include <complex>
#include <span>
#include <vector>

namespace emplace::cpu {

// Discrete Fourier transforms of one length, any length at all: powers of two by halving, others as
// a convolution of such a length. In double precision; the inverse is divided by the length.
class Fourier {
 public:
  explicit Fourier(size_t length);
  void forward(std::span<std::complex<double>> values) const;
  void inverse(std::span<std::complex<double>> values) const;

 private:
  using Values = std::vector<std::complex<double>>;
  void halving(std::span<std::complex<double>> values, const Values& roots) const;
  void convolution(std::span<std::complex<double>> values) const;

  size_t length_, padded_;
  Values roots_;           // of the power of two that is used
  Values chirp_, kernel_;  // for other lengths; the kernel is transformed already
};

}  // namespace emplace::cpu
