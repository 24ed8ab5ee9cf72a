// GIF and BMP, and which format a file has.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "backends/cpu/codecs.h"
#include "emplace/error.h"

namespace emplace::cpu {
namespace {

uint8_t byte_at(std::string_view s, size_t at) { return static_cast<uint8_t>(s[at]); }
int64_t word_at(std::string_view s, size_t at) { return byte_at(s, at) | byte_at(s, at + 1) << 8; }
int32_t int_at(std::string_view s, size_t at) {
  return static_cast<int32_t>(static_cast<uint32_t>(word_at(s, at)) |
                              static_cast<uint32_t>(word_at(s, at + 2)) << 16);
}

// ---- GIF.

struct Gif {
  int64_t width = 0, height = 0;
};

struct Frame {
  int64_t left = 0, top = 0, width = 0, height = 0;
  int transparent = -1;
  bool interlaced = false;
  std::string_view colors;  // 3 bytes each
  std::string data;         // codes, blocks joined
  int min_code = 0;
};

[[noreturn]] void bad_gif(const char* why) {
  throw invalid_argument(fmt::format("Invalid GIF data: {}", why));
}

class GifReader {
 public:
  explicit GifReader(std::string_view bytes) : s_(bytes) {
    need(13);
    if (!s_.starts_with("GIF87a") && !s_.starts_with("GIF89a")) bad_gif("no GIF");
    gif_ = {word_at(s_, 6), word_at(s_, 8)};
    const uint8_t flags = byte_at(s_, 10);
    at_ = 13;
    if (flags & 0x80) global_ = colors(flags);
  }
  const Gif& gif() const { return gif_; }

  // The next frame; false at the end.
  bool next(Frame& frame) {
    frame = Frame{};
    while (true) {
      if (at_ >= s_.size()) return false;
      const uint8_t kind = byte_at(s_, at_++);
      if (kind == 0x3b) return false;
      if (kind == 0x21) extension(frame);
      else if (kind == 0x2c) return image(frame), true;
      else bad_gif("unknown block");
    }
  }

 private:
  void need(size_t n) const {
    if (s_.size() - at_ < n) bad_gif("it ends early");
  }
  std::string_view colors(uint8_t flags) {
    const size_t n = size_t{3} << ((flags & 7) + 1);
    need(n);
    at_ += n;
    return s_.substr(at_ - n, n);
  }
  void blocks(std::string* into) {
    while (true) {
      need(1);
      const size_t n = byte_at(s_, at_++);
      if (n == 0) return;
      need(n);
      if (into) into->append(s_.substr(at_, n));
      at_ += n;
    }
  }
  void extension(Frame& frame) {
    need(1);
    const uint8_t label = byte_at(s_, at_++);
    std::string body;
    blocks(&body);
    if (label == 0xf9 && body.size() >= 4)
      frame.transparent = (body[0] & 1) ? static_cast<uint8_t>(body[3]) : -1;
  }
  void image(Frame& frame) {
    need(9);
    frame.left = word_at(s_, at_), frame.top = word_at(s_, at_ + 2);
    frame.width = word_at(s_, at_ + 4), frame.height = word_at(s_, at_ + 6);
    const uint8_t flags = byte_at(s_, at_ + 8);
    at_ += 9;
    frame.interlaced = (flags & 0x40) != 0;
    frame.colors = flags & 0x80 ? colors(flags) : global_;
    if (frame.colors.empty()) bad_gif("missing color map for frame");
    need(1);
    frame.min_code = byte_at(s_, at_++);
    if (frame.min_code < 1 || frame.min_code > 11) bad_gif("code size");
    blocks(&frame.data);
  }

  std::string_view s_, global_;
  size_t at_ = 0;
  Gif gif_;
};

// The colours' numbers, by Lempel, Ziv and Welch.
std::vector<uint8_t> indices_of(const Frame& frame) {
  const auto wanted = static_cast<size_t>(frame.width * frame.height);
  std::vector<uint8_t> out;
  out.reserve(std::min(wanted, frame.data.size() * 64));
  const int clear = 1 << frame.min_code, end = clear + 1;
  std::vector<int> prefix(4096, -1);
  std::vector<uint8_t> last(4096), stack;
  for (int i = 0; i < clear; ++i) last[static_cast<size_t>(i)] = static_cast<uint8_t>(i);
  int size = frame.min_code + 1, next = end + 1, previous = -1;
  uint8_t first = 0;
  uint32_t bits = 0;
  int have = 0;
  for (size_t at = 0; out.size() < wanted;) {
    while (have < size) {
      if (at >= frame.data.size()) bad_gif("a frame ends early");
      bits |= static_cast<uint32_t>(byte_at(frame.data, at++)) << have;
      have += 8;
    }
    const int code = static_cast<int>(bits & ((1u << size) - 1));
    bits >>= size;
    have -= size;
    if (code == end) break;
    if (code == clear) {
      size = frame.min_code + 1, next = end + 1, previous = -1;
      continue;
    }
    if (code > next || (code == next && previous < 0)) bad_gif("a code that is not known yet");
    int walk = code == next ? previous : code;
    if (code == next) stack.push_back(first);
    for (; walk >= end + 1; walk = prefix[static_cast<size_t>(walk)])
      stack.push_back(last[static_cast<size_t>(walk)]);
    first = last[static_cast<size_t>(walk)];
    stack.push_back(first);
    if (previous >= 0 && next < 4096) {
      prefix[static_cast<size_t>(next)] = previous;
      last[static_cast<size_t>(next)] = first;
      if (++next == 1 << size && size < 12) ++size;
    }
    previous = code;
    while (!stack.empty() && out.size() < wanted) out.push_back(stack.back()), stack.pop_back();
    stack.clear();
  }
  if (out.size() < wanted) bad_gif("a frame ends early");
  return out;
}

int64_t row_of(int64_t i, const Frame& frame) {
  if (!frame.interlaced) return i;
  constexpr int kStart[] = {0, 4, 2, 1}, kStep[] = {8, 8, 4, 2};
  for (int pass = 0; pass < 4; ++pass) {
    const int64_t rows = (frame.height - kStart[pass] + kStep[pass] - 1) / kStep[pass];
    if (i < rows) return kStart[pass] + i * kStep[pass];
    i -= std::max<int64_t>(rows, 0);
  }
  return 0;
}

void paint(const Frame& frame, const Gif& gif, uint8_t* canvas) {
  const std::vector<uint8_t> indices = indices_of(frame);
  for (int64_t i = 0; i < frame.height; ++i) {
    const int64_t y = frame.top + row_of(i, frame);
    if (y >= gif.height) continue;
    for (int64_t x = 0; x < frame.width && frame.left + x < gif.width; ++x) {
      const int color = indices[static_cast<size_t>(i * frame.width + x)];
      if (color == frame.transparent) continue;
      const auto from = static_cast<size_t>(color) * 3;
      if (from + 3 > frame.colors.size()) bad_gif("a color that is not in the map");
      std::memcpy(canvas + (y * gif.width + frame.left + x) * 3, frame.colors.data() + from, 3);
    }
  }
}

}  // namespace

PictureFormat picture_format(std::string_view bytes) {
  if (bytes.starts_with("\x89PNG\r\n\x1a\n")) return PictureFormat::kPng;
  if (bytes.starts_with("\xff\xd8\xff")) return PictureFormat::kJpeg;
  if (bytes.starts_with("GIF8")) return PictureFormat::kGif;
  if (bytes.starts_with("BM")) return PictureFormat::kBmp;
  return PictureFormat::kUnknown;
}

int64_t gif_frames(std::string_view bytes) {
  GifReader reader(bytes);
  Frame frame;
  int64_t n = 0;
  while (reader.next(frame)) ++n;
  return n;
}

void decode_gif(std::string_view bytes, bool first_only,
                FunctionRef<uint8_t*(int64_t, PictureSize)> memory) {
  const int64_t all = gif_frames(bytes), frames = first_only ? std::min<int64_t>(all, 1) : all;
  GifReader reader(bytes);
  const Gif& gif = reader.gif();
  if (frames == 0) bad_gif("it has no frames");
  if (gif.width <= 0 || gif.height <= 0 || gif.height > most_picture_bytes() / 3 / gif.width / frames)
    bad_gif("its size");
  uint8_t* to = memory(frames, {gif.height, gif.width, 3});
  const auto picture = static_cast<size_t>(gif.height * gif.width * 3);
  Frame frame;
  for (int64_t k = 0; k < frames && reader.next(frame); ++k, to += picture) {
    if (k == 0) std::memset(to, 0, picture);
    else std::memcpy(to, to - picture, picture);
    paint(frame, gif, to);
  }
}

void decode_bmp(std::string_view s, int64_t channels, PictureMemory memory) {
  if (s.size() < 32)
    throw invalid_argument(fmt::format("Incomplete bmp content, requires at least 32 bytes to find "
                                       "the header size, width, height, and bpp, got {} bytes",
                                       s.size()));
  const int64_t offset = int_at(s, 10), width = int_at(s, 18);
  int64_t height = int_at(s, 22);
  const int64_t bits = word_at(s, 28), depth = bits / 8;
  const bool from_top = height < 0;
  if (from_top) height = -height;
  if (offset < 0 || width <= 0 || height <= 0)
    throw invalid_argument("Width and height must be positive, and the header size not negative");
  if ((bits % 8 != 0) || (depth != 1 && depth != 3 && depth != 4))
    throw invalid_argument(
        fmt::format("Number of channels inherent in the image must be 1, 3 or 4, was {}", depth));
  if (channels != 0 && channels != 3 && channels != 4)
    throw invalid_argument(
        fmt::format("`channels` must be 0, 3 or 4 for BMP, but got {}", channels));
  if (channels == 0) channels = depth;
  if (height > most_picture_bytes() / width / 4)
    throw invalid_argument("Total possible pixel bytes must be less than 2^29");
  const int64_t row = (width * depth + 3) / 4 * 4;
  const int64_t last = offset + row * (height - 1) + width * depth;
  if (last > static_cast<int64_t>(s.size()))
    throw invalid_argument(
        fmt::format("Incomplete bmp content, requires at least {} bytes, got {} bytes", last,
                    s.size()));
  auto* to = static_cast<uint8_t*>(memory({height, width, channels}));
  for (int64_t y = 0; y < height; ++y) {
    const auto* from = reinterpret_cast<const uint8_t*>(s.data()) + offset +
                       (from_top ? y : height - 1 - y) * row;
    for (int64_t x = 0; x < width; ++x, from += depth, to += channels)
      for (int64_t k = 0; k < channels; ++k)
        to[k] = k == 3 ? (depth == 4 ? from[3] : 255) : depth == 1 ? from[0] : from[2 - k];
  }
}

}  // namespace emplace::cpu
