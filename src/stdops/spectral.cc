// Fourier transforms.
#include <fmt/format.h>

#include "emplace/error.h"
#include "op/shape_context.h"
#include "stdops/more.h"

namespace emplace::stdops {
namespace {

using namespace shape_rules;

double transform(const CostContext& c) {
  double n = 1;
  for (const Shape& s : c.inputs)
    if (s.is_fully_known()) n = std::max(n, static_cast<double>(s.num_elements()));
  return 500 + 15 * n;
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
     complex_rule<1>, transform,
     "The Fourier transform over the last dimension."},
    {"IFFT(input: Tcomplex) -> (output: Tcomplex) | Tcomplex: type in [complex64,complex128] = "
     "complex64",
     complex_rule<1>, transform,
     "The inverse Fourier transform over the last dimension."},
    {"FFT2D(input: Tcomplex) -> (output: Tcomplex) | Tcomplex: type in [complex64,complex128] = "
     "complex64",
     complex_rule<2>, transform,
     "The Fourier transform over the last 2 dimensions."},
    {"IFFT2D(input: Tcomplex) -> (output: Tcomplex) | Tcomplex: type in [complex64,complex128] = "
     "complex64",
     complex_rule<2>, transform,
     "The inverse Fourier transform over the last 2 dimensions."},
    {"FFT3D(input: Tcomplex) -> (output: Tcomplex) | Tcomplex: type in [complex64,complex128] = "
     "complex64",
     complex_rule<3>, transform,
     "The Fourier transform over the last 3 dimensions."},
    {"IFFT3D(input: Tcomplex) -> (output: Tcomplex) | Tcomplex: type in [complex64,complex128] = "
     "complex64",
     complex_rule<3>, transform,
     "The inverse Fourier transform over the last 3 dimensions."},
    {"RFFT(input: Treal, fft_length: int32) -> (output: Tcomplex) | Treal: type in [float,double] "
     "= float; Tcomplex: type in [complex64,complex128] = complex64",
     real_rule<1, true>, transform,
     "The Fourier transform of real numbers over the last dimension."},
    {"IRFFT(input: Tcomplex, fft_length: int32) -> (output: Treal) | Treal: type in [float,double] "
     "= float; Tcomplex: type in [complex64,complex128] = complex64",
     real_rule<1, false>, transform,
     "Real numbers from their Fourier transform over the last dimension."},
    {"RFFT2D(input: Treal, fft_length: int32) -> (output: Tcomplex) | Treal: type in [float,"
     "double] = float; Tcomplex: type in [complex64,complex128] = complex64",
     real_rule<2, true>, transform,
     "The Fourier transform of real numbers over the last 2 dimensions."},
    {"IRFFT2D(input: Tcomplex, fft_length: int32) -> (output: Treal) | Treal: type in [float,"
     "double] = float; Tcomplex: type in [complex64,complex128] = complex64",
     real_rule<2, false>, transform,
     "Real numbers from their Fourier transform over the last 2 dimensions."},
    {"RFFT3D(input: Treal, fft_length: int32) -> (output: Tcomplex) | Treal: type in [float,"
     "double] = float; Tcomplex: type in [complex64,complex128] = complex64",
     real_rule<3, true>, transform,
     "The Fourier transform of real numbers over the last 3 dimensions."},
    {"IRFFT3D(input: Tcomplex, fft_length: int32) -> (output: Treal) | Treal: type in [float,"
     "double] = float; Tcomplex: type in [complex64,complex128] = complex64",
     real_rule<3, false>, transform,
     "Real numbers from their Fourier transform over the last 3 dimensions."},
};

}  // namespace

std::span<const OpRow> spectral_ops() { return kSpectralRows; }

}  // namespace emplace::stdops
