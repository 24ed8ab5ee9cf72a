// Sequences, masks, diagonals, blocks: values set out in space.
#include "op/shape_context.h"
#include <algorithm>
#include <cmath>
#include <fmt/format.h>

#include "stdops/stdops.h"

namespace emplace::stdops {
namespace {

using namespace shape_rules;
using namespace cost_rules;

void one_hot(ShapeContext& c) {
  const Shape& in = c.input(0);
  const auto depth = c.input_as_scalar(1);
  if (depth && *depth < 0)
    throw invalid_argument(fmt::format(
        "Dimension size, given by scalar input 1, must be non-negative but is {}", *depth));
  if (!in.has_rank()) return c.set_output(0, Shape::unknown());
  const int64_t axis = c.attr<int64_t>("axis");
  if (axis < -1 || axis > in.rank())
    throw invalid_argument(fmt::format("axis must be -1 or in [0, {}], got {}", in.rank(), axis));
  Shape out = in;
  out.insert(axis < 0 ? in.rank() : static_cast<int>(axis), depth.value_or(Shape::kUnknown));
  c.set_output(0, std::move(out));
}

// Elements from `start` to before `limit`: in whole numbers exactly, else as TensorFlow rounds.
int64_t range_size(const Tensor& start, const Tensor& limit, const Tensor& delta) {
  auto number = [](const Tensor& t) -> double {
    switch (t.dtype()) {
      case DType::kInt32: return t.item<int32_t>();
      case DType::kInt64: return static_cast<double>(t.item<int64_t>());
      case DType::kFloat: return t.item<float>();
      case DType::kDouble: return t.item<double>();
      default: return std::nan("");
    }
  };
  const double size = std::ceil(std::abs((number(limit) - number(start)) / number(delta)));
  return size >= 0 && size < 1e15 ? static_cast<int64_t>(size) : Shape::kUnknown;
}

void range(ShapeContext& c) {
  for (int i = 0; i < 3; ++i) c.with_rank(i, 0);
  const Tensor *start = c.input_value(0), *limit = c.input_value(1), *delta = c.input_value(2);
  const bool known = start && limit && delta;
  c.set_output(0, Shape{known ? range_size(*start, *limit, *delta) : Shape::kUnknown});
}

void lin_space(ShapeContext& c) {
  for (int i = 0; i < 3; ++i) c.with_rank(i, 0);
  const auto n = c.input_as_scalar(2);
  if (n && *n <= 0) throw invalid_argument(fmt::format("Requires num > 0: {}", *n));
  c.set_output(0, Shape{n.value_or(Shape::kUnknown)});
}

void where(ShapeContext& c) {
  const Shape& in = c.input(0);
  c.set_output(0, Shape{Shape::kUnknown, in.has_rank() ? in.rank() : Shape::kUnknown});
}

void diag(ShapeContext& c) {
  const Shape& in = c.input(0);
  if (!in.has_rank()) return c.set_output(0, Shape::unknown());
  Shape out = in;
  for (int64_t d : in) out.push_back(d);
  c.set_output(0, std::move(out));
}

void diag_part(ShapeContext& c) {
  const Shape& in = c.input(0);
  if (!in.has_rank()) return c.set_output(0, Shape::unknown());
  if (in.rank() == 0 || in.rank() % 2 != 0)
    throw invalid_argument("Input must have even and non-zero rank");
  Shape out;
  for (int i = 0; i < in.rank() / 2; ++i)
    out.push_back(c.merge_dims(in[i], in[in.rank() / 2 + i]));
  c.set_output(0, std::move(out));
}

void matrix_diag(ShapeContext& c) {
  Shape in = c.with_rank_at_least(0, 1);
  if (in.has_rank()) in.push_back(in[in.rank() - 1]);
  c.set_output(0, std::move(in));
}

void matrix_diag_part(ShapeContext& c) {
  Shape in = c.with_rank_at_least(0, 2);
  if (!in.has_rank()) return c.set_output(0, Shape::unknown());
  const int64_t rows = in[in.rank() - 2], columns = in[in.rank() - 1];
  in.erase(in.rank() - 1);
  in.set_dim(in.rank() - 1, rows < 0 || columns < 0 ? Shape::kUnknown : std::min(rows, columns));
  c.set_output(0, std::move(in));
}

void band_part(ShapeContext& c) { c.set_output(0, c.with_rank_at_least(0, 2)); }

// The diagonals asked for, lowest and highest; nothing when not known.
std::optional<std::pair<int64_t, int64_t>> band_of(ShapeContext& c, int input) {
  const auto k = c.input_as_vector(input);
  if (!k) return std::nullopt;
  if (k->empty() || k->size() > 2)
    throw invalid_argument("diag_index must be a vector with one or two elements");
  if (k->front() > k->back())
    throw invalid_argument(fmt::format("lower_diag_index must not be larger than "
                                       "upper_diag_index: {} > {}", k->front(), k->back()));
  return std::pair(k->front(), k->back());
}

void matrix_diag_v2(ShapeContext& c) {
  const Shape in = c.with_rank_at_least(0, 1);
  const auto band = band_of(c, 1);
  if (!in.has_rank() || !band) return c.set_output(0, Shape::unknown());
  const bool many = band->first != band->second;
  if (many) c.with_rank_at_least(0, 2);
  const int64_t length = in[in.rank() - 1];
  Shape out;
  for (int i = 0; i < in.rank() - (many ? 2 : 1); ++i) out.push_back(in[i]);
  const auto rows = c.input_as_scalar(2), columns = c.input_as_scalar(3);
  const int64_t least_rows = length < 0 ? -1 : length - std::min<int64_t>(band->second, 0);
  const int64_t least_columns = length < 0 ? -1 : length + std::max<int64_t>(band->first, 0);
  int64_t r = rows.value_or(-1), n = columns.value_or(-1);
  if (rows && columns && length >= 0) {
    if (r == -1 && n == -1) r = n = std::max(least_rows, least_columns);
    else if (r == -1) r = least_rows;
    else if (n == -1) n = least_columns;
  } else {
    r = r < 0 ? Shape::kUnknown : r;
    n = n < 0 ? Shape::kUnknown : n;
  }
  out.push_back(r);
  out.push_back(n);
  c.set_output(0, std::move(out));
}

void matrix_diag_part_v2(ShapeContext& c) {
  const Shape in = c.with_rank_at_least(0, 2);
  const auto band = band_of(c, 1);
  if (!in.has_rank() || !band) return c.set_output(0, Shape::unknown());
  const int64_t rows = in[in.rank() - 2], columns = in[in.rank() - 1];
  Shape out;
  for (int i = 0; i < in.rank() - 2; ++i) out.push_back(in[i]);
  if (band->first != band->second) out.push_back(band->second - band->first + 1);
  const bool known = rows >= 0 && columns >= 0;
  const int64_t longest = std::min(rows + std::min<int64_t>(band->second, 0),
                                   columns - std::max<int64_t>(band->first, 0));
  out.push_back(known ? std::max<int64_t>(longest, 0) : Shape::kUnknown);
  c.set_output(0, std::move(out));
}

void set_diag(ShapeContext& c) { c.set_output(0, c.with_rank_at_least(0, 2)); }

void dynamic_partition(ShapeContext& c) {
  const Shape &data = c.input(0), &partitions = c.input(1);
  Shape out = Shape::unknown();
  if (data.has_rank() && partitions.has_rank()) {
    if (partitions.rank() > data.rank())
      throw invalid_argument("data must have at least the rank of partitions");
    out = Shape{Shape::kUnknown};
    for (int i = 0; i < partitions.rank(); ++i) c.merge_dims(data[i], partitions[i]);
    for (int i = partitions.rank(); i < data.rank(); ++i) out.push_back(data[i]);
  }
  for (int i = 0; i < c.num_outputs(); ++i) c.set_output(i, out);
}

// One more than the largest of `n` constant inputs; unknown if one of them is.
int64_t rows_stitched(ShapeContext& c, int n) {
  int64_t rows = 0;
  for (int i = 0; i < n; ++i) {
    const Tensor* indices = c.input_value(i);
    if (indices == nullptr) return Shape::kUnknown;
    for (int64_t k = 0; k < indices->num_elements(); ++k)
      rows = std::max<int64_t>(rows, int64_t{indices->data<int32_t>()[k]} + 1);
  }
  return rows;
}

void dynamic_stitch(ShapeContext& c) {
  const int n = c.num_inputs() / 2;
  Shape rest = Shape::unknown();
  for (int i = 0; i < n; ++i) {
    const Shape &indices = c.input(i), &data = c.input(n + i);
    if (!indices.has_rank() || !data.has_rank()) continue;
    if (indices.rank() > data.rank())
      throw invalid_argument("data must have at least the rank of indices");
    Shape tail;
    for (int d = indices.rank(); d < data.rank(); ++d) tail.push_back(data[d]);
    rest = c.merge(rest, tail);
  }
  if (!rest.has_rank()) return c.set_output(0, rest);
  rest.insert(0, rows_stitched(c, n));
  c.set_output(0, std::move(rest));
}

constexpr OpRow kSpreadRows[] = {
    {"OneHot(indices: TI, depth: int32, on_value: T, off_value: T) -> (output: T) | axis: int = "
     "-1; T: type; TI: type in [uint8,int8,int32,int64] = int64",
     one_hot, moved,
     "on_value at each index along a new dimension, off_value elsewhere."},
    {"Range(start: Tidx, limit: Tidx, delta: Tidx) -> (output: Tidx) | Tidx: type in [bfloat16,"
     "half,float,double,int8,int16,int32,int64,uint16,uint32,uint64] = int32",
     range, moved,
     "Numbers from start to before limit."},
    {"LinSpace(start: T, stop: T, num: Tidx) -> (output: T) | T: type in [bfloat16,half,float,"
     "double]; Tidx: type in [int32,int64] = int32",
     lin_space, elementwise,
     "num numbers from start to stop, evenly spaced."},
    {"Where(input: T) -> (index: int64) | T: type in [float,double,int32,uint8,int16,int8,"
     "complex64,int64,qint8,quint8,qint32,bfloat16,qint16,quint16,uint16,complex128,half,uint32,"
     "uint64,bool] = bool",
     where, elementwise,
     "The indices of the elements that are not 0."},
    {"Diag(diagonal: T) -> (output: T) | T: type in [bfloat16,half,float,double,int32,int64,"
     "complex64,complex128]",
     diag, elementwise,
     "A tensor with the input on its diagonal."},
    {"DiagPart(input: T) -> (diagonal: T) | T: type in [bfloat16,half,float,double,int32,int64,"
     "complex64,complex128]",
     diag_part, moved,
     "The diagonal of a tensor."},
    {"MatrixDiag(diagonal: T) -> (output: T) | T: type",
     matrix_diag, elementwise,
     "Matrices with the input on their diagonals."},
    {"MatrixDiagV2(diagonal: T, k: int32, num_rows: int32, num_cols: int32, padding_value: T) -> "
     "(output: T) | T: type",
     matrix_diag_v2, elementwise,
     "Matrices with the input on a band of diagonals."},
    {"MatrixDiagV3(diagonal: T, k: int32, num_rows: int32, num_cols: int32, padding_value: T) -> "
     "(output: T) | T: type; align: string in ['LEFT_RIGHT','RIGHT_LEFT','LEFT_LEFT',"
     "'RIGHT_RIGHT'] = 'RIGHT_LEFT'",
     matrix_diag_v2, elementwise,
     "Matrices with the input on a band of diagonals."},
    {"MatrixDiagPart(input: T) -> (diagonal: T) | T: type",
     matrix_diag_part, moved,
     "The diagonals of matrices."},
    {"MatrixDiagPartV2(input: T, k: int32, padding_value: T) -> (diagonal: T) | T: type",
     matrix_diag_part_v2, elementwise,
     "A band of diagonals of matrices."},
    {"MatrixDiagPartV3(input: T, k: int32, padding_value: T) -> (diagonal: T) | T: type; align: "
     "string in ['LEFT_RIGHT','RIGHT_LEFT','LEFT_LEFT','RIGHT_RIGHT'] = 'RIGHT_LEFT'",
     matrix_diag_part_v2, moved,
     "A band of diagonals of matrices."},
    {"MatrixSetDiag(input: T, diagonal: T) -> (output: T) | T: type",
     set_diag, elementwise,
     "Matrices with other diagonals."},
    {"MatrixSetDiagV2(input: T, diagonal: T, k: int32) -> (output: T) | T: type",
     set_diag, elementwise,
     "Matrices with another band of diagonals."},
    {"MatrixSetDiagV3(input: T, diagonal: T, k: int32) -> (output: T) | T: type; align: string "
     "in ['LEFT_RIGHT','RIGHT_LEFT','LEFT_LEFT','RIGHT_RIGHT'] = 'RIGHT_LEFT'",
     set_diag, elementwise,
     "Matrices with another band of diagonals."},
    {"MatrixBandPart(input: T, num_lower: Tindex, num_upper: Tindex) -> (band: T) | T: type; "
     "Tindex: type in [int32,int64] = int64",
     band_part, elementwise,
     "Matrices with zeros outside a band."},
    {"DynamicPartition(data: T, partitions: int32) -> (outputs: num_partitions*T) | "
     "num_partitions: int >= 1; T: type",
     dynamic_partition, moved,
     "Slices sorted into tensors by their number."},
    {"DynamicStitch(indices: N*int32, data: N*T) -> (merged: T) | N: int >= 1; T: type",
     dynamic_stitch, elementwise,
     "Slices put together by their indices."},
    {"ParallelDynamicStitch(indices: N*int32, data: N*T) -> (merged: T) | N: int >= 1; T: type",
     dynamic_stitch, elementwise,
     "Slices put together by their indices, in any order."},
};

}  // namespace

std::span<const OpRow> spread_ops() { return kSpreadRows; }

}  // namespace emplace::stdops
