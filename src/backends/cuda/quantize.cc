// Numbers rounded as if they had been kept in few bits: device/quantize.cuh.
#include <fmt/format.h>

#include <cmath>

#include "backends/cuda/kernels.h"
#include "backends/cuda/launch.h"

namespace emplace::cuda {
namespace {

// Must look as device/quantize.cuh's does.
struct QuantSteps {
  float low = 0, high = 0, scale = 0;
  int32_t flat = 0;
  QuantSteps(float min, float max, int bits, bool narrow) {
    const float first = narrow ? 1.0f : 0.0f, last = static_cast<float>((int64_t{1} << bits) - 1);
    scale = (max - min) / (last - first);
    const float zero = first - min / scale;
    const float nudged = zero < first ? first : zero > last ? last : std::round(zero);
    low = (first - nudged) * scale;
    high = (last - nudged) * scale;
    flat = min == 0 && max == 0;
  }
};

// The range: attributes, or one in host memory for all, or for each channel.
struct FakeQuant {
  Gpu* gpu;
  CUfunction f, floats;
  int bits;
  bool narrow, gradient, channels, given;
  float min = 0, max = 0;

  void operator()(KernelContext& c) const {
    const Tensor& x = c.input(gradient ? 1 : 0);
    if (gradient && !(c.input(0).shape() == x.shape()))
      throw invalid_argument("gradient and input must be the same size");
    const int64_t count = channels && x.rank() > 0 ? x.dim(x.rank() - 1) : 1, n = x.num_elements();
    std::vector<QuantSteps> steps;
    if (!given) {
      steps.emplace_back(min, max, bits, narrow);
    } else {
      const Tensor &low = c.input(gradient ? 2 : 1), &high = c.input(gradient ? 3 : 2);
      if (low.num_elements() != count || high.num_elements() != count)
        throw invalid_argument(
            fmt::format("min and max have incorrect size, expected {} was {} and {}", count,
                        low.num_elements(), high.num_elements()));
      for (int64_t k = 0; k < count; ++k)
        steps.emplace_back(low.data<float>()[k], high.data<float>()[k], bits, narrow);
    }
    Tensor& out = c.output(0, x.shape());
    const size_t bytes = (steps.size() * sizeof(QuantSteps) + 15) / 16 * 16;
    const auto sums = static_cast<size_t>(2 * count) * sizeof(double);
    char* const work = static_cast<char*>(gpu->workspace(bytes + sums));
    check(cudaMemcpyAsync(work, steps.data(), steps.size() * sizeof(QuantSteps),
                          cudaMemcpyHostToDevice, gpu->stream()),
          "copying");
    if (!gradient) {
      if (n > 0) launch_kernel(*gpu, f, grid_for(*gpu, n), out.raw(), x.raw(), work, n, count);
      return;
    }
    char* const both = given ? work + bytes : nullptr;
    if (given) gpu->zero(both, sums);
    if (n > 0)
      launch_kernel(*gpu, f, grid_for(*gpu, n), out.raw(), both, c.input(0).raw(), x.raw(), work, n,
                    count);
    if (!given) return;
    const Shape one = channels ? Shape{count} : Shape{};
    for (int k = 0; k < 2; ++k)
      launch_kernel(*gpu, floats, grid_for(*gpu, count), c.output(k + 1, one).raw(),
                    both + static_cast<size_t>(k * count) * sizeof(double), count);
  }
};
Prepared make_fake_quant(const KernelInit& init) {
  Gpu& gpu = gpu_of(*init.device);
  const std::string& op = init.op->name;
  const bool gradient = op.ends_with("Gradient");
  const auto bits = init.attr<int64_t>("num_bits");
  if (bits < 2 || bits > 16)
    throw invalid_argument(
        fmt::format("num_bits must be between 2 and 16, inclusive, not {}", bits));
  FakeQuant q{&gpu,
              gpu.jit().get("quantize", gradient ? "fake_quant_grad" : "fake_quant"),
              gpu.jit().get("quantize", "to_floats"),
              static_cast<int>(bits),
              init.attr<bool>("narrow_range"),
              gradient,
              op.find("PerChannel") != std::string::npos,
              op.find("Vars") != std::string::npos};
  if (!q.given) {
    q.min = init.attr<float>("min");
    q.max = init.attr<float>("max");
    if (!(q.min < q.max))
      throw invalid_argument(
          fmt::format("min has to be smaller than max, was: {} >= {}", q.min, q.max));
  }
  return prepared(std::move(q));
}

struct AndBack {
  Gpu* gpu;
  CUfunction measure, round;
  int32_t flags;  // signed, narrow, half up, range given
  int64_t bits, axis;
  bool bits_input;
  void operator()(KernelContext& c) const {
    const Tensor& x = c.input(0);
    const int64_t width = bits_input ? host_ints(c.input(3)).at(0) : bits;
    if (width < 1 || width > 62)
      throw invalid_argument(
          fmt::format("num_bits is out of range: {} with signed_input_ {}", width, flags & 1));
    if (axis < -1 || axis >= x.rank())
      throw invalid_argument(
          fmt::format("Axis should be at least -1 and less than {}, not {}", x.rank(), axis));
    Tensor& out = c.output(0, x.shape());
    const int64_t n = x.num_elements();
    if (n == 0) return;
    const int64_t channels = axis < 0 ? 1 : x.dim(static_cast<int>(axis));
    int64_t inner = axis < 0 ? n : 1;
    for (int d = static_cast<int>(axis) + 1; axis >= 0 && d < x.rank(); ++d) inner *= x.dim(d);
    const bool given = flags & 8;
    const size_t size = dtype_size(x.dtype());
    char* const ranges =
        static_cast<char*>(gpu->workspace(static_cast<size_t>(2 * channels) * size));
    if (given) {
      for (int k : {1, 2}) {
        if (c.input(k).num_elements() != channels)
          throw invalid_argument("input_min and input_max must have a number for each channel");
        check(cudaMemcpyAsync(ranges + static_cast<size_t>((k - 1) * channels) * size,
                              c.input(k).raw(), c.input(k).bytes(), cudaMemcpyHostToDevice,
                              gpu->stream()),
              "copying");
      }
    } else {
      Grid g;
      g.x = static_cast<unsigned>(channels);
      launch_kernel(*gpu, measure, g, ranges, x.raw(), n / (channels * inner), channels, inner);
    }
    const auto steps = static_cast<double>(int64_t{1} << (width - (flags & 1)));
    launch_kernel(*gpu, round, grid_for(*gpu, n), out.raw(), x.raw(), ranges, n, channels, inner,
                  steps, flags);
  }
};
Prepared make_and_back(const KernelInit& init) {
  Gpu& gpu = gpu_of(*init.device);
  const bool bits_input = init.op->name == "QuantizeAndDequantizeV3";
  const bool half_up = !bits_input && init.attr<std::string>("round_mode") == "HALF_UP";
  const std::string t = std::string(device_type(init.type("T")));
  return prepared(AndBack{
      &gpu, gpu.jit().get("quantize", fmt::format("channel_ranges<{}>", t)),
      gpu.jit().get("quantize", fmt::format("there_and_back<{}>", t)),
      init.attr<bool>("signed_input") * 1 + init.attr<bool>("narrow_range") * 2 + half_up * 4 +
          init.attr<bool>("range_given") * 8,
      bits_input ? 0 : init.attr<int64_t>("num_bits"), init.attr<int64_t>("axis"), bits_input});
}

// (gradient, input, least, largest): as it is within the range, nothing outside, nothing to the range.
struct BackWithin {
  Gpu* gpu;
  CUfunction f;
  int64_t axis;
  void operator()(KernelContext& c) const {
    const Tensor &gradient = c.input(0), &x = c.input(1);
    if (axis < -1) throw invalid_argument(fmt::format("Axis should be >= -1. Found {}", axis));
    if (!(gradient.shape() == x.shape()))
      throw invalid_argument(fmt::format("gradient must be the same shape as input: {} {}",
                                         gradient.shape().str(), x.shape().str()));
    if (axis >= x.rank())
      throw invalid_argument(
          fmt::format("Axis must be less than input dimension({}), got {}", x.rank(), axis));
    const int64_t n = x.num_elements();
    const int64_t channels = axis < 0 ? 1 : x.dim(static_cast<int>(axis));
    int64_t inner = axis < 0 ? std::max<int64_t>(n, 1) : 1;
    for (int d = static_cast<int>(axis) + 1; axis >= 0 && d < x.rank(); ++d) inner *= x.dim(d);
    const size_t size = static_cast<size_t>(channels) * dtype_size(x.dtype());
    char* const ranges = static_cast<char*>(gpu->workspace(2 * size));
    Tensor& out = c.output(0, x.shape());
    for (int k : {1, 2}) {
      const Tensor& range = c.input(k + 1);
      if (range.num_elements() != channels || (axis >= 0 && range.rank() != 1))
        throw invalid_argument(fmt::format(
            "a range must have {}, not shape {}",
            axis < 0 ? "one element" : "one for each place of the axis", range.shape().str()));
      Tensor& none = c.output(k, range.shape());
      gpu->zero(none.raw(), none.bytes());
      if (size > 0)
        check(cudaMemcpyAsync(ranges + static_cast<size_t>(k - 1) * size, range.raw(), size,
                              cudaMemcpyHostToDevice, gpu->stream()),
              "copying");
    }
    if (n > 0)
      launch_kernel(*gpu, f, grid_for(*gpu, n), out.raw(), gradient.raw(), x.raw(), ranges, n,
                    channels, inner);
  }
};
Prepared make_back_within(const KernelInit& init) {
  Gpu& gpu = gpu_of(*init.device);
  return prepared(BackWithin{
      &gpu, gpu.jit().get("quantize", fmt::format("back_within<{}>", device_type(init.type("T")))),
      init.attr<int64_t>("axis")});
}

}  // namespace

std::vector<KernelRow> quantize_kernels() {
  std::vector<KernelRow> rows;
  for (const char* op :
       {"FakeQuantWithMinMaxArgs", "FakeQuantWithMinMaxArgsGradient", "FakeQuantWithMinMaxVars",
        "FakeQuantWithMinMaxVarsGradient", "FakeQuantWithMinMaxVarsPerChannel",
        "FakeQuantWithMinMaxVarsPerChannelGradient"})
    rows.push_back(cuda_row(op, make_fake_quant));
  for (const char* op :
       {"QuantizeAndDequantizeV2", "QuantizeAndDequantizeV3", "QuantizeAndDequantizeV4"})
    rows.push_back(cuda_row(op, make_and_back, {{"T", {DType::kFloat, DType::kDouble}}}));
  rows.push_back(cuda_row("QuantizeAndDequantizeV4Grad", make_back_within,
                          {{"T", {DType::kFloat, DType::kDouble}}}));
  for (KernelRow& row : rows) row.traits.replays = false;  // ranges come from the host's memory
  return rows;
}

}  // namespace emplace::cuda
