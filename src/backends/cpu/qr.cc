// Orthogonal decompositions: Qr, least squares.
#include "backends/cpu/linear.h"
#include "backends/cpu/matrix.h"
#include "backends/cpu/matrix_kernels.h"
#include "backends/cpu/reflections.h"

namespace emplace::cpu {
namespace {

using WithHalf = Join<MatrixTypes, Types<Half>>;

struct Qr {
  bool full;
  void operator()(KernelContext& c) const {
    const Matrices in = matrices(c, 0);
    const int64_t inner = full ? in.rows : std::min(in.rows, in.columns);
    Tensor& q = c.output(0, joined(in.lead, {in.rows, inner}));
    Tensor& r = c.output(1, joined(in.lead, {inner, in.columns}));
    visit_dtype(q.dtype(), WithHalf{}, [&](auto tag) {
      using T = typename decltype(tag)::type;
      using W = Wide<T>;
      using M = Matrix<W>;
      for_each_matrix(c, in, [&](int64_t i) {
        if (in.rows == 0 || in.columns == 0)
          return write_matrix<T>(q, i, M(M::Identity(in.rows, inner)));
        if constexpr (std::is_floating_point_v<T>)
          if (std::min(in.rows, in.columns) >= kLargeMatrix)
            return large(in.tensor->data<T>() + i * in.rows * in.columns, in.rows, in.columns, inner,
                         q.data<T>() + i * in.rows * inner, r.data<T>() + i * inner * in.columns);
        const Orthogonal<W> found = orthogonal(in.read<T>(i), full);
        write_matrix<T>(q, i, found.q);
        write_matrix<T>(r, i, found.r);
      });
    });
  }
  template <class T>
  static void large(const T* in, int64_t rows, int64_t columns, int64_t inner, T* q, T* r) {
    std::vector<double> turned(static_cast<size_t>(rows * columns));
    for (const int64_t i : paced(rows))
      for (int64_t j = 0; j < columns; ++j)
        turned[static_cast<size_t>(j * rows + i)] = static_cast<double>(in[i * columns + j]);
    const Reflected found(std::move(turned), rows, columns);
    const std::vector<double> all = found.q(inner);
    for (const int64_t i : paced(rows))
      for (int64_t j = 0; j < inner; ++j)
        q[i * inner + j] = static_cast<T>(all[static_cast<size_t>(j * rows + i)]);
    for (const int64_t i : paced(inner))
      for (int64_t j = 0; j < columns; ++j)
        r[i * columns + j] = i < std::min(rows, columns) ? static_cast<T>(found.r(i, j)) : T(0);
  }
};
Prepared make_qr(const KernelInit& i) { return prepared(Qr{i.attr<bool>("full_matrices")}); }

template <class C>
Matrix<C> regularized(const Matrix<C>& a, const Matrix<C>& b, double l2) {
  if (auto x = least_squares(a, b, l2)) return *std::move(x);
  throw invalid_argument("Input matrix was rank deficient or ill-conditioned. Try setting "
                         "fast=False or provide a larger l2_regularizer > 0.");
}

struct LeastSquares {
  bool fast;
  void operator()(KernelContext& c) const {
    const Matrices a = matrices(c, 0), b = matrices(c, 1);
    const Tensor& l2 = c.input(2);
    check_same_lead(a, b);
    if (a.rows != b.rows) throw invalid_argument("Input matrix and rhs are incompatible.");
    if (l2.num_elements() != 1) throw invalid_argument("l2_regularizer must be a scalar.");
    const double weight = *l2.data<double>();
    if (!(weight >= 0)) throw invalid_argument("l2_regularizer must be >= 0.");
    Tensor& out = c.output(0, joined(a.lead, {a.columns, b.columns}));
    if (out.num_elements() == 0) return;
    visit_dtype(out.dtype(), MatrixTypes{}, [&](auto tag) {
      using T = typename decltype(tag)::type;
      using W = Wide<T>;
      for_each_matrix(c, a, [&](int64_t i) {
        const Matrix<W> left = a.read<T>(i), right = b.read<T>(i);
        Matrix<W> x = Matrix<W>::Zero(a.columns, b.columns);
        if (a.rows > 0) x = fast ? regularized(left, right, weight) : least_squares(left, right);
        write_matrix<T>(out, i, x);
      });
    });
  }
};
Prepared make_ls(const KernelInit& i) { return prepared(LeastSquares{i.attr<bool>("fast")}); }

}  // namespace

std::vector<KernelRow> qr_kernels() {
  return {matrix_row("Qr", make_qr, WithHalf::dtypes()), matrix_row("MatrixSolveLs", make_ls)};
}

}  // namespace emplace::cpu
