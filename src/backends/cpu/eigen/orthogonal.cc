// Built with little inlining, as singular_values.cc.
#pragma GCC optimize("O1")
#include "decompositions.h"

#include <Eigen/Cholesky>
#include <Eigen/QR>

namespace emplace::cpu {

template <class C>
Orthogonal<C> orthogonal(const Matrix<C>& m, bool full) {
  const int64_t inner = full ? m.rows() : std::min(m.rows(), m.cols());
  const Eigen::HouseholderQR<Matrix<C>> qr(m);
  const Matrix<C> upper = qr.matrixQR().template triangularView<Eigen::Upper>();
  return {qr.householderQ() * Matrix<C>::Identity(m.rows(), inner), upper.topRows(inner)};
}

template <class C>
Matrix<C> least_squares(const Matrix<C>& a, const Matrix<C>& b) {
  return a.completeOrthogonalDecomposition().solve(b);
}

template <class C>
std::optional<Matrix<C>> least_squares(const Matrix<C>& a, const Matrix<C>& b, double l2) {
  const bool tall = a.rows() >= a.cols();
  Matrix<C> square = tall ? Matrix<C>(a.adjoint() * a) : Matrix<C>(a * a.adjoint());
  square.diagonal().array() += C(l2);
  const Eigen::LLT<Matrix<C>> llt(square);
  if (llt.info() != Eigen::Success) return {};
  if (tall) return Matrix<C>(llt.solve(a.adjoint() * b));
  return Matrix<C>(a.adjoint() * llt.solve(b));
}

template Orthogonal<double> orthogonal(const Matrix<double>&, bool);
template Orthogonal<std::complex<double>> orthogonal(const Matrix<std::complex<double>>&, bool);
template Matrix<double> least_squares(const Matrix<double>&, const Matrix<double>&);
template Matrix<std::complex<double>> least_squares(const Matrix<std::complex<double>>&,
                                                    const Matrix<std::complex<double>>&);
template std::optional<Matrix<double>> least_squares(const Matrix<double>&, const Matrix<double>&,
                                                     double);
template std::optional<Matrix<std::complex<double>>> least_squares(
    const Matrix<std::complex<double>>&, const Matrix<std::complex<double>>&, double);

}  // namespace emplace::cpu
