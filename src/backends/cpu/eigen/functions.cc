// Built with little inlining, as singular_values.cc.
#pragma GCC optimize("O1")
#include "decompositions.h"

#include <Eigen/Dense>
#include <limits>
#include <unsupported/Eigen/MatrixFunctions>

namespace emplace::cpu {

template <class C>
Matrix<C> square_root(const Matrix<C>& m) {
  return m.sqrt();
}

// Eigen takes roots until they are near 1, and so for ever where an eigenvalue is 0.
Matrix<std::complex<double>> logarithm(const Matrix<std::complex<double>>& m) {
  constexpr double kLargest = 1e150;
  const auto values =
      Eigen::ComplexSchur<Matrix<std::complex<double>>>(m, false).matrixT().diagonal().eval();
  if (m.norm() > kLargest || !(values.cwiseAbs().minCoeff() > 0))
    return m * std::numeric_limits<double>::quiet_NaN();
  return m.log();
}

template Matrix<double> square_root(const Matrix<double>&);
template Matrix<std::complex<double>> square_root(const Matrix<std::complex<double>>&);

}  // namespace emplace::cpu
