// Triangles: factorizations with pivots, Cholesky's, and equations with a triangle.
#include "decompositions.h"

#include <Eigen/Cholesky>
#include <Eigen/LU>

namespace emplace::cpu {
namespace {

template <class C>
using Factors = Eigen::PartialPivLU<Matrix<C>>;

}  // namespace

template <class C>
Pivoted<C> pivoted(const Matrix<C>& m) {
  const Factors<C> lu(m);
  return {lu.matrixLU(), lu.permutationP().indices(),
          static_cast<double>(lu.permutationP().determinant())};
}

template <class C>
std::optional<Matrix<C>> inverse(const Matrix<C>& m) {
  const Factors<C> lu(m);
  if (!invertible<C>(lu.matrixLU())) return {};
  return Matrix<C>(lu.inverse());
}

template <class C>
std::optional<Matrix<C>> solution(const Matrix<C>& a, const Matrix<C>& b) {
  const Factors<C> lu(a);
  if (!invertible<C>(lu.matrixLU())) return {};
  return Matrix<C>(lu.solve(b));
}

template <class C>
std::optional<Matrix<C>> cholesky(const Matrix<C>& m) {
  const Eigen::LLT<Matrix<C>> llt(m);
  if (llt.info() != Eigen::Success) return {};
  return Matrix<C>(llt.matrixL());
}

// With P the lower triangle of L^H G, its diagonal halved: L^-H (P + P^H) L^-1 / 2.
Matrix<double> cholesky_gradient(const Matrix<double>& l, const Matrix<double>& gradient) {
  using M = Matrix<double>;
  const M lower = l.triangularView<Eigen::Lower>(), g = gradient.triangularView<Eigen::Lower>();
  M p = (lower.adjoint() * g).triangularView<Eigen::Lower>();
  p.diagonal() *= 0.5;
  const M both = (p + p.adjoint()) * 0.5;
  const auto back = lower.adjoint().triangularView<Eigen::Upper>();
  const M left = back.solve(both);
  return back.solve(left.adjoint()).adjoint();
}

template <class C>
void solve_triangle(const Matrix<C>& triangle, bool lower, Matrix<C>& x) {
  if (lower) triangle.template triangularView<Eigen::Lower>().solveInPlace(x);
  else triangle.template triangularView<Eigen::Upper>().solveInPlace(x);
}

#define EMPLACE_FOR(C)                                                                 \
  template Pivoted<C> pivoted(const Matrix<C>&);                                       \
  template std::optional<Matrix<C>> inverse(const Matrix<C>&);                         \
  template std::optional<Matrix<C>> solution(const Matrix<C>&, const Matrix<C>&);      \
  template std::optional<Matrix<C>> cholesky(const Matrix<C>&);                        \
  template void solve_triangle(const Matrix<C>&, bool, Matrix<C>&);
EMPLACE_FOR(double)
EMPLACE_FOR(std::complex<double>)
#undef EMPLACE_FOR

}  // namespace emplace::cpu
