// Elementwise ops of two and more operands.
#include "op/shape_context.h"

#include "stdops/stdops.h"

namespace emplace::stdops {
namespace {

using namespace shape_rules;
using namespace cost_rules;

// Equal and NotEqual may be told to answer when shapes do not meet.
void equality(ShapeContext& c) {
  if (c.attr<bool>("incompatible_shape_error")) return broadcast_binary(c);
  const Shape &a = c.input(0), &b = c.input(1);
  if (!a.is_fully_known() || !b.is_fully_known()) return unknown(c);
  try {
    broadcast_binary(c);
  } catch (const Error&) {
    c.set_output(0, Shape{});
  }
}

// The condition has the shape of the others, or is a scalar, or a vector over their rows.
void select(ShapeContext& c) {
  const Shape out = c.merge(c.input(1), c.input(2));
  const Shape& condition = c.input(0);
  c.set_output(0, out);
  if (!condition.has_rank() || condition.rank() == 0 || !out.has_rank()) return;
  if (condition.rank() == 1 && out.rank() >= 1) {
    c.merge_dims(condition[0], out[0]);
    return;
  }
  c.set_output(0, c.merge(condition, out));
}

void select_v2(ShapeContext& c) {
  c.set_output(0, c.broadcast(c.broadcast(c.input(1), c.input(2)), c.input(0)));
}

// All of one shape, but that scalars fit any.
void betainc(ShapeContext& c) {
  Shape out = Shape::unknown();
  bool scalars = true;
  for (int i = 0; i < 3; ++i) {
    const Shape& s = c.input(i);
    if (s.has_rank() && s.rank() == 0) continue;
    out = c.merge(out, s);
    scalars = false;
  }
  c.set_output(0, scalars ? Shape{} : out);
}

constexpr OpRow kBinaryRows[] = {
    {"Add(x: T, y: T) -> (z: T) | T: type in [bfloat16,half,float,double,uint8,int8,int16,int32,"
     "int64,complex64,complex128,string]",
     broadcast_binary, elementwise,
     "x + y; strings are joined."},
    {"AddV2(x: T, y: T) -> (z: T) | T: type in [bfloat16,half,float,double,uint8,uint16,uint32,"
     "uint64,int8,int16,int32,int64,complex64,complex128] | commutative aggregate",
     broadcast_binary, elementwise,
     "x + y."},
    {"Sub(x: T, y: T) -> (z: T) | T: type in [bfloat16,half,float,double,uint8,int8,uint16,int16,"
     "int32,int64,complex64,complex128,uint32,uint64]",
     broadcast_binary, elementwise,
     "x - y."},
    {"Mul(x: T, y: T) -> (z: T) | T: type in [bfloat16,half,float,double,uint8,int8,uint16,int16,"
     "int32,uint32,uint64,int64,complex64,complex128] | commutative",
     broadcast_binary, elementwise,
     "x * y."},
    {"Div(x: T, y: T) -> (z: T) | T: type in [bfloat16,half,float,double,uint8,int8,uint16,int16,"
     "int32,uint32,uint64,int64,complex64,complex128]",
     broadcast_binary, elementwise,
     "x / y; whole numbers are divided as in C."},
    {"RealDiv(x: T, y: T) -> (z: T) | T: type in [bfloat16,half,float,double,uint8,int8,uint16,"
     "int16,int32,uint32,uint64,int64,complex64,complex128]",
     broadcast_binary, elementwise,
     "x / y."},
    {"FloorDiv(x: T, y: T) -> (z: T) | T: type in [bfloat16,half,float,double,uint8,int8,uint16,"
     "int16,int32,uint32,uint64,int64,complex64,complex128]",
     broadcast_binary, elementwise,
     "floor(x / y)."},
    {"TruncateDiv(x: T, y: T) -> (z: T) | T: type in [bfloat16,half,float,double,uint8,int8,"
     "uint16,int16,int32,uint32,uint64,int64,complex64,complex128]",
     broadcast_binary, elementwise,
     "x / y towards 0."},
    {"Mod(x: T, y: T) -> (z: T) | T: type in [int32,int64,half,half,bfloat16,float,double]",
     broadcast_binary, elementwise,
     "The remainder with the sign of x."},
    {"FloorMod(x: T, y: T) -> (z: T) | T: type in [int8,int16,int32,int64,uint8,uint16,uint32,"
     "uint64,bfloat16,half,float,double]",
     broadcast_binary, elementwise,
     "The remainder with the sign of y."},
    {"TruncateMod(x: T, y: T) -> (z: T) | T: type in [int32,int64,bfloat16,half,float,double]",
     broadcast_binary, elementwise,
     "The remainder with the sign of x."},
    {"Pow(x: T, y: T) -> (z: T) | T: type in [bfloat16,float,half,double,int8,int16,int32,int64,"
     "complex64,complex128]",
     broadcast_binary, transcendental,
     "x to the y."},
    {"Maximum(x: T, y: T) -> (z: T) | T: type in [bfloat16,half,float,double,int8,uint8,int16,"
     "uint16,int32,uint32,int64,uint64]",
     broadcast_binary, elementwise,
     "The larger; NaN if either is."},
    {"Minimum(x: T, y: T) -> (z: T) | T: type in [bfloat16,half,float,double,int8,uint8,int16,"
     "uint16,int32,uint32,int64,uint64]",
     broadcast_binary, elementwise,
     "The smaller; NaN if either is."},
    {"SquaredDifference(x: T, y: T) -> (z: T) | T: type in [bfloat16,half,float,double,int32,"
     "int64,complex64,complex128] | commutative",
     broadcast_binary, elementwise,
     "(x - y) squared."},
    {"Atan2(y: T, x: T) -> (z: T) | T: type in [bfloat16,half,float,double]",
     broadcast_binary, transcendental,
     "The angle of the point (x, y)."},
    {"Xdivy(x: T, y: T) -> (z: T) | T: type in [half,bfloat16,float,double,complex64,complex128]",
     broadcast_binary, elementwise,
     "x / y, 0 where x is 0."},
    {"Xlogy(x: T, y: T) -> (z: T) | T: type in [half,bfloat16,float,double,complex64,complex128]",
     broadcast_binary, transcendental,
     "x * log(y), 0 where x is 0."},
    {"Xlog1py(x: T, y: T) -> (z: T) | T: type in [half,bfloat16,float,double,complex64,"
     "complex128]",
     broadcast_binary, transcendental,
     "x * log(1 + y), 0 where x is 0."},
    {"MulNoNan(x: T, y: T) -> (z: T) | T: type in [bfloat16,half,float,double,complex64,"
     "complex128]",
     broadcast_binary, elementwise,
     "x * y, 0 where y is 0."},
    {"DivNoNan(x: T, y: T) -> (z: T) | T: type in [half,float,bfloat16,double,complex64,"
     "complex128]",
     broadcast_binary, elementwise,
     "x / y, 0 where y is 0."},
    {"NextAfter(x1: T, x2: T) -> (output: T) | T: type in [double,float] = float",
     broadcast_binary, transcendental,
     "The next number after x towards y."},
    {"Igamma(a: T, x: T) -> (z: T) | T: type in [bfloat16,half,float,double]",
     broadcast_binary, transcendental,
     "The lower regularized incomplete gamma function."},
    {"Igammac(a: T, x: T) -> (z: T) | T: type in [bfloat16,half,float,double]",
     broadcast_binary, transcendental,
     "The upper regularized incomplete gamma function."},
    {"IgammaGradA(a: T, x: T) -> (z: T) | T: type in [float,double]",
     broadcast_binary, transcendental,
     "The derivative of Igamma with respect to a."},
    {"Zeta(x: T, q: T) -> (z: T) | T: type in [float,double]",
     broadcast_binary, transcendental,
     "The Hurwitz zeta function."},
    {"Polygamma(a: T, x: T) -> (z: T) | T: type in [float,double]",
     broadcast_binary, transcendental,
     "The a-th derivative of Digamma."},
    {"Betainc(a: T, b: T, x: T) -> (z: T) | T: type in [float,double]",
     betainc, transcendental,
     "The regularized incomplete beta function."},
    {"Less(x: T, y: T) -> (z: bool) | T: type in [float,double,int32,uint8,int16,int8,int64,"
     "bfloat16,uint16,half,uint32,uint64]",
     broadcast_binary, elementwise,
     "x < y."},
    {"LessEqual(x: T, y: T) -> (z: bool) | T: type in [float,double,int32,uint8,int16,int8,int64,"
     "bfloat16,uint16,half,uint32,uint64]",
     broadcast_binary, elementwise,
     "x <= y."},
    {"Greater(x: T, y: T) -> (z: bool) | T: type in [float,double,int32,uint8,int16,int8,int64,"
     "bfloat16,uint16,half,uint32,uint64]",
     broadcast_binary, elementwise,
     "x > y."},
    {"GreaterEqual(x: T, y: T) -> (z: bool) | T: type in [float,double,int32,uint8,int16,int8,"
     "int64,bfloat16,uint16,half,uint32,uint64]",
     broadcast_binary, elementwise,
     "x >= y."},
    {"Equal(x: T, y: T) -> (z: bool) | T: type; incompatible_shape_error: bool = true | "
     "commutative",
     equality, elementwise,
     "x == y."},
    {"NotEqual(x: T, y: T) -> (z: bool) | T: type; incompatible_shape_error: bool = true | "
     "commutative",
     equality, elementwise,
     "x != y."},
    {"ApproximateEqual(x: T, y: T) -> (z: bool) | T: type in [float,double,int32,uint8,int16,"
     "int8,complex64,int64,qint8,quint8,qint32,bfloat16,qint16,quint16,uint16,complex128,half,"
     "uint32,uint64]; tolerance: float = 9.999999747378752e-06 | commutative",
     merge_two, elementwise,
     "|x - y| < tolerance."},
    {"LogicalAnd(x: bool, y: bool) -> (z: bool) | commutative",
     broadcast_binary, elementwise,
     "x and y."},
    {"LogicalOr(x: bool, y: bool) -> (z: bool) | commutative",
     broadcast_binary, elementwise,
     "x or y."},
    {"BitwiseAnd(x: T, y: T) -> (z: T) | T: type in [int8,int16,int32,int64,uint8,uint16,uint32,"
     "uint64] | commutative",
     broadcast_binary, elementwise,
     "The bits both have."},
    {"BitwiseOr(x: T, y: T) -> (z: T) | T: type in [int8,int16,int32,int64,uint8,uint16,uint32,"
     "uint64] | commutative",
     broadcast_binary, elementwise,
     "The bits either has."},
    {"BitwiseXor(x: T, y: T) -> (z: T) | T: type in [int8,int16,int32,int64,uint8,uint16,uint32,"
     "uint64] | commutative",
     broadcast_binary, elementwise,
     "The bits one has."},
    {"LeftShift(x: T, y: T) -> (z: T) | T: type in [int8,int16,int32,int64,uint8,uint16,uint32,"
     "uint64]",
     broadcast_binary, elementwise,
     "Bits moved to the left."},
    {"RightShift(x: T, y: T) -> (z: T) | T: type in [int8,int16,int32,int64,uint8,uint16,uint32,"
     "uint64]",
     broadcast_binary, elementwise,
     "Bits moved to the right, the sign kept."},
    {"Complex(real: T, imag: T) -> (out: Tout) | T: type in [float,double] = float; Tout: type "
     "in [complex64,complex128] = complex64",
     broadcast_binary, elementwise,
     "Complex numbers of real and imaginary parts."},
    {"Select(condition: bool, t: T, e: T) -> (output: T) | T: type",
     select, elementwise,
     "t where the condition holds, else e."},
    {"SelectV2(condition: bool, t: T, e: T) -> (output: T) | T: type",
     select_v2, elementwise,
     "t where the condition holds, else e; broadcasts."},
    {"ClipByValue(t: T, clip_value_min: T, clip_value_max: T) -> (output: T) | T: type in [float,"
     "double,int32,uint8,int16,int8,complex64,int64,qint8,quint8,qint32,bfloat16,qint16,quint16,"
     "uint16,complex128,half,uint32,uint64]",
     unchanged, elementwise,
     "Values held between two bounds."},
    {"AddN(inputs: N*T) -> (sum: T) | N: int >= 1; T: type in [float,double,int32,uint8,int16,"
     "int8,complex64,int64,qint8,quint8,qint32,bfloat16,qint16,quint16,uint16,complex128,half,"
     "uint32,uint64,variant] | commutative aggregate",
     merge_all, elementwise,
     "The sum of tensors."},
    {"AccumulateNV2(inputs: N*T) -> (sum: T) | N: int >= 1; T: type in [float,double,int32,uint8,"
     "int16,int8,complex64,int64,qint8,quint8,qint32,bfloat16,qint16,quint16,uint16,complex128,"
     "half,uint32,uint64]; shape: shape | commutative aggregate",
     merge_all, elementwise,
     "The sum of tensors."},
};

}  // namespace

std::span<const OpRow> binary_ops() { return kBinaryRows; }

}  // namespace emplace::stdops
