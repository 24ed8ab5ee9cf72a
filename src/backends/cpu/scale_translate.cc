// Pictures resampled with a filter: each output row and column is a weighted sum of some of the
// input's.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "backends/cpu/move.h"
#include "backends/cpu/imported_kernels.h"

namespace emplace::cpu {
namespace {

struct Filter {
  float radius;
  float (*weight)(float x, float radius);
};

float lanczos(float x, float radius) {
  x = std::abs(x);
  if (x > radius) return 0;
  if (x <= 1e-3f) return 1;
  const float pi = std::numbers::pi_v<float>;
  return radius * std::sin(pi * x) * std::sin(pi * x / radius) / (pi * pi * x * x);
}
float gaussian(float x, float radius) {
  x = std::abs(x);
  const float sigma = radius / 3.0f;
  return x >= radius ? 0.0f : std::exp(-x * x / (2 * sigma * sigma));
}
float box(float x, float) {
  x = std::abs(x);
  return x < 0.5f ? 1.0f : x == 0.5f ? 0.5f : 0.0f;
}
float triangle(float x, float) { return std::max(0.0f, 1.0f - std::abs(x)); }
float keys(float x, float) {
  x = std::abs(x);
  if (x >= 2) return 0;
  if (x >= 1) return ((-0.5f * x + 2.5f) * x - 4) * x + 2;
  return (1.5f * x - 2.5f) * x * x + 1;
}
float mitchell(float x, float) {
  x = std::abs(x);
  if (x >= 2) return 0;
  if (x >= 1) return ((-7.0f / 18 * x + 2) * x - 10.0f / 3) * x + 16.0f / 9;
  return (7.0f / 6 * x - 2) * x * x + 8.0f / 9;
}

Filter filter_named(const std::string& name) {
  if (name == "lanczos1") return {1, lanczos};
  if (name == "lanczos3") return {3, lanczos};
  if (name == "lanczos5") return {5, lanczos};
  if (name == "gaussian") return {1.5f, gaussian};
  if (name == "box") return {1, box};
  if (name == "triangle") return {1, triangle};
  if (name == "keyscubic") return {2, keys};
  if (name == "mitchellcubic") return {2, mitchell};
  throw invalid_argument("Unrecognized kernel type: " + name);
}

// What an output position is made of: inputs from `start` on with these weights.
struct Span {
  int64_t start = 0;
  std::vector<float> weights;
};

std::vector<Span> spans_of(const Filter& f, int64_t outputs, int64_t inputs, float scale,
                           float shift, bool antialias) {
  if (!(scale > 0)) throw invalid_argument("scale must be greater than zero.");
  const float inverse = 1.0f / scale, wide = antialias ? std::max(inverse, 1.0f) : 1.0f;
  std::vector<Span> spans(static_cast<size_t>(outputs));
  for (int64_t x = 0; x < outputs; ++x) {
    const float at = (static_cast<float>(x) + 0.5f) * inverse - inverse * shift;
    if (!(at >= 0) || at > static_cast<float>(inputs) || inputs == 0) continue;
    const auto last = static_cast<float>(inputs - 1);
    const auto begin =
        static_cast<int64_t>(std::clamp(std::ceil(at - f.radius * wide - 0.5f), 0.0f, last));
    const auto end =
        static_cast<int64_t>(std::clamp(std::floor(at + f.radius * wide - 0.5f), 0.0f, last));
    Span& span = spans[static_cast<size_t>(x)];
    span.start = begin;
    float total = 0;
    for (int64_t i = begin; i <= end; ++i) {
      span.weights.push_back(f.weight((static_cast<float>(i) + 0.5f - at) / wide, f.radius));
      total += span.weights.back();
    }
    if (std::abs(total) >= 1000 * std::numeric_limits<float>::min())
      for (float& w : span.weights) w /= total;
  }
  return spans;
}

struct Scale {
  Filter filter;
  bool antialias;

  static std::pair<float, float> two(const Tensor& t, const char* name) {
    if (t.rank() != 1 || t.num_elements() != 2)
      throw invalid_argument(fmt::format("{} must be a vector of 2 elements", name));
    return {t.data<float>()[0], t.data<float>()[1]};
  }
};

struct Forward : Scale {
  void operator()(KernelContext& c) const {
    const Tensor& in = c.input(0);
    if (in.rank() != 4) throw invalid_argument("input must be 4-dimensional" + in.shape().str());
    const std::vector<int64_t> size = int_values(c.input(1));
    if (size.size() != 2) throw invalid_argument("shape_t must have two elements");
    if (size[0] <= 0 || size[1] <= 0) throw invalid_argument("output dimensions must be positive");
    const auto [sy, sx] = two(c.input(2), "scale");
    const auto [ty, tx] = two(c.input(3), "translation");
    const int64_t height = in.dim(1), width = in.dim(2), depth = in.dim(3);
    Tensor& out = c.output(0, Shape{in.dim(0), size[0], size[1], depth});
    const auto rows = spans_of(filter, size[0], height, sy, ty, antialias);
    const auto columns = spans_of(filter, size[1], width, sx, tx, antialias);
    visit_dtype(in.dtype(), Reals{}, [&](auto tag) {
      using T = typename decltype(tag)::type;
      c.parallel_for(in.dim(0) * size[0], static_cast<double>((width + size[1]) * depth * 8),
                     [&](int64_t b, int64_t e) {
                       std::vector<float> line(static_cast<size_t>(width * depth));
                       for (int64_t k = b; k < e; ++k) {
                         const T* picture = in.data<T>() + k / size[0] * height * width * depth;
                         std::fill(line.begin(), line.end(), 0.0f);
                         const Span& row = rows[static_cast<size_t>(k % size[0])];
                         for (size_t i = 0; i < row.weights.size(); ++i) {
                           const T* from =
                               picture + (row.start + static_cast<int64_t>(i)) * width * depth;
                           for (size_t j = 0; j < line.size(); ++j)
                             line[j] += row.weights[i] * static_cast<float>(from[j]);
                         }
                         float* to = out.data<float>() + k * size[1] * depth;
                         for (const Span& column : columns)
                           for (int64_t d = 0; d < depth; ++d) {
                             float sum = 0;
                             for (size_t i = 0; i < column.weights.size(); ++i)
                               sum += column.weights[i] *
                                      line[static_cast<size_t>(
                                          (column.start + static_cast<int64_t>(i)) * depth + d)];
                             *to++ = sum;
                           }
                       }
                     });
    });
  }
};

struct Backward : Scale {
  void operator()(KernelContext& c) const {
    const Tensor &gradient = c.input(0), &original = c.input(1);
    if (gradient.rank() != 4 || original.rank() != 4 || gradient.dim(0) != original.dim(0) ||
        gradient.dim(3) != original.dim(3))
      throw invalid_argument(
          "grads and original_image must be pictures of the same batch and depth");
    const auto [sy, sx] = two(c.input(2), "scale");
    const auto [ty, tx] = two(c.input(3), "translation");
    const int64_t height = original.dim(1), width = original.dim(2), depth = original.dim(3);
    const auto rows = spans_of(filter, gradient.dim(1), height, sy, ty, antialias);
    const auto columns = spans_of(filter, gradient.dim(2), width, sx, tx, antialias);
    Tensor& out = c.output(0, original.shape());
    float* to = out.data<float>();
    std::fill_n(to, out.num_elements(), 0.0f);
    const float* g = gradient.data<float>();
    for (int64_t b = 0; b < original.dim(0); ++b)
      for (const Span& row : rows)
        for (const Span& column : columns)
          for (int64_t d = 0; d < depth; ++d, ++g)
            for (size_t i = 0; i < row.weights.size(); ++i)
              for (size_t j = 0; j < column.weights.size(); ++j)
                to[((b * height + row.start + static_cast<int64_t>(i)) * width + column.start +
                    static_cast<int64_t>(j)) *
                       depth +
                   d] += *g * row.weights[i] * column.weights[j];
  }
};

template <class State>
Prepared make_scaled(const KernelInit& init) {
  return prepared(
      State{{filter_named(init.attr<std::string>("kernel_type")), init.attr<bool>("antialias")}});
}

}  // namespace

std::vector<KernelRow> scale_translate_kernels() {
  return {{"ScaleAndTranslate", "CPU", {}, {}, make_scaled<Forward>, {}, 0, ""},
          {"ScaleAndTranslateGrad", "CPU", {}, {}, make_scaled<Backward>, {}, 0, ""}};
}

}  // namespace emplace::cpu
