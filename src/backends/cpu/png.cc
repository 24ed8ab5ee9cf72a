// PNG, by libpng.
#include "backends/cpu/codecs.h"

#include <fmt/format.h>

#include "emplace/error.h"

#ifdef EMPLACE_WITH_PNG
#include <png.h>

#include <csetjmp>
#include <cstring>
#include <vector>

namespace emplace::cpu {
namespace {

struct Source {
  std::string_view rest;
};

void read_bytes(png_structp png, png_bytep to, png_size_t n) {
  auto& source = *static_cast<Source*>(png_get_io_ptr(png));
  if (source.rest.size() < n) png_error(png, "more data expected");
  std::memcpy(to, source.rest.data(), n);
  source.rest.remove_prefix(n);
}

void append_bytes(png_structp png, png_bytep from, png_size_t n) {
  static_cast<std::string*>(png_get_io_ptr(png))->append(reinterpret_cast<char*>(from), n);
}

[[noreturn]] void failed(png_structp png, png_const_charp) { longjmp(png_jmpbuf(png), 1); }
void ignored(png_structp, png_const_charp) {}

// A file that is being read. Errors of libpng jump to whoever called setjmp last; nothing that has
// a destructor lies in between.
class Reading {
 public:
  explicit Reading(std::string_view bytes) : source_{bytes} {
    png = png_create_read_struct(PNG_LIBPNG_VER_STRING, nullptr, failed, ignored);
    info = png ? png_create_info_struct(png) : nullptr;
    if (info) png_set_read_fn(png, &source_, read_bytes);
  }
  ~Reading() { png_destroy_read_struct(&png, &info, nullptr); }
  Reading(const Reading&) = delete;
  Reading& operator=(const Reading&) = delete;

  // False: not a PNG.
  bool read_header() {
    if (!info || setjmp(png_jmpbuf(png))) return false;
    png_set_user_limits(png, 1 << 27, 1 << 27);
    png_read_info(png, info);
    return true;
  }
  // Says what is to be done with pixels as they come: to `channels` of 8 or 16 bits.
  bool transform(int64_t channels, bool wide) {
    if (setjmp(png_jmpbuf(png))) return false;
    const int color = png_get_color_type(png, info), depth = png_get_bit_depth(png, info);
    const bool transparent = png_get_valid(png, info, PNG_INFO_tRNS) != 0;
    const bool alpha = (color & PNG_COLOR_MASK_ALPHA) != 0, wants_alpha = channels % 2 == 0;
    if (color == PNG_COLOR_TYPE_PALETTE) png_set_palette_to_rgb(png);
    const bool gray = (color & PNG_COLOR_MASK_COLOR) == 0;
    if (gray && depth < 8) png_set_expand_gray_1_2_4_to_8(png);
    if (transparent && wants_alpha) png_set_tRNS_to_alpha(png);
    if (wants_alpha && !alpha && !transparent)
      png_set_add_alpha(png, wide ? 0xffff : 0xff, PNG_FILLER_AFTER);
    if (!wants_alpha && (alpha || transparent)) png_set_strip_alpha(png);
    if (depth == 16 && !wide) png_set_strip_16(png);
    if (depth == 16 && wide) png_set_swap(png);
    png_set_packing(png);
    if (gray && channels > 2) png_set_gray_to_rgb(png);
    if (!gray && channels < 3) png_set_rgb_to_gray(png, 1, 0.299, 0.587);
    png_set_interlace_handling(png);
    png_read_update_info(png, info);
    return true;
  }
  bool read_pixels(png_bytep* rows) {
    if (setjmp(png_jmpbuf(png))) return false;
    png_read_image(png, rows);
    return true;
  }

  png_structp png = nullptr;
  png_infop info = nullptr;

 private:
  Source source_;
};

int64_t channels_of(const Reading& r) {
  const int color = png_get_color_type(r.png, r.info);
  if (color != PNG_COLOR_TYPE_PALETTE) return png_get_channels(r.png, r.info);
  return png_get_valid(r.png, r.info, PNG_INFO_tRNS) != 0 ? 4 : 3;
}

Error invalid(std::string_view bytes) {
  return invalid_argument(fmt::format("Invalid PNG data, size {}", bytes.size()));
}

bool write_png(png_structp png, png_infop info, std::string& out, png_bytep* rows, PictureSize size,
               bool wide, int compression) {
  if (setjmp(png_jmpbuf(png))) return false;
  png_set_write_fn(png, &out, append_bytes, nullptr);
  png_set_compression_level(png, compression);
  constexpr int kColors[] = {0, PNG_COLOR_TYPE_GRAY, PNG_COLOR_TYPE_GRAY_ALPHA, PNG_COLOR_TYPE_RGB,
                             PNG_COLOR_TYPE_RGB_ALPHA};
  png_set_IHDR(png, info, static_cast<png_uint_32>(size.width),
               static_cast<png_uint_32>(size.height), wide ? 16 : 8, kColors[size.channels],
               PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
  png_write_info(png, info);
  if (wide) png_set_swap(png);
  png_write_image(png, rows);
  png_write_end(png, nullptr);
  return true;
}

}  // namespace

bool has_png() { return true; }

void decode_png(std::string_view bytes, int64_t channels, bool wide, PictureMemory memory) {
  Reading r(bytes);
  if (!r.read_header()) throw invalid(bytes);
  PictureSize size{png_get_image_height(r.png, r.info), png_get_image_width(r.png, r.info),
                   channels};
  if (channels == 0) size.channels = channels_of(r);
  if (size.height <= 0 || size.width <= 0 ||
      size.height > most_picture_bytes() / (size.width * size.channels))
    throw invalid_argument(
        fmt::format("PNG size too large for int: {} by {}", size.width, size.height));
  const bool widen = wide && png_get_bit_depth(r.png, r.info) < 16;
  if (!r.transform(size.channels, wide && !widen)) throw invalid(bytes);
  const auto row = static_cast<size_t>(size.width * size.channels);
  if (png_get_rowbytes(r.png, r.info) != row * (wide && !widen ? 2 : 1)) throw invalid(bytes);
  auto* to = static_cast<uint8_t*>(memory(size));
  // Narrow pixels that become wide ones lie in the upper half until then.
  const size_t row_bytes = row * (wide ? 2 : 1), shift = widen ? row : 0;
  std::vector<png_bytep> rows;
  for (int64_t y = 0; y < size.height; ++y)
    rows.push_back(to + static_cast<size_t>(y) * row_bytes + shift);
  if (!r.read_pixels(rows.data())) throw invalid(bytes);
  if (!widen) return;
  for (png_bytep from : rows) {
    auto* out = reinterpret_cast<uint16_t*>(from - shift);
    for (size_t i = 0; i < row; ++i) out[i] = static_cast<uint16_t>(from[i] * 257);
  }
}

std::string encode_png(const void* pixels, PictureSize size, bool wide, int compression) {
  png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, nullptr, failed, ignored);
  png_infop info = png ? png_create_info_struct(png) : nullptr;
  std::string out;
  std::vector<png_bytep> rows;
  const auto row = static_cast<size_t>(size.width * size.channels * (wide ? 2 : 1));
  auto* from = const_cast<png_bytep>(static_cast<png_const_bytep>(pixels));
  for (int64_t y = 0; y < size.height; ++y) rows.push_back(from + static_cast<size_t>(y) * row);
  const bool written = info && write_png(png, info, out, rows.data(), size, wide, compression);
  png_destroy_write_struct(&png, &info);
  if (!written) throw internal_error("PNG encoding failed");
  return out;
}

}  // namespace emplace::cpu

#else

namespace emplace::cpu {

bool has_png() { return false; }
void decode_png(std::string_view, int64_t, bool, PictureMemory) {
  throw unimplemented("this build has no libpng");
}
std::string encode_png(const void*, PictureSize, bool, int) {
  throw unimplemented("this build has no libpng");
}

}  // namespace emplace::cpu
#endif
