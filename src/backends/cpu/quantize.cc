// Numbers rounded as if they had been kept in few bits.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "backends/cpu/indices.h"
#include "backends/cpu/math.h"
#include "backends/cpu/imported_kernels.h"
#include "backends/cpu/move.h"
#include "backends/cpu/rows.h"
#include "base/stop_scope.h"

namespace emplace::cpu {
namespace {

// A range moved so that 0 is one of its steps.
struct Steps {
  float low, high, scale;

  Steps(float min, float max, int bits, bool narrow) {
    const auto first = narrow ? 1.0f : 0.0f, last = static_cast<float>((int64_t{1} << bits) - 1);
    scale = (max - min) / (last - first);
    const float zero = first - min / scale;
    const float nudged = zero < first ? first : zero > last ? last : std::round(zero);
    low = (first - nudged) * scale;
    high = (last - nudged) * scale;
  }
  float operator()(float x) const {
    const float inverse = 1.0f / scale, zero = std::floor(-low * inverse + 0.5f);
    const float shifted = std::max(std::min(x, high), low) - low;
    return std::floor(shifted * inverse - zero + 0.5f) * scale;
  }
  bool contains(float x) const { return x >= low && x <= high; }
};

struct FakeQuant {
  int bits = 0;
  bool narrow;
  float min = 0, max = 0;  // of the kind whose range is an attribute

  explicit FakeQuant(const KernelInit& init)
      : narrow(init.attr<bool>("narrow_range")) {
    const auto given = init.attr<int64_t>("num_bits");
    if (given < 2 || given > 16)
      throw invalid_argument(
          fmt::format("num_bits must be between 2 and 16, inclusive, not {}", given));
    bits = static_cast<int>(given);
    if (!init.find("min")) return;
    min = init.attr<float>("min");
    max = init.attr<float>("max");
    if (!(min < max))
      throw invalid_argument(
          fmt::format("min has to be smaller than max, was: {} >= {}", min, max));
  }
  static bool flat(float a, float b) { return a == 0 && b == 0; }
};

struct FixedRange : FakeQuant {
  void operator()(KernelContext& c) const {
    const Tensor& in = c.input(0);
    Tensor& out = c.output(0, in.shape());
    const Steps steps(min, max, bits, narrow);
    for (const int64_t i : paced(in.num_elements()))
      out.data<float>()[i] = steps(in.data<float>()[i]);
  }
};
struct FixedRangeGradient : FakeQuant {
  void operator()(KernelContext& c) const {
    const Tensor &gradient = c.input(0), &in = c.input(1);
    if (gradient.shape() != in.shape())
      throw invalid_argument("gradient and input must be the same size");
    Tensor& out = c.output(0, in.shape());
    const Steps steps(min, max, bits, narrow);
    for (const int64_t i : paced(in.num_elements()))
      out.data<float>()[i] = steps.contains(in.data<float>()[i]) ? gradient.data<float>()[i] : 0.0f;
  }
};

// One range for all, or one for each place of the last dimension.
struct Ranges {
  const Tensor &min, &max;
  int64_t count;
  Ranges(KernelContext& c, const Tensor& in, int first, bool channels)
      : min(c.input(first)),
        max(c.input(first + 1)),
        count(channels && in.rank() > 0 ? in.dim(in.rank() - 1) : 1) {
    if (min.num_elements() != count || max.num_elements() != count)
      throw invalid_argument(
          fmt::format("min and max have incorrect size, expected {} was {} and {}", count,
                      min.num_elements(), max.num_elements()));
  }
};

template <bool kChannels>
struct GivenRange : FakeQuant {
  void operator()(KernelContext& c) const {
    const Tensor& in = c.input(0);
    const Ranges ranges(c, in, 1, kChannels);
    Tensor& out = c.output(0, in.shape());
    for (int64_t k = 0; k < ranges.count; ++k) {
      const float a = ranges.min.data<float>()[k], b = ranges.max.data<float>()[k];
      const Steps steps(a, b, bits, narrow);
      for (int64_t i = k; i < in.num_elements(); i += ranges.count)
        out.data<float>()[i] = flat(a, b) ? 0.0f : steps(in.data<float>()[i]);
    }
  }
};
template <bool kChannels>
struct GivenRangeGradient : FakeQuant {
  void operator()(KernelContext& c) const {
    const Tensor &gradient = c.input(0), &in = c.input(1);
    if (gradient.shape() != in.shape())
      throw invalid_argument("gradient and input must be the same size");
    const Ranges ranges(c, in, 2, kChannels);
    Tensor& out = c.output(0, in.shape());
    const Shape one = kChannels ? Shape{ranges.count} : Shape{};
    Tensor &below = c.output(1, one), &above = c.output(2, one);
    for (int64_t k = 0; k < ranges.count; ++k) {
      const float a = ranges.min.data<float>()[k], b = ranges.max.data<float>()[k];
      const Steps steps(a, b, bits, narrow);
      double low = 0, high = 0;
      for (int64_t i = k; i < in.num_elements(); i += ranges.count) {
        const float x = in.data<float>()[i], g = gradient.data<float>()[i];
        out.data<float>()[i] = flat(a, b) || steps.contains(x) ? g : 0.0f;
        if (!flat(a, b) && x < steps.low) low += g;
        if (!flat(a, b) && x > steps.high) high += g;
      }
      below.data<float>()[k] = static_cast<float>(low);
      above.data<float>()[k] = static_cast<float>(high);
    }
  }
};

template <class State>
Prepared make_fake(const KernelInit& init) {
  return prepared(State{FakeQuant(init)});
}

// ---- There and back.

struct AndBack {
  bool is_signed, range_given, narrow, half_up, bits_input;
  int64_t bits, axis;

  void operator()(KernelContext& c) const {
    const Tensor& in = c.input(0);
    const int64_t width = bits_input ? int_scalar(c.input(3), "num_bits") : bits;
    if (width < 1 || width > 62)
      throw invalid_argument(
          fmt::format("num_bits is out of range: {} with signed_input_ {}", width, is_signed));
    if (axis < -1 || axis >= in.rank())
      throw invalid_argument(
          fmt::format("Axis should be at least -1 and less than {}, not {}", in.rank(), axis));
    Tensor& out = c.output(0, in.shape());
    const int64_t channels = axis < 0 ? 1 : in.dim(static_cast<int>(axis));
    for (int i : {1, 2})
      if (range_given && c.input(i).num_elements() != channels)
        throw invalid_argument("input_min and input_max must have a number for each channel");
    const int64_t inner = axis < 0
                              ? in.num_elements()
                              : dims_product(in.shape(), static_cast<int>(axis) + 1, in.rank());
    visit_dtype(in.dtype(), Floats{}, [&](auto tag) {
      using T = typename decltype(tag)::type;
      for (int64_t k = 0; k < channels; ++k) channel<T>(c, in, out, width, k, channels, inner);
    });
  }

  template <class T>
  void channel(KernelContext& c, const Tensor& in, Tensor& out, int64_t width, int64_t k,
               int64_t channels, int64_t inner) const {
    using C = Compute<T>;
    auto each = [&](auto f) {
      for (int64_t begin = k * inner; begin < in.num_elements(); begin += channels * inner)
        for (int64_t i = begin; i < begin + inner; ++i) f(i);
    };
    C low = 0, high = 0;
    if (range_given) {
      low = static_cast<C>(c.input(1).data<T>()[k]);
      high = static_cast<C>(c.input(2).data<T>()[k]);
      if (!(low <= high)) throw invalid_argument("Invalid range: input_min > input_max");
    } else {
      low = std::numeric_limits<C>::max();
      high = std::numeric_limits<C>::lowest();
      each([&](int64_t i) {
        const C x = static_cast<C>(in.data<T>()[i]);
        low = std::min(low, x);
        high = std::max(high, x);
      });
    }
    const auto steps = static_cast<C>(int64_t{1} << (width - (is_signed ? 1 : 0)));
    const C first = is_signed ? (narrow ? -(steps - 1) : -steps) : C{0}, last = steps - 1;
    const C none = std::numeric_limits<C>::max();
    const C from_low = first * low > 0 ? first / low : none,
            from_high = last * high > 0 ? last / high : none;
    C scale, inverse;
    if (from_low < from_high) {
      scale = from_low;
      inverse = low / first;
      high = last * inverse;
    } else {
      scale = from_high;
      inverse = high / last;
      low = first * inverse;
    }
    each([&](int64_t i) {
      C x = static_cast<C>(in.data<T>()[i]);
      if (range_given) x = std::max(std::min(x, high), low);
      const C rounded = half_up ? std::floor(x * scale + C{0.5}) : std::rint(x * scale);
      out.data<T>()[i] = static_cast<T>(rounded * inverse);
    });
  }
};

Prepared make_and_back(const KernelInit& init) {
  const bool bits_input = init.op->name == "QuantizeAndDequantizeV3";
  return prepared(AndBack{init.attr<bool>("signed_input"), init.attr<bool>("range_given"),
                          init.attr<bool>("narrow_range"),
                          !bits_input && init.attr<std::string>("round_mode") == "HALF_UP",
                          bits_input, bits_input ? 0 : init.attr<int64_t>("num_bits"),
                          init.attr<int64_t>("axis")});
}

}  // namespace

std::vector<KernelRow> quantize_kernels() {
  return {row("FakeQuantWithMinMaxArgs", make_fake<FixedRange>),
          row("FakeQuantWithMinMaxArgsGradient", make_fake<FixedRangeGradient>),
          row("FakeQuantWithMinMaxVars", make_fake<GivenRange<false>>),
          row("FakeQuantWithMinMaxVarsGradient", make_fake<GivenRangeGradient<false>>),
          row("FakeQuantWithMinMaxVarsPerChannel", make_fake<GivenRange<true>>),
          row("FakeQuantWithMinMaxVarsPerChannelGradient", make_fake<GivenRangeGradient<true>>),
          row("QuantizeAndDequantizeV2", make_and_back),
          row("QuantizeAndDequantizeV3", make_and_back),
          row("QuantizeAndDequantizeV4", make_and_back)};
}

}  // namespace emplace::cpu
