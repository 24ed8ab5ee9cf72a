// Built with little inlining, as singular_values.cc.
#pragma GCC optimize("O1")
#include "decompositions.h"

#include <Eigen/Eigenvalues>
#include <type_traits>

namespace emplace::cpu {

template <class C>
std::optional<Eigenvalues<double, C>> self_adjoint_eigenvalues(const Matrix<C>& m, bool vectors) {
  const Eigen::SelfAdjointEigenSolver<Matrix<C>> solver(
      m, vectors ? Eigen::ComputeEigenvectors : Eigen::EigenvaluesOnly);
  if (solver.info() != Eigen::Success) return {};
  if (!vectors) return {{solver.eigenvalues(), {}}};
  return {{solver.eigenvalues(), solver.eigenvectors()}};
}

template <class C>
std::optional<Eigenvalues<std::complex<double>, std::complex<double>>> general_eigenvalues(
    const Matrix<C>& m, bool vectors) {
  using Solver = std::conditional_t<std::is_same_v<C, double>, Eigen::EigenSolver<Matrix<C>>,
                                    Eigen::ComplexEigenSolver<Matrix<C>>>;
  const Solver solver(m, vectors);
  if (solver.info() != Eigen::Success) return {};
  if (!vectors) return {{solver.eigenvalues(), {}}};
  return {{solver.eigenvalues(), solver.eigenvectors()}};
}

template std::optional<Eigenvalues<double, double>> self_adjoint_eigenvalues(const Matrix<double>&,
                                                                             bool);
template std::optional<Eigenvalues<double, std::complex<double>>> self_adjoint_eigenvalues(
    const Matrix<std::complex<double>>&, bool);
template std::optional<Eigenvalues<std::complex<double>, std::complex<double>>> general_eigenvalues(
    const Matrix<double>&, bool);
template std::optional<Eigenvalues<std::complex<double>, std::complex<double>>> general_eigenvalues(
    const Matrix<std::complex<double>>&, bool);

}  // namespace emplace::cpu
