// Fourier transforms.
#include <fmt/format.h>

#include <cmath>

#include "emplace/error.h"
#include "op/shape_context.h"
#include "stdops/more.h"

namespace emplace::stdops {
namespace {

using namespace shape_rules;

constexpr double kButterflyOps = 250;  // five for each element, in loops that are not vectors

// So much for an element and doubling of each dimension's length.
template <int kRank>
Work transform(const CostContext& c) {
  const Shape& s = CostContext::elements(c.inputs[0]) > CostContext::elements(c.outputs[0])
                       ? c.inputs[0] : c.outputs[0];
  double doublings = 0;
  for (int i = 1; i <= kRank; ++i) doublings += std::log2(1 + CostContext::dim(s, i));
  return {.ops = kButterflyOps * CostContext::elements(s) * doublings, .bytes = c.bytes()};
}

template <int kRank>
void complex_rule(ShapeContext& c) {
  c.set_output(0, c.with_rank_at_least(0, kRank));
}

// The last dimensions are what fft_length says; the last of all is the half that a real signal needs.
template <int kRank, bool kForward>
void real_rule(ShapeContext& c) {
  Shape out = c.with_rank_at_least(0, kRank);
  const Shape length = c.with_rank(1, 1);
  c.merge_dims(length[0], kRank);
  if (!out.has_rank()) return c.set_output(0, out);
  const auto sizes = c.input_as_vector(1);
  for (int i = 0; i < kRank; ++i) {
    int64_t size = sizes ? (*sizes)[static_cast<size_t>(i)] : Shape::kUnknown;
    if (kForward && i == kRank - 1 && size >= 0) size = size != 0 ? size / 2 + 1 : 0;
    out.set_dim(out.rank() - kRank + i, size < 0 ? Shape::kUnknown : size);
  }
  c.set_output(0, out);
}

constexpr OpRow kSpectralRows[] = {
    {"FFT(input: Tcomplex) -> (output: Tcomplex) | Tcomplex: type in [complex64,complex128] = "
     "complex64",
     complex_rule<1>, transform<1>,
     "The Fourier transform over the last dimension."},
    {"IFFT(input: Tcomplex) -> (output: Tcomplex) | Tcomplex: type in [complex64,complex128] = "
     "complex64",
     complex_rule<1>, transform<1>,
     "The inverse Fourier transform over the last dimension."},
    {"FFT2D(input: Tcomplex) -> (output: Tcomplex) | Tcomplex: type in [complex64,complex128] = "
     "complex64",
     complex_rule<2>, transform<2>,
     "The Fourier transform over the last 2 dimensions."},
    {"IFFT2D(input: Tcomplex) -> (output: Tcomplex) | Tcomplex: type in [complex64,complex128] = "
     "complex64",
     complex_rule<2>, transform<2>,
     "The inverse Fourier transform over the last 2 dimensions."},
    {"FFT3D(input: Tcomplex) -> (output: Tcomplex) | Tcomplex: type in [complex64,complex128] = "
     "complex64",
     complex_rule<3>, transform<3>,
     "The Fourier transform over the last 3 dimensions."},
    {"IFFT3D(input: Tcomplex) -> (output: Tcomplex) | Tcomplex: type in [complex64,complex128] = "
     "complex64",
     complex_rule<3>, transform<3>,
     "The inverse Fourier transform over the last 3 dimensions."},
    {"RFFT(input: Treal, fft_length: int32) -> (output: Tcomplex) | Treal: type in [float,double] "
     "= float; Tcomplex: type in [complex64,complex128] = complex64",
     real_rule<1, true>, transform<1>,
     "The Fourier transform of real numbers over the last dimension."},
    {"IRFFT(input: Tcomplex, fft_length: int32) -> (output: Treal) | Treal: type in [float,double] "
     "= float; Tcomplex: type in [complex64,complex128] = complex64",
     real_rule<1, false>, transform<1>,
     "Real numbers from their Fourier transform over the last dimension."},
    {"RFFT2D(input: Treal, fft_length: int32) -> (output: Tcomplex) | Treal: type in [float,"
     "double] = float; Tcomplex: type in [complex64,complex128] = complex64",
     real_rule<2, true>, transform<2>,
     "The Fourier transform of real numbers over the last 2 dimensions."},
    {"IRFFT2D(input: Tcomplex, fft_length: int32) -> (output: Treal) | Treal: type in [float,"
     "double] = float; Tcomplex: type in [complex64,complex128] = complex64",
     real_rule<2, false>, transform<2>,
     "Real numbers from their Fourier transform over the last 2 dimensions."},
    {"RFFT3D(input: Treal, fft_length: int32) -> (output: Tcomplex) | Treal: type in [float,"
     "double] = float; Tcomplex: type in [complex64,complex128] = complex64",
     real_rule<3, true>, transform<3>,
     "The Fourier transform of real numbers over the last 3 dimensions."},
    {"IRFFT3D(input: Tcomplex, fft_length: int32) -> (output: Treal) | Treal: type in [float,"
     "double] = float; Tcomplex: type in [complex64,complex128] = complex64",
     real_rule<3, false>, transform<3>,
     "Real numbers from their Fourier transform over the last 3 dimensions."},
};

}  // namespace

std::span<const OpRow> spectral_ops() { return kSpectralRows; }

}  // namespace emplace::stdops
