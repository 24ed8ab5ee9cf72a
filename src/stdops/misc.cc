// Einsum, functions of analysis, and small ops of no family.
#include <fmt/format.h>

#include "emplace/error.h"
#include "op/einsum.h"
#include "op/shape_context.h"
#include "stdops/stdops.h"

namespace emplace::stdops {
namespace {

using namespace shape_rules;
using namespace cost_rules;

void einsum(ShapeContext& c) {
  const EinsumEquation equation = parse_einsum(c.attr<std::string>("equation"));
  std::vector<Shape> shapes;
  for (int i = 0; i < c.num_inputs(); ++i) {
    shapes.push_back(c.input(i));
    if (shapes.back().has_rank() || i >= std::ssize(equation.inputs)) continue;
    const std::string& labels = equation.inputs[static_cast<size_t>(i)];
    if (labels.find('.') != std::string::npos) return c.set_output(0, Shape::unknown());
    shapes.back() = Shape(std::vector<int64_t>(labels.size(), Shape::kUnknown));  // one each
  }
  const EinsumLabels labels = label_einsum(equation, shapes);
  Shape out;
  for (int label : labels.output) {
    int64_t size = labels.sizes.at(label);
    // What an ellipsis stands for may grow: 1 says nothing while another operand's is not known.
    for (size_t i = 0; label < 0 && i < shapes.size(); ++i)
      for (size_t k = 0; k < labels.inputs[i].size(); ++k)
        if (labels.inputs[i][k] == label && shapes[i][static_cast<int>(k)] < 0 && size <= 1)
          size = Shape::kUnknown;
    out.push_back(size);
  }
  c.set_output(0, out);
}

void cross(ShapeContext& c) {
  const Shape s = c.merge(c.with_rank_at_least(0, 1), c.with_rank_at_least(1, 1));
  if (s.has_rank() && s[s.rank() - 1] >= 0) c.merge_dims(s[s.rank() - 1], 3);
  c.set_output(0, s);
}

void nth_element(ShapeContext& c) {
  const Shape s = c.with_rank_at_least(0, 1);
  c.with_rank(1, 0);
  if (!s.has_rank()) return c.set_output(0, s);
  c.set_output(0, Shape(s.dims().first(static_cast<size_t>(s.rank() - 1))));
}

void parallel_concat(ShapeContext& c) {
  Shape s = c.input(0);
  for (int i = 1; i < c.num_inputs(); ++i) s = c.merge(s, c.input(i));
  if (s.has_rank() && s.rank() > 0) s.set_dim(0, c.num_inputs());
  c.set_output(0, s);
}

void unravel_index(ShapeContext& c) {
  const Shape indices = c.with_rank_at_most(0, 1), dims = c.with_rank(1, 1);
  if (!indices.has_rank()) return c.set_output(0, Shape::unknown());
  c.set_output(0, indices.rank() ? Shape{dims[0], indices[0]} : Shape{dims[0]});
}

void fingerprint(ShapeContext& c) {
  const Shape s = c.with_rank_at_least(0, 1);
  c.with_rank(1, 0);
  c.set_output(0, Shape{s.has_rank() ? s[0] : Shape::kUnknown, 8});
}

// Rows of input 0 by segment, or back again; input 3, where there is one, says how many.
void sparse_segment(ShapeContext& c) {
  Shape out = c.with_rank_at_least(0, 1);
  c.merge_dims(c.with_rank(1, 1)[0], c.with_rank(2, 1)[0]);
  int64_t rows = Shape::kUnknown;
  if (c.num_inputs() > 3) {
    c.with_rank(3, 0);
    const auto given = c.input_as_scalar(3);
    if (given && *given < 0)
      throw invalid_argument("Cannot specify a negative value for num_segments");
    rows = given.value_or(Shape::kUnknown);
  }
  if (out.has_rank()) out.set_dim(0, rows);
  c.set_output(0, out);
}

void generator_state(ShapeContext& c) { c.set_output(0, Shape{3}); }

void compact_segment_gradient(ShapeContext& c) {
  Shape out = c.with_rank_at_least(0, 1);
  for (int i : {1, 2}) c.with_rank(i, 1);
  c.with_rank(3, 0);
  if (out.has_rank()) out.set_dim(0, Shape::kUnknown);
  c.set_output(0, out);
  c.set_output(1, Shape{Shape::kUnknown});
}

constexpr OpRow kMiscRows[] = {
    {"Einsum(inputs: N*T) -> (output: T) | equation: string; N: int >= 1; T: type",
     einsum, cost_rules::einsum,
     "Sums of products in Einstein's notation."},
    {"Cross(a: T, b: T) -> (product: T) | T: type in [float,double,int32,uint8,int16,int8,int64,"
     "bfloat16,uint16,half,uint32,uint64]",
     cross, elementwise,
     "The cross product of 3-vectors."},
    {"BesselI0(x: T) -> (y: T) | T: type in [bfloat16,half,float,double]",
     unchanged, transcendental,
     "The modified Bessel function of order 0."},
    {"BesselI0e(x: T) -> (y: T) | T: type in [bfloat16,half,float,double]",
     unchanged, transcendental,
     "The modified Bessel function of order 0, scaled by exp(-|x|)."},
    {"BesselI1(x: T) -> (y: T) | T: type in [bfloat16,half,float,double]",
     unchanged, transcendental,
     "The modified Bessel function of order 1."},
    {"BesselI1e(x: T) -> (y: T) | T: type in [bfloat16,half,float,double]",
     unchanged, transcendental,
     "The modified Bessel function of order 1, scaled by exp(-|x|)."},
    {"BesselJ0(x: T) -> (y: T) | T: type in [bfloat16,half,float,double]",
     unchanged, transcendental,
     "The Bessel function of the first kind and order 0."},
    {"BesselJ1(x: T) -> (y: T) | T: type in [bfloat16,half,float,double]",
     unchanged, transcendental,
     "The Bessel function of the first kind and order 1."},
    {"BesselK0(x: T) -> (y: T) | T: type in [bfloat16,half,float,double]",
     unchanged, transcendental,
     "The modified Bessel function of the second kind and order 0."},
    {"BesselK0e(x: T) -> (y: T) | T: type in [bfloat16,half,float,double]",
     unchanged, transcendental,
     "The same, scaled by exp(x)."},
    {"BesselK1(x: T) -> (y: T) | T: type in [bfloat16,half,float,double]",
     unchanged, transcendental,
     "The modified Bessel function of the second kind and order 1."},
    {"BesselK1e(x: T) -> (y: T) | T: type in [bfloat16,half,float,double]",
     unchanged, transcendental,
     "The same, scaled by exp(x)."},
    {"BesselY0(x: T) -> (y: T) | T: type in [bfloat16,half,float,double]",
     unchanged, transcendental,
     "The Bessel function of the second kind and order 0."},
    {"BesselY1(x: T) -> (y: T) | T: type in [bfloat16,half,float,double]",
     unchanged, transcendental,
     "The Bessel function of the second kind and order 1."},
    {"Bucketize(input: T) -> (output: int32) | T: type in [int32,int64,float,double]; boundaries: "
     "list(float)",
     unchanged, elementwise,
     "Between which boundaries each number lies."},
    {"NthElement(input: T, n: int32) -> (values: T) | reverse: bool = false; T: type in [float,"
     "double,int32,uint8,int16,int8,int64,bfloat16,uint16,half,uint32,uint64]",
     nth_element, elementwise,
     "The number that would be the n-th after sorting each row."},
    {"Timestamp() -> (ts: double) | stateful",
     scalar, cheap,
     "Seconds since 1970."},
    {"GuaranteeConst(input: T) -> (output: T) | T: type | stateful",
     unchanged, cheap,
     "The input, which never changes."},
    {"DeepCopy(x: T) -> (y: T) | T: type | stateful",
     unchanged, elementwise,
     "A copy with memory of its own."},
    {"Empty(shape: int32) -> (output: dtype) | dtype: type; init: bool = false | stateful",
     from_first, cheap,
     "A tensor whose values nobody set: zeros."},
    {"InplaceUpdate(x: T, i: int32, v: T) -> (y: T) | T: type",
     unchanged, elementwise,
     "x with rows i set to v."},
    {"InplaceAdd(x: T, i: int32, v: T) -> (y: T) | T: type",
     unchanged, elementwise,
     "x with v added to rows i."},
    {"InplaceSub(x: T, i: int32, v: T) -> (y: T) | T: type",
     unchanged, elementwise,
     "x with v subtracted from rows i."},
    {"ParallelConcat(values: N*T) -> (output: T) | N: int >= 1; T: type; shape: shape",
     parallel_concat, elementwise,
     "Rows one below the other."},
    {"UnravelIndex(indices: Tidx, dims: Tidx) -> (output: Tidx) | Tidx: type in [int32,int64] = "
     "int32",
     unravel_index, elementwise,
     "Flat indices as coordinates."},
    {"Fingerprint(data: T, method: string) -> (fingerprint: uint8) | T: type",
     fingerprint, elementwise,
     "A hash of each row."},
    {"CountUpTo(ref: ref T) -> (output: T) | limit: int; T: type in [int32,int64]",
     scalar, cheap,
     "A variable's value, which then grows by 1, up to a limit."},
    {"ResourceCountUpTo(resource: resource) -> (output: T) | limit: int; T: type in [int32,int64] "
     "| stateful",
     scalar, cheap,
     "A variable's value, which then grows by 1, up to a limit."},
    {"Dawsn(x: T) -> (y: T) | T: type in [bfloat16,half,float,double]",
     unchanged, transcendental,
     "Dawson's integral of each element."},
    {"Expint(x: T) -> (y: T) | T: type in [bfloat16,half,float,double]",
     unchanged, transcendental,
     "The exponential integral."},
    {"FresnelCos(x: T) -> (y: T) | T: type in [bfloat16,half,float,double]",
     unchanged, transcendental,
     "Fresnel's cosine integral."},
    {"FresnelSin(x: T) -> (y: T) | T: type in [bfloat16,half,float,double]",
     unchanged, transcendental,
     "Fresnel's sine integral."},
    {"Spence(x: T) -> (y: T) | T: type in [bfloat16,half,float,double]",
     unchanged, transcendental,
     "The dilogarithm of 1 - x."},
    {"SparseSegmentSum(data: T, indices: Tidx, segment_ids: Tsegmentids) -> (output: T) | T: type "
     "in [float,double,int32,uint8,int16,int8,int64,bfloat16,uint16,half,uint32,uint64]; Tidx: "
     "type in [int32,int64] = int32; Tsegmentids: type in [int32,int64] = int32; sparse_gradient: "
     "bool = false",
     sparse_segment, elementwise,
     "Sums of chosen rows by segment."},
    {"SparseSegmentSumWithNumSegments(data: T, indices: Tidx, segment_ids: Tsegmentids, "
     "num_segments: Tnumsegments) -> (output: T) | T: type in [float,double,int32,uint8,int16,"
     "int8,int64,bfloat16,uint16,half,uint32,uint64]; Tidx: type in [int32,int64] = int32; "
     "Tnumsegments: type in [int32,int64] = int32; Tsegmentids: type in [int32,int64] = int32; "
     "sparse_gradient: bool = false",
     sparse_segment, elementwise,
     "Sums of chosen rows by segment, so many of them."},
    {"SparseSegmentSumGrad(grad: T, indices: Tidx, segment_ids: Tsegmentids, output_dim0: int32) "
     "-> (output: T) | T: type in [bfloat16,half,float,double]; Tidx: type in [int32,int64] = "
     "int32; Tsegmentids: type in [int32,int64] = int32",
     sparse_segment, elementwise,
     "Carries a gradient back through SparseSegmentSum."},
    {"SparseSegmentMean(data: T, indices: Tidx, segment_ids: Tsegmentids) -> (output: T) | T: "
     "type in [bfloat16,half,float,double]; Tidx: type in [int32,int64] = int32; Tsegmentids: "
     "type in [int32,int64] = int32; sparse_gradient: bool = false",
     sparse_segment, elementwise,
     "Means of chosen rows by segment."},
    {"SparseSegmentMeanWithNumSegments(data: T, indices: Tidx, segment_ids: Tsegmentids, "
     "num_segments: Tnumsegments) -> (output: T) | T: type in [bfloat16,half,float,double]; Tidx: "
     "type in [int32,int64] = int32; Tnumsegments: type in [int32,int64] = int32; Tsegmentids: "
     "type in [int32,int64] = int32; sparse_gradient: bool = false",
     sparse_segment, elementwise,
     "Means of chosen rows by segment, so many of them."},
    {"SparseSegmentMeanGrad(grad: T, indices: Tidx, segment_ids: Tsegmentids, output_dim0: int32) "
     "-> (output: T) | T: type in [bfloat16,half,float,double]; Tidx: type in [int32,int64] = "
     "int32; Tsegmentids: type in [int32,int64] = int32",
     sparse_segment, elementwise,
     "Carries a gradient back through SparseSegmentMean."},
    {"SparseSegmentSqrtN(data: T, indices: Tidx, segment_ids: Tsegmentids) -> (output: T) | T: "
     "type in [bfloat16,half,float,double]; Tidx: type in [int32,int64] = int32; Tsegmentids: "
     "type in [int32,int64] = int32; sparse_gradient: bool = false",
     sparse_segment, elementwise,
     "Sums of chosen rows by segment, over the roots of their numbers."},
    {"SparseSegmentSqrtNWithNumSegments(data: T, indices: Tidx, segment_ids: Tsegmentids, "
     "num_segments: Tnumsegments) -> (output: T) | T: type in [bfloat16,half,float,double]; Tidx: "
     "type in [int32,int64] = int32; Tnumsegments: type in [int32,int64] = int32; Tsegmentids: "
     "type in [int32,int64] = int32; sparse_gradient: bool = false",
     sparse_segment, elementwise,
     "Same, so many segments of them."},
    {"SparseSegmentSqrtNGrad(grad: T, indices: Tidx, segment_ids: Tsegmentids, output_dim0: "
     "int32) -> (output: T) | T: type in [bfloat16,half,float,double]; Tidx: type in [int32,"
     "int64] = int32; Tsegmentids: type in [int32,int64] = int32",
     sparse_segment, elementwise,
     "Carries a gradient back through SparseSegmentSqrtN."},
    {"RngReadAndSkip(resource: resource, alg: int32, delta: uint64) -> (value: int64) | stateful",
     generator_state, cheap,
     "A generator's state, which then moves on."},
    {"SparseSegmentSumGradV2(grad: T, indices: Tidx, segment_ids: Tsegmentids, dense_output_dim0: "
     "int32) -> (output: T, sorted_unique_indices: Tidx) | T: type in [bfloat16,half,float,"
     "double]; Tidx: type in [int32,int64] = int32; Tsegmentids: type in [int32,int64] = int32",
     compact_segment_gradient, elementwise,
     "Carries a gradient back through SparseSegmentSum, to the rows that it took."},
    {"SparseSegmentMeanGradV2(grad: T, indices: Tidx, segment_ids: Tsegmentids, dense_output_dim0: "
     "int32) -> (output: T, sorted_unique_indices: Tidx) | T: type in [bfloat16,half,float,"
     "double]; Tidx: type in [int32,int64] = int32; Tsegmentids: type in [int32,int64] = int32",
     compact_segment_gradient, elementwise,
     "Carries a gradient back through SparseSegmentMean, to the rows that it took."},
    {"SparseSegmentSqrtNGradV2(grad: T, indices: Tidx, segment_ids: Tsegmentids, "
     "dense_output_dim0: int32) -> (output: T, sorted_unique_indices: Tidx) | T: type in [bfloat16,"
     "half,float,double]; Tidx: type in [int32,int64] = int32; Tsegmentids: type in [int32,int64] "
     "= int32",
     compact_segment_gradient, elementwise,
     "Carries a gradient back through SparseSegmentSqrtN, to the rows that it took."},
};

}  // namespace

std::span<const OpRow> misc_ops() { return kMiscRows; }

}  // namespace emplace::stdops
