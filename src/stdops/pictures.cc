// Pictures resampled, transformed and marked.
#include <fmt/format.h>

#include "emplace/error.h"
#include "op/dims.h"
#include "op/shape_context.h"
#include "stdops/more.h"

namespace emplace::stdops {
namespace {

using namespace shape_rules;
using namespace cost_rules;

// Input 0's picture with the height and width that input `size` says.
void resized(ShapeContext& c, int size) {
  const Shape in = c.with_rank(0, 4);
  const Shape vector = c.with_rank(size, 1);
  c.merge_dims(vector[0], 2);
  const auto sizes = c.input_as_vector(size);
  c.set_output(0, Shape{in[0], sizes ? (*sizes)[0] : kAny, sizes ? (*sizes)[1] : kAny, in[3]});
}

void scaled(ShapeContext& c) { resized(c, 1); }
void projected(ShapeContext& c) { resized(c, 2); }

void scaled_gradient(ShapeContext& c) { c.set_output(0, c.with_rank(1, 4)); }

void drawn(ShapeContext& c) {
  c.with_rank(1, 3);
  c.set_output(0, c.with_rank_at_least(0, 3));
}

void combined(ShapeContext& c) {
  const Shape boxes = c.with_rank(0, 4), scores = c.with_rank(1, 3);
  for (int i = 2; i < 6; ++i) c.with_rank(i, 0);
  const int64_t batch = c.merge_dims(boxes[0], scores[0]);
  const auto per_class = c.input_as_scalar(2), total = c.input_as_scalar(3);
  int64_t size = total ? *total : kAny;
  if (c.attr<bool>("pad_per_class")) {
    const bool known = per_class && total && scores[2] >= 0;
    size = known ? std::min(*total, multiply_dims(*per_class, scores[2])) : kAny;
  }
  if (size < 0) size = kAny;
  c.set_output(0, Shape{batch, size, 4});
  c.set_output(1, Shape{batch, size});
  c.set_output(2, Shape{batch, size});
  c.set_output(3, Shape{batch});
}

void glimpse(ShapeContext& c) {
  const Shape in = c.with_rank(0, 4), places = c.with_rank(2, 2);
  c.with_rank(1, 1);
  const int64_t batch = c.merge_dims(in[0], places[0]);
  if (places[1] >= 0) c.merge_dims(places[1], 2);
  const auto size = c.input_as_vector(1);
  const bool known = size && size->size() == 2 && (*size)[0] > 0 && (*size)[1] > 0;
  c.set_output(0, Shape{batch, known ? (*size)[0] : Shape::kUnknown,
                        known ? (*size)[1] : Shape::kUnknown, in[3]});
}

constexpr OpRow kPicturesRows[] = {
    {"ScaleAndTranslate(images: T, size: int32, scale: float, translation: float) -> "
     "(resized_images: float) | T: type in [int8,uint8,int16,uint16,int32,int64,bfloat16,half,"
     "float,double]; kernel_type: string = 'lanczos3'; antialias: bool = true",
     scaled, transcendental,
     "Pictures resampled with one of several filters."},
    {"ScaleAndTranslateGrad(grads: T, original_image: T, scale: float, translation: float) -> "
     "(output: T) | T: type in [float]; kernel_type: string = 'lanczos3'; antialias: bool = true",
     scaled_gradient, transcendental,
     "The gradient of ScaleAndTranslate."},
    {"ImageProjectiveTransformV2(images: dtype, transforms: float, output_shape: int32) -> "
     "(transformed_images: dtype) | dtype: type in [uint8,int32,int64,half,bfloat16,float,double]; "
     "interpolation: string; fill_mode: string = 'CONSTANT'",
     projected, transcendental,
     "Pictures seen from elsewhere."},
    {"ImageProjectiveTransformV3(images: dtype, transforms: float, output_shape: int32, "
     "fill_value: float) -> (transformed_images: dtype) | dtype: type in [uint8,int32,int64,half,"
     "bfloat16,float,double]; interpolation: string; fill_mode: string = 'CONSTANT'",
     projected, transcendental,
     "Pictures seen from elsewhere."},
    {"DrawBoundingBoxes(images: T, boxes: float) -> (output: T) | T: type in [float,half] = float",
     drawn, elementwise,
     "Pictures with frames."},
    {"DrawBoundingBoxesV2(images: T, boxes: float, colors: float) -> (output: T) | T: type in "
     "[float,half] = float",
     drawn, elementwise,
     "Pictures with frames in given colours."},
    {"CombinedNonMaxSuppression(boxes: float, scores: float, max_output_size_per_class: int32, "
     "max_total_size: int32, iou_threshold: float, score_threshold: float) -> (nmsed_boxes: float, "
     "nmsed_scores: float, nmsed_classes: float, valid_detections: int32) | pad_per_class: bool = "
     "false; clip_boxes: bool = true",
     combined, transcendental,
     "The best boxes of each class that do not overlap much."},
    {"ExtractGlimpse(input: float, size: int32, offsets: float) -> (glimpse: float) | centered: "
     "bool = true; normalized: bool = true; uniform_noise: bool = true; noise: string = 'uniform'",
     glimpse, elementwise,
     "Windows of pictures around places."},
    {"ExtractGlimpseV2(input: float, size: int32, offsets: float) -> (glimpse: float) | centered: "
     "bool = true; normalized: bool = true; uniform_noise: bool = true; noise: string = 'uniform'",
     glimpse, elementwise,
     "Windows of pictures around places."},
};

}  // namespace

std::span<const OpRow> picture_ops() { return kPicturesRows; }

}  // namespace emplace::stdops
