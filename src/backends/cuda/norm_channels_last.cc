#include "backends/cuda/norm_channels_last.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

namespace emplace::cuda {
namespace {

constexpr int64_t kBlocks = 1024;    // enough for any card; fixed, so that sums repeat their bits
constexpr int64_t kRowsAThread = 8;  // at least

}  // namespace

// How [rows, channels] are shared out.
struct ChannelsLastNorm::Work {
  int64_t rows;
  int32_t channels, vector, wide;
  Grid grid;
  Work(const Tensor& x, size_t size, std::initializer_list<const void*> pointers) {
    channels = static_cast<int32_t>(x.dim(x.rank() - 1));
    rows = x.num_elements() / channels;
    vector = static_cast<int32_t>(kVectorBytes / size);
    if (channels % vector || !aligned(pointers)) vector = 1;
    const int32_t groups = channels / vector;
    wide = std::min(32, static_cast<int32_t>(std::bit_ceil(static_cast<uint32_t>(groups))));
    grid.x = static_cast<unsigned>((groups + wide - 1) / wide);
    const int64_t a_turn = 256 / wide * kRowsAThread;
    grid.y = static_cast<unsigned>(std::clamp<int64_t>((rows + a_turn - 1) / a_turn, 1,
                                                       std::max<int64_t>(1, kBlocks / grid.x)));
  }
  int32_t parts() const { return static_cast<int32_t>(grid.y); }
  size_t part_bytes() const { return size_t{2} * sizeof(float) * grid.y * static_cast<size_t>(channels); }
  Grid warp_a_channel() const {
    Grid g;
    g.x = static_cast<unsigned>((channels + 7) / 8);
    return g;
  }
};

CUfunction ChannelsLastNorm::get(const char* kernel, const Work& w, const std::string& more) const {
  return gpu_.jit().get("batch_norm", fmt::format("{}<{}, {}{}>", kernel, type_, w.vector, more));
}

void ChannelsLastNorm::train(const Tensor& x, Tensor& y, const float* scale, const float* shift,
                             const Figures& out, float epsilon, float factor,
                             const NormEnding& ending) const {
  const Work w(x, size_, {x.raw(), y.raw(), ending.side});
  void* const parts = gpu_.workspace(w.part_bytes());
  launch_kernel(gpu_, get("norm_moments", w), w.grid, parts, x.raw(), w.rows, w.channels, w.wide);
  launch_kernel(gpu_, gpu_.jit().get("batch_norm", "norm_figures"), w.warp_a_channel(), out.mean,
                out.variance, out.own_mean, out.own_root, parts, w.rows, w.channels, w.parts(), epsilon,
                factor);
  launch_kernel(
      gpu_,
      get("norm_apply", w, fmt::format(", true, {}, {}", ending.relu, ending.side != nullptr)),
      w.grid, y.raw(), x.raw(), ending.side, out.own_mean, out.own_root, scale, shift, w.rows,
      w.channels, w.wide, epsilon);
}

void ChannelsLastNorm::infer(const Tensor& x, Tensor& y, const float* scale, const float* shift,
                             const float* mean, const float* variance, float epsilon) const {
  const Work w(x, size_, {x.raw(), y.raw()});
  const void* const side = nullptr;
  launch_kernel(gpu_, get("norm_apply", w, ", false, false, false"), w.grid, y.raw(), x.raw(), side,
                mean, variance, scale, shift, w.rows, w.channels, w.wide, epsilon);
}

void ChannelsLastNorm::grad(const Tensor& dy, const Tensor& x, Tensor& dx, const float* scale,
                            const float* own_mean, const float* own_root, float* dscale,
                            float* dshift, const NormRelu& relu) const {
  const std::string behind = relu.scale ? ", true" : ", false";
  const Work w(x, size_, {dy.raw(), x.raw(), dx.raw()});
  void* const parts = gpu_.workspace(w.part_bytes());
  launch_kernel(gpu_, get("norm_grad_sums", w, behind), w.grid, parts, dy.raw(), x.raw(), own_mean,
                relu, w.rows, w.channels, w.wide);
  launch_kernel(gpu_, gpu_.jit().get("batch_norm", "norm_grad_figures"), w.warp_a_channel(), dscale, dshift,
                parts, own_root, w.channels, w.parts());
  launch_kernel(gpu_, get("norm_grad_apply", w, behind), w.grid, dx.raw(), dy.raw(), x.raw(),
                own_mean, own_root, scale, dscale, dshift, relu, w.rows, w.channels, w.wide);
}

}  // namespace emplace::cuda
