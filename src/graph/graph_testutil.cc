#include "graph/graph_testutil.h"

#include "op/shape_context.h"

namespace emplace::testing {
namespace {

using namespace shape_rules;

void of_value(ShapeContext& c) { c.set_output(0, c.attr<Tensor>("value").shape()); }
void of_dims(ShapeContext& c) { c.set_output(0, c.input_as_shape(0)); }
void of_target(ShapeContext& c) { c.set_output(0, c.input_as_shape(1)); }
void vector_of_rank(ShapeContext& c) {
  for (int i = 0; i < c.num_outputs(); ++i) c.set_output(i, Shape({c.input(i).rank()}));
}
void vector_of_count(ShapeContext& c) { c.set_output(0, Shape({c.num_inputs()})); }
void pieces(ShapeContext& c) {
  for (int i = 0; i < c.num_outputs(); ++i) c.set_output(i, Shape());
}
void sliced(ShapeContext& c) {
  if (c.attr<int64_t>("shrink_axis_mask") == 1) c.set_output(0, Shape());
}
void handle(ShapeContext& c) {
  c.set_output(0, Shape());
  c.set_output_handle(0, {c.attr<DType>("dtype"), c.attr<Shape>("shape")});
}
void behind_handle(ShapeContext& c) { c.set_output(0, c.input_handle(0).shape); }
void switched(ShapeContext& c) {
  c.set_output(0, c.input(0));
  c.set_output(1, c.input(0));
}

constexpr OpRow kGraphRows[] = {
    {"NoOp() -> ()", none, nullptr, ""},
    {"Const() -> (output: dtype) | value: tensor; dtype: type", of_value, nullptr, ""},
    {"Placeholder() -> (output: dtype) | dtype: type; shape: shape = unknown", from_shape_attr,
     nullptr, ""},
    {"Identity(input: T) -> (output: T) | T: type", unchanged, nullptr, ""},
    {"IdentityN(input: T) -> (output: T) | T: list(type) >= 1", nullptr, nullptr, ""},
    {"Add(x: T, y: T) -> (z: T) | T: type in [float,double,int32,int64]", broadcast_binary, nullptr,
     ""},
    {"Mul(x: T, y: T) -> (z: T) | T: type in [float,double,int32,int64] | commutative",
     broadcast_binary, nullptr, ""},
    {"GreaterEqual(x: T, y: T) -> (z: bool) | T: type", broadcast_binary, nullptr, ""},
    {"SelectV2(condition: bool, t: T, e: T) -> (output: T) | T: type", nullptr, nullptr, ""},
    {"Neg(x: T) -> (y: T) | T: type in [float,double,int32,int64]", unchanged, nullptr, ""},
    {"AddN(inputs: N*T) -> (sum: T) | N: int >= 1; T: type in [float,double] | commutative "
     "aggregate",
     merge_all, nullptr, ""},
    {"MatMul(a: T, b: T) -> (product: T) | transpose_a: bool = false; transpose_b: bool = false; "
     "T: type in [float,double,int32]",
     matmul, nullptr, ""},
    {"Cast(x: SrcT) -> (y: DstT) | SrcT: type; DstT: type; Truncate: bool = false", unchanged,
     nullptr, ""},
    {"Reshape(tensor: T, shape: Tshape) -> (output: T) | T: type; Tshape: type in [int32,int64] = "
     "int32",
     of_target, nullptr, ""},
    {"Fill(dims: index_type, value: T) -> (output: T) | T: type; index_type: type in "
     "[int32,int64] = int32",
     of_dims, nullptr, ""},
    {"Shape(input: T) -> (output: out_type) | T: type; out_type: type in [int32,int64] = int32",
     vector_of_rank, nullptr, ""},
    {"ShapeN(input: N*T) -> (output: N*out_type) | N: int >= 1; T: type; out_type: type in "
     "[int32,int64] = int32",
     vector_of_rank, nullptr, ""},
    {"Size(input: T) -> (output: out_type) | T: type; out_type: type in [int32,int64] = int32",
     scalar, nullptr, ""},
    {"Rank(input: T) -> (output: int32) | T: type", scalar, nullptr, ""},
    {"Pack(values: N*T) -> (output: T) | N: int >= 1; T: type; axis: int = 0", vector_of_count,
     nullptr, ""},
    {"Unpack(value: T) -> (output: num*T) | num: int >= 0; T: type; axis: int = 0", pieces, nullptr,
     ""},
    {"ConcatV2(values: N*T, axis: Tidx) -> (output: T) | N: int >= 2; T: type; Tidx: type in "
     "[int32,int64] = int32",
     unknown, nullptr, ""},
    {"Tile(input: T, multiples: Tmultiples) -> (output: T) | T: type; Tmultiples: type in "
     "[int32,int64] = int32",
     unknown, nullptr, ""},
    {"Where(input: T) -> (index: int64) | T: type = bool", unknown, nullptr, ""},
    {"Squeeze(input: T) -> (output: T) | T: type; squeeze_dims: list(int) = []", unknown, nullptr,
     ""},
    {"StridedSlice(input: T, begin: Index, end: Index, strides: Index) -> (output: T) | T: type; "
     "Index: type in [int16,int32,int64]; begin_mask: int = 0; end_mask: int = 0; ellipsis_mask: "
     "int = 0; new_axis_mask: int = 0; shrink_axis_mask: int = 0",
     sliced, nullptr, ""},
    {"Range(start: Tidx, limit: Tidx, delta: Tidx) -> (output: Tidx) | Tidx: type in "
     "[float,int32,int64] = int32",
     unknown, nullptr, ""},
    {"BroadcastGradientArgs(s0: T, s1: T) -> (r0: T, r1: T) | T: type in [int32,int64] = int32",
     unknown, nullptr, ""},
    {"BroadcastArgs(s0: T, s1: T) -> (r0: T) | T: type in [int32,int64] = int32", unknown, nullptr,
     ""},
    {"InvertPermutation(x: T) -> (y: T) | T: type in [int32,int64] = int32", unknown, nullptr, ""},
    {"ListDiff(x: T, y: T) -> (out: T, idx: out_idx) | T: type; out_idx: type in [int32,int64] = "
     "int32",
     unknown, nullptr, ""},
    {"Prod(input: T, reduction_indices: Tidx) -> (output: T) | keep_dims: bool = false; T: type; "
     "Tidx: type in [int32,int64] = int32",
     reduction, nullptr, ""},
    {"Max(input: T, reduction_indices: Tidx) -> (output: T) | keep_dims: bool = false; T: type; "
     "Tidx: type in [int32,int64] = int32",
     reduction, nullptr, ""},
    {"Min(input: T, reduction_indices: Tidx) -> (output: T) | keep_dims: bool = false; T: type; "
     "Tidx: type in [int32,int64] = int32",
     reduction, nullptr, ""},
    {"VariableV2() -> (ref: ref dtype) | shape: shape; dtype: type; container: string = ''; "
     "shared_name: string = '' | stateful",
     from_shape_attr, nullptr, ""},
    {"Assign(ref: ref T, value: T) -> (output_ref: ref T) | T: type; validate_shape: bool = true; "
     "use_locking: bool = true | allows_uninitialized_input",
     unchanged, nullptr, ""},
    {"VarHandleOp() -> (resource: resource) | container: string = ''; shared_name: string = ''; "
     "dtype: type; shape: shape | stateful",
     handle, nullptr, ""},
    {"ReadVariableOp(resource: resource) -> (value: dtype) | dtype: type | stateful", behind_handle,
     nullptr, ""},
    {"Enter(data: T) -> (output: T) | T: type; frame_name: string; is_constant: bool = false; "
     "parallel_iterations: int = 10",
     unchanged, nullptr, ""},
    {"Merge(inputs: N*T) -> (output: T, value_index: int32) | T: type; N: int >= 1", nullptr,
     nullptr, ""},
    {"Switch(data: T, pred: bool) -> (output_false: T, output_true: T) | T: type", switched,
     nullptr, ""},
    {"NextIteration(data: T) -> (output: T) | T: type", unchanged, nullptr, ""},
    {"_Arg() -> (output: T) | T: type; index: int >= 0", nullptr, nullptr, ""},
    {"_Retval(input: T) -> () | T: type; index: int >= 0", none, nullptr, ""},
    {"PartitionedCall(args: Tin) -> (output: Tout) | Tin: list(type) >= 0; Tout: list(type) >= 0; "
     "f: func; config: string = ''; config_proto: string = ''; executor_type: string = ''",
     nullptr, nullptr, ""},
    {"TestDefaultAttr() -> () | default_int: int = 31415", none, nullptr, ""},
    {"TestParams() -> (o: float)", scalar, nullptr, ""},
    {"TestInput() -> (a: float, b: float)", nullptr, nullptr, ""},
    {"TestMul(a: float, b: float) -> (o: float)", nullptr, nullptr, ""},
    {"TestInt(a: int32) -> ()", none, nullptr, ""},
    {"TestOneInputTwoOutputs(x: float) -> (y: float, z: float)", nullptr, nullptr, ""},
};

}  // namespace

const OpRegistry& test_ops() {
  static const OpRegistry ops = [] {
    OpRegistry r;
    r.add(kGraphRows);
    return r;
  }();
  return ops;
}

namespace {
NodeOptions named(std::string name) {
  NodeOptions options;
  options.name = std::move(name);
  return options;
}
}  // namespace

Node* TestGraph::constant(Tensor value, NodeOptions options) {
  const DType dtype = value.dtype();
  return add("Const", {}, {{"dtype", dtype}, {"value", std::move(value)}}, std::move(options));
}
Node* TestGraph::scalar(float value, std::string name) {
  return constant(Tensor::scalar(value), named(std::move(name)));
}
Node* TestGraph::ints(std::initializer_list<int32_t> values, std::string name) {
  return constant(Tensor::of<int32_t>(values, Shape({static_cast<int64_t>(values.size())})),
                  named(std::move(name)));
}
Node* TestGraph::number(int32_t value) { return constant(Tensor::scalar(value)); }
Node* TestGraph::placeholder(Shape shape, DType dtype, std::string name) {
  return add("Placeholder", {}, {{"dtype", dtype}, {"shape", std::move(shape)}},
             named(std::move(name)));
}
Node* TestGraph::noop(std::string name) { return add("NoOp", {}, {}, named(std::move(name))); }
Node* TestGraph::variable(std::string name, Shape shape, DType dtype) {
  return add("VariableV2", {}, {{"dtype", dtype}, {"shape", std::move(shape)}},
             named(std::move(name)));
}
Node* TestGraph::identity(Node* in, std::string name) {
  return add("Identity", {in->output()}, {}, named(std::move(name)));
}

}  // namespace emplace::testing
