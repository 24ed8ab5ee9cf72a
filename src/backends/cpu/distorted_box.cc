// A part of a picture, drawn at random, that shows enough of an object.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "backends/cpu/candidates.h"
#include "backends/cpu/imported_kernels.h"
#include "backends/cpu/move.h"
#include "backends/cpu/random.h"

namespace emplace::cpu {
namespace {

struct Rectangle {
  int left = 0, top = 0, right = 0, bottom = 0;
  float area() const {
    return static_cast<float>(
        right > left && bottom > top ? static_cast<int64_t>(right - left) * (bottom - top) : 0);
  }
  Rectangle common(const Rectangle& o) const {
    const Rectangle b{std::max(left, o.left), std::max(top, o.top), std::min(right, o.right),
                std::min(bottom, o.bottom)};
    return b.right > b.left && b.bottom > b.top ? b : Rectangle{};
  }
};

int nearest_int(float x) { return static_cast<int>(std::lrintf(x)); }

struct Distorted {
  std::shared_ptr<RandomStream> stream;  // none: the seed is an input
  bool covered_is_input, use_image;
  float covered;
  std::vector<float> aspects, areas;
  int64_t attempts;

  void operator()(KernelContext& c) const {
    const Tensor& size = c.input(0);
    if (size.rank() != 1 || size.num_elements() != 3)
      throw invalid_argument(fmt::format(
          "image_size must be 1-dimensional and contain 3 elements: {}", size.shape().str()));
    int64_t dims[3];
    visit_dtype(size.dtype(), Types<uint8_t, int8_t, int16_t, int32_t, int64_t>{}, [&](auto tag) {
      using T = typename decltype(tag)::type;
      for (int i = 0; i < 3; ++i) dims[i] = static_cast<int64_t>(size.data<T>()[i]);
    });
    if (dims[0] <= 0 || dims[1] <= 0 || dims[0] > (1 << 24) || dims[1] > (1 << 24))
      throw invalid_argument(
          fmt::format("image height and width must be positive, got [{},{}]", dims[0], dims[1]));
    const int height = static_cast<int>(dims[0]), width = static_cast<int>(dims[1]);
    float least = covered;
    if (covered_is_input) {
      if (c.input(2).num_elements() != 1)
        throw invalid_argument("min_object_covered must be a scalar");
      least = *c.input(2).data<float>();
    }
    if (!(least >= 0))
      throw invalid_argument(fmt::format("min_object_covered must be non-negative: {}", least));
    const std::vector<Rectangle> objects = boxes(c.input(1), height, width);
    Words words(stream ? stream->reserve(static_cast<uint64_t>(attempts))
                       : philox_from_seed(c.input(3)));
    Rectangle crop{0, 0, width, height};
    for (int64_t i = 0; i < attempts; ++i) {
      const float aspect = words.unit_float() * (aspects[1] - aspects[0]) + aspects[0];
      Rectangle tried;
      if (draw(width, height, aspect, words, tried) && shows(tried, objects, least)) {
        crop = tried;
        break;
      }
    }
    put(c, crop, height, width);
  }

 private:
  std::vector<Rectangle> boxes(const Tensor& t, int height, int width) const {
    if (t.rank() != 3 || t.dim(2) != 4)
      throw invalid_argument(fmt::format(
          "bounding boxes must have shape [1, number, 4], got shape {}", t.shape().str()));
    std::vector<Rectangle> out;
    for (int64_t i = 0; i < t.num_elements() / 4; ++i) {
      const float* b = t.data<float>() + i * 4;
      for (int k = 0; k < 4; ++k)
        if (!(b[k] >= 0 && b[k] <= 1))
          throw invalid_argument(
              fmt::format("All bounding box coordinates must be in [0.0, 1.0]: {}", b[k]));
      out.push_back({static_cast<int>(b[1] * static_cast<float>(width)),
                     static_cast<int>(b[0] * static_cast<float>(height)),
                     static_cast<int>(b[3] * static_cast<float>(width)),
                     static_cast<int>(b[2] * static_cast<float>(height))});
    }
    if (!out.empty()) return out;
    if (!use_image)
      throw invalid_argument(
          "No bounding boxes provided as input. One must enable "
          "use_image_if_no_bounding_boxes if you wish to not provide any "
          "bounding boxes.");
    return {{0, 0, width, height}};
  }

  bool draw(int width, int height, float aspect, Words& words, Rectangle& out) const {
    const float least = areas[0] * static_cast<float>(width) * static_cast<float>(height);
    const float most = areas[1] * static_cast<float>(width) * static_cast<float>(height);
    int h = nearest_int(std::sqrt(least / aspect)), tallest = nearest_int(std::sqrt(most / aspect));
    const auto across = [&](int tall) { return nearest_int(static_cast<float>(tall) * aspect); };
    if (across(tallest) > width) {
      constexpr float kEps = 0.0000001f;
      tallest =
          static_cast<int>((width + 0.5 - static_cast<double>(kEps)) / static_cast<double>(aspect));
      if (across(tallest) > width) --tallest;
    }
    tallest = std::min(tallest, height);
    h = std::min(h, tallest);
    if (h < tallest) h += static_cast<int>(words.below32(static_cast<uint32_t>(tallest - h + 1)));
    int w = across(h);
    const auto area = [&] { return static_cast<float>(static_cast<int64_t>(w) * h); };
    if (area() < least) w = across(++h);
    if (area() > most) w = across(--h);
    if (area() < least || area() > most || w > width || h > height || w <= 0 || h <= 0)
      return false;
    const int y = h < height ? static_cast<int>(words.below32(static_cast<uint32_t>(height - h))) : 0;
    const int x = w < width ? static_cast<int>(words.below32(static_cast<uint32_t>(width - w))) : 0;
    out = {x, y, x + w, y + h};
    return true;
  }

  static bool shows(const Rectangle& crop, const std::vector<Rectangle>& objects, float least) {
    if (crop.area() < 1) return false;
    return std::any_of(objects.begin(), objects.end(), [&](const Rectangle& o) {
      return o.area() >= 1 && crop.common(o).area() / o.area() >= least;
    });
  }

  static void put(KernelContext& c, const Rectangle& crop, int height, int width) {
    const int begin[3] = {crop.top, crop.left, 0};
    const int size[3] = {crop.bottom - crop.top, crop.right - crop.left, -1};
    Tensor &b = c.output(0, Shape{3}), &s = c.output(1, Shape{3});
    visit_dtype(b.dtype(), Types<uint8_t, int8_t, int16_t, int32_t, int64_t>{}, [&](auto tag) {
      using T = typename decltype(tag)::type;
      for (int i = 0; i < 3; ++i) {
        b.data<T>()[i] = static_cast<T>(begin[i]);
        s.data<T>()[i] = static_cast<T>(size[i]);
      }
    });
    float* box = c.output(2, Shape{1, 1, 4}).data<float>();
    box[0] = static_cast<float>(crop.top) / static_cast<float>(height);
    box[1] = static_cast<float>(crop.left) / static_cast<float>(width);
    box[2] = static_cast<float>(crop.bottom) / static_cast<float>(height);
    box[3] = static_cast<float>(crop.right) / static_cast<float>(width);
  }
};

Prepared make_distorted(const KernelInit& i) {
  Distorted d;
  const bool drawn_by_seed = i.op->name.starts_with("Stateless");
  if (!drawn_by_seed) d.stream = random_stream_of(i);
  d.covered_is_input = i.op->name != "SampleDistortedBoundingBox";
  d.covered = d.covered_is_input ? 0 : i.attr<float>("min_object_covered");
  d.use_image = i.attr<bool>("use_image_if_no_bounding_boxes");
  d.aspects = i.attr<std::vector<float>>("aspect_ratio_range");
  d.areas = i.attr<std::vector<float>>("area_range");
  d.attempts = i.attr<int64_t>("max_attempts");
  if (d.aspects.size() != 2 || !(d.aspects[0] > 0) || !(d.aspects[1] > 0) ||
      !std::isfinite(d.aspects[0]) || !std::isfinite(d.aspects[1]))
    throw invalid_argument("Aspect ratio range must be two positive numbers");
  if (d.areas.size() != 2 || !(d.areas[0] > 0 && d.areas[0] <= 1) ||
      !(d.areas[1] > 0 && d.areas[1] <= 1))
    throw invalid_argument("Area range must be two numbers in (0, 1]");
  if (d.attempts <= 0)
    throw invalid_argument(fmt::format("Max attempts must be positive: {}", d.attempts));
  d.attempts = std::min<int64_t>(d.attempts, 1 << 20);
  return prepared(d);
}

KernelRow row(const char* op) { return {op, "CPU", {}, {}, make_distorted, {}, 0, ""}; }

}  // namespace

std::vector<KernelRow> distorted_box_kernels() {
  return {row("SampleDistortedBoundingBox"), row("SampleDistortedBoundingBoxV2"),
          row("StatelessSampleDistortedBoundingBox")};
}

}  // namespace emplace::cpu
