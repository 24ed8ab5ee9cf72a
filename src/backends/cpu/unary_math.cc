#include "backends/cpu/cpu_kernels.h"
#include "backends/cpu/elementwise.h"
#include "backends/cpu/half_loops.h"
#include "backends/cpu/math.h"
#include "backends/cpu/simd_math.h"

namespace emplace::cpu {
namespace {

// clang-format off
struct Exp { template <class T> T operator()(T x) const { return std::exp(x); } };
struct Log { template <class T> T operator()(T x) const { return std::log(x); } };
struct Sin { template <class T> T operator()(T x) const { return std::sin(x); } };
struct Cos { template <class T> T operator()(T x) const { return std::cos(x); } };
struct Tan { template <class T> T operator()(T x) const { return std::tan(x); } };
struct Asin { template <class T> T operator()(T x) const { return std::asin(x); } };
struct Acos { template <class T> T operator()(T x) const { return std::acos(x); } };
struct Atan { template <class T> T operator()(T x) const { return std::atan(x); } };
struct Sinh { template <class T> T operator()(T x) const { return std::sinh(x); } };
struct Cosh { template <class T> T operator()(T x) const { return std::cosh(x); } };
struct Tanh { template <class T> T operator()(T x) const { return std::tanh(x); } };
struct Asinh { template <class T> T operator()(T x) const { return std::asinh(x); } };
struct Acosh { template <class T> T operator()(T x) const { return std::acosh(x); } };
struct Atanh { template <class T> T operator()(T x) const { return std::atanh(x); } };
// clang-format on

struct Expm1 {
  template <class T>
  T operator()(T x) const {
    if constexpr (kIsComplex<T>) {  // Kahan's way round the cancellation
      const T u = std::exp(x);
      if (u == T(1)) return x;
      const T less = u - T(1);
      return less == T(-1) ? less : less * x / std::log(u);
    } else {
      return std::expm1(x);
    }
  }
};
struct Log1p {
  template <class T>
  T operator()(T x) const {
    if constexpr (kIsComplex<T>) {
      const T u = T(1) + x;
      return u == T(1) ? x : std::log(u) * (x / (u - T(1)));
    } else {
      return std::log1p(x);
    }
  }
};
struct Sigmoid {
  template <class T>
  T operator()(T x) const {
    return T(1) / (T(1) + std::exp(-x));
  }
};

template <Fn kFn>
UnaryLoop float_loop() {
  return simd_loop(kFn, DType::kFloat);
}

template <class Op, Fn kFn>
Prepared make_math(const KernelInit& init) {
  const DType t = init.input_types[0];
  if (t == DType::kHalf && float_loop<kFn>())
    return prepare_unary(init, halves_unary<float_loop<kFn>>, kModerate);
  if (UnaryLoop loop = simd_loop(kFn, t)) return prepare_unary(init, loop, kModerate);
  return prepare_unary(init, find_unary<Op, FloatsAndComplexes>(t), kDear);
}

template <class Op, Fn kFn>
KernelRow math(const char* op) {
  KernelRow row = unary<Op, FloatsAndComplexes, SameType, kDear>(op);
  row.make = make_math<Op, kFn>;
  return row;
}

}  // namespace

std::vector<KernelRow> unary_math_kernels() {
  return {math<Exp, Fn::kExp>("Exp"),
          math<Expm1, Fn::kExpm1>("Expm1"),
          math<Log, Fn::kLog>("Log"),
          math<Log1p, Fn::kLog1p>("Log1p"),
          math<Sin, Fn::kSin>("Sin"),
          math<Cos, Fn::kCos>("Cos"),
          unary<Tan, FloatsAndComplexes, SameType, kDear>("Tan"),
          math<Asin, Fn::kAsin>("Asin"),
          math<Acos, Fn::kAcos>("Acos"),
          math<Atan, Fn::kAtan>("Atan"),
          math<Sinh, Fn::kSinh>("Sinh"),
          unary<Cosh, FloatsAndComplexes, SameType, kDear>("Cosh"),
          math<Tanh, Fn::kTanh>("Tanh"),
          math<Asinh, Fn::kAsinh>("Asinh"),
          math<Acosh, Fn::kAcosh>("Acosh"),
          math<Atanh, Fn::kAtanh>("Atanh"),
          math<Sigmoid, Fn::kSigmoid>("Sigmoid")};
}

}  // namespace emplace::cpu
