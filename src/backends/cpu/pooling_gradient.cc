// Gradients of pools, and pools that say where the largest was.
#include <fmt/format.h>

#include "backends/cpu/layout.h"
#include "backends/cpu/math.h"
#include "backends/cpu/nets_kernels.h"
#include "backends/cpu/pool.h"

namespace emplace::cpu {
namespace {

using Pooled = Join<Types<float, double>, Ints>;

// Where, for each channel of output pixel p, the largest input is: the first one of equals.
template <class T>
void find_largest(const PoolShape& s, const T* image, int64_t p, T* largest, int64_t* where) {
  const int64_t n = s.channels;
  bool first = true;
  for_pool_taps(s, p, [&](int64_t pixel) {
    const T* x = image + pixel * n;
    for (int64_t i = 0; i < n; ++i) {
      if (!first && !(largest[i] < x[i])) continue;
      largest[i] = x[i];
      where[i] = pixel;
    }
    first = false;
  });
}

// Calls f(output pixel, channel, input pixel, largest) over the pixels of images [begin, end).
template <class T, class F>
void for_largest(const PoolShape& s, const T* x, int64_t begin, int64_t end, F&& f) {
  const auto n = static_cast<size_t>(s.channels);
  std::vector<T> largest(n);
  std::vector<int64_t> where(n);
  for (int64_t image = begin; image < end; ++image)
    for (int64_t p = 0; p < s.out_pixels(); ++p) {
      find_largest(s, x + image * s.in_pixels() * s.channels, p, largest.data(), where.data());
      for (size_t i = 0; i < n; ++i)
        f(image * s.out_pixels() + p, static_cast<int64_t>(i), where[i], largest[i]);
    }
}

// As wide as T, so that both fit the same vectors.
template <class T>
using TapIndex = std::conditional_t<sizeof(T) == 8, int64_t, int32_t>;

// One output pixel's gradient, to the tap where each channel's largest was: the first one of
// equals. Taps are offsets of pixels; `largest` and `where` are room for the channels.
template <class T>
void pixel_gradient(const T* image, const int64_t* taps, int64_t count, int64_t n, const T* g,
                    T* to, T* largest, TapIndex<T>* where) {
  std::copy_n(image + taps[0], n, largest);
  std::fill_n(where, n, TapIndex<T>(0));
  for (int64_t t = 1; t < count; ++t) {
    const T* x = image + taps[t];
    const auto tap = static_cast<TapIndex<T>>(t);
#pragma GCC ivdep
    for (int64_t i = 0; i < n; ++i) {
      const bool more = largest[i] < x[i];
      largest[i] = more ? x[i] : largest[i];
      where[i] = more ? tap : where[i];
    }
  }
  for (int64_t t = 0; t < count; ++t) {
    T* at = to + taps[t];
    const auto tap = static_cast<TapIndex<T>>(t);
#pragma GCC ivdep
    for (int64_t i = 0; i < n; ++i) at[i] = plus(at[i], where[i] == tap ? g[i] : T(0));
  }
}

double image_cost(const PoolShape& s) {
  return static_cast<double>(s.out_pixels() * s.taps() * s.channels) + 100;
}

void expect_shape(const char* what, const Shape& want, const Tensor& got) {
  if (!(got.shape() == want))
    throw invalid_argument(
        fmt::format("Expected {} shape to be {}, but got {}", what, want.str(), got.shape().str()));
}

void fill_zero(Tensor& t) {
  if (t.num_elements() > 0) std::memset(t.raw(), 0, t.bytes());
}

// dx[where the largest was] += dy, or (kBack) ddy = ddx[where the largest was].
template <bool kBack>
struct MaxGradient {
  Pool pool;
  void operator()(KernelContext& c) const {
    const WindowAttrs w = pool.windows(c);
    const Tensor &in = c.input(0), &out = c.input(1), &gradient = c.input(2);
    const PoolShape s = pool_shape(w, in.shape());
    const Shape pooled = pooled_shape(w, s);
    expect_shape("orig_output", pooled, out);
    expect_shape("grad", kBack ? in.shape() : pooled, gradient);
    Tensor& result = c.output(0, kBack ? pooled : in.shape());
    if (in.num_elements() == 0 || pooled.num_elements() == 0) return fill_zero(result);
    const Tensor x = wide_input(c, in, w.channels_first());
    const Tensor g = wide_input(c, gradient, w.channels_first());
    WideOutput to(c, result, w.channels_first());
    visit_dtype(x.dtype(), Pooled{}, [&](auto tag) {
      using T = typename decltype(tag)::type;
      if (!kBack && w.spatial() == 3)
        to_equals<T>(c, s, x, wide_input(c, out, w.channels_first()), g, to.tensor());
      else
        run<T>(c, s, x, g, to.tensor());
    });
    to.finish();
  }
  template <class T>
  static void run(KernelContext& c, const PoolShape& s, const Tensor& x, const Tensor& g,
                  Tensor& to) {
    if constexpr (!kBack) return to_largest<T>(c, s, x.data<T>(), g.data<T>(), to.data<T>());
    const int64_t n = s.channels, in = s.in_pixels(), pixels = s.out_pixels();
    c.parallel_for(s.batch, image_cost(s), [&](int64_t begin, int64_t end) {
      for_largest(s, x.data<T>(), begin, end, [&](int64_t o, int64_t i, int64_t pixel, T) {
        to.data<T>()[o * n + i] = g.data<T>()[(o / pixels * in + pixel) * n + i];
      });
    });
  }
  template <class T>
  static void to_largest(KernelContext& c, const PoolShape& s, const T* x, const T* g, T* to) {
    const int64_t n = s.channels, image = s.in_pixels() * n, pixels = s.out_pixels();
    const auto loop = pick<T, pixel_gradient<T>>();
    const double cost = 0.3 * image_cost(s);
    c.parallel_for(s.batch, cost, [&](int64_t begin, int64_t end) {
      std::vector<T> largest(static_cast<size_t>(n));
      std::vector<TapIndex<T>> where(static_cast<size_t>(n));
      std::vector<int64_t> taps;
      std::fill(to + begin * image, to + end * image, T(0));
      for (int64_t p = 0; p < pixels; ++p) {
        taps.clear();
        for_pool_taps(s, p, [&](int64_t pixel) { taps.push_back(pixel * n); });
        if (taps.empty()) continue;
        for (int64_t b = begin; b < end; ++b)
          loop(x + b * image, taps.data(), static_cast<int64_t>(taps.size()), n,
               g + (b * pixels + p) * n, to + b * image, largest.data(), where.data());
      }
    });
  }
  // Over volumes every input that equals the given largest has a share.
  template <class T>
  static void to_equals(KernelContext& c, const PoolShape& s, const Tensor& x, const Tensor& y,
                        const Tensor& g, Tensor& to) {
    fill_zero(to);
    const int64_t n = s.channels, pixels = s.out_pixels();
    c.parallel_for(s.batch, image_cost(s), [&](int64_t begin, int64_t end) {
      for (int64_t o = begin * pixels; o < end * pixels; ++o)
        for_pool_taps(s, o % pixels, [&](int64_t pixel) {
          const int64_t at = (o / pixels * s.in_pixels() + pixel) * n;
          for (int64_t i = 0; i < n; ++i)
            if (x.data<T>()[at + i] == y.data<T>()[o * n + i])
              to.data<T>()[at + i] = plus(to.data<T>()[at + i], g.data<T>()[o * n + i]);
        });
    });
  }
};

struct WithArgmax {
  Pool pool;
  bool count_images;
  void operator()(KernelContext& c) const {
    const Tensor& in = c.input(0);
    const PoolShape s = pool_shape(pool.w, in.shape());
    const Shape shape = pooled_shape(pool.w, s);
    Tensor &out = c.output(0, shape), &at = c.output(1, shape);
    if (out.num_elements() == 0 || in.num_elements() == 0) return;
    const Tensor x = widened(c, in);
    WideOutput y(c, out, false);
    const int64_t n = s.channels, pixels = s.out_pixels();
    visit_dtype(x.dtype(), Pooled{}, [&](auto tag) {
      using T = typename decltype(tag)::type;
      c.parallel_for(s.batch, image_cost(s), [&](int64_t begin, int64_t end) {
        for_largest(s, x.data<T>(), begin, end,
                    [&](int64_t o, int64_t i, int64_t pixel, T largest) {
                      y.tensor().data<T>()[o * n + i] = largest;
                      const int64_t image = count_images ? o / pixels * s.in_pixels() : 0;
                      put_int(at, o * n + i, (image + pixel) * n + i);
                    });
      });
    });
    y.finish();
  }
};

// Scatters by the positions that WithArgmax gave, or (kBack) gathers by them.
template <bool kBack>
struct ArgmaxGradient {
  bool count_images;
  void operator()(KernelContext& c) const {
    const Tensor &in = c.input(0), &gradient = c.input(1), &where = c.input(2);
    if (in.rank() != 4) throw invalid_argument("tensor_in must be 4-dimensional");
    if (kBack)
      expect_shape("grad", in.shape(), gradient);
    else
      expect_shape("argmax", gradient.shape(), where);
    if (where.rank() != 4 || where.dim(0) != in.dim(0))
      throw invalid_argument("argmax must be 4-dimensional with the batch of the input");
    Tensor& result = c.output(0, kBack ? where.shape() : in.shape());
    const Tensor g = widened(c, gradient);
    WideOutput to(c, result, false);
    if (!kBack) fill_zero(to.tensor());
    const std::vector<int64_t> at = int_values(where);
    const int64_t images = std::max<int64_t>(1, in.dim(0));
    const int64_t image = in.num_elements() / images;
    const int64_t per_image = std::max<int64_t>(1, where.num_elements() / images);
    visit_dtype(g.dtype(), Pooled{}, [&](auto tag) {
      using T = typename decltype(tag)::type;
      for (size_t i = 0; i < at.size(); ++i) {
        const auto k = static_cast<int64_t>(i);
        const int64_t p = at[i] + (count_images ? 0 : k / per_image * image);
        if (at[i] < 0 || p >= in.num_elements())
          throw invalid_argument(
              fmt::format("MaxPoolGradWithArgmax: invalid argmax index {}", at[i]));
        if constexpr (kBack)
          to.tensor().template data<T>()[k] = g.data<T>()[p];
        else
          to.tensor().template data<T>()[p] =
              plus(to.tensor().template data<T>()[p], g.data<T>()[k]);
      }
    });
    to.finish();
  }
};

struct MeanGradient {
  Pool pool;
  void operator()(KernelContext& c) const {
    const WindowAttrs& w = pool.w;
    const Tensor& gradient = c.input(1);
    const Shape shape = shape_from(c.input(0), "orig_input_shape");
    if (shape.rank() != w.rank() || gradient.rank() != w.rank())
      throw invalid_argument(fmt::format("out_backprop must be {}-dimensional", w.rank()));
    const PoolShape s = pool_shape(w, shape);
    expect_shape("grad", pooled_shape(w, s), gradient);
    Tensor& result = c.output(0, shape);
    if (result.num_elements() == 0 || gradient.num_elements() == 0) return fill_zero(result);
    const Tensor g = wide_input(c, gradient, w.channels_first());
    WideOutput to(c, result, w.channels_first());
    visit_dtype(g.dtype(), Types<float, double>{}, [&](auto tag) {
      using T = typename decltype(tag)::type;
      run<T>(c, s, g.data<T>(), to.tensor().data<T>());
    });
    to.finish();
  }
  template <class T>
  static void run(KernelContext& c, const PoolShape& s, const T* dy, T* dx) {
    const int64_t n = s.channels, image_size = s.in_pixels() * n;
    c.parallel_for(s.batch, image_cost(s), [&](int64_t begin, int64_t end) {
      std::fill(dx + begin * image_size, dx + end * image_size, T(0));
      for (int64_t image = begin; image < end; ++image)
        for (int64_t p = 0; p < s.out_pixels(); ++p)
          spread(s, p, dy + (image * s.out_pixels() + p) * n, dx + image * image_size);
    });
  }
  template <class T>
  static void spread(const PoolShape& s, int64_t p, const T* dy, T* image) {
    int64_t count = 0;
    for_pool_taps(s, p, [&](int64_t) { ++count; });
    const T share = T(1) / static_cast<T>(count);
    for_pool_taps(s, p, [&](int64_t pixel) {
      T* to = image + pixel * s.channels;
      for (int64_t i = 0; i < s.channels; ++i) to[i] += dy[i] * share;
    });
  }
};

template <bool kBack, int kSpatial>
Prepared make_max(const KernelInit& init) {
  return prepared(MaxGradient<kBack>{Pool::of(init, kSpatial)});
}
template <int kSpatial>
Prepared make_mean(const KernelInit& init) {
  return prepared(MeanGradient{Pool::of(init, kSpatial)});
}
Prepared make_argmax(const KernelInit& init) {
  return prepared(WithArgmax{Pool::of(init, 2), init.attr<bool>("include_batch_in_index")});
}
template <bool kBack>
Prepared make_argmax_gradient(const KernelInit& init) {
  return prepared(ArgmaxGradient<kBack>{init.attr<bool>("include_batch_in_index")});
}

}  // namespace

std::vector<KernelRow> pooling_gradient_kernels() {
  auto row = [](const char* op, std::vector<DType> types, KernelFactory make) {
    return KernelRow{op, "CPU", {{"T", std::move(types)}}, {}, make, {}, 0, ""};
  };
  const auto reals = Reals::dtypes(), floats = Floats::dtypes();
  return {row("MaxPoolGrad", reals, make_max<false, 2>),
          row("MaxPoolGradV2", reals, make_max<false, 2>),
          row("MaxPoolGradGrad", reals, make_max<true, 2>),
          row("MaxPoolGradGradV2", reals, make_max<true, 2>),
          row("MaxPool3DGrad", floats, make_max<false, 3>),
          row("MaxPool3DGradGrad", floats, make_max<true, 3>),
          row("MaxPoolWithArgmax", reals, make_argmax),
          row("MaxPoolGradWithArgmax", reals, make_argmax_gradient<false>),
          row("MaxPoolGradGradWithArgmax", reals, make_argmax_gradient<true>),
          row("AvgPoolGrad", floats, make_mean<2>),
          row("AvgPool3DGrad", floats, make_mean<3>)};
}

}  // namespace emplace::cpu
