// Tensors joined and cut along a dimension, and filled.
#include <fmt/format.h>

#include "backends/cpu/cpu_kernels.h"
#include "backends/cpu/move.h"
#include "backends/cpu/rows.h"

namespace emplace::cpu {
namespace {

int64_t product(const Shape& s, int begin, int end) {
  int64_t n = 1;
  for (int i = begin; i < end; ++i) n *= s[i];
  return n;
}

// Joins inputs [first, first + count) along `axis`.
void concat(KernelContext& c, int first, int count, int64_t axis) {
  const Shape& like = c.input(first).shape();
  const int rank = like.rank();
  if (axis < -rank || axis >= rank)
    throw invalid_argument(fmt::format("ConcatOp : Expected concatenating dimensions in the range "
                                       "[{}, {}), but got {}", -rank, rank, axis));
  const int at = static_cast<int>(axis < 0 ? axis + rank : axis);
  Shape shape = like;
  shape.set_dim(at, 0);
  for (int i = first; i < first + count; ++i) {
    const Shape& s = c.input(i).shape();
    if (s.rank() != rank)
      throw invalid_argument(fmt::format("ConcatOp : Ranks of all input tensors should match: "
                                         "shape[0] = {} vs. shape[{}] = {}", like.str(), i - first,
                                         s.str()));
    for (int d = 0; d < rank; ++d)
      if (d != at && s[d] != like[d])
        throw invalid_argument(fmt::format("ConcatOp : Dimension {} in both shapes must be equal: "
                                           "shape[0] = {} vs. shape[{}] = {}", d, like.str(),
                                           i - first, s.str()));
    shape.set_dim(at, shape[at] + s[at]);
  }
  Tensor& out = c.output(0, shape);
  const int64_t outer = product(shape, 0, at), row = product(shape, at, rank);
  const int64_t inner = product(shape, at + 1, rank);
  const Mover mover(out.dtype());
  c.parallel_for(outer, move_cost(out.dtype()) * static_cast<double>(row) + 5.0 * count,
                 [&](int64_t begin, int64_t end) {
    for (int64_t o = begin; o < end; ++o) {
      int64_t to = o * row;
      for (int i = first; i < first + count; ++i) {
        const int64_t n = c.input(i).dim(at) * inner;
        mover.copy(out, to, c.input(i), o * n, n);
        to += n;
      }
    }
  });
}

void concat_v1(KernelContext& c) {
  concat(c, 1, c.num_inputs() - 1, int_scalar(c.input(0), "Concat dim"));
}
void concat_v2(KernelContext& c) {
  const int last = c.num_inputs() - 1;
  concat(c, 0, last, int_scalar(c.input(last), "axis"));
}

void cut(KernelContext& c, const Tensor& in, int axis, std::span<const int64_t> sizes) {
  const Shape& shape = in.shape();
  const int64_t outer = product(shape, 0, axis), row = product(shape, axis, shape.rank());
  const int64_t inner = product(shape, axis + 1, shape.rank());
  const Mover mover(in.dtype());
  int64_t from = 0;
  for (size_t i = 0; i < sizes.size(); ++i) {
    Shape part = shape;
    part.set_dim(axis, sizes[i]);
    const int64_t n = sizes[i] * inner;
    Tensor& out = c.output(static_cast<int>(i), part);
    c.parallel_for(outer, move_cost(in.dtype()) * static_cast<double>(n) + 5,
                   [&](int64_t begin, int64_t end) {
      for (int64_t o = begin; o < end; ++o) mover.copy(out, o * n, in, o * row + from, n);
    });
    from += n;
  }
}

void split(KernelContext& c) {
  const Tensor& in = c.input(1);
  const int64_t axis = int_scalar(c.input(0), "split_dim");
  if (axis < -in.rank() || axis >= in.rank())
    throw invalid_argument(fmt::format("-input rank(-{0}) <= split_dim < input rank ({0}), but got "
                                       "{1}", in.rank(), axis));
  const int at = static_cast<int>(axis < 0 ? axis + in.rank() : axis);
  const int64_t parts = c.num_outputs();
  if (in.dim(at) % parts != 0)
    throw invalid_argument(fmt::format("Number of ways to split should evenly divide the split "
                                       "dimension, but got split_dim {} (size = {}) and num_split "
                                       "{}", at, in.dim(at), parts));
  cut(c, in, at, std::vector<int64_t>(static_cast<size_t>(parts), in.dim(at) / parts));
}

// The size that is -1 gets what the others leave.
std::vector<int64_t> checked_sizes(const Tensor& given, int64_t total, int parts) {
  if (given.rank() != 1 || given.num_elements() != parts)
    throw invalid_argument("size_splits must be a vector of num_split sizes, got shape " +
                           given.shape().str());
  std::vector<int64_t> sizes = int_values(given);
  int64_t sum = 0;
  int open = -1;
  for (size_t i = 0; i < sizes.size(); ++i) {
    if (sizes[i] == -1 && open < 0) open = static_cast<int>(i);
    else if (sizes[i] < 0)
      throw invalid_argument(fmt::format("Split size at index {} must be >= 0. Got: {}", i,
                                         sizes[i]));
    else if (sum <= total) sum += sizes[i];  // no sum of many runs over
  }
  if (sum > total || (open < 0 && sum != total))
    throw invalid_argument(fmt::format("Determined shape must either match input shape along "
                                       "split_dim exactly if fully specified, or be less than the "
                                       "size of the input along split_dim if not fully specified. "
                                       " Got: {}", sum));
  if (open >= 0) sizes[static_cast<size_t>(open)] = total - sum;
  return sizes;
}

void split_v(KernelContext& c) {
  const Tensor& in = c.input(0);
  const int at = checked_axis(int_scalar(c.input(2), "split_dim"), in.rank(), "split_dim");
  cut(c, in, at, checked_sizes(c.input(1), in.dim(at), c.num_outputs()));
}

void fill(KernelContext& c) {
  const Tensor& value = c.input(1);
  if (value.num_elements() != 1 || value.rank() > 1)
    throw invalid_argument("value must be a scalar, got shape " + value.shape().str());
  Tensor& out = c.output(0, shape_from(c.input(0), "dims"));
  const Mover mover(out.dtype());
  c.parallel_for(out.num_elements(), move_cost(out.dtype()), [&](int64_t begin, int64_t end) {
    mover.fill(out, begin, end - begin, value.raw());
  });
}

void zeros_like(KernelContext& c) {
  Tensor& out = c.output(0, c.input(0).shape());
  const Mover mover(out.dtype());
  c.parallel_for(out.num_elements(), move_cost(out.dtype()),
                 [&](int64_t begin, int64_t end) { mover.zero(out, begin, end - begin); });
}

template <class T>
T unit() {
  if constexpr (std::is_same_v<T, Half> || std::is_same_v<T, Bfloat16>) return T(1.0f);
  else return T(1);
}

void ones_like(KernelContext& c) {
  Tensor& out = c.output(0, c.input(0).shape());
  visit_dtype(out.dtype(), Plain{}, [&](auto tag) {
    using T = typename decltype(tag)::type;
    std::fill_n(out.data<T>(), out.num_elements(), unit<T>());
  });
}

}  // namespace

std::vector<KernelRow> join_kernels() {
  KernelRow zeros = row("ZerosLike", stateless<zeros_like>);
  KernelRow ones = row("OnesLike", stateless<ones_like>);
  ones.types = {{"T", Plain::dtypes()}};
  return {row("Concat", stateless<concat_v1>),
          row("ConcatV2", stateless<concat_v2>),
          row("Split", stateless<split>),
          row("SplitV", stateless<split_v>),
          row("Fill", stateless<fill>),
          std::move(zeros),
          std::move(ones)};
}

}  // namespace emplace::cpu
