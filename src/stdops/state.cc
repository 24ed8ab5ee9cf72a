// Variables, as references and as resources.
#include "op/shape_context.h"
#include <fmt/format.h>

#include "stdops/stdops.h"

namespace emplace::stdops {
namespace {

using namespace shape_rules;
using namespace cost_rules;

// For this op [] has always meant that the shape is not known.
void variable_v1(ShapeContext& c) {
  const Shape& s = c.attr<Shape>("shape");
  c.set_output(0, s.rank() == 0 ? Shape::unknown() : s);
}

void var_handle(ShapeContext& c) {
  c.set_output(0, Shape{});
  c.set_output_handle(0, {c.attr<DType>("dtype"), c.attr<Shape>("shape")});
}

void read_variable(ShapeContext& c) {
  const HandleInfo& h = c.input_handle(0);
  const DType dtype = c.attr<DType>("dtype");
  if (h.dtype != DType::kInvalid && h.dtype != dtype)
    throw invalid_argument(
        fmt::format("Trying to read variable with wrong dtype. Expected {} got {}",
                    dtype_proto_name(h.dtype), dtype_proto_name(dtype)));
  c.set_output(0, h.dtype == DType::kInvalid ? Shape::unknown() : h.shape);
}

void check_handle(ShapeContext& c) {
  const HandleInfo& h = c.input_handle(0);
  if (h.dtype == DType::kInvalid) return;
  const DType dtype = c.attr<DType>("dtype");
  if (h.dtype != dtype)
    throw invalid_argument(
        fmt::format("Trying to initialize handle for variable with wrong dtype. Expected {} got {}",
                    dtype_proto_name(h.dtype), dtype_proto_name(dtype)));
  c.merge(h.shape, c.input(1));
}

void assign(ShapeContext& c) {
  c.set_output(0, c.attr<bool>("validate_shape") ? c.merge(c.input(0), c.input(1)) : c.input(1));
}

void assign_update(ShapeContext& c) { c.set_output(0, c.merge(c.input(0), c.input(1))); }

void variable_shape(ShapeContext& c) {
  const HandleInfo& h = c.input_handle(0);
  const bool known = h.dtype != DType::kInvalid && h.shape.has_rank();
  c.set_output(0, Shape{known ? h.shape.rank() : Shape::kUnknown});
}

constexpr OpRow kStateRows[] = {
    {"Variable() -> (ref: ref dtype) | shape: shape; dtype: type; container: string = ''; "
     "shared_name: string = '' | stateful",
     variable_v1, cheap,
     "A reference to a variable."},
    {"VariableV2() -> (ref: ref dtype) | shape: shape; dtype: type; container: string = ''; "
     "shared_name: string = '' | stateful",
     from_shape_attr, cheap,
     "A reference to a variable."},
    {"VarHandleOp() -> (resource: resource) | container: string = ''; shared_name: string = ''; "
     "debug_name: string = ''; dtype: type; shape: shape; allowed_devices: list(string) = [] | "
     "stateful",
     var_handle, cheap,
     "A handle to a variable."},
    {"VarIsInitializedOp(resource: resource) -> (is_initialized: bool) | stateful",
     scalar, cheap,
     "Has the variable a value?"},
    {"IsVariableInitialized(ref: ref dtype) -> (is_initialized: bool) | dtype: type | "
     "allows_uninitialized_input",
     scalar, cheap,
     "Has the variable a value?"},
    {"ReadVariableOp(resource: resource) -> (value: dtype) | dtype: type | stateful",
     read_variable, cheap,
     "The value of a variable."},
    {"AssignVariableOp(resource: resource, value: dtype) -> () | dtype: type; validate_shape: "
     "bool = false | stateful",
     check_handle, updates,
     "Gives a variable a value."},
    {"AssignAddVariableOp(resource: resource, value: dtype) -> () | dtype: type | stateful",
     check_handle, updates,
     "Adds to a variable."},
    {"AssignSubVariableOp(resource: resource, value: dtype) -> () | dtype: type | stateful",
     check_handle, updates,
     "Subtracts from a variable."},
    {"Assign(ref: ref T, value: T) -> (output_ref: ref T) | T: type; validate_shape: bool = true;"
     " use_locking: bool = true | allows_uninitialized_input",
     assign, updates,
     "Gives a variable a value; outputs its reference."},
    {"AssignAdd(ref: ref T, value: T) -> (output_ref: ref T) | T: type in [float,double,int32,"
     "uint8,int16,int8,complex64,int64,qint8,quint8,qint32,bfloat16,qint16,quint16,uint16,"
     "complex128,half,uint32,uint64]; use_locking: bool = false",
     assign_update, updates,
     "Adds to a variable; outputs its reference."},
    {"AssignSub(ref: ref T, value: T) -> (output_ref: ref T) | T: type in [float,double,int32,"
     "uint8,int16,int8,complex64,int64,qint8,quint8,qint32,bfloat16,qint16,quint16,uint16,"
     "complex128,half,uint32,uint64]; use_locking: bool = false",
     assign_update, updates,
     "Subtracts from a variable; outputs its reference."},
    {"VariableShape(input: resource) -> (output: out_type) | out_type: type in [int32,int64] = "
     "int32 | stateful",
     variable_shape, cheap,
     "The shape of a variable."},
    {"DestroyResourceOp(resource: resource) -> () | ignore_lookup_error: bool = true | stateful",
     none, cheap,
     "Forgets the value of a resource."},
};

}  // namespace

std::span<const OpRow> state_ops() { return kStateRows; }

}  // namespace emplace::stdops
