// Scans, segments, counts, orders.
#include "op/shape_context.h"
#include <fmt/format.h>

#include "stdops/stdops.h"

namespace emplace::stdops {
namespace {

using namespace shape_rules;
using namespace cost_rules;

void arg_reduce(ShapeContext& c) {
  const Shape& in = c.input(0);
  const auto axis = c.input_as_scalar(1);
  if (!in.has_rank()) return c.set_output(0, Shape::unknown());
  if (in.rank() <= 1) return c.set_output(0, Shape{});
  if (!axis) return c.set_output(0, Shape::unknown_dims(in.rank() - 1));
  Shape out = in;
  out.erase(c.wrapped_axis(*axis, in.rank()));
  c.set_output(0, std::move(out));
}

// [segments] + data[rank of ids:]
void segments_of(ShapeContext& c, int64_t segments, int ids_rank) {
  const Shape& data = c.input(0);
  if (!data.has_rank() || ids_rank < 0) return c.set_output(0, Shape::unknown());
  if (ids_rank > data.rank())
    throw invalid_argument("data must have at least the rank of segment_ids");
  for (int i = 0; i < ids_rank; ++i) c.merge_dims(data[i], c.input(1)[i]);
  Shape out{segments};
  for (int i = ids_rank; i < data.rank(); ++i) out.push_back(data[i]);
  c.set_output(0, std::move(out));
}

void segment(ShapeContext& c) {
  c.with_rank_at_least(0, 1);
  c.with_rank(1, 1);
  segments_of(c, Shape::kUnknown, c.input(1).has_rank() ? 1 : -1);
}

void numbered_segment(ShapeContext& c) {
  const auto n = c.input_as_scalar(2);
  if (n && *n < 0) throw invalid_argument("num_segments must be non-negative");
  segments_of(c, n.value_or(Shape::kUnknown), c.input(1).rank());
}

void bincount(ShapeContext& c) {
  c.with_rank(1, 0);
  const auto n = c.input_as_scalar(1);
  if (n && *n < 0) throw invalid_argument(fmt::format("size ({}) must be non-negative", *n));
  c.set_output(0, Shape{n.value_or(Shape::kUnknown)});
}

void dense_bincount(ShapeContext& c) {
  const Shape in = c.with_rank_at_most(0, 2);
  const auto n = c.input_as_scalar(1);
  if (n && *n < 0) throw invalid_argument(fmt::format("size ({}) must be non-negative", *n));
  if (!in.has_rank()) return c.set_output(0, Shape::unknown());
  Shape out;
  if (in.rank() == 2) out.push_back(in[0]);
  out.push_back(n.value_or(Shape::kUnknown));
  c.set_output(0, std::move(out));
}

void histogram(ShapeContext& c) {
  const auto n = c.input_as_scalar(2);
  if (n && *n <= 0) throw invalid_argument(fmt::format("Requires nbins > 0: {}", *n));
  c.set_output(0, Shape{n.value_or(Shape::kUnknown)});
}

void top_k_of(ShapeContext& c, std::optional<int64_t> k) {
  Shape in = c.with_rank_at_least(0, 1);
  if (in.has_rank()) {
    const int64_t last = in[in.rank() - 1];
    if (k && *k < 0) throw invalid_argument(fmt::format("Need k >= 0, got {}", *k));
    if (k && last >= 0 && *k > last)
      throw invalid_argument(fmt::format("input must have last dimension >= k = {} but is {}", *k,
                                         last));
    in.set_dim(in.rank() - 1, k.value_or(Shape::kUnknown));
  }
  c.set_output(0, in);
  c.set_output(1, std::move(in));
}
void top_k(ShapeContext& c) { top_k_of(c, c.attr<int64_t>("k")); }
void top_k_v2(ShapeContext& c) { top_k_of(c, c.input_as_scalar(1)); }

void in_top_k(ShapeContext& c) {
  const Shape predictions = c.with_rank(0, 2), targets = c.with_rank(1, 1);
  c.set_output(0, Shape{c.merge_dims(predictions[0], targets[0])});
}

void unique(ShapeContext& c) {
  const Shape in = c.with_rank(0, 1);
  c.set_output(0, Shape{Shape::kUnknown});
  c.set_output(1, in);
  if (c.num_outputs() > 2) c.set_output(2, Shape{Shape::kUnknown});
}

void unique_v2(ShapeContext& c) {
  const Shape& in = c.input(0);
  const auto axis = c.input_as_vector(1);
  Shape y = in.has_rank() ? Shape::unknown_dims(in.rank()) : Shape::unknown();
  int64_t along = Shape::kUnknown;
  if (axis && in.has_rank()) {
    if (axis->empty() && in.rank() == 1) along = in[0];
    if (!axis->empty()) {
      const int at = c.wrapped_axis((*axis)[0], in.rank());
      along = in[at];
      y = in;
      y.set_dim(at, Shape::kUnknown);
    }
  }
  c.set_output(0, std::move(y));
  c.set_output(1, Shape{along});
  if (c.num_outputs() > 2) c.set_output(2, Shape{Shape::kUnknown});
}

void bound(ShapeContext& c) {
  c.with_rank(0, 2);
  c.set_output(0, c.with_rank(1, 2));
}

// Like TopK over the last dimension; other forms are for devices that there are none of.
void approximate_top_k(ShapeContext& c) {
  Shape out = c.with_rank_at_least(0, 1);
  const bool plain = c.attr<bool>("is_max_k") && c.attr<int64_t>("reduction_dimension") == -1;
  if (!plain) out = Shape::unknown();
  if (out.has_rank()) out.set_dim(out.rank() - 1, c.attr<int64_t>("k"));
  c.set_output(0, out);
  c.set_output(1, out);
}

constexpr OpRow kScanRows[] = {
    {"ArgMax(input: T, dimension: Tidx) -> (output: output_type) | T: type in [float,double,"
     "int32,uint8,int16,int8,int64,bfloat16,uint16,half,uint32,uint64,qint8,quint8,qint32,qint16,"
     "quint16,bool]; Tidx: type in [int16,int32,int64] = int32; output_type: type in [int16,"
     "uint16,int32,int64] = int64",
     arg_reduce, elementwise,
     "The index of the largest element along a dimension."},
    {"ArgMin(input: T, dimension: Tidx) -> (output: output_type) | T: type in [float,double,"
     "int32,uint8,int16,int8,int64,bfloat16,uint16,half,uint32,uint64,qint8,quint8,qint32,qint16,"
     "quint16,bool]; Tidx: type in [int32,int64] = int32; output_type: type in [int32,int64] = "
     "int64",
     arg_reduce, elementwise,
     "The index of the smallest element along a dimension."},
    {"Cumsum(x: T, axis: Tidx) -> (out: T) | exclusive: bool = false; reverse: bool = false; T: "
     "type in [float,double,int32,uint8,int16,int8,complex64,int64,qint8,quint8,qint32,bfloat16,"
     "qint16,quint16,uint16,complex128,half,uint32,uint64]; Tidx: type in [int32,int64] = int32",
     unchanged, elementwise,
     "The sums of the elements so far."},
    {"Cumprod(x: T, axis: Tidx) -> (out: T) | exclusive: bool = false; reverse: bool = false; T: "
     "type in [float,double,int32,uint8,int16,int8,complex64,int64,qint8,quint8,qint32,bfloat16,"
     "qint16,quint16,uint16,complex128,half,uint32,uint64]; Tidx: type in [int32,int64] = int32",
     unchanged, elementwise,
     "The products of the elements so far."},
    {"CumulativeLogsumexp(x: T, axis: Tidx) -> (out: T) | exclusive: bool = false; reverse: bool "
     "= false; T: type in [bfloat16,half,float,double]; Tidx: type in [int32,int64] = int32",
     unchanged, transcendental,
     "The logarithms of the sums of exponentials so far."},
    {"SegmentSum(data: T, segment_ids: Tindices) -> (output: T) | T: type in [float,double,int32,"
     "uint8,int16,int8,complex64,int64,qint8,quint8,qint32,bfloat16,qint16,quint16,uint16,"
     "complex128,half,uint32,uint64]; Tindices: type in [int32,int64]",
     segment, elementwise,
     "The sum of each run of equal segment ids."},
    {"SegmentProd(data: T, segment_ids: Tindices) -> (output: T) | T: type in [float,double,"
     "int32,uint8,int16,int8,complex64,int64,qint8,quint8,qint32,bfloat16,qint16,quint16,uint16,"
     "complex128,half,uint32,uint64]; Tindices: type in [int32,int64]",
     segment, elementwise,
     "The product of each run of equal segment ids."},
    {"SegmentMean(data: T, segment_ids: Tindices) -> (output: T) | T: type in [float,double,"
     "int32,uint8,int16,int8,complex64,int64,qint8,quint8,qint32,bfloat16,qint16,quint16,uint16,"
     "complex128,half,uint32,uint64]; Tindices: type in [int32,int64]",
     segment, elementwise,
     "The mean of each run of equal segment ids."},
    {"SegmentMax(data: T, segment_ids: Tindices) -> (output: T) | T: type in [float,double,int32,"
     "uint8,int16,int8,int64,bfloat16,uint16,half,uint32,uint64]; Tindices: type in [int32,int64]",
     segment, elementwise,
     "The largest of each run of equal segment ids."},
    {"SegmentMin(data: T, segment_ids: Tindices) -> (output: T) | T: type in [float,double,int32,"
     "uint8,int16,int8,int64,bfloat16,uint16,half,uint32,uint64]; Tindices: type in [int32,int64]",
     segment, elementwise,
     "The smallest of each run of equal segment ids."},
    {"SegmentSumV2(data: T, segment_ids: Tindices, num_segments: Tnumsegments) -> (output: T) | "
     "T: type in [float,double,int32,uint8,int16,int8,complex64,int64,qint8,quint8,qint32,"
     "bfloat16,qint16,quint16,uint16,complex128,half,uint32,uint64]; Tindices: type in [int32,"
     "int64]; Tnumsegments: type in [int32,int64] = int32",
     numbered_segment, elementwise,
     "The sum of each run of equal segment ids."},
    {"SegmentProdV2(data: T, segment_ids: Tindices, num_segments: Tnumsegments) -> (output: T) | "
     "T: type in [float,double,int32,uint8,int16,int8,complex64,int64,qint8,quint8,qint32,"
     "bfloat16,qint16,quint16,uint16,complex128,half,uint32,uint64]; Tindices: type in [int32,"
     "int64]; Tnumsegments: type in [int32,int64] = int32",
     numbered_segment, elementwise,
     "The product of each run of equal segment ids."},
    {"SegmentMaxV2(data: T, segment_ids: Tindices, num_segments: Tnumsegments) -> (output: T) | "
     "T: type in [float,double,int32,uint8,int16,int8,int64,bfloat16,uint16,half,uint32,uint64]; "
     "Tindices: type in [int32,int64]; Tnumsegments: type in [int32,int64] = int32",
     numbered_segment, elementwise,
     "The largest of each run of equal segment ids."},
    {"SegmentMinV2(data: T, segment_ids: Tindices, num_segments: Tnumsegments) -> (output: T) | "
     "T: type in [float,double,int32,uint8,int16,int8,int64,bfloat16,uint16,half,uint32,uint64]; "
     "Tindices: type in [int32,int64]; Tnumsegments: type in [int32,int64] = int32",
     numbered_segment, elementwise,
     "The smallest of each run of equal segment ids."},
    {"UnsortedSegmentSum(data: T, segment_ids: Tindices, num_segments: Tnumsegments) -> (output: "
     "T) | T: type in [float,double,int32,uint8,int16,int8,complex64,int64,qint8,quint8,qint32,"
     "bfloat16,qint16,quint16,uint16,complex128,half,uint32,uint64]; Tindices: type in [int16,"
     "int32,int64]; Tnumsegments: type in [int32,int64] = int32",
     numbered_segment, elementwise,
     "The sum of the elements of each segment, in any order."},
    {"UnsortedSegmentProd(data: T, segment_ids: Tindices, num_segments: Tnumsegments) -> "
     "(output: T) | T: type in [float,double,int32,uint8,int16,int8,complex64,int64,qint8,quint8,"
     "qint32,bfloat16,qint16,quint16,uint16,complex128,half,uint32,uint64]; Tindices: type in "
     "[int32,int64]; Tnumsegments: type in [int32,int64] = int32",
     numbered_segment, elementwise,
     "The product of the elements of each segment, in any order."},
    {"UnsortedSegmentMax(data: T, segment_ids: Tindices, num_segments: Tnumsegments) -> (output: "
     "T) | T: type in [float,double,int32,uint8,int16,int8,int64,bfloat16,uint16,half,uint32,"
     "uint64]; Tindices: type in [int32,int64]; Tnumsegments: type in [int32,int64] = int32",
     numbered_segment, elementwise,
     "The largest of the elements of each segment, in any order."},
    {"UnsortedSegmentMin(data: T, segment_ids: Tindices, num_segments: Tnumsegments) -> (output: "
     "T) | T: type in [float,double,int32,uint8,int16,int8,int64,bfloat16,uint16,half,uint32,"
     "uint64]; Tindices: type in [int32,int64]; Tnumsegments: type in [int32,int64] = int32",
     numbered_segment, elementwise,
     "The smallest of the elements of each segment, in any order."},
    {"Bincount(arr: int32, size: int32, weights: T) -> (bins: T) | T: type in [int32,int64,float,"
     "double]",
     bincount, elementwise,
     "How often each number occurs, or the sum of its weights."},
    {"DenseBincount(input: Tidx, size: Tidx, weights: T) -> (output: T) | Tidx: type in [int32,"
     "int64]; T: type in [int32,int64,float,double]; binary_output: bool = false",
     dense_bincount, elementwise,
     "How often each number occurs, or the sum of its weights, by rows."},
    {"HistogramFixedWidth(values: T, value_range: T, nbins: int32) -> (out: dtype) | T: type in "
     "[int32,int64,float,double]; dtype: type in [int32,int64] = int32",
     histogram, elementwise,
     "How many values fall into each of equal bins."},
    {"TopK(input: T) -> (values: T, indices: int32) | k: int >= 0; sorted: bool = true; T: type "
     "in [float,double,int32,uint8,int16,int8,int64,bfloat16,uint16,half,uint32,uint64]",
     top_k, sorted,
     "The k largest of each row, and where they are."},
    {"TopKV2(input: T, k: Tk) -> (values: T, indices: index_type) | sorted: bool = true; T: type "
     "in [float,double,int32,uint8,int16,int8,int64,bfloat16,uint16,half,uint32,uint64]; Tk: "
     "type in [int16,int32,int64] = int32; index_type: type in [int16,int32,int64] = int32",
     top_k_v2, sorted,
     "The k largest of each row, and where they are."},
    {"InTopK(predictions: float, targets: T) -> (precision: bool) | k: int; T: type in [int32,"
     "int64] = int32",
     in_top_k, elementwise,
     "Is the target among the k largest predictions?"},
    {"InTopKV2(predictions: float, targets: T, k: T) -> (precision: bool) | T: type in [int32,"
     "int64] = int32",
     in_top_k, elementwise,
     "Is the target among the k largest predictions?"},
    {"Unique(x: T) -> (y: T, idx: out_idx) | T: type; out_idx: type in [int32,int64] = int32",
     unique, transcendental,
     "Each value once, and where each element went."},
    {"UniqueV2(x: T, axis: Taxis) -> (y: T, idx: out_idx) | T: type; Taxis: type in [int32,"
     "int64] = int64; out_idx: type in [int32,int64] = int32",
     unique_v2, transcendental,
     "Each slice once, and where each slice went."},
    {"UniqueWithCounts(x: T) -> (y: T, idx: out_idx, count: out_idx) | T: type; out_idx: type in "
     "[int32,int64] = int32",
     unique, transcendental,
     "Each value once, where each element went, how often."},
    {"UniqueWithCountsV2(x: T, axis: Taxis) -> (y: T, idx: out_idx, count: out_idx) | T: type; "
     "Taxis: type in [int32,int64] = int64; out_idx: type in [int32,int64] = int32",
     unique_v2, transcendental,
     "Each slice once, where each slice went, how often."},
    {"LowerBound(sorted_inputs: T, values: T) -> (output: out_type) | T: type; out_type: type in "
     "[int32,int64] = int32",
     bound, transcendental,
     "Where values would go in sorted rows, before equal ones."},
    {"UpperBound(sorted_inputs: T, values: T) -> (output: out_type) | T: type; out_type: type in "
     "[int32,int64] = int32",
     bound, transcendental,
     "Where values would go in sorted rows, behind equal ones."},
    {"ApproxTopK(input: T) -> (values: T, indices: int32) | k: int >= 0; reduction_dimension: int "
     "= -1; recall_target: float = 0.949999988079071; is_max_k: bool = true; "
     "reduction_input_size_override: int = -1; aggregate_to_topk: bool = true; T: type in [half,"
     "bfloat16,float]",
     approximate_top_k, transcendental,
     "The k largest of each row, and where they are; all of them, here."},
};

}  // namespace

std::span<const OpRow> scan_ops() { return kScanRows; }

}  // namespace emplace::stdops
