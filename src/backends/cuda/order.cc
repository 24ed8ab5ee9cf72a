// Counts and orders: device/order.cuh.
#include <fmt/format.h>

#include <cstring>

#include "backends/cuda/kernels.h"
#include "backends/cuda/launch.h"

namespace emplace::cuda {
namespace {

void clear(Gpu& gpu, Tensor& t) {
  if (t.bytes() > 0) check(cudaMemsetAsync(t.raw(), 0, t.bytes(), gpu.stream()), "filling with zeros");
}

struct TopK {
  Gpu* gpu;
  CUfunction f;
  int64_t fixed;  // -1: the second input says
  void operator()(KernelContext& c) const {
    const Tensor& x = c.input(0);
    if (fixed < 0 && c.input(1).rank() != 0)
      throw invalid_argument("k must be scalar, got shape " + c.input(1).shape().str());
    const int64_t k = fixed < 0 ? read_k(c.input(1)) : fixed;
    if (x.rank() < 1) throw invalid_argument("input must be >= 1-D, got shape " + x.shape().str());
    const int64_t n = x.dim(x.rank() - 1);
    if (k < 0) throw invalid_argument(fmt::format("Need k >= 0, got {}", k));
    if (n < k)
      throw invalid_argument(fmt::format("input must have at least k columns. Had {}, needed {}", n, k));
    Shape shape = x.shape();
    shape.set_dim(x.rank() - 1, k);
    Tensor &values = c.output(0, shape), &indices = c.output(1, shape);
    if (values.num_elements() == 0) return;
    Grid g;
    g.x = static_cast<unsigned>(x.num_elements() / n);
    launch_kernel(*gpu, f, g, values.raw(), indices.raw(), x.raw(), n, k);
  }
  static int64_t read_k(const Tensor& k) {
    return k.dtype() == DType::kInt16 ? *k.data<int16_t>() : host_ints(k).at(0);
  }
};
Prepared make_top_k(const KernelInit& init) {
  Gpu& gpu = gpu_of(*init.device);
  const AttrValue* k = init.find("k");
  return prepared(TopK{&gpu,
                       gpu.jit().get("order", fmt::format("top_k<{}, {}>",
                                                          device_type(init.input_types[0]),
                                                          device_type(init.output_types[1]))),
                       k ? k->as<int64_t>() : -1});
}
Prepared make_approximate(const KernelInit& init) {  // exact, too
  if (!init.attr<bool>("is_max_k") || init.attr<int64_t>("reduction_dimension") != -1)
    throw unimplemented("ApproxTopK of the smallest, or over a dimension that is not the last");
  return make_top_k(init);
}

void in_top_k(KernelContext& c) {
  const Tensor &predictions = c.input(0), &targets = c.input(1);
  if (predictions.rank() != 2) throw invalid_argument("predictions must be 2-dimensional");
  if (targets.rank() != 1) throw invalid_argument("targets must be 1-dimensional");
  if (predictions.dim(0) != targets.dim(0))
    throw invalid_argument(fmt::format("First dimension of predictions {} must match length of "
                                       "targets {}", predictions.dim(0), targets.dim(0)));
  Tensor& out = c.output(0, targets.shape());
  Gpu& gpu = gpu_of(c.device());
  if (const int64_t rows = targets.num_elements())
    launch_kernel(gpu,
                  gpu.jit().get("order", fmt::format("in_top_k<{}>", device_type(targets.dtype()))),
                  grid_for(gpu, rows), out.raw(), predictions.raw(), targets.raw(), c.input(2).raw(),
                  rows, predictions.dim(1));
}

template <bool kUpper>
void bound(KernelContext& c) {
  const Tensor &sorted = c.input(0), &values = c.input(1);
  if (sorted.rank() != 2 || values.rank() != 2 || sorted.dim(0) != values.dim(0))
    throw invalid_argument("Leading dim_size of both tensors must match, and both be 2-D");
  Tensor& out = c.output(0, values.shape());
  Gpu& gpu = gpu_of(c.device());
  if (const int64_t n = values.num_elements())
    launch_kernel(gpu,
                  gpu.jit().get("order", fmt::format("bound<{}, {}, {}>", device_type(sorted.dtype()),
                                                     device_type(out.dtype()), kUpper)),
                  grid_for(gpu, n), out.raw(), sorted.raw(), values.raw(), n, sorted.dim(1),
                  values.dim(1));
}

struct Bucketize {
  Gpu* gpu;
  CUfunction f;
  BufferPtr limits;
  int64_t count;
  void operator()(KernelContext& c) const {
    const Tensor& x = c.input(0);
    Tensor& out = c.output(0, x.shape());
    if (const int64_t n = x.num_elements())
      launch_kernel(*gpu, f, grid_for(*gpu, n), out.raw(), x.raw(), limits->data(), n, count);
  }
};
Prepared make_bucketize(const KernelInit& init) {
  Gpu& gpu = gpu_of(*init.device);
  const auto& limits = init.attr<std::vector<float>>("boundaries");
  for (size_t i = 1; i < limits.size(); ++i)
    if (limits[i] < limits[i - 1]) throw invalid_argument("Expected sorted boundaries");
  BufferPtr memory = gpu.allocate(limits.size() * sizeof(float), init.node);
  gpu.copy(memory->data(), limits.data(), limits.size() * sizeof(float));
  return prepared(Bucketize{
      &gpu,
      gpu.jit().get("order", fmt::format("bucketize<{}>", device_type(init.input_types[0]))),
      std::move(memory), static_cast<int64_t>(limits.size())});
}

struct Bincount {
  bool dense, binary;
  void operator()(KernelContext& c) const {
    const Tensor &ids = c.input(0), &weights = c.input(2);
    const int64_t size = host_ints(c.input(1)).at(0);
    if (size < 0) throw invalid_argument(fmt::format("size ({}) must be non-negative", size));
    if (dense && ids.rank() > 2)
      throw invalid_argument("Shape must be at most rank 2 but is rank " + std::to_string(ids.rank()));
    const bool matrix = dense && ids.rank() == 2, weighted = weights.num_elements() > 0;
    if (weighted && !(weights.shape() == ids.shape()))
      throw invalid_argument(fmt::format(
          "`weights` must be the same shape as `arr` or a length-0 `Tensor`, in which case it acts as "
          "all weights equal to 1. Received {}", weights.shape().str()));
    Tensor& out = c.output(0, matrix ? Shape{ids.dim(0), size} : Shape{size});
    Gpu& gpu = gpu_of(c.device());
    clear(gpu, out);
    const int64_t count = ids.num_elements(), n = matrix ? ids.dim(1) : count;
    if (count == 0 || size == 0) return;
    const void* by = weighted ? weights.raw() : nullptr;
    launch_kernel(gpu,
                  gpu.jit().get("order", fmt::format("bincount<{}, {}, {}>", device_type(out.dtype()),
                                                     device_type(ids.dtype()), binary)),
                  grid_for(gpu, count), out.raw(), ids.raw(), by, count, n, size);
  }
};
Prepared make_bincount(const KernelInit& init) {
  const AttrValue* binary = init.find("binary_output");
  return prepared(Bincount{init.op->name == "DenseBincount", binary && binary->as<bool>()});
}

double host_number(const Tensor& t, int64_t i) {
  switch (t.dtype()) {
    case DType::kFloat: return t.data<float>()[i];
    case DType::kDouble: return t.data<double>()[i];
    default: throw unimplemented("a histogram of this dtype");
  }
}
void histogram(KernelContext& c) {
  const Tensor &x = c.input(0), &range = c.input(1);
  const int64_t bins = host_ints(c.input(2)).at(0);
  if (range.rank() != 1 || range.num_elements() != 2)
    throw invalid_argument("value_range should be a vector of 2 elements.");
  if (bins <= 0)
    throw invalid_argument(fmt::format("nbins should be a positive number, but got '{}'", bins));
  const double low = host_number(range, 0), high = host_number(range, 1);
  if (!(low < high))
    throw invalid_argument("value_range should satisfy value_range[0] < value_range[1]");
  Tensor& out = c.output(0, Shape{bins});
  Gpu& gpu = gpu_of(c.device());
  clear(gpu, out);
  if (const int64_t n = x.num_elements())
    launch_kernel(gpu, gpu.jit().get("order", fmt::format("histogram<{}>", device_type(x.dtype()))),
                  grid_for(gpu, n), out.raw(), x.raw(), n, low,
                  (high - low) / static_cast<double>(bins), bins);
}

}  // namespace

std::vector<KernelRow> order_kernels() {
  using enum DType;
  const TypeConstraint reals{"T", real_types()};
  return {cuda_row("TopK", make_top_k, {reals}),
          cuda_row("TopKV2", make_top_k, {reals}),
          cuda_row("ApproxTopK", make_approximate, {{"T", {kHalf, kBfloat16, kFloat}}}),
          cuda_row("InTopKV2", stateless<in_top_k>),
          cuda_row("LowerBound", stateless<bound<false>>, {reals}),
          cuda_row("UpperBound", stateless<bound<true>>, {reals}),
          cuda_row("Bucketize", make_bucketize, {{"T", {kFloat, kDouble, kInt32, kInt64}}}),
          cuda_row("Bincount", make_bincount, {{"T", {kFloat, kInt32}}}),
          cuda_row("DenseBincount", make_bincount, {{"T", {kFloat, kInt32}}}),
          cuda_row("HistogramFixedWidth", stateless<histogram>, {{"T", {kFloat, kDouble}}})};
}

}  // namespace emplace::cuda
