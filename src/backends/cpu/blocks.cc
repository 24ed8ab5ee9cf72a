// Blocks of space moved to the batch or the depth, and back; slices sorted and put together.
#include <fmt/format.h>

#include <array>

#include "backends/cpu/cpu_kernels.h"
#include "backends/cpu/indices.h"
#include "backends/cpu/rows.h"
#include "backends/cpu/strided.h"
#include "base/stop_scope.h"

namespace emplace::cpu {
namespace {

using Sizes = std::vector<int64_t>;

// `t` under another shape, its dimensions in another order, in memory of its own.
Tensor turned(KernelContext& c, const Tensor& t, const Sizes& seen, const std::vector<int>& perm) {
  const Tensor in = t.reshaped(Shape(std::span<const int64_t>(seen)));
  Shape shape;
  for (int d : perm) shape.push_back(in.dim(d));
  Tensor out = c.temp(t.dtype(), shape);
  transpose_elements(c, in, perm, out);
  return out;
}

struct Edges {
  Sizes before, after;
};

Edges edges_of(const Tensor& t, size_t n) {
  if (t.rank() != 2 || t.dim(0) != static_cast<int64_t>(n) || t.dim(1) != 2)
    throw invalid_argument(
        fmt::format("paddings and crops must have shape [{}, 2], got {}", n, t.shape().str()));
  const auto v = int_values(t);
  Edges e;
  for (size_t i = 0; i < n; ++i) {
    if (v[2 * i] < 0 || v[2 * i + 1] < 0)
      throw invalid_argument("paddings and crops must be non-negative");
    e.before.push_back(v[2 * i]);
    e.after.push_back(v[2 * i + 1]);
  }
  return e;
}

int64_t checked_block(const Sizes& block, const Tensor& in) {
  if (in.rank() < static_cast<int>(block.size()) + 1)
    throw invalid_argument(
        fmt::format("input rank should be >= {} instead of {}", block.size() + 1, in.rank()));
  for (int64_t b : block)
    if (b < 1)
      throw invalid_argument(fmt::format("All values in block_shape must be positive, got {}", b));
  return checked_elements(block);
}

// [n, s1, s2, …, rest] padded, seen as [n, s1/b1, b1, …, rest], to [b1, b2, …, n, s1/b1, …, rest].
void space_to_batch(KernelContext& c, const Sizes& block, const Edges& edges) {
  const Tensor& in = c.input(0);
  const int64_t all = checked_block(block, in);
  Sizes padded(in.shape().begin(), in.shape().end());
  for (size_t i = 0; i < block.size(); ++i) {
    padded[i + 1] += edges.before[i] + edges.after[i];
    if (padded[i + 1] % block[i] != 0)
      throw invalid_argument(
          fmt::format("padded_shape[{}]={} is not divisible by block_shape[{}]={}", i,
                      padded[i + 1], i, block[i]));
  }
  Sizes result = padded;
  result[0] *= all;
  for (size_t i = 0; i < block.size(); ++i) result[i + 1] /= block[i];
  checked_elements(result);
  Tensor& out = c.output(0, Shape(std::span<const int64_t>(result)));
  Tensor space = c.temp(in.dtype(), Shape(std::span<const int64_t>(padded)));
  Mover(in.dtype()).zero(space, 0, space.num_elements());
  Box to = Box::whole(space);
  for (size_t i = 0; i < block.size(); ++i) to.offset += edges.before[i] * to.strides[i + 1];
  copy_box(c, in.shape().dims(), Box::whole(in), to);
  const int m = static_cast<int>(block.size());
  Sizes seen = {padded[0]};
  std::vector<int> perm, tail = {0};
  for (int i = 0; i < m; ++i) {
    seen.push_back(padded[static_cast<size_t>(i + 1)] / block[static_cast<size_t>(i)]);
    seen.push_back(block[static_cast<size_t>(i)]);
    perm.push_back(2 * i + 2);
    tail.push_back(2 * i + 1);
  }
  for (int i = m + 1; i < in.rank(); ++i) {
    seen.push_back(in.dim(i));
    tail.push_back(m + i);
  }
  perm.insert(perm.end(), tail.begin(), tail.end());
  transpose_elements(c, space.reshaped(Shape(std::span<const int64_t>(seen))), perm, out);
}

// The way back: [b1, b2, …, n, s1, …, rest] to [n, s1, b1, …, rest], then the edges are cut off.
void batch_to_space(KernelContext& c, const Sizes& block, const Edges& edges) {
  const Tensor& in = c.input(0);
  const int64_t all = checked_block(block, in);
  if (all == 0 || in.dim(0) % all != 0)
    throw invalid_argument(
        fmt::format("Input batch dimension ({}) is not divisible by product of "
                    "block sizes ({})",
                    in.dim(0), all));
  const int m = static_cast<int>(block.size());
  Sizes seen(block), whole = {in.dim(0) / all}, result = whole;
  seen.push_back(in.dim(0) / all);
  std::vector<int> perm = {m};
  for (int i = 0; i < m; ++i) {
    const auto u = static_cast<size_t>(i);
    seen.push_back(in.dim(i + 1));
    perm.push_back(m + 1 + i);
    perm.push_back(i);
    whole.push_back(in.dim(i + 1) * block[u]);
    result.push_back(whole.back() - edges.before[u] - edges.after[u]);
    if (result.back() < 0)
      throw invalid_argument(
          fmt::format("cropped_shape[{}]={} must be non-negative", i, result.back()));
  }
  for (int i = m + 1; i < in.rank(); ++i) {
    seen.push_back(in.dim(i));
    perm.push_back(m + i);
    whole.push_back(in.dim(i));
    result.push_back(in.dim(i));
  }
  Tensor& out = c.output(0, Shape(std::span<const int64_t>(result)));
  const Tensor space = turned(c, in, seen, perm).reshaped(Shape(std::span<const int64_t>(whole)));
  Box from = Box::whole(space);
  for (size_t i = 0; i < block.size(); ++i) from.offset += edges.before[i] * from.strides[i + 1];
  copy_box(c, result, from, Box::whole(out));
}

void space_to_batch_nd(KernelContext& c) {
  const Sizes block = int_values(c.input(1));
  space_to_batch(c, block, edges_of(c.input(2), block.size()));
}
void batch_to_space_nd(KernelContext& c) {
  const Sizes block = int_values(c.input(1));
  batch_to_space(c, block, edges_of(c.input(2), block.size()));
}

template <void (*F)(KernelContext&, const Sizes&, const Edges&)>
struct Flat {
  int64_t size;
  void operator()(KernelContext& c) const {
    if (c.input(0).rank() != 4)
      throw invalid_argument("input must be a 4-D tensor, got " + c.input(0).shape().str());
    F(c, {size, size}, edges_of(c.input(1), 2));
  }
};
Prepared make_stb(const KernelInit& i) {
  return prepared(Flat<space_to_batch>{i.attr<int64_t>("block_size")});
}
Prepared make_bts(const KernelInit& i) {
  return prepared(Flat<batch_to_space>{i.attr<int64_t>("block_size")});
}

// Images [n, h, w, c] or [n, c, h, w]; blocks of b x b pixels become b*b channels.
struct Depth {
  int64_t b;
  bool to_depth, last;  // channels last?
  void operator()(KernelContext& c) const {
    const Tensor& in = c.input(0);
    if (in.rank() != 4)
      throw invalid_argument("Input rank should be 4 instead of " + std::to_string(in.rank()));
    const int64_t n = in.dim(0), h = in.dim(last ? 1 : 2), w = in.dim(last ? 2 : 3),
                  d = in.dim(last ? 3 : 1);
    checked_elements(std::array{std::max({h, w, d}), b, b});
    if (to_depth ? h % b || w % b : d % (b * b))
      throw invalid_argument(
          to_depth ? fmt::format("Image width {} and height {} should be divisible by block_size: {}",
                                 w, h, b)
                   : fmt::format("Input depth dimension {} should be divisible by: {}", d, b * b));
    if (to_depth) {
      const Sizes seen = last ? Sizes{n, h / b, b, w / b, b, d} : Sizes{n, d, h / b, b, w / b, b};
      const std::vector<int> perm =
          last ? std::vector<int>{0, 1, 3, 2, 4, 5} : std::vector<int>{0, 3, 5, 1, 2, 4};
      Tensor& out =
          c.output(0, last ? Shape{n, h / b, w / b, d * b * b} : Shape{n, d * b * b, h / b, w / b});
      transpose_elements(c, in.reshaped(Shape(std::span<const int64_t>(seen))), perm, out);
    } else {
      const int64_t k = d / (b * b);
      const Sizes seen = last ? Sizes{n, h, w, b, b, k} : Sizes{n, b, b, k, h, w};
      const std::vector<int> perm =
          last ? std::vector<int>{0, 1, 3, 2, 4, 5} : std::vector<int>{0, 3, 4, 1, 5, 2};
      Tensor& out = c.output(0, last ? Shape{n, h * b, w * b, k} : Shape{n, k, h * b, w * b});
      transpose_elements(c, in.reshaped(Shape(std::span<const int64_t>(seen))), perm, out);
    }
  }
};
Prepared make_depth(const KernelInit& i) {
  const auto& format = i.attr<std::string>("data_format");
  if (format == "NCHW_VECT_C") throw unimplemented("NCHW_VECT_C is not supported on CPUs");
  const int64_t block = i.attr<int64_t>("block_size");
  if (block > 46'340)  // its square is an int32
    throw invalid_argument(fmt::format("Attr block_size has value {} out of range", block));
  return prepared(
      Depth{block, i.op->name == "SpaceToDepth", format == "NHWC"});
}

// Slice i of the data goes to the output that partitions[i] names.
void dynamic_partition(KernelContext& c) {
  const Tensor &data = c.input(0), &partitions = c.input(1);
  bool fits = partitions.rank() <= data.rank();
  for (int i = 0; i < partitions.rank() && fits; ++i) fits = data.dim(i) == partitions.dim(i);
  if (!fits)
    throw invalid_argument(
        fmt::format("data.shape must start with partitions.shape, got data.shape "
                    "= {}, partitions.shape = {}",
                    data.shape().str(), partitions.shape().str()));
  Sizes counts(static_cast<size_t>(c.num_outputs()), 0);
  const auto n = static_cast<size_t>(partitions.num_elements());
  for (const size_t i : paced(n)) {
    const int32_t p = partitions.data<int32_t>()[i];
    if (p < 0 || p >= c.num_outputs())
      throw invalid_argument(
          fmt::format("partitions{} = {} is not in [0, {})",
                      position_text(partitions.shape(), partitions.rank(), static_cast<int64_t>(i)),
                      p, c.num_outputs()));
    ++counts[static_cast<size_t>(p)];
  }
  std::vector<Tensor*> outs;
  int64_t inner = 1;
  for (int i = partitions.rank(); i < data.rank(); ++i) inner *= data.dim(i);
  for (int k = 0; k < c.num_outputs(); ++k) {
    Shape shape{counts[static_cast<size_t>(k)]};
    for (int i = partitions.rank(); i < data.rank(); ++i) shape.push_back(data.dim(i));
    outs.push_back(&c.output(k, shape));
  }
  const Mover mover(data.dtype());
  Sizes next(counts.size(), 0);
  for (const int64_t i : paced(partitions.num_elements())) {
    const auto p = static_cast<size_t>(partitions.data<int32_t>()[i]);
    mover.copy(*outs[p], next[p]++ * inner, data, i * inner, inner);
  }
}

void dynamic_stitch(KernelContext& c) {
  const int n = c.num_inputs() / 2;
  int64_t size = 0;
  Shape tail = Shape::unknown();
  for (int k = 0; k < n; ++k) {
    const Tensor &indices = c.input(k), &data = c.input(n + k);
    bool fits = indices.rank() <= data.rank();
    for (int i = 0; i < indices.rank() && fits; ++i) fits = data.dim(i) == indices.dim(i);
    if (!fits)
      throw invalid_argument(
          fmt::format("data[{0}].shape = {1} does not start with indices[{0}].shape "
                      "= {2}",
                      k, data.shape().str(), indices.shape().str()));
    const Shape own(data.shape().dims().subspan(static_cast<size_t>(indices.rank())));
    if (tail.has_rank() && !(tail == own))
      throw invalid_argument("Need data[0].shape and the others' to agree behind the indices");
    tail = own;
    const auto rows = static_cast<size_t>(indices.num_elements());
    for (int32_t i : std::span(indices.data<int32_t>(), rows)) {
      if (i < 0) throw invalid_argument(fmt::format("indices[{}] = {} is out of range", k, i));
      size = std::max(size, int64_t{i} + 1);
    }
  }
  Shape shape = tail;
  shape.insert(0, size);
  checked_elements(shape.dims());
  Tensor& out = c.output(0, shape);
  const Mover mover(out.dtype());
  mover.zero(out, 0, out.num_elements());  // where no index points
  const int64_t inner = size ? out.num_elements() / size : 0;
  for (int k = 0; k < n; ++k)
    for (const int64_t i : paced(c.input(k).num_elements()))
      mover.copy(out, c.input(k).data<int32_t>()[i] * inner, c.input(n + k), i * inner, inner);
}

}  // namespace

std::vector<KernelRow> blocks_kernels() {
  return {row("SpaceToBatchND", stateless<space_to_batch_nd>),
          row("SpaceToBatch", make_stb),
          row("BatchToSpaceND", stateless<batch_to_space_nd>),
          row("BatchToSpace", make_bts),
          row("SpaceToDepth", make_depth),
          row("DepthToSpace", make_depth),
          row("DynamicPartition", stateless<dynamic_partition>),
          row("DynamicStitch", stateless<dynamic_stitch>),
          row("ParallelDynamicStitch", stateless<dynamic_stitch>)};
}

}  // namespace emplace::cpu
