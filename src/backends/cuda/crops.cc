// Boxes cut out of images, and colours: device/crops.cuh.
#include <fmt/format.h>

#include "backends/cuda/kernels.h"
#include "backends/cuda/launch.h"

namespace emplace::cuda {
namespace {

// Must look as device/crops.cuh's does.
struct Crop {
  int64_t images = 0, rows = 0, columns = 0, channels = 0, height = 0, width = 0;
  float outside = 0;
  int32_t nearest = 0;

  void set_image(const Shape& s) {
    if (s.rank() != 4) throw invalid_argument("input image must be 4-D" + s.str());
    if (s[1] <= 0 || s[2] <= 0) throw invalid_argument("image dimensions must be positive");
    images = s[0], rows = s[1], columns = s[2], channels = s[3];
  }
};

int64_t count_of(const Tensor& boxes, const Tensor& index) {
  if (boxes.rank() != 2) throw invalid_argument("boxes must be 2-D" + boxes.shape().str());
  if (boxes.dim(1) != 4) throw invalid_argument("boxes must have 4 columns");
  if (index.rank() != 1) throw invalid_argument("box_index must be 1-D" + index.shape().str());
  if (index.dim(0) != boxes.dim(0)) throw invalid_argument("box_index has incompatible shape");
  return boxes.dim(0);
}

void set_gradient(Crop& s, const Tensor& gradient, int64_t count) {
  if (gradient.rank() != 4)
    throw invalid_argument("grads image must be 4-D" + gradient.shape().str());
  s.height = gradient.dim(1), s.width = gradient.dim(2);
  if (s.height <= 0 || s.width <= 0) throw invalid_argument("grads dimensions must be positive");
  if (gradient.dim(0) != count) throw invalid_argument("boxes and grads have incompatible shape");
  if (gradient.dim(3) != s.channels)
    throw invalid_argument("image_size and grads are incompatible");
}

struct Crops {
  Gpu* gpu;
  CUfunction f, narrow;
  Crop start;
};
Crops crops_of(const KernelInit& init, const std::string& name, DType t) {
  Gpu& gpu = gpu_of(*init.device);
  Crops k{&gpu, gpu.jit().get("crops", fmt::format("{}<{}>", name, device_type(t))), nullptr, {}};
  k.start.nearest = init.attr<std::string>("method") == "nearest";
  return k;
}

struct CropForward : Crops {
  void operator()(KernelContext& c) const {
    Crop s = start;
    s.set_image(c.input(0).shape());
    const int64_t count = count_of(c.input(1), c.input(2));
    const auto size = host_ints(c.input(3));
    if (size.size() != 2) throw invalid_argument("crop_size must have two elements");
    if (size[0] <= 0 || size[1] <= 0) throw invalid_argument("crop dimensions must be positive");
    s.height = size[0], s.width = size[1];
    Tensor& out = c.output(0, Shape{count, s.height, s.width, s.channels});
    if (const int64_t n = out.num_elements())
      launch_kernel(*gpu, f, grid_for(*gpu, n), out.raw(), c.input(0).raw(), c.input(1).raw(),
                    c.input(2).raw(), n, s);
  }
};
Prepared make_crop(const KernelInit& init) {
  CropForward k{crops_of(init, "crop", init.input_types[0])};
  k.start.outside = init.attr<float>("extrapolation_value");
  return prepared(std::move(k));
}

struct CropToImage : Crops {
  void operator()(KernelContext& c) const {
    const Tensor& gradient = c.input(0);
    const Shape shape(host_ints(c.input(3)));
    Crop s = start;
    s.set_image(shape);
    set_gradient(s, gradient, count_of(c.input(1), c.input(2)));
    Tensor& out = c.output(0, shape);
    const int64_t made = out.num_elements(), n = gradient.num_elements();
    if (made == 0) return;
    void* const sums =
        narrow ? gpu->workspace(static_cast<size_t>(made) * sizeof(float)) : out.raw();
    gpu->zero(sums, narrow ? static_cast<size_t>(made) * sizeof(float) : out.bytes());
    if (n > 0)
      launch_kernel(*gpu, f, grid_for(*gpu, n), sums, gradient.raw(), c.input(1).raw(),
                    c.input(2).raw(), n, s);
    if (narrow) launch_kernel(*gpu, narrow, grid_for(*gpu, made), out.raw(), sums, made);
  }
};
Prepared make_to_image(const KernelInit& init) {
  const DType t = init.output_types[0];
  const bool half = dtype_size(t) == 2;
  CropToImage k{crops_of(init, "crop_to_image", half ? DType::kFloat : t)};
  if (half) k.narrow = k.gpu->jit().get("crops", fmt::format("crop_narrow<{}>", device_type(t)));
  return prepared(std::move(k));
}

struct CropToBoxes : Crops {
  void operator()(KernelContext& c) const {
    const Tensor& gradient = c.input(0);
    Crop s = start;
    s.set_image(c.input(1).shape());
    const int64_t count = count_of(c.input(2), c.input(3)), n = gradient.num_elements();
    set_gradient(s, gradient, count);
    Tensor& out = c.output(0, Shape{count, 4});
    gpu->zero(out.raw(), out.bytes());
    if (n > 0)
      launch_kernel(*gpu, f, grid_for(*gpu, n), out.raw(), gradient.raw(), c.input(1).raw(),
                    c.input(2).raw(), c.input(3).raw(), n, s);
  }
};
Prepared make_to_boxes(const KernelInit& init) {
  return prepared(CropToBoxes{crops_of(init, "crop_to_boxes", init.input_types[1])});
}

// ---- Colours.

struct Colors {
  Gpu* gpu;
  CUfunction f;
  void operator()(KernelContext& c) const {
    const Tensor& x = c.input(0);
    const bool adjusts = c.num_inputs() > 1;
    if (x.rank() < (adjusts ? 3 : 1))
      throw invalid_argument(adjusts ? "input must be at least 3-D, got shape" + x.shape().str()
                                     : "input must be at least 1D" + x.shape().str());
    if (const int64_t channels = x.dim(x.rank() - 1); channels != 3)
      throw Error(adjusts ? Code::kInvalidArgument : Code::kFailedPrecondition,
                  fmt::format("input must have 3 channels but {} has {} channels.",
                              adjusts ? "instead" : "input only", channels));
    if (adjusts && c.input(1).rank() != 0)
      throw invalid_argument("the change must be scalar: " + c.input(1).shape().str());
    Tensor& out = c.output(0, x.shape());
    if (const int64_t n = x.num_elements() / 3)
      launch_kernel(*gpu, f, grid_for(*gpu, n), out.raw(), x.raw(),
                    adjusts ? c.input(1).raw() : nullptr, n);
  }
};
template <int kHow>
Prepared make_colors(const KernelInit& init) {
  Gpu& gpu = gpu_of(*init.device);
  return prepared(Colors{
      &gpu,
      gpu.jit().get("crops", fmt::format("colors<{}, {}>", device_type(init.type("T")), kHow))});
}

// (images, factor[, lower bound, upper bound])
struct Contrast {
  Gpu* gpu;
  CUfunction f;
  void operator()(KernelContext& c) const {
    const Tensor& x = c.input(0);
    if (x.rank() < 3)
      throw invalid_argument("input must be at least 3-D, got shape" + x.shape().str());
    static constexpr const char* kScalars[] = {"contrast_factor", "min_value", "max_value"};
    for (int i = 1; i < c.num_inputs(); ++i)
      if (c.input(i).rank() != 0)
        throw invalid_argument(
            fmt::format("{} must be scalar: {}", kScalars[i - 1], c.input(i).shape().str()));
    Tensor& out = c.output(0, x.shape());
    if (x.num_elements() == 0) return;
    const int64_t channels = x.dim(x.rank() - 1),
                  pixels = x.dim(x.rank() - 2) * x.dim(x.rank() - 3);
    Grid g;
    g.x = static_cast<unsigned>(x.num_elements() / pixels);
    const bool bounded = c.num_inputs() > 2;
    launch_kernel(*gpu, f, g, out.raw(), x.raw(), c.input(1).raw(),
                  bounded ? c.input(2).raw() : nullptr, bounded ? c.input(3).raw() : nullptr,
                  pixels, channels);
  }
};
Prepared make_contrast(const KernelInit& init) {
  Gpu& gpu = gpu_of(*init.device);
  return prepared(Contrast{
      &gpu, gpu.jit().get("crops", fmt::format("contrast<{}, {}>", device_type(init.type("T")),
                                               device_type(init.output_types[0])))});
}

}  // namespace

std::vector<KernelRow> crop_kernels() {
  const TypeConstraint floats{"T", kFloats}, reals{"T", real_types()};
  return {cuda_row("CropAndResize", make_crop, {reals}),
          cuda_row("CropAndResizeGradImage", make_to_image, {floats}),
          cuda_row("CropAndResizeGradBoxes", make_to_boxes, {reals}),
          cuda_row("RGBToHSV", make_colors<0>, {floats}),
          cuda_row("HSVToRGB", make_colors<1>, {floats}),
          cuda_row("AdjustHue", make_colors<2>, {floats}),
          cuda_row("AdjustSaturation", make_colors<3>, {floats}),
          cuda_row("AdjustContrastv2", make_contrast, {floats}),
          cuda_row("AdjustContrast", make_contrast, {reals})};
}

}  // namespace emplace::cuda
