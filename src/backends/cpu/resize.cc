// Images of another size, and the gradients of that.
#include <cmath>

#include <fmt/format.h>

#include "backends/cpu/layout.h"
#include "backends/cpu/loops.h"
#include "backends/cpu/math.h"
#include "backends/cpu/nets_kernels.h"

namespace emplace::cpu {
namespace {

// How positions of one size fall on another.
struct Scaling {
  bool align = false, centers = false;

  static Scaling of(const KernelInit& init) {
    const AttrValue* h = init.find("half_pixel_centers");
    Scaling s{init.attr<bool>("align_corners"), h && h->as<bool>()};
    if (s.align && s.centers)
      throw invalid_argument("If half_pixel_centers is True, align_corners must be False.");
    return s;
  }
  float factor(int64_t in, int64_t out) const {
    return align && out > 1 ? static_cast<float>(in - 1) / static_cast<float>(out - 1)
                            : static_cast<float>(in) / static_cast<float>(out);
  }
  float position(int64_t o, float factor) const {
    return centers ? (static_cast<float>(o) + 0.5f) * factor - 0.5f
                   : static_cast<float>(o) * factor;
  }
};

struct Sizes {
  int64_t batch, in_height, in_width, out_height, out_width, channels;
  int64_t in_pixels() const { return in_height * in_width; }
  int64_t out_pixels() const { return out_height * out_width; }
};

void check_image(const Tensor& t) {
  if (t.rank() != 4) throw invalid_argument("input must be 4-dimensional" + t.shape().str());
}

Sizes sizes_of(const Tensor& in, const Tensor& size) {
  check_image(in);
  if (size.rank() != 1)
    throw invalid_argument("shape_t must be 1-dimensional" + size.shape().str());
  if (size.dim(0) != 2)
    throw invalid_argument("shape_t must have two elements" + size.shape().str());
  const auto to = int_values(size);
  if (to[0] <= 0 || to[1] <= 0) throw invalid_argument("output dimensions must be positive");
  if (in.dim(1) <= 0 || in.dim(2) <= 0)
    throw invalid_argument("input image must be of non-zero size");
  return {in.dim(0), in.dim(1), in.dim(2), to[0], to[1], in.dim(3)};
}

// Up to four input positions that one output position draws from.
struct Draw {
  int64_t at[4];
  float weight[4];
};

// ---- Two neighbours.

struct Between {
  int64_t low, high;
  float share;  // of the higher
};
std::vector<Between> between(const Scaling& s, int64_t in, int64_t out) {
  std::vector<Between> all(static_cast<size_t>(out));
  const float factor = s.factor(in, out);
  for (int64_t o = 0; o < out; ++o) {
    const float p = s.position(o, factor), floor = std::floor(p);
    all[static_cast<size_t>(o)] = {
        std::clamp<int64_t>(static_cast<int64_t>(floor), 0, in - 1),
        std::clamp<int64_t>(static_cast<int64_t>(std::ceil(p)), 0, in - 1), p - floor};
  }
  return all;
}

// A row of pixels between two neighbours each. kChannels: 0 for any number.
template <class T, int kChannels>
void blend_across(const T* row, const Between* xs, int64_t width, int64_t channels, float* out) {
  const int64_t n = kChannels ? kChannels : channels;
  for (int64_t x = 0; x < width; ++x, out += n) {
    const T *left = row + xs[x].low * n, *right = row + xs[x].high * n;
    for (int64_t i = 0; i < n; ++i) {
      const auto a = static_cast<float>(left[i]);
      out[i] = a + (static_cast<float>(right[i]) - a) * xs[x].share;
    }
  }
}
template <class T>
auto blend_across_of(int64_t channels) {
  return channels == 1   ? pick<T, blend_across<T, 1>>()
         : channels == 3 ? pick<T, blend_across<T, 3>>()
         : channels == 4 ? pick<T, blend_across<T, 4>>()
                         : pick<T, blend_across<T, 0>>();
}

void blend_down(const float* upper, const float* lower, float share, int64_t n, float* out) {
#pragma GCC ivdep
  for (int64_t i = 0; i < n; ++i) out[i] = upper[i] + (lower[i] - upper[i]) * share;
}

// Rows of images, blended across; the last two are kept, since neighbours want them again.
template <class T>
class RowsAcross {
 public:
  RowsAcross(const T* images, const Sizes& s, const std::vector<Between>& xs)
      : images_(images),
        s_(s),
        xs_(xs),
        row_(s.in_width * s.channels),
        row_out_(s.out_width * s.channels),
        kept_(static_cast<size_t>(2 * row_out_)) {}

  // Row number `r` of all images. The row got before it stays.
  const float* get(int64_t r) {
    for (int k = 0; k < 2; ++k)
      if (number_[k] == r) return last_ = k, at(k);
    last_ = 1 - last_;
    number_[last_] = r;
    across_(images_ + r * row_, xs_.data(), s_.out_width, s_.channels, at(last_));
    return at(last_);
  }

 private:
  float* at(int k) { return kept_.data() + k * row_out_; }

  const T* images_;
  const Sizes& s_;
  const std::vector<Between>& xs_;
  int64_t row_, row_out_;
  std::vector<float> kept_;
  int64_t number_[2] = {-1, -1};
  int last_ = 0;
  decltype(blend_across_of<T>(0)) across_ = blend_across_of<T>(s_.channels);
};

struct Bilinear {
  Scaling scaling;
  void operator()(KernelContext& c) const {
    const Tensor& in = c.input(0);
    const Sizes s = sizes_of(in, c.input(1));
    Tensor& out = c.output(0, Shape{s.batch, s.out_height, s.out_width, s.channels});
    if (out.num_elements() == 0) return;
    const auto ys = between(scaling, s.in_height, s.out_height);
    const auto xs = between(scaling, s.in_width, s.out_width);
    const int64_t row_out = s.out_width * s.channels;
    const auto down = best<blend_down>();
    visit_dtype(in.dtype(), Reals{}, [&](auto tag) {
      using T = typename decltype(tag)::type;
      c.parallel_for(s.batch * s.out_height, 1.0 * static_cast<double>(row_out),
                     [&](int64_t b, int64_t e) {
        RowsAcross<T> rows(in.data<T>(), s, xs);
        for (int64_t r = b; r < e; ++r) {
          const Between& y = ys[static_cast<size_t>(r % s.out_height)];
          const int64_t image = r / s.out_height * s.in_height;
          const float* upper = rows.get(image + y.low);
          down(upper, rows.get(image + y.high), y.share, row_out, out.data<float>() + r * row_out);
        }
      });
    });
  }
};

// The sizes of a gradient: `original` is the image that was resized.
Sizes gradient_sizes(const Tensor& gradient, const Tensor& original) {
  check_image(gradient);
  check_image(original);
  const Sizes s{gradient.dim(0), original.dim(1), original.dim(2),
                gradient.dim(1), gradient.dim(2), gradient.dim(3)};
  if (original.dim(0) != s.batch || original.dim(3) != s.channels)
    throw invalid_argument(
        fmt::format("grads and original_image must have the same batch and "
                    "channels: {} and {}",
                    gradient.shape().str(), original.shape().str()));
  if (s.in_pixels() <= 0 || s.out_pixels() <= 0)
    throw invalid_argument("input image must be of non-zero size");
  return s;
}

// Adds each output pixel's gradient to what it drew from.
template <class T, class F>
void spread_gradient(KernelContext& c, const Sizes& s, const float* gradient, T* image, F&& draws) {
  const int64_t size = s.in_pixels() * s.channels;
  const double cost = 4.0 * static_cast<double>(s.out_pixels() * s.channels);
  c.parallel_for(s.batch, cost, [&](int64_t b, int64_t e) {
    std::fill(image + b * size, image + e * size, T(0));
    for (int64_t k = b; k < e; ++k)
      for (int64_t p = 0; p < s.out_pixels(); ++p) {
        const float* g = gradient + (k * s.out_pixels() + p) * s.channels;
        draws(p / s.out_width, p % s.out_width, [&](int64_t y, int64_t x, float by_y, float by_x) {
          T* to = image + k * size + (y * s.in_width + x) * s.channels;
          for (int64_t i = 0; i < s.channels; ++i) to[i] += static_cast<T>(g[i] * by_y * by_x);
        });
      }
  });
}

struct BilinearGradient {
  Scaling scaling;
  void operator()(KernelContext& c) const {
    const Tensor &gradient = c.input(0), &original = c.input(1);
    const Sizes s = gradient_sizes(gradient, original);
    WideOutput to(c, c.output(0, original.shape()), false);
    const auto ys = between(scaling, s.in_height, s.out_height);
    const auto xs = between(scaling, s.in_width, s.out_width);
    visit_dtype(to.tensor().dtype(), Types<float, double>{}, [&](auto tag) {
      using T = typename decltype(tag)::type;
      spread_gradient(c, s, gradient.data<float>(), to.tensor().data<T>(),
                      [&](int64_t oy, int64_t ox, auto&& add) {
                        const Between &y = ys[static_cast<size_t>(oy)],
                                      &x = xs[static_cast<size_t>(ox)];
                        add(y.low, x.low, 1 - y.share, 1 - x.share);
                        add(y.low, x.high, 1 - y.share, x.share);
                        add(y.high, x.low, y.share, 1 - x.share);
                        add(y.high, x.high, y.share, x.share);
                      });
    });
    to.finish();
  }
};

// ---- The nearest one.

std::vector<int64_t> nearest(const Scaling& s, int64_t in, int64_t out) {
  std::vector<int64_t> all(static_cast<size_t>(out));
  const float factor = s.factor(in, out);
  for (int64_t o = 0; o < out; ++o) {
    const float p = (static_cast<float>(o) + (s.centers ? 0.5f : 0.0f)) * factor;
    const auto at = static_cast<int64_t>(s.align ? std::round(p) : std::floor(p));
    all[static_cast<size_t>(o)] = std::clamp<int64_t>(at, 0, in - 1);
  }
  return all;
}

struct Nearest {
  Scaling scaling;
  void operator()(KernelContext& c) const {
    const Tensor& in = c.input(0);
    const Sizes s = sizes_of(in, c.input(1));
    Tensor& out = c.output(0, Shape{s.batch, s.out_height, s.out_width, s.channels});
    const auto ys = nearest(scaling, s.in_height, s.out_height);
    const auto xs = nearest(scaling, s.in_width, s.out_width);
    const int64_t n = s.channels, row = s.in_width * n;
    visit_storage(in.dtype(), [&](auto tag) {
      using T = typename decltype(tag)::type;
      c.parallel_for(
          s.batch * s.out_height, static_cast<double>(s.out_width * n), [&](int64_t b, int64_t e) {
            for (int64_t r = b; r < e; ++r) {
              const T* from =
                  static_cast<const T*>(in.raw()) +
                  (r / s.out_height * s.in_height + ys[static_cast<size_t>(r % s.out_height)]) *
                      row;
              T* to = static_cast<T*>(out.raw()) + r * s.out_width * n;
              for (int64_t x = 0; x < s.out_width; ++x, to += n)
                std::copy_n(from + xs[static_cast<size_t>(x)] * n, n, to);
            }
          });
    });
  }
};

struct NearestGradient {
  Scaling scaling;
  void operator()(KernelContext& c) const {
    const Tensor& gradient = c.input(0);
    Sizes s = sizes_of(gradient, c.input(1));
    std::swap(s.in_height, s.out_height);  // the gradient has the size that was made
    std::swap(s.in_width, s.out_width);
    Tensor& out = c.output(0, Shape{s.batch, s.in_height, s.in_width, s.channels});
    const auto ys = nearest(scaling, s.in_height, s.out_height);
    const auto xs = nearest(scaling, s.in_width, s.out_width);
    const Tensor g = widened(c, gradient);
    WideOutput to(c, out, false);
    visit_dtype(g.dtype(), Join<Types<float, double>, Ints>{}, [&](auto tag) {
      using T = typename decltype(tag)::type;
      const int64_t n = s.channels, size = s.in_pixels() * n;
      c.parallel_for(s.batch, static_cast<double>(s.out_pixels() * n), [&](int64_t b, int64_t e) {
        T* image = to.tensor().data<T>();
        std::fill(image + b * size, image + e * size, T(0));
        for (int64_t k = b; k < e; ++k)
          for (int64_t p = 0; p < s.out_pixels(); ++p) {
            const T* from = g.data<T>() + (k * s.out_pixels() + p) * n;
            T* at = image + k * size +
                    (ys[static_cast<size_t>(p / s.out_width)] * s.in_width +
                     xs[static_cast<size_t>(p % s.out_width)]) *
                        n;
            for (int64_t i = 0; i < n; ++i) at[i] = plus(at[i], from[i]);
          }
      });
    });
    to.finish();
  }
};

// ---- Four neighbours.

// Cubic convolution: the weight of a pixel at distance x, looked up in steps of 1/1024 as
// TensorFlow does.
float cubic(double x, double a) {
  return static_cast<float>(x <= 1 ? ((a + 2) * x - (a + 3)) * x * x + 1
                                   : ((a * x - 5 * a) * x + 8 * a) * x - 4 * a);
}

std::vector<Draw> cubic_draws(const Scaling& s, int64_t in, int64_t out) {
  constexpr float kSteps = 1024;
  const double a = s.centers ? -0.5 : -0.75;
  const float factor = s.factor(in, out);
  std::vector<Draw> all(static_cast<size_t>(out));
  for (int64_t o = 0; o < out; ++o) {
    const float p = s.position(o, factor), floor = std::floor(p);
    const float delta = std::nearbyint((p - floor) * kSteps) / kSteps;
    const float distance[] = {1 + delta, delta, 1 - delta, 2 - delta};
    Draw& d = all[static_cast<size_t>(o)];
    float sum = 0;
    for (int k = 0; k < 4; ++k) {
      const int64_t at = static_cast<int64_t>(floor) + k - 1;
      d.at[k] = std::clamp<int64_t>(at, 0, in - 1);
      d.weight[k] = s.centers && d.at[k] != at ? 0 : cubic(distance[k], a);
      sum += d.weight[k];
    }
    if (s.centers && std::abs(sum) >= 1000 * std::numeric_limits<float>::min())
      for (float& w : d.weight) w /= sum;
  }
  return all;
}

struct Bicubic {
  Scaling scaling;
  void operator()(KernelContext& c) const {
    const Tensor& in = c.input(0);
    const Sizes s = sizes_of(in, c.input(1));
    Tensor& out = c.output(0, Shape{s.batch, s.out_height, s.out_width, s.channels});
    const auto ys = cubic_draws(scaling, s.in_height, s.out_height);
    const auto xs = cubic_draws(scaling, s.in_width, s.out_width);
    const int64_t n = s.channels, row = s.in_width * n;
    visit_dtype(in.dtype(), Reals{}, [&](auto tag) {
      using T = typename decltype(tag)::type;
      c.parallel_for(s.batch * s.out_height, 16.0 * static_cast<double>(s.out_width * n),
                     [&](int64_t b, int64_t e) {
                       std::vector<float> column(static_cast<size_t>(row));
                       for (int64_t r = b; r < e; ++r) {
                         const T* image = in.data<T>() + r / s.out_height * s.in_height * row;
                         vertical(image, ys[static_cast<size_t>(r % s.out_height)], row,
                                  column.data());
                         horizontal(column.data(), xs, n, out.data<float>() + r * s.out_width * n);
                       }
                     });
    });
  }
  template <class T>
  static void vertical(const T* image, const Draw& y, int64_t row, float* to) {
    for (int64_t i = 0; i < row; ++i) {
      float sum = 0;
      for (int k = 0; k < 4; ++k) sum += y.weight[k] * static_cast<float>(image[y.at[k] * row + i]);
      to[i] = sum;
    }
  }
  static void horizontal(const float* from, const std::vector<Draw>& xs, int64_t n, float* to) {
    for (const Draw& x : xs)
      for (int64_t i = 0; i < n; ++i) {
        float sum = 0;
        for (int k = 0; k < 4; ++k) sum += x.weight[k] * from[x.at[k] * n + i];
        *to++ = sum;
      }
  }
};

struct BicubicGradient {
  Scaling scaling;
  void operator()(KernelContext& c) const {
    const Tensor &gradient = c.input(0), &original = c.input(1);
    const Sizes s = gradient_sizes(gradient, original);
    Tensor& out = c.output(0, original.shape());
    const auto ys = cubic_draws(scaling, s.in_height, s.out_height);
    const auto xs = cubic_draws(scaling, s.in_width, s.out_width);
    visit_dtype(out.dtype(), Types<float, double>{}, [&](auto tag) {
      using T = typename decltype(tag)::type;
      spread_gradient(
          c, s, gradient.data<float>(), out.data<T>(), [&](int64_t oy, int64_t ox, auto&& add) {
            const Draw &y = ys[static_cast<size_t>(oy)], &x = xs[static_cast<size_t>(ox)];
            for (int j = 0; j < 4; ++j)
              for (int k = 0; k < 4; ++k) add(y.at[j], x.at[k], y.weight[j], x.weight[k]);
          });
    });
  }
};

// ---- Areas.

struct Area {
  Scaling scaling;
  // What one output position covers of input i, of [from, to).
  static float share(int64_t i, float from, float to) {
    const auto low = static_cast<float>(i);
    return std::min(low + 1, to) - std::max(low, from);
  }
  void operator()(KernelContext& c) const {
    const Tensor& in = c.input(0);
    const Sizes s = sizes_of(in, c.input(1));
    Tensor& out = c.output(0, Shape{s.batch, s.out_height, s.out_width, s.channels});
    const float fy = scaling.factor(s.in_height, s.out_height),
                fx = scaling.factor(s.in_width, s.out_width);
    const double cost = 2.0 * static_cast<double>(s.out_width * s.channels) *
                        static_cast<double>((fy + 1) * (fx + 1));
    visit_dtype(in.dtype(), Reals{}, [&](auto tag) {
      using T = typename decltype(tag)::type;
      c.parallel_for(s.batch * s.out_height, cost, [&](int64_t b, int64_t e) {
        for (int64_t r = b; r < e; ++r)
          row(s, in.data<T>() + r / s.out_height * s.in_pixels() * s.channels,
              static_cast<float>(r % s.out_height) * fy, fy, fx,
              out.data<float>() + r * s.out_width * s.channels);
      });
    });
  }
  template <class T>
  static void row(const Sizes& s, const T* image, float top, float fy, float fx, float* out) {
    const float bottom = top + fy, whole = 1 / (fy * fx);
    for (int64_t ox = 0; ox < s.out_width; ++ox, out += s.channels) {
      const float left = static_cast<float>(ox) * fx, right = static_cast<float>(ox + 1) * fx;
      std::fill_n(out, s.channels, 0.0f);
      for (auto y = static_cast<int64_t>(std::floor(top)); static_cast<float>(y) < bottom; ++y)
        for (auto x = static_cast<int64_t>(std::floor(left)); static_cast<float>(x) < right; ++x) {
          const float weight = share(y, top, bottom) * share(x, left, right);
          const int64_t at =
              std::min(y, s.in_height - 1) * s.in_width + std::min(x, s.in_width - 1);
          for (int64_t i = 0; i < s.channels; ++i)
            out[i] += weight * static_cast<float>(image[at * s.channels + i]);
        }
      for (int64_t i = 0; i < s.channels; ++i) out[i] *= whole;
    }
  }
};

template <class K>
Prepared make(const KernelInit& init) {
  return prepared(K{Scaling::of(init)});
}

}  // namespace

std::vector<KernelRow> resize_kernels() {
  auto row = [](const char* op, std::vector<DType> types, KernelFactory f) {
    return KernelRow{op, "CPU", {{"T", std::move(types)}}, {}, f, {}, 0, ""};
  };
  const auto reals = Reals::dtypes(), floats = Floats::dtypes();
  return {row("ResizeBilinear", reals, make<Bilinear>),
          row("ResizeBilinearGrad", floats, make<BilinearGradient>),
          row("ResizeNearestNeighbor", reals, make<Nearest>),
          row("ResizeNearestNeighborGrad", reals, make<NearestGradient>),
          row("ResizeBicubic", reals, make<Bicubic>),
          row("ResizeBicubicGrad", {DType::kFloat, DType::kDouble}, make<BicubicGradient>),
          row("ResizeArea", reals, make<Area>)};
}

}  // namespace emplace::cpu
