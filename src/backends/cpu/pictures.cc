// Pictures transformed and marked, boxes chosen.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "backends/cpu/math.h"
#include "backends/cpu/move.h"
#include "backends/cpu/imported_kernels.h"
#include "backends/cpu/rows.h"
#include "backends/cpu/stop.h"

namespace emplace::cpu {
namespace {

// ---- Projective transforms.

enum class Beyond { kConstant, kReflect, kWrap, kNearest };

// Where a coordinate outside [0, size) is read.
float inside(float x, int64_t size, Beyond how) {
  const auto n = static_cast<float>(size);
  if (how == Beyond::kConstant) return x;
  if (how != Beyond::kNearest && size <= 1) return 0;
  if (how == Beyond::kReflect) {
    const float twice = 2 * n;
    if (x < 0) {
      if (x < twice) x += twice * std::trunc(-x / twice);
      x = x < -n ? x + twice : -x - 1;
    } else if (x > n - 1) {
      x -= twice * std::trunc(x / twice);
      if (x >= n) x = twice - x - 1;
    }
  } else if (how == Beyond::kWrap) {
    if (x < 0) x += n * (std::trunc(-x / (n - 1)) + 1);
    else if (x > n - 1) x -= n * std::trunc(x / (n - 1));
  }
  return std::clamp(x, 0.0f, n - 1);
}

struct Project {
  bool bilinear;
  Beyond beyond;

  void operator()(KernelContext& c) const {
    const Tensor &in = c.input(0), &transforms = c.input(1);
    if (in.rank() != 4) throw invalid_argument("images must have rank 4");
    if (transforms.rank() != 2 || transforms.dim(1) != 8 ||
        (transforms.dim(0) != 1 && transforms.dim(0) != in.dim(0)))
      throw invalid_argument("Input transform should be num_images x 8 or 1 x 8");
    const std::vector<int64_t> size = int_values(c.input(2));
    if (size.size() != 2 || size[0] <= 0 || size[1] <= 0)
      throw invalid_argument("output_shape must be two positive sizes");
    float fill = 0;
    if (c.num_inputs() > 3) {
      if (c.input(3).num_elements() != 1) throw invalid_argument("fill_value must be a scalar");
      fill = *c.input(3).data<float>();
    }
    Tensor& out = c.output(0, Shape{in.dim(0), size[0], size[1], in.dim(3)});
    visit_dtype(in.dtype(), Reals{}, [&](auto tag) {
      using T = typename decltype(tag)::type;
      const double cost = kPixelNs * static_cast<double>(out.dim(2) * out.dim(3));
      c.parallel_for(in.dim(0) * size[0], cost, [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) {
          stop_if_cancelled(c);
          const int64_t b = i / size[0];
          row(in, b, i % size[0], transforms.data<float>() + (transforms.dim(0) == 1 ? 0 : b * 8),
              static_cast<T>(fill), out);
        }
      });
    });
  }

  static constexpr double kPixelNs = 15;

  template <class T>
  void row(const Tensor& in, int64_t b, int64_t row, const float* t, T fill, Tensor& out) const {
    const int64_t height = in.dim(1), width = in.dim(2), depth = in.dim(3);
    const T* from = in.data<T>() + b * height * width * depth;
    T* to = out.data<T>() + (b * out.dim(1) + row) * out.dim(2) * depth;
    auto read = [&](int64_t y, int64_t x, int64_t d) {
      return y >= 0 && y < height && x >= 0 && x < width ? from[(y * width + x) * depth + d] : fill;
    };
    for (int64_t column = 0; column < out.dim(2); ++column) {
      const auto u = static_cast<float>(column), v = static_cast<float>(row);
      const float divisor = t[6] * u + t[7] * v + 1;
      const float x = inside((t[0] * u + t[1] * v + t[2]) / divisor, width, beyond);
      const float y = inside((t[3] * u + t[4] * v + t[5]) / divisor, height, beyond);
      // Far outside, or nowhere at all.
      const bool nowhere = divisor == 0 || !(std::abs(x) < 1e9f) || !(std::abs(y) < 1e9f);
      for (int64_t d = 0; d < depth; ++d, ++to) {
        if (nowhere) *to = fill;
        else if (!bilinear) *to = read(std::lround(y), std::lround(x), d);
        else *to = between<T>(read, y, x, d);
      }
    }
  }

  template <class T, class Read>
  static T between(Read read, float y, float x, int64_t d) {
    const float yf = std::floor(y), xf = std::floor(x);
    const auto y0 = static_cast<int64_t>(yf), x0 = static_cast<int64_t>(xf);
    auto value = [&](int64_t i, int64_t j) { return static_cast<float>(read(i, j, d)); };
    const float top = (xf + 1 - x) * value(y0, x0) + (x - xf) * value(y0, x0 + 1);
    const float bottom = (xf + 1 - x) * value(y0 + 1, x0) + (x - xf) * value(y0 + 1, x0 + 1);
    return static_cast<T>((yf + 1 - y) * top + (y - yf) * bottom);
  }
};

Prepared make_project(const KernelInit& init) {
  const auto& mode = init.attr<std::string>("fill_mode");
  const auto& interpolation = init.attr<std::string>("interpolation");
  if (interpolation != "NEAREST" && interpolation != "BILINEAR")
    throw invalid_argument("Invalid interpolation " + interpolation +
                           ". Supported types: NEAREST, BILINEAR");
  Beyond beyond = Beyond::kConstant;
  if (mode == "REFLECT") beyond = Beyond::kReflect;
  else if (mode == "WRAP") beyond = Beyond::kWrap;
  else if (mode == "NEAREST") beyond = Beyond::kNearest;
  else if (mode != "CONSTANT")
    throw invalid_argument("Invalid mode " + mode +
                           ". Supported types: REFLECT, WRAP, CONSTANT, NEAREST");
  return prepared(Project{interpolation == "BILINEAR", beyond});
}

// ---- Frames.

constexpr float kColors[][4] = {
    {1, 1, 0, 1},       {0, 0, 1, 1},    {1, 0, 0, 1},    {0, 1, 0, 1}, {0.5f, 0, 0.5f, 1},
    {0.5f, 0.5f, 0, 1}, {0.5f, 0, 0, 1}, {0, 0, 0.5f, 1}, {0, 1, 1, 1}, {1, 0, 1, 1}};

std::vector<std::vector<float>> colors_of(KernelContext& c, int64_t depth) {
  std::vector<std::vector<float>> table;
  if (c.num_inputs() > 2 && c.input(2).num_elements() > 0) {
    const Tensor& t = c.input(2);
    if (t.rank() != 2 || t.dim(1) < depth)
      throw invalid_argument("colors must be a matrix with a number for each channel");
    for (int64_t i = 0; i < t.dim(0); ++i)
      table.emplace_back(t.data<float>() + i * t.dim(1), t.data<float>() + i * t.dim(1) + depth);
    return table;
  }
  for (const auto& color : kColors) {
    table.emplace_back(std::begin(color), std::end(color));
    if (depth == 1) table.back()[0] = 1;
  }
  return table;
}

void draw_boxes(KernelContext& c) {
  const Tensor &in = c.input(0), &boxes = c.input(1);
  if (in.rank() != 4) throw invalid_argument("The rank of the images should be 4");
  if (boxes.rank() != 3 || boxes.dim(2) != 4 || boxes.dim(0) != in.dim(0))
    throw invalid_argument("The boxes should be [batch, number, 4], not " + boxes.shape().str());
  const int64_t height = in.dim(1), width = in.dim(2), depth = in.dim(3);
  if (depth != 1 && depth != 3 && depth != 4)
    throw invalid_argument("Channel depth should be either 1 (GRY), 3 (RGB), or 4 (RGBA)");
  const auto colors = colors_of(c, depth);
  Tensor& out = c.output(0, in.shape());
  copy_elements(out, in);
  visit_dtype(in.dtype(), Types<float, Half>{}, [&](auto tag) {
    using T = typename decltype(tag)::type;
    for (int64_t b = 0; b < in.dim(0); ++b)
      for (int64_t k = 0; k < boxes.dim(1); ++k) {
        const float* box = boxes.data<float>() + (b * boxes.dim(1) + k) * 4;
        if (!std::all_of(box, box + 4, [](float x) { return std::abs(x) < 1e6f; })) continue;
        const auto top = static_cast<int64_t>(box[0] * static_cast<float>(height - 1));
        const auto left = static_cast<int64_t>(box[1] * static_cast<float>(width - 1));
        const auto bottom = static_cast<int64_t>(box[2] * static_cast<float>(height - 1));
        const auto right = static_cast<int64_t>(box[3] * static_cast<float>(width - 1));
        if (top > bottom || left > right || top >= height || bottom < 0 || left >= width ||
            right < 0)
          continue;
        const auto& color = colors[static_cast<size_t>(k) % colors.size()];
        auto paint = [&](int64_t y, int64_t x) {
          if (y < 0 || y >= height || x < 0 || x >= width) return;
          T* to = out.data<T>() + ((b * height + y) * width + x) * depth;
          for (int64_t d = 0; d < depth; ++d) to[d] = static_cast<T>(color[static_cast<size_t>(d)]);
        };
        for (int64_t x = std::max<int64_t>(left, 0); x <= std::min(right, width - 1); ++x)
          paint(top, x), paint(bottom, x);
        for (int64_t y = std::max<int64_t>(top, 0); y <= std::min(bottom, height - 1); ++y)
          paint(y, left), paint(y, right);
      }
  });
}

// ---- The best boxes of all classes.

struct Found {
  float score;
  int64_t box, kind;
};

float overlap(const float* a, const float* b) {
  const float ay0 = std::min(a[0], a[2]), ay1 = std::max(a[0], a[2]), ax0 = std::min(a[1], a[3]),
              ax1 = std::max(a[1], a[3]);
  const float by0 = std::min(b[0], b[2]), by1 = std::max(b[0], b[2]), bx0 = std::min(b[1], b[3]),
              bx1 = std::max(b[1], b[3]);
  const float area_a = (ay1 - ay0) * (ax1 - ax0), area_b = (by1 - by0) * (bx1 - bx0);
  if (area_a <= 0 || area_b <= 0) return 0;
  const float h = std::max(std::min(ay1, by1) - std::max(ay0, by0), 0.0f);
  const float w = std::max(std::min(ax1, bx1) - std::max(ax0, bx0), 0.0f);
  return h * w / (area_a + area_b - h * w);
}

struct Combined {
  bool pad_per_class, clip;

  void operator()(KernelContext& c) const {
    const Tensor &boxes = c.input(0), &scores = c.input(1);
    if (boxes.rank() != 4 || scores.rank() != 3 || boxes.dim(3) != 4 ||
        boxes.dim(0) != scores.dim(0) || boxes.dim(1) != scores.dim(1) ||
        (boxes.dim(2) != 1 && boxes.dim(2) != scores.dim(2)))
      throw invalid_argument(
          "boxes must be [batch, number, 1 or classes, 4], scores [batch, number, classes]");
    const int64_t per_class = int_scalar(c.input(2), "max_output_size_per_class");
    const int64_t total = int_scalar(c.input(3), "max_total_size");
    if (per_class <= 0) throw invalid_argument("max_size_per_class must be positive");
    if (total <= 0) throw invalid_argument("max_total_size must be > 0");
    for (int i : {4, 5})
      if (c.input(i).num_elements() != 1) throw invalid_argument("thresholds must be scalars");
    const float limit = *c.input(4).data<float>(), least = *c.input(5).data<float>();
    if (!(limit >= 0 && limit <= 1)) throw invalid_argument("iou_threshold must be in [0, 1]");
    const int64_t batch = boxes.dim(0), classes = scores.dim(2);
    const int64_t size = pad_per_class ? std::min(total, per_class * classes) : total;
    Tensor &out_boxes = c.output(0, Shape{batch, size, 4}),
           &out_scores = c.output(1, Shape{batch, size});
    Tensor &out_classes = c.output(2, Shape{batch, size}), &valid = c.output(3, Shape{batch});
    std::fill_n(out_boxes.data<float>(), out_boxes.num_elements(), 0.0f);
    std::fill_n(out_scores.data<float>(), out_scores.num_elements(), 0.0f);
    std::fill_n(out_classes.data<float>(), out_classes.num_elements(), 0.0f);
    for (int64_t b = 0; b < batch; ++b) {
      std::vector<Found> all;
      for (int64_t k = 0; k < classes; ++k)
        choose(c, boxes, scores, b, k, per_class, limit, least, all);
      std::stable_sort(all.begin(), all.end(), [](auto& x, auto& y) { return x.score > y.score; });
      if (static_cast<int64_t>(all.size()) > size) all.resize(static_cast<size_t>(size));
      valid.data<int32_t>()[b] = static_cast<int32_t>(all.size());
      for (size_t i = 0; i < all.size(); ++i) {
        const int64_t at = b * size + static_cast<int64_t>(i);
        const float* box = box_of(boxes, b, all[i].box, all[i].kind);
        for (int d = 0; d < 4; ++d)
          out_boxes.data<float>()[at * 4 + d] = clip ? std::clamp(box[d], 0.0f, 1.0f) : box[d];
        out_scores.data<float>()[at] = all[i].score;
        out_classes.data<float>()[at] = static_cast<float>(all[i].kind);
      }
    }
  }

  static const float* box_of(const Tensor& boxes, int64_t b, int64_t i, int64_t kind) {
    const int64_t q = boxes.dim(2);
    return boxes.data<float>() + ((b * boxes.dim(1) + i) * q + (q > 1 ? kind : 0)) * 4;
  }

  static void choose(KernelContext& c, const Tensor& boxes, const Tensor& scores, int64_t b,
                     int64_t kind, int64_t most, float limit, float least, std::vector<Found>& all) {
    std::vector<Found> candidates;
    for (int64_t i = 0; i < boxes.dim(1); ++i) {
      const float score = scores.data<float>()[(b * scores.dim(1) + i) * scores.dim(2) + kind];
      if (score > least) candidates.push_back({score, i, kind});
    }
    std::stable_sort(candidates.begin(), candidates.end(),
                     [](auto& x, auto& y) { return x.score > y.score; });
    std::vector<Found> chosen;
    for (const Found& f : candidates) {
      if (static_cast<int64_t>(chosen.size()) >= most) break;
      stop_if_cancelled(c);
      const bool free = std::none_of(chosen.begin(), chosen.end(), [&](const Found& o) {
        return overlap(box_of(boxes, b, f.box, kind), box_of(boxes, b, o.box, kind)) > limit;
      });
      if (free) chosen.push_back(f);
    }
    all.insert(all.end(), chosen.begin(), chosen.end());
  }
};
Prepared make_combined(const KernelInit& i) {
  return prepared(Combined{i.attr<bool>("pad_per_class"), i.attr<bool>("clip_boxes")});
}

}  // namespace

std::vector<KernelRow> picture_kernels() {
  return {row("ImageProjectiveTransformV2", make_project),
          row("ImageProjectiveTransformV3", make_project),
          row("DrawBoundingBoxes", stateless<draw_boxes>),
          row("DrawBoundingBoxesV2", stateless<draw_boxes>),
          row("CombinedNonMaxSuppression", make_combined)};
}

}  // namespace emplace::cpu
