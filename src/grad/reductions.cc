// Gradients of reductions, scans and sums by segment.
#include "grad/rows.h"

namespace emplace::grad {
namespace {

// `g`, of the reduction's own shape, with the reduced axes kept.
Output kept(const Forward& n, Output g) {
  return n.attr<bool>("keep_dims") ? g : f("Reshape", g, kept_shape(n.x(0), n.x(1)));
}

Output spread(const Forward& n, Output g) {
  return f("BroadcastTo", kept(n, g), shape_of(n.x(0)));
}

std::vector<Output> of_mean(const Forward& n) {
  const Output count = f("Size", n.x(0)), results = f("Size", n.y());
  const Output each = f("FloorDiv", count, f("Maximum", results, constant(1)));
  return {spread(n, n.dy()) / cast(each, n.dy().dtype())};
}

// Shared by all that are the extreme.
std::vector<Output> of_extreme(const Forward& n) {
  const Output chosen = cast(f("Equal", kept(n, n.y()), n.x(0)), n.dy().dtype());
  const Output sharing = op("Sum", {chosen, n.x(1)}, {{"keep_dims", true}});
  return {chosen / sharing * kept(n, n.dy())};
}

// The product of all others, from products of those before and of those behind.
std::vector<Output> of_prod(const Forward& n) {
  const Output x = n.x(0);
  const Output rank = f("Rank", x);
  const Output axes = from_the_front(n.x(1), rank);
  const Output others = f("ListDiff", f("Range", constant(0), rank, constant(1)), axes);
  const Output order = f("ConcatV2", axes, others, constant(0));
  const Output moved = f("Transpose", x, order);
  const Output reduced = f("Prod", f("GatherV2", shape_of(x), axes, constant(0)), ints({0}));
  const Output flat = f("Reshape", moved, f("Pack", reduced, constant(-1)));
  const auto others_product = [&](bool reverse) {
    return op("Cumprod", {flat, constant(0)}, {{"exclusive", true}, {"reverse", reverse}});
  };
  const Output rest = reshaped(conj(others_product(false)) * conj(others_product(true)), moved);
  return {spread(n, n.dy()) * f("Transpose", rest, f("InvertPermutation", order))};
}

std::vector<Output> of_norm(const Forward& n) {
  return {n.x(0) * f("DivNoNan", kept(n, n.dy()), kept(n, n.y()))};
}

Output turned(const Forward& n, Output x) {
  return op("Cumsum", {x, n.x(1)},
            {{"exclusive", n.attr<bool>("exclusive")}, {"reverse", !n.attr<bool>("reverse")}});
}

}  // namespace

void add_reductions(Rows& rows) {
  rows.add("Sum", [](const Forward& n) -> std::vector<Output> { return {spread(n, n.dy())}; });
  rows.add("Mean", of_mean);
  rows.add({"Max", "Min"}, of_extreme);
  rows.add("Prod", of_prod);
  rows.add("EuclideanNorm", of_norm);
  rows.add("Cumsum", [](const Forward& n) -> std::vector<Output> { return {turned(n, n.dy())}; });
  rows.add("Cumprod", [](const Forward& n) -> std::vector<Output> {
    return {f("DivNoNan", turned(n, n.y() * n.dy()), n.x(0))};
  });
  rows.add("SegmentSum", [](const Forward& n) -> std::vector<Output> {
    return {f("GatherV2", n.dy(), n.x(1), constant(0))};
  });
  rows.add("UnsortedSegmentSum", [](const Forward& n) -> std::vector<Output> {
    const Output ids = n.x(1), zero = zeros_like(ids);
    const Output rows_of = f("GatherV2", n.dy(), f("Maximum", ids, zero), constant(0));
    // What bears a negative number went nowhere, so nothing comes back.
    const Output valid = cast(f("GreaterEqual", ids, zero), n.dy().dtype());
    const Output inner = f("Rank", rows_of) - f("Rank", ids);
    const Output ones = f("Fill", f("Pack", inner), constant(1));
    const Output wide = f("ConcatV2", shape_of(ids), ones, constant(0));
    return {f("MulNoNan", rows_of, f("Reshape", valid, wide))};
  });
  rows.stop({"ArgMax", "ArgMin", "All", "Any", "Range", "LinSpace", "Bincount", "DenseBincount"});
}

}  // namespace emplace::grad
