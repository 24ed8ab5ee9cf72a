// Numbers rounded as if they had been kept in few bits.
#include "op/shape_context.h"
#include "stdops/more.h"

namespace emplace::stdops {
namespace {

using namespace shape_rules;
using namespace cost_rules;

void scalars_after(ShapeContext& c, int first) {
  for (int i = first; i < first + 2; ++i) c.with_rank(i, 0);
}

void with_range(ShapeContext& c) {
  scalars_after(c, 1);
  c.set_output(0, c.input(0));
}

void with_range_gradient(ShapeContext& c) {
  c.set_output(0, ShapeContext::merge(c.input(0), c.input(1)));
  scalars_after(c, 2);
  c.set_output(1, Shape{});
  c.set_output(2, Shape{});
}

// One range for each place of the last dimension.
Shape channels(ShapeContext& c, int input, int first) {
  const Shape s = c.with_rank_at_least(input, 1);
  int64_t last = s.has_rank() ? s[s.rank() - 1] : Shape::kUnknown;
  for (int i = first; i < first + 2; ++i) last = c.merge_dims(last, c.with_rank(i, 1)[0]);
  return Shape{last};
}

void per_channel(ShapeContext& c) {
  channels(c, 0, 1);
  c.set_output(0, c.input(0));
}

void per_channel_gradient(ShapeContext& c) {
  c.set_output(0, ShapeContext::merge(c.input(0), c.input(1)));
  const Shape s = channels(c, 1, 2);
  c.set_output(1, s);
  c.set_output(2, s);
}

void merged_gradient(ShapeContext& c) { c.set_output(0, ShapeContext::merge(c.input(0), c.input(1))); }

void quantize(ShapeContext& c) {
  c.set_output(0, c.input(0));
  const int64_t axis = c.attr<int64_t>("axis");
  for (int i : {1, 2})
    c.set_output(i, axis == -1 ? Shape{}
                    : axis >= 0 && c.input(0).has_rank() && axis < c.input(0).rank()
                        ? Shape{c.input(0)[static_cast<int>(axis)]}
                        : Shape::unknown());
}

void quantize_gradient(ShapeContext& c) {
  c.set_output(0, ShapeContext::merge(c.input(0), c.input(1)));
  c.set_output(1, c.input(2));
  c.set_output(2, c.input(3));
}

constexpr OpRow kQuantizeRows[] = {
    {"FakeQuantWithMinMaxArgs(inputs: float) -> (outputs: float) | min: float = -6.0; max: float = "
     "6.0; num_bits: int = 8; narrow_range: bool = false",
     unchanged, elementwise,
     "Numbers rounded to few bits, the range an attribute."},
    {"FakeQuantWithMinMaxArgsGradient(gradients: float, inputs: float) -> (backprops: float) | "
     "min: float = -6.0; max: float = 6.0; num_bits: int = 8; narrow_range: bool = false",
     merged_gradient, elementwise,
     "The gradient of FakeQuantWithMinMaxArgs."},
    {"FakeQuantWithMinMaxVars(inputs: float, min: float, max: float) -> (outputs: float) | "
     "num_bits: int = 8; narrow_range: bool = false",
     with_range, elementwise,
     "Numbers rounded to few bits, the range an input."},
    {"FakeQuantWithMinMaxVarsGradient(gradients: float, inputs: float, min: float, max: float) -> "
     "(backprops_wrt_input: float, backprop_wrt_min: float, backprop_wrt_max: float) | num_bits: "
     "int = 8; narrow_range: bool = false",
     with_range_gradient, elementwise,
     "The gradient of FakeQuantWithMinMaxVars."},
    {"FakeQuantWithMinMaxVarsPerChannel(inputs: float, min: float, max: float) -> (outputs: "
     "float) | num_bits: int = 8; narrow_range: bool = false",
     per_channel, elementwise,
     "Numbers rounded to few bits, a range for each channel."},
    {"FakeQuantWithMinMaxVarsPerChannelGradient(gradients: float, inputs: float, min: float, max: "
     "float) -> (backprops_wrt_input: float, backprop_wrt_min: float, backprop_wrt_max: float) | "
     "num_bits: int = 8; narrow_range: bool = false",
     per_channel_gradient, elementwise,
     "The gradient of FakeQuantWithMinMaxVarsPerChannel."},
    {"QuantizeAndDequantizeV2(input: T, input_min: T, input_max: T) -> (output: T) | signed_input: "
     "bool = true; num_bits: int = 8; range_given: bool = false; T: type in [bfloat16,half,float,"
     "double]; round_mode: string in ['HALF_TO_EVEN','HALF_UP'] = 'HALF_TO_EVEN'; narrow_range: "
     "bool = false; axis: int = -1",
     unchanged, elementwise,
     "Numbers rounded to few bits and back."},
    {"QuantizeAndDequantizeV3(input: T, input_min: T, input_max: T, num_bits: int32) -> (output: "
     "T) | signed_input: bool = true; range_given: bool = true; T: type in [bfloat16,half,float,"
     "double]; narrow_range: bool = false; axis: int = -1",
     unchanged, elementwise,
     "Numbers rounded to few bits and back."},
    {"QuantizeAndDequantizeV4(input: T, input_min: T, input_max: T) -> (output: T) | signed_input: "
     "bool = true; num_bits: int = 8; range_given: bool = false; T: type in [bfloat16,half,float,"
     "double]; round_mode: string in ['HALF_TO_EVEN','HALF_UP'] = 'HALF_TO_EVEN'; narrow_range: "
     "bool = false; axis: int = -1",
     unchanged, elementwise,
     "Numbers rounded to few bits and back."},
    {"QuantizeV2(input: float, min_range: float, max_range: float) -> (output: T, output_min: "
     "float, output_max: float) | T: type in [qint8,quint8,qint32,qint16,quint16]; mode: string in "
     "['MIN_COMBINED','MIN_FIRST','SCALED'] = 'MIN_COMBINED'; round_mode: string in "
     "['HALF_AWAY_FROM_ZERO','HALF_TO_EVEN'] = 'HALF_AWAY_FROM_ZERO'; narrow_range: bool = false; "
     "axis: int = -1; ensure_minimum_range: float = 0.009999999776482582",
     quantize, elementwise,
     "Reals as numbers of few bits that stand for them."},
    {"Dequantize(input: T, min_range: float, max_range: float) -> (output: dtype) | T: type in "
     "[qint8,quint8,qint32,qint16,quint16]; mode: string in ['MIN_COMBINED','MIN_FIRST','SCALED'] "
     "= 'MIN_COMBINED'; narrow_range: bool = false; axis: int = -1; dtype: type in [bfloat16,"
     "float] = float",
     unchanged, elementwise,
     "What numbers of few bits stand for."},
    {"QuantizeAndDequantizeV4Grad(gradients: T, input: T, input_min: T, input_max: T) -> "
     "(input_backprop: T, input_min_backprop: T, input_max_backprop: T) | T: type in [bfloat16,"
     "half,float,double]; axis: int = -1",
     quantize_gradient, elementwise,
     "Carries a gradient back through QuantizeAndDequantizeV4."},
};

}  // namespace

std::span<const OpRow> quantize_ops() { return kQuantizeRows; }

}  // namespace emplace::stdops
