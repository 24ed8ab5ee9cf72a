// What follows from a factorization with pivots: inverses, solutions, determinants.
#include <numeric>

#include "backends/cpu/linear.h"
#include "backends/cpu/matrix.h"
#include "backends/cpu/matrix_kernels.h"

namespace emplace::cpu {
namespace {

using WithHalf = Join<MatrixTypes, Types<Half>>;

// What there is, or the complaint that there is none.
template <class V>
V demanded(std::optional<V> found, const char* complaint) {
  if (!found) throw invalid_argument(complaint);
  return *std::move(found);
}

// What a large real matrix is factored into, in double precision whatever the dtype.
template <class T>
class LargeFactors {
 public:
  LargeFactors(KernelContext& c, const Matrices& in, int64_t i, bool adjoint)
      : c_(c), n_(in.rows), numbers_(static_cast<size_t>(n_ * n_)) {
    const T* from = in.tensor->data<T>() + i * n_ * n_;
    for (const int64_t r : paced(n_))
      for (int64_t k = 0; k < n_; ++k)
        rows()[r][k] = static_cast<double>(adjoint ? from[k * n_ + r] : from[r * n_ + k]);
    factor(c, rows(), n_, pivots_);
  }

  // Of L and U in one.
  MatrixRows<double> rows() { return {numbers_.data(), n_}; }
  const std::vector<int64_t>& pivots() const { return pivots_; }

  void demand_invertible(const char* complaint) {
    for (int64_t i = 0; i < n_; ++i)
      if (!(std::abs(rows()[i][i]) > 0)) throw invalid_argument(complaint);
  }
  // Puts the solution for the right side x [n, m] at `out`.
  void solve(std::vector<double> x, int64_t m, T* out) {
    const MatrixRows<double> all{x.data(), m};
    exchange_rows(pivots_, all, m);
    solve_triangle(c_, rows().view(), {.lower = true, .ones = true}, n_, all, m);
    solve_triangle(c_, rows().view(), {.lower = false}, n_, all, m);
    for (const size_t i : paced(x.size())) out[i] = static_cast<T>(x[i]);
  }

 private:
  KernelContext& c_;
  const int64_t n_;
  std::vector<double> numbers_;
  std::vector<int64_t> pivots_;
};

template <class T>
bool is_large(const Matrices& m) {
  return std::is_floating_point_v<T> && m.rows >= kLargeMatrix;
}

struct Inverse {
  bool adjoint;
  void operator()(KernelContext& c) const {
    const Matrices in = square_matrices(c, 0);
    Tensor& out = c.output(0, in.tensor->shape());
    if (out.num_elements() == 0) return;
    visit_dtype(out.dtype(), WithHalf{}, [&](auto tag) {
      using T = typename decltype(tag)::type;
      for_each_matrix(c, in, [&](int64_t i) {
        if constexpr (std::is_floating_point_v<T>)
          if (is_large<T>(in)) return large<T>(c, in, i, out);
        auto m = in.read<T>(i);
        if (adjoint) m.adjointInPlace();
        write_matrix<T>(out, i, demanded(inverse(m), "Input is not invertible."));
      });
    });
  }
  template <class T>
  void large(KernelContext& c, const Matrices& in, int64_t i, const Tensor& out) const {
    LargeFactors<T> factors(c, in, i, adjoint);
    factors.demand_invertible("Input is not invertible.");
    const int64_t n = in.rows;
    std::vector<double> ones(static_cast<size_t>(n * n));
    for (int64_t r = 0; r < n; ++r) ones[static_cast<size_t>(r * n + r)] = 1;
    factors.solve(std::move(ones), n, out.data<T>() + i * n * n);
  }
};
Prepared make_inverse(const KernelInit& i) { return prepared(Inverse{i.attr<bool>("adjoint")}); }

struct Solve {
  bool adjoint;
  void operator()(KernelContext& c) const {
    const Matrices a = square_matrices(c, 0), b = matrices(c, 1);
    check_same_lead(a, b);
    if (a.rows != b.rows) throw invalid_argument("Input matrix and rhs are incompatible.");
    Tensor& out = c.output(0, b.tensor->shape());
    if (out.num_elements() == 0) return;
    visit_dtype(out.dtype(), MatrixTypes{}, [&](auto tag) {
      using T = typename decltype(tag)::type;
      using W = Wide<T>;
      for_each_matrix(c, a, [&](int64_t i) {
        if constexpr (std::is_floating_point_v<T>)
          if (is_large<T>(a)) return large<T>(c, a, b, i, out);
        Matrix<W> m = a.read<T>(i);
        if (adjoint) m.adjointInPlace();
        write_matrix<T>(out, i, demanded(solution(m, Matrix<W>(b.read<T>(i))),
                                         "Input matrix is not invertible."));
      });
    });
  }
  template <class T>
  void large(KernelContext& c, const Matrices& a, const Matrices& b, int64_t i,
             const Tensor& out) const {
    LargeFactors<T> factors(c, a, i, adjoint);
    factors.demand_invertible("Input matrix is not invertible.");
    const int64_t size = b.rows * b.columns;
    const T* from = b.tensor->data<T>() + i * size;
    factors.solve(std::vector<double>(from, from + size), b.columns, out.data<T>() + i * size);
  }
};
Prepared make_solve(const KernelInit& i) { return prepared(Solve{i.attr<bool>("adjoint")}); }

// Direction and logarithm of the size: the determinant of a large matrix fits in no number.
template <class T>
struct SignAndLog {
  T sign = T(1), log = T(0);
  explicit SignAndLog(const Matrix<T>& m) {
    if (m.rows() == 0) return;
    const Pivoted<T> lu = pivoted(m);
    sign = T(lu.sign);
    for (int64_t i = 0; i < m.rows(); ++i) take(lu.factors(i, i));
  }
  template <class N>
  explicit SignAndLog(LargeFactors<N> found) {
    for (int64_t i = 0; i < static_cast<int64_t>(found.pivots().size()); ++i) {
      if (found.pivots()[static_cast<size_t>(i)] != i) sign = -sign;
      take(found.rows()[i][i]);
    }
  }
  void take(T pivot) {
    const auto size = std::abs(pivot);
    sign *= size == 0 ? T(0) : pivot / size;
    log += T(std::log(size));
  }
};

template <class F>
void each_determinant(KernelContext& c, const Matrices& in, F&& put) {
  visit_dtype(in.tensor->dtype(), MatrixTypes{}, [&](auto tag) {
    using T = typename decltype(tag)::type;
    for_each_matrix(c, in, [&](int64_t i) {
      if constexpr (std::is_floating_point_v<T>)
        if (is_large<T>(in))
          return put(i, tag, SignAndLog<double>(LargeFactors<T>(c, in, i, false)));
      put(i, tag, SignAndLog<Wide<T>>(in.read<T>(i)));
    });
  });
}
void determinant(KernelContext& c) {
  const Matrices in = square_matrices(c, 0);
  Tensor& out = c.output(0, in.lead);
  each_determinant(c, in, [&]<class T>(int64_t i, Tag<T>, const auto& d) {
    out.data<T>()[i] = narrowed<T>(d.sign * std::exp(d.log));
  });
}
void log_determinant(KernelContext& c) {
  const Matrices in = square_matrices(c, 0);
  Tensor &sign = c.output(0, in.lead), &log = c.output(1, in.lead);
  each_determinant(c, in, [&]<class T>(int64_t i, Tag<T>, const auto& d) {
    sign.data<T>()[i] = narrowed<T>(d.sign);
    log.data<T>()[i] = narrowed<T>(d.log);
  });
}

// `place(k)`: where row k went.
template <class F>
void write_order(const Tensor& order, int64_t first, int64_t n, const F& place) {
  for (int64_t k = 0; k < n; ++k) {
    const int64_t at = first + place(k);
    if (order.dtype() == DType::kInt32) order.data<int32_t>()[at] = static_cast<int32_t>(k);
    else order.data<int64_t>()[at] = k;
  }
}

template <class T>
void large_lu(KernelContext& c, const Matrices& in, int64_t i, const Tensor& out,
              const Tensor& order) {
  LargeFactors<T> found(c, in, i, false);
  found.demand_invertible("Input is not invertible.");
  const int64_t n = in.rows;
  T* to = out.data<T>() + i * n * n;
  for (const int64_t k : paced(n * n)) to[k] = static_cast<T>(found.rows().data[k]);
  std::vector<int64_t> from(static_cast<size_t>(n)), place(static_cast<size_t>(n));
  std::iota(from.begin(), from.end(), 0);
  for (size_t k = 0; k < from.size(); ++k)
    std::swap(from[k], from[static_cast<size_t>(found.pivots()[k])]);
  for (size_t k = 0; k < from.size(); ++k)
    place[static_cast<size_t>(from[k])] = static_cast<int64_t>(k);
  write_order(order, i * n, n, [&](int64_t k) { return place[static_cast<size_t>(k)]; });
}

void lu(KernelContext& c) {
  const Matrices in = square_matrices(c, 0);
  Tensor& out = c.output(0, in.tensor->shape());
  Tensor& order = c.output(1, joined(in.lead, {in.rows}));
  if (out.num_elements() == 0) return;
  visit_dtype(out.dtype(), MatrixTypes{}, [&](auto tag) {
    using T = typename decltype(tag)::type;
    for_each_matrix(c, in, [&](int64_t i) {
      if constexpr (std::is_floating_point_v<T>)
        if (is_large<T>(in)) return large_lu<T>(c, in, i, out, order);
      const Pivoted<Wide<T>> found = pivoted(in.read<T>(i));
      if (!invertible(found.factors)) throw invalid_argument("Input is not invertible.");
      write_matrix<T>(out, i, found.factors);
      write_order(order, i * in.rows, in.rows, [&](int64_t k) { return found.to[k]; });
    });
  });
}

}  // namespace

std::vector<KernelRow> inverse_kernels() {
  return {matrix_row("MatrixInverse", make_inverse, WithHalf::dtypes()),
          matrix_row("MatrixSolve", make_solve),
          matrix_row("MatrixDeterminant", stateless<determinant>),
          matrix_row("LogMatrixDeterminant", stateless<log_determinant>),
          matrix_row("Lu", stateless<lu>)};
}

}  // namespace emplace::cpu
