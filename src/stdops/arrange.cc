// Tensors packed, tiled, padded, turned round.
#include "op/dims.h"
#include "op/shape_context.h"
#include <algorithm>
#include <fmt/format.h>

#include "stdops/stdops.h"

namespace emplace::stdops {
namespace {

using namespace shape_rules;
using namespace cost_rules;

void pack(ShapeContext& c) {
  Shape in = c.input(c.num_inputs() - 1);
  for (int i = c.num_inputs() - 2; i >= 0; --i) {
    try {
      in = c.merge(c.input(i), in);
    } catch (const Error& e) {
      throw invalid_argument(
          fmt::format("{}\n\tFrom merging shape {} with other shapes.", e.message(), i));
    }
  }
  if (!in.has_rank()) return c.set_output(0, Shape::unknown());
  in.insert(c.wrapped_axis(c.attr<int64_t>("axis"), in.rank() + 1), c.num_inputs());
  c.set_output(0, std::move(in));
}

void unpack(ShapeContext& c) {
  Shape in = c.input(0);
  if (in.has_rank()) {
    if (in.rank() == 0) throw invalid_argument("Shape must be at least rank 1 but is rank 0");
    const int at = c.wrapped_axis(c.attr<int64_t>("axis"), in.rank());
    c.merge_dims(in[at], c.attr<int64_t>("num"));
    in.erase(at);
  }
  for (int i = 0; i < c.num_outputs(); ++i) c.set_output(i, in);
}

void split_v(ShapeContext& c) {
  const Shape& in = c.input(0);
  const auto sizes = c.input_as_vector(1);
  const auto axis = c.input_as_scalar(2);
  if (sizes && static_cast<int>(sizes->size()) != c.num_outputs())
    throw invalid_argument(fmt::format("size_splits has {} entries, but there are {} outputs",
                                       sizes->size(), c.num_outputs()));
  Shape out = in.has_rank() ? Shape::unknown_dims(in.rank()) : Shape::unknown();
  int at = -1;
  if (in.has_rank() && axis) {
    at = c.wrapped_axis(*axis, in.rank());
    out = in;
    out.set_dim(at, Shape::kUnknown);
  }
  int64_t known = 0;
  bool open = false;
  for (int i = 0; i < c.num_outputs(); ++i) {
    const int64_t s = sizes ? (*sizes)[static_cast<size_t>(i)] : Shape::kUnknown;
    if (at >= 0) out.set_dim(at, s < 0 ? Shape::kUnknown : s);
    c.set_output(i, out);
    open = open || s < 0;
    if (s >= 0) known = add_dims(known, s);
  }
  if (at < 0 || in[at] < 0 || !sizes) return;
  if (known > in[at] || (!open && known != in[at]))
    throw invalid_argument(
        fmt::format("Sum of output sizes must match the size of the original Tensor along the "
                    "split dimension or the sum of the positive sizes must be less if it contains "
                    "a -1: {} against {}", known, in[at]));
  for (int i = 0; i < c.num_outputs(); ++i)
    if ((*sizes)[static_cast<size_t>(i)] < 0) {
      out.set_dim(at, in[at] - known);
      c.set_output(i, out);
    }
}

void concat_offset(ShapeContext& c) {
  for (int i = 1; i < c.num_inputs(); ++i) c.set_output(i - 1, c.with_rank(i, 1));
}

void tile(ShapeContext& c) {
  const Shape& in = c.input(0);
  const Shape times = c.input_as_shape(1);
  if (!in.has_rank() || !times.has_rank())
    return c.set_output(0, in.has_rank()      ? Shape::unknown_dims(in.rank())
                           : times.has_rank() ? Shape::unknown_dims(times.rank())
                                              : Shape::unknown());
  if (in.rank() != times.rank())
    throw invalid_argument(
        fmt::format("Shape must be rank {} but is rank {}", in.rank(), times.rank()));
  Shape out = in;
  for (int i = 0; i < in.rank(); ++i)
    out.set_dim(i, multiply_dims(in[i], times[i]));
  c.set_output(0, std::move(out));
}

// sign: 1 adds paddings, -1 takes them away again.
void padded(ShapeContext& c, int64_t sign) {
  const Shape& in = c.input(0);
  const Shape paddings = c.with_rank(1, 2);
  if (paddings[1] >= 0 && paddings[1] != 2)
    throw invalid_argument(fmt::format("Dimension must be 2 but is {}", paddings[1]));
  const int64_t rank = in.has_rank() ? in.rank() : paddings[0];
  if (rank < 0) return c.set_output(0, Shape::unknown());
  if (paddings[0] >= 0) c.merge_dims(paddings[0], rank);
  Shape out = Shape::unknown_dims(static_cast<int>(rank));
  const auto amounts = c.input_as_vector(1);
  for (int i = 0; i < out.rank() && amounts && in.has_rank(); ++i) {
    const auto u = static_cast<size_t>(2 * i);
    const int64_t before = (*amounts)[u], after = (*amounts)[u + 1];
    if (before < 0 || after < 0) throw invalid_argument("paddings must be non-negative");
    if (in[i] < 0) continue;
    const int64_t edges = add_dims(before, after);
    const int64_t size = sign > 0 ? add_dims(in[i], edges) : in[i] - edges;
    if (size < 0) throw invalid_argument("paddings are larger than the padded tensor");
    out.set_dim(i, size);
  }
  c.set_output(0, std::move(out));
}
void pad(ShapeContext& c) { padded(c, 1); }
void unpad(ShapeContext& c) { padded(c, -1); }

void reverse(ShapeContext& c) {
  const Shape &in = c.input(0), &dims = c.input(1);
  if (in.has_rank() && dims.rank() == 1 && dims[0] >= 0) c.merge_dims(dims[0], in.rank());
  c.set_output(0, in);
}

void broadcast_to(ShapeContext& c) {
  const Shape out = c.input_as_shape(1);
  const Shape& in = c.input(0);
  if (out.has_rank() && in.has_rank() && in.rank() > out.rank())
    throw invalid_argument(fmt::format("Shape of input must be at most the shape of output, got {} "
                                       "and {}", in.str(), out.str()));
  if (out.has_rank() && in.has_rank()) c.broadcast(in, out);
  c.set_output(0, out);
}

void broadcast_args(ShapeContext& c) {
  const Shape a = c.with_rank(0, 1), b = c.with_rank(1, 1);
  const bool known = a[0] >= 0 && b[0] >= 0;
  c.set_output(0, Shape{known ? std::max(a[0], b[0]) : Shape::kUnknown});
}

void two_vectors(ShapeContext& c) {
  c.with_rank(0, 1);
  c.with_rank(1, 1);
  c.set_output(0, Shape{Shape::kUnknown});
  c.set_output(1, Shape{Shape::kUnknown});
}

void vector_unchanged(ShapeContext& c) { c.set_output(0, c.with_rank(0, 1)); }

constexpr OpRow kArrangeRows[] = {
    {"Pack(values: N*T) -> (output: T) | N: int >= 1; T: type; axis: int = 0",
     pack, elementwise,
     "Tensors stacked along a new dimension."},
    {"Unpack(value: T) -> (output: num*T) | num: int >= 0; T: type; axis: int = 0",
     unpack, moved,
     "The slices of a tensor along a dimension."},
    {"SplitV(value: T, size_splits: Tlen, split_dim: int32) -> (output: num_split*T) | "
     "num_split: int >= 1; T: type; Tlen: type in [int8,int32,int64] = int64",
     split_v, moved,
     "A tensor cut into parts of the given sizes."},
    {"ConcatOffset(concat_dim: int32, shape: N*shape_type) -> (offset: N*shape_type) | N: int >= "
     "2; shape_type: type in [int32,int64] = int32",
     concat_offset, cheap,
     "Where each part of a concatenation begins."},
    {"Tile(input: T, multiples: Tmultiples) -> (output: T) | T: type; Tmultiples: type in [int32,"
     "int64] = int32",
     tile, moved,
     "A tensor repeated along its dimensions."},
    {"TileGrad(input: T, multiples: int32) -> (output: T) | T: type",
     unknown, elementwise,
     "The gradient of Tile."},
    {"Pad(input: T, paddings: Tpaddings) -> (output: T) | T: type; Tpaddings: type in [int32,"
     "int64] = int32",
     pad, elementwise,
     "A tensor with zeros around it."},
    {"PadV2(input: T, paddings: Tpaddings, constant_values: T) -> (output: T) | T: type; "
     "Tpaddings: type in [int32,int64] = int32",
     pad, elementwise,
     "A tensor with a value around it."},
    {"MirrorPad(input: T, paddings: Tpaddings) -> (output: T) | T: type; Tpaddings: type in "
     "[int32,int64] = int32; mode: string in ['REFLECT','SYMMETRIC']",
     pad, elementwise,
     "A tensor with its own mirror image around it."},
    {"MirrorPadGrad(input: T, paddings: Tpaddings) -> (output: T) | T: type; Tpaddings: type in "
     "[int32,int64] = int32; mode: string in ['REFLECT','SYMMETRIC']",
     unpad, elementwise,
     "The gradient of MirrorPad."},
    {"Reverse(tensor: T, dims: bool) -> (output: T) | T: type in [uint8,int8,uint16,int16,uint32,"
     "int32,uint64,int64,bool,bfloat16,half,float,double,complex64,complex128,string]",
     reverse, elementwise,
     "Some dimensions back to front."},
    {"ReverseV2(tensor: T, axis: Tidx) -> (output: T) | Tidx: type in [int32,int64] = int32; T: "
     "type in [uint8,int8,uint16,int16,int32,uint32,int64,uint64,bool,bfloat16,half,float,double,"
     "complex64,complex128,string]",
     unchanged, elementwise,
     "Some dimensions back to front."},
    {"ReverseSequence(input: T, seq_lengths: Tlen) -> (output: T) | seq_dim: int; batch_dim: int "
     "= 0; T: type; Tlen: type in [int32,int64] = int64",
     unchanged, elementwise,
     "The first elements of each sequence back to front."},
    {"Roll(input: T, shift: Tshift, axis: Taxis) -> (output: T) | T: type; Tshift: type in "
     "[int32,int64]; Taxis: type in [int32,int64]",
     unchanged, elementwise,
     "Elements moved round along dimensions."},
    {"BroadcastTo(input: T, shape: Tidx) -> (output: T) | T: type; Tidx: type in [int32,int64] = "
     "int32",
     broadcast_to, moved,
     "A tensor repeated to a larger shape."},
    {"BroadcastArgs(s0: T, s1: T) -> (r0: T) | T: type in [int32,int64] = int32",
     broadcast_args, cheap,
     "The shape that two shapes broadcast to."},
    {"BroadcastGradientArgs(s0: T, s1: T) -> (r0: T, r1: T) | T: type in [int32,int64] = int32",
     two_vectors, cheap,
     "The dimensions that a gradient is summed over."},
    {"InvertPermutation(x: T) -> (y: T) | T: type in [int32,int64] = int32",
     vector_unchanged, elementwise,
     "The permutation that undoes another."},
    {"ListDiff(x: T, y: T) -> (out: T, idx: out_idx) | T: type; out_idx: type in [int32,int64] = "
     "int32",
     two_vectors, elementwise,
     "What is in x and not in y, and where."},
    {"CheckNumerics(tensor: T) -> (output: T) | T: type in [bfloat16,half,float,double]; "
     "message: string | stateful",
     unchanged, elementwise,
     "The input, which must have no NaN or infinity."},
    {"CheckNumericsV2(tensor: T) -> (output: T) | T: type in [bfloat16,half,float,double]; "
     "message: string | stateful",
     unchanged, elementwise,
     "The input, which must have no NaN or infinity."},
};

}  // namespace

std::span<const OpRow> arrange_ops() { return kArrangeRows; }

}  // namespace emplace::stdops
