#pragma once
#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/function_ref.h"
#include "base/parse_limits.h"
#include "emplace/tensor.h"

// Pictures and sounds as files. What is no picture of the format is an InvalidArgument.
namespace emplace::cpu {

struct PictureSize {
  int64_t height = 0, width = 0, channels = 0;
};
// Memory for a picture whose size is known by now: rows from the top, channels innermost.
using PictureMemory = FunctionRef<void*(PictureSize)>;

// The largest number of pixels, times channels, that a file may claim: no header is believed
// beyond.
inline int64_t most_picture_bytes() {
  return static_cast<int64_t>(std::min(size_t{1} << 29, parse_limits().bytes));
}

enum class PictureFormat { kUnknown, kPng, kJpeg, kGif, kBmp };
PictureFormat picture_format(std::string_view bytes);

// channels: 0 for what the file has; wide: elements are uint16.
void decode_png(std::string_view bytes, int64_t channels, bool wide, PictureMemory memory);
std::string encode_png(const void* pixels, PictureSize size, bool wide, int compression);

struct JpegDecoding {
  int64_t channels = 0, ratio = 1;
  bool fancy_upscaling = true, recover = false;
  bool fast = true;  // TensorFlow's choice: integers of 8 bits, less exact
  float acceptable_fraction = 1;
};
void decode_jpeg(std::string_view bytes, const JpegDecoding& how, PictureMemory memory);
PictureSize jpeg_size(std::string_view bytes);

struct JpegEncoding {
  int64_t quality = 95;
  bool progressive = false, optimize_size = false, chroma_downsampling = true;
  bool per_inch = true;
  int64_t x_density = 300, y_density = 300;
  std::string metadata;
};
std::string encode_jpeg(const uint8_t* pixels, PictureSize size, const JpegEncoding& how);

void decode_bmp(std::string_view bytes, int64_t channels, PictureMemory memory);

// `memory` is asked once for the picture with `frames` below each other: height × frames.
void decode_gif(std::string_view bytes, bool first_only,
                FunctionRef<uint8_t*(int64_t, PictureSize)> memory);
int64_t gif_frames(std::string_view bytes);

// Samples of -1 … 1, frame after frame, as a WAV file of 16 bits.
std::string encode_wav(const float* samples, int64_t frames, int64_t channels, int64_t rate);

// Which of the two libraries this build has.
bool has_png();
bool has_jpeg();

}  // namespace emplace::cpu
