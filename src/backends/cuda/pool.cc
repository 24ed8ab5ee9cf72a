// Pools and local response normalisation: device/nets.cuh.
#include <fmt/format.h>

#include "backends/cuda/dnn.h"
#include "backends/cuda/kernels.h"

namespace emplace::cuda {
namespace {

// Must look as device/nets.cuh's does.
struct PoolShape {
  int64_t batch, channels, in[2], out[2], size[2], stride[2], before[2];
  int32_t channels_first;
  explicit PoolShape(const Window& w) : batch(w.batch), channels(w.channels),
                                        channels_first(w.channels_first) {
    for (size_t d = 0; d < 2; ++d) {
      in[d] = w.in[d];
      out[d] = w.out[d];
      size[d] = w.size[d];
      stride[d] = w.stride[d];
      before[d] = w.before[d];
    }
  }
};

// Must look as device/nets.cuh's does.
struct SmallPool {
  int32_t groups, in[2], out[2], size[2], stride[2], before[2];
  SmallPool(const Window& w, int vector) : groups(static_cast<int32_t>(w.channels / vector)) {
    for (size_t d = 0; d < 2; ++d) {
      in[d] = static_cast<int32_t>(w.in[d]);
      out[d] = static_cast<int32_t>(w.out[d]);
      size[d] = static_cast<int32_t>(w.size[d]);
      stride[d] = static_cast<int32_t>(w.stride[d]);
      before[d] = static_cast<int32_t>(w.before[d]);
    }
  }
};

// A thread for each.
Grid one_for_each(int64_t n) {
  Grid g;
  g.x = static_cast<unsigned>((n + 255) / 256);
  return g;
}

struct Pool {
  Gpu* gpu;
  std::string type;
  Window window;
  bool max, grad, of_sizes;  // the average's gradient takes the image's shape

  CUfunction get(const std::string& form) const { return gpu->jit().get("nets", form); }
  // Windows over channels alone: each result is the largest of neighbours.
  int64_t depth = 1, depth_stride = 1;
  void over_channels(KernelContext& c) const {
    const Tensor& x = c.input(0);
    if (window.channels_first || window.size[0] != 1 || window.size[1] != 1 || x.rank() != 4)
      throw unimplemented(
          "MaxPooling supports exactly one of pooling across depth or pooling across "
          "width/height.");
    if (x.dim(3) % depth)
      throw unimplemented(
          "Depthwise max pooling requires the depth window to evenly divide the input depth");
    if (depth_stride != depth)
      throw unimplemented(
          "Depthwise max pooling requires the depth window to equal the depth stride");
    Shape shape = x.shape();
    shape.set_dim(3, x.dim(3) / depth);
    Tensor& out = c.output(0, shape);
    if (const int64_t n = out.num_elements())
      launch_kernel(*gpu, gpu->jit().get("volumes", fmt::format("largest_of_neighbours<{}>", type)),
                    grid_for(*gpu, n), out.raw(), x.raw(), n, depth);
  }
  void operator()(KernelContext& c) const {
    if (max && !grad && depth > 1) return over_channels(c);
    const Shape image = of_sizes ? Shape(host_ints(c.input(0))) : c.input(0).shape();
    const Window w = window.on(image, window.size);
    const Shape result = w.image_shape(w.out, w.channels);
    Tensor& out = c.output(0, grad ? image : result);
    const int64_t n = out.num_elements();
    if (n == 0) return;
    const Tensor* const dy = grad ? &c.input(of_sizes ? 1 : 2) : nullptr;
    if (dy && !(dy->shape() == result))
      throw invalid_argument("Expected grad shape to be " + result.str() + ", but got " +
                             dy->shape().str());
    if (small(w)) return wide(c, w, out, dy);
    const PoolShape shape(w);
    if (!grad)
      return launch_kernel(*gpu, get(fmt::format("pool<{}, {}>", type, max)), grid_for(*gpu, n),
                           out.raw(), c.input(0).raw(), n, shape);
    const void* x = of_sizes ? nullptr : c.input(0).raw();
    const void* y = of_sizes ? nullptr : c.input(1).raw();
    launch_kernel(*gpu, get(fmt::format("pool_grad<{}, {}>", type, max)), grid_for(*gpu, n),
                  out.raw(), x, y, dy->raw(), n, shape);
  }

 private:
  // Channels last, places in a window fit a byte, pixels 31 bits.
  static bool small(const Window& w) {
    const int64_t most = int64_t{1} << 31;
    return !w.channels_first && w.size[0] * w.size[1] < 256 &&
           w.batch * w.channels * w.in[0] * w.in[1] < most &&
           w.batch * w.channels * w.out[0] * w.out[1] < most;
  }
  void wide(KernelContext& c, const Window& w, Tensor& out, const Tensor* dy) const {
    const bool aligned = (reinterpret_cast<uintptr_t>(out.raw()) |
                          reinterpret_cast<uintptr_t>(dy ? dy->raw() : nullptr) |
                          reinterpret_cast<uintptr_t>(of_sizes ? nullptr : c.input(0).raw())) %
                             16 == 0;
    int v = static_cast<int>(16 / dtype_size(out.dtype()));
    if (!aligned || w.channels % v) v = 1;
    const SmallPool shape(w, v);
    const int64_t n = out.num_elements() / v;
    if (!grad)
      return launch_kernel(*gpu, get(fmt::format("pool_wide<{}, {}, {}>", type, max, v)),
                           one_for_each(n), out.raw(), c.input(0).raw(), n, shape);
    void* from = nullptr;
    if (max) {
      from = gpu->workspace(static_cast<size_t>(dy->num_elements()));
      const int64_t m = dy->num_elements() / v;
      if (m > 0)
        launch_kernel(*gpu, get(fmt::format("pool_from<{}, {}>", type, v)), one_for_each(m), from,
                      c.input(0).raw(), m, shape);
    }
    launch_kernel(*gpu, get(fmt::format("pool_grad_wide<{}, {}, {}>", type, max, v)),
                  one_for_each(n), out.raw(), from, dy->raw(), n, shape);
  }
};
Prepared make_pool(const KernelInit& init) {
  const std::string& op = init.op->name;
  const bool grad = op.find("Grad") != std::string::npos, max = op.rfind("Max", 0) == 0;
  Pool pool{&gpu_of(*init.device),
            std::string(device_type(init.output_types[0])),
            Window(init),
            max,
            grad,
            grad && !max};
  const size_t channels = pool.window.channels_first ? 1 : 3;
  const auto& sizes = init.attr<std::vector<int64_t>>("ksize");
  const auto& strides = init.attr<std::vector<int64_t>>("strides");
  if (sizes.size() == 4) pool.depth = sizes[channels];
  if (strides.size() == 4) pool.depth_stride = strides[channels];
  return prepared(std::move(pool));
}

constexpr int64_t kTile = 2048;  // device/nets.cuh's TILE
constexpr int64_t kMostRadius = 32;

struct Lrn {
  Gpu* gpu;
  CUfunction f, tiled;
  int64_t radius;
  float bias, alpha, beta;
  void operator()(KernelContext& c) const {
    const bool grad = c.num_inputs() == 3;
    const Tensor& x = c.input(0);
    if (x.rank() != 4) throw invalid_argument("in must be 4-dimensional");
    Tensor& out = c.output(0, x.shape());
    const int64_t n = out.num_elements(), depth = x.dim(3);
    if (n == 0) return;
    if (tiled && depth + 2 * radius <= kTile)
      return by_rows(c, x, out, n / depth, static_cast<int32_t>(depth));
    if (grad)
      launch_kernel(*gpu, f, grid_for(*gpu, n), out.raw(), x.raw(), c.input(1).raw(),
                    c.input(2).raw(), n, depth, radius, bias, alpha, beta);
    else
      launch_kernel(*gpu, f, grid_for(*gpu, n), out.raw(), x.raw(), n, depth, radius, bias, alpha,
                    beta);
  }
  void by_rows(KernelContext& c, const Tensor& x, Tensor& out, int64_t rows, int32_t depth) const {
    const int64_t per = kTile / (depth + 2 * radius);
    Grid g;
    g.x = static_cast<unsigned>((rows + per - 1) / per);
    if (c.num_inputs() == 3)
      launch_kernel(*gpu, tiled, g, out.raw(), x.raw(), c.input(1).raw(), c.input(2).raw(), rows,
                    depth, bias, alpha, beta);
    else
      launch_kernel(*gpu, tiled, g, out.raw(), x.raw(), rows, depth, bias, alpha, beta);
  }
};
Prepared make_lrn(const KernelInit& init) {
  Gpu& gpu = gpu_of(*init.device);
  const char* const name = init.op->name == "LRN" ? "lrn" : "lrn_grad";
  const std::string_view type = device_type(init.type("T"));
  const auto radius = init.attr<int64_t>("depth_radius");
  return prepared(
      Lrn{&gpu, gpu.jit().get("nets", fmt::format("{}<{}>", name, type)),
          radius > kMostRadius
              ? nullptr
              : gpu.jit().get("nets", fmt::format("{}_rows<{}, {}>", name, type, radius)),
          radius, init.attr<float>("bias"), init.attr<float>("alpha"), init.attr<float>("beta")});
}

}  // namespace

std::vector<KernelRow> pool_kernels() {
  const TypeConstraint floats{"T", kFloats};
  std::vector<KernelRow> rows;
  for (const char* op : {"MaxPool", "AvgPool", "MaxPoolGrad", "AvgPoolGrad"})
    rows.push_back(cuda_row(op, make_pool, {floats}));
  for (const char* op : {"LRN", "LRNGrad"}) rows.push_back(cuda_row(op, make_lrn, {floats}));
  return rows;
}

}  // namespace emplace::cuda
