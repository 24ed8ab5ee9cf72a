// Sounds, crossed features, parts of pictures drawn at random, dimensions by their letters.
#include <bit>

#include "emplace/error.h"
#include "op/shape_context.h"
#include "stdops/more.h"

namespace emplace::stdops {
namespace {

using namespace shape_rules;
using namespace cost_rules;

void wav(ShapeContext& c) {
  c.with_rank(0, 0);
  const auto channels = c.attr<int64_t>("desired_channels"),
             samples = c.attr<int64_t>("desired_samples");
  c.set_output(
      0, Shape{samples == -1 || samples < 0 ? kAny : samples, channels <= 0 ? kAny : channels});
  c.set_output(1, Shape{});
}
void to_wav(ShapeContext& c) {
  c.with_rank(0, 2);
  c.with_rank(1, 0);
  c.set_output(0, Shape{});
}
void spectrogram(ShapeContext& c) {
  const Shape in = c.with_rank(0, 2);
  const auto window = c.attr<int64_t>("window_size"), stride = c.attr<int64_t>("stride");
  if (window < 2 || window > (1 << 24) || stride < 1)
    throw invalid_argument("window_size must be at least 2, and stride positive");
  const int64_t frames = in[0] < 0 ? kAny : in[0] < window ? 0 : 1 + (in[0] - window) / stride;
  const auto size = static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(window)));
  c.set_output(0, Shape{in[1], frames, 1 + size / 2});
}
void mfcc(ShapeContext& c) {
  const Shape in = c.with_rank(0, 3);
  c.with_rank(1, 0);
  const auto n = c.attr<int64_t>("dct_coefficient_count");
  if (n < 1) throw invalid_argument("dct_coefficient_count must be positive");
  c.set_output(0, Shape{in[0], in[1], n});
}
void distorted(ShapeContext& c) {
  const Shape size = c.with_rank(0, 1);
  c.merge_dims(size[0], 3);
  const Shape boxes = c.with_rank(1, 3);
  c.merge_dims(boxes[2], 4);
  if (c.num_inputs() > 2) c.with_rank(2, 0);
  if (c.num_inputs() > 3) c.merge_dims(c.with_rank(3, 1)[0], 2);
  c.set_output(0, Shape{3});
  c.set_output(1, Shape{3});
  c.set_output(2, Shape{1, 1, 4});
}
void ragged_cross(ShapeContext& c) {
  c.set_output(0, Shape{kAny});
  c.set_output(1, Shape{kAny});
}
void sparse_cross(ShapeContext& c) {
  c.set_output(0, Shape{kAny, 2});
  c.set_output(1, Shape{kAny});
  c.set_output(2, Shape{2});
}
void normalized(ShapeContext& c) {
  const Shape in = c.with_rank(0, 4);
  int64_t depth = in[3];
  for (int i = 1; i < 5; ++i) depth = c.merge_dims(depth, c.with_rank(i, 1)[0]);
  c.set_output(0, Shape{in[0], in[1], in[2], depth});
}

constexpr OpRow kSoundsRows[] = {
    {"DecodeWav(contents: string) -> (audio: float, sample_rate: int32) | desired_channels: int = "
     "-1; desired_samples: int = -1",
     wav, elementwise, "A WAV file's samples."},
    {"EncodeWav(audio: float, sample_rate: int32) -> (contents: string)", to_wav, elementwise,
     "Samples as a WAV file."},
    {"AudioSpectrogram(input: float) -> (spectrogram: float) | window_size: int; stride: int; "
     "magnitude_squared: bool = false",
     spectrogram, transcendental, "How strong each frequency is, window by window."},
    {"Mfcc(spectrogram: float, sample_rate: int32) -> (output: float) | upper_frequency_limit: "
     "float "
     "= 4000.0; lower_frequency_limit: float = 20.0; filterbank_channel_count: int = 40; "
     "dct_coefficient_count: int = 13",
     mfcc, transcendental, "The cepstrum of a spectrogram on the mel scale."},
    {"SampleDistortedBoundingBox(image_size: T, bounding_boxes: float) -> (begin: T, size: T, "
     "bboxes: float) | T: type in [uint8,int8,int16,int32,int64]; seed: int = 0; seed2: int = 0; "
     "min_object_covered: float = 0.1; aspect_ratio_range: list(float) = [0.75,1.33]; area_range: "
     "list(float) = [0.05,1.0]; max_attempts: int = 100; use_image_if_no_bounding_boxes: bool = "
     "false | stateful",
     distorted, elementwise, "A part of a picture that shows enough of an object."},
    {"SampleDistortedBoundingBoxV2(image_size: T, bounding_boxes: float, min_object_covered: "
     "float) "
     "-> (begin: T, size: T, bboxes: float) | T: type in [uint8,int8,int16,int32,int64]; seed: int "
     "= "
     "0; seed2: int = 0; aspect_ratio_range: list(float) = [0.75,1.33]; area_range: list(float) = "
     "[0.05,1.0]; max_attempts: int = 100; use_image_if_no_bounding_boxes: bool = false | stateful",
     distorted, elementwise, "A part of a picture that shows enough of an object."},
    {"StatelessSampleDistortedBoundingBox(image_size: T, bounding_boxes: float, "
     "min_object_covered: "
     "float, seed: Tseed) -> (begin: T, size: T, bboxes: float) | T: type in "
     "[uint8,int8,int16,int32,"
     "int64]; Tseed: type in [int32,int64]; aspect_ratio_range: list(float) = [0.75,1.33]; "
     "area_range: list(float) = [0.05,1.0]; max_attempts: int = 100; "
     "use_image_if_no_bounding_boxes: bool = false",
     distorted, elementwise,
     "A part of a picture that shows enough of an object, by the seed alone."},
    {"RaggedCross(ragged_values: ragged_values_types, ragged_row_splits: ragged_splits_types, "
     "sparse_indices: Nsparse*int64, sparse_values: sparse_values_types, sparse_shape: "
     "Nsparse*int64, dense_inputs: dense_types) -> (output_values: out_values_type, "
     "output_row_splits: out_row_splits_type) | Nsparse: int >= 0; input_order: string; "
     "hashed_output: bool; num_buckets: int >= 0; hash_key: int; ragged_values_types: list(type) "
     "in "
     "[int64,string] >= 0; ragged_splits_types: list(type) in [int32,int64] >= 0; "
     "sparse_values_types: list(type) in [int64,string] >= 0; dense_types: list(type) in [int64,"
     "string] >= 0; out_values_type: type in [int64,string]; out_row_splits_type: type in [int32,"
     "int64]",
     ragged_cross, elementwise, "Every combination of features, row by row."},
    {"SparseCross(indices: N*int64, values: sparse_types, shapes: N*int64, dense_inputs: "
     "dense_types) -> (output_indices: int64, output_values: out_type, output_shape: int64) | N: "
     "int "
     ">= 0; hashed_output: bool; num_buckets: int >= 0; hash_key: int; sparse_types: list(type) in "
     "[int64,string] >= 0; dense_types: list(type) in [int64,string] >= 0; out_type: type in "
     "[int64,"
     "string]; internal_type: type in [int64,string]",
     sparse_cross, elementwise, "Every combination of features, row by row."},
    {"SparseCrossV2(indices: N*int64, values: sparse_types, shapes: N*int64, dense_inputs: "
     "dense_types, sep: string) -> (output_indices: int64, output_values: string, output_shape: "
     "int64) | N: int >= 0; sparse_types: list(type) in [int64,string] >= 0; dense_types: "
     "list(type) "
     "in [int64,string] >= 0",
     sparse_cross, elementwise, "Every combination of features, row by row, as texts."},
    {"SparseCrossHashed(indices: N*int64, values: sparse_types, shapes: N*int64, dense_inputs: "
     "dense_types, num_buckets: int64, strong_hash: bool, salt: int64) -> (output_indices: int64, "
     "output_values: int64, output_shape: int64) | N: int >= 0; sparse_types: list(type) in [int64,"
     "string] >= 0; dense_types: list(type) in [int64,string] >= 0",
     sparse_cross, elementwise, "Every combination of features, row by row, in buckets."},
    {"DataFormatDimMap(x: T) -> (y: T) | T: type in [int32,int64] = int32; src_format: string = "
     "'NHWC'; dst_format: string = 'NCHW'",
     unchanged, elementwise, "Where dimensions of one layout are in another."},
    {"DataFormatVecPermute(x: T) -> (y: T) | T: type in [int32,int64] = int32; src_format: string "
     "= "
     "'NHWC'; dst_format: string = 'NCHW'",
     unchanged, elementwise, "A number for each dimension, in the order of another layout."},
    {"BatchNormWithGlobalNormalization(t: T, m: T, v: T, beta: T, gamma: T) -> (result: T) | T: "
     "type "
     "in [float,double,int32,uint8,int16,int8,complex64,int64,qint8,quint8,qint32,bfloat16,qint16,"
     "quint16,uint16,complex128,half,uint32,uint64]; variance_epsilon: float; "
     "scale_after_normalization: bool",
     normalized, elementwise, "Batch normalization as it was at first."},
};

}  // namespace

std::span<const OpRow> sound_ops() { return kSoundsRows; }

}  // namespace emplace::stdops
