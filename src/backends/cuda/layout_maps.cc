// Dimensions by their letters, and the batch normalization of graphs from before 2016: device/places.cuh.
#include "kernel/layout_letters.h"

#include <fmt/format.h>

#include "backends/cuda/kernels.h"
#include "backends/cuda/launch.h"

namespace emplace::cuda {
namespace {

// Must look as device/places.cuh's does.
struct Letters {
  int32_t at[8] = {};
};

struct DimMap {
  Gpu* gpu;
  CUfunction f;
  LayoutLetters letters;
  void operator()(KernelContext& c) const {
    const Tensor& in = c.input(0);
    Letters to;
    for (size_t i = 0; i < letters.from.size(); ++i)
      to.at[i] = static_cast<int32_t>(letters.to.find(letters.from[i]));
    Tensor& out = c.output(0, in.shape());
    if (const int64_t n = in.num_elements())
      launch_kernel(*gpu, f, grid_for(*gpu, n), out.raw(), in.raw(), n, to,
                    static_cast<int32_t>(letters.from.size()));
  }
};
Prepared make_dim_map(const KernelInit& init) {
  Gpu& gpu = gpu_of(*init.device);
  return prepared(DimMap{
      &gpu, gpu.jit().get("places", fmt::format("dim_map<{}>", device_type(init.input_types[0]))),
      LayoutLetters(init)});
}

struct VecPermute {
  Gpu* gpu;
  CUfunction f;
  LayoutLetters letters;
  void operator()(KernelContext& c) const {
    const Tensor& in = c.input(0);
    const LayoutLetters l = letters.for_vector(in.shape());
    Letters from;
    for (size_t i = 0; i < l.to.size(); ++i)
      from.at[i] = static_cast<int32_t>(l.from.find(l.to[i]));
    Tensor& out = c.output(0, in.shape());
    launch_kernel(*gpu, f, grid_for(*gpu, in.num_elements()), out.raw(), in.raw(),
                  in.num_elements(), in.rank() == 2 ? int64_t{2} : int64_t{1}, from);
  }
};
Prepared make_vec_permute(const KernelInit& init) {
  Gpu& gpu = gpu_of(*init.device);
  return prepared(VecPermute{
      &gpu, gpu.jit().get("places", fmt::format("vec_permute<{}>", device_type(init.input_types[0]))),
      LayoutLetters(init)});
}

// (t, mean, variance, beta, gamma); backwards (t, mean, variance, gamma, gradient).
struct Normalize {
  Gpu* gpu;
  CUfunction f, sums;  // sums: only backwards
  float epsilon;
  bool scale;
  void operator()(KernelContext& c) const {
    const Tensor& in = c.input(0);
    if (in.rank() != 4)
      throw invalid_argument(fmt::format("input must be 4-dimensional{}", in.shape().str()));
    const int64_t depth = in.dim(3), n = in.num_elements(), rows = depth > 0 ? n / depth : 0;
    for (int i = 1; i < (sums ? 4 : 5); ++i)
      if (c.input(i).rank() != 1 || c.input(i).dim(0) != depth)
        throw invalid_argument(
            fmt::format("mean, variance, beta and gamma must be vectors of {}", depth));
    if (sums && !(c.input(4).shape() == in.shape()))
      throw invalid_argument("backprop must have the shape of the input");
    Tensor& out = c.output(0, in.shape());
    const void* const in_order[] = {c.input(1).raw(), c.input(2).raw(), c.input(3).raw(),
                                    c.input(4).raw()};
    if (n > 0)
      launch_kernel(*gpu, f, grid_for(*gpu, n), out.raw(), in.raw(), in_order[0], in_order[1],
                    in_order[2], in_order[3], n, depth, epsilon, scale);
    if (!sums || depth == 0) return;
    Grid g;
    g.x = static_cast<unsigned>(depth);
    void* made[4];
    for (int i = 0; i < 4; ++i) made[i] = c.output(i + 1, Shape{depth}).raw();
    launch_kernel(*gpu, sums, g, made[0], made[1], made[2], made[3], in.raw(), in_order[0],
                  in_order[1], in_order[2], in_order[3], rows, depth, epsilon, scale);
  }
};
Prepared make_normalize(const KernelInit& init) {
  Gpu& gpu = gpu_of(*init.device);
  const std::string_view t = device_type(init.type("T"));
  const bool back = init.op->name.ends_with("Grad");
  return prepared(Normalize{
      &gpu,
      gpu.jit().get("places", fmt::format("{}<{}>", back ? "normalize_back" : "normalize", t)),
      back ? gpu.jit().get("places", fmt::format("normalize_back_sums<{}>", t)) : nullptr,
      init.attr<float>("variance_epsilon"), init.attr<bool>("scale_after_normalization")});
}

}  // namespace

std::vector<KernelRow> layout_map_kernels() {
  const TypeConstraint types{"T", {DType::kFloat, DType::kHalf}};
  return {cuda_row("DataFormatDimMap", make_dim_map),
          cuda_row("DataFormatVecPermute", make_vec_permute),
          cuda_row("BatchNormWithGlobalNormalization", make_normalize, {types}),
          cuda_row("BatchNormWithGlobalNormalizationGrad", make_normalize, {types})};
}

}  // namespace emplace::cuda
