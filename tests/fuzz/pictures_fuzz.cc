// JPEG, PNG, GIF and BMP files, by what they look like.
#include <vector>

#include "backends/cpu/codecs.h"
#include "fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace emplace;
  if (size == 0) return 0;
  return fuzz::tried(data, size, [](std::string_view bytes) {
    const auto how = static_cast<uint8_t>(bytes[0]);
    const std::string_view file = bytes.substr(1);
    const int64_t channels = how % 5;
    constexpr int64_t kMost = 1 << 24;
    std::vector<uint8_t> pixels;
    const auto memory = [&](cpu::PictureSize s) -> void* {
      if (s.height * s.width * s.channels > kMost) throw invalid_argument("too large for here");
      pixels.resize(static_cast<size_t>(s.height * s.width * s.channels) * 2);
      return pixels.data();
    };
    switch (cpu::picture_format(file)) {
      case cpu::PictureFormat::kPng: return cpu::decode_png(file, channels, how & 64, memory);
      case cpu::PictureFormat::kJpeg: {
        cpu::JpegDecoding d;
        d.channels = channels == 2 ? 0 : channels;
        d.ratio = 1 << (how / 8 % 4);
        d.fast = how & 64;
        d.recover = how & 128;
        return cpu::decode_jpeg(file, d, memory);
      }
      case cpu::PictureFormat::kBmp: return cpu::decode_bmp(file, channels, memory);
      case cpu::PictureFormat::kGif:
        return cpu::decode_gif(file, how & 64, [&](int64_t frames, cpu::PictureSize s) {
          s.height = frames > kMost ? kMost + 1 : frames * s.height;
          return static_cast<uint8_t*>(memory(s));
        });
      default: return;
    }
  });
}
