// JPEG, by libjpeg.
#include "backends/cpu/codecs.h"

#include <fmt/format.h>

#include "emplace/error.h"

#ifdef EMPLACE_WITH_JPEG
#include <cstdio>

#include <jpeglib.h>
#include <jerror.h>

#include <algorithm>
#include <csetjmp>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <vector>

namespace emplace::cpu {
namespace {

struct Failure {
  jpeg_error_mgr manager;
  jmp_buf jump;
  bool truncated;
};

[[noreturn]] void failed(j_common_ptr c) { longjmp(reinterpret_cast<Failure*>(c->err)->jump, 1); }
void ignored(j_common_ptr) {}
void noted(j_common_ptr c, int) {
  if (c->err->msg_code == JWRN_JPEG_EOF) reinterpret_cast<Failure*>(c->err)->truncated = true;
}

void set_errors(Failure& failure) {
  jpeg_std_error(&failure.manager);
  failure.manager.error_exit = failed;
  failure.manager.output_message = ignored;
  failure.manager.emit_message = noted;
}

// A file that is being read. Errors of libjpeg jump to whoever called setjmp last; nothing that has
// a destructor lies in between.
class Reading {
 public:
  explicit Reading(std::string_view bytes) : bytes_(bytes) {
    set_errors(failure_);
    info.err = &failure_.manager;
    jpeg_create_decompress(&info);
  }
  ~Reading() { jpeg_destroy_decompress(&info); }
  Reading(const Reading&) = delete;
  Reading& operator=(const Reading&) = delete;

  bool read_header() {
    if (setjmp(failure_.jump)) return false;
    jpeg_mem_src(&info, reinterpret_cast<const unsigned char*>(bytes_.data()), bytes_.size());
    return jpeg_read_header(&info, TRUE) == JPEG_HEADER_OK;
  }
  bool start() {
    if (setjmp(failure_.jump)) return false;
    return jpeg_start_decompress(&info) != 0;
  }
  // Rows from the current one on; how many came before the data ended.
  int64_t read_rows(unsigned char* to, size_t stride) {
    rows_ = 0;
    if (setjmp(failure_.jump)) return rows_;
    while (info.output_scanline < info.output_height) {
      JSAMPROW row = to + static_cast<size_t>(info.output_scanline) * stride;
      if (jpeg_read_scanlines(&info, &row, 1) != 1) break;
      ++rows_;
    }
    return rows_;
  }
  bool truncated() const { return failure_.truncated; }

  jpeg_decompress_struct info{};

 private:
  std::string_view bytes_;
  Failure failure_{};
  volatile int64_t rows_ = 0;
};

Error invalid(std::string_view bytes) {
  return invalid_argument(
      fmt::format("Invalid JPEG data or crop window, data size {}", bytes.size()));
}

// Four channels of ink become three of light; Adobe's files have ink the other way round.
void light_of_ink(const unsigned char* from, bool inverted, int64_t pixels, uint8_t* to) {
  for (int64_t i = 0; i < pixels; ++i, from += 4, to += 3)
    for (int k = 0; k < 3; ++k)
      to[k] = static_cast<uint8_t>(inverted ? from[3] * from[k] / 255
                                            : (255 - from[3]) * (255 - from[k]) / 255);
}

bool write_jpeg(jpeg_compress_struct& info, Failure& failure, unsigned char** out,
                unsigned long* length, const uint8_t* pixels, PictureSize size,
                const JpegEncoding& how) {
  if (setjmp(failure.jump)) return false;
  jpeg_mem_dest(&info, out, length);
  info.image_width = static_cast<JDIMENSION>(size.width);
  info.image_height = static_cast<JDIMENSION>(size.height);
  info.input_components = static_cast<int>(size.channels);
  info.in_color_space = size.channels == 1 ? JCS_GRAYSCALE : JCS_RGB;
  jpeg_set_defaults(&info);
  if (how.optimize_size) info.optimize_coding = TRUE;
  info.density_unit = how.per_inch ? 1 : 2;
  info.X_density = static_cast<UINT16>(how.x_density);
  info.Y_density = static_cast<UINT16>(how.y_density);
  jpeg_set_quality(&info, static_cast<int>(how.quality), TRUE);
  if (how.progressive) jpeg_simple_progression(&info);
  if (!how.chroma_downsampling)
    for (int i = 0; i < info.num_components; ++i)
      info.comp_info[i].h_samp_factor = info.comp_info[i].v_samp_factor = 1;
  jpeg_start_compress(&info, TRUE);
  if (!how.metadata.empty())
    jpeg_write_marker(&info, JPEG_APP0 + 1, reinterpret_cast<const JOCTET*>(how.metadata.data()),
                      static_cast<unsigned>(how.metadata.size()));
  const auto stride = static_cast<size_t>(size.width * size.channels);
  while (info.next_scanline < info.image_height) {
    JSAMPROW row = const_cast<JSAMPROW>(pixels + info.next_scanline * stride);
    jpeg_write_scanlines(&info, &row, 1);
  }
  jpeg_finish_compress(&info);
  return true;
}

constexpr char kMetadataName[] = "http://ns.adobe.com/xap/1.0/";

}  // namespace

bool has_jpeg() { return true; }

PictureSize jpeg_size(std::string_view bytes) {
  Reading r(bytes);
  if (!r.read_header()) throw invalid(bytes);
  return {r.info.image_height, r.info.image_width, r.info.num_components};
}

void decode_jpeg(std::string_view bytes, const JpegDecoding& how, PictureMemory memory) {
  Reading r(bytes);
  if (!r.read_header()) throw invalid(bytes);
  jpeg_decompress_struct& info = r.info;
  const bool ink = info.jpeg_color_space == JCS_CMYK || info.jpeg_color_space == JCS_YCCK;
  int64_t channels = how.channels;
  if (channels == 0) channels = std::min(info.num_components, 3);
  if (channels == 2) throw invalid(bytes);
  info.out_color_space = channels == 1 ? JCS_GRAYSCALE : ink ? JCS_CMYK : JCS_RGB;
  info.do_fancy_upsampling = how.fancy_upscaling ? TRUE : FALSE;
  info.scale_num = 1;
  info.scale_denom = static_cast<unsigned>(how.ratio);
  info.dct_method = how.fast ? JDCT_IFAST : JDCT_ISLOW;
  if (!r.start()) throw invalid(bytes);
  const PictureSize size{info.output_height, info.output_width, channels};
  if (size.height <= 0 || size.width <= 0 || size.height > most_picture_bytes() / (size.width * 4))
    throw invalid_argument(fmt::format("Image too large: {} by {}", size.width, size.height));
  auto* to = static_cast<uint8_t*>(memory(size));
  const auto stride = static_cast<size_t>(size.width * channels);
  std::vector<unsigned char> inks;
  const bool convert = ink && channels == 3;
  if (convert) inks.resize(static_cast<size_t>(size.width * size.height * 4));
  const int64_t rows = convert ? r.read_rows(inks.data(), static_cast<size_t>(size.width) * 4)
                               : r.read_rows(to, stride);
  if (rows < size.height || r.truncated()) {
    const float enough = static_cast<float>(size.height) * how.acceptable_fraction;
    if (!how.recover || static_cast<float>(rows) < enough) throw invalid(bytes);
  }
  if (convert)
    light_of_ink(inks.data(), info.saw_Adobe_marker != 0, size.width * rows, to);
  std::memset(to + static_cast<size_t>(rows) * stride, 0,
              static_cast<size_t>(size.height - rows) * stride);
}

std::string encode_jpeg(const uint8_t* pixels, PictureSize size, const JpegEncoding& how) {
  if (size.height > JPEG_MAX_DIMENSION || size.width > JPEG_MAX_DIMENSION)
    throw invalid_argument("image is too large for JPEG");
  Failure failure{};
  set_errors(failure);
  jpeg_compress_struct info{};
  info.err = &failure.manager;
  jpeg_create_compress(&info);
  JpegEncoding named = how;
  if (!how.metadata.empty())
    named.metadata = std::string(kMetadataName, sizeof kMetadataName) + how.metadata;
  if (named.metadata.size() > 65533) named.metadata.resize(65533);
  unsigned char* out = nullptr;
  unsigned long length = 0;
  const bool written = write_jpeg(info, failure, &out, &length, pixels, size, named);
  jpeg_destroy_compress(&info);
  const std::unique_ptr<unsigned char, decltype(&std::free)> owned(out, std::free);
  if (!written) throw internal_error("JPEG encoding failed");
  return {reinterpret_cast<char*>(out), length};
}

}  // namespace emplace::cpu

#else

namespace emplace::cpu {

bool has_jpeg() { return false; }
PictureSize jpeg_size(std::string_view) { throw unimplemented("this build has no libjpeg"); }
void decode_jpeg(std::string_view, const JpegDecoding&, PictureMemory) {
  throw unimplemented("this build has no libjpeg");
}
std::string encode_jpeg(const uint8_t*, PictureSize, const JpegEncoding&) {
  throw unimplemented("this build has no libjpeg");
}

}  // namespace emplace::cpu
#endif
