// CropAndResize and its gradients.
#include <cmath>

#include <fmt/format.h>

#include "backends/cpu/layout.h"
#include "backends/cpu/loops.h"
#include "backends/cpu/nets_kernels.h"

namespace emplace::cpu {
namespace {

// One side of a box on an image of `size` pixels, cut into `count` positions.
struct Side {
  float from, to, step;
  int64_t size, count;
  Side(float from, float to, int64_t size, int64_t count)
      : from(from), to(to), step(0), size(size), count(count) {
    const auto last = static_cast<float>(size - 1);
    if (count > 1) step = (to - from) * last / static_cast<float>(count - 1);
  }
  float position(int64_t i) const {
    const auto last = static_cast<float>(size - 1);
    return count > 1 ? from * last + static_cast<float>(i) * step : 0.5f * (from + to) * last;
  }
  bool inside(float p) const { return p >= 0 && p <= static_cast<float>(size - 1); }
};

struct Boxes {
  const float* corners;  // y1, x1, y2, x2
  std::vector<int64_t> image;
  int64_t count() const { return static_cast<int64_t>(image.size()); }
  Side rows(int64_t b, int64_t height, int64_t crop) const {
    return {corners[b * 4], corners[b * 4 + 2], height, crop};
  }
  Side columns(int64_t b, int64_t width, int64_t crop) const {
    return {corners[b * 4 + 1], corners[b * 4 + 3], width, crop};
  }
};

Boxes boxes_of(const Tensor& boxes, const Tensor& index, int64_t images) {
  if (boxes.rank() != 2) throw invalid_argument("boxes must be 2-D" + boxes.shape().str());
  if (boxes.dim(1) != 4) throw invalid_argument("boxes must have 4 columns");
  if (index.rank() != 1) throw invalid_argument("box_index must be 1-D" + index.shape().str());
  if (index.dim(0) != boxes.dim(0)) throw invalid_argument("box_index has incompatible shape");
  Boxes b{boxes.data<float>(), int_values(index)};
  for (int64_t i : b.image)
    if (i < 0 || i >= images)
      throw Error(Code::kOutOfRange, "box_index has values outside [0, batch_size)");
  return b;
}

void check_image(const Shape& s) {
  if (s.rank() != 4) throw invalid_argument("input image must be 4-D" + s.str());
  if (s[1] <= 0 || s[2] <= 0) throw invalid_argument("image dimensions must be positive");
}

bool is_nearest(const KernelInit& init) { return init.attr<std::string>("method") == "nearest"; }

struct Crop {
  bool nearest;
  float outside;
  void operator()(KernelContext& c) const {
    const Tensor& image = c.input(0);
    check_image(image.shape());
    const Boxes boxes = boxes_of(c.input(1), c.input(2), image.dim(0));
    const Tensor& size = c.input(3);
    if (size.rank() != 1) throw invalid_argument("crop_size must be 1-D" + size.shape().str());
    if (size.dim(0) != 2)
      throw invalid_argument("crop_size must have two elements" + size.shape().str());
    const auto to = int_values(size);
    if (to[0] <= 0 || to[1] <= 0) throw invalid_argument("crop dimensions must be positive");
    Tensor& out = c.output(0, Shape{boxes.count(), to[0], to[1], image.dim(3)});
    visit_dtype(image.dtype(), Reals{}, [&](auto tag) {
      using T = typename decltype(tag)::type;
      const double cost = 4.0 * static_cast<double>(to[0] * to[1] * image.dim(3)) + 20;
      c.parallel_for(boxes.count(), cost, [&](int64_t begin, int64_t end) {
        for (int64_t b = begin; b < end; ++b) one<T>(image, boxes, b, out);
      });
    });
  }
  template <class T>
  void one(const Tensor& image, const Boxes& boxes, int64_t b, Tensor& out) const {
    const int64_t height = image.dim(1), width = image.dim(2), n = image.dim(3);
    const Side ys = boxes.rows(b, height, out.dim(1)), xs = boxes.columns(b, width, out.dim(2));
    const T* from = image.data<T>() + boxes.image[static_cast<size_t>(b)] * height * width * n;
    float* to = out.data<float>() + b * out.dim(1) * out.dim(2) * n;
    for (int64_t y = 0; y < ys.count; ++y)
      for (int64_t x = 0; x < xs.count; ++x, to += n) {
        const float py = ys.position(y), px = xs.position(x);
        if (!ys.inside(py) || !xs.inside(px))
          std::fill_n(to, n, outside);
        else if (nearest)
          pick_nearest(from, width, n, py, px, to);
        else
          blend(from, width, n, py, px, to);
      }
  }
  template <class T>
  static void pick_nearest(const T* image, int64_t width, int64_t n, float y, float x, float* to) {
    const auto at =
        static_cast<int64_t>(std::round(y)) * width + static_cast<int64_t>(std::round(x));
    for (int64_t i = 0; i < n; ++i) to[i] = static_cast<float>(image[at * n + i]);
  }
  template <class T>
  static void blend(const T* image, int64_t width, int64_t n, float y, float x, float* to) {
    const float fy = std::floor(y), fx = std::floor(x);
    const T* top = image + static_cast<int64_t>(fy) * width * n;
    const T* bottom = image + static_cast<int64_t>(std::ceil(y)) * width * n;
    const int64_t left = static_cast<int64_t>(fx) * n,
                  right = static_cast<int64_t>(std::ceil(x)) * n;
    for (int64_t i = 0; i < n; ++i) {
      const auto tl = static_cast<float>(top[left + i]), bl = static_cast<float>(bottom[left + i]);
      const float upper = tl + (static_cast<float>(top[right + i]) - tl) * (x - fx);
      const float lower = bl + (static_cast<float>(bottom[right + i]) - bl) * (x - fx);
      to[i] = upper + (lower - upper) * (y - fy);
    }
  }
};

Prepared make_crop(const KernelInit& init) {
  return prepared(Crop{is_nearest(init), init.attr<float>("extrapolation_value")});
}

void check_gradient(const Tensor& gradient, const Boxes& boxes, const Shape& image) {
  if (gradient.rank() != 4)
    throw invalid_argument("grads image must be 4-D" + gradient.shape().str());
  if (gradient.dim(1) <= 0 || gradient.dim(2) <= 0)
    throw invalid_argument("grads dimensions must be positive");
  if (gradient.dim(0) != boxes.count())
    throw invalid_argument("boxes and grads have incompatible shape");
  if (gradient.dim(3) != image[3]) throw invalid_argument("image_size and grads are incompatible");
}

// Calls f(box, crop's pixel, y, x, ys, xs) for every position inside its image, box by box.
template <class F>
void for_positions(const Tensor& gradient, const Boxes& boxes, const Shape& image, F&& f) {
  const int64_t height = gradient.dim(1), width = gradient.dim(2);
  for (int64_t b = 0; b < boxes.count(); ++b) {
    const Side ys = boxes.rows(b, image[1], height), xs = boxes.columns(b, image[2], width);
    for (int64_t y = 0; y < height; ++y)
      for (int64_t x = 0; x < width; ++x) {
        const float py = ys.position(y), px = xs.position(x);
        if (ys.inside(py) && xs.inside(px)) f(b, (b * height + y) * width + x, y, x, ys, xs);
      }
  }
}

struct CropToImage {
  bool nearest;
  void operator()(KernelContext& c) const {
    const Tensor& gradient = c.input(0);
    const Shape shape = shape_from(c.input(3), "image_size");
    check_image(shape);
    const Boxes boxes = boxes_of(c.input(1), c.input(2), shape[0]);
    check_gradient(gradient, boxes, shape);
    WideOutput to(c, c.output(0, shape), false);
    Tensor& image = to.tensor();
    if (image.num_elements() > 0) std::memset(image.raw(), 0, image.bytes());
    visit_dtype(image.dtype(), Types<float, double>{}, [&](auto tag) {
      using T = typename decltype(tag)::type;
      run(gradient, boxes, shape, image.data<T>());
    });
    to.finish();
  }
  template <class T>
  void run(const Tensor& gradient, const Boxes& boxes, const Shape& shape, T* image) const {
    const int64_t n = shape[3];
    for_positions(
        gradient, boxes, shape,
        [&](int64_t b, int64_t pixel, int64_t oy, int64_t ox, const Side& ys, const Side& xs) {
          const float y = ys.position(oy), x = xs.position(ox);
          auto add = [&](float at_y, float at_x, float weight) {
            T* to = image +
                    ((boxes.image[static_cast<size_t>(b)] * shape[1] + static_cast<int64_t>(at_y)) *
                         shape[2] +
                     static_cast<int64_t>(at_x)) *
                        n;
            for (int64_t i = 0; i < n; ++i)
              to[i] += static_cast<T>(weight * gradient.data<float>()[pixel * n + i]);
          };
          if (nearest) return add(std::round(y), std::round(x), 1);
          const float fy = std::floor(y), fx = std::floor(x), dy = y - fy, dx = x - fx;
          add(fy, fx, (1 - dy) * (1 - dx));
          add(fy, std::ceil(x), (1 - dy) * dx);
          add(std::ceil(y), fx, dy * (1 - dx));
          add(std::ceil(y), std::ceil(x), dy * dx);
        });
  }
};

struct CropToBoxes {
  void operator()(KernelContext& c) const {
    const Tensor &gradient = c.input(0), &image = c.input(1);
    check_image(image.shape());
    const Boxes boxes = boxes_of(c.input(2), c.input(3), image.dim(0));
    check_gradient(gradient, boxes, image.shape());
    Tensor& out = c.output(0, Shape{boxes.count(), 4});
    if (out.num_elements() > 0) std::memset(out.raw(), 0, out.bytes());
    visit_dtype(image.dtype(), Reals{}, [&](auto tag) {
      using T = typename decltype(tag)::type;
      run(gradient, boxes, image.shape(), image.data<T>(), out.data<float>());
    });
  }
  // A corner moves every position of its side, by a share that depends on the distance.
  template <class T>
  static void run(const Tensor& gradient, const Boxes& boxes, const Shape& s, const T* image,
                  float* out) {
    const int64_t n = s[3], height = gradient.dim(1), width = gradient.dim(2);
    for_positions(
        gradient, boxes, s,
        [&](int64_t b, int64_t pixel, int64_t oy, int64_t ox, const Side& ys, const Side& xs) {
          const float y = ys.position(oy), x = xs.position(ox);
          const float fy = std::floor(y), fx = std::floor(x), dy = y - fy, dx = x - fx;
          auto at = [&](float py, float px, int64_t i) {
            const int64_t p =
                (boxes.image[static_cast<size_t>(b)] * s[1] + static_cast<int64_t>(py)) * s[2] +
                static_cast<int64_t>(px);
            return static_cast<float>(image[p * n + i]);
          };
          for (int64_t i = 0; i < n; ++i) {
            const float tl = at(fy, fx, i), tr = at(fy, std::ceil(x), i);
            const float bl = at(std::ceil(y), fx, i), br = at(std::ceil(y), std::ceil(x), i);
            const float g = gradient.data<float>()[pixel * n + i];
            const float to_y = g * ((1 - dx) * (bl - tl) + dx * (br - tr));
            const float to_x = g * ((1 - dy) * (tr - tl) + dy * (br - bl));
            add_side(out + b * 4, ys, oy, height, to_y);
            add_side(out + b * 4 + 1, xs, ox, width, to_x);
          }
        });
  }
  static void add_side(float* corners, const Side& side, int64_t i, int64_t count, float gradient) {
    const auto last = static_cast<float>(side.size - 1);
    const float share = count > 1 ? static_cast<float>(i) / static_cast<float>(count - 1) : 0.5f;
    corners[0] += gradient * last * (1 - share);
    corners[2] += gradient * last * share;
  }
};

Prepared make_to_image(const KernelInit& init) { return prepared(CropToImage{is_nearest(init)}); }
Prepared make_to_boxes(const KernelInit&) { return prepared(CropToBoxes{}); }

}  // namespace

std::vector<KernelRow> crop_kernels() {
  using enum DType;
  auto row = [](const char* op, std::vector<DType> types, KernelFactory f) {
    return KernelRow{op, "CPU", {{"T", std::move(types)}}, {}, f, {}, 0, ""};
  };
  return {row("CropAndResize", Reals::dtypes(), make_crop),
          row("CropAndResizeGradImage", {kFloat, kDouble, kHalf}, make_to_image),
          row("CropAndResizeGradBoxes", Reals::dtypes(), make_to_boxes)};
}

}  // namespace emplace::cpu
