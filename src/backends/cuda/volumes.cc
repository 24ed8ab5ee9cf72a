// Windows over images and volumes: device/volumes.cuh. (Plain pools of images are in pool.cc.)
#include "backends/cuda/volumes.h"

#include <fmt/format.h>

#include "backends/cuda/kernels.h"

namespace emplace::cuda {
namespace {

void set_strides(int64_t* at, const int64_t* extent, int64_t channels, bool channels_first) {
  const int64_t unit = channels_first ? 1 : channels;
  at[3] = unit;
  at[2] = unit * extent[2];
  at[1] = at[2] * extent[1];
  at[4] = channels_first ? at[1] * extent[0] : 1;
  at[0] = extent[0] * extent[1] * extent[2] * channels;
  if (channels == 1) at[4] = 1;  // the same places either way
}

}  // namespace

Volume::Volume(const WindowAttrs& w, const Shape& image, std::span<const int64_t> window) {
  if (image.rank() != w.rank())
    throw invalid_argument(fmt::format("input must be {}-dimensional: {}", w.rank(), image.str()));
  batch = image[0];
  channels = image[w.channel_dim()];
  for (int i = 0; i < w.spatial(); ++i) {
    const int d = 3 - w.spatial() + i;
    const WindowDim one =
        w.slide(i, image[w.spatial_dim(i)], window[static_cast<size_t>(i)]);
    in[d] = one.in;
    out[d] = one.out;
    size[d] = one.size;
    stride[d] = one.stride;
    dilation[d] = one.dilation;
    before[d] = one.before;
  }
  set_strides(at_in, in, channels, w.channels_first());
  set_strides(at_out, out, channels, w.channels_first());
}

void Volume::set_result_channels(int64_t channels_now, bool channels_first) {
  set_strides(at_out, out, channels_now, channels_first);
}

Shape Volume::result(const WindowAttrs& w, int64_t channels_now) const {
  Shape s = Shape::unknown_dims(w.rank());
  s.set_dim(0, batch);
  s.set_dim(w.channel_dim(), channels_now);
  for (int i = 0; i < w.spatial(); ++i) s.set_dim(w.spatial_dim(i), out[3 - w.spatial() + i]);
  return s;
}

namespace {

// A pool of either kind, any number of sides.
struct Pool {
  Gpu* gpu;
  std::string type;
  WindowAttrs attrs;
  bool sizes_are_inputs;

  Pool(const KernelInit& init, int spatial)
      : gpu(&gpu_of(*init.device)),
        type(device_type(init.output_types[0])),
        attrs(*init.attrs, spatial, init.op->name.c_str(), "ksize"),
        sizes_are_inputs(!init.find("ksize")) {}

  CUfunction get(const std::string& instance) const { return gpu->jit().get("volumes", instance); }
  WindowAttrs windows(KernelContext& c) const {
    if (!sizes_are_inputs) return attrs;
    WindowAttrs own = attrs;
    own.set_sizes(host_ints(c.input(c.num_inputs() - 2)), host_ints(c.input(c.num_inputs() - 1)));
    return own;
  }
  static Volume volume(const WindowAttrs& w, const Shape& image) {
    if (w.size(0) != 1 || w.stride(0) != 1)
      throw unimplemented("Pooling is not yet supported on the batch dimension.");
    if (w.size(w.channel_dim()) != 1 || w.stride(w.channel_dim()) != 1)
      throw unimplemented("Non-spatial pooling is not yet supported.");
    std::vector<int64_t> sizes;
    for (int i = 0; i < w.spatial(); ++i) sizes.push_back(w.size(w.spatial_dim(i)));
    return Volume(w, image, sizes);
  }
  static void expect(const char* what, const Shape& want, const Tensor& got) {
    if (!(got.shape() == want))
      throw invalid_argument(fmt::format("Expected {} shape to be {}, but got {}", what, want.str(),
                                         got.shape().str()));
  }
};

struct Forward : Pool {
  bool max;
  Forward(const KernelInit& init, int spatial)
      : Pool(init, spatial), max(init.op->name.starts_with("Max")) {}
  void operator()(KernelContext& c) const {
    const WindowAttrs w = windows(c);
    const Volume v = volume(w, c.input(0).shape());
    Tensor& out = c.output(0, v.result(w, v.channels));
    if (const int64_t n = out.num_elements())
      launch_kernel(*gpu, get(fmt::format("volume_pool<{}, {}>", type, max)), grid_for(*gpu, n),
                    out.raw(), c.input(0).raw(), n, v);
  }
};
template <int kSpatial>
Prepared make_forward(const KernelInit& init) { return prepared(Forward(init, kSpatial)); }

// (input, output, gradient of it) -> of the input; over volumes all that equal the largest have a share.
struct MaxGradient : Pool {
  using Pool::Pool;
  void operator()(KernelContext& c) const {
    const WindowAttrs w = windows(c);
    const Tensor& x = c.input(0);
    const Volume v = volume(w, x.shape());
    const Shape pooled = v.result(w, v.channels);
    expect("orig_output", pooled, c.input(1));
    expect("grad", pooled, c.input(2));
    Tensor& out = c.output(0, x.shape());
    if (const int64_t n = out.num_elements())
      launch_kernel(
          *gpu, get(fmt::format("volume_pool_grad<{}, {}>", type, w.spatial() == 3 ? 2 : 1)),
          grid_for(*gpu, n), out.raw(), x.raw(), c.input(1).raw(), c.input(2).raw(), n, v);
  }
};
template <int kSpatial>
Prepared make_max_gradient(const KernelInit& init) { return prepared(MaxGradient(init, kSpatial)); }

// (input, output, gradient of the input's gradient) -> of the output's.
struct MaxGradientBack : Pool {
  using Pool::Pool;
  void operator()(KernelContext& c) const {
    const WindowAttrs w = windows(c);
    const Tensor& x = c.input(0);
    const Volume v = volume(w, x.shape());
    const Shape pooled = v.result(w, v.channels);
    expect("orig_output", pooled, c.input(1));
    expect("grad", x.shape(), c.input(2));
    Tensor& out = c.output(0, pooled);
    if (const int64_t n = out.num_elements())
      launch_kernel(*gpu, get(fmt::format("pool_of_largest<{}>", type)), grid_for(*gpu, n),
                    out.raw(), x.raw(), c.input(2).raw(), n, v);
  }
};
template <int kSpatial>
Prepared make_max_back(const KernelInit& init) { return prepared(MaxGradientBack(init, kSpatial)); }

struct MeanGradient : Pool {
  using Pool::Pool;
  void operator()(KernelContext& c) const {
    const Shape image(host_ints(c.input(0)));
    const Volume v = volume(attrs, image);
    expect("grad", v.result(attrs, v.channels), c.input(1));
    Tensor& out = c.output(0, image);
    if (const int64_t n = out.num_elements())
      launch_kernel(*gpu, get(fmt::format("volume_pool_grad<{}, 0>", type)), grid_for(*gpu, n),
                    out.raw(), nullptr, nullptr, c.input(1).raw(), n, v);
  }
};
Prepared make_mean_gradient(const KernelInit& init) { return prepared(MeanGradient(init, 3)); }

// ---- With the places of the largest.

struct WithPlaces : Pool {
  std::string index;
  bool count_images;
  explicit WithPlaces(const KernelInit& init)
      : Pool(init, 2),
        index(device_type(init.output_types[1])),
        count_images(init.attr<bool>("include_batch_in_index")) {}
  void operator()(KernelContext& c) const {
    const Volume v = volume(attrs, c.input(0).shape());
    const Shape shape = v.result(attrs, v.channels);
    Tensor &out = c.output(0, shape), &places = c.output(1, shape);
    if (const int64_t n = out.num_elements())
      launch_kernel(*gpu, get(fmt::format("pool_with_places<{}, {}>", type, index)),
                    grid_for(*gpu, n), out.raw(), places.raw(), c.input(0).raw(), n, v,
                    count_images);
  }
};
Prepared make_with_places(const KernelInit& init) { return prepared(WithPlaces(init)); }

// Adds to the places, or (back) takes from them; image by image where places do not count images.
struct ByPlaces {
  Gpu* gpu;
  CUfunction add, take;
  bool count_images, back;
  void operator()(KernelContext& c) const {
    const Tensor &in = c.input(0), &gradient = c.input(1), &places = c.input(2);
    if (in.rank() != 4) throw invalid_argument("tensor_in must be 4-dimensional");
    if (back) Pool::expect("grad", in.shape(), gradient);
    else Pool::expect("argmax", gradient.shape(), places);
    if (places.rank() != 4 || places.dim(0) != in.dim(0))
      throw invalid_argument("argmax must be 4-dimensional with the batch of the input");
    Tensor& out = c.output(0, back ? places.shape() : in.shape());
    if (!back) gpu->zero(out.raw(), out.bytes());
    const int64_t images = count_images ? 1 : in.dim(0);
    if (places.num_elements() == 0 || in.num_elements() == 0) return;
    const int64_t image = in.num_elements() / images, each = places.num_elements() / images;
    const auto size = static_cast<int64_t>(dtype_size(in.dtype()));
    for (int64_t i = 0; i < images; ++i) {
      const char* at = places.data<char>() + i * each * 8;
      const Grid g = grid_for(*gpu, each);
      if (back) {
        launch_kernel(*gpu, take, g, out.data<char>() + i * each * size,
                      gradient.data<char>() + i * image * size, at, each, image, each, int64_t{1},
                      int64_t{1});
      } else {
        Steps s;
        s.dims[0] = image;
        s.strides[0] = 1;
        launch_kernel(*gpu, add, g, out.data<char>() + i * image * size, at,
                      gradient.data<char>() + i * each * size, each, int64_t{1}, int32_t{1}, s,
                      int64_t{1});
      }
    }
  }
};
Prepared make_by_places(const KernelInit& init) {
  Gpu& gpu = gpu_of(*init.device);
  const DType t = init.input_types[1];
  return prepared(ByPlaces{
      &gpu, gpu.jit().get("arrange", fmt::format("scatter<AddTo, {}, i64>", device_type(t))),
      gpu.jit().get("arrange", fmt::format("gather<{}, i64>", device_bits(t))),
      init.attr<bool>("include_batch_in_index"), init.op->name == "MaxPoolGradGradWithArgmax"});
}

// ---- Patches and dilations.

struct Patches {
  Gpu* gpu;
  CUfunction f;
  WindowAttrs w;
  void operator()(KernelContext& c) const {
    const Tensor& x = c.input(0);
    std::vector<int64_t> sizes;
    for (int i = 0; i < w.spatial(); ++i) sizes.push_back(w.size(i + 1));
    for (int d : {0, w.rank() - 1})
      if (w.size(d) != 1 || w.stride(d) != 1 || w.dilation(d) != 1)
        throw unimplemented("Only support ksizes across space.");
    const Volume v(w, x.shape(), sizes);
    Tensor& out = c.output(0, v.result(w, v.channels * v.size[0] * v.size[1] * v.size[2]));
    if (const int64_t n = out.num_elements())
      launch_kernel(*gpu, f, grid_for(*gpu, n), out.raw(), x.raw(), n, v);
  }
};
template <int kSpatial>
Prepared make_patches(const KernelInit& init) {
  Gpu& gpu = gpu_of(*init.device);
  return prepared(Patches{
      &gpu, gpu.jit().get("volumes", fmt::format("patches<{}>", device_bits(init.type("T")))),
      WindowAttrs(*init.attrs, kSpatial, init.op->name.c_str(), "ksizes", "rates")});
}

// Dilation2D and its gradients by the input and by the filter.
struct Dilation {
  Gpu* gpu;
  std::string type;
  WindowAttrs w;
  bool to_input, to_filter;
  CUfunction get(const std::string& instance) const { return gpu->jit().get("volumes", instance); }
  void operator()(KernelContext& c) const {
    const Tensor &x = c.input(0), &filter = c.input(1);
    if (filter.rank() != 3)
      throw invalid_argument("filter must be 3-dimensional: " + filter.shape().str());
    const Volume v(w, x.shape(), std::vector<int64_t>{filter.dim(0), filter.dim(1)});
    if (v.channels != filter.dim(2))
      throw invalid_argument(fmt::format("input and filter must have the same depth: {} vs {}",
                                         v.channels, filter.dim(2)));
    const Shape pooled = v.result(w, v.channels);
    Tensor& out = c.output(0, to_input ? x.shape() : to_filter ? filter.shape() : pooled);
    const int64_t n = pooled.num_elements(), made = out.num_elements();
    if (made == 0) return;
    if (!to_input && !to_filter)
      return launch_kernel(*gpu, get(fmt::format("dilation<{}>", type)), grid_for(*gpu, n),
                           out.raw(), x.raw(), filter.raw(), n, v);
    Pool::expect("out_backprop", pooled, c.input(2));
    const size_t bytes = static_cast<size_t>(made) * (out.dtype() == DType::kDouble ? 8 : 4);
    void* const sums = gpu->workspace(bytes);
    gpu->zero(sums, bytes);
    if (n > 0)
      launch_kernel(*gpu, get(fmt::format("dilation_grad<{}, {}>", type, to_filter)),
                    grid_for(*gpu, n), sums, x.raw(), filter.raw(), c.input(2).raw(), n, v);
    launch_kernel(*gpu, get(fmt::format("narrow<{}>", type)), grid_for(*gpu, made), out.raw(), sums,
                  made);
  }
};
Prepared make_dilation(const KernelInit& init) {
  return prepared(Dilation{&gpu_of(*init.device), std::string(device_type(init.type("T"))),
                           WindowAttrs(*init.attrs, 2, "Dilation2D", nullptr, "rates"),
                           init.op->name.ends_with("Input"), init.op->name.ends_with("Filter")});
}

}  // namespace

std::vector<KernelRow> volume_kernels() {
  const TypeConstraint floats{"T", kFloats};
  const TypeConstraint wide{"Targmax", {DType::kInt64}};
  return {cuda_row("MaxPoolV2", make_forward<2>, {floats}),
          cuda_row("MaxPool3D", make_forward<3>, {floats}),
          cuda_row("AvgPool3D", make_forward<3>, {floats}),
          cuda_row("MaxPoolGradV2", make_max_gradient<2>, {floats}),
          cuda_row("MaxPool3DGrad", make_max_gradient<3>, {floats}),
          cuda_row("MaxPoolGradGrad", make_max_back<2>, {floats}),
          cuda_row("MaxPoolGradGradV2", make_max_back<2>, {floats}),
          cuda_row("MaxPool3DGradGrad", make_max_back<3>, {floats}),
          cuda_row("AvgPool3DGrad", make_mean_gradient, {floats}),
          cuda_row("MaxPoolWithArgmax", make_with_places, {floats, wide}),
          cuda_row("MaxPoolGradWithArgmax", make_by_places, {floats, wide}),
          cuda_row("MaxPoolGradGradWithArgmax", make_by_places, {floats, wide}),
          cuda_row("ExtractImagePatches", make_patches<2>),
          cuda_row("ExtractVolumePatches", make_patches<3>),
          cuda_row("Dilation2D", make_dilation, {floats}),
          cuda_row("Dilation2DBackpropInput", make_dilation, {floats}),
          cuda_row("Dilation2DBackpropFilter", make_dilation, {floats})};
}

}  // namespace emplace::cuda
