// Pools and their gradients.
#include <fmt/format.h>

#include <cmath>

#include "op/shape_context.h"
#include "op/window.h"
#include "stdops/training.h"

namespace emplace::stdops {
namespace {

using namespace shape_rules;
using namespace cost_rules;

// A window over channels too, where `deep`: pooled without padding.
Shape pooled(const WindowAttrs& w, const Shape& in, bool deep) {
  Shape out = Shape::unknown_dims(w.rank());
  out.set_dim(0, in[0]);
  const int d = w.channel_dim();
  int64_t depth = in[d];
  if (deep && w.size(d) > 1 && depth != Shape::kUnknown) {
    if (depth < w.size(d))
      throw invalid_argument(fmt::format("Negative dimension size caused by subtracting {} from {}",
                                         w.size(d), depth));
    depth = (depth - w.size(d)) / w.stride(d) + 1;
  }
  out.set_dim(d, depth);
  for (int i = 0; i < w.spatial(); ++i) {
    const int at = w.spatial_dim(i);
    out.set_dim(at, w.out_size(i, in[at], w.size(at)));
  }
  return out;
}

template <int kSpatial, bool kDeep>
void pool(ShapeContext& c) {
  const Shape in = c.with_rank(0, kSpatial + 2);
  const WindowAttrs w(c.attrs(), kSpatial, "Pooling", "ksize");
  const Shape out = pooled(w, in, kDeep);
  for (int i = 0; i < c.num_outputs(); ++i) c.set_output(i, out);
}

void pool_v2(ShapeContext& c) {
  const Shape in = c.with_rank(0, 4);
  WindowAttrs w(c.attrs(), 2, "Pooling");
  const auto sizes = c.input_as_vector(1), strides = c.input_as_vector(2);
  if (!sizes || !strides) return c.set_output(0, Shape::unknown_dims(4));
  w.set_sizes(*sizes, *strides);
  c.set_output(0, pooled(w, in, true));
}

template <int kRank>
void sizes_given(ShapeContext& c) {
  c.with_rank(1, kRank);
  Shape sizes = c.input_as_shape(0);
  if (!sizes.has_rank()) sizes = Shape::unknown_dims(kRank);
  if (sizes.rank() != kRank)
    throw invalid_argument(
        fmt::format("Shape must be rank {} but is rank {}", kRank, sizes.rank()));
  c.set_output(0, sizes);
}

// Rows and columns shrink by any factor; with them comes where each window begins.
void fractional(ShapeContext& c) {
  const Shape in = c.with_rank(0, 4);
  const auto& ratio = c.attr<std::vector<float>>("pooling_ratio");
  if (ratio.size() != 4)
    throw invalid_argument("pooling_ratio field must specify 4 dimensions");
  Shape out{in[0], Shape::kUnknown, Shape::kUnknown, in[3]};
  for (int d : {1, 2}) {
    const float by = ratio[static_cast<size_t>(d)];
    const bool known = in[d] >= 0 && by >= 1;
    const auto size = known ? static_cast<int64_t>(std::floor(static_cast<float>(in[d]) / by)) : -1;
    if (known) out.set_dim(d, size);
    c.set_output(d, Shape{known ? size + 1 : Shape::kUnknown});
  }
  c.set_output(0, out);
}

void from_shape_vector(ShapeContext& c) { c.set_output(0, c.input_as_shape(0)); }

constexpr OpRow kPoolingRows[] = {
    {"MaxPool(input: T) -> (output: T) | T: type in "
     "[half,bfloat16,float,double,int32,int64,uint8,int16,int8,uint16,qint8] = float; ksize: "
     "list(int) >= 4; strides: list(int) >= 4; padding: string in ['SAME','VALID','EXPLICIT']; "
     "explicit_paddings: list(int) = []; data_format: string in ['NHWC','NCHW','NCHW_VECT_C'] = "
     "'NHWC'",
     pool<2, true>, cost_rules::pooled, "The largest of each window."},
    {"MaxPoolV2(input: T, ksize: int32, strides: int32) -> (output: T) | T: type in "
     "[half,bfloat16,float,double,int32,int64,uint8,int16,int8,uint16,qint8] = float; padding: "
     "string in ['SAME','VALID']; data_format: string in ['NHWC','NCHW','NCHW_VECT_C'] = 'NHWC'",
     pool_v2, elementwise, "The largest of each window; its size is an input."},
    {"MaxPoolGrad(orig_input: T, orig_output: T, grad: T) -> (output: T) | ksize: list(int) >= 4; "
     "strides: list(int) >= 4; padding: string in ['SAME','VALID','EXPLICIT']; explicit_paddings: "
     "list(int) = []; data_format: string in ['NHWC','NCHW'] = 'NHWC'; T: type in "
     "[float,double,int32,uint8,int16,int8,int64,bfloat16,uint16,half,uint32,uint64] = float",
     like<0, 4>, transcendental, "The gradient of MaxPool."},
    {"MaxPoolGradV2(orig_input: T, orig_output: T, grad: T, ksize: int32, strides: int32) -> "
     "(output: T) | padding: string in ['SAME','VALID']; data_format: string in ['NHWC','NCHW'] = "
     "'NHWC'; T: type in "
     "[float,double,int32,uint8,int16,int8,int64,bfloat16,uint16,half,uint32,uint64] = float",
     like<0, 4>, transcendental, "The gradient of MaxPoolV2."},
    {"MaxPoolGradGrad(orig_input: T, orig_output: T, grad: T) -> (output: T) | ksize: list(int) >= "
     "4; strides: list(int) >= 4; padding: string in ['SAME','VALID']; data_format: string in "
     "['NHWC','NCHW'] = 'NHWC'; T: type in "
     "[float,double,int32,uint8,int16,int8,int64,bfloat16,uint16,half,uint32,uint64]",
     like<1, 4>, transcendental, "The gradient of MaxPoolGrad."},
    {"MaxPoolGradGradV2(orig_input: T, orig_output: T, grad: T, ksize: int32, strides: int32) -> "
     "(output: T) | padding: string in ['SAME','VALID']; data_format: string in ['NHWC','NCHW'] = "
     "'NHWC'; T: type in "
     "[float,double,int32,uint8,int16,int8,int64,bfloat16,uint16,half,uint32,uint64]",
     like<1, 4>, transcendental, "The gradient of MaxPoolGradV2."},
    {"MaxPoolWithArgmax(input: T) -> (output: T, argmax: Targmax) | ksize: list(int) >= 4; "
     "strides: list(int) >= 4; Targmax: type in [int32,int64] = int64; padding: string in "
     "['SAME','VALID']; include_batch_in_index: bool = false; T: type in "
     "[float,double,int32,uint8,int16,int8,int64,bfloat16,uint16,half,uint32,uint64]",
     pool<2, false>, cost_rules::pooled, "The largest of each window, and where it was."},
    {"MaxPoolGradWithArgmax(input: T, grad: T, argmax: Targmax) -> (output: T) | ksize: list(int) "
     ">= 4; strides: list(int) >= 4; padding: string in ['SAME','VALID']; include_batch_in_index: "
     "bool = false; Targmax: type in [int32,int64]; T: type in "
     "[float,double,int32,uint8,int16,int8,int64,bfloat16,uint16,half,uint32,uint64]",
     like<0, 4>, transcendental, "The gradient of MaxPoolWithArgmax."},
    {"MaxPoolGradGradWithArgmax(input: T, grad: T, argmax: Targmax) -> (output: T) | ksize: "
     "list(int) >= 4; strides: list(int) >= 4; padding: string in ['SAME','VALID']; "
     "include_batch_in_index: bool = false; Targmax: type in [int32,int64]; T: type in "
     "[float,double,int32,uint8,int16,int8,int64,bfloat16,uint16,half,uint32,uint64]",
     like<2, 4>, transcendental, "The gradient of MaxPoolGradWithArgmax."},
    {"MaxPool3D(input: T) -> (output: T) | ksize: list(int) >= 5; strides: list(int) >= 5; "
     "padding: string in ['SAME','VALID']; data_format: string in ['NDHWC','NCDHW'] = 'NDHWC'; T: "
     "type in [half,bfloat16,float]",
     pool<3, false>, cost_rules::pooled, "The largest of each window of a volume."},
    {"MaxPool3DGrad(orig_input: TInput, orig_output: TInput, grad: T) -> (output: T) | ksize: "
     "list(int) >= 5; strides: list(int) >= 5; padding: string in ['SAME','VALID']; data_format: "
     "string in ['NDHWC','NCDHW'] = 'NDHWC'; T: type in [half,bfloat16,float] = float; TInput: "
     "type in [half,bfloat16,float] = float",
     like<0, 5>, transcendental, "The gradient of MaxPool3D."},
    {"MaxPool3DGradGrad(orig_input: T, orig_output: T, grad: T) -> (output: T) | ksize: list(int) "
     ">= 5; strides: list(int) >= 5; padding: string in ['SAME','VALID']; data_format: string in "
     "['NDHWC','NCDHW'] = 'NDHWC'; T: type in "
     "[float,double,int32,uint8,int16,int8,int64,bfloat16,uint16,half,uint32,uint64]",
     like<1, 5>, transcendental, "The gradient of MaxPool3DGrad."},
    {"AvgPool(value: T) -> (output: T) | ksize: list(int) >= 4; strides: list(int) >= 4; padding: "
     "string in ['SAME','VALID']; data_format: string in ['NHWC','NCHW'] = 'NHWC'; T: type in "
     "[half,bfloat16,float,double]",
     pool<2, false>, cost_rules::pooled, "The mean of each window."},
    {"AvgPoolGrad(orig_input_shape: int32, grad: T) -> (output: T) | ksize: list(int) >= 4; "
     "strides: list(int) >= 4; padding: string in ['SAME','VALID']; data_format: string in "
     "['NHWC','NCHW'] = 'NHWC'; T: type in [half,bfloat16,float,double]",
     sizes_given<4>, elementwise, "The gradient of AvgPool."},
    {"AvgPool3D(input: T) -> (output: T) | ksize: list(int) >= 5; strides: list(int) >= 5; "
     "padding: string in ['SAME','VALID']; data_format: string in ['NDHWC','NCDHW'] = 'NDHWC'; T: "
     "type in [half,bfloat16,float,double]",
     pool<3, false>, cost_rules::pooled, "The mean of each window of a volume."},
    {"AvgPool3DGrad(orig_input_shape: int32, grad: T) -> (output: T) | ksize: list(int) >= 5; "
     "strides: list(int) >= 5; padding: string in ['SAME','VALID']; data_format: string in "
     "['NDHWC','NCDHW'] = 'NDHWC'; T: type in [half,bfloat16,float,double]",
     sizes_given<5>, elementwise, "The gradient of AvgPool3D."},
    {"FractionalMaxPool(value: T) -> (output: T, row_pooling_sequence: int64, "
     "col_pooling_sequence: int64) | pooling_ratio: list(float) >= 4; pseudo_random: bool = false; "
     "overlapping: bool = false; deterministic: bool = false; seed: int = 0; seed2: int = 0; T: "
     "type in [float,double,int32,int64]",
     fractional, elementwise,
     "The largest of windows whose sizes differ."},
    {"FractionalAvgPool(value: T) -> (output: T, row_pooling_sequence: int64, "
     "col_pooling_sequence: int64) | pooling_ratio: list(float) >= 4; pseudo_random: bool = false; "
     "overlapping: bool = false; deterministic: bool = false; seed: int = 0; seed2: int = 0; T: "
     "type in [float,double,int32,int64]",
     fractional, elementwise,
     "Means of windows whose sizes differ."},
    {"FractionalMaxPoolGrad(orig_input: T, orig_output: T, out_backprop: T, row_pooling_sequence: "
     "int64, col_pooling_sequence: int64) -> (output: T) | overlapping: bool = false; T: type in "
     "[float,double,int32,int64]",
     unchanged, elementwise,
     "Carries a gradient back through FractionalMaxPool."},
    {"FractionalAvgPoolGrad(orig_input_tensor_shape: int64, out_backprop: T, row_pooling_sequence: "
     "int64, col_pooling_sequence: int64) -> (output: T) | overlapping: bool = false; T: type in "
     "[float,double,int32,int64]",
     from_shape_vector, elementwise,
     "Carries a gradient back through FractionalAvgPool."},
};

}  // namespace

std::span<const OpRow> pooling_ops() { return kPoolingRows; }

}  // namespace emplace::stdops
