// Colours: other spaces, contrast, hue, saturation.
#include <cmath>

#include <fmt/format.h>

#include "backends/cpu/layout.h"
#include "backends/cpu/loops.h"
#include "backends/cpu/nets_kernels.h"

namespace emplace::cpu {
namespace {

template <class T>
struct Color {
  T x, y, z;
};

template <class T>
Color<T> to_hsv(const Color<T>& c) {
  const auto [r, g, b] = c;
  const T high = std::max({r, g, b}), range = high - std::min({r, g, b});
  T hue = 0;
  if (range > 0) {
    const T norm = T(1) / (T(6) * range);
    if (high == r)
      hue = norm * (g - b);
    else if (high == g)
      hue = norm * (b - r) + T(2) / T(6);
    else
      hue = norm * (r - g) + T(4) / T(6);
    if (hue < 0) hue += 1;
  }
  return {hue, high > 0 ? range / high : T(0), high};
}

template <class T>
Color<T> to_rgb(const Color<T>& c) {
  const auto [h, s, v] = c;
  auto ramp = [](T x) { return std::clamp(x, T(0), T(1)); };
  const T r = ramp(std::abs(h * 6 - 3) - 1), g = ramp(2 - std::abs(h * 6 - 2)),
          b = ramp(2 - std::abs(h * 6 - 4));
  return {(1 - s + s * r) * v, (1 - s + s * g) * v, (1 - s + s * b) * v};
}

// The hue moved by `delta` of the circle: the least and the greatest channel keep their values, bit for bit, and
// change places.
template <class T>
Color<T> turned(const Color<T>& c, T delta) {
  const T low = std::min({c.x, c.y, c.z}), high = std::max({c.x, c.y, c.z});
  T hue = to_hsv(c).x + delta;
  hue = (hue - std::floor(hue)) * 6;
  const int sector = std::min(static_cast<int>(hue), 5);
  const T along = hue - static_cast<T>(sector);
  const T middle = low + (sector % 2 == 0 ? along : 1 - along) * (high - low);
  switch (sector) {
    case 0: return {high, middle, low};
    case 1: return {middle, high, low};
    case 2: return {low, high, middle};
    case 3: return {low, middle, high};
    case 4: return {middle, low, high};
    default: return {high, low, middle};
  }
}

// Every three neighbours as a colour.
template <class F>
void for_colors(KernelContext& c, const Tensor& in, Tensor& result, F&& f) {
  const Tensor x = widened(c, in);
  WideOutput y(c, result, false);
  visit_dtype(x.dtype(), Types<float, double>{}, [&](auto tag) {
    using T = typename decltype(tag)::type;
    c.parallel_for(x.num_elements() / 3, 20, [&](int64_t b, int64_t e) {
      for (int64_t i = b * 3; i < e * 3; i += 3) {
        const T* p = x.data<T>() + i;
        const Color<T> to = f(Color<T>{p[0], p[1], p[2]});
        T* q = y.tensor().data<T>() + i;
        q[0] = to.x, q[1] = to.y, q[2] = to.z;
      }
    });
  });
  y.finish();
}

template <bool kToHsv>
void convert(KernelContext& c) {
  const Tensor& in = c.input(0);
  if (in.rank() < 1) throw invalid_argument("input must be at least 1D" + in.shape().str());
  const int64_t channels = in.dim(in.rank() - 1);
  if (channels != 3)
    throw Error(
        Code::kFailedPrecondition,
        fmt::format("input must have 3 channels but input only has {} channels.", channels));
  Tensor& out = c.output(0, in.shape());
  for_colors(c, in, out, [](const auto& color) {
    if constexpr (kToHsv)
      return to_hsv(color);
    else
      return to_rgb(color);
  });
}

float factor_of(const Tensor& t, const char* what) {
  if (t.rank() != 0)
    throw invalid_argument(fmt::format("{} must be scalar: {}", what, t.shape().str()));
  return *t.data<float>();
}
void check_image(const Tensor& t) {
  if (t.rank() < 3)
    throw invalid_argument("input must be at least 3-D, got shape" + t.shape().str());
}
void check_colors(const Tensor& t) {
  check_image(t);
  if (t.dim(t.rank() - 1) != 3)
    throw invalid_argument(fmt::format("input must have 3 channels but instead has {} channels.",
                                       t.dim(t.rank() - 1)));
}

void adjust_hue(KernelContext& c) {
  const Tensor& in = c.input(0);
  check_colors(in);
  const float delta = factor_of(c.input(1), "delta");
  for_colors(c, in, c.output(0, in.shape()), [&](auto color) {
    return turned(color, static_cast<decltype(color.x)>(delta));
  });
}

void adjust_saturation(KernelContext& c) {
  const Tensor& in = c.input(0);
  check_colors(in);
  const float scale = factor_of(c.input(1), "scale");
  for_colors(c, in, c.output(0, in.shape()), [&](auto color) {
    using T = decltype(color.x);
    auto hsv = to_hsv(color);
    hsv.y = std::clamp(hsv.y * static_cast<T>(scale), T(0), T(1));
    return to_rgb(hsv);
  });
}

using ContrastTypes = Types<uint8_t, int8_t, int16_t, int32_t, float, double>;

// x[i] belongs to sum i % period; so many at once as vectors like.
void sum_by_channel(const float* x, int64_t n, int64_t period, double* sums) {
  int64_t i = 0;
  for (; i + period <= n; i += period)
    for (int64_t k = 0; k < period; ++k) sums[k] += static_cast<double>(x[i + k]);
  for (int64_t k = 0; i + k < n; ++k) sums[k] += static_cast<double>(x[i + k]);
}

struct Stretch {
  float factor, low, high;
};
void stretch_by_channel(const float* x, int64_t n, int64_t period, const float* means,
                        const Stretch& by, float* y) {
  const auto one = [&by](float v, float m) {
    return std::min(std::max((v - m) * by.factor + m, by.low), by.high);
  };
  int64_t i = 0;
  for (; i + period <= n; i += period)
    for (int64_t k = 0; k < period; ++k) y[i + k] = one(x[i + k], means[k]);
  for (int64_t k = 0; i + k < n; ++k) y[i + k] = one(x[i + k], means[k]);
}

// Distances from each channel's mean over one image, scaled; what leaves the range stops at its end.
void stretch(KernelContext& c, const Tensor& x, Tensor& y, float low, float high) {
  const float factor = factor_of(c.input(1), "contrast_factor");
  const int rank = x.rank();
  const int64_t n = x.dim(rank - 1), pixels = x.dim(rank - 2) * x.dim(rank - 3);
  const int64_t images = x.num_elements() / (n * pixels);
  const auto add = best<sum_by_channel>();
  const auto move = best<stretch_by_channel>();
  const int64_t period = n * std::max<int64_t>(1, 48 / n);  // the channels again and again
  c.parallel_for(images, static_cast<double>(n * pixels), [&](int64_t b, int64_t e) {
    std::vector<double> sums(static_cast<size_t>(period));
    std::vector<float> means(static_cast<size_t>(period));
    for (int64_t k = b; k < e; ++k) {
      const float* from = x.data<float>() + k * n * pixels;
      float* to = y.data<float>() + k * n * pixels;
      std::fill(sums.begin(), sums.end(), 0.0);
      add(from, n * pixels, period, sums.data());
      for (size_t p = 0; p < sums.size(); ++p) {
        const size_t channel = p % static_cast<size_t>(n);
        if (p != channel) sums[channel] += sums[p];
      }
      for (size_t p = 0; p < means.size(); ++p)
        means[p] = static_cast<float>(sums[p % static_cast<size_t>(n)] / static_cast<double>(pixels));
      move(from, n * pixels, period, means.data(), {factor, low, high}, to);
    }
  });
}

void adjust_contrast(KernelContext& c) {
  const Tensor& in = c.input(0);
  check_image(in);
  Tensor& out = c.output(0, in.shape());
  if (in.num_elements() == 0) return;
  const Tensor x = widened(c, in);
  WideOutput y(c, out, false);
  constexpr float kEnd = std::numeric_limits<float>::infinity();
  stretch(c, x, y.tensor(), -kEnd, kEnd);
  y.finish();
}

// Of any numbers, as floats, kept in a range.
void adjust_contrast_v1(KernelContext& c) {
  const Tensor& in = c.input(0);
  check_image(in);
  const float low = factor_of(c.input(2), "min_value"), high = factor_of(c.input(3), "max_value");
  Tensor& out = c.output(0, in.shape());
  if (in.num_elements() == 0) return;
  Tensor x = c.temp(DType::kFloat, in.shape());
  visit_dtype(in.dtype(), ContrastTypes{}, [&](auto tag) {
    using T = typename decltype(tag)::type;
    std::transform(in.data<T>(), in.data<T>() + in.num_elements(), x.data<float>(),
                   [](T v) { return static_cast<float>(v); });
  });
  stretch(c, x, out, low, high);
}

}  // namespace

std::vector<KernelRow> color_kernels() {
  using enum DType;
  auto row = [](const char* op, std::vector<DType> types, KernelFactory f) {
    return KernelRow{op, "CPU", {{"T", std::move(types)}}, {}, f, {}, 0, ""};
  };
  return {row("RGBToHSV", Floats::dtypes(), stateless<convert<true>>),
          row("HSVToRGB", Floats::dtypes(), stateless<convert<false>>),
          row("AdjustHue", {kFloat, kHalf}, stateless<adjust_hue>),
          row("AdjustSaturation", {kFloat, kHalf}, stateless<adjust_saturation>),
          row("AdjustContrastv2", {kFloat, kHalf}, stateless<adjust_contrast>),
          row("AdjustContrast", ContrastTypes::dtypes(), stateless<adjust_contrast_v1>)};
}

}  // namespace emplace::cpu
