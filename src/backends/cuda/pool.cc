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

struct Pool {
  Gpu* gpu;
  CUfunction f;
  Window window;
  bool grad, of_sizes;  // the average's gradient takes the image's shape
  void operator()(KernelContext& c) const {
    const Shape image = of_sizes ? Shape(host_ints(c.input(0))) : c.input(0).shape();
    const Window w = window.on(image, window.size);
    Tensor& out = c.output(0, grad ? image : w.image_shape(w.out, w.channels));
    const int64_t n = out.num_elements();
    if (n == 0) return;
    const PoolShape shape(w);
    if (!grad)
      return launch_kernel(*gpu, f, grid_for(*gpu, n), out.raw(), c.input(0).raw(), n, shape);
    const Tensor& dy = c.input(of_sizes ? 1 : 2);
    if (!(dy.shape() == w.image_shape(w.out, w.channels)))
      throw invalid_argument("Expected grad shape to be " +
                             w.image_shape(w.out, w.channels).str() + ", but got " +
                             dy.shape().str());
    const void* x = of_sizes ? nullptr : c.input(0).raw();
    const void* y = of_sizes ? nullptr : c.input(1).raw();
    launch_kernel(*gpu, f, grid_for(*gpu, n), out.raw(), x, y, dy.raw(), n, shape);
  }
};
Prepared make_pool(const KernelInit& init) {
  Gpu& gpu = gpu_of(*init.device);
  const std::string& op = init.op->name;
  const bool grad = op.find("Grad") != std::string::npos, max = op.rfind("Max", 0) == 0;
  return prepared(Pool{
      &gpu,
      gpu.jit().get("nets", fmt::format("{}<{}, {}>", grad ? "pool_grad" : "pool",
                                        device_type(init.output_types[0]), max)),
      Window(init), grad, grad && !max});
}

struct Lrn {
  Gpu* gpu;
  CUfunction f;
  int64_t radius;
  float bias, alpha, beta;
  void operator()(KernelContext& c) const {
    const bool grad = c.num_inputs() == 3;
    const Tensor& x = c.input(0);
    if (x.rank() != 4) throw invalid_argument("in must be 4-dimensional");
    Tensor& out = c.output(0, x.shape());
    const int64_t n = out.num_elements(), depth = x.dim(3);
    if (n == 0) return;
    if (grad)
      launch_kernel(*gpu, f, grid_for(*gpu, n), out.raw(), x.raw(), c.input(1).raw(),
                    c.input(2).raw(), n, depth, radius, bias, alpha, beta);
    else
      launch_kernel(*gpu, f, grid_for(*gpu, n), out.raw(), x.raw(), n, depth, radius, bias, alpha,
                    beta);
  }
};
Prepared make_lrn(const KernelInit& init) {
  Gpu& gpu = gpu_of(*init.device);
  return prepared(Lrn{
      &gpu,
      gpu.jit().get("nets", fmt::format("{}<{}>", init.op->name == "LRN" ? "lrn" : "lrn_grad",
                                        device_type(init.type("T")))),
      init.attr<int64_t>("depth_radius"), init.attr<float>("bias"), init.attr<float>("alpha"),
      init.attr<float>("beta")});
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
