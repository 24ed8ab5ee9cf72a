// Elementwise ops of one operand.
#include "op/shape_context.h"
#include <fmt/format.h>

#include "stdops/stdops.h"

namespace emplace::stdops {
namespace {

using namespace shape_rules;
using namespace cost_rules;

Shape bitcast_to(const Shape& in, int64_t from, int64_t to) {
  if (!in.has_rank() || from == to) return in;
  Shape out = in;
  if (from > to) {
    out.push_back(from / to);
    return out;
  }
  if (in.rank() == 0) throw invalid_argument("Cannot bitcast a scalar to a larger dtype");
  const int64_t last = in[in.rank() - 1];
  if (last != Shape::kUnknown && last != to / from)
    throw invalid_argument(
        fmt::format("Cannot bitcast due to shape. {} does not match {}.", last, to / from));
  out.erase(in.rank() - 1);
  return out;
}

void bitcast(ShapeContext& c) {
  const auto from = static_cast<int64_t>(dtype_size(c.attr<DType>("T")));
  const auto to = static_cast<int64_t>(dtype_size(c.attr<DType>("type")));
  c.set_output(0, bitcast_to(c.input(0), from, to));
}

constexpr OpRow kUnaryRows[] = {
    {"Abs(x: T) -> (y: T) | T: type in [bfloat16,half,float,double,int8,int16,int32,int64]",
     unchanged, elementwise,
     "The absolute value."},
    {"Neg(x: T) -> (y: T) | T: type in [bfloat16,half,float,double,int8,int16,int32,int64,"
     "complex64,complex128]",
     unchanged, elementwise,
     "Minus each element."},
    {"Sign(x: T) -> (y: T) | T: type in [bfloat16,half,float,double,int8,int16,int32,int64,"
     "complex64,complex128]",
     unchanged, elementwise,
     "-1, 0 or 1; for complex numbers x / |x|."},
    {"Reciprocal(x: T) -> (y: T) | T: type in [bfloat16,half,float,double,int8,int16,int32,int64,"
     "complex64,complex128]",
     unchanged, elementwise,
     "1 / x."},
    {"Inv(x: T) -> (y: T) | T: type in [bfloat16,half,float,double,int8,int16,int32,int64,"
     "complex64,complex128]",
     unchanged, elementwise,
     "1 / x."},
    {"Square(x: T) -> (y: T) | T: type in [bfloat16,half,float,double,int8,int16,int32,int64,"
     "uint8,uint16,uint32,uint64,complex64,complex128]",
     unchanged, elementwise,
     "x * x."},
    {"Sqrt(x: T) -> (y: T) | T: type in [bfloat16,half,float,double,complex64,complex128]",
     unchanged, elementwise,
     "The square root."},
    {"Rsqrt(x: T) -> (y: T) | T: type in [bfloat16,half,float,double,complex64,complex128]",
     unchanged, elementwise,
     "1 / sqrt(x)."},
    {"Exp(x: T) -> (y: T) | T: type in [bfloat16,half,float,double,complex64,complex128]",
     unchanged, transcendental,
     "e to the x."},
    {"Expm1(x: T) -> (y: T) | T: type in [bfloat16,half,float,double,complex64,complex128]",
     unchanged, transcendental,
     "exp(x) - 1, exact near 0."},
    {"Log(x: T) -> (y: T) | T: type in [bfloat16,half,float,double,complex64,complex128]",
     unchanged, transcendental,
     "The natural logarithm."},
    {"Log1p(x: T) -> (y: T) | T: type in [bfloat16,half,float,double,complex64,complex128]",
     unchanged, transcendental,
     "log(1 + x), exact near 0."},
    {"Sin(x: T) -> (y: T) | T: type in [bfloat16,half,float,double,complex64,complex128]",
     unchanged, transcendental,
     "The sine of each element."},
    {"Cos(x: T) -> (y: T) | T: type in [bfloat16,half,float,double,complex64,complex128]",
     unchanged, transcendental,
     "The cosine of each element."},
    {"Tan(x: T) -> (y: T) | T: type in [bfloat16,half,float,double,complex64,complex128]",
     unchanged, transcendental,
     "The tangent of each element."},
    {"Asin(x: T) -> (y: T) | T: type in [bfloat16,half,float,double,complex64,complex128]",
     unchanged, transcendental,
     "The inverse sine."},
    {"Acos(x: T) -> (y: T) | T: type in [bfloat16,half,float,double,complex64,complex128]",
     unchanged, transcendental,
     "The inverse cosine."},
    {"Atan(x: T) -> (y: T) | T: type in [bfloat16,half,float,double,complex64,complex128]",
     unchanged, transcendental,
     "The inverse tangent."},
    {"Sinh(x: T) -> (y: T) | T: type in [bfloat16,half,float,double,complex64,complex128]",
     unchanged, transcendental,
     "The hyperbolic sine."},
    {"Cosh(x: T) -> (y: T) | T: type in [bfloat16,half,float,double,complex64,complex128]",
     unchanged, transcendental,
     "The hyperbolic cosine."},
    {"Tanh(x: T) -> (y: T) | T: type in [bfloat16,half,float,double,complex64,complex128]",
     unchanged, transcendental,
     "The hyperbolic tangent."},
    {"Asinh(x: T) -> (y: T) | T: type in [bfloat16,half,float,double,complex64,complex128]",
     unchanged, transcendental,
     "The inverse hyperbolic sine."},
    {"Acosh(x: T) -> (y: T) | T: type in [bfloat16,half,float,double,complex64,complex128]",
     unchanged, transcendental,
     "The inverse hyperbolic cosine."},
    {"Atanh(x: T) -> (y: T) | T: type in [bfloat16,half,float,double,complex64,complex128]",
     unchanged, transcendental,
     "The inverse hyperbolic tangent."},
    {"Sigmoid(x: T) -> (y: T) | T: type in [bfloat16,half,float,double,complex64,complex128]",
     unchanged, transcendental,
     "1 / (1 + exp(-x))."},
    {"Erf(x: T) -> (y: T) | T: type in [bfloat16,half,float,double]",
     unchanged, transcendental,
     "The error function."},
    {"Erfc(x: T) -> (y: T) | T: type in [bfloat16,half,float,double]",
     unchanged, transcendental,
     "1 - erf(x)."},
    {"Erfinv(x: T) -> (y: T) | T: type in [bfloat16,half,float,double]",
     unchanged, transcendental,
     "The inverse of erf."},
    {"Ndtri(x: T) -> (y: T) | T: type in [bfloat16,half,float,double]",
     unchanged, transcendental,
     "The inverse of the normal distribution function."},
    {"Lgamma(x: T) -> (y: T) | T: type in [bfloat16,half,float,double]",
     unchanged, transcendental,
     "The logarithm of |gamma(x)|."},
    {"Digamma(x: T) -> (y: T) | T: type in [bfloat16,half,float,double]",
     unchanged, transcendental,
     "The derivative of Lgamma."},
    {"Floor(x: T) -> (y: T) | T: type in [bfloat16,half,float,double]",
     unchanged, elementwise,
     "The largest whole number not above x."},
    {"Ceil(x: T) -> (y: T) | T: type in [bfloat16,half,float,double]",
     unchanged, elementwise,
     "The smallest whole number not below x."},
    {"Rint(x: T) -> (y: T) | T: type in [bfloat16,half,float,double]",
     unchanged, elementwise,
     "The nearest whole number, halves to even."},
    {"Round(x: T) -> (y: T) | T: type in [bfloat16,half,float,double,int8,int16,int32,int64,"
     "complex64,complex128]",
     unchanged, elementwise,
     "The nearest whole number, halves to even."},
    {"IsNan(x: T) -> (y: bool) | T: type in [bfloat16,half,float,double]",
     unchanged, elementwise,
     "Is it not a number?"},
    {"IsInf(x: T) -> (y: bool) | T: type in [bfloat16,half,float,double]",
     unchanged, elementwise,
     "Is it infinite?"},
    {"IsFinite(x: T) -> (y: bool) | T: type in [bfloat16,half,float,double]",
     unchanged, elementwise,
     "Is it a finite number?"},
    {"LogicalNot(x: bool) -> (y: bool)",
     unchanged, elementwise,
     "Whether each element is false."},
    {"Invert(x: T) -> (y: T) | T: type in [int8,int16,int32,int64,uint8,uint16,uint32,uint64]",
     unchanged, elementwise,
     "Every bit flipped."},
    {"PopulationCount(x: T) -> (y: uint8) | T: type in [int8,int16,int32,int64,uint8,uint16,"
     "uint32,uint64]",
     unchanged, elementwise,
     "The number of bits that are 1."},
    {"Real(input: T) -> (output: Tout) | T: type in [complex64,complex128] = complex64; Tout: "
     "type in [float,double] = float",
     unchanged, elementwise,
     "The real part."},
    {"Imag(input: T) -> (output: Tout) | T: type in [complex64,complex128] = complex64; Tout: "
     "type in [float,double] = float",
     unchanged, elementwise,
     "The imaginary part."},
    {"Conj(input: T) -> (output: T) | T: type in [complex64,complex128,variant] = complex64",
     unchanged, elementwise,
     "The complex conjugate."},
    {"Angle(input: T) -> (output: Tout) | T: type in [complex64,complex128] = complex64; Tout: "
     "type in [float,double] = float",
     unchanged, transcendental,
     "The argument of a complex number."},
    {"ComplexAbs(x: T) -> (y: Tout) | T: type in [complex64,complex128] = complex64; Tout: type "
     "in [float,double] = float",
     unchanged, transcendental,
     "The length of a complex number."},
    {"Cast(x: SrcT) -> (y: DstT) | SrcT: type; DstT: type; Truncate: bool = false",
     unchanged, elementwise,
     "The values as another dtype."},
    {"Bitcast(input: T) -> (output: type) | T: type in [bfloat16,half,float,double,int64,int32,"
     "uint8,uint16,uint32,uint64,int8,int16,complex64,complex128,qint8,quint8,qint16,quint16,"
     "qint32]; type: type in [bfloat16,half,float,double,int64,int32,uint8,uint16,uint32,uint64,"
     "int8,int16,complex64,complex128,qint8,quint8,qint16,quint16,qint32]",
     bitcast, cheap,
     "The bytes as another dtype."},
    {"Relu(features: T) -> (activations: T) | T: type in [float,double,int32,uint8,int16,int8,"
     "int64,bfloat16,uint16,half,uint32,uint64,qint8]",
     unchanged, elementwise,
     "The greater of each element and 0."},
    {"Relu6(features: T) -> (activations: T) | T: type in [float,double,int32,uint8,int16,int8,"
     "int64,bfloat16,uint16,half,uint32,uint64]",
     unchanged, elementwise,
     "min(max(x, 0), 6)."},
    {"LeakyRelu(features: T) -> (activations: T) | alpha: float = 0.20000000298023224; T: type "
     "in [half,bfloat16,float,double] = float",
     unchanged, elementwise,
     "x, or alpha * x below 0."},
    {"Elu(features: T) -> (activations: T) | T: type in [half,bfloat16,float,double]",
     unchanged, transcendental,
     "x, or exp(x) - 1 below 0."},
    {"Selu(features: T) -> (activations: T) | T: type in [half,bfloat16,float,double]",
     unchanged, transcendental,
     "Elu, scaled such that means and variances stay."},
    {"Softplus(features: T) -> (activations: T) | T: type in [half,bfloat16,float,double]",
     unchanged, transcendental,
     "log(1 + exp(x))."},
    {"Softsign(features: T) -> (activations: T) | T: type in [half,bfloat16,float,double]",
     unchanged, elementwise,
     "x / (1 + |x|)."},
};

}  // namespace

std::span<const OpRow> unary_ops() { return kUnaryRows; }

}  // namespace emplace::stdops
