// Images: sizes, crops, colours, patches, boxes.
#include <fmt/format.h>

#include "op/shape_context.h"
#include "op/window.h"
#include "stdops/training.h"

namespace emplace::stdops {
namespace {

using namespace shape_rules;
using namespace cost_rules;

// Height and width from an input of two numbers.
std::pair<int64_t, int64_t> two_sizes(ShapeContext& c, int i) {
  const Shape s = c.with_rank(i, 1);
  if (s[0] != Shape::kUnknown && s[0] != 2)
    throw invalid_argument(fmt::format("Dimension must be 2 but is {}", s[0]));
  const Shape sizes = c.input_as_shape(i);
  if (!sizes.has_rank() || sizes.rank() != 2) return {Shape::kUnknown, Shape::kUnknown};
  return {sizes[0], sizes[1]};
}

void resized(ShapeContext& c) {
  const Shape in = c.with_rank(0, 4);
  const auto [height, width] = two_sizes(c, 1);
  c.set_output(0, Shape{in[0], height, width, in[3]});
}

void resized_gradient(ShapeContext& c) {
  const Shape gradient = c.with_rank(0, 4), image = c.with_rank(1, 4);
  if (!c.input(1).has_rank()) return c.set_output(0, Shape::unknown());
  c.set_output(0, Shape{c.merge_dims(gradient[0], image[0]), image[1], image[2],
                        c.merge_dims(gradient[3], image[3])});
}

int64_t boxes(ShapeContext& c, int at, int index) {
  const Shape b = c.with_rank(at, 2), of = c.with_rank(index, 1);
  if (b[1] != Shape::kUnknown && b[1] != 4)
    throw invalid_argument(fmt::format("Dimension must be 4 but is {}", b[1]));
  return c.merge_dims(b[0], of[0]);
}

void cropped(ShapeContext& c) {
  const Shape in = c.with_rank(0, 4);
  const int64_t n = boxes(c, 1, 2);
  const auto [height, width] = two_sizes(c, 3);
  c.set_output(0, Shape{n, height, width, in[3]});
}

void cropped_to_image(ShapeContext& c) {
  Shape sizes = c.input_as_shape(3);
  if (!sizes.has_rank()) sizes = Shape::unknown_dims(4);
  if (sizes.rank() != 4)
    throw invalid_argument(fmt::format("Shape must be rank 4 but is rank {}", sizes.rank()));
  c.set_output(0, sizes);
}

void like_boxes(ShapeContext& c) { c.set_output(0, c.with_rank(2, 2)); }

void colors(ShapeContext& c) {
  const Shape in = c.with_rank_at_least(0, 1);
  if (in.has_rank() && in[in.rank() - 1] != Shape::kUnknown && in[in.rank() - 1] != 3)
    throw invalid_argument(fmt::format("Dimension must be 3 but is {}", in[in.rank() - 1]));
  c.set_output(0, in);
}

void adjusted(ShapeContext& c) { c.set_output(0, c.with_rank_at_least(0, 3)); }

template <int kSpatial>
void patches(ShapeContext& c) {
  const Shape in = c.with_rank(0, kSpatial + 2);
  const WindowAttrs w(c.attrs(), kSpatial, "ExtractPatches", "ksizes", "rates");
  Shape out = Shape::unknown_dims(kSpatial + 2);
  out.set_dim(0, in[0]);
  int64_t depth = in[kSpatial + 1];
  for (int i = 0; i < kSpatial; ++i) {
    out.set_dim(i + 1, w.out_size(i, in[i + 1], w.size(i + 1)));
    if (depth != Shape::kUnknown) {
      checked_elements(std::array{depth, w.size(i + 1)});
      depth *= w.size(i + 1);
    }
  }
  out.set_dim(kSpatial + 1, depth);
  c.set_output(0, out);
}

void dilation(ShapeContext& c) {
  const Shape in = c.with_rank(0, 4), filter = c.with_rank(1, 3);
  const WindowAttrs w(c.attrs(), 2, "Dilation2D", nullptr, "rates");
  const int64_t depth = c.merge_dims(in[3], filter[2]);
  c.set_output(
      0, Shape{in[0], w.out_size(0, in[1], filter[0]), w.out_size(1, in[2], filter[1]), depth});
}

void chosen_boxes(ShapeContext& c) {
  const Shape b = c.with_rank(0, 2), scores = c.with_rank(1, 1);
  if (c.op().name != "NonMaxSuppressionWithOverlaps" && b[1] != Shape::kUnknown && b[1] != 4)
    throw invalid_argument(fmt::format("Dimension must be 4 but is {}", b[1]));
  c.merge_dims(b[0], scores[0]);
  for (int i = 2; i < c.num_inputs(); ++i) c.with_rank(i, 0);
  int64_t n = Shape::kUnknown;
  if (const AttrValue* pad = find_attr(c.attrs(), "pad_to_max_output_size"); pad && pad->as<bool>())
    n = c.input_as_scalar(2).value_or(Shape::kUnknown);
  if (n < -1) throw invalid_argument("max_output_size must be non-negative");
  const int last = c.num_outputs() - 1;
  c.set_output(0, Shape{n});
  if (last == 2) c.set_output(1, Shape{n});
  if (last > 0) c.set_output(last, Shape{});
}

constexpr OpRow kImageRows[] = {
    {"ResizeBilinear(images: T, size: int32) -> (resized_images: float) | T: type in "
     "[int8,uint8,int16,uint16,int32,int64,bfloat16,half,float,double,bfloat16]; align_corners: "
     "bool = false; half_pixel_centers: bool = false",
     resized, elementwise, "Images of another size, from four neighbours."},
    {"ResizeBilinearGrad(grads: float, original_image: T) -> (output: T) | T: type in "
     "[float,bfloat16,half,double]; align_corners: bool = false; half_pixel_centers: bool = false",
     resized_gradient, elementwise, "The gradient of ResizeBilinear."},
    {"ResizeNearestNeighbor(images: T, size: int32) -> (resized_images: T) | T: type in "
     "[int8,uint8,int16,uint16,int32,int64,half,float,double,bfloat16]; align_corners: bool = "
     "false; half_pixel_centers: bool = false",
     resized, elementwise, "Images of another size, from the nearest pixel."},
    {"ResizeNearestNeighborGrad(grads: T, size: int32) -> (output: T) | T: type in "
     "[uint8,int8,int32,half,float,double,bfloat16]; align_corners: bool = false; "
     "half_pixel_centers: bool = false",
     resized, elementwise, "The gradient of ResizeNearestNeighbor."},
    {"ResizeBicubic(images: T, size: int32) -> (resized_images: float) | T: type in "
     "[int8,uint8,int16,uint16,int32,int64,half,float,double,bfloat16]; align_corners: bool = "
     "false; half_pixel_centers: bool = false",
     resized, transcendental, "Images of another size, by cubic curves."},
    {"ResizeBicubicGrad(grads: float, original_image: T) -> (output: T) | T: type in "
     "[float,double]; align_corners: bool = false; half_pixel_centers: bool = false",
     resized_gradient, transcendental, "The gradient of ResizeBicubic."},
    {"ResizeArea(images: T, size: int32) -> (resized_images: float) | T: type in "
     "[int8,uint8,int16,uint16,int32,int64,half,float,double,bfloat16]; align_corners: bool = "
     "false",
     resized, transcendental, "Images of another size, by the mean of what a pixel covers."},
    {"CropAndResize(image: T, boxes: float, box_ind: int32, crop_size: int32) -> (crops: float) | "
     "T: type in [uint8,uint16,int8,int16,int32,int64,half,float,double]; method: string in "
     "['bilinear','nearest'] = 'bilinear'; extrapolation_value: float = 0.0",
     cropped, elementwise, "Boxes of images, brought to one size."},
    {"CropAndResizeGradImage(grads: float, boxes: float, box_ind: int32, image_size: int32) -> "
     "(output: T) | T: type in [float,half,double]; method: string in ['bilinear','nearest'] = "
     "'bilinear'",
     cropped_to_image, elementwise, "The gradient of CropAndResize with respect to the image."},
    {"CropAndResizeGradBoxes(grads: float, image: T, boxes: float, box_ind: int32) -> (output: "
     "float) | T: type in [uint8,uint16,int8,int16,int32,int64,half,float,double]; method: string "
     "in ['bilinear'] = 'bilinear'",
     like_boxes, elementwise, "The gradient of CropAndResize with respect to the boxes."},
    {"RGBToHSV(images: T) -> (output: T) | T: type in [half,bfloat16,float,double] = float", colors,
     transcendental, "Hue, saturation and value of red, green and blue."},
    {"HSVToRGB(images: T) -> (output: T) | T: type in [half,bfloat16,float,double] = float", colors,
     transcendental, "Red, green and blue of hue, saturation and value."},
    {"AdjustContrastv2(images: T, contrast_factor: float) -> (output: T) | T: type in [half,float] "
     "= float",
     adjusted, elementwise, "Distances from each channel's mean, scaled."},
    {"AdjustHue(images: T, delta: float) -> (output: T) | T: type in [half,float] = float",
     adjusted, transcendental, "RGB images with their hue turned by delta."},
    {"AdjustSaturation(images: T, scale: float) -> (output: T) | T: type in [half,float] = float",
     adjusted, transcendental, "RGB images with their saturation multiplied by scale."},
    {"ExtractImagePatches(images: T) -> (patches: T) | ksizes: list(int) >= 4; strides: list(int) "
     ">= 4; rates: list(int) >= 4; T: type in "
     "[bfloat16,half,float,double,int8,int16,int32,int64,uint8,uint16,uint32,uint64,complex64,"
     "complex128,bool]; padding: string in ['SAME','VALID']",
     patches<2>, elementwise, "Windows of an image, laid out along its channels."},
    {"ExtractVolumePatches(input: T) -> (patches: T) | ksizes: list(int) >= 5; strides: list(int) "
     ">= 5; T: type in "
     "[float,double,int32,uint8,int16,int8,int64,bfloat16,uint16,half,uint32,uint64]; padding: "
     "string in ['SAME','VALID']",
     patches<3>, elementwise, "Windows of a volume, laid out along its channels."},
    {"Dilation2D(input: T, filter: T) -> (output: T) | T: type in "
     "[float,double,int32,uint8,int16,int8,int64,bfloat16,uint16,half,uint32,uint64]; strides: "
     "list(int) >= 4; rates: list(int) >= 4; padding: string in ['SAME','VALID']",
     dilation, transcendental, "The largest sum of a window and a filter."},
    {"Dilation2DBackpropInput(input: T, filter: T, out_backprop: T) -> (in_backprop: T) | T: type "
     "in [float,double,int32,uint8,int16,int8,int64,bfloat16,uint16,half,uint32,uint64]; strides: "
     "list(int) >= 4; rates: list(int) >= 4; padding: string in ['SAME','VALID']",
     like<0, 4>, transcendental, "The gradient of Dilation2D with respect to its input."},
    {"Dilation2DBackpropFilter(input: T, filter: T, out_backprop: T) -> (filter_backprop: T) | T: "
     "type in [float,double,int32,uint8,int16,int8,int64,bfloat16,uint16,half,uint32,uint64]; "
     "strides: list(int) >= 4; rates: list(int) >= 4; padding: string in ['SAME','VALID']",
     like<1, 3>, transcendental, "The gradient of Dilation2D with respect to its filter."},
    {"NonMaxSuppression(boxes: float, scores: float, max_output_size: int32) -> "
     "(selected_indices: int32) | iou_threshold: float = 0.5",
     chosen_boxes, transcendental, "Boxes with the best scores that overlap little."},
    {"NonMaxSuppressionV2(boxes: T, scores: T, max_output_size: int32, iou_threshold: T_threshold) "
     "-> (selected_indices: int32) | T: type in [half,float] = float; T_threshold: type in "
     "[half,float] = float",
     chosen_boxes, transcendental, "Boxes with the best scores that overlap little."},
    {"NonMaxSuppressionV3(boxes: T, scores: T, max_output_size: int32, iou_threshold: T_threshold, "
     "score_threshold: T_threshold) -> (selected_indices: int32) | T: type in [half,float] = "
     "float; T_threshold: type in [half,float] = float",
     chosen_boxes, transcendental, "Boxes with the best scores that overlap little."},
    {"NonMaxSuppressionV4(boxes: T, scores: T, max_output_size: int32, iou_threshold: T_threshold, "
     "score_threshold: T_threshold) -> (selected_indices: int32, valid_outputs: int32) | T: type "
     "in [half,float] = float; T_threshold: type in [half,float] = float; pad_to_max_output_size: "
     "bool = false",
     chosen_boxes, transcendental, "Boxes with the best scores that overlap little, and how many."},
    {"NonMaxSuppressionV5(boxes: T, scores: T, max_output_size: int32, iou_threshold: T, "
     "score_threshold: T, soft_nms_sigma: T) -> (selected_indices: int32, selected_scores: T, "
     "valid_outputs: int32) | T: type in [half,float] = float; pad_to_max_output_size: bool = "
     "false",
     chosen_boxes, transcendental, "Boxes with the best scores; those that overlap count less."},
    {"NonMaxSuppressionWithOverlaps(overlaps: float, scores: float, max_output_size: int32, "
     "overlap_threshold: float, score_threshold: float) -> (selected_indices: int32)",
     chosen_boxes, transcendental, "Items with the best scores that overlap little."},
};

}  // namespace

std::span<const OpRow> image_ops() { return kImageRows; }

}  // namespace emplace::stdops
