// Built with little inlining: it takes the compiler minutes otherwise, and gains the user little.
#pragma GCC optimize("O1")
#include "decompositions.h"

#include <Eigen/SVD>

namespace emplace::cpu {

template <class C>
SingularValues<C> singular_values(const Matrix<C>& m, Vectors vectors) {
  constexpr unsigned kKinds[] = {0, Eigen::ComputeThinU | Eigen::ComputeThinV,
                                 Eigen::ComputeFullU | Eigen::ComputeFullV};
  const Eigen::BDCSVD<Matrix<C>> svd(m, kKinds[static_cast<int>(vectors)]);
  if (vectors == Vectors::kNone) return {svd.singularValues(), {}, {}};
  return {svd.singularValues(), svd.matrixU(), svd.matrixV()};
}

template SingularValues<double> singular_values(const Matrix<double>&, Vectors);
template SingularValues<std::complex<double>> singular_values(const Matrix<std::complex<double>>&,
                                                              Vectors);

}  // namespace emplace::cpu
