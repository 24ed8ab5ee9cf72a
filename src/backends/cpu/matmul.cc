#include <fmt/format.h>

#include "backends/cpu/cpu_kernels.h"
#include "backends/cpu/gemm.h"
#include "backends/cpu/visit.h"

namespace emplace::cpu {
namespace {

GemmShape checked_shape(const Shape& a, const Shape& b, bool ta, bool tb) {
  if (a.rank() != 2 || b.rank() != 2)
    throw invalid_argument(fmt::format("In[{}] and In[{}] has different ndims: {} vs. {}", 0, 1,
                                       a.str(), b.str()));
  GemmShape s;
  s.transpose_a = ta;
  s.transpose_b = tb;
  s.m = a[ta ? 1 : 0];
  s.k = a[ta ? 0 : 1];
  s.n = b[tb ? 0 : 1];
  if (s.k != b[tb ? 1 : 0])
    throw invalid_argument(fmt::format("Matrix size-incompatible: In[0]: {}, In[1]: {}", a.str(),
                                       b.str()));
  return s;
}

struct MatMul {
  bool transpose_a, transpose_b;
  void operator()(KernelContext& c) const {
    const Tensor &a = c.input(0), &b = c.input(1);
    const GemmShape s = checked_shape(a.shape(), b.shape(), transpose_a, transpose_b);
    Tensor& out = c.output(0, Shape{s.m, s.n});
    gemm(c, a.dtype(), s, a.raw(), b.raw(), out.raw());
  }
};

Prepared make_matmul(const KernelInit& init) {
  return prepared(MatMul{init.attr<bool>("transpose_a"), init.attr<bool>("transpose_b")});
}

}  // namespace

std::vector<KernelRow> matmul_kernels() {
  return {{"MatMul", "CPU", {{"T", Numbers::dtypes()}}, {}, make_matmul, {}, 0, ""}};
}

}  // namespace emplace::cpu
