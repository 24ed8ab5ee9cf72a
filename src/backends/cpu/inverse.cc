// What follows from a factorization with pivots: inverses, solutions, determinants.
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

struct Inverse {
  bool adjoint;
  void operator()(KernelContext& c) const {
    const Matrices in = square_matrices(c, 0);
    Tensor& out = c.output(0, in.tensor->shape());
    if (out.num_elements() == 0) return;
    visit_dtype(out.dtype(), WithHalf{}, [&](auto tag) {
      using T = typename decltype(tag)::type;
      for_each_matrix(c, in, [&](int64_t i) {
        auto m = in.read<T>(i);
        if (adjoint) m.adjointInPlace();
        write_matrix<T>(out, i, demanded(inverse(m), "Input is not invertible."));
      });
    });
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
        Matrix<W> m = a.read<T>(i);
        if (adjoint) m.adjointInPlace();
        write_matrix<T>(out, i, demanded(solution(m, Matrix<W>(b.read<T>(i))),
                                         "Input matrix is not invertible."));
      });
    });
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
    for (int64_t i = 0; i < m.rows(); ++i) {
      const T pivot = lu.factors(i, i);
      const auto size = std::abs(pivot);
      sign *= size == 0 ? T(0) : pivot / size;
      log += T(std::log(size));
    }
  }
};

template <class F>
void each_determinant(KernelContext& c, const Matrices& in, F&& put) {
  visit_dtype(in.tensor->dtype(), MatrixTypes{}, [&](auto tag) {
    using T = typename decltype(tag)::type;
    for_each_matrix(c, in, [&](int64_t i) { put(i, tag, SignAndLog<Wide<T>>(in.read<T>(i))); });
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

void lu(KernelContext& c) {
  const Matrices in = square_matrices(c, 0);
  Tensor& out = c.output(0, in.tensor->shape());
  Tensor& order = c.output(1, joined(in.lead, {in.rows}));
  if (out.num_elements() == 0) return;
  visit_dtype(out.dtype(), MatrixTypes{}, [&](auto tag) {
    using T = typename decltype(tag)::type;
    for_each_matrix(c, in, [&](int64_t i) {
      const Pivoted<Wide<T>> found = pivoted(in.read<T>(i));
      if (!invertible(found.factors)) throw invalid_argument("Input is not invertible.");
      write_matrix<T>(out, i, found.factors);
      for (int64_t k = 0; k < in.rows; ++k) {
        const int64_t at = i * in.rows + found.to[k];
        if (order.dtype() == DType::kInt32) order.data<int32_t>()[at] = static_cast<int32_t>(k);
        else order.data<int64_t>()[at] = k;
      }
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
