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

// The sum of the rows of `dy` that were picked, at their places along the first axis of `x` that is
// not one of `batches`: every batch has segments of its own.
Output sum_of_rows(Output x, Output indices, Output dy, int batches) {
  const Output shape = shape_of(x), picked = cast(indices, DType::kInt32);
  const Output many = f("Prod", f("Slice", shape, ints({0}), ints({batches})), constant(0));
  const Output rows = f("GatherV2", shape, constant(batches), constant(0));
  const Output firsts = f("ExpandDims", f("Range", constant(0), many, constant(1)), constant(1)) * rows;
  const Output by_batch = f("Reshape", picked, op("Pack", {many, constant(-1)}));
  // What is out of range on the low side goes nowhere, and must not come to the batch before.
  const Output ids = when(f("Less", by_batch, constant(0)), by_batch, by_batch + firsts);
  const Output inner = f("Slice", shape, ints({batches + 1}), ints({-1}));
  const Output count = f("Reshape", f("Size", indices), ints({1}));
  const Output flat = f("Reshape", dy, f("ConcatV2", count, inner, constant(0)));
  const Output sums = f("UnsortedSegmentSum", flat, f("Reshape", ids, ints({-1})), many * rows);
  return f("Reshape", sums, shape);
}

// The picked axis goes behind the batches, its rows are summed, and it goes back to its place.
std::vector<Output> of_gather(const Forward& n) {
  const Output x = n.x(0), indices = n.x(1);
  if (n.num_inputs() == 2) return {sum_of_rows(x, indices, n.dy(), 0)};  // Gather
  int64_t b = n.attr<int64_t>("batch_dims");
  if (b < 0 && !indices.shape().has_rank())
    throw unimplemented("gradient of GatherV2 with batch_dims counted from the end of unknown ranks")
        .at_node(n.node.name(), "GatherV2");
  if (b < 0) b += indices.shape().rank();
  const Output rank = f("Rank", x), zero = constant(0), one = constant(1);
  const Output batches = constant(static_cast<int32_t>(b));
  const Output axis = f("FloorMod", cast(n.x(2), DType::kInt32) + rank, rank);
  const auto range = [&](Output from, Output to) { return f("Range", from, to, one); };
  // Axes [axis, axis + width) behind the batches, the others as they were.
  const auto forward = [&](Output width, Output all) {
    const Output end = axis + width;
    return f("ConcatV2", range(zero, batches), range(axis, end), range(batches, axis),
             range(end, all), zero);
  };
  const Output front = forward(one, rank);
  const Output of_dy = forward(f("Rank", indices) - batches, f("Rank", n.dy()));
  const Output total = sum_of_rows(f("Transpose", x, front), indices,
                                   f("Transpose", n.dy(), of_dy), static_cast<int>(b));
  return {f("Transpose", total, f("InvertPermutation", front))};
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
            "RefIdentity", "PreventGradient", "CheckNumerics", "Print"},
           [](const Forward& n) -> std::vector<Output> { return {n.dy()}; });
  rows.add("IdentityN", [](const Forward& n) {
    return std::vector<Output>(n.grads.begin(), n.grads.end());
  });
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
    return {op("Pack", n.grads, n.attrs({"axis"}))};
  });
  rows.add("Split", [](const Forward& n) -> std::vector<Output> {
    return {{}, op("ConcatV2", with(n.grads, n.x(0)))};
  });
  rows.add("SplitV", [](const Forward& n) -> std::vector<Output> {
    return {op("ConcatV2", with(n.grads, n.x(2)))};
  });
  rows.add("Slice", of_slice);
  rows.add("StridedSlice", of_strided_slice);
  rows.add("StridedSliceGrad", of_strided_slice_grad);
  rows.add({"Gather", "GatherV2"}, of_gather);
  rows.add("GatherNd", [](const Forward& n) -> std::vector<Output> {
    return {f("ScatterNd", n.x(1), n.dy(), shape_of(n.x(0), n.x(1).dtype()))};
  });
  rows.add("ScatterNd", [](const Forward& n) -> std::vector<Output> {
    return {{}, f("GatherNd", n.dy(), n.x(0))};
  });
  rows.add("TensorScatterAdd", [](const Forward& n) -> std::vector<Output> {
    return {n.dy(), {}, f("GatherNd", n.dy(), n.x(1))};
  });
  rows.add("TensorScatterUpdate", [](const Forward& n) -> std::vector<Output> {
    return {f("TensorScatterUpdate", n.dy(), n.x(1), zeros_like(n.x(2))), {},
            f("GatherNd", n.dy(), n.x(1))};
  });
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
