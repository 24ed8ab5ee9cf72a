// MaxPool, AvgPool, MaxPoolWithArgmax and the same over volumes.
#include <fmt/format.h>

#include "backends/cpu/layout.h"
#include "backends/cpu/math.h"
#include "backends/cpu/nets_kernels.h"
#include "backends/cpu/pool.h"

namespace emplace::cpu {

Pool Pool::of(const KernelInit& init, int spatial) {
  return {WindowAttrs(*init.attrs, spatial, init.op->name.c_str(), "ksize"),
          !init.find("ksize")};
}

WindowAttrs Pool::windows(KernelContext& c) const {
  if (!sizes_are_inputs) return w;
  WindowAttrs own = w;
  const int n = c.num_inputs();
  own.set_sizes(int_values(c.input(n - 2)), int_values(c.input(n - 1)));
  return own;
}

PoolShape pool_shape(const WindowAttrs& w, const Shape& in) {
  if (in.rank() != w.rank())
    throw invalid_argument(fmt::format("tensor_in must be {}-dimensional", w.rank()));
  if (w.size(0) != 1 || w.stride(0) != 1)
    throw unimplemented("Pooling is not yet supported on the batch dimension.");
  if (w.size(w.channel_dim()) != 1 || w.stride(w.channel_dim()) != 1)
    throw unimplemented("Non-spatial pooling is not yet supported.");
  PoolShape s;
  s.batch = in[0];
  s.channels = in[w.channel_dim()];
  for (int i = 0; i < 3 - w.spatial(); ++i)
    s.dims[static_cast<size_t>(i)] = {.in = 1, .size = 1, .out = 1};
  for (int i = 0; i < w.spatial(); ++i) {
    const int d = w.spatial_dim(i);
    const WindowDim dim = w.slide(i, in[d], w.size(d));
    if (dim.before >= dim.size || dim.after >= dim.size)
      throw invalid_argument("the padding must be smaller than the window size");
    s.dims[static_cast<size_t>(3 - w.spatial() + i)] = dim;
  }
  return s;
}

Shape pooled_shape(const WindowAttrs& w, const PoolShape& s) {
  Shape out = Shape::unknown_dims(w.rank());
  out.set_dim(0, s.batch);
  out.set_dim(w.channel_dim(), s.channels);
  for (int i = 0; i < w.spatial(); ++i)
    out.set_dim(w.spatial_dim(i), s.dims[static_cast<size_t>(3 - w.spatial() + i)].out);
  return out;
}

namespace {

template <class T>
void take_largest(const T* x, T* y, int64_t n) {
#pragma GCC ivdep
  for (int64_t i = 0; i < n; ++i) y[i] = y[i] < x[i] ? x[i] : y[i];
}
template <class T>
void take_sum(const T* x, T* y, int64_t n) {
#pragma GCC ivdep
  for (int64_t i = 0; i < n; ++i) y[i] += x[i];
}
template <class T>
void divide(T* y, T by, int64_t n) {
  for (int64_t i = 0; i < n; ++i) y[i] /= by;
}

// Output pixels [begin, end), counted over all images. A leaf: compiled for several machines.
template <class T, bool kMean>
void pool_pixels(const PoolShape& s, const T* x, T* y, int64_t begin, int64_t end) {
  const int64_t n = s.channels, pixels = s.out_pixels();
  for (int64_t o = begin; o < end; ++o) {
    const T* image = x + o / pixels * s.in_pixels() * n;
    T* to = y + o * n;
    int64_t count = 0;
    for_pool_taps(s, o % pixels, [&](int64_t pixel) {
      const T* from = image + pixel * n;
      if (count++ == 0)
        std::copy_n(from, n, to);
      else if constexpr (kMean)
        take_sum(from, to, n);
      else
        take_largest(from, to, n);
    });
    if (count == 0) std::fill_n(to, n, T(0));
    if constexpr (kMean)
      if (count > 1) divide(to, static_cast<T>(count), n);
  }
}

template <class T, bool kMean>
void run_pool(KernelContext& c, const PoolShape& s, const Tensor& x, Tensor& y) {
  const auto loop = pick<T, pool_pixels<T, kMean>>();
  const double cost = 0.3 * static_cast<double>(s.taps() * s.channels) + 10;
  c.parallel_for(s.batch * s.out_pixels(), cost, [&](int64_t begin, int64_t end) {
    loop(s, x.data<T>(), y.data<T>(), begin, end);
  });
}

// Windows over channels: each output is the largest of neighbours.
void max_over_channels(KernelContext& c, const WindowAttrs& w, const Tensor& in) {
  const int d = w.channel_dim();
  const int64_t size = w.size(d);
  for (int i = 0; i < w.spatial(); ++i)
    if (w.size(w.spatial_dim(i)) != 1)
      throw unimplemented(
          "MaxPooling supports exactly one of pooling across depth or pooling "
          "across width/height.");
  if (w.channels_first() || w.size(0) != 1)
    throw unimplemented("Pooling is not yet supported on the batch dimension.");
  if (in.dim(d) % size != 0)
    throw unimplemented(
        "Depthwise max pooling requires the depth window to evenly divide the input "
        "depth");
  if (w.stride(d) != size)
    throw unimplemented(
        "Depthwise max pooling requires the depth window to equal the depth stride");
  Shape shape = in.shape();
  shape.set_dim(d, in.dim(d) / size);
  Tensor& out = c.output(0, shape);
  visit_dtype(in.dtype(), Reals{}, [&](auto tag) {
    using T = typename decltype(tag)::type;
    const T* x = in.data<T>();
    for (int64_t i = 0; i < out.num_elements(); ++i, x += size)
      out.data<T>()[i] = *std::max_element(x, x + size, [](T a, T b) {
        return static_cast<Compute<T>>(a) < static_cast<Compute<T>>(b);
      });
  });
}

using Pooled = Join<Types<float, double>, Ints>;

template <bool kMean>
struct PoolKernel {
  Pool pool;
  void operator()(KernelContext& c) const {
    const WindowAttrs w = pool.windows(c);
    const Tensor& in = c.input(0);
    if (in.rank() != w.rank())
      throw invalid_argument(fmt::format("tensor_in must be {}-dimensional", w.rank()));
    if (!kMean && w.spatial() == 2 && w.size(w.channel_dim()) > 1)
      return max_over_channels(c, w, in);
    const PoolShape s = pool_shape(w, in.shape());
    Tensor& out = c.output(0, pooled_shape(w, s));
    if (out.num_elements() == 0) return;
    const Tensor x = wide_input(c, in, w.channels_first());
    WideOutput y(c, out, w.channels_first());
    visit_dtype(x.dtype(), Pooled{}, [&](auto tag) {
      using T = typename decltype(tag)::type;
      if constexpr (!kMean || std::is_floating_point_v<T>) run_pool<T, kMean>(c, s, x, y.tensor());
    });
    y.finish();
  }
};

template <bool kMean, int kSpatial>
Prepared make_pool(const KernelInit& init) {
  return prepared(PoolKernel<kMean>{Pool::of(init, kSpatial)});
}

}  // namespace

std::vector<KernelRow> pooling_kernels() {
  auto row = [](const char* op, std::vector<DType> types, KernelFactory make) {
    return KernelRow{op, "CPU", {{"T", std::move(types)}}, {}, make, {}, 0, ""};
  };
  const auto reals = Reals::dtypes(), floats = Floats::dtypes();
  return {row("MaxPool", reals, make_pool<false, 2>), row("MaxPoolV2", reals, make_pool<false, 2>),
          row("MaxPool3D", floats, make_pool<false, 3>), row("AvgPool", floats, make_pool<true, 2>),
          row("AvgPool3D", floats, make_pool<true, 3>)};
}

}  // namespace emplace::cpu
