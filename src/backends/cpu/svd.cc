// Singular values.
// Built with little inlining: it takes the compiler minutes otherwise, and gains the user little.
#pragma GCC optimize("O1")
#include <Eigen/SVD>

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
    const unsigned kind = full ? Eigen::ComputeFullU | Eigen::ComputeFullV
                               : Eigen::ComputeThinU | Eigen::ComputeThinV;
    const M m = in.read<T>(i);
    Eigen::BDCSVD<M> svd;
    if (m.allFinite()) svd.compute(m, vectors ? kind : 0u);
    auto put = [&](Tensor& out, int64_t rows, int64_t columns, const auto& result) {
      if (m.allFinite()) write_matrix<T>(out, i, result());
      else write_matrix<T>(out, i, M(M::Constant(rows, columns, nan_of<Wide<T>>())));
    };
    const int64_t small = std::min(in.rows, in.columns);
    put(s, small, 1, [&] { return M(svd.singularValues().template cast<Wide<T>>()); });
    if (!vectors) return;
    put(u, in.rows, full ? in.rows : small, [&] { return M(svd.matrixU()); });
    put(v, in.columns, full ? in.columns : small, [&] { return M(svd.matrixV()); });
  }
};
Prepared make_svd(const KernelInit& i) {
  return prepared(Svd{i.attr<bool>("compute_uv"), i.attr<bool>("full_matrices")});
}

}  // namespace

std::vector<KernelRow> svd_kernels() { return {matrix_row("Svd", make_svd)}; }

}  // namespace emplace::cpu
