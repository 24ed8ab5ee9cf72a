// Convolutions as matrix products: the windows of some output pixels are laid out as rows.
#include "backends/cpu/conv.h"

#include "backends/cpu/gemm.h"
#include "backends/cpu/math.h"

namespace emplace::cpu {
namespace {

using ConvTypes = Types<float, double, int32_t>;

// Calls f(tap, pixel) for every tap of output pixel p; pixel is -1 where it meets padding.
template <class F>
void for_taps(const ConvShape& s, int64_t p, F&& f) {
  const auto& [depth, height, width] = s.dims;
  const int64_t x = p % width.out, y = p / width.out % height.out, z = p / width.out / height.out;
  int64_t tap = 0;
  for (int64_t i = 0; i < depth.size; ++i) {
    const int64_t d = depth.at(z, i);
    const bool in_depth = d >= 0 && d < depth.in;
    for (int64_t j = 0; j < height.size; ++j) {
      const int64_t h = height.at(y, j);
      const bool in_height = in_depth && h >= 0 && h < height.in;
      for (int64_t k = 0; k < width.size; ++k, ++tap) {
        const int64_t w = width.at(x, k);
        const bool inside = in_height && w >= 0 && w < width.in;
        f(tap, inside ? (d * height.in + h) * width.in + w : -1);
      }
    }
  }
}

// One group's part of the work: which channels, and how many.
struct Group {
  int64_t in_at, in, out_at, out;
};
Group group_of(const ConvShape& s, int64_t g) {
  return {g * s.group_in(), s.group_in(), g * s.group_out(), s.group_out()};
}

// Windows of output pixels [begin, end) of one image as rows of taps × channels.
template <class T>
void gather_windows(const ConvShape& s, const Group& g, const T* image, int64_t begin, int64_t end,
                    T* rows) {
  for (int64_t p = begin; p < end; ++p)
    for_taps(s, p, [&](int64_t, int64_t pixel) {
      if (pixel < 0)
        std::fill_n(rows, g.in, T(0));
      else
        std::copy_n(image + pixel * s.in_channels + g.in_at, g.in, rows);
      rows += g.in;
    });
}

// Adds such rows to the pixels they came from.
template <class T>
void scatter_windows(const ConvShape& s, const Group& g, const T* rows, int64_t begin, int64_t end,
                     T* image) {
  for (int64_t p = begin; p < end; ++p)
    for_taps(s, p, [&](int64_t, int64_t pixel) {
      if (pixel >= 0) {
        T* to = image + pixel * s.in_channels + g.in_at;
        for (int64_t i = 0; i < g.in; ++i) to[i] = plus(to[i], rows[i]);
      }
      rows += g.in;
    });
}

// Columns [at, at + n) of a matrix with `columns` columns, packed.
template <class T>
const T* some_columns(KernelContext& c, const T* matrix, int64_t rows, int64_t columns, int64_t at,
                      int64_t n, Tensor& space) {
  if (n == columns) return matrix;
  space = c.temp(DTypeOf<T>::value, Shape{rows, n});
  for (int64_t r = 0; r < rows; ++r)
    std::copy_n(matrix + r * columns + at, n, space.data<T>() + r * n);
  return space.data<T>();
}
template <class T>
void put_columns(const T* part, int64_t rows, int64_t n, T* matrix, int64_t columns, int64_t at) {
  for (int64_t r = 0; r < rows; ++r) std::copy_n(part + r * n, n, matrix + r * columns + at);
}

// Output pixels whose windows fill about 256 KiB.
int64_t pixels_at_once(const ConvShape& s, size_t size) {
  const int64_t row = std::max<int64_t>(1, s.taps() * s.group_in() * static_cast<int64_t>(size));
  return std::clamp<int64_t>((int64_t{256} << 10) / row, 8,
                             s.out_pixels() < 8 ? 8 : s.out_pixels());
}

double gemm_cost(const ConvShape& s, int64_t pixels) {
  return s.flops() / static_cast<double>(s.batch * s.out_pixels()) * static_cast<double>(pixels) *
         0.1;
}

template <class T>
void forward_block(KernelContext& c, const ConvShape& s, const Group& g, const T* x, const T* w,
                   T* y, int64_t begin, int64_t end) {
  const int64_t n = end - begin, k = s.taps() * g.in;
  const Tensor rows = c.temp(DTypeOf<T>::value, Shape{n, k});
  gather_windows(s, g, x, begin, end, rows.data<T>());
  const GemmShape shape{.m = n, .n = g.out, .k = k};
  T* to = y + begin * s.out_channels;
  if (s.groups == 1) return gemm(c, DTypeOf<T>::value, shape, rows.raw(), w, to);
  const Tensor part = c.temp(DTypeOf<T>::value, Shape{n, g.out});
  gemm(c, DTypeOf<T>::value, shape, rows.raw(), w, part.raw());
  put_columns(part.data<T>(), n, g.out, to, s.out_channels, g.out_at);
}

template <class T>
void forward(KernelContext& c, const ConvShape& s, const T* x, const T* w, T* y) {
  const int64_t at_once = pixels_at_once(s, sizeof(T));
  const int64_t blocks = (s.out_pixels() + at_once - 1) / at_once;
  for (int64_t i = 0; i < s.groups; ++i) {
    const Group g = group_of(s, i);
    Tensor space;
    const T* filter = some_columns(c, w, s.taps() * g.in, s.out_channels, g.out_at, g.out, space);
    c.parallel_for(s.batch * blocks, gemm_cost(s, at_once), [&](int64_t from, int64_t to) {
      for (int64_t b = from; b < to; ++b) {
        const int64_t image = b / blocks, begin = b % blocks * at_once;
        forward_block(c, s, g, x + image * s.in_pixels() * s.in_channels, filter,
                      y + image * s.out_pixels() * s.out_channels, begin,
                      std::min(begin + at_once, s.out_pixels()));
      }
    });
  }
}

template <class T>
void input_gradient_block(KernelContext& c, const ConvShape& s, const Group& g, const T* w,
                          const T* dy, T* dx, int64_t begin, int64_t end) {
  const int64_t n = end - begin, k = s.taps() * g.in;
  const Tensor rows = c.temp(DTypeOf<T>::value, Shape{n, k});
  Tensor space;
  const T* out =
      some_columns(c, dy + begin * s.out_channels, n, s.out_channels, g.out_at, g.out, space);
  gemm(c, DTypeOf<T>::value, {.m = n, .n = k, .k = g.out, .transpose_b = true}, out, w, rows.raw());
  scatter_windows(s, g, rows.data<T>(), begin, end, dx);
}

template <class T>
void input_gradient(KernelContext& c, const ConvShape& s, const T* w, const T* dy, T* dx) {
  const int64_t at_once = pixels_at_once(s, sizeof(T));
  std::fill_n(dx, s.batch * s.in_pixels() * s.in_channels, T(0));
  for (int64_t i = 0; i < s.groups; ++i) {
    const Group g = group_of(s, i);
    Tensor space;
    const T* filter = some_columns(c, w, s.taps() * g.in, s.out_channels, g.out_at, g.out, space);
    c.parallel_for(s.batch, gemm_cost(s, s.out_pixels()), [&](int64_t from, int64_t to) {
      for (int64_t image = from; image < to; ++image)
        for (int64_t p = 0; p < s.out_pixels(); p += at_once)
          input_gradient_block(c, s, g, filter, dy + image * s.out_pixels() * s.out_channels,
                               dx + image * s.in_pixels() * s.in_channels, p,
                               std::min(p + at_once, s.out_pixels()));
    });
  }
}

// One image's share of a filter's gradient, added to `sum`; `part` is scratch of the same size.
template <class T>
void filter_gradient_image(KernelContext& c, const ConvShape& s, const Group& g, const T* x,
                           const T* dy, T* part, T* sum) {
  const int64_t at_once = pixels_at_once(s, sizeof(T)), k = s.taps() * g.in;
  for (int64_t p = 0; p < s.out_pixels(); p += at_once) {
    const int64_t n = std::min(at_once, s.out_pixels() - p);
    const Tensor rows = c.temp(DTypeOf<T>::value, Shape{n, k});
    gather_windows(s, g, x, p, p + n, rows.data<T>());
    Tensor space;
    const T* out =
        some_columns(c, dy + p * s.out_channels, n, s.out_channels, g.out_at, g.out, space);
    gemm(c, DTypeOf<T>::value, {.m = k, .n = g.out, .k = n, .transpose_a = true}, rows.raw(), out,
         part);
    for (int64_t i = 0; i < k * g.out; ++i) sum[i] = plus(sum[i], part[i]);
  }
}

// Images fall into at most kParts parts, each with a sum of its own.
template <class T>
void filter_gradient(KernelContext& c, const ConvShape& s, const T* x, const T* dy, T* dw) {
  constexpr int64_t kParts = 4;
  const int64_t parts = std::min(kParts, s.batch), images = (s.batch + parts - 1) / parts;
  const int64_t size = s.taps() * s.group_in() * s.group_out();
  for (int64_t i = 0; i < s.groups; ++i) {
    const Group g = group_of(s, i);
    const Tensor sums = c.temp(DTypeOf<T>::value, Shape{parts, size});
    T* all = sums.data<T>();
    std::fill_n(all, parts * size, T(0));
    c.parallel_for(parts, gemm_cost(s, s.out_pixels() * images), [&](int64_t from, int64_t to) {
      const Tensor part = c.temp(DTypeOf<T>::value, Shape{size});
      for (int64_t b = from; b < to; ++b)
        for (int64_t image = b * images; image < std::min((b + 1) * images, s.batch); ++image)
          filter_gradient_image(c, s, g, x + image * s.in_pixels() * s.in_channels,
                                dy + image * s.out_pixels() * s.out_channels, part.data<T>(),
                                all + b * size);
    });
    for (int64_t b = 1; b < parts; ++b)
      for (int64_t k = 0; k < size; ++k) all[k] = plus(all[k], all[b * size + k]);
    put_columns(all, s.taps() * g.in, g.out, dw, s.out_channels, g.out_at);
  }
}

template <class T>
inline constexpr bool kIsFloat = std::is_same_v<T, float>;

}  // namespace

void conv_forward(KernelContext& c, DType dtype, const ConvShape& s, const void* x, const void* w,
                  void* y) {
  visit_dtype(dtype, ConvTypes{}, [&](auto tag) {
    using T = typename decltype(tag)::type;
    const T *px = static_cast<const T*>(x), *pw = static_cast<const T*>(w);
    if constexpr (kIsFloat<T>)
      if (dnnl_conv_forward(c, s, px, pw, static_cast<T*>(y))) return;
    forward(c, s, px, pw, static_cast<T*>(y));
  });
}

void conv_input_gradient(KernelContext& c, DType dtype, const ConvShape& s, const void* w,
                         const void* dy, void* dx) {
  visit_dtype(dtype, ConvTypes{}, [&](auto tag) {
    using T = typename decltype(tag)::type;
    const T *pw = static_cast<const T*>(w), *py = static_cast<const T*>(dy);
    if constexpr (kIsFloat<T>)
      if (dnnl_conv_input_gradient(c, s, pw, py, static_cast<T*>(dx))) return;
    input_gradient(c, s, pw, py, static_cast<T*>(dx));
  });
}

void conv_filter_gradient(KernelContext& c, DType dtype, const ConvShape& s, const void* x,
                          const void* dy, void* dw) {
  visit_dtype(dtype, ConvTypes{}, [&](auto tag) {
    using T = typename decltype(tag)::type;
    const T *px = static_cast<const T*>(x), *py = static_cast<const T*>(dy);
    if constexpr (kIsFloat<T>)
      if (dnnl_conv_filter_gradient(c, s, px, py, static_cast<T*>(dw))) return;
    filter_gradient(c, s, px, py, static_cast<T*>(dw));
  });
}

}  // namespace emplace::cpu
