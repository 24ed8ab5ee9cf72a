// Products of matrices as operations: product.h.
#include <fmt/format.h>

#include "backends/cuda/kernels.h"
#include "backends/cuda/product.h"

namespace emplace::cuda {
namespace {

constexpr float kLaunchMs = 0.002f;  // what a small kernel more takes in a recording

struct MatMul {
  Gpu* gpu;
  bool ta, tb;
  std::shared_ptr<Products> products;

  Problem problem(const Shape& a, const Shape& b) const {
    const int64_t m = a[ta], k = a[!ta], k2 = b[tb], n = b[!tb];
    if (k != k2)
      throw invalid_argument(fmt::format("Matrix size-incompatible: In[0]: {}, In[1]: {}", a.str(),
                                         b.str()));
    return {m, n, k, 1, 0, 0};
  }
  void operator()(KernelContext& c) const {
    const Tensor &a = c.input(0), &b = c.input(1);
    if (a.rank() != 2 || b.rank() != 2)
      throw invalid_argument(
          fmt::format("In[0] and In[1] has different ndims: {} vs. {}", a.shape().str(),
                      b.shape().str()));
    const Problem p = problem(a.shape(), b.shape());
    Tensor& out = c.output(0, Shape{p.m, p.n});
    if (out.num_elements() == 0) return;
    if (p.k == 0)
      return check(cudaMemsetAsync(out.raw(), 0, out.bytes(), gpu->stream()), "filling");
    products->get(p).run(*gpu, out.raw(), a.raw(), b.raw(),
                         c.num_inputs() > 2 ? c.input(2).raw() : nullptr);
  }
};
Prepared make_matmul_and(const KernelInit& init, After after) {
  Gpu& gpu = gpu_of(*init.device);
  const bool ta = init.attr<bool>("transpose_a"), tb = init.attr<bool>("transpose_b");
  auto products = Products::of(gpu, init.input_types[0], ta, tb, false, after);
  MatMul m{&gpu, ta, tb, products};
  if (init.static_shapes() && init.input_shapes[0].rank() == 2 && init.input_shapes[1].rank() == 2)
    if (const Problem p = m.problem(init.input_shapes[0], init.input_shapes[1]); p.m > 0 && p.n > 0 && p.k > 0)
      products->get(p, true);
  return prepared(std::move(m));
}
Prepared make_matmul(const KernelInit& init) { return make_matmul_and(init, After::kNothing); }
// Milliseconds, of a product that has been prepared.
float time_of(const KernelInit& init, After after) {
  const bool ta = init.attr<bool>("transpose_a"), tb = init.attr<bool>("transpose_b");
  auto products = Products::of(gpu_of(*init.device), init.input_types[0], ta, tb, false, after);
  const MatMul m{nullptr, ta, tb, nullptr};
  return products->get(m.problem(init.input_shapes[0], init.input_shapes[1]), true).time();
}
// With a bias, and relu, behind it. Only for what cuBLASLt does at once: the caller has other ways.
Prepared make_fused_matmul(const KernelInit& init) {
  const DType t = init.input_types[0];
  const auto& ops = init.attr<std::vector<std::string>>("fused_ops");
  const bool floats = t == DType::kFloat || t == DType::kHalf || t == DType::kBfloat16;
  const Shape& out = init.output_shapes[0];
  if (!floats || init.input_shapes[2].num_elements() != out[1])
    throw unimplemented("a product with a bias of this kind");
  const After after = ops.size() > 1 ? After::kBiasRelu : After::kBias;
  Prepared made = make_matmul_and(init, after);
  if (time_of(init, after) > time_of(init, After::kNothing) + kLaunchMs)
    throw unimplemented("a product with a bias that is faster in two");
  return made;
}

struct BatchMatMul {
  Gpu* gpu;
  bool ta, tb;
  std::shared_ptr<Products> products;
  void operator()(KernelContext& c) const {
    const Tensor &a = c.input(0), &b = c.input(1);
    if (a.rank() < 2) throw invalid_argument("In[0] ndims must be >= 2: " + a.shape().str());
    if (b.rank() < 2) throw invalid_argument("In[1] ndims must be >= 2: " + b.shape().str());
    const int64_t m = a.dim(a.rank() - (ta ? 1 : 2)), k = a.dim(a.rank() - (ta ? 2 : 1));
    const int64_t k2 = b.dim(b.rank() - (tb ? 1 : 2)), n = b.dim(b.rank() - (tb ? 2 : 1));
    if (k != k2)
      throw invalid_argument(fmt::format("Matrix size-incompatible: In[0]: {}, In[1]: {}",
                                         a.shape().str(), b.shape().str()));
    auto outer = [](const Tensor& t) {
      std::vector<int64_t> dims;
      for (int d = 0; d + 2 < t.rank(); ++d) dims.push_back(t.dim(d));
      return Shape(dims);
    };
    const Shape batch_a = outer(a), batch_b = outer(b), batch = broadcast_shape(batch_a, batch_b);
    std::vector<int64_t> dims(batch.dims().begin(), batch.dims().end());
    dims.push_back(m);
    dims.push_back(n);
    Tensor& out = c.output(0, Shape(dims));
    if (out.num_elements() == 0) return;
    if (k == 0)
      return check(cudaMemsetAsync(out.raw(), 0, out.bytes(), gpu->stream()), "filling");
    const int64_t count = batch.num_elements();
    auto whole = [&](const Shape& s) { return s.num_elements() == count || s.num_elements() == 1; };
    if (whole(batch_a) && whole(batch_b)) {
      const Problem p{m, n, k, count, batch_a.num_elements() == 1 ? 0 : m * k,
                      batch_b.num_elements() == 1 ? 0 : k * n};
      return products->get(p).run(*gpu, out.raw(), a.raw(), b.raw());
    }
    each(out, a, b, batch, batch_a, batch_b, {m, n, k, 1, 0, 0});
  }
  // Batches that are broadcast in part: one product after another.
  void each(Tensor& out, const Tensor& a, const Tensor& b, const Shape& batch, const Shape& batch_a,
            const Shape& batch_b, const Problem& p) const {
    const Strides s = broadcast_strides(batch, {&batch_a, &batch_b});
    const size_t size = dtype_size(out.dtype());
    const Product& product = products->get(p);
    for (int64_t i = 0; i < batch.num_elements(); ++i) {
      int64_t rest = i, at[2] = {0, 0};
      for (int d = s.rank - 1; d >= 0; --d) {
        for (int q = 0; q < 2; ++q) at[q] += rest % s.dims[d] * s.strides[q][d];
        rest /= s.dims[d];
      }
      product.run(*gpu, out.data<char>() + static_cast<size_t>(i * p.m * p.n) * size,
                  a.data<char>() + static_cast<size_t>(at[0] * p.m * p.k) * size,
                  b.data<char>() + static_cast<size_t>(at[1] * p.k * p.n) * size);
    }
  }
};
Prepared make_batch_matmul(const KernelInit& init) {
  Gpu& gpu = gpu_of(*init.device);
  const bool ta = init.attr<bool>("adj_x"), tb = init.attr<bool>("adj_y");
  return prepared(BatchMatMul{&gpu, ta, tb, Products::of(gpu, init.input_types[0], ta, tb, true)});
}

}  // namespace

std::vector<KernelRow> matmul_kernels() {
  std::vector<DType> types = kFloats;
  types.insert(types.end(), kComplexes.begin(), kComplexes.end());
  return {cuda_row("MatMul", make_matmul, {{"T", types}}),
          cuda_row("_FusedMatMul", make_fused_matmul),
          cuda_row("BatchMatMul", make_batch_matmul, {{"T", types}}),
          cuda_row("BatchMatMulV2", make_batch_matmul, {{"T", types}}),
          cuda_row("BatchMatMulV3", make_batch_matmul, {{"Ta", types}})};
}

}  // namespace emplace::cuda
