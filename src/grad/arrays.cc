// Gradients of moving, joining and cutting.
#include <algorithm>

#include "grad/rows.h"

namespace emplace::grad {
namespace {

std::vector<Output> outputs_of(Node* node) {
  std::vector<Output> all;
  for (int i = 0; i < node->num_outputs(); ++i) all.push_back(node->output(i));
  return all;
}

// As many as `x` needs: the values, and behind them `last`.
std::vector<Output> with(std::span<const Output> x, Output last) {
  std::vector<Output> all(x.begin(), x.end());
  all.push_back(last);
  return all;
}

std::vector<Output> back_to_shape(const Forward& n) { return {reshaped(n.dy(), n.x(0))}; }

std::vector<Output> of_transpose(const Forward& n) {
  return {op(n.node.type(), {n.dy(), f("InvertPermutation", n.x(1))})};
}

std::vector<Output> of_concat(const Forward& n) {
  const auto parts = n.node.inputs().first(n.num_inputs() - 1);
  const Output given = cast(n.x(n.num_inputs() - 1), DType::kInt32);
  const Output axis = f("FloorMod", given, f("Rank", n.dy()));  // it may be counted from the end
  const int count = static_cast<int>(parts.size());
  std::vector<Output> sizes;
  for (const Output& p : parts) sizes.push_back(f("GatherV2", shape_of(p), axis, constant(0)));
  const Output widths = op("Pack", sizes);
  return outputs_of(op("SplitV", {n.dy(), widths, axis}, {{"num_split", count}}).node);
}

std::vector<Output> of_pack(const Forward& n) {
  return outputs_of(
      op("Unpack", {n.dy()}, {{"axis", n.attr<int64_t>("axis")}, {"num", n.num_inputs()}}).node);
}

std::vector<Output> of_slice(const Forward& n) {
  const Output x = n.x(0), begin = cast(n.x(1), DType::kInt32);
  const Output behind = shape_of(x) - begin - shape_of(n.y());
  return {f("Pad", n.dy(), op("Pack", {begin, behind}, {{"axis", 1}}))};
}

const auto kMasks = {std::string_view("begin_mask"), std::string_view("end_mask"),
                     std::string_view("ellipsis_mask"), std::string_view("new_axis_mask"),
                     std::string_view("shrink_axis_mask")};

std::vector<Output> of_strided_slice(const Forward& n) {
  const Output shape = shape_of(n.x(0), n.x(1).dtype());
  return {op("StridedSliceGrad", {shape, n.x(1), n.x(2), n.x(3), n.dy()}, n.attrs(kMasks))};
}

std::vector<Output> of_strided_slice_grad(const Forward& n) {
  return {{}, {}, {}, {}, op("StridedSlice", {n.dy(), n.x(1), n.x(2), n.x(3)}, n.attrs(kMasks))};
}

std::vector<Output> of_tile(const Forward& n) {
  const Output x = n.x(0), times = cast(n.x(1), DType::kInt32);
  const Output pairs = f("Reshape", op("Pack", {times, shape_of(x)}, {{"axis", 1}}), ints({-1}));
  const Output axes = f("Range", constant(0), f("Size", pairs), constant(2));
  return {reshaped(f("Sum", f("Reshape", n.dy(), pairs), axes), x)};
}

std::vector<Output> of_pad(const Forward& n) {
  const Output x = n.x(0), paddings = cast(n.x(1), DType::kInt32);
  const Output before = op("StridedSlice", {paddings, ints({0, 0}), ints({0, 1}), ints({1, 1})},
                           {{"begin_mask", 1}, {"end_mask", 1}, {"shrink_axis_mask", 2}});
  return {f("Slice", n.dy(), before, shape_of(x))};
}

// What `type` makes of the gradient, with the node's other arguments.
std::vector<Output> turned(const Forward& n, std::string_view type, AttrList attrs) {
  std::vector<Output> inputs(n.node.inputs().begin(), n.node.inputs().end());
  inputs[0] = n.dy();
  return {op(type, inputs, std::move(attrs))};
}

// The operation turns back what it did.
std::vector<Output> itself(const Forward& n) {
  return turned(n, n.node.type(), n.node.attrs());
}

// Another one does.
Row turned_by(const char* other, std::initializer_list<std::string_view> attrs = {}) {
  return [other, attrs = std::vector(attrs)](const Forward& n) {
    return turned(n, other, n.attrs(attrs));
  };
}

}  // namespace

void add_arrays(Rows& rows) {
  rows.add({"Identity", "ReadVariableOp", "PlaceholderWithDefault", "Snapshot", "EnsureShape",
            "RefIdentity", "PreventGradient", "CheckNumerics", "Print", "IdentityN"},
           [](const Forward& n) { return Back(n.grads.begin(), n.grads.end()); });
  rows.add({"Reshape", "ExpandDims", "Squeeze"}, back_to_shape);
  rows.add({"Transpose", "ConjugateTranspose"}, of_transpose);
  rows.add("BroadcastTo",
           [](const Forward& n) -> std::vector<Output> { return {like(n.dy(), n.x(0))}; });
  rows.add("Fill", [](const Forward& n) -> std::vector<Output> {
    return {{}, like(n.dy(), n.x(1))};
  });
  rows.add("ConcatV2", of_concat);
  rows.add("Pack", of_pack);
  rows.add("Unpack", [](const Forward& n) -> std::vector<Output> {
    return {op("Pack", n.dys(), n.attrs({"axis"}))};
  });
  rows.add("Split", [](const Forward& n) -> std::vector<Output> {
    return {{}, op("ConcatV2", with(n.dys(), n.x(0)))};
  });
  rows.add("SplitV", [](const Forward& n) -> std::vector<Output> {
    return {op("ConcatV2", with(n.dys(), n.x(2)))};
  });
  rows.add("Slice", of_slice);
  rows.add("StridedSlice", of_strided_slice);
  rows.add("StridedSliceGrad", of_strided_slice_grad);
  rows.add("Tile", of_tile);
  rows.add({"Pad", "PadV2"}, of_pad);
  rows.add("MirrorPad", turned_by("MirrorPadGrad", {"mode"}));
  rows.add("MirrorPadGrad", turned_by("MirrorPad", {"mode"}));
  rows.add({"ReverseV2", "ReverseSequence", "MatrixBandPart"}, itself);
  rows.add("Roll", [](const Forward& n) -> std::vector<Output> {
    return {f("Roll", n.dy(), -n.x(1), n.x(2))};
  });
  rows.add("Diag", turned_by("DiagPart"));
  rows.add("DiagPart", turned_by("Diag"));
  rows.add("MatrixDiag", turned_by("MatrixDiagPart"));
  rows.add("MatrixDiagPart", [](const Forward& n) -> std::vector<Output> {
    return {f("MatrixSetDiag", zeros_like(n.x()), n.dy())};
  });
  rows.add("MatrixSetDiag", [](const Forward& n) -> std::vector<Output> {
    return {f("MatrixSetDiag", n.dy(), zeros_like(n.x(1))), f("MatrixDiagPart", n.dy())};
  });
  rows.add("SpaceToBatchND", turned_by("BatchToSpaceND"));
  rows.add("BatchToSpaceND", turned_by("SpaceToBatchND"));
  rows.add("SpaceToDepth", turned_by("DepthToSpace", {"block_size", "data_format"}));
  rows.add("DepthToSpace", turned_by("SpaceToDepth", {"block_size", "data_format"}));
  rows.stop({"Const", "StopGradient", "ZerosLike", "OnesLike", "Shape", "ShapeN", "Size", "Rank",
             "Where", "Unique", "UniqueV2", "OneHot", "ListDiff", "InvertPermutation",
             "RandomUniform", "RandomStandardNormal", "TruncatedNormal", "RandomUniformInt",
             "VarHandleOp", "Variable", "VariableV2", "Placeholder", "Assign", "AssignAdd",
             "AssignSub", "AssignVariableOp", "BroadcastArgs", "BroadcastGradientArgs",
             "ConcatOffset", "RandomShuffle", "Multinomial", "NoOp", "Assert"});
}

}  // namespace emplace::grad
