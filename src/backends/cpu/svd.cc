// Singular values.
#include "backends/cpu/matrix.h"
#include "backends/cpu/matrix_kernels.h"

namespace emplace::cpu {
namespace {

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
      for_each_matrix(c, in, [&](int64_t i) { one<T>(in, i, s, u, v); });
    });
  }
  template <class T>
  void one(const Matrices& in, int64_t i, Tensor& s, Tensor& u, Tensor& v) const {
    using M = Matrix<Wide<T>>;
    if (in.rows == 0 || in.columns == 0) {
      if (!vectors || !full) return;
      write_matrix<T>(u, i, M(M::Identity(in.rows, in.rows)));
      return write_matrix<T>(v, i, M(M::Identity(in.columns, in.columns)));
    }
    const M m = in.read<T>(i);
    SingularValues<Wide<T>> found;
    if (m.allFinite()) {
      found = singular_values(m, !vectors ? Vectors::kNone : full ? Vectors::kFull : Vectors::kThin);
    } else {
      const int64_t small = std::min(in.rows, in.columns);
      auto none = [](int64_t rows, int64_t columns) {
        return M::Constant(rows, columns, nan_of<Wide<T>>());
      };
      found = {Column<double>::Constant(small, nan_of<double>()),
               none(in.rows, full ? in.rows : small), none(in.columns, full ? in.columns : small)};
    }
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
