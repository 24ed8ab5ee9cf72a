// Square roots and logarithms of matrices.
// Built with little inlining, as eigenvalues.cc.
#pragma GCC optimize("O1")
#define EIGEN_NO_DEBUG  // the root of a negative number is none, and no reason to stop
#include <Eigen/Dense>
#include <limits>
#include <unsupported/Eigen/MatrixFunctions>

#include "backends/cpu/matrix.h"
#include "backends/cpu/matrix_kernels.h"

namespace emplace::cpu {
namespace {

struct SquareRoot {
  template <class M>
  static M of(const M& m) {
    return m.sqrt();
  }
};
struct Logarithm {
  // Eigen takes roots until they are near 1, and so for ever where an eigenvalue is 0.
  template <class M>
  static M of(const M& m) {
    using R = typename M::RealScalar;
    constexpr R kLargest = 1e150;
    const auto values = Eigen::ComplexSchur<M>(m, false).matrixT().diagonal().eval();
    if (m.norm() > kLargest || !(values.cwiseAbs().minCoeff() > R(0)))
      return m * std::numeric_limits<R>::quiet_NaN();
    return m.log();
  }
};

using ComplexTypes = Types<Complex64, Complex128>;

template <class F, class Supported>
struct Apply {
  void operator()(KernelContext& c) const {
    const Matrices in = square_matrices(c, 0);
    Tensor& out = c.output(0, in.tensor->shape());
    if (out.num_elements() == 0) return;
    visit_dtype(out.dtype(), Supported{}, [&](auto tag) {
      using T = typename decltype(tag)::type;
      using W = Wide<T>;
      for_each_matrix(c, in, [&](int64_t i) {
        const Matrix<W> m = in.read<T>(i);
        // The decomposition behind it need not end on what is no number.
        const Matrix<W> nothing = m * std::numeric_limits<double>::quiet_NaN();
        write_matrix<T>(out, i, m.allFinite() ? F::of(m) : nothing);
      });
    });
  }
};

template <class F, class Supported = MatrixTypes>
Prepared make(const KernelInit&) {
  return prepared(Apply<F, Supported>{});
}

}  // namespace

std::vector<KernelRow> matrix_function_kernels() {
  return {matrix_row("MatrixSquareRoot", make<SquareRoot>),
          matrix_row("MatrixLogarithm", make<Logarithm, ComplexTypes>, ComplexTypes::dtypes())};
}

}  // namespace emplace::cpu
