// Numbers of few bits that stand for reals: to them and back.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "backends/cpu/imported_kernels.h"
#include "backends/cpu/indices.h"
#include "backends/cpu/loops.h"
#include "backends/cpu/move.h"
#include "backends/cpu/quantized.h"
#include "backends/cpu/visit.h"

namespace emplace::cpu {
namespace {

enum class Mode { kMinCombined, kMinFirst, kScaled };

Mode mode_of(const KernelInit& init) {
  const auto& name = init.attr<std::string>("mode");
  return name == "MIN_COMBINED" ? Mode::kMinCombined
         : name == "MIN_FIRST"  ? Mode::kMinFirst
                                : Mode::kScaled;
}

// Calls f with the type that numbers of a quantized dtype are stored as.
template <class F>
void visit_quantized(DType dtype, F&& f) {
  visit_dtype(stored_as(dtype), Types<int8_t, uint8_t, int16_t, uint16_t, int32_t>{}, f);
}

template <class T>
constexpr float kLow = static_cast<float>(std::numeric_limits<T>::lowest());
template <class T>
constexpr float kHigh = static_cast<float>(std::numeric_limits<T>::max());
// What signed numbers are moved by, to start at zero.
template <class T>
constexpr float kHalf = std::is_signed_v<T>
    ? (static_cast<float>(kHigh<T> - kLow<T>) + 1) / 2.0f : 0.0f;
template <class T>
constexpr double kSteps = static_cast<double>(int64_t{1} << (sizeof(T) * 8));

// Keeps what a float can't hold apart from a number's edge.
template <class T>
T narrowed_to(double v) {
  return static_cast<T>(std::clamp(v, static_cast<double>(std::numeric_limits<T>::lowest()),
                                   static_cast<double>(std::numeric_limits<T>::max())));
}

struct Range {
  float low, high;
};

// Where slices along an axis lie: element i belongs to slice (i / inner) % count.
struct Slices {
  int64_t inner = 1, count = 1;
  Slices(const Tensor& in, int64_t axis, const Tensor& low, const Tensor& high) {
    if (axis >= in.rank())
      throw invalid_argument(fmt::format("Axis must be less than input dimension({}), got {}",
                                         in.rank(), axis));
    if (axis >= 0) {
      count = in.dim(static_cast<int>(axis));
      inner = dims_product(in.shape(), static_cast<int>(axis) + 1, in.rank());
    }
    for (const Tensor* t : {&low, &high})
      if (axis < 0 ? t->num_elements() != 1 : t->rank() != 1 || t->dim(0) != count)
        throw invalid_argument(fmt::format(
            "a range must have {}, not shape {}",
            axis < 0 ? "one element" : "one for each place of the axis", t->shape().str()));
  }
  // f(slice, first element, how many)
  template <class F>
  void each(int64_t elements, F&& f) const {
    if (count == 1) return f(0, 0, elements);
    for (int64_t at = 0, k = 0; at < elements; at += inner, ++k) f(k % count, at, inner);
  }
};

struct Quantize {
  Mode mode;
  bool to_even, narrow;
  int64_t axis;
  float least_range;

  Range widened(float low, float high) const {
    if (!(low <= high))
      throw invalid_argument("input_max_range must be larger than input_min_range.");
    const float nudge = std::max(1.0f, std::max(std::abs(low), std::abs(high))) * least_range;
    Range r{std::min(0.0f, low), 0};
    r.high = std::max(0.0f, std::max(high, r.low + nudge));
    return r;
  }

  void operator()(KernelContext& c) const {
    const Tensor &in = c.input(0), &low = c.input(1), &high = c.input(2);
    if (axis < -1) throw invalid_argument(fmt::format("Axis must be at least -1. Found {}", axis));
    const Slices slices(in, axis, low, high);
    Tensor& out = c.output(0, in.shape());
    const Shape ranges = axis < 0 ? Shape{} : Shape{slices.count};
    Tensor &out_low = c.output(1, ranges), &out_high = c.output(2, ranges);
    std::vector<Range> each;
    for (int64_t k = 0; k < slices.count; ++k)
      each.push_back(widened(low.data<float>()[k], high.data<float>()[k]));
    visit_quantized(out.dtype(), [&](auto tag) {
      using T = typename decltype(tag)::type;
      if (mode == Mode::kScaled) for (Range& r : each) scale<T>(r);
      slices.each(in.num_elements(), [&](int64_t k, int64_t first, int64_t n) {
        run(in.data<float>() + first, out.data<T>() + first, n, each[static_cast<size_t>(k)]);
      });
    });
    for (int64_t k = 0; k < slices.count; ++k) {
      out_low.data<float>()[k] = each[static_cast<size_t>(k)].low;
      out_high.data<float>()[k] = each[static_cast<size_t>(k)].high;
    }
  }

  template <class T>
  float lowest() const { return kLow<T> + (narrow ? 1 : 0); }

  // The widest range around zero that one factor maps into T.
  template <class T>
  void scale(Range& r) const {
    constexpr float kMost = std::numeric_limits<float>::max();
    const float from_low = lowest<T>() * r.low > 0 ? lowest<T>() / r.low : kMost;
    const float from_high = kHigh<T> * r.high > 0 ? kHigh<T> / r.high : kMost;
    const float factor = std::min(from_low, from_high);
    r = {lowest<T>() / factor, kHigh<T> / factor};
  }

  template <class T>
  void run(const float* in, T* out, int64_t n, const Range& r) const {
    auto inside = [&](float x) { return std::max(std::min(x, r.high), r.low); };
    if (mode == Mode::kMinCombined) {
      const auto factor = static_cast<float>(
          (double{kHigh<T>} - double{kLow<T>}) / double{r.high - r.low});
      for (int64_t i = 0; i < n; ++i) {
        const float x = (inside(in[i]) - r.low) * factor;
        out[i] = narrowed_to<T>(std::is_signed_v<T> ? std::round(x - kHalf<T>) : x + 0.5f);
      }
    } else if (mode == Mode::kMinFirst) {
      const double range = (double{r.high} - double{r.low}) * (kSteps<T> / (kSteps<T> - 1.0));
      const auto factor = static_cast<float>(kSteps<T> / range);
      const float start = std::round(r.low * factor);
      for (int64_t i = 0; i < n; ++i)
        out[i] = narrowed_to<T>(double{std::round(in[i] * factor) - (start - kLow<T>)});
    } else {
      const float factor = kHigh<T> / r.high;
      for (int64_t i = 0; i < n; ++i) {
        const float x = inside(in[i]) * factor;
        out[i] = narrowed_to<T>(to_even ? std::nearbyint(x) : std::round(x));
      }
    }
  }
};

Prepared make_quantize(const KernelInit& init) {
  Quantize q{mode_of(init), init.attr<std::string>("round_mode") == "HALF_TO_EVEN",
             init.attr<bool>("narrow_range"), init.attr<int64_t>("axis"),
             init.attr<float>("ensure_minimum_range")};
  if (q.to_even && q.mode != Mode::kScaled)
    throw invalid_argument(
        "Round mode 'HALF_TO_EVEN' only supported for mode 'SCALED', but mode is '" +
        init.attr<std::string>("mode") + "'.");
  return prepared(q);
}

struct Dequantize {
  Mode mode;
  bool narrow;
  int64_t axis;

  void operator()(KernelContext& c) const {
    const Tensor &in = c.input(0), &low = c.input(1), &high = c.input(2);
    if (axis < -1) throw invalid_argument(fmt::format("Axis must be at least -1. Found {}", axis));
    const Slices slices(in, axis, low, high);
    Tensor& out = c.output(0, in.shape());
    visit_quantized(in.dtype(), [&](auto tag) {
      using T = typename decltype(tag)::type;
      slices.each(in.num_elements(), [&](int64_t k, int64_t first, int64_t n) {
        const Range r{low.data<float>()[k], high.data<float>()[k]};
        const auto real = real_of<T>(r);
        for (int64_t i = first; i < first + n; ++i) {
          const float x = real(in.data<T>()[i]);
          if (out.dtype() == DType::kFloat) out.data<float>()[i] = x;
          else out.data<Bfloat16>()[i] = Bfloat16(x);
        }
      });
    });
  }

  // real = base + (number + shift) * factor
  template <class T>
  struct Real {
    float base, factor;
    double shift;
    float operator()(T v) const {
      return static_cast<float>(static_cast<double>(v) + shift) * factor + base;
    }
  };
  template <class T>
  Real<T> real_of(const Range& r) const {
    if (mode == Mode::kMinCombined)
      return {r.low, (r.high - r.low) / (kHigh<T> - kLow<T>), double{kHalf<T>}};
    if (mode == Mode::kMinFirst) {
      const auto factor = static_cast<float>(double{r.high - r.low} / (kSteps<T> - 1.0));
      const float base = factor == 0 ? r.low : std::round(r.low / factor) * factor;
      return {base, factor, -static_cast<double>(std::numeric_limits<T>::lowest())};
    }
    const float lowest = kLow<T> + (narrow ? 1 : 0);
    const float factor = std::is_signed_v<T> ? std::max(r.low / lowest, r.high / kHigh<T>)
                                             : r.high / kHigh<T>;
    return {0, factor, 0};
  }
};

Prepared make_dequantize(const KernelInit& init) {
  if (init.type("dtype") != DType::kFloat && mode_of(init) != Mode::kMinCombined)
    throw invalid_argument("When output type is bfloat16, only mode 'MIN_COMBINED' is supported.");
  return prepared(Dequantize{mode_of(init), init.attr<bool>("narrow_range"),
                             init.attr<int64_t>("axis")});
}

// Through QuantizeAndDequantizeV4: as it is within the range, nothing outside, nothing to the
// range.
struct Back {
  int64_t axis;
  void operator()(KernelContext& c) const {
    const Tensor &gradient = c.input(0), &in = c.input(1), &low = c.input(2), &high = c.input(3);
    if (axis < -1) throw invalid_argument(fmt::format("Axis should be >= -1. Found {}", axis));
    if (!(gradient.shape() == in.shape()))
      throw invalid_argument(fmt::format("gradient must be the same shape as input: {} {}",
                                         gradient.shape().str(), in.shape().str()));
    const Slices slices(in, axis, low, high);
    Tensor& out = c.output(0, in.shape());
    for (int i : {1, 2}) {
      Tensor& range = c.output(i, c.input(i + 1).shape());
      std::memset(range.raw(), 0, range.bytes());
    }
    visit_dtype(in.dtype(), Floats{}, [&](auto tag) {
      using T = typename decltype(tag)::type;
      const auto value = [](const Tensor& t, int64_t i) {
        return static_cast<Compute<T>>(t.data<T>()[i]);
      };
      slices.each(in.num_elements(), [&](int64_t k, int64_t first, int64_t n) {
        const auto from = value(low, k), to = value(high, k);
        for (int64_t i = first; i < first + n; ++i) {
          const bool inside = value(in, i) >= from && value(in, i) <= to;
          out.data<T>()[i] = inside ? gradient.data<T>()[i] : T(0.0f);
        }
      });
    });
  }
};
Prepared make_back(const KernelInit& init) { return prepared(Back{init.attr<int64_t>("axis")}); }

}  // namespace

std::vector<KernelRow> quantized_kernels() {
  return {
      {"QuantizeV2", "CPU", {{"T", quantized_types()}}, {}, make_quantize, {}, 0, ""},
      {"Dequantize",
       "CPU",
       {{"T", quantized_types()}, {"dtype", {DType::kFloat, DType::kBfloat16}}},
       {},
       make_dequantize,
       {},
       0,
       ""},
      {"QuantizeAndDequantizeV4Grad", "CPU", {{"T", Floats::dtypes()}}, {}, make_back, {}, 0, ""}};
}

}  // namespace emplace::cpu
