// Windows of pictures around given places; what lies outside is noise or zero.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "backends/cpu/imported_kernels.h"
#include "backends/cpu/move.h"
#include "backends/cpu/random.h"
#include "base/stop_scope.h"

namespace emplace::cpu {
namespace {

enum class Noise { kUniform, kGaussian, kZero };

struct Glimpse {
  bool centered, normalized, first_version;
  Noise noise;

  // Where a window of `size` begins; the first version halves all places alike.
  int64_t start(float at, int64_t picture, int64_t size) const {
    const auto whole = static_cast<float>(picture), half = static_cast<float>(size) / 2.0f;
    if (normalized) at *= whole;
    if (first_version) {
      if (centered) at = at / 2.0f + whole / 2.0f;
      at -= half;
    } else if (centered && normalized) {
      at = at / 2.0f + whole / 2.0f - half;
    } else if (centered) {
      at += whole / 2.0f;
    }
    if (!(std::abs(at) < 1e9f)) return static_cast<int64_t>(1e9);  // far outside
    return static_cast<int64_t>(at);
  }

  void operator()(KernelContext& c) const {
    const Tensor &in = c.input(0), &size = c.input(1), &places = c.input(2);
    if (in.rank() != 4) throw invalid_argument("input must be 4-dimensional" + in.shape().str());
    if (size.rank() != 1 || size.num_elements() != 2)
      throw invalid_argument("input must be a vector of size 2, " + size.shape().str());
    if (places.rank() != 2 || places.dim(1) != 2 || places.dim(0) != in.dim(0))
      throw invalid_argument("offsets must be a matrix with a row of two for each picture, not " +
                             places.shape().str());
    const int64_t height = size.data<int32_t>()[0], width = size.data<int32_t>()[1];
    if (height <= 0 || width <= 0) throw invalid_argument("the glimpse must have a positive size");
    const int64_t dims[] = {in.dim(0), height, width, in.dim(3)};
    checked_elements(dims);
    Tensor& out = c.output(0, Shape(std::span<const int64_t>(dims)));
    for (const int64_t b : paced(in.dim(0)))
      one(in, b, start(places.data<float>()[b * 2], in.dim(1), height),
          start(places.data<float>()[b * 2 + 1], in.dim(2), width), out);
  }

  void one(const Tensor& in, int64_t b, int64_t top, int64_t left, Tensor& out) const {
    const int64_t rows = in.dim(1), columns = in.dim(2), depth = in.dim(3);
    const int64_t height = out.dim(1), width = out.dim(2);
    float* to = out.data<float>() + b * height * width * depth;
    const float* from = in.data<float>() + b * rows * columns * depth;
    if (top < 0 || left < 0 || top + height > rows || left + width > columns)
      fill(from, rows * columns, depth, to, height * width);
    const int64_t first = std::clamp<int64_t>(-left, 0, width);
    const int64_t last = std::clamp<int64_t>(columns - left, first, width);
    for (int64_t y = std::max<int64_t>(0, -top); y < std::min(height, rows - top); ++y)
      std::copy_n(from + ((top + y) * columns + left + first) * depth, (last - first) * depth,
                  to + (y * width + first) * depth);
  }

  // Of the kind that the picture's own values have, channel by channel.
  void fill(const float* from, int64_t pixels, int64_t depth, float* to, int64_t count) const {
    if (noise == Noise::kZero) return std::fill_n(to, count * depth, 0.0f), void();
    std::mt19937 random(std::random_device{}());
    for (int64_t d = 0; d < depth; ++d) {
      float low = 0, high = 0;
      double sum = 0, squares = 0;
      for (int64_t i = 0; i < pixels; ++i) {
        const float v = from[i * depth + d];
        low = i ? std::min(low, v) : v;
        high = i ? std::max(high, v) : v;
        sum += v;
        squares += double{v} * v;
      }
      const double n = static_cast<double>(std::max<int64_t>(pixels, 1)), mean = sum / n;
      const auto spread = static_cast<float>(std::sqrt(std::max(0.0, squares / n - mean * mean)));
      std::uniform_real_distribution<float> uniform(0, 1);
      std::normal_distribution<float> normal;
      for (int64_t i = 0; i < count; ++i)
        to[i * depth + d] = noise == Noise::kUniform
                                ? low + uniform(random) * (high - low)
                                : std::abs(static_cast<float>(mean) + normal(random) * spread);
    }
  }
};

Prepared make_glimpse(const KernelInit& init) {
  const auto& name = init.attr<std::string>("noise");
  const bool uniform = init.attr<bool>("uniform_noise");
  if (name != "uniform" && name != "gaussian" && name != "zero")
    throw invalid_argument(
        fmt::format("Invalid noise {}. Expected 'uniform', 'gaussian' or 'zero'.", name));
  if (uniform && name != "uniform")
    throw invalid_argument("The uniform_noise and noise should not be specified at the same time");
  const Noise noise = name == "uniform"    ? (uniform ? Noise::kUniform : Noise::kGaussian)
                      : name == "gaussian" ? Noise::kGaussian
                                           : Noise::kZero;
  return prepared(Glimpse{init.attr<bool>("centered"), init.attr<bool>("normalized"),
                          init.op->name == "ExtractGlimpse", noise});
}

}  // namespace

std::vector<KernelRow> glimpse_kernels() {
  return {{"ExtractGlimpse", "CPU", {}, {}, make_glimpse, {}, 0, ""},
          {"ExtractGlimpseV2", "CPU", {}, {}, make_glimpse, {}, 0, ""}};
}

}  // namespace emplace::cpu
