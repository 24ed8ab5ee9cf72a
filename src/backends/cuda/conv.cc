// Convolutions by cuDNN. Filters are [rows, columns, in, out] for TensorFlow and [out, …] for
// cuDNN, so they are turned round first; padding that is not the same on both sides is laid on by
// us. Those of single pixels are products of matrices as they lie.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "backends/cuda/dnn.h"
#include "backends/cuda/kernels.h"
#include "backends/cuda/product.h"
#include "backends/cuda/trial.h"
#include "backends/cuda/volumes.h"

namespace emplace::cuda {
namespace {

constexpr size_t kMostWorkspace = size_t{1} << 30;
constexpr size_t kRaceWorkspace = size_t{64} << 20;
constexpr int kTrials = 5;
constexpr float kMuch = 2;                 // slower than the best so far: not worth more trials
constexpr int64_t kMostRows = 32 * 65535;  // of a transpose
enum class Way { kForward, kInput, kFilter };

// Everything about one convolution of fixed shapes.
struct Plan {
  Window w;  // as cuDNN sees it: `in` includes padding laid on by us
  std::array<int64_t, 2> plain_in{}, laid_before{};
  int64_t groups = 1, out_channels = 0;
  bool pad = false;
  bool direct = false;  // cuDNN has no way: device/direct.cuh does it
  bool product = false;  // of all pixels' channels with the filter
  TensorDesc x, y;
  cudnnFilterDescriptor_t filter = nullptr;
  cudnnConvolutionDescriptor_t conv = nullptr;
  int algo = 0;
  size_t workspace = 0;
  ~Plan() {
    if (filter) cudnnDestroyFilterDescriptor(filter);
    if (conv) cudnnDestroyConvolutionDescriptor(conv);
  }
};

// The work itself, between images and filter as cuDNN sees them.
cudnnStatus_t convolve(cudnnHandle_t dnn, Way way, const Plan& p, DType dtype, void* x,
                       void* filter, void* y, void* work) {
  static constexpr float kOne = 1, kZero = 0;
  static constexpr double kOneD = 1, kZeroD = 0;
  const bool wide = dtype == DType::kDouble;
  const void *one = wide ? static_cast<const void*>(&kOneD) : &kOne;
  const void *zero = wide ? static_cast<const void*>(&kZeroD) : &kZero;
  if (way == Way::kForward)
    return cudnnConvolutionForward(dnn, one, p.x.get, x, p.filter, filter, p.conv,
                                   static_cast<cudnnConvolutionFwdAlgo_t>(p.algo), work,
                                   p.workspace, zero, p.y.get, y);
  if (way == Way::kInput)
    return cudnnConvolutionBackwardData(dnn, one, p.filter, filter, p.y.get, y, p.conv,
                                        static_cast<cudnnConvolutionBwdDataAlgo_t>(p.algo), work,
                                        p.workspace, zero, p.x.get, x);
  return cudnnConvolutionBackwardFilter(dnn, one, p.x.get, x, p.y.get, y, p.conv,
                                        static_cast<cudnnConvolutionBwdFilterAlgo_t>(p.algo), work,
                                        p.workspace, zero, p.filter, filter);
}

using Key = std::vector<int64_t>;

// Plans of a node, by shape.
class Plans {
 public:
  Plans(Gpu& gpu, DType dtype, Way way, Window window, bool depthwise)
      : gpu_(gpu), dtype_(dtype), way_(way), window_(std::move(window)), depthwise_(depthwise) {}

  // `tune`: candidates are tried, which takes some milliseconds; not while a recording is made.
  const Plan& get(const Shape& image, const Shape& filter, bool tune = false) {
    Key key(image.dims().begin(), image.dims().end());
    key.insert(key.end(), filter.dims().begin(), filter.dims().end());
    const std::lock_guard lock(mutex_);
    auto& slot = plans_[key];
    if (!slot) slot = make(image, filter, tune);
    return *slot;
  }
  bool depthwise() const { return depthwise_; }

  // f(gpu, dtype, …): product.h's arguments, for the product that a plan is.
  template <class F, class... Pointers>
  void multiply(const Plan& p, F f, Pointers... pointers) const {
    const int64_t pixels = p.w.batch * p.w.in[0] * p.w.in[1], in = p.w.channels,
                  out = p.out_channels;
    if (way_ == Way::kForward)
      f(gpu_, dtype_, pointers..., 1, pixels, out, in, false, false);
    else if (way_ == Way::kInput)
      f(gpu_, dtype_, pointers..., 1, pixels, in, out, false, true);
    else
      f(gpu_, dtype_, pointers..., 1, in, out, pixels, true, false);
  }

 private:
  std::unique_ptr<Plan> make(const Shape& image, const Shape& filter, bool tune) {
    if (filter.rank() != 4)
      throw invalid_argument("filter must be 4-dimensional: " + filter.str());
    auto p = std::make_unique<Plan>();
    p->w = window_.on(image, {filter[0], filter[1]});
    p->plain_in = p->w.in;
    p->groups = depthwise_ ? p->w.channels : filter[2] ? p->w.channels / filter[2] : 1;
    if (!depthwise_ && (filter[2] == 0 || p->w.channels % filter[2]))
      throw invalid_argument(fmt::format("input depth must be evenly divisible by filter depth: {} "
                                         "vs {}", p->w.channels, filter[2]));
    if (depthwise_ && filter[2] != p->w.channels)
      throw invalid_argument(fmt::format("input and filter must have the same depth: {} vs {}",
                                         p->w.channels, filter[2]));
    p->out_channels = depthwise_ ? filter[2] * filter[3] : filter[3];
    if (!p->w.symmetric()) {
      p->pad = true;
      p->laid_before = p->w.before;
      for (size_t d = 0; d < 2; ++d) p->w.in[d] += p->w.before[d] + p->w.after[d];
      p->w.before = p->w.after = {0, 0};
    }
    if (image.num_elements() == 0 || filter.num_elements() == 0) return p;
    p->direct = dtype_ == DType::kInt32;
    p->product = is_product(*p, filter);
    if (p->product && tune) multiply(*p, &prepare_product);
    if (!p->direct && !p->product) try {
        describe(*p, filter);
        choose(*p, filter.num_elements(), tune);
      } catch (const Error& e) {
        if (e.code() != Code::kUnimplemented) throw;
        p->direct = true;
      }
    return p;
  }

  bool is_product(const Plan& p, const Shape& filter) const {
    static constexpr std::array<int64_t, 2> kZeros = {0, 0}, kOnes = {1, 1};
    return !p.direct && !depthwise_ && p.groups == 1 && !p.w.channels_first && !p.pad &&
           filter[0] == 1 && filter[1] == 1 && p.w.before == kZeros && p.w.stride == kOnes;
  }

  void describe(Plan& p, const Shape& filter) const {
    const Window& w = p.w;
    const bool first = w.channels_first;
    p.x.set(first, dtype_, w.batch, w.channels, w.in[0], w.in[1]);
    p.y.set(first, dtype_, w.batch, p.out_channels, w.out[0], w.out[1]);
    check(cudnnCreateFilterDescriptor(&p.filter), "cuDNN");
    check(cudnnSetFilter4dDescriptor(
              p.filter, dnn_type(dtype_), first ? CUDNN_TENSOR_NCHW : CUDNN_TENSOR_NHWC,
              static_cast<int>(p.out_channels), static_cast<int>(w.channels / p.groups),
              static_cast<int>(filter[0]), static_cast<int>(filter[1])),
          "describing a filter");
    check(cudnnCreateConvolutionDescriptor(&p.conv), "cuDNN");
    check(cudnnSetConvolution2dDescriptor(
              p.conv, static_cast<int>(w.before[0]), static_cast<int>(w.before[1]),
              static_cast<int>(w.stride[0]), static_cast<int>(w.stride[1]),
              static_cast<int>(w.dilation[0]), static_cast<int>(w.dilation[1]),
              CUDNN_CROSS_CORRELATION,
              dtype_ == DType::kDouble ? CUDNN_DATA_DOUBLE : CUDNN_DATA_FLOAT),
          "describing a convolution");
    check(cudnnSetConvolutionGroupCount(p.conv, static_cast<int>(p.groups)), "cuDNN");
    check(cudnnSetConvolutionMathType(p.conv, CUDNN_TENSOR_OP_MATH_ALLOW_CONVERSION), "cuDNN");
    if (dtype_ == DType::kFloat || dtype_ == DType::kDouble)
      check(cudnnSetConvolutionMathType(
                p.conv, tf32_allowed() ? CUDNN_DEFAULT_MATH : CUDNN_FMA_MATH), "cuDNN");
  }

  // A way to do it, as cuDNN lists them.
  struct Candidate {
    int algo;
    size_t workspace;
    cudnnMathType_t math;
  };
  static void use(Plan& p, const Candidate& c) {
    p.algo = c.algo;
    p.workspace = c.workspace;
    check(cudnnSetConvolutionMathType(p.conv, c.math), "cuDNN");
  }

  // Those that work, repeat their bits where that is wanted, and whose scratch memory is bounded; the
  // fastest first, by cuDNN's own estimate.
  std::vector<Candidate> candidates(cudnnHandle_t dnn, const Plan& p) const {
    constexpr int kMost = 16;
    std::vector<Candidate> all;
    int n = 0;
    auto list = [&](const auto* results, cudnnStatus_t status) {
      check(status, "choosing an algorithm");
      for (const auto& r : std::span(results, static_cast<size_t>(n)))
        if (r.status == CUDNN_STATUS_SUCCESS && r.memory <= kMostWorkspace &&
            (!deterministic() || r.determinism == CUDNN_DETERMINISTIC))
          all.push_back({static_cast<int>(r.algo), r.memory, r.mathType});
    };
    cudnnConvolutionFwdAlgoPerf_t forward[kMost];
    cudnnConvolutionBwdDataAlgoPerf_t data[kMost];
    cudnnConvolutionBwdFilterAlgoPerf_t filter[kMost];
    if (way_ == Way::kForward)
      list(forward, cudnnGetConvolutionForwardAlgorithm_v7(dnn, p.x.get, p.filter, p.conv, p.y.get,
                                                           kMost, &n, forward));
    else if (way_ == Way::kInput)
      list(data, cudnnGetConvolutionBackwardDataAlgorithm_v7(dnn, p.filter, p.y.get, p.conv,
                                                             p.x.get, kMost, &n, data));
    else
      list(filter, cudnnGetConvolutionBackwardFilterAlgorithm_v7(dnn, p.x.get, p.y.get, p.conv,
                                                                 p.filter, kMost, &n, filter));
    if (all.empty()) throw unimplemented("cuDNN has no way to do this convolution");
    return all;
  }

  void choose(Plan& p, int64_t filter_elements, bool tune) const {
    Dnn dnn(gpu_);
    const std::vector<Candidate> all = candidates(dnn, p);
    if (!tune || !race(dnn, p, filter_elements, all)) use(p, all[0]);
  }

  // Tries them on memory of their own, as parts of a recording; false where there is no room for it.
  bool race(cudnnHandle_t dnn, Plan& p, int64_t filter_elements,
            const std::vector<Candidate>& all) const {
    const auto size = static_cast<int64_t>(dtype_size(dtype_));
    auto up = [](int64_t x) { return (x + 255) / 256 * 256; };
    const Window& w = p.w;
    const int64_t x_bytes = up(w.batch * w.channels * w.in[0] * w.in[1] * size);
    const int64_t y_bytes = up(w.batch * p.out_channels * w.out[0] * w.out[1] * size);
    const int64_t f_bytes = up(filter_elements * size);
    BufferPtr memory;
    try {
      memory = gpu_.allocate(static_cast<size_t>(x_bytes + y_bytes + f_bytes) + kRaceWorkspace,
                             "trying convolutions");
    } catch (const Error&) {
      return false;
    }
    char* const x = static_cast<char*>(memory->data());
    char *const y = x + x_bytes, *const f = y + y_bytes, *const work = f + f_bytes;
    Trial trial;
    fill_with_noise(gpu_, x, static_cast<size_t>(work - x), dtype_, trial.stream());
    check(cudnnSetStream(dnn, trial.stream()), "choosing a stream");
    float best = INFINITY;
    Candidate fastest{};
    for (const Candidate& c : all) {
      if (c.workspace > kRaceWorkspace) continue;
      use(p, c);
      const auto once = [&] {
        return convolve(dnn, way_, p, dtype_, x, f, y, work) == CUDNN_STATUS_SUCCESS;
      };
      // The first time it may have to be loaded.
      if (trial.time_once(once) > kMuch * best && trial.time_once(once) > kMuch * best) continue;
      const float ms = trial.time(kTrials, once);
      if (ms < best) best = ms, fastest = c;
    }
    check(cudnnSetStream(dnn, gpu_.stream()), "choosing a stream");
    if (best == INFINITY) return false;
    use(p, fastest);
    return true;
  }

  Gpu& gpu_;
  const DType dtype_;
  const Way way_;
  const Window window_;
  const bool depthwise_;
  std::mutex mutex_;
  std::map<Key, std::unique_ptr<Plan>> plans_;
};

size_t rounded(size_t bytes) { return (bytes + 255) / 256 * 256; }

// One convolution with its scratch memory cut up.
class Run {
 public:
  Run(Gpu& gpu, const Plan& p, const Plans& plans, const Shape& filter, DType dtype)
      : gpu_(gpu),
        p_(p),
        depthwise_(plans.depthwise()),
        filter_(filter),
        dtype_(dtype),
        size_(dtype_size(dtype)) {
    const size_t turned = rounded(static_cast<size_t>(filter.num_elements()) * size_);
    const size_t padded =
        p.pad ? rounded(static_cast<size_t>(p.w.batch * p.w.channels * p.w.in[0] * p.w.in[1]) *
                        size_)
              : 0;
    char* const base = static_cast<char*>(gpu.workspace(rounded(p.workspace) + turned + padded));
    work_ = base;
    turned_ = base + rounded(p.workspace);
    padded_ = static_cast<char*>(turned_) + turned;
    bits_ = size_ == 2 ? "u16" : size_ == 4 ? "u32" : "u64";
  }

  void forward(const void* x, const void* filter, void* y) {
    turn(turned_, filter, true);
    run(Way::kForward, p_.pad ? lay_on(x) : const_cast<void*>(x), turned_, y);
  }
  void to_input(const void* filter, const void* dy, void* dx) {
    turn(turned_, filter, true);
    run(Way::kInput, p_.pad ? padded_ : dx, turned_, const_cast<void*>(dy));
    if (p_.pad) take_off(dx);
  }
  void to_filter(const void* x, const void* dy, void* df) {
    run(Way::kFilter, p_.pad ? lay_on(x) : const_cast<void*>(x), turned_, const_cast<void*>(dy));
    turn(df, turned_, false);
  }

 private:
  void run(Way way, void* x, void* filter, void* y) {
    Dnn dnn(gpu_);
    check(convolve(dnn, way, p_, dtype_, x, filter, y, work_), "convolving");
  }

  // [R, S, I, O] -> [O, R, S, I] (or [O, I, R, S]), and back.
  void turn(void* to, const void* from, bool forth) {
    const int64_t r = filter_[0], s = filter_[1];
    const int64_t i = depthwise_ ? 1 : filter_[2];
    const int64_t o = depthwise_ ? filter_[2] * filter_[3] : filter_[3];
    if (!p_.w.channels_first && r * s * i < kMostRows && o < kMostRows)
      return forth ? transpose(to, from, r * s * i, o) : transpose(to, from, o, r * s * i);
    std::vector<int64_t> dims, strides;
    if (p_.w.channels_first) dims = {o, i, r, s}, strides = {1, o, s * i * o, i * o};
    else dims = {o, r, s, i}, strides = {1, s * i * o, i * o, o};
    move(forth ? "gather_strided" : "scatter_strided", to, from, 0, dims, strides);
  }
  void transpose(void* to, const void* from, int64_t rows, int64_t columns) {
    Grid g;
    g.x = static_cast<unsigned>((columns + 31) / 32);
    g.y = static_cast<unsigned>((rows + 31) / 32);
    g.block_x = 32;
    g.block_y = 8;
    launch_kernel(gpu_, gpu_.jit().get("arrange", fmt::format("transpose<{}>", bits_)), g, to, from,
                  rows, columns);
  }
  // An image with zeros around it: lines of pixels, of which each has its channels.
  void* lay_on(const void* x) {
    const Window& w = p_.w;
    const int64_t pixel = w.channels_first ? 1 : w.channels,
                  images = w.channels_first ? w.channels : 1;
    int64_t line = p_.plain_in[1] * pixel, all = w.in[1] * pixel, left = p_.laid_before[1] * pixel;
    const char* bits = bits_;
    if (const int64_t k = kVectorBytes / static_cast<int64_t>(size_);
        aligned({x, padded_}) && line % k == 0 && all % k == 0 && left % k == 0)
      line /= k, all /= k, left /= k, bits = "c128";
    const int64_t n = w.batch * images * w.in[0] * all;
    launch_kernel(gpu_, gpu_.jit().get("arrange", fmt::format("framed<{}>", bits)),
                  grid_for(gpu_, n), padded_, x, n, static_cast<int32_t>(w.in[0]),
                  static_cast<int32_t>(all), static_cast<int32_t>(p_.plain_in[0]),
                  static_cast<int32_t>(line), static_cast<int32_t>(p_.laid_before[0]),
                  static_cast<int32_t>(left));
    return padded_;
  }
  // The image out of its frame.
  void take_off(void* dx) {
    const Window& w = p_.w;
    const int64_t c = w.channels, h = w.in[0], v = w.in[1];
    const auto& n = p_.plain_in;
    const int64_t top = p_.laid_before[0], left = p_.laid_before[1];
    if (w.channels_first)
      move("gather_strided", dx, padded_, top * v + left, {w.batch, c, n[0], n[1]},
           {c * h * v, h * v, v, 1});
    else
      move("gather_strided", dx, padded_, (top * v + left) * c, {w.batch, n[0], n[1], c},
           {h * v * c, v * c, c, 1});
  }
  void move(const char* how, void* to, const void* from, int64_t base,
            const std::vector<int64_t>& dims, const std::vector<int64_t>& strides) {
    int64_t n = 1;
    for (int64_t d : dims) n *= d;
    if (n == 0) return;
    Strides s = merged(dims, strides);
    const char* bits = bits_;
    if (const auto size = static_cast<int64_t>(size_); aligned({to, from}) && widen(s, base, size))
      bits = "c128", n /= kVectorBytes / size;
    launch_kernel(gpu_, gpu_.jit().get("arrange", fmt::format("{}<{}>", how, bits)),
                  grid_for(gpu_, n), to, from, base, n, s);
  }

  Gpu& gpu_;
  const Plan& p_;
  const bool depthwise_;
  const Shape& filter_;
  const DType dtype_;
  const size_t size_;
  const char* bits_;
  void *work_, *turned_, *padded_;
};

// Must look as device/direct.cuh's does.
struct Direct {
  int64_t in[3], out[3], size[3], stride[3], dilation[3], before[3], at_in[5], at_out[5];
  int64_t batch, channels, depth, results, groups;
  Direct(const Volume& v, const Plan& p) : batch(v.batch), channels(v.channels) {
    auto copy = [](auto& to, const auto& from) { std::copy(std::begin(from), std::end(from), to); };
    copy(in, v.in), copy(out, v.out), copy(size, v.size), copy(stride, v.stride);
    copy(dilation, v.dilation), copy(before, v.before), copy(at_in, v.at_in),
        copy(at_out, v.at_out);
    results = p.out_channels;
    groups = p.groups;
    depth = channels / groups;
  }
};

struct Conv {
  Gpu* gpu;
  Way way;
  std::shared_ptr<Plans> plans;
  WindowAttrs attrs;

  // Sizes may be those of the two sides only.
  Shape image_shape(KernelContext& c) const {
    if (way != Way::kInput) return c.input(0).shape();
    const auto given = host_ints(c.input(0));
    if (given.size() != 2 || c.input(1).rank() != 4 || c.input(2).rank() != 4) return Shape(given);
    const int64_t batch = c.input(2).dim(0), depth = c.input(1).dim(2);
    return attrs.channels_first() ? Shape{batch, depth, given[0], given[1]}
                                  : Shape{batch, given[0], given[1], depth};
  }
  void run_direct(KernelContext& c, const Plan& p, const Shape& image, const Shape& filter,
                  Tensor& out) const {
    Volume v(attrs, image, filter.dims().first(2));
    v.set_result_channels(p.out_channels, attrs.channels_first());
    const Direct d(v, p);
    const int64_t n = out.num_elements();
    const char* const name = way == Way::kForward ? "direct_forward"
                             : way == Way::kInput ? "direct_to_input" : "direct_to_filter";
    const CUfunction f =
        gpu->jit().get("direct", fmt::format("{}<{}>", name, device_type(out.dtype())));
    launch_kernel(*gpu, f, grid_for(*gpu, n), out.raw(), c.input(way == Way::kInput ? 1 : 0).raw(),
                  c.input(way == Way::kForward ? 1 : 2).raw(), n, d);
  }
  void operator()(KernelContext& c) const {
    // (input, filter), (input sizes, filter, dy), (input, filter sizes, dy)
    const Shape image = image_shape(c);
    const Shape filter = way == Way::kFilter ? Shape(host_ints(c.input(1))) : c.input(1).shape();
    const Plan& p = plans->get(image, filter);
    const Shape result = p.w.image_shape(p.w.out, p.out_channels);
    Tensor& out = c.output(0, way == Way::kForward ? result : way == Way::kInput ? image : filter);
    if (out.num_elements() == 0) return;
    if (way != Way::kForward && !(c.input(2).shape() == result))
      throw invalid_argument(fmt::format("Size of out_backprop doesn't match computed: {} vs. {}",
                                         c.input(2).shape().str(), result.str()));
    if (image.num_elements() == 0 || filter.num_elements() == 0)
      return check(cudaMemsetAsync(out.raw(), 0, out.bytes(), gpu->stream()), "filling");
    if (p.direct) return run_direct(c, p, image, filter, out);
    if (p.product) {
      // What meets what: x and the filter, dy and the filter, x and dy.
      const void* const a = c.input(way == Way::kInput ? 2 : 0).raw();
      const void* const b = c.input(way == Way::kFilter ? 2 : 1).raw();
      return plans->multiply(p, &batch_product, out.raw(), a, b);
    }
    Run run(*gpu, p, *plans, filter, out.dtype());
    if (way == Way::kForward) run.forward(c.input(0).raw(), c.input(1).raw(), out.raw());
    else if (way == Way::kInput) run.to_input(c.input(1).raw(), c.input(2).raw(), out.raw());
    else run.to_filter(c.input(0).raw(), c.input(2).raw(), out.raw());
  }
};

template <Way kWay, bool kDepthwise>
Prepared make_conv(const KernelInit& init) {
  Gpu& gpu = gpu_of(*init.device);
  auto plans = std::make_shared<Plans>(gpu, init.type("T"), kWay, Window(init), kDepthwise);
  if (init.static_shapes() && init.output_shapes[0].num_elements() > 0) {
    const Shape& image = kWay == Way::kInput ? init.output_shapes[0] : init.input_shapes[0];
    const Shape& filter = kWay == Way::kFilter ? init.output_shapes[0] : init.input_shapes[1];
    if (image.num_elements() > 0 && filter.num_elements() > 0) plans->get(image, filter, true);
  }
  return prepared(Conv{&gpu, kWay, std::move(plans),
                       WindowAttrs(*init.attrs, 2, init.op->name.c_str())});
}

}  // namespace

std::vector<KernelRow> conv_kernels() {
  const TypeConstraint floats{"T", kFloats};
  const TypeConstraint whole{"T", {DType::kInt32}};
  return {cuda_row("Conv2D", make_conv<Way::kForward, false>, {floats}),
          cuda_row("Conv2D", make_conv<Way::kForward, false>, {whole}),
          cuda_row("Conv2DBackpropInput", make_conv<Way::kInput, false>, {floats}),
          cuda_row("Conv2DBackpropInput", make_conv<Way::kInput, false>, {whole}),
          cuda_row("Conv2DBackpropFilter", make_conv<Way::kFilter, false>, {floats}),
          cuda_row("DepthwiseConv2dNative", make_conv<Way::kForward, true>, {floats}),
          cuda_row("DepthwiseConv2dNativeBackpropInput", make_conv<Way::kInput, true>, {floats}),
          cuda_row("DepthwiseConv2dNativeBackpropFilter", make_conv<Way::kFilter, true>, {floats})};
}

}  // namespace emplace::cuda
