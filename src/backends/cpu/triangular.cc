// Triangles: Cholesky's decomposition, its gradient, and systems of equations.
#include <fmt/format.h>

#include "backends/cpu/broadcast.h"
#include "backends/cpu/linear.h"
#include "backends/cpu/matrix.h"
#include "backends/cpu/matrix_kernels.h"

namespace emplace::cpu {
namespace {

// Of a large matrix, of which the lower triangle counts; false where it is not positive definite.
template <class T>
bool large_cholesky(KernelContext& c, const T* in, int64_t n, T* out) {
  std::vector<double> upper(static_cast<size_t>(n * n));
  const auto at = [n](int64_t i, int64_t j) { return static_cast<size_t>(i * n + j); };
  for (const int64_t i : paced(n))
    for (int64_t j = 0; j <= i; ++j) upper[at(j, i)] = static_cast<double>(in[i * n + j]);
  if (!factor_positive(c, MatrixRows<double>{upper.data(), n}, n)) return false;
  for (const int64_t i : paced(n))
    for (int64_t j = 0; j < n; ++j) out[i * n + j] = j <= i ? static_cast<T>(upper[at(j, i)]) : T(0);
  return true;
}

void lower_triangle(KernelContext& c) {
  const Matrices in = square_matrices(c, 0);
  Tensor& out = c.output(0, in.tensor->shape());
  if (out.num_elements() == 0) return;
  visit_dtype(out.dtype(), MatrixTypes{}, [&](auto tag) {
    using T = typename decltype(tag)::type;
    using W = Wide<T>;
    for_each_matrix(c, in, [&](int64_t i) {
      if constexpr (std::is_floating_point_v<T>) {
        const int64_t at = i * in.rows * in.rows;
        if (in.rows >= kLargeMatrix &&
            large_cholesky(c, in.tensor->data<T>() + at, in.rows, out.data<T>() + at))
          return;
      }
      auto l = cholesky(in.read<T>(i));
      if (!l) {
        l = Matrix<W>::Zero(in.rows, in.rows);
        l->template triangularView<Eigen::Lower>().setConstant(nan_of<W>());
      }
      write_matrix<T>(out, i, *l);
    });
  });
}

void lower_triangle_gradient(KernelContext& c) {
  const Matrices l = square_matrices(c, 0), g = square_matrices(c, 1);
  if (!(l.tensor->shape() == g.tensor->shape()))
    throw invalid_argument("Inputs l and grad must have the same shape.");
  Tensor& out = c.output(0, l.tensor->shape());
  if (out.num_elements() == 0) return;
  visit_dtype(out.dtype(), Types<float, double>{}, [&](auto tag) {
    using T = typename decltype(tag)::type;
    for_each_matrix(c, l, [&](int64_t i) {
      write_matrix<T>(out, i, cholesky_gradient(l.read<T>(i), g.read<T>(i)));
    });
  });
}

// Calls f(i, a, b): equation i has matrix a of the left and b of the right side.
template <class F>
void each_equation(KernelContext& c, const Matrices& a, const Matrices& b, const Broadcast& way,
                   F&& f) {
  const int64_t inner = way.inner();
  const double cost = 200 + static_cast<double>(a.rows * a.columns * b.columns);
  c.parallel_for(way.rows() * inner, cost, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i)
      way.for_rows(i / inner, i / inner + 1, [&](const auto& at, int64_t) {
        const int64_t k = i % inner;
        f(i, at[0] + k * way.inner_stride(0), at[1] + k * way.inner_stride(1));
      });
  });
}

struct Triangle {
  bool lower, adjoint;
  void operator()(KernelContext& c) const {
    const Matrices a = matrices(c, 0), b = matrices(c, 1);
    if (a.rows != a.columns)
      throw invalid_argument(fmt::format("In[0] matrices in the last dimensions must be square "
                                         "({} =/= {})", a.rows, a.columns));
    if (a.rows != b.rows)
      throw invalid_argument(fmt::format("In[0] mismatch In[1] shape: {} vs. {}: {} {} {} {}",
                                         a.rows, b.rows, a.tensor->shape().str(),
                                         b.tensor->shape().str(), lower, adjoint));
    const Broadcast way(a.lead, b.lead);
    Tensor& out = c.output(0, joined(way.shape(), {b.rows, b.columns}));
    if (out.num_elements() == 0) return;
    visit_dtype(out.dtype(), MatrixTypes{}, [&](auto tag) {
      using T = typename decltype(tag)::type;
      using W = Wide<T>;
      each_equation(c, a, b, way, [&](int64_t i, int64_t ia, int64_t ib) {
        if constexpr (std::is_floating_point_v<T>)
          if (a.rows >= kLargeMatrix) return large(c, a, ia, b, ib, out.data<T>() + i * b.rows * b.columns);
        Matrix<W> m = a.read<T>(ia), x = b.read<T>(ib);
        if (adjoint) m.adjointInPlace();
        solve_triangle(m, lower != adjoint, x);
        write_matrix<T>(out, i, x);
      });
    });
  }
  template <class T>
  void large(KernelContext& c, const Matrices& a, int64_t ia, const Matrices& b, int64_t ib,
             T* x) const {
    const int64_t n = a.rows;
    const MatrixView<T> triangle{a.tensor->data<T>() + ia * n * n, n, 1};
    std::copy_n(b.tensor->data<T>() + ib * n * b.columns, n * b.columns, x);
    solve_triangle(c, adjoint ? triangle.turned() : triangle, {.lower = lower != adjoint}, n,
                   MatrixRows<T>{x, b.columns}, b.columns);
  }
};
Prepared make_triangle(const KernelInit& i) {
  return prepared(Triangle{i.attr<bool>("lower"), i.attr<bool>("adjoint")});
}

// Row k of the bands is the k-th diagonal, from the main one down (lower), or to it (upper).
template <class T>
Matrix<T> from_bands(const Matrix<T>& bands, bool lower) {
  const int64_t n = bands.cols(), count = bands.rows();
  Matrix<T> m = Matrix<T>::Zero(n, n);
  for (int64_t k = 0; k < std::min(count, n); ++k)
    for (int64_t i = k; i < n; ++i)
      if (lower) m(i, i - k) = bands(k, i);
      else m(i - k, i) = bands(count - 1 - k, i - k);
  return m;
}

struct Bands {
  bool lower, adjoint;
  void operator()(KernelContext& c) const {
    const Matrices a = matrices(c, 0), b = matrices(c, 1);
    if (a.rows == 0) throw invalid_argument("Number of bands is 0");
    if (a.columns != b.rows)
      throw invalid_argument(fmt::format("In[0] mismatch In[1] shape: {} vs. {}: {} {}", a.columns,
                                         b.rows, a.tensor->shape().str(), b.tensor->shape().str()));
    const Broadcast way(a.lead, b.lead);
    Tensor& out = c.output(0, joined(way.shape(), {b.rows, b.columns}));
    if (out.num_elements() == 0) return;
    visit_dtype(out.dtype(), MatrixTypes{}, [&](auto tag) {
      using T = typename decltype(tag)::type;
      using W = Wide<T>;
      each_equation(c, a, b, way, [&](int64_t i, int64_t ia, int64_t ib) {
        Matrix<W> m = from_bands<W>(a.read<T>(ia), lower), x = b.read<T>(ib);
        if (!(m.diagonal().cwiseAbs().minCoeff() > 0))
          throw invalid_argument("Input matrix is not invertible.");
        if (adjoint) m.adjointInPlace();
        solve_triangle(m, lower != adjoint, x);
        write_matrix<T>(out, i, x);
      });
    });
  }
};
Prepared make_bands(const KernelInit& i) {
  return prepared(Bands{i.attr<bool>("lower"), i.attr<bool>("adjoint")});
}

}  // namespace

std::vector<KernelRow> triangular_kernels() {
  return {matrix_row("Cholesky", stateless<lower_triangle>),
          matrix_row("CholeskyGrad", stateless<lower_triangle_gradient>, Types<float, double>::dtypes()),
          matrix_row("MatrixTriangularSolve", make_triangle),
          matrix_row("BandedTriangularSolve", make_bands)};
}

}  // namespace emplace::cpu
