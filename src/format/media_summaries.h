#pragma once
#include <span>
#include <string>

#include "kernel/kernel.h"

namespace emplace {

// How pictures and sounds become files; who puts the program together knows.
struct MediaFiles {
  // Null where the build has no library for it.
  std::string (*png)(const uint8_t* pixels, int64_t height, int64_t width, int64_t channels);
  std::string (*wav)(const float* samples, int64_t frames, int64_t channels, int64_t rate);
};

// A picture's values as bytes, as TensorFlow scales them in the arithmetic of `dtype`: without negative
// ones the largest becomes 255, otherwise zero becomes 128 and the farthest from it 1 or 255. A pixel
// with a value that is not finite becomes `bad`.
std::string as_pixels(std::span<const double> values, int64_t channels, DType dtype,
                      const uint8_t* bad);

// ImageSummary, AudioSummaryV2, TensorSummary, TensorSummaryV2.
void register_media_summary_kernels(KernelRegistry& registry, MediaFiles files);

}  // namespace emplace
