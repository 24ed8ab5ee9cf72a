#pragma once
#include <algorithm>
#include <array>
#include <string>

#include "kernel/kernel.h"
#include "op/window.h"

namespace emplace::cpu {

// A pool with three spatial dimensions (those that a flat one lacks have size 1), channels last.
struct PoolShape {
  std::array<WindowDim, 3> dims;
  int64_t batch = 0, channels = 0;
  int64_t in_pixels() const { return dims[0].in * dims[1].in * dims[2].in; }
  int64_t out_pixels() const { return dims[0].out * dims[1].out * dims[2].out; }
  int64_t taps() const { return dims[0].size * dims[1].size * dims[2].size; }
};

// What pools and their gradients have in common: the attributes, and what they make of a shape.
struct Pool {
  WindowAttrs w;
  bool sizes_are_inputs = false;  // the last two

  static Pool of(const KernelInit& init, int spatial);
  // `w`, with sizes read from the inputs where they are there.
  WindowAttrs windows(KernelContext& c) const;
};

// `in` is laid out as the attributes say. Unimplemented for windows over batch or channels.
PoolShape pool_shape(const WindowAttrs& w, const Shape& in);
// The result's shape, laid out as the attributes say.
Shape pooled_shape(const WindowAttrs& w, const PoolShape& s);

// The taps of an output pixel that meet the input, along one dimension.
struct TapRange {
  int64_t first, end;  // positions in the input, `step` apart
  int64_t step;
};
inline TapRange tap_range(const WindowDim& d, int64_t o) {
  const int64_t start = d.at(o, 0), step = d.dilation;
  const auto steps_to = [&](int64_t at) {  // taps before position `at`
    return start >= at ? 0 : std::min(d.size, (at - start + step - 1) / step);
  };
  const int64_t k = steps_to(0), last = std::max(k, steps_to(d.in));
  const int64_t first = start + k * step;
  return {first, last > k ? first + (last - k - 1) * step + 1 : first, step};
}

// Calls f(input pixel) for every tap of output pixel p that meets the input, in rising order.
template <class F>
void for_pool_taps(const PoolShape& s, int64_t p, F&& f) {
  const auto& [depth, height, width] = s.dims;
  const TapRange x = tap_range(width, p % width.out);
  const TapRange y = tap_range(height, p / width.out % height.out);
  const TapRange z = tap_range(depth, p / width.out / height.out);
  for (int64_t d = z.first; d < z.end; d += z.step)
    for (int64_t h = y.first; h < y.end; h += y.step)
      for (int64_t w = x.first; w < x.end; w += x.step) f((d * height.in + h) * width.in + w);
}

}  // namespace emplace::cpu
