// The operations that read and write pictures as files.
#include <fmt/format.h>

#include <limits>

#include "backends/cpu/codecs.h"
#include "backends/cpu/imported_kernels.h"
#include "backends/cpu/move.h"
#include "backends/cpu/rows.h"
#include "base/stop_scope.h"

namespace emplace::cpu {
namespace {

const std::string& text_of(const Tensor& t, const char* what = "contents") {
  if (t.num_elements() != 1)
    throw invalid_argument(
        fmt::format("{} must be scalar but got shape {}", what, t.shape().str()));
  return t.data<std::string>()[0];
}

Shape shape_of(PictureSize s) { return Shape{s.height, s.width, s.channels}; }

// Reads a picture of whatever format into output 0, as the attributes of the op say.
struct Decode {
  std::string op;
  JpegDecoding jpeg;
  DType dtype = DType::kUint8;
  bool animations = true;  // may the output have frames?
  bool window = false;

  void operator()(KernelContext& c) const {
    const std::string& bytes = text_of(c.input(0));
    if (bytes.empty()) throw invalid_argument("Input is empty.");
    switch (picture_format(bytes)) {
      case PictureFormat::kJpeg:
        return read_jpeg(c, bytes);
      case PictureFormat::kPng:
        return read_png(c, bytes);
      case PictureFormat::kGif:
        return read_gif(c, bytes);
      case PictureFormat::kBmp:
        return read_bmp(c, bytes);
      default:
        throw invalid_argument("Unknown image file format. One of JPEG, JPEG XL, PNG, GIF, BMP, WebP "
                               "required.");
    }
  }

 private:
  bool is(const char* name) const { return op == name; }
  bool whole_image() const { return is("DecodeImage"); }
  // A picture is one frame where frames are wanted.
  Shape shape_out(PictureSize s) const {
    return is("DecodeGif") ? Shape{1, s.height, s.width, s.channels} : shape_of(s);
  }

  void not_bmp(const char* format, const char* other) const {
    if (is("DecodeBmp"))
      throw invalid_argument(
          fmt::format("Trying to decode {} format using DecodeBmp op. Use `{}` or "
                      "`decode_image` instead.",
                      format, other));
  }
  void not_window(const char* format) const {
    if (window)
      throw invalid_argument(fmt::format(
          "DecodeAndCropJpeg operation can run on JPEG only, but detected {}.", format));
  }

  void read_jpeg(KernelContext& c, const std::string& bytes) const {
    not_bmp("JPEG", "decode_jpeg");
    if (jpeg.channels == 4) throw invalid_argument("channels must be 0, 1, or 3 for JPEG, got 4");
    if (window) return read_window(c, bytes);
    Tensor narrow;
    decode_jpeg(bytes, jpeg, [&](PictureSize s) { return place(c, shape_out(s), narrow); });
    widen(c, narrow);
  }
  void read_png(KernelContext& c, const std::string& bytes) const {
    not_bmp("PNG", "decode_png");
    not_window("PNG");
    if (dtype == DType::kUint8)
      return decode_png(bytes, jpeg.channels, false,
                        [&](PictureSize s) { return c.output(0, shape_out(s)).raw(); });
    Tensor wide;
    decode_png(bytes, jpeg.channels, true, [&](PictureSize s) {
      const Shape shape = shape_out(s);
      wide = dtype == DType::kUint16 ? c.output(0, shape) : Tensor(DType::kUint16, shape);
      return wide.raw();
    });
    if (dtype == DType::kUint16) return;
    Tensor& out = c.output(0, wide.shape());
    for (const int64_t i : paced(wide.num_elements()))
      out.data<float>()[i] = static_cast<float>(wide.data<uint16_t>()[i]) * (1.0f / 65535.0f);
  }
  void read_gif(KernelContext& c, const std::string& bytes) const {
    not_bmp("GIF", "decode_gif");
    not_window("GIF");
    if (jpeg.channels != 0 && jpeg.channels != 3)
      throw invalid_argument(
          fmt::format("channels must be 0 or 3 for GIF, but got {}", jpeg.channels));
    const bool frames_out = is("DecodeGif") || (whole_image() && animations);
    if (!frames_out && !whole_image()) {
      const int64_t frames = gif_frames(bytes);
      if (frames > 1)
        throw invalid_argument(fmt::format(
            "Got {} frames, but animated gifs can only be decoded by tf.io.decode_gif or "
            "tf.io.decode_image",
            frames));
    }
    Tensor narrow;
    decode_gif(bytes, !frames_out, [&](int64_t frames, PictureSize s) {
      const Shape shape = frames_out ? Shape{frames, s.height, s.width, 3} : shape_of(s);
      return static_cast<uint8_t*>(place(c, shape, narrow));
    });
    widen(c, narrow);
  }
  void read_bmp(KernelContext& c, const std::string& bytes) const {
    if (!is("DecodeBmp") && !whole_image())
      throw invalid_argument(
          fmt::format("Trying to decode BMP format using a wrong op. Use `decode_bmp` or "
                      "`decode_image` instead. Op used: {}",
                      op));
    Tensor narrow;
    decode_bmp(bytes, jpeg.channels, [&](PictureSize s) { return place(c, shape_of(s), narrow); });
    widen(c, narrow);
  }
  void read_window(KernelContext& c, const std::string& bytes) const {
    const Tensor& crop = c.input(1);
    if (crop.rank() != 1 || crop.num_elements() != 4)
      throw invalid_argument(
          fmt::format("crop_window must have four elements, got {}", crop.shape().str()));
    const int32_t* w = crop.data<int32_t>();
    Tensor all;
    PictureSize size;
    decode_jpeg(bytes, jpeg, [&](PictureSize s) {
      size = s;
      all = Tensor(DType::kUint8, shape_of(s));
      return all.raw();
    });
    const int64_t y = w[0], x = w[1], height = w[2], width = w[3];
    if (y < 0 || x < 0 || height <= 0 || width <= 0 || y + height > size.height ||
        x + width > size.width)
      throw invalid_argument(
          fmt::format("Invalid JPEG data or crop window, data size {}", bytes.size()));
    Tensor& out = c.output(0, Shape{height, width, size.channels});
    for (int64_t i = 0; i < height; ++i)
      std::memcpy(out.data<uint8_t>() + i * width * size.channels,
                  all.data<uint8_t>() + ((y + i) * size.width + x) * size.channels,
                  static_cast<size_t>(width * size.channels));
  }

  // The output itself, or bytes that are made wider afterwards.
  void* place(KernelContext& c, const Shape& shape, Tensor& narrow) const {
    if (dtype == DType::kUint8) return c.output(0, shape).raw();
    narrow = Tensor(DType::kUint8, shape);
    return narrow.raw();
  }
  void widen(KernelContext& c, const Tensor& narrow) const {
    if (dtype == DType::kUint8) return;
    Tensor& out = c.output(0, narrow.shape());
    const uint8_t* from = narrow.data<uint8_t>();
    for (const int64_t i : paced(narrow.num_elements())) {
      if (dtype == DType::kUint16)
        out.data<uint16_t>()[i] = static_cast<uint16_t>(from[i] * 256);
      else
        out.data<float>()[i] = static_cast<float>(from[i]) * (1.0f / 255.0f);
    }
  }
};

Prepared make_decode(const KernelInit& i) {
  Decode d;
  d.op = i.op->name;
  if (i.find("channels")) d.jpeg.channels = i.attr<int64_t>("channels");
  if (d.jpeg.channels != 0 && d.jpeg.channels != 1 && d.jpeg.channels != 3 && d.jpeg.channels != 4)
    throw invalid_argument(fmt::format("channels must be 0, 1, 3, or 4, got {}", d.jpeg.channels));
  if (i.find("dtype")) d.dtype = i.type("dtype");
  if (i.find("expand_animations")) d.animations = i.attr<bool>("expand_animations");
  d.window = d.op == "DecodeAndCropJpeg";
  if (i.find("ratio")) {
    d.jpeg.ratio = i.attr<int64_t>("ratio");
    if (d.jpeg.ratio != 1 && d.jpeg.ratio != 2 && d.jpeg.ratio != 4 && d.jpeg.ratio != 8)
      throw invalid_argument(fmt::format("ratio must be 1, 2, 4, or 8, got {}", d.jpeg.ratio));
    d.jpeg.fancy_upscaling = i.attr<bool>("fancy_upscaling");
    d.jpeg.recover = i.attr<bool>("try_recover_truncated");
    d.jpeg.acceptable_fraction = i.attr<float>("acceptable_fraction");
    const auto& method = i.attr<std::string>("dct_method");
    if (!method.empty() && method != "INTEGER_FAST" && method != "INTEGER_ACCURATE")
      throw invalid_argument("dct_method must be one of {'', 'INTEGER_FAST', 'INTEGER_ACCURATE'}");
    d.jpeg.fast = method != "INTEGER_ACCURATE";
  }
  if (d.op == "DecodeGif") d.jpeg.channels = 3;
  return prepared(d);
}

void jpeg_shape(KernelContext& c) {
  const PictureSize size = jpeg_size(text_of(c.input(0)));
  Tensor& out = c.output(0, Shape{3});
  put_int(out, 0, size.height), put_int(out, 1, size.width), put_int(out, 2, size.channels);
}

// ---- Writing.

void check_side(int64_t n) {
  if (n > std::numeric_limits<int32_t>::max() / 8) throw invalid_argument("image too large");
}

struct EncodePng {
  int64_t compression;
  void operator()(KernelContext& c) const {
    const Tensor& in = c.input(0);
    if (in.rank() < 3)
      throw invalid_argument(
          fmt::format("images must be at least rank 3, got shape {}", in.shape().str()));
    const PictureSize size{in.dim(in.rank() - 3), in.dim(in.rank() - 2), in.dim(in.rank() - 1)};
    if (in.num_elements() == 0) throw invalid_argument("Unable to encode an image with no pixels");
    if (size.channels < 1 || size.channels > 4)
      throw invalid_argument(
          fmt::format("image must have 1, 2, 3, or 4 channels, got {}", size.channels));
    check_side(size.height), check_side(size.width);
    const bool wide = in.dtype() == DType::kUint16;
    Shape outer;
    for (int d = 0; d + 3 < in.rank(); ++d) outer.push_back(in.dim(d));
    Tensor& out = c.output(0, outer);
    const int64_t step = size.height * size.width * size.channels * (wide ? 2 : 1);
    for (const int64_t i : paced(out.num_elements()))
      out.data<std::string>()[i] = encode_png(static_cast<const char*>(in.raw()) + i * step, size,
                                              wide, static_cast<int>(compression));
  }
};
Prepared make_encode_png(const KernelInit& i) {
  const auto compression = i.attr<int64_t>("compression");
  if (compression < -1 || compression > 9)
    throw invalid_argument(fmt::format("compression should be in [-1,9], got {}", compression));
  return prepared(EncodePng{compression});
}

PictureSize jpeg_input(const Tensor& in) {
  if (in.rank() != 3)
    throw invalid_argument(fmt::format("image must be 3-dimensional, got {}", in.shape().str()));
  const PictureSize size{in.dim(0), in.dim(1), in.dim(2)};
  if (in.num_elements() == 0) throw invalid_argument("Unable to encode an image with no pixels");
  if (size.channels != 1 && size.channels != 3)
    throw invalid_argument(
        fmt::format("format must be grayscale or rgb: got {} channels", size.channels));
  return size;
}

void check_quality(int64_t quality) {
  if (quality < 0 || quality > 100)
    throw invalid_argument(fmt::format("quality must be in [0,100], got {}", quality));
}

struct EncodeJpeg {
  JpegEncoding how;
  int64_t channels = 0;
  void operator()(KernelContext& c) const {
    const PictureSize size = jpeg_input(c.input(0));
    if (channels != 0 && channels != size.channels)
      throw invalid_argument(fmt::format("format '{}' expects {} channels, got {}",
                                         channels == 1 ? "grayscale" : "rgb", channels,
                                         size.channels));
    JpegEncoding chosen = how;
    if (c.num_inputs() > 1) {
      chosen.quality = int_scalar(c.input(1), "quality");
      check_quality(chosen.quality);
    }
    c.output(0, Shape{}).data<std::string>()[0] =
        encode_jpeg(c.input(0).data<uint8_t>(), size, chosen);
  }
};
Prepared make_encode_jpeg(const KernelInit& i) {
  EncodeJpeg e;
  if (i.op->name != "EncodeJpeg") return prepared(e);
  const auto& format = i.attr<std::string>("format");
  e.channels = format == "grayscale" ? 1 : format == "rgb" ? 3 : 0;
  e.how.quality = i.attr<int64_t>("quality");
  check_quality(e.how.quality);
  e.how.progressive = i.attr<bool>("progressive");
  e.how.optimize_size = i.attr<bool>("optimize_size");
  e.how.chroma_downsampling = i.attr<bool>("chroma_downsampling");
  e.how.per_inch = i.attr<std::string>("density_unit") == "in";
  e.how.x_density = i.attr<int64_t>("x_density");
  e.how.y_density = i.attr<int64_t>("y_density");
  for (int64_t density : {e.how.x_density, e.how.y_density})
    if (density < 0 || density > 65535) throw invalid_argument("densities must be in [0,65535]");
  e.how.metadata = i.attr<std::string>("xmp_metadata");
  return prepared(e);
}

}  // namespace

std::vector<KernelRow> picture_file_kernels() {
  std::vector<KernelRow> rows = {row("DecodeBmp", make_decode), row("DecodeGif", make_decode),
                                 row("DecodeImage", make_decode)};
  if (has_png()) {
    rows.push_back(row("DecodePng", make_decode));
    rows.push_back(row("EncodePng", make_encode_png));
  }
  if (has_jpeg()) {
    rows.push_back(row("DecodeJpeg", make_decode));
    rows.push_back(row("DecodeAndCropJpeg", make_decode));
    rows.push_back(row("ExtractJpegShape", stateless<jpeg_shape>));
    rows.push_back(row("EncodeJpeg", make_encode_jpeg));
    rows.push_back(row("EncodeJpegVariableQuality", make_encode_jpeg));
  }
  return rows;
}

}  // namespace emplace::cpu
