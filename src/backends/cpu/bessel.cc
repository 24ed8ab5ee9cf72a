// Bessel functions, from Eigen's collection; the gradient of gamma-distributed numbers.
#include "backends/cpu/eigen/core.h"

#include <unsupported/Eigen/SpecialFunctions>

#include "backends/cpu/elementwise.h"
#include "backends/cpu/more_kernels.h"

namespace emplace::cpu {
namespace {

using Doubles = Types<float, double>;
using WithHalf = Types<float, double, Half>;
namespace numext = Eigen::numext;

// clang-format off
struct I0 { template <class T> T operator()(T x) const { return numext::bessel_i0(x); } };
struct I0e { template <class T> T operator()(T x) const { return numext::bessel_i0e(x); } };
struct I1 { template <class T> T operator()(T x) const { return numext::bessel_i1(x); } };
struct I1e { template <class T> T operator()(T x) const { return numext::bessel_i1e(x); } };
struct J0 { template <class T> T operator()(T x) const { return numext::bessel_j0(x); } };
struct J1 { template <class T> T operator()(T x) const { return numext::bessel_j1(x); } };
struct K0 { template <class T> T operator()(T x) const { return numext::bessel_k0(x); } };
struct K0e { template <class T> T operator()(T x) const { return numext::bessel_k0e(x); } };
struct K1 { template <class T> T operator()(T x) const { return numext::bessel_k1(x); } };
struct K1e { template <class T> T operator()(T x) const { return numext::bessel_k1e(x); } };
struct Y0 { template <class T> T operator()(T x) const { return numext::bessel_y0(x); } };
struct Y1 { template <class T> T operator()(T x) const { return numext::bessel_y1(x); } };
struct GammaGrad { template <class T> T operator()(T a, T x) const { return numext::gamma_sample_der_alpha(a, x); } };
// clang-format on

template <class Op>
KernelRow bessel(const char* op) {
  return unary<Op, WithHalf, SameType, kDear>(op);
}

}  // namespace

std::vector<KernelRow> bessel_kernels() {
  return {bessel<I0>("BesselI0"), bessel<I0e>("BesselI0e"), bessel<I1>("BesselI1"),
          bessel<I1e>("BesselI1e"), bessel<J0>("BesselJ0"), bessel<J1>("BesselJ1"),
          bessel<K0>("BesselK0"), bessel<K0e>("BesselK0e"), bessel<K1>("BesselK1"),
          bessel<K1e>("BesselK1e"), bessel<Y0>("BesselY0"), bessel<Y1>("BesselY1"),
          binary<GammaGrad, Doubles, SameType, kDear>("RandomGammaGrad")};
}

}  // namespace emplace::cpu
