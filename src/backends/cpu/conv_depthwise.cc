// Convolutions of each channel by itself.
#include <numeric>

#include "backends/cpu/conv.h"
#include "backends/cpu/math.h"

namespace emplace::cpu {
namespace {

using DepthwiseTypes = Types<float, double>;

// What a tap does with one pixel: y[c * m + j] += x[c] * w[c * m + j].
template <class T>
void tap_forward(const T* x, const T* w, T* y, int64_t channels, int64_t m) {
  if (m == 1) {
#pragma GCC ivdep
    for (int64_t i = 0; i < channels; ++i) y[i] += x[i] * w[i];
    return;
  }
  for (int64_t i = 0; i < channels; ++i)
    for (int64_t j = 0; j < m; ++j) y[i * m + j] += x[i] * w[i * m + j];
}
template <class T>
void tap_input(const T* dy, const T* w, T* dx, int64_t channels, int64_t m) {
  if (m == 1) {
#pragma GCC ivdep
    for (int64_t i = 0; i < channels; ++i) dx[i] += dy[i] * w[i];
    return;
  }
  for (int64_t i = 0; i < channels; ++i) {
    T sum = 0;
    for (int64_t j = 0; j < m; ++j) sum += dy[i * m + j] * w[i * m + j];
    dx[i] += sum;
  }
}

// Calls f(tap, input pixel) for the taps of output pixel (y, x) that meet the input.
template <class F>
void for_taps(const ConvShape& s, int64_t y, int64_t x, F&& f) {
  const WindowDim &height = s.dims[1], &width = s.dims[2];
  for (int64_t j = 0; j < height.size; ++j) {
    const int64_t h = height.at(y, j);
    if (h < 0 || h >= height.in) continue;
    for (int64_t k = 0; k < width.size; ++k) {
      const int64_t w = width.at(x, k);
      if (w >= 0 && w < width.in) f(j * width.size + k, h * width.in + w);
    }
  }
}

// Calls f(output pixel, tap, input pixel) for rows [begin, end) of outputs, counted over images.
template <class F>
void for_rows(const ConvShape& s, int64_t begin, int64_t end, F&& f) {
  const WindowDim &height = s.dims[1], &width = s.dims[2];
  for (int64_t row = begin; row < end; ++row) {
    const int64_t image = row / height.out * s.in_pixels();
    for (int64_t x = 0; x < width.out; ++x)
      for_taps(s, row % height.out, x,
               [&](int64_t tap, int64_t pixel) { f(row * width.out + x, tap, image + pixel); });
  }
}

double row_cost(const ConvShape& s) {
  return 0.2 * static_cast<double>(s.dims[2].out * s.taps() * s.out_channels) + 10;
}

// One output pixel of channels that stay apart, from all its taps at once: sums stay in registers.
template <class T>
void pixel_forward(const T* const* xs, const T* const* ws, int64_t taps, int64_t channels, T* y) {
  constexpr int64_t kBlock = 64 / sizeof(T);
  int64_t i = 0;
  for (; i + kBlock <= channels; i += kBlock) {
    T sum[kBlock] = {};
    for (int64_t t = 0; t < taps; ++t)
      for (int64_t k = 0; k < kBlock; ++k) sum[k] += xs[t][i + k] * ws[t][i + k];
    for (int64_t k = 0; k < kBlock; ++k) y[i + k] = sum[k];
  }
  for (; i < channels; ++i) {
    T sum = 0;
    for (int64_t t = 0; t < taps; ++t) sum += xs[t][i] * ws[t][i];
    y[i] = sum;
  }
}

// Outputs that lie one after another and meet the same taps, whatever their pixel: `periods` times
// `period` of them, the weights of a period in a row for each tap. kPeriods at a time share a load of
// a weight; two vectors each.
template <class T>
struct Run {
  static constexpr int64_t kLanes = 32 / sizeof(T), kStep = 2 * kLanes;
  typedef T V __attribute__((vector_size(32), aligned(sizeof(T)), may_alias));

  template <int kPeriods>
  [[gnu::always_inline]] static inline void some(const T* const* xs, const T* w, int64_t taps,
                                                 int64_t period, int64_t from, T* y) {
    for (int64_t i = 0; i < period; i += kStep) {
      V sum[kPeriods][2] = {};
      const T* weights = w + i;
      for (int64_t t = 0; t < taps; ++t, weights += period) {
        const T* x = xs[t] + from + i;
        const V w0 = *reinterpret_cast<const V*>(weights),
                w1 = *reinterpret_cast<const V*>(weights + kLanes);
        for (int p = 0; p < kPeriods; ++p) {
          sum[p][0] += *reinterpret_cast<const V*>(x + p * period) * w0;
          sum[p][1] += *reinterpret_cast<const V*>(x + p * period + kLanes) * w1;
        }
      }
      for (int p = 0; p < kPeriods; ++p) {
        *reinterpret_cast<V*>(y + from + i + p * period) = sum[p][0];
        *reinterpret_cast<V*>(y + from + i + p * period + kLanes) = sum[p][1];
      }
    }
  }
  static void all(const T* const* xs, const T* w, int64_t taps, int64_t period, int64_t size, T* y) {
    int64_t from = 0;
    for (; from + 4 * period <= size; from += 4 * period) some<4>(xs, w, taps, period, from, y);
    for (; from + period <= size; from += period) some<1>(xs, w, taps, period, from, y);
    // The last ones once more, so that they fill a period.
    if (from < size) some<1>(xs, w, taps, period, size - period, y);
  }
};

// The outputs of a row whose windows lie within the input's width: [begin, end).
std::pair<int64_t, int64_t> inner_pixels(const WindowDim& d) {
  int64_t begin = 0, end = d.out;
  while (begin < end && d.at(begin, 0) < 0) ++begin;
  while (end > begin && d.at(end - 1, d.size - 1) >= d.in) --end;
  return {begin, end};
}

template <class T>
void pixels_forward(KernelContext& c, const ConvShape& s, const T* x, const T* w, T* y) {
  const int64_t channels = s.in_channels, width = s.dims[2].out, height = s.dims[1].out;
  const auto loop = best<pixel_forward<T>>();
  const auto run = best<Run<T>::all>();
  // As many whole pixels as fill whole vectors; weights that many times.
  const int64_t period = std::lcm(channels, Run<T>::kStep);
  const auto inner = inner_pixels(s.dims[2]);
  constexpr int64_t kLongest = 1024;
  const bool runs = s.dims[2].stride == 1 && period <= kLongest &&
                    (inner.second - inner.first) * channels >= period;
  std::vector<T> weights(runs ? static_cast<size_t>(s.taps() * period) : 0);
  for (size_t i = 0; i < weights.size(); ++i) {
    const auto at = static_cast<int64_t>(i);
    weights[i] = w[at / period * channels + at % period % channels];
  }
  c.parallel_for(s.batch * height, row_cost(s), [&](int64_t begin, int64_t end) {
    std::vector<const T*> xs(static_cast<size_t>(s.taps())), ws(xs.size());
    const auto run_row = [&](const T* image, int64_t row) {
      // The taps of a row of the window are all there, or none.
      int64_t first = s.taps(), last = 0;
      for_taps(s, row % height, inner.first, [&](int64_t tap, int64_t pixel) {
        first = std::min(first, tap);
        xs[static_cast<size_t>(last)] = image + pixel * channels;
        ++last;
      });
      run(xs.data(), weights.data() + first * period, last, period,
          (inner.second - inner.first) * channels, y + (row * width + inner.first) * channels);
    };
    for (int64_t row = begin; row < end; ++row) {
      const T* image = x + row / height * s.in_pixels() * channels;
      if (runs) run_row(image, row);
      for (int64_t at = 0; at < width; ++at) {
        if (runs && at == inner.first) at = inner.second;
        if (at == width) break;
        size_t taps = 0;
        for_taps(s, row % height, at, [&](int64_t tap, int64_t pixel) {
          xs[taps] = image + pixel * channels;
          ws[taps++] = w + tap * channels;
        });
        loop(xs.data(), ws.data(), static_cast<int64_t>(taps), channels,
             y + (row * width + at) * channels);
      }
    }
  });
}

template <class T>
void taps_forward(KernelContext& c, const ConvShape& s, const T* x, const T* w, T* y) {
  const int64_t in = s.in_channels, out = s.out_channels, m = out / in;
  if (m == 1) return pixels_forward(c, s, x, w, y);
  // Each channel as often as it is used.
  const int64_t pixels = s.batch * s.in_pixels();
  const Tensor repeated = c.temp(DTypeOf<T>::value, Shape{pixels * out});
  c.parallel_for(pixels, static_cast<double>(out) * 0.5, [&](int64_t begin, int64_t end) {
    T* to = repeated.data<T>() + begin * out;
    for (int64_t i = begin * in; i < end * in; ++i, to += m) std::fill_n(to, m, x[i]);
  });
  ConvShape apart = s;
  apart.in_channels = out;
  pixels_forward(c, apart, repeated.data<T>(), w, y);
}

template <class T>
void taps_to_input(KernelContext& c, const ConvShape& s, const T* w, const T* dy, T* dx) {
  const int64_t in = s.in_channels, out = s.out_channels, m = out / in, rows = s.dims[1].out;
  const auto tap_loop = best<tap_input<T>>();
  c.parallel_for(s.batch, row_cost(s) * static_cast<double>(rows), [&](int64_t begin, int64_t end) {
    const int64_t image = s.in_pixels() * in;
    std::fill(dx + begin * image, dx + end * image, T(0));
    for_rows(s, begin * rows, end * rows, [&](int64_t o, int64_t tap, int64_t pixel) {
      tap_loop(dy + o * out, w + tap * out, dx + pixel * in, in, m);
    });
  });
}

// Rows fall into parts with sums of their own, merged in order.
template <class T>
void taps_to_filter(KernelContext& c, const ConvShape& s, const T* x, const T* dy, T* dw) {
  const int64_t in = s.in_channels, out = s.out_channels, m = out / in;
  const int64_t rows = s.batch * s.dims[1].out, parts = std::min<int64_t>(8, rows);
  const int64_t height = (rows + parts - 1) / parts, size = s.taps() * out;
  const Tensor sums = c.temp(DTypeOf<T>::value, Shape{parts, size});
  T* all = sums.data<T>();
  std::fill_n(all, parts * size, T(0));
  const auto tap_loop = best<tap_forward<T>>();
  c.parallel_for(parts, row_cost(s) * static_cast<double>(height), [&](int64_t begin, int64_t end) {
    for (int64_t p = begin; p < end; ++p)
      for_rows(s, p * height, std::min((p + 1) * height, rows),
               [&](int64_t o, int64_t tap, int64_t pixel) {
                 tap_loop(x + pixel * in, dy + o * out, all + p * size + tap * out, in, m);
               });
  });
  for (int64_t p = 1; p < parts; ++p)
    for (int64_t i = 0; i < size; ++i) all[i] += all[p * size + i];
  std::copy_n(all, size, dw);
}

}  // namespace

void depthwise_forward(KernelContext& c, DType dtype, const ConvShape& s, const void* x,
                       const void* w, void* y) {
  visit_dtype(dtype, DepthwiseTypes{}, [&](auto tag) {
    using T = typename decltype(tag)::type;
    taps_forward(c, s, static_cast<const T*>(x), static_cast<const T*>(w), static_cast<T*>(y));
  });
}
void depthwise_input_gradient(KernelContext& c, DType dtype, const ConvShape& s, const void* w,
                              const void* dy, void* dx) {
  visit_dtype(dtype, DepthwiseTypes{}, [&](auto tag) {
    using T = typename decltype(tag)::type;
    taps_to_input(c, s, static_cast<const T*>(w), static_cast<const T*>(dy), static_cast<T*>(dx));
  });
}
void depthwise_filter_gradient(KernelContext& c, DType dtype, const ConvShape& s, const void* x,
                               const void* dy, void* dw) {
  visit_dtype(dtype, DepthwiseTypes{}, [&](auto tag) {
    using T = typename decltype(tag)::type;
    taps_to_filter(c, s, static_cast<const T*>(x), static_cast<const T*>(dy), static_cast<T*>(dw));
  });
}

}  // namespace emplace::cpu
