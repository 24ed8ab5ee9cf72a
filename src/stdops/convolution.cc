// Convolutions and their gradients.
#include <fmt/format.h>

#include "op/dims.h"
#include "op/shape_context.h"
#include "op/window.h"
#include "stdops/training.h"

namespace emplace::stdops {
namespace {

using namespace shape_rules;

// Each element of `out` meets a window of every input channel of its group.
double window_products(const Shape& out, const Shape& filter) {
  return 2 * CostContext::elements(out) * CostContext::elements(filter) /
         std::max(1.0, CostContext::dim(filter, 1));
}

Work products(const CostContext& c) {
  return {.flops = window_products(c.outputs[0], c.inputs[1]), .bytes = c.bytes()};
}

// As many as forward: between the gradient, the last input, and the filter, which is the input of
// that name or the result.
Work backward(const CostContext& c) {
  const bool given = c.inputs[1].has_rank() && c.inputs[1].rank() > 1;
  return {.flops = window_products(c.inputs[2], given ? c.inputs[1] : c.outputs[0]),
          .bytes = c.bytes()};
}

// A channel has filters of its own: no product of matrices.
Work channel_loops(const Shape& out, const Shape& filter, double bytes) {
  const double window = CostContext::elements(filter) / std::max(1.0, CostContext::dim(filter, 1)) /
                        std::max(1.0, CostContext::dim(filter, 2));
  return {.ops = 2 * CostContext::elements(out) * window, .bytes = bytes};
}

Work depthwise_products(const CostContext& c) {
  return channel_loops(c.outputs[0], c.inputs[1], c.bytes());
}

Work depthwise_backward(const CostContext& c) {
  const bool given = c.inputs[1].has_rank() && c.inputs[1].rank() > 1;
  return channel_loops(c.inputs[2], given ? c.inputs[1] : c.outputs[0], c.bytes());
}

int64_t groups_of(int64_t in_depth, int64_t filter_depth) {
  if (filter_depth == 0) throw invalid_argument("Depth of filter must not be 0");
  if (in_depth == Shape::kUnknown || filter_depth == Shape::kUnknown) return Shape::kUnknown;
  if (in_depth % filter_depth != 0)
    throw invalid_argument(
        fmt::format("Depth of input ({}) is not a multiple of input depth of "
                    "filter ({})",
                    in_depth, filter_depth));
  return in_depth / filter_depth;
}

void check_out_depth(int64_t depth, int64_t groups) {
  if (depth == Shape::kUnknown || groups <= 0) return;
  if (depth % groups != 0)
    throw invalid_argument(
        fmt::format("Depth of output ({}) is not a multiple of the number of "
                    "groups ({})",
                    depth, groups));
}

Shape slid(const WindowAttrs& w, const Shape& in, const Shape& filter, int64_t depth) {
  Shape out = Shape::unknown_dims(w.rank());
  out.set_dim(0, in[0]);
  out.set_dim(w.channel_dim(), depth);
  for (int i = 0; i < w.spatial(); ++i)
    out.set_dim(w.spatial_dim(i), w.out_size(i, in[w.spatial_dim(i)], filter[i]));
  return out;
}

template <int kSpatial>
void convolved(ShapeContext& c) {
  const Shape in = c.with_rank(0, kSpatial + 2), filter = c.with_rank(1, kSpatial + 2);
  const WindowAttrs w(c.attrs(), kSpatial, kSpatial == 2 ? "Conv2D" : "Conv3D");
  const int64_t depth = filter[kSpatial + 1];
  check_out_depth(depth, groups_of(in[w.channel_dim()], filter[kSpatial]));
  c.set_output(0, slid(w, in, filter, depth));
}

void depthwise(ShapeContext& c) {
  const Shape in = c.with_rank(0, 4), filter = c.with_rank(1, 4);
  const WindowAttrs w(c.attrs(), 2, "DepthwiseConv2D");
  const int64_t depth = c.merge_dims(in[w.channel_dim()], filter[2]);
  c.set_output(0, slid(w, in, filter, multiply_dims(depth, filter[3])));
}

// The input's gradient: sizes are given; two numbers are height and width only.
template <int kSpatial>
void input_gradient(ShapeContext& c) {
  constexpr int kRank = kSpatial + 2;
  const Shape filter = c.with_rank(1, kRank), out = c.with_rank(2, kRank);
  Shape sizes = c.input_as_shape(0);
  const WindowAttrs w(c.attrs(), kSpatial, "Backprop");
  if (sizes.has_rank() && sizes.rank() == kSpatial && kSpatial == 2) {
    Shape whole = Shape::unknown_dims(kRank);
    whole.set_dim(0, out[0]);
    whole.set_dim(w.channel_dim(), filter[kSpatial]);
    for (int i = 0; i < kSpatial; ++i) whole.set_dim(w.spatial_dim(i), sizes[i]);
    sizes = whole;
  }
  if (!sizes.has_rank()) sizes = Shape::unknown_dims(kRank);
  if (sizes.rank() != kRank)
    throw invalid_argument(
        fmt::format("Shape must be rank {} but is rank {}", kRank, sizes.rank()));
  // The batch of a picture is, as TensorFlow has it, not what the sizes say.
  const int64_t batch = c.merge_dims(sizes[0], out[0]);
  sizes.set_dim(0, kSpatial == 2 ? out[0] : batch);
  c.set_output(0, sizes);
}

template <int kInput, int kRank>
void sizes_given(ShapeContext& c) {
  Shape sizes = c.input_as_shape(kInput);
  if (!sizes.has_rank()) sizes = Shape::unknown_dims(kRank);
  if (sizes.rank() != kRank)
    throw invalid_argument(
        fmt::format("Shape must be rank {} but is rank {}", kRank, sizes.rank()));
  c.set_output(0, sizes);
}

constexpr OpRow kConvolutionRows[] = {
    {"Conv2D(input: T, filter: T) -> (output: T) | T: type in [half,bfloat16,float,double,int32]; "
     "strides: list(int); use_cudnn_on_gpu: bool = true; padding: string in "
     "['SAME','VALID','EXPLICIT']; explicit_paddings: list(int) = []; data_format: string in "
     "['NHWC','NCHW'] = 'NHWC'; dilations: list(int) = [1,1,1,1]",
     convolved<2>, products, "Windows of an image against filters."},
    {"Conv2DBackpropInput(input_sizes: int32, filter: T, out_backprop: T) -> (output: T) | T: type "
     "in [half,bfloat16,float,double,int32]; strides: list(int); use_cudnn_on_gpu: bool = true; "
     "padding: string in ['SAME','VALID','EXPLICIT']; explicit_paddings: list(int) = []; "
     "data_format: string in ['NHWC','NCHW'] = 'NHWC'; dilations: list(int) = [1,1,1,1]",
     input_gradient<2>, backward, "The gradient of Conv2D with respect to its input."},
    {"Conv2DBackpropInputV2(input: T, filter: T, out_backprop: T) -> (output: T) | T: type in "
     "[half,bfloat16,float,double,int32]; strides: list(int); use_cudnn_on_gpu: bool = true; "
     "padding: string in ['SAME','VALID','EXPLICIT']; explicit_paddings: list(int) = []; "
     "data_format: string in ['NHWC','NCHW'] = 'NHWC'; dilations: list(int) = [1,1,1,1]",
     like<0, 4>, backward, "The gradient of Conv2D with respect to its input, given like one."},
    {"Conv2DBackpropFilter(input: T, filter_sizes: int32, out_backprop: T) -> (output: T) | T: "
     "type in [half,bfloat16,float,double]; strides: list(int); use_cudnn_on_gpu: bool = true; "
     "padding: string in ['SAME','VALID','EXPLICIT']; explicit_paddings: list(int) = []; "
     "data_format: string in ['NHWC','NCHW'] = 'NHWC'; dilations: list(int) = [1,1,1,1]",
     sizes_given<1, 4>, backward, "The gradient of Conv2D with respect to its filter."},
    {"Conv2DBackpropFilterV2(input: T, filter: T, out_backprop: T) -> (output: T) | T: type in "
     "[half,bfloat16,float,double]; strides: list(int); use_cudnn_on_gpu: bool = true; padding: "
     "string in ['SAME','VALID','EXPLICIT']; explicit_paddings: list(int) = []; data_format: "
     "string in ['NHWC','NCHW'] = 'NHWC'; dilations: list(int) = [1,1,1,1]",
     like<1, 4>, backward, "The gradient of Conv2D with respect to its filter, given like one."},
    {"Conv3D(input: T, filter: T) -> (output: T) | T: type in [half,bfloat16,float,double]; "
     "strides: list(int) >= 5; padding: string in ['SAME','VALID']; data_format: string in "
     "['NDHWC','NCDHW'] = 'NDHWC'; dilations: list(int) = [1,1,1,1,1]",
     convolved<3>, products, "Windows of a volume against filters."},
    {"Conv3DBackpropInput(input: T, filter: T, out_backprop: T) -> (output: T) | T: type in "
     "[half,float,double]; strides: list(int) >= 5; padding: string in ['SAME','VALID']; "
     "dilations: list(int) = [1,1,1,1,1]",
     like<0, 5>, backward, "The gradient of Conv3D with respect to its input."},
    {"Conv3DBackpropInputV2(input_sizes: Tshape, filter: T, out_backprop: T) -> (output: T) | T: "
     "type in [half,bfloat16,float,double]; strides: list(int) >= 5; padding: string in "
     "['SAME','VALID']; data_format: string in ['NDHWC','NCDHW'] = 'NDHWC'; dilations: list(int) = "
     "[1,1,1,1,1]; Tshape: type in [int32,int64] = int32",
     input_gradient<3>, backward, "The gradient of Conv3D with respect to its input."},
    {"Conv3DBackpropFilter(input: T, filter: T, out_backprop: T) -> (output: T) | T: type in "
     "[half,float,double]; strides: list(int) >= 5; padding: string in ['SAME','VALID']; "
     "dilations: list(int) = [1,1,1,1,1]",
     like<1, 5>, backward, "The gradient of Conv3D with respect to its filter."},
    {"Conv3DBackpropFilterV2(input: T, filter_sizes: int32, out_backprop: T) -> (output: T) | T: "
     "type in [half,bfloat16,float,double]; strides: list(int) >= 5; padding: string in "
     "['SAME','VALID']; data_format: string in ['NDHWC','NCDHW'] = 'NDHWC'; dilations: list(int) = "
     "[1,1,1,1,1]",
     sizes_given<1, 5>, backward, "The gradient of Conv3D with respect to its filter."},
    {"DepthwiseConv2dNative(input: T, filter: T) -> (output: T) | T: type in "
     "[half,bfloat16,float,double]; strides: list(int); padding: string in "
     "['SAME','VALID','EXPLICIT']; explicit_paddings: list(int) = []; data_format: string in "
     "['NHWC','NCHW'] = 'NHWC'; dilations: list(int) = [1,1,1,1]",
     depthwise, depthwise_products, "Windows of each channel against filters of its own."},
    {"DepthwiseConv2dNativeBackpropInput(input_sizes: int32, filter: T, out_backprop: T) -> "
     "(output: T) | T: type in [half,bfloat16,float,double]; strides: list(int); padding: string "
     "in ['SAME','VALID','EXPLICIT']; explicit_paddings: list(int) = []; data_format: string in "
     "['NHWC','NCHW'] = 'NHWC'; dilations: list(int) = [1,1,1,1]",
     sizes_given<0, 4>, depthwise_backward,
     "The gradient of DepthwiseConv2dNative with respect to its input."},
    {"DepthwiseConv2dNativeBackpropFilter(input: T, filter_sizes: int32, out_backprop: T) -> "
     "(output: T) | T: type in [half,bfloat16,float,double]; strides: list(int); padding: string "
     "in ['SAME','VALID','EXPLICIT']; explicit_paddings: list(int) = []; data_format: string in "
     "['NHWC','NCHW'] = 'NHWC'; dilations: list(int) = [1,1,1,1]",
     sizes_given<1, 4>, depthwise_backward,
     "The gradient of DepthwiseConv2dNative with respect to its filter."},
};

}  // namespace

std::span<const OpRow> convolution_ops() { return kConvolutionRows; }

}  // namespace emplace::stdops
