// Sources, pass-through ops, calls, output.
#include <fmt/format.h>

#include "op/shape_context.h"

#include "stdops/stdops.h"

namespace emplace::stdops {
namespace {

using namespace shape_rules;
using namespace cost_rules;

void const_shape(ShapeContext& c) {
  const Tensor& value = c.attr<Tensor>("value");
  if (value.dtype() != c.attr<DType>("dtype"))
    throw invalid_argument(fmt::format("Type mismatch between value ({}) and dtype ({})",
                                       dtype_name(value.dtype()), dtype_name(c.attr<DType>("dtype"))));
  c.set_output(0, value.shape());
}

void with_default_shape(ShapeContext& c) {
  const Shape& declared = c.attr<Shape>("shape");
  c.merge(c.input(0), declared);
  c.set_output(0, declared);
}

void each_unchanged(ShapeContext& c) {
  for (int i = 0; i < c.num_outputs(); ++i) {
    c.set_output(i, c.input(i));
    c.set_output_handle(i, c.input_handle(i));
  }
}

void assert_shape(ShapeContext& c) { c.with_rank(0, 0); }

// What is not known of a shape is as good as none.
void fake_param(ShapeContext& c) {
  const Shape& shape = c.attr<Shape>("shape");
  c.set_output(0, shape.is_fully_known() ? shape : Shape::unknown());
}

constexpr OpRow kBasicRows[] = {
    {"NoOp() -> ()",
     none, cheap,
     "Does nothing; a place for control dependencies to meet."},
    {"Const() -> (output: dtype) | value: tensor; dtype: type",
     const_shape, cheap,
     "A tensor known when the graph is made."},
    {"Placeholder() -> (output: dtype) | dtype: type; shape: shape = unknown",
     from_shape_attr, cheap,
     "A value that must be fed."},
    {"PlaceholderV2() -> (output: dtype) | dtype: type; shape: shape",
     from_shape_attr, cheap,
     "A value that must be fed, with a declared shape."},
    {"PlaceholderWithDefault(input: dtype) -> (output: dtype) | dtype: type; shape: shape",
     with_default_shape, cheap,
     "The input, unless another value is fed."},
    {"Identity(input: T) -> (output: T) | T: type",
     unchanged, cheap,
     "The input as it is."},
    {"IdentityN(input: T) -> (output: T) | T: list(type) >= 1",
     each_unchanged, cheap,
     "The inputs, one by one."},
    {"RefIdentity(input: ref T) -> (output: ref T) | T: type | allows_uninitialized_input",
     unchanged, cheap,
     "The same reference."},
    {"StopGradient(input: T) -> (output: T) | T: type",
     unchanged, cheap,
     "The input; gradients do not pass."},
    {"PreventGradient(input: T) -> (output: T) | T: type; message: string = ''",
     unchanged, cheap,
     "The input; asking for its gradient is an error."},
    {"Snapshot(input: T) -> (output: T) | T: type",
     unchanged, elementwise,
     "A copy of the input."},
    {"PartitionedCall(args: Tin) -> (output: Tout) | Tin: list(type) >= 0; Tout: list(type) >= 0;"
     " f: func; config: string = ''; config_proto: string = ''; executor_type: string = ''",
     unknown, cheap,
     "Calls a function without side effects."},
    {"StatefulPartitionedCall(args: Tin) -> (output: Tout) | Tin: list(type) >= 0; Tout: "
     "list(type) >= 0; f: func; config: string = ''; config_proto: string = ''; executor_type: "
     "string = '' | stateful distributed_communication",
     unknown, cheap,
     "Calls a function that may have side effects."},
    {"_Arg() -> (output: T) | T: type; index: int >= 0 | stateful",
     unknown, cheap,
     "An argument of the function this node is in."},
    {"_Retval(input: T) -> () | T: type; index: int >= 0 | stateful",
     none, cheap,
     "A result of the function this node is in."},
    {"_Send(tensor: T) -> () | T: type; tensor_name: string; send_device: string; "
     "send_device_incarnation: int; recv_device: string; client_terminated: bool = false | stateful",
     none, cheap,
     "Hands a value to a part of the graph in another task."},
    {"_Recv() -> (tensor: tensor_type) | tensor_type: type; tensor_name: string; send_device: "
     "string; send_device_incarnation: int; recv_device: string; client_terminated: bool = false | "
     "stateful",
     unknown, cheap,
     "A value from a part of the graph in another task."},
    {"Print(input: T, data: U) -> (output: T) | T: type; U: list(type) >= 0; message: string = "
     "''; first_n: int = -1; summarize: int = 3 | stateful",
     unchanged, transcendental,
     "The input; prints the data to standard error."},
    {"Assert(condition: bool, data: T) -> () | T: list(type) >= 1; summarize: int = 3 | stateful",
     assert_shape, cheap,
     "Fails with the data printed unless the condition is true."},
    {"DeviceIndex() -> (index: int32) | device_names: list(string) | stateful",
     scalar, cheap,
     "Which of the named kinds of devices it runs on."},
    {"FakeParam() -> (output: dtype) | dtype: type; shape: shape",
     fake_param, cheap,
     "Stands for a value that nobody will look at."},
    {"ToBool(input: T) -> (output: bool) | T: type",
     scalar, cheap,
     "Is it true, as a condition: not zero, not empty?"},
    {"IsTensorFloat32Enabled() -> (enabled: bool) | stateful",
     scalar, cheap,
     "May products be less precise than their numbers?"},
    {"HostConst() -> (output: dtype) | value: tensor; dtype: type",
     const_shape, cheap,
     "A constant in host memory."},
    {"Copy(input: T) -> (output: T) | T: type; tensor_name: string = ''; debug_ops_spec: "
     "list(string) = [] | allows_uninitialized_input",
     unchanged, elementwise,
     "A copy, for who looks on."},
    {"CopyHost(input: T) -> (output: T) | T: type; tensor_name: string = ''; debug_ops_spec: "
     "list(string) = [] | allows_uninitialized_input",
     unchanged, elementwise,
     "A copy in host memory, for who looks on."},
};

}  // namespace

std::span<const OpRow> basic_ops() { return kBasicRows; }

}  // namespace emplace::stdops
