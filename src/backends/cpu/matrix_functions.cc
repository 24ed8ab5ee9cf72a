// Square roots and logarithms of matrices.
#include <limits>

#include "backends/cpu/matrix.h"
#include "backends/cpu/matrix_kernels.h"

namespace emplace::cpu {
namespace {

struct SquareRoot {
  template <class M>
  static M of(const M& m) {
    return square_root(m);
  }
};
struct Logarithm {
  static Matrix<Complex128> of(const Matrix<Complex128>& m) { return logarithm(m); }
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
