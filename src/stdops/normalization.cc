// Normalisation of batches and of neighbouring channels.
#include <fmt/format.h>

#include "op/shape_context.h"
#include "stdops/training.h"

namespace emplace::stdops {
namespace {

using namespace cost_rules;

bool channels_first(ShapeContext& c) {
  return c.attr<std::string>("data_format").starts_with("NC");
}

// The image's rank as its format says.
int rank_of(ShapeContext& c) { return static_cast<int>(c.attr<std::string>("data_format").size()); }

void batch_norm(ShapeContext& c) {
  Shape x = c.with_rank(0, rank_of(c));
  const int d = channels_first(c) ? 1 : x.rank() - 1;
  int64_t channels = x[d];
  const bool training = c.attr<bool>("is_training");
  for (int i = 1; i < (training ? 3 : 5); ++i)
    channels = c.merge_dims(channels, c.with_rank(i, 1)[0]);
  x.set_dim(d, channels);
  c.set_output(0, x);
  for (int i = 1; i < 5; ++i) c.set_output(i, Shape{channels});
}

void batch_norm_gradient(ShapeContext& c) {
  const int rank = rank_of(c);
  Shape x = c.with_rank(1, rank);
  const Shape dy = c.with_rank(0, rank);
  const int d = channels_first(c) ? 1 : rank - 1;
  int64_t channels = c.merge_dims(dy[d], x[d]);
  for (int i = 2; i < 5; ++i) channels = c.merge_dims(channels, c.with_rank(i, 1)[0]);
  x.set_dim(d, channels);
  c.set_output(0, x);
  c.set_output(1, Shape{channels});
  c.set_output(2, Shape{channels});
  c.set_output(3, Shape{0});
  c.set_output(4, Shape{0});
}

void lrn(ShapeContext& c) { c.set_output(0, c.with_rank(0, 4)); }

void lrn_gradient(ShapeContext& c) {
  Shape all = c.with_rank(0, 4);
  for (int i = 1; i < 3; ++i) all = c.merge(all, c.with_rank(i, 4));
  c.set_output(0, all);
}

constexpr OpRow kNormalizationRows[] = {
    {"FusedBatchNorm(x: T, scale: T, offset: T, mean: T, variance: T) -> (y: T, batch_mean: T, "
     "batch_variance: T, reserve_space_1: T, reserve_space_2: T) | T: type in [float]; epsilon: "
     "float = 9.999999747378752e-05; exponential_avg_factor: float = 1.0; data_format: string in "
     "['NHWC','NCHW'] = 'NHWC'; is_training: bool = true",
     batch_norm, normalized, "Batch normalisation of images, channel by channel."},
    {"FusedBatchNormV2(x: T, scale: U, offset: U, mean: U, variance: U) -> (y: T, batch_mean: U, "
     "batch_variance: U, reserve_space_1: U, reserve_space_2: U) | T: type in "
     "[half,bfloat16,float]; U: type in [float]; epsilon: float = 9.999999747378752e-05; "
     "exponential_avg_factor: float = 1.0; data_format: string in ['NHWC','NCHW'] = 'NHWC'; "
     "is_training: bool = true",
     batch_norm, normalized, "Batch normalisation, statistics in float."},
    {"FusedBatchNormV3(x: T, scale: U, offset: U, mean: U, variance: U) -> (y: T, batch_mean: U, "
     "batch_variance: U, reserve_space_1: U, reserve_space_2: U, reserve_space_3: U) | T: type in "
     "[half,bfloat16,float]; U: type in [bfloat16,float]; epsilon: float = 9.999999747378752e-05; "
     "exponential_avg_factor: float = 1.0; data_format: string in ['NHWC','NCHW','NDHWC','NCDHW'] "
     "= 'NHWC'; is_training: bool = true",
     batch_norm, normalized, "Batch normalisation, of volumes too."},
    {"FusedBatchNormGrad(y_backprop: T, x: T, scale: T, reserve_space_1: T, reserve_space_2: T) -> "
     "(x_backprop: T, scale_backprop: T, offset_backprop: T, reserve_space_3: T, reserve_space_4: "
     "T) | T: type in [float]; epsilon: float = 9.999999747378752e-05; data_format: string in "
     "['NHWC','NCHW'] = 'NHWC'; is_training: bool = true",
     batch_norm_gradient, normalized, "The gradient of FusedBatchNorm."},
    {"FusedBatchNormGradV2(y_backprop: T, x: T, scale: float, reserve_space_1: U, reserve_space_2: "
     "U) -> (x_backprop: T, scale_backprop: U, offset_backprop: U, reserve_space_3: U, "
     "reserve_space_4: U) | T: type in [half,bfloat16,float]; U: type in [float]; epsilon: float = "
     "9.999999747378752e-05; data_format: string in ['NHWC','NCHW'] = 'NHWC'; is_training: bool = "
     "true",
     batch_norm_gradient, normalized, "The gradient of FusedBatchNormV2."},
    {"FusedBatchNormGradV3(y_backprop: T, x: T, scale: float, reserve_space_1: U, reserve_space_2: "
     "U, reserve_space_3: U) -> (x_backprop: T, scale_backprop: U, offset_backprop: U, "
     "reserve_space_4: U, reserve_space_5: U) | T: type in [half,bfloat16,float]; U: type in "
     "[float]; epsilon: float = 9.999999747378752e-05; data_format: string in "
     "['NHWC','NCHW','NDHWC','NCDHW'] = 'NHWC'; is_training: bool = true",
     batch_norm_gradient, normalized, "The gradient of FusedBatchNormV3."},
    {"LRN(input: T) -> (output: T) | depth_radius: int = 5; bias: float = 1.0; alpha: float = 1.0; "
     "beta: float = 0.5; T: type in [half,bfloat16,float] = float",
     lrn, transcendental, "Each channel over a power of the squares of its neighbours."},
    {"LRNGrad(input_grads: T, input_image: T, output_image: T) -> (output: T) | depth_radius: int "
     "= 5; bias: float = 1.0; alpha: float = 1.0; beta: float = 0.5; T: type in "
     "[half,bfloat16,float] = float",
     lrn_gradient, transcendental, "The gradient of LRN."},
};

}  // namespace

std::span<const OpRow> normalization_ops() { return kNormalizationRows; }

}  // namespace emplace::stdops
