// Convolutions of volumes by cuDNN: channels first, which it has for every dtype; what is not so is laid
// out anew, padding with it.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "backends/cuda/dnn.h"
#include "backends/cuda/kernels.h"
#include "backends/cuda/volumes.h"

namespace emplace::cuda {
namespace {

enum class Way { kForward, kInput, kFilter };
constexpr size_t kMostWorkspace = size_t{512} << 20;

struct FilterDesc {
  cudnnFilterDescriptor_t get = nullptr;
  FilterDesc() { check(cudnnCreateFilterDescriptor(&get), "cuDNN"); }
  ~FilterDesc() { cudnnDestroyFilterDescriptor(get); }
  FilterDesc(const FilterDesc&) = delete;
};
struct ConvDesc {
  cudnnConvolutionDescriptor_t get = nullptr;
  ConvDesc() { check(cudnnCreateConvolutionDescriptor(&get), "cuDNN"); }
  ~ConvDesc() { cudnnDestroyConvolutionDescriptor(get); }
  ConvDesc(const ConvDesc&) = delete;
};

using Five = std::array<int64_t, 5>;

Five packed_steps(const Five& dims) {
  Five steps{};
  int64_t step = 1;
  for (size_t d = 5; d-- > 0; step *= dims[d]) steps[d] = step;
  return steps;
}
int64_t product(const Five& d) { return d[0] * d[1] * d[2] * d[3] * d[4]; }

// One convolution of fixed shapes, as cuDNN sees it: [batch, channels, depth, rows, columns].
class Plan {
 public:
  Plan(Gpu& gpu, DType dtype, Way way, const Volume& v, int64_t filter_depth, int64_t out_channels)
      : gpu_(gpu), dtype_(dtype), way_(way), v_(v) {
    groups_ = v.channels / filter_depth;
    for (size_t d = 0; d < 3; ++d) {
      const int64_t reach = (v.size[d] - 1) * v.dilation[d] + 1;
      padded_[d] = std::max((v.out[d] - 1) * v.stride[d] + reach, v.before[d] + v.in[d]);
    }
    x_dims_ = {v.batch, v.channels, padded_[0], padded_[1], padded_[2]};
    y_dims_ = {v.batch, out_channels, v.out[0], v.out[1], v.out[2]};
    f_dims_ = {out_channels, filter_depth, v.size[0], v.size[1], v.size[2]};
    describe();
    choose();
  }

  // Between tensors as TensorFlow lays them out.
  void run(const void* x, const void* filter, const void* y, void* result) const {
    const size_t size = dtype_size(dtype_);
    auto up = [](size_t b) { return (b + 255) / 256 * 256; };
    const size_t xs = up(static_cast<size_t>(product(x_dims_)) * size),
                 ys = up(static_cast<size_t>(product(y_dims_)) * size),
                 fs = up(static_cast<size_t>(product(f_dims_)) * size);
    char* const at = static_cast<char*>(gpu_.workspace(xs + ys + fs + workspace_));
    char *const own_x = at, *const own_y = at + xs, *const own_f = own_y + ys,
                *const work = own_f + fs;
    if (way_ != Way::kInput) {
      check(cudaMemsetAsync(own_x, 0, xs, gpu_.stream()), "filling with zeros");
      move_image(own_x, x, true);
    }
    if (way_ != Way::kFilter) move_filter(own_f, filter, true);
    if (way_ != Way::kForward) move_result(own_y, y, true);
    convolve(own_x, own_f, own_y, work);
    if (way_ == Way::kForward) move_result(own_y, result, false);
    else if (way_ == Way::kInput) move_image(own_x, result, false);
    else move_filter(own_f, result, false);
  }

 private:
  void describe() {
    const cudnnDataType_t type = dnn_type(dtype_);
    auto set = [&](TensorDesc& desc, const Five& dims) {
      std::array<int, 5> d{}, s{};
      const Five steps = packed_steps(dims);
      for (size_t i = 0; i < 5; ++i)
        d[i] = static_cast<int>(dims[i]), s[i] = static_cast<int>(steps[i]);
      check(cudnnSetTensorNdDescriptor(desc.get, type, 5, d.data(), s.data()),
            "describing a tensor");
    };
    set(x_, x_dims_);
    set(y_, y_dims_);
    std::array<int, 5> f{};
    std::array<int, 3> pad{}, stride{}, dilation{};
    for (size_t i = 0; i < 5; ++i) f[i] = static_cast<int>(f_dims_[i]);
    for (size_t d = 0; d < 3; ++d)
      stride[d] = static_cast<int>(v_.stride[d]), dilation[d] = static_cast<int>(v_.dilation[d]);
    check(cudnnSetFilterNdDescriptor(f_.get, type, CUDNN_TENSOR_NCHW, 5, f.data()),
          "describing a filter");
    check(cudnnSetConvolutionNdDescriptor(
              conv_.get, 3, pad.data(), stride.data(), dilation.data(), CUDNN_CROSS_CORRELATION,
              dtype_ == DType::kDouble ? CUDNN_DATA_DOUBLE : CUDNN_DATA_FLOAT),
          "describing a convolution");
    check(cudnnSetConvolutionGroupCount(conv_.get, static_cast<int>(groups_)), "cuDNN");
    const bool wide = dtype_ == DType::kFloat || dtype_ == DType::kDouble;
    check(cudnnSetConvolutionMathType(conv_.get, !wide ? CUDNN_TENSOR_OP_MATH_ALLOW_CONVERSION
                                                 : tf32_allowed() ? CUDNN_DEFAULT_MATH
                                                                  : CUDNN_FMA_MATH),
          "cuDNN");
  }

  template <class Result>
  void take_best(const Result* results, int n) {
    for (int i = 0; i < n; ++i) {
      const Result& r = results[i];
      if (r.status != CUDNN_STATUS_SUCCESS || r.memory > kMostWorkspace ||
          (deterministic() && r.determinism != CUDNN_DETERMINISTIC))
        continue;
      algo_ = static_cast<int>(r.algo);
      workspace_ = r.memory;
      check(cudnnSetConvolutionMathType(conv_.get, r.mathType), "cuDNN");
      return;
    }
    throw unimplemented("cuDNN has no way to do this convolution");
  }
  void choose() {
    constexpr int kMost = 16;
    Dnn dnn(gpu_);
    int n = 0;
    if (way_ == Way::kForward) {
      cudnnConvolutionFwdAlgoPerf_t r[kMost];
      check(cudnnGetConvolutionForwardAlgorithm_v7(dnn, x_.get, f_.get, conv_.get, y_.get, kMost,
                                                   &n, r),
            "choosing an algorithm");
      take_best(r, n);
    } else if (way_ == Way::kInput) {
      cudnnConvolutionBwdDataAlgoPerf_t r[kMost];
      check(cudnnGetConvolutionBackwardDataAlgorithm_v7(dnn, f_.get, y_.get, conv_.get, x_.get,
                                                        kMost, &n, r),
            "choosing an algorithm");
      take_best(r, n);
    } else {
      cudnnConvolutionBwdFilterAlgoPerf_t r[kMost];
      check(cudnnGetConvolutionBackwardFilterAlgorithm_v7(dnn, x_.get, y_.get, conv_.get, f_.get,
                                                          kMost, &n, r),
            "choosing an algorithm");
      take_best(r, n);
    }
  }

  void convolve(void* x, void* f, void* y, void* work) const {
    static constexpr float kOne = 1, kZero = 0;
    static constexpr double kOneD = 1, kZeroD = 0;
    const bool wide = dtype_ == DType::kDouble;
    const void *one = wide ? static_cast<const void*>(&kOneD) : &kOne;
    const void *zero = wide ? static_cast<const void*>(&kZeroD) : &kZero;
    Dnn dnn(gpu_);
    if (way_ == Way::kForward)
      check(cudnnConvolutionForward(dnn, one, x_.get, x, f_.get, f, conv_.get,
                                    static_cast<cudnnConvolutionFwdAlgo_t>(algo_), work, workspace_,
                                    zero, y_.get, y),
            "convolving");
    else if (way_ == Way::kInput)
      check(cudnnConvolutionBackwardData(dnn, one, f_.get, f, y_.get, y, conv_.get,
                                         static_cast<cudnnConvolutionBwdDataAlgo_t>(algo_), work,
                                         workspace_, zero, x_.get, x),
            "convolving");
    else
      check(cudnnConvolutionBackwardFilter(dnn, one, x_.get, x, y_.get, y, conv_.get,
                                           static_cast<cudnnConvolutionBwdFilterAlgo_t>(algo_),
                                           work, workspace_, zero, f_.get, f),
            "convolving");
  }

  // The tensor's elements, walked in its own order, and where they lie in cuDNN's.
  void move(void* own, const void* theirs, bool in, int64_t base, std::span<const int64_t> dims,
            std::span<const int64_t> steps) const {
    int64_t n = 1;
    for (int64_t d : dims) n *= d;
    const char* const bits = dtype_size(dtype_) == 2   ? "u16"
                             : dtype_size(dtype_) == 4 ? "u32"
                                                       : "u64";
    const CUfunction f = gpu_.jit().get(
        "arrange", fmt::format("{}<{}>", in ? "scatter_strided" : "gather_strided", bits));
    void* const to = in ? own : const_cast<void*>(theirs);
    const void* const from = in ? theirs : own;
    if (n > 0) launch_kernel(gpu_, f, grid_for(gpu_, n), to, from, base, n, merged(dims, steps));
  }
  void move_image(void* own, const void* theirs, bool in) const {
    const Five s = packed_steps(x_dims_);
    const int64_t base = v_.before[0] * s[2] + v_.before[1] * s[3] + v_.before[2] * s[4];
    move_laid(own, theirs, in, base, {v_.batch, v_.in[0], v_.in[1], v_.in[2], v_.channels}, s,
              v_.at_in);
  }
  void move_result(void* own, const void* theirs, bool in) const {
    move_laid(own, theirs, in, 0, {v_.batch, v_.out[0], v_.out[1], v_.out[2], y_dims_[1]},
              packed_steps(y_dims_), v_.at_out);
  }
  // dims: batch, sides, channels. `s`: strides of batch, channels, sides on our side.
  void move_laid(void* own, const void* theirs, bool in, int64_t base, const Five& dims,
                 const Five& s, const int64_t* at) const {
    if (at[4] == 1)
      move(own, theirs, in, base, dims, Five{s[0], s[2], s[3], s[4], s[1]});
    else
      move(own, theirs, in, base, Five{dims[0], dims[4], dims[1], dims[2], dims[3]}, s);
  }
  // [depth, rows, columns, in, out] <-> [out, in, depth, rows, columns]
  void move_filter(void* own, const void* theirs, bool in) const {
    const Five s = packed_steps(f_dims_);
    move(own, theirs, in, 0, Five{f_dims_[2], f_dims_[3], f_dims_[4], f_dims_[1], f_dims_[0]},
         Five{s[2], s[3], s[4], s[1], s[0]});
  }

  Gpu& gpu_;
  const DType dtype_;
  const Way way_;
  const Volume v_;
  int64_t groups_ = 1;
  std::array<int64_t, 3> padded_{};
  Five x_dims_{}, y_dims_{}, f_dims_{};
  TensorDesc x_, y_;
  FilterDesc f_;
  ConvDesc conv_;
  int algo_ = 0;
  size_t workspace_ = 0;
};

// Plans of a node, by shape.
class Plans {
 public:
  const Plan& get(Gpu& gpu, DType dtype, Way way, const Volume& v, int64_t filter_depth,
                  int64_t out_channels) {
    std::vector<int64_t> key{v.batch, v.channels, filter_depth, out_channels};
    for (size_t d = 0; d < 3; ++d) key.insert(key.end(), {v.in[d], v.size[d]});
    const std::lock_guard lock(mutex_);
    auto& slot = plans_[key];
    if (!slot) slot = std::make_unique<Plan>(gpu, dtype, way, v, filter_depth, out_channels);
    return *slot;
  }

 private:
  std::mutex mutex_;
  std::map<std::vector<int64_t>, std::unique_ptr<Plan>> plans_;
};

struct Conv3D {
  Gpu* gpu;
  DType dtype;
  Way way;
  bool by_value;  // sizes are given as vectors
  WindowAttrs w;
  std::shared_ptr<Plans> plans = std::make_shared<Plans>();

  Shape shape_of(const Tensor& t, bool given) const {
    return given && by_value ? Shape(host_ints(t)) : t.shape();
  }
  void operator()(KernelContext& c) const {
    const Shape image = shape_of(c.input(0), way == Way::kInput);
    const Shape filter = shape_of(c.input(1), way == Way::kFilter);
    if (filter.rank() != 5)
      throw invalid_argument("filter must be 5-dimensional: " + filter.str());
    Volume v(w, image, filter.dims().first(3));
    if (filter[3] <= 0 || v.channels % filter[3])
      throw invalid_argument(fmt::format(
          "input depth must be evenly divisible by filter depth: {} vs {}", v.channels, filter[3]));
    const int64_t out_channels = filter[4];
    const Shape result = v.result(w, out_channels);
    Tensor& out = c.output(0, way == Way::kForward ? result : way == Way::kInput ? image : filter);
    if (way != Way::kForward && !(c.input(2).shape() == result))
      throw invalid_argument(fmt::format("Size of out_backprop doesn't match computed: {} vs. {}",
                                         c.input(2).shape().str(), result.str()));
    if (out.num_elements() == 0) return;
    if (image.num_elements() == 0 || filter.num_elements() == 0 || result.num_elements() == 0)
      return gpu->zero(out.raw(), out.bytes());
    v.set_result_channels(out_channels, w.channels_first());
    plans->get(*gpu, dtype, way, v, filter[3], out_channels)
        .run(way == Way::kInput ? nullptr : c.input(0).raw(),
             way == Way::kFilter ? nullptr : c.input(1).raw(),
             way == Way::kForward ? nullptr : c.input(2).raw(), out.raw());
  }
};

template <Way kWay, bool kByValue>
Prepared make_conv(const KernelInit& init) {
  return prepared(Conv3D{&gpu_of(*init.device), init.type("T"), kWay, kByValue,
                         WindowAttrs(*init.attrs, 3, init.op->name.c_str())});
}

}  // namespace

std::vector<KernelRow> conv3d_kernels() {
  const TypeConstraint floats{"T", kFloats};
  return {cuda_row("Conv3D", make_conv<Way::kForward, false>, {floats}),
          cuda_row("Conv3DBackpropInput", make_conv<Way::kInput, false>, {floats}),
          cuda_row("Conv3DBackpropInputV2", make_conv<Way::kInput, true>, {floats}),
          cuda_row("Conv3DBackpropFilter", make_conv<Way::kFilter, false>, {floats}),
          cuda_row("Conv3DBackpropFilterV2", make_conv<Way::kFilter, true>, {floats})};
}

}  // namespace emplace::cuda
