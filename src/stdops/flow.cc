// Branches and loops, as functions and as TensorFlow 1 spells them.
#include "op/shape_context.h"
#include "stdops/stdops.h"

namespace emplace::stdops {
namespace {

using namespace shape_rules;
using namespace cost_rules;

// Where the inputs differ nothing is known; a loop's back edge may still be open.
void merged(ShapeContext& c) {
  Shape out = c.input(0);
  HandleInfo handle = c.input_handle(0);
  for (int i = 1; i < c.num_inputs(); ++i) {
    const Shape& s = c.input(i);
    if (!out.has_rank() || !s.has_rank() || s.rank() != out.rank()) {
      out = Shape::unknown();
      break;
    }
    std::vector<int64_t> dims(out.dims().begin(), out.dims().end());
    for (int d = 0; d < out.rank(); ++d)
      if (dims[static_cast<size_t>(d)] != s.dim(d)) dims[static_cast<size_t>(d)] = Shape::kUnknown;
    out = Shape(std::span<const int64_t>(dims));
  }
  c.set_output(0, out);
  c.set_output_handle(0, handle);
  c.set_output(1, Shape{});
}

void switched(ShapeContext& c) {
  c.with_rank(1, 0);
  unchanged(c);
}

// A loop's variable may change its shape; whoever builds the loop says whether it does.
void entered(ShapeContext& c) {
  if (c.attr<bool>("is_constant")) return unchanged(c);
  c.set_output(0, Shape::unknown());
  c.set_output_handle(0, c.input_handle(0));
}

void loop_cond(ShapeContext& c) { c.set_output(0, c.with_rank(0, 0)); }

// What the attribute says, where it says anything.
void output_shapes(ShapeContext& c) {
  const auto& shapes = c.attr<std::vector<Shape>>("output_shapes");
  for (int i = 0; i < c.num_outputs() && i < static_cast<int>(shapes.size()); ++i)
    c.set_output(i, shapes[static_cast<size_t>(i)]);
}

// A loop's variables keep their handles; without the attribute a body may change any shape.
void while_shapes(ShapeContext& c) {
  for (int i = 0; i < c.num_outputs(); ++i) c.set_output_handle(i, c.input_handle(i));
  output_shapes(c);
}

void selected(ShapeContext& c) {
  Shape out = c.input(1);
  for (int i = 2; i < c.num_inputs(); ++i)
    if (!(c.input(i) == out)) out = Shape::unknown();
  c.set_output(0, out);
}

constexpr OpRow kFlowRows[] = {
    {"If(cond: Tcond, input: Tin) -> (output: Tout) | Tcond: type; Tin: list(type) >= 0; Tout: "
     "list(type) >= 0; then_branch: func; else_branch: func; output_shapes: list(shape) = [] | "
     "stateful",
     output_shapes, cheap,
     "Calls one of two functions."},
    {"StatelessIf(cond: Tcond, input: Tin) -> (output: Tout) | Tcond: type; Tin: list(type) >= "
     "0; Tout: list(type) >= 0; then_branch: func; else_branch: func; output_shapes: "
     "list(shape) = []",
     output_shapes, cheap,
     "Calls one of two functions without side effects."},
    {"Case(branch_index: int32, input: Tin) -> (output: Tout) | Tin: list(type) >= 0; Tout: "
     "list(type) >= 0; branches: list(func) >= 1; output_shapes: list(shape) = [] | stateful",
     output_shapes, cheap,
     "Calls one of several functions, by number."},
    {"StatelessCase(branch_index: int32, input: Tin) -> (output: Tout) | Tin: list(type) >= 0; "
     "Tout: list(type) >= 0; branches: list(func) >= 1; output_shapes: list(shape) = []",
     output_shapes, cheap,
     "Calls one of several functions without side effects, by number."},
    {"While(input: T) -> (output: T) | T: list(type) >= 0; cond: func; body: func; "
     "output_shapes: list(shape) = []; parallel_iterations: int = 10 | stateful",
     while_shapes, cheap,
     "Calls a function again and again while another says so."},
    {"StatelessWhile(input: T) -> (output: T) | T: list(type) >= 0; cond: func; body: func; "
     "output_shapes: list(shape) = []; parallel_iterations: int = 10",
     while_shapes, cheap,
     "Calls a function without side effects while another says so."},
    {"Switch(data: T, pred: bool) -> (output_false: T, output_true: T) | T: type",
     switched, cheap,
     "The data on one of two outputs; the other is dead."},
    {"RefSwitch(data: ref T, pred: bool) -> (output_false: ref T, output_true: ref T) | T: type "
     "| allows_uninitialized_input",
     switched, cheap,
     "The reference on one of two outputs; the other is dead."},
    {"_SwitchN(data: T, output_index: int32) -> (outputs: num_outs*T) | num_outs: int >= 1; T: type",
     switched, cheap,
     "The data on one of several outputs; the others are dead."},
    {"Merge(inputs: N*T) -> (output: T, value_index: int32) | T: type; N: int >= 1",
     merged, cheap,
     "Whichever input is there, and its number."},
    {"RefMerge(inputs: ref N*T) -> (output: ref T, value_index: int32) | T: type; N: int >= 1",
     merged, cheap,
     "Whichever reference is there, and its number."},
    {"Enter(data: T) -> (output: T) | T: type; frame_name: string; is_constant: bool = false; "
     "parallel_iterations: int = 10",
     entered, cheap,
     "Takes a value into a loop."},
    {"RefEnter(data: ref T) -> (output: ref T) | T: type; frame_name: string; is_constant: bool "
     "= false; parallel_iterations: int = 10",
     entered, cheap,
     "Takes a reference into a loop."},
    {"Exit(data: T) -> (output: T) | T: type",
     unchanged, cheap,
     "Takes a value out of a loop."},
    {"RefExit(data: ref T) -> (output: ref T) | T: type",
     unchanged, cheap,
     "Takes a reference out of a loop."},
    {"NextIteration(data: T) -> (output: T) | T: type",
     unchanged, cheap,
     "Hands a value to the next round of a loop."},
    {"RefNextIteration(data: ref T) -> (output: ref T) | T: type",
     unchanged, cheap,
     "Hands a reference to the next round of a loop."},
    {"LoopCond(input: bool) -> (output: bool)",
     loop_cond, cheap,
     "Whether a loop goes round once more."},
    {"ControlTrigger() -> ()",
     none, cheap,
     "Does nothing, even where what it waits for is dead."},
    {"Abort() -> () | error_msg: string = ''; exit_without_error: bool = false",
     none, cheap,
     "Fails with this message when it runs."},
    {"RefSelect(index: int32, inputs: ref N*T) -> (output: ref T) | T: type; N: int >= 1",
     selected, cheap,
     "One of several references, by number."},
    {"PyFunc(input: Tin) -> (output: Tout) | token: string; Tin: list(type) >= 0; Tout: list(type) "
     ">= 0 | stateful",
     unknown, cheap,
     "Calls a Python function of arrays."},
    {"PyFuncStateless(input: Tin) -> (output: Tout) | token: string; Tin: list(type) >= 0; Tout: "
     "list(type) >= 0",
     unknown, cheap,
     "Calls a Python function of arrays that has no side effects."},
    {"EagerPyFunc(input: Tin) -> (output: Tout) | token: string; is_async: bool = false; Tin: "
     "list(type) >= 0; Tout: list(type) >= 0 | stateful",
     unknown, cheap,
     "Calls a Python function of eager tensors."},
};

}  // namespace

std::span<const OpRow> flow_ops() { return kFlowRows; }

}  // namespace emplace::stdops
