#pragma once
#include "backends/cuda/launch.h"
#include "op/window.h"

namespace emplace::cuda {

// Must look as device/volumes.cuh's does.
struct Volume {
  int64_t batch = 0, channels = 0;
  int64_t in[3] = {1, 1, 1}, out[3] = {1, 1, 1}, size[3] = {1, 1, 1}, stride[3] = {1, 1, 1},
          dilation[3] = {1, 1, 1}, before[3] = {};
  int64_t at_in[5] = {}, at_out[5] = {};

  // A window of `size` over `image`, which is laid out as the attributes say.
  Volume(const WindowAttrs& w, const Shape& image, std::span<const int64_t> window);
  Shape result(const WindowAttrs& w, int64_t channels_now) const;
  // The result has so many channels: what is written of it lies elsewhere.
  void set_result_channels(int64_t channels_now, bool channels_first);
};

}  // namespace emplace::cuda
