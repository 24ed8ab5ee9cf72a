// Functions of statistics, from Eigen's collection.
#include "backends/cpu/eigen/core.h"

#include <unsupported/Eigen/SpecialFunctions>

#include "backends/cpu/cpu_kernels.h"
#include "backends/cpu/elementwise.h"
#include "backends/cpu/math.h"
#include "backends/cpu/simd_math.h"
#include "kernel/betainc_shape.h"

namespace emplace::cpu {
namespace {

using Doubles = Types<float, double>;

// clang-format off
struct Erf { template <class T> T operator()(T x) const { return std::erf(x); } };
struct Erfc { template <class T> T operator()(T x) const { return std::erfc(x); } };
struct Lgamma { template <class T> T operator()(T x) const { return Eigen::numext::lgamma(x); } };
struct Digamma { template <class T> T operator()(T x) const { return Eigen::numext::digamma(x); } };
struct Igamma { template <class T> T operator()(T a, T x) const { return Eigen::numext::igamma(a, x); } };
struct Igammac { template <class T> T operator()(T a, T x) const { return Eigen::numext::igammac(a, x); } };
struct IgammaGradA { template <class T> T operator()(T a, T x) const { return Eigen::numext::igamma_der_a(a, x); } };
struct Zeta { template <class T> T operator()(T x, T q) const { return Eigen::numext::zeta(x, q); } };
struct Polygamma { template <class T> T operator()(T n, T x) const { return Eigen::numext::polygamma(n, x); } };
struct NextAfter { template <class T> T operator()(T a, T b) const { return std::nextafter(a, b); } };
struct Atan2 { template <class T> T operator()(T a, T b) const { return std::atan2(a, b); } };
// clang-format on

struct Ndtri {  // Eigen's answers outside [0, 1] too, with infinities
  template <class T>
  T operator()(T x) const {
    if (x < T(0) || x > T(1)) return std::numeric_limits<T>::quiet_NaN();
    return Eigen::numext::ndtri(x);
  }
};
struct Erfinv {
  template <class T>
  T operator()(T x) const {
    constexpr T half_root = T(0.70710678118654752440);
    return Ndtri{}((x + T(1)) / T(2)) * half_root;
  }
};

// Three operands, each a scalar or of the shape of the others.
template <class T>
void betainc(KernelContext& c) {
  const Tensor &a = c.input(0), &b = c.input(1), &x = c.input(2);
  const Shape* shapes[] = {&a.shape(), &b.shape(), &x.shape()};
  T* out = c.output(0, betainc_shape(*shapes[0], *shapes[1], *shapes[2])).template data<T>();
  const Broadcast way(shapes);
  const int64_t inner = way.inner();
  way.for_rows(0, way.rows(), [&](const auto& at, int64_t row) {
    for (int64_t i = 0; i < inner; ++i)
      out[row * inner + i] = Eigen::numext::betainc(a.data<T>()[at[0] + i * way.inner_stride(0)],
                                                    b.data<T>()[at[1] + i * way.inner_stride(1)],
                                                    x.data<T>()[at[2] + i * way.inner_stride(2)]);
  });
}

Prepared make_betainc(const KernelInit& init) {
  return init.type("T") == DType::kDouble ? prepared<betainc<double>>() : prepared<betainc<float>>();
}

Prepared make_erf(const KernelInit& init) {
  const DType t = init.input_types[0];
  if (UnaryLoop loop = simd_loop(Fn::kErf, t)) return prepare_unary(init, loop, kModerate);
  return prepare_unary(init, find_unary<Erf, Floats>(t), kDear);
}
KernelRow erf_row() {
  KernelRow row = unary<Erf, Floats, SameType, kDear>("Erf");
  row.make = make_erf;
  return row;
}

Prepared make_atan2(const KernelInit& init) {
  const DType t = init.input_types[0];
  if (BinaryLoop loop = simd_atan2(t)) return prepare_binary(init, loop, kModerate);
  return prepare_binary(init, find_binary<Atan2, Floats>(t), kDear);
}
KernelRow atan2_row() {
  KernelRow row = binary<Atan2, Floats, SameType, kDear>("Atan2");
  row.make = make_atan2;
  return row;
}

}  // namespace

std::vector<KernelRow> special_kernels() {
  return {{"Betainc", "CPU", {{"T", Doubles::dtypes()}}, {}, make_betainc, {}, 0, ""},
          erf_row(),
          unary<Erfc, Floats, SameType, kDear>("Erfc"),
          unary<Erfinv, Doubles, SameType, kDear>("Erfinv"),
          unary<Ndtri, Doubles, SameType, kDear>("Ndtri"),
          unary<Lgamma, Types<float, double, Half>, SameType, kDear>("Lgamma"),
          unary<Digamma, Types<float, double, Half>, SameType, kDear>("Digamma"),
          binary<Igamma, Doubles, SameType, kDear>("Igamma"),
          binary<Igammac, Doubles, SameType, kDear>("Igammac"),
          binary<IgammaGradA, Doubles, SameType, kDear>("IgammaGradA"),
          binary<Zeta, Doubles, SameType, kDear>("Zeta"),
          binary<Polygamma, Doubles, SameType, kDear>("Polygamma"),
          binary<NextAfter, Doubles, SameType, kDear>("NextAfter"),
          atan2_row()};
}

}  // namespace emplace::cpu
