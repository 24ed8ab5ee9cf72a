// Stacks and arrays of tensors that live for a step.
#include "op/shape_context.h"
#include "stdops/stdops.h"

namespace emplace::stdops {
namespace {

using namespace shape_rules;
using namespace cost_rules;

void array_v3(ShapeContext& c) {
  c.set_output(0, Shape{2});
  const bool same = c.attr<bool>("identical_element_shapes");
  c.set_output_handle(0, {c.attr<DType>("dtype"), same ? c.attr<Shape>("element_shape")
                                                       : Shape::unknown()});
  c.set_output(1, Shape{});
}

void grad_v3(ShapeContext& c) {
  c.set_output(0, Shape{2});
  c.set_output_handle(0, c.input_handle(0));
  c.set_output(1, Shape{});
}

void grad_with_shape(ShapeContext& c) {
  c.set_output(0, Shape{2});
  c.set_output(1, Shape{});
}

void read_element(ShapeContext& c) {
  const HandleInfo& h = c.input_handle(0);
  c.set_output(0, h.dtype == c.attr<DType>("dtype") ? h.shape : Shape::unknown());
}

Shape stack_of(int64_t n, const Shape& element) {
  if (!element.has_rank()) return Shape::unknown();
  std::vector<int64_t> dims{n};
  dims.insert(dims.end(), element.dims().begin(), element.dims().end());
  return Shape(std::span<const int64_t>(dims));
}

void gather_elements(ShapeContext& c) {
  const Shape& indices = c.input(1);
  const int64_t n = indices.has_rank() && indices.rank() == 1 ? indices.dim(0) : Shape::kUnknown;
  c.set_output(0, stack_of(n, c.attr<Shape>("element_shape")));
}

void array_pack(ShapeContext& c) {
  c.set_output(0, stack_of(Shape::kUnknown, c.attr<Shape>("element_shape")));
}

void array_concat(ShapeContext& c) {
  c.set_output(0, stack_of(Shape::kUnknown, c.attr<Shape>("element_shape_except0")));
  c.set_output(1, Shape{Shape::kUnknown});
}

void pushed(ShapeContext& c) { c.set_output(0, c.input(1)); }

constexpr OpRow kStepArraysRows[] = {
    {"StackV2(max_size: int32) -> (handle: resource) | elem_type: type; stack_name: string = '' "
     "| stateful",
     scalar, cheap,
     "A stack of tensors."},
    {"Stack() -> (handle: ref string) | elem_type: type; stack_name: string = '' | stateful",
     old_handle, cheap,
     "A stack of tensors."},
    {"StackPushV2(handle: resource, elem: T) -> (output: T) | T: type; swap_memory: bool = "
     "false | stateful",
     pushed, cheap,
     "Lays a tensor on a stack."},
    {"StackPush(handle: ref string, elem: T) -> (output: T) | T: type; swap_memory: bool = false",
     pushed, cheap,
     "Lays a tensor on a stack."},
    {"StackPopV2(handle: resource) -> (elem: elem_type) | elem_type: type | stateful",
     unknown, cheap,
     "Takes the topmost tensor from a stack."},
    {"StackPop(handle: ref string) -> (elem: elem_type) | elem_type: type",
     unknown, cheap,
     "Takes the topmost tensor from a stack."},
    {"StackCloseV2(handle: resource) -> () | stateful",
     none, cheap,
     "Forgets a stack."},
    {"StackClose(handle: ref string) -> ()",
     none, cheap,
     "Forgets a stack."},
    {"TensorArrayV3(size: int32) -> (handle: resource, flow: float) | dtype: type; "
     "element_shape: shape = unknown; dynamic_size: bool = false; clear_after_read: bool = "
     "true; identical_element_shapes: bool = false; tensor_array_name: string = '' | stateful",
     array_v3, cheap,
     "An array of tensors, each written once."},
    {"TensorArrayV2(size: int32) -> (handle: string) | dtype: type; element_shape: shape = "
     "unknown; dynamic_size: bool = false; clear_after_read: bool = true; tensor_array_name: "
     "string = '' | stateful",
     old_handle, cheap,
     "An array of tensors, each written once."},
    {"TensorArray(size: int32) -> (handle: ref string) | dtype: type; dynamic_size: bool = "
     "false; clear_after_read: bool = true; tensor_array_name: string = ''; element_shape: "
     "shape = unknown | stateful",
     old_handle, cheap,
     "An array of tensors, each written once."},
    {"TensorArrayGradV3(handle: resource, flow_in: float) -> (grad_handle: resource, flow_out: "
     "float) | source: string | stateful",
     grad_v3, cheap,
     "The array for the gradients of an array."},
    {"TensorArrayGradV2(handle: string, flow_in: float) -> (grad_handle: string) | source: "
     "string | stateful",
     old_handle, cheap,
     "The array for the gradients of an array."},
    {"TensorArrayGrad(handle: string, flow_in: float) -> (grad_handle: ref string) | source: "
     "string | stateful",
     old_handle, cheap,
     "The array for the gradients of an array."},
    {"TensorArrayGradWithShape(handle: resource, flow_in: float, shape_to_prepend: int32) -> "
     "(grad_handle: resource, flow_out: float) | source: string | stateful",
     grad_with_shape, cheap,
     "The array for the gradients of an array, with dimensions before."},
    {"TensorArrayWriteV3(handle: resource, index: int32, value: T, flow_in: float) -> "
     "(flow_out: float) | T: type | stateful",
     scalar, cheap,
     "Writes an element."},
    {"TensorArrayReadV3(handle: resource, index: int32, flow_in: float) -> (value: dtype) | "
     "dtype: type | stateful",
     read_element, moved,
     "Reads an element."},
    {"TensorArrayGatherV3(handle: resource, indices: int32, flow_in: float) -> (value: dtype) | "
     "dtype: type; element_shape: shape = unknown | stateful",
     gather_elements, moved,
     "Some elements as one tensor."},
    {"TensorArrayConcatV3(handle: resource, flow_in: float) -> (value: dtype, lengths: int64) | "
     "dtype: type; element_shape_except0: shape = unknown | stateful",
     array_concat, elementwise,
     "The elements one after another."},
    {"TensorArrayScatterV3(handle: resource, indices: int32, value: T, flow_in: float) -> "
     "(flow_out: float) | T: type | stateful",
     scalar, elementwise,
     "Writes rows of a tensor as elements."},
    {"TensorArraySplitV3(handle: resource, value: T, lengths: int64, flow_in: float) -> "
     "(flow_out: float) | T: type | stateful",
     scalar, elementwise,
     "Writes pieces of a tensor as elements."},
    {"TensorArraySizeV3(handle: resource, flow_in: float) -> (size: int32) | stateful",
     scalar, cheap,
     "How many elements an array has."},
    {"TensorArrayCloseV3(handle: resource) -> () | stateful",
     none, cheap,
     "Forgets an array."},
    {"TensorArrayWriteV2(handle: string, index: int32, value: T, flow_in: float) -> (flow_out: "
     "float) | T: type",
     scalar, cheap,
     "Writes an element."},
    {"TensorArrayReadV2(handle: string, index: int32, flow_in: float) -> (value: dtype) | "
     "dtype: type",
     read_element, cheap,
     "Reads an element."},
    {"TensorArrayGatherV2(handle: string, indices: int32, flow_in: float) -> (value: dtype) | "
     "dtype: type; element_shape: shape = unknown",
     gather_elements, elementwise,
     "Some elements as one tensor."},
    {"TensorArrayConcatV2(handle: string, flow_in: float) -> (value: dtype, lengths: int64) | "
     "dtype: type; element_shape_except0: shape = unknown",
     array_concat, elementwise,
     "The elements one after another."},
    {"TensorArrayScatterV2(handle: string, indices: int32, value: T, flow_in: float) -> "
     "(flow_out: float) | T: type",
     scalar, elementwise,
     "Writes rows of a tensor as elements."},
    {"TensorArraySplitV2(handle: string, value: T, lengths: int64, flow_in: float) -> "
     "(flow_out: float) | T: type",
     scalar, elementwise,
     "Writes pieces of a tensor as elements."},
    {"TensorArraySizeV2(handle: string, flow_in: float) -> (size: int32)",
     scalar, cheap,
     "How many elements an array has."},
    {"TensorArrayCloseV2(handle: string) -> ()",
     none, cheap,
     "Forgets an array."},
    {"TensorArrayWrite(handle: ref string, index: int32, value: T, flow_in: float) -> "
     "(flow_out: float) | T: type",
     scalar, cheap,
     "Writes an element."},
    {"TensorArrayRead(handle: ref string, index: int32, flow_in: float) -> (value: dtype) | "
     "dtype: type",
     read_element, cheap,
     "Reads an element."},
    {"TensorArrayGather(handle: ref string, indices: int32, flow_in: float) -> (value: dtype) | "
     "dtype: type; element_shape: shape = unknown",
     gather_elements, elementwise,
     "Some elements as one tensor."},
    {"TensorArrayConcat(handle: ref string, flow_in: float) -> (value: dtype, lengths: int64) | "
     "dtype: type; element_shape_except0: shape = unknown",
     array_concat, elementwise,
     "The elements one after another."},
    {"TensorArrayScatter(handle: ref string, indices: int32, value: T, flow_in: float) -> "
     "(flow_out: float) | T: type",
     scalar, elementwise,
     "Writes rows of a tensor as elements."},
    {"TensorArraySplit(handle: ref string, value: T, lengths: int64, flow_in: float) -> "
     "(flow_out: float) | T: type",
     scalar, elementwise,
     "Writes pieces of a tensor as elements."},
    {"TensorArraySize(handle: ref string, flow_in: float) -> (size: int32)",
     scalar, cheap,
     "How many elements an array has."},
    {"TensorArrayClose(handle: ref string) -> ()",
     none, cheap,
     "Forgets an array."},
    {"TensorArrayPack(handle: ref string, flow_in: float) -> (value: dtype) | dtype: type; "
     "element_shape: shape = unknown",
     array_pack, elementwise,
     "All elements as one tensor."},
    {"TensorArrayUnpack(handle: ref string, value: T, flow_in: float) -> (flow_out: float) | T: "
     "type",
     scalar, elementwise,
     "Writes the rows of a tensor as elements."},
};

}  // namespace

std::span<const OpRow> step_array_ops() { return kStepArraysRows; }

}  // namespace emplace::stdops
