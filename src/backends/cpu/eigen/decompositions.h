#pragma once
// Eigen's decompositions behind functions, for double and Complex128. Their templates take the
// compiler minutes, so their sources see no other header of ours and are compiled alike in every
// build (cmake/once).
#include <complex>
#include <cstdint>
#include <optional>

#include "core.h"

namespace emplace::cpu {

// Columns one after another.
template <class C>
using Matrix = Eigen::Matrix<C, Eigen::Dynamic, Eigen::Dynamic>;
template <class C>
using Column = Eigen::Matrix<C, Eigen::Dynamic, 1>;

enum class Vectors { kNone, kThin, kFull };

template <class C>
struct SingularValues {
  Column<double> values;
  Matrix<C> u, v;  // empty with kNone
};
template <class C>
SingularValues<C> singular_values(const Matrix<C>& m, Vectors vectors);

template <class C>
struct Orthogonal {
  Matrix<C> q, r;
};
template <class C>
Orthogonal<C> orthogonal(const Matrix<C>& m, bool full);

// The shortest x of those for which a x is nearest to b.
template <class C>
Matrix<C> least_squares(const Matrix<C>& a, const Matrix<C>& b);
// … by the normal equations of the smaller side, weight `l2` on x; nothing where they have no root.
template <class C>
std::optional<Matrix<C>> least_squares(const Matrix<C>& a, const Matrix<C>& b, double l2);

template <class Value, class C>
struct Eigenvalues {
  Column<Value> values;
  Matrix<C> vectors;  // empty when not asked for
};
// Nothing where the search does not end. The general one takes finite numbers only.
template <class C>
std::optional<Eigenvalues<double, C>> self_adjoint_eigenvalues(const Matrix<C>& m, bool vectors);
template <class C>
std::optional<Eigenvalues<std::complex<double>, std::complex<double>>> general_eigenvalues(
    const Matrix<C>& m, bool vectors);

// Of finite numbers; NaN where there is none. The logarithm is one of complex matrices.
template <class C>
Matrix<C> square_root(const Matrix<C>& m);
Matrix<std::complex<double>> logarithm(const Matrix<std::complex<double>>& m);

// L and U in one matrix, of rows exchanged: row k went to row to[k].
template <class C>
struct Pivoted {
  Matrix<C> factors;
  Eigen::VectorXi to;
  double sign;  // of the exchange
};
// Such a factorization cannot tell how close to singular a matrix is; a pivot of 0 it shows.
template <class C>
bool invertible(const Matrix<C>& factors) {
  return factors.diagonal().cwiseAbs().minCoeff() > 0;
}
template <class C>
Pivoted<C> pivoted(const Matrix<C>& m);
// Nothing for what is not invertible.
template <class C>
std::optional<Matrix<C>> inverse(const Matrix<C>& m);
template <class C>
std::optional<Matrix<C>> solution(const Matrix<C>& a, const Matrix<C>& b);

// The lower triangle; nothing for what is not positive definite.
template <class C>
std::optional<Matrix<C>> cholesky(const Matrix<C>& m);
Matrix<double> cholesky_gradient(const Matrix<double>& l, const Matrix<double>& gradient);
// x becomes the solution of triangle · solution = x.
template <class C>
void solve_triangle(const Matrix<C>& triangle, bool lower, Matrix<C>& x);

}  // namespace emplace::cpu
