#include "grad/build.h"

namespace emplace::grad {

Output number(double value, Output like) { return cast(constant(value), like.dtype()); }
Output ints(std::vector<int32_t> values) { return constant(Tensor::vector<int32_t>(values)); }
Output shape_of(Output x, DType dtype) { return op("Shape", {x}, {{"out_type", dtype}}); }
Output conj(Output x) { return is_complex(x.dtype()) ? f("Conj", x) : x; }
Output zeros_like(Output x) { return f("ZerosLike", x); }
Output zeros_of(Output shape, DType dtype) {
  return f("Fill", shape, cast(constant(0.0), dtype));
}
Output cast(Output x, DType dtype) {
  return x.dtype() == dtype ? x : op("Cast", {x}, {{"DstT", dtype}});
}
Output reshaped(Output x, Output like) { return f("Reshape", x, shape_of(like)); }
Output when(Output chosen, Output x, Output y) { return f("SelectV2", chosen, x, y); }

Output like(Output g, Output x) {
  if (g.shape().is_fully_known() && g.shape() == x.shape()) return g;
  const Output shape = shape_of(x);
  const Output axes = f("BroadcastGradientArgs", shape, shape_of(g));
  return f("Reshape", f("Sum", g, axes), shape);
}

Output from_the_front(Output axes, Output rank) {
  const Output flat = f("Reshape", cast(axes, DType::kInt32), ints({-1}));
  return f("FloorMod", flat + rank, rank);
}

Output kept_shape(Output x, Output axes) {
  const Output shape = shape_of(x);
  const Output rank = f("Size", shape);
  const Output along = from_the_front(axes, rank);
  const Output all = f("Range", constant(0), rank, constant(1));
  return op("DynamicStitch", {all, along, shape, f("OnesLike", along)}, {{"N", 2}});
}

}  // namespace emplace::grad
