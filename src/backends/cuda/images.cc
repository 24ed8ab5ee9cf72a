// Images of another size: device/images.cuh.
#include <fmt/format.h>

#include "backends/cuda/kernels.h"
#include "backends/cuda/launch.h"

namespace emplace::cuda {
namespace {

// Must look as device/images.cuh's does.
struct Resize {
  int64_t channels = 0, in[2] = {}, out[2] = {};
  float factor[2] = {};
  int32_t align = 0, centers = 0;

  void measure() {
    for (int d = 0; d < 2; ++d)
      factor[d] = align && out[d] > 1
                      ? static_cast<float>(in[d] - 1) / static_cast<float>(out[d] - 1)
                      : static_cast<float>(in[d]) / static_cast<float>(out[d]);
  }
};

void check_image(const Tensor& t) {
  if (t.rank() != 4) throw invalid_argument("input must be 4-dimensional" + t.shape().str());
}

struct Resizer {
  Gpu* gpu;
  CUfunction f;
  Resize start;
  bool grad, bilinear;

  void operator()(KernelContext& c) const {
    const Tensor& x = c.input(0);
    check_image(x);
    Resize s = start;
    s.channels = x.dim(3);
    int64_t* const given = grad ? s.out : s.in;
    int64_t* const made = grad ? s.in : s.out;
    given[0] = x.dim(1);
    given[1] = x.dim(2);
    if (grad && bilinear) {  // of the original image
      check_image(c.input(1));
      made[0] = c.input(1).dim(1);
      made[1] = c.input(1).dim(2);
      if (c.input(1).dim(0) != x.dim(0) || c.input(1).dim(3) != s.channels)
        throw invalid_argument(fmt::format("grads and original_image must have the same batch and "
                                           "channels: {} and {}",
                                           x.shape().str(), c.input(1).shape().str()));
    } else {
      const Tensor& size = c.input(1);
      if (size.rank() != 1)
        throw invalid_argument("shape_t must be 1-dimensional" + size.shape().str());
      if (size.dim(0) != 2)
        throw invalid_argument("shape_t must have two elements" + size.shape().str());
      const auto to = host_ints(size);
      made[0] = to[0];
      made[1] = to[1];
    }
    if (made[0] <= 0 || made[1] <= 0) throw invalid_argument("output dimensions must be positive");
    if (given[0] <= 0 || given[1] <= 0)
      throw invalid_argument("input image must be of non-zero size");
    s.measure();
    Tensor& out = c.output(0, Shape{x.dim(0), made[0], made[1], s.channels});
    if (const int64_t n = out.num_elements())
      launch_kernel(*gpu, f, grid_for(*gpu, n), out.raw(), x.raw(), n, s);
  }
};

Prepared make_resize(const KernelInit& init) {
  Gpu& gpu = gpu_of(*init.device);
  const std::string& op = init.op->name;
  const bool grad = op.ends_with("Grad"), bilinear = op.starts_with("ResizeBilinear");
  const AttrValue* centers = init.find("half_pixel_centers");
  Resizer r{&gpu, nullptr, {}, grad, bilinear};
  r.start.align = init.attr<bool>("align_corners");
  r.start.centers = centers && centers->as<bool>();
  if (r.start.align && r.start.centers)
    throw invalid_argument("If half_pixel_centers is True, align_corners must be False.");
  const bool moves = !grad && !bilinear;
  const DType t = init.type("T");
  r.f = gpu.jit().get("images",
                      fmt::format("resize_{}{}<{}>", bilinear ? "bilinear" : "nearest",
                                  grad ? "_grad" : "", moves ? device_bits(t) : device_type(t)));
  return prepared(std::move(r));
}

}  // namespace

std::vector<KernelRow> image_kernels() {
  std::vector<KernelRow> rows;
  for (const char* op : {"ResizeBilinear", "ResizeBilinearGrad", "ResizeNearestNeighbor",
                         "ResizeNearestNeighborGrad"})
    rows.push_back(cuda_row(op, make_resize, {{"T", kFloats}}));
  return rows;
}

}  // namespace emplace::cuda
