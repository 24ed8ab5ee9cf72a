// Windows of images laid out, and the largest of window plus filter.
#include <fmt/format.h>

#include "backends/cpu/layout.h"
#include "backends/cpu/math.h"
#include "backends/cpu/nets_kernels.h"
#include "backends/cpu/pool.h"
#include "base/stop_scope.h"

namespace emplace::cpu {
namespace {

// ---- Patches.

struct Patches {
  WindowAttrs w;
  void operator()(KernelContext& c) const {
    const Tensor& in = c.input(0);
    if (in.rank() != w.rank())
      throw invalid_argument(
          fmt::format("input must be {}-dimensional{}", w.rank(), in.shape().str()));
    for (int d : {0, w.rank() - 1})
      if (w.size(d) != 1 || w.stride(d) != 1 || w.dilation(d) != 1)
        throw unimplemented("Only support ksizes across space.");
    std::array<WindowDim, 3> dims{
        WindowDim{.in = 1, .size = 1, .out = 1}, {.in = 1, .size = 1, .out = 1}, {}};
    Shape shape{in.dim(0)};
    int64_t depth = in.dim(w.rank() - 1);
    for (int i = 0; i < w.spatial(); ++i) {
      WindowDim& d = dims[static_cast<size_t>(3 - w.spatial() + i)];
      d = w.slide(i, in.dim(i + 1), w.size(i + 1));
      shape.push_back(d.out);
      checked_elements(std::array{depth, d.size});
      depth *= d.size;
    }
    shape.push_back(depth);
    run(c, dims, in, c.output(0, shape));
  }
  static void run(KernelContext& c, const std::array<WindowDim, 3>& dims, const Tensor& in,
                  Tensor& out) {
    const auto& [depth, height, width] = dims;
    const int64_t n = in.dim(in.rank() - 1), pixels = depth.out * height.out * width.out;
    const int64_t patch = out.dim(out.rank() - 1), image = depth.in * height.in * width.in;
    if (out.num_elements() == 0) return;
    const Mover mover(in.dtype());
    c.parallel_for(
        in.dim(0) * pixels, move_cost(in.dtype()) * static_cast<double>(patch) + 5,
        [&](int64_t b, int64_t e) {
          for (int64_t o = b; o < e; ++o) {
            const int64_t p = o % pixels, x = p % width.out, y = p / width.out % height.out,
                          z = p / width.out / height.out;
            int64_t to = o * patch;
            for (int64_t i = 0; i < depth.size; ++i)
              for (int64_t j = 0; j < height.size; ++j)
                for (int64_t k = 0; k < width.size; ++k, to += n) {
                  const int64_t d = depth.at(z, i), h = height.at(y, j), w = width.at(x, k);
                  const bool inside =
                      d >= 0 && d < depth.in && h >= 0 && h < height.in && w >= 0 && w < width.in;
                  if (!inside)
                    mover.zero(out, to, n);
                  else
                    mover.copy(out, to, in,
                               (o / pixels * image + (d * height.in + h) * width.in + w) * n, n);
                }
          }
        });
  }
};

template <int kSpatial>
Prepared make_patches(const KernelInit& init) {
  return prepared(
      Patches{WindowAttrs(*init.attrs, kSpatial, init.op->name.c_str(), "ksizes", "rates")});
}

// ---- Dilation.

enum class Result { kValue, kInput, kFilter };

template <Result kResult>
struct Dilation {
  WindowAttrs w;
  void operator()(KernelContext& c) const {
    const Tensor &in = c.input(0), &filter = c.input(1);
    if (in.rank() != 4) throw invalid_argument("input must be 4-dimensional: " + in.shape().str());
    if (filter.rank() != 3)
      throw invalid_argument("filter must be 3-dimensional: " + filter.shape().str());
    for (int d : {0, 3})
      if (w.stride(d) != 1 || w.dilation(d) != 1)
        throw unimplemented("Stride and rate are only supported across spatial dimensions.");
    if (in.dim(3) != filter.dim(2))
      throw invalid_argument(fmt::format("input and filter must have the same depth: {} vs {}",
                                         in.dim(3), filter.dim(2)));
    if (filter.dim(0) < 1 || filter.dim(1) < 1) throw invalid_argument("filter must not be empty");
    PoolShape s;
    s.dims = {WindowDim{.in = 1, .size = 1, .out = 1}, w.slide(0, in.dim(1), filter.dim(0)),
              w.slide(1, in.dim(2), filter.dim(1))};
    s.batch = in.dim(0);
    s.channels = in.dim(3);
    const Shape pooled{s.batch, s.dims[1].out, s.dims[2].out, s.channels};
    if (kResult != Result::kValue && !(c.input(2).shape() == pooled))
      throw invalid_argument(fmt::format("out_backprop has shape {}, expected {}",
                                         c.input(2).shape().str(), pooled.str()));
    Tensor& out = c.output(0, kResult == Result::kValue   ? pooled
                              : kResult == Result::kInput ? in.shape()
                                                          : filter.shape());
    const Tensor x = widened(c, in), f = widened(c, filter);
    const Tensor g = kResult == Result::kValue ? Tensor() : widened(c, c.input(2));
    WideOutput to(c, out, false);
    if (out.num_elements() > 0) std::memset(to.tensor().raw(), 0, to.tensor().bytes());
    visit_dtype(x.dtype(), Join<Types<float, double>, Ints>{}, [&](auto tag) {
      using T = typename decltype(tag)::type;
      run<T>(s, x.data<T>(), f.data<T>(), kResult == Result::kValue ? nullptr : g.data<T>(),
             to.tensor().data<T>());
    });
    to.finish();
  }
  template <class T>
  static void run(const PoolShape& s, const T* x, const T* f, const T* g, T* to) {
    const auto &h = s.dims[1], &w = s.dims[2];
    for (const int64_t o : paced(s.batch * s.out_pixels()))
      for (int64_t i = 0; i < s.channels; ++i) {
        const int64_t y = o % s.out_pixels() / w.out, xo = o % w.out,
                      image = o / s.out_pixels() * s.in_pixels();
        T best{};
        int64_t best_in = -1, best_tap = -1;
        for (int64_t j = 0; j < h.size; ++j)
          for (int64_t k = 0; k < w.size; ++k) {
            const int64_t hy = h.at(y, j), wx = w.at(xo, k);
            if (hy < 0 || hy >= h.in || wx < 0 || wx >= w.in) continue;
            const int64_t at = (image + hy * w.in + wx) * s.channels + i,
                          tap = (j * w.size + k) * s.channels + i;
            const T sum = plus(x[at], f[tap]);
            if (best_in >= 0 && !(best < sum)) continue;
            best = sum;
            best_in = at;
            best_tap = tap;
          }
        const int64_t out = o * s.channels + i;
        if (kResult == Result::kValue)
          to[out] = best;
        else if (best_in >= 0) {
          const int64_t at = kResult == Result::kInput ? best_in : best_tap;
          to[at] = plus(to[at], g[out]);
        }
      }
  }
};

template <Result kResult>
Prepared make_dilation(const KernelInit& init) {
  return prepared(Dilation<kResult>{WindowAttrs(*init.attrs, 2, "Dilation2D", nullptr, "rates")});
}

}  // namespace

std::vector<KernelRow> patch_kernels() {
  auto row = [](const char* op, std::vector<DType> types, KernelFactory f) {
    return KernelRow{op, "CPU", {{"T", std::move(types)}}, {}, f, {}, 0, ""};
  };
  return {row("ExtractImagePatches", Plain::dtypes(), make_patches<2>),
          row("ExtractVolumePatches", Reals::dtypes(), make_patches<3>),
          row("Dilation2D", Reals::dtypes(), make_dilation<Result::kValue>),
          row("Dilation2DBackpropInput", Reals::dtypes(), make_dilation<Result::kInput>),
          row("Dilation2DBackpropFilter", Reals::dtypes(), make_dilation<Result::kFilter>)};
}

}  // namespace emplace::cpu
