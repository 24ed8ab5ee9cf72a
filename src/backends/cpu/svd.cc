// Singular values.
#include <numeric>

#include "backends/cpu/gemm_blocked.h"
#include "backends/cpu/linear.h"
#include "backends/cpu/matrix.h"
#include "backends/cpu/matrix_kernels.h"
#include "backends/cpu/reflections.h"
#include "backends/cpu/symmetric.h"

namespace emplace::cpu {
namespace {

// Of large matrices of floats, in double: V from AᵀA, then U from the directions of A V, which makes U
// orthogonal whatever the values. The error is some 1e-8 of the largest value, less than a float's own.
// a: [rows, columns], at least as high as wide. Nothing where it fails.
std::optional<SingularValues<double>> tall_values(KernelContext& c, const std::vector<double>& a,
                                                  int64_t rows, int64_t columns, Vectors wanted) {
  const auto n = static_cast<size_t>(columns);
  std::vector<double> square(n * n), squares;
  add_product(c, {.m = columns, .n = columns, .k = rows, .transpose_a = true},
              {columns, columns, columns}, a.data(), a.data(), square.data());
  const bool vectors = wanted != Vectors::kNone;
  if (!symmetric_eigenvalues(c, square, columns, vectors, squares)) return {};
  SingularValues<double> found{Column<double>(columns), {}, {}};
  if (!vectors) {
    for (int64_t i = 0; i < columns; ++i)
      found.values(i) = std::sqrt(std::max(0.0, squares[n - 1 - static_cast<size_t>(i)]));
    return found;
  }
  // Columns of A V, of falling length.
  std::vector<double> turned_v(n * n), directions(static_cast<size_t>(rows) * n);
  for (size_t i = 0; i < n; ++i)
    std::copy_n(square.begin() + static_cast<int64_t>((n - 1 - i) * n), n,
                turned_v.begin() + static_cast<int64_t>(i * n));
  add_product(c, {.m = columns, .n = rows, .k = columns, .transpose_b = true},
              {columns, columns, rows}, turned_v.data(), a.data(), directions.data());
  const Reflected reflected(std::move(directions), rows, columns);
  std::vector<int64_t> order(n);
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int64_t i, int64_t j) {
    return std::abs(reflected.r(i, i)) > std::abs(reflected.r(j, j));
  });
  const int64_t width = wanted == Vectors::kFull ? rows : columns;
  const std::vector<double> q = reflected.q(width);
  found.u.resize(rows, width);
  found.v.resize(columns, columns);
  for (int64_t i = 0; i < width; ++i) {
    StopScope::attend();
    const int64_t from = i < columns ? order[static_cast<size_t>(i)] : i;
    const double size = i < columns ? reflected.r(from, from) : 1, sign = size < 0 ? -1 : 1;
    found.u.col(i) = sign * Eigen::Map<const Column<double>>(q.data() + from * rows, rows);
    if (i >= columns) continue;
    found.values(i) = std::abs(size);
    found.v.col(i) = Eigen::Map<const Column<double>>(turned_v.data() + from * columns, columns);
  }
  return found;
}

std::optional<SingularValues<double>> values_of_floats(KernelContext& c, const float* from,
                                                       int64_t rows, int64_t columns,
                                                       Vectors wanted) {
  const bool wide = rows < columns;
  std::vector<double> a(static_cast<size_t>(rows * columns));
  for (const int64_t i : paced(rows))
    for (int64_t j = 0; j < columns; ++j)
      a[static_cast<size_t>(wide ? j * rows + i : i * columns + j)] = static_cast<double>(from[i * columns + j]);
  auto found = tall_values(c, a, std::max(rows, columns), std::min(rows, columns), wanted);
  if (found && wide) found->u.swap(found->v);
  return found;
}

struct Svd {
  bool vectors, full;
  void operator()(KernelContext& c) const {
    const Matrices in = matrices(c, 0);
    const int64_t small = std::min(in.rows, in.columns);
    Tensor& s = c.output(0, joined(in.lead, {small}));
    auto vectors_of = [&](int64_t n) {
      return vectors ? joined(in.lead, {n, full ? n : small}) : Shape{0};
    };
    Tensor &u = c.output(1, vectors_of(in.rows)), &v = c.output(2, vectors_of(in.columns));
    visit_dtype(s.dtype(), MatrixTypes{}, [&](auto tag) {
      using T = typename decltype(tag)::type;
      for_each_matrix(c, in, [&](int64_t i) { one<T>(c, in, i, s, u, v); });
    });
  }
  template <class T>
  void one(KernelContext& c, const Matrices& in, int64_t i, Tensor& s, Tensor& u, Tensor& v) const {
    using M = Matrix<Wide<T>>;
    if (in.rows == 0 || in.columns == 0) {
      if (!vectors || !full) return;
      write_matrix<T>(u, i, M(M::Identity(in.rows, in.rows)));
      return write_matrix<T>(v, i, M(M::Identity(in.columns, in.columns)));
    }
    const Vectors wanted = !vectors ? Vectors::kNone : full ? Vectors::kFull : Vectors::kThin;
    if constexpr (std::is_same_v<T, float>)
      if (std::min(in.rows, in.columns) >= kLargeMatrix) {
        const auto* from = in.tensor->data<float>() + i * in.rows * in.columns;
        if (const auto found = values_of_floats(c, from, in.rows, in.columns, wanted))
          return write<T>(*found, i, s, u, v);
      }
    const M m = in.read<T>(i);
    SingularValues<Wide<T>> found;
    if (m.allFinite()) {
      found = singular_values(m, wanted);
    } else {
      const int64_t small = std::min(in.rows, in.columns);
      auto none = [](int64_t rows, int64_t columns) {
        return M::Constant(rows, columns, nan_of<Wide<T>>());
      };
      found = {Column<double>::Constant(small, nan_of<double>()),
               none(in.rows, full ? in.rows : small), none(in.columns, full ? in.columns : small)};
    }
    write<T>(found, i, s, u, v);
  }
  template <class T>
  void write(const SingularValues<Wide<T>>& found, int64_t i, Tensor& s, Tensor& u, Tensor& v) const {
    write_matrix<T>(s, i, found.values);
    if (!vectors) return;
    write_matrix<T>(u, i, found.u);
    write_matrix<T>(v, i, found.v);
  }
};
Prepared make_svd(const KernelInit& i) {
  return prepared(Svd{i.attr<bool>("compute_uv"), i.attr<bool>("full_matrices")});
}

}  // namespace

std::vector<KernelRow> svd_kernels() { return {matrix_row("Svd", make_svd)}; }

}  // namespace emplace::cpu
