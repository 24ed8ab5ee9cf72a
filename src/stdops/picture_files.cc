// Pictures as files.
#include "emplace/error.h"
#include "op/shape_context.h"
#include "stdops/more.h"

namespace emplace::stdops {
namespace {

using namespace shape_rules;
using namespace cost_rules;

// [height, width, channels]; the format decides over channels unless the attribute does.
void decoded(ShapeContext& c) {
  c.with_rank(0, 0);
  const auto channels = c.attr<int64_t>("channels");
  if (channels < 0) throw invalid_argument("channels must be non-negative");
  c.set_output(0, Shape{kAny, kAny, channels == 0 ? kAny : channels});
}
void window(ShapeContext& c) {
  const Shape w = c.with_rank(1, 1);
  c.merge_dims(w[0], 4);
  decoded(c);
}
void frames(ShapeContext& c) {
  c.with_rank(0, 0);
  c.set_output(0, Shape{kAny, kAny, kAny, 3});
}
// The frames of a GIF come before its height, unless only the first is wanted.
void any_picture(ShapeContext& c) {
  decoded(c);
  if (c.attr<bool>("expand_animations")) c.set_output(0, Shape::unknown());
}
void three(ShapeContext& c) {
  c.with_rank(0, 0);
  c.set_output(0, Shape{3});
}
void png(ShapeContext& c) {
  const Shape in = c.with_rank_at_least(0, 3);
  if (!in.has_rank()) return c.set_output(0, Shape::unknown());
  Shape outer;
  for (int d = 0; d + 3 < in.rank(); ++d) outer.push_back(in[d]);
  c.set_output(0, outer);
}
void jpeg(ShapeContext& c) {
  c.with_rank(0, 3);
  if (c.num_inputs() > 1) c.with_rank(1, 0);
  c.set_output(0, Shape{});
}

constexpr OpRow kPictureFilesRows[] = {
    {"DecodeJpeg(contents: string) -> (image: uint8) | channels: int = 0; ratio: int = 1; "
     "fancy_upscaling: bool = true; try_recover_truncated: bool = false; acceptable_fraction: "
     "float "
     "= 1.0; dct_method: string = ''",
     decoded, transcendental, "A JPEG file's pixels."},
    {"DecodeAndCropJpeg(contents: string, crop_window: int32) -> (image: uint8) | channels: int = "
     "0; "
     "ratio: int = 1; fancy_upscaling: bool = true; try_recover_truncated: bool = false; "
     "acceptable_fraction: float = 1.0; dct_method: string = ''",
     window, transcendental, "A part of a JPEG file's pixels."},
    {"DecodePng(contents: string) -> (image: dtype) | channels: int = 0; dtype: type in [uint8,"
     "uint16] = uint8",
     decoded, transcendental, "A PNG file's pixels."},
    {"DecodeBmp(contents: string) -> (image: uint8) | channels: int = 0", decoded, transcendental,
     "A BMP file's pixels."},
    {"DecodeGif(contents: string) -> (image: uint8)", frames, transcendental,
     "The frames of a GIF file."},
    {"DecodeImage(contents: string) -> (image: dtype) | channels: int = 0; dtype: type in [uint8,"
     "uint16,float] = uint8; expand_animations: bool = true",
     any_picture, transcendental, "The pixels of a JPEG, PNG, GIF or BMP file."},
    {"ExtractJpegShape(contents: string) -> (image_shape: output_type) | output_type: type in "
     "[int32,int64] = int32",
     three, elementwise, "Height, width and channels of a JPEG file."},
    {"EncodePng(image: T) -> (contents: string) | compression: int = -1; T: type in [uint8,uint16] "
     "= "
     "uint8",
     png, transcendental, "Pixels as PNG files."},
    {"EncodeJpeg(image: uint8) -> (contents: string) | format: string in ['','grayscale','rgb'] = "
     "''; quality: int = 95; progressive: bool = false; optimize_size: bool = false; "
     "chroma_downsampling: bool = true; density_unit: string in ['in','cm'] = 'in'; x_density: int "
     "= "
     "300; y_density: int = 300; xmp_metadata: string = ''",
     jpeg, transcendental, "Pixels as a JPEG file."},
    {"EncodeJpegVariableQuality(images: uint8, quality: int32) -> (contents: string)", jpeg,
     transcendental, "Pixels as a JPEG file of a given quality."},
};

}  // namespace

std::span<const OpRow> picture_file_ops() { return kPictureFilesRows; }

}  // namespace emplace::stdops
