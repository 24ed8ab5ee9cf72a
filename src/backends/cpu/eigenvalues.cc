// Eigenvalues and eigenvectors.
#include "backends/cpu/linear.h"
#include "backends/cpu/matrix.h"
#include "backends/cpu/matrix_kernels.h"
#include "backends/cpu/symmetric.h"

namespace emplace::cpu {
namespace {

// Of the lower triangle of a matrix. Large real ones go a way of their own.
template <class T>
std::optional<Eigenvalues<double, Wide<T>>> self_adjoint(KernelContext& c, const Matrices& in,
                                                         int64_t i, bool vectors) {
  if constexpr (std::is_floating_point_v<T>) {
    const int64_t n = in.rows;
    if (n >= kLargeMatrix) {
      const T* from = in.tensor->data<T>() + i * n * n;
      std::vector<double> rows(static_cast<size_t>(n * n)), values;
      for (const int64_t r : paced(n))
        for (int64_t k = 0; k < n; ++k)
          rows[static_cast<size_t>(r * n + k)] = static_cast<double>(from[std::max(r, k) * n + std::min(r, k)]);
      if (!symmetric_eigenvalues(c, rows, n, vectors, values)) return {};
      Eigenvalues<double, double> found{Eigen::Map<Column<double>>(values.data(), n), {}};
      if (vectors) found.vectors = Eigen::Map<Matrix<double>>(rows.data(), n, n);
      return found;
    }
  }
  return self_adjoint_eigenvalues(in.read<T>(i), vectors);
}

struct SelfAdjoint {
  bool vectors;
  void operator()(KernelContext& c) const {
    const Matrices in = square_matrices(c, 0);
    Tensor& e = c.output(0, joined(in.lead, {in.rows}));
    Tensor& v = c.output(1, vectors ? in.tensor->shape() : Shape{0});
    if (e.num_elements() == 0) return;
    visit_dtype(e.dtype(), MatrixTypes{}, [&](auto tag) {
      using T = typename decltype(tag)::type;
      for_each_matrix(c, in, [&](int64_t i) {
        const auto found = self_adjoint<T>(c, in, i, vectors);
        if (!found)
          throw invalid_argument("Self-adjoint eigen decomposition was not successful. The input "
                                 "might not be valid.");
        write_matrix<T>(e, i, found->values);
        if (vectors) write_matrix<T>(v, i, found->vectors);
      });
    });
  }
};
// … in one result, as older graphs want them: the values above the vectors.
void self_adjoint_below(KernelContext& c) {
  const Matrices in = square_matrices(c, 0);
  Tensor& out = c.output(0, joined(in.lead, {in.rows + 1, in.rows}));
  visit_dtype(out.dtype(), MatrixTypes{}, [&](auto tag) {
    using T = typename decltype(tag)::type;
    using W = Wide<T>;
    for_each_matrix(c, in, [&](int64_t i) {
      if (in.rows == 0) return;
      const auto found = self_adjoint<T>(c, in, i, true);
      if (!found)
        throw invalid_argument("Self Adjoint Eigen decomposition was not successful. The input "
                               "might not be valid.");
      Matrix<W> both(in.rows + 1, in.rows);
      both.row(0) = found->values.template cast<W>().transpose();
      both.bottomRows(in.rows) = found->vectors;
      write_matrix<T>(out, i, both);
    });
  });
}

Prepared make_self_adjoint(const KernelInit& i) {
  return prepared(SelfAdjoint{i.attr<bool>("compute_v")});
}

struct General {
  bool vectors;
  void operator()(KernelContext& c) const {
    const Matrices in = square_matrices(c, 0);
    Tensor& e = c.output(0, joined(in.lead, {in.rows}));
    Tensor& v = c.output(1, vectors ? in.tensor->shape() : Shape{0});
    if (e.num_elements() == 0) return;
    visit_dtype(in.tensor->dtype(), MatrixTypes{}, [&](auto tag) {
      using T = typename decltype(tag)::type;
      using W = Wide<T>;
      using R = std::conditional_t<sizeof(T) / (kIsComplex<T> ? 2 : 1) == sizeof(double), Complex128,
                                   Complex64>;
      if (e.dtype() != DTypeOf<R>::value)
        throw invalid_argument("Tout must be the complex type of T's precision.");
      for_each_matrix(c, in, [&](int64_t i) {
        const Matrix<W> m = in.read<T>(i);
        std::optional<Eigenvalues<Complex128, Complex128>> found;
        if (m.allFinite()) found = general_eigenvalues(m, vectors);
        if (!found)
          throw invalid_argument("Eigen decomposition was not successful. The input might not be "
                                 "valid.");
        write_matrix<R>(e, i, found->values);
        if (vectors) write_matrix<R>(v, i, found->vectors);
      });
    });
  }
};
Prepared make_general(const KernelInit& i) {
  return prepared(General{i.attr<bool>("compute_v")});
}

}  // namespace

std::vector<KernelRow> eigenvalue_kernels() {
  return {matrix_row("SelfAdjointEigV2", make_self_adjoint), matrix_row("Eig", make_general),
          matrix_row("SelfAdjointEig", stateless<self_adjoint_below>, {DType::kFloat, DType::kDouble}),
          matrix_row("BatchSelfAdjointEig", stateless<self_adjoint_below>,
                     {DType::kFloat, DType::kDouble})};
}

}  // namespace emplace::cpu
