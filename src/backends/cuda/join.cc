// Joining and splitting: rectangles of bytes, which the card copies by itself.
#include <fmt/format.h>

#include "backends/cuda/kernels.h"
#include "backends/cuda/launch.h"

namespace emplace::cuda {
namespace {

std::vector<int64_t> dims_of(const Shape& s) { return {s.dims().begin(), s.dims().end()}; }

void copy_rectangle(Gpu& gpu, void* to, size_t to_pitch, const void* from, size_t from_pitch,
                    size_t width, size_t rows) {
  if (width == 0 || rows == 0) return;
  check(cudaMemcpy2DAsync(to, to_pitch, from, from_pitch, width, rows, cudaMemcpyDeviceToDevice,
                          gpu.stream()),
        "copying");
}

int64_t axis_of(int64_t axis, int rank, const char* what) {
  if (axis < -rank || axis >= rank)
    throw invalid_argument(fmt::format("{}: Expected concatenating dimensions in the range [{}, "
                                       "{}), but got {}", what, -rank, rank, axis));
  return axis < 0 ? axis + rank : axis;
}

struct Concat {
  bool axis_first;
  void operator()(KernelContext& c) const {
    const int n = c.num_inputs() - 1, first = axis_first ? 1 : 0;
    const Tensor& x0 = c.input(first);
    const int64_t axis =
        axis_of(host_ints(c.input(axis_first ? 0 : n)).at(0), x0.rank(), "ConcatOp");
    std::vector<int64_t> dims = dims_of(x0.shape());
    int64_t total = 0, outer = 1, inner = static_cast<int64_t>(dtype_size(x0.dtype()));
    for (int i = 0; i < n; ++i) {
      const Tensor& x = c.input(first + i);
      bool fits = x.rank() == x0.rank();
      for (int d = 0; fits && d < x.rank(); ++d) fits = d == axis || x.dim(d) == x0.dim(d);
      if (!fits)
        throw invalid_argument(fmt::format(
            "ConcatOp : Dimension {} in both shapes must be equal: shape[0] = {} vs. shape[{}] = "
            "{}", axis, x0.shape().str(), i, x.shape().str()));
      total += x.dim(static_cast<int>(axis));
    }
    for (int d = 0; d < x0.rank(); ++d) (d < axis ? outer : inner) *= d == axis ? 1 : x0.dim(d);
    dims[static_cast<size_t>(axis)] = total;
    Tensor& out = c.output(0, Shape(dims));
    const auto pitch = static_cast<size_t>(total * inner);
    size_t at = 0;
    for (int i = 0; i < n; ++i) {
      const Tensor& x = c.input(first + i);
      const auto width = static_cast<size_t>(x.dim(static_cast<int>(axis)) * inner);
      copy_rectangle(gpu_of(c.device()), out.data<char>() + at, pitch, x.raw(), width, width,
                     static_cast<size_t>(outer));
      at += width;
    }
  }
};
Prepared make_concat(const KernelInit& init) {
  return prepared(Concat{init.op->name == "Concat"});
}

void pack(KernelContext& c, int64_t axis) {
  const Tensor& x0 = c.input(0);
  axis = axis_of(axis, x0.rank() + 1, "Pack");
  std::vector<int64_t> dims = dims_of(x0.shape());
  dims.insert(dims.begin() + axis, c.num_inputs());
  size_t outer = 1, inner = dtype_size(x0.dtype());
  for (int d = 0; d < x0.rank(); ++d) (d < axis ? outer : inner) *= static_cast<size_t>(x0.dim(d));
  Tensor& out = c.output(0, Shape(dims));
  const auto n = static_cast<size_t>(c.num_inputs());
  for (size_t i = 0; i < n; ++i) {
    const Tensor& x = c.input(static_cast<int>(i));
    if (!(x.shape() == x0.shape()))
      throw invalid_argument(fmt::format(
          "Shapes of all inputs must match: values[0].shape = {} != values[{}].shape = {}",
          x0.shape().str(), i, x.shape().str()));
    copy_rectangle(gpu_of(c.device()), out.data<char>() + i * inner, n * inner, x.raw(), inner,
                   inner, outer);
  }
}
struct Pack {
  int64_t axis;
  void operator()(KernelContext& c) const { pack(c, axis); }
};
// Inputs of one row each.
void parallel_concat(KernelContext& c) {
  const Tensor& first = c.input(0);
  if (first.rank() < 1 || first.dim(0) != 1)
    throw invalid_argument("the inputs of ParallelConcat must have 1 row each");
  Shape shape = first.shape();
  shape.set_dim(0, c.num_inputs());
  Tensor& out = c.output(0, shape);
  for (int i = 0; i < c.num_inputs(); ++i) {
    if (!(c.input(i).shape() == first.shape()))
      throw invalid_argument("the inputs of ParallelConcat must have one shape");
    const size_t bytes = first.bytes();
    copy_rectangle(gpu_of(c.device()), out.data<char>() + static_cast<size_t>(i) * bytes, bytes,
                   c.input(i).raw(), bytes, bytes, 1);
  }
}
Prepared make_pack(const KernelInit& init) { return prepared(Pack{init.attr<int64_t>("axis")}); }

// Cuts `x` along `axis` into outputs of the given sizes; `drop`: the axis goes.
void cut(KernelContext& c, const Tensor& x, int64_t axis, std::span<const int64_t> sizes,
         bool drop) {
  size_t outer = 1, inner = dtype_size(x.dtype());
  for (int d = 0; d < x.rank(); ++d)
    (d < axis ? outer : inner) *= d == axis ? 1 : static_cast<size_t>(x.dim(d));
  const size_t pitch = static_cast<size_t>(x.dim(static_cast<int>(axis))) * inner;
  size_t at = 0;
  for (int i = 0; i < c.num_outputs(); ++i) {
    std::vector<int64_t> dims = dims_of(x.shape());
    if (drop) dims.erase(dims.begin() + axis);
    else dims[static_cast<size_t>(axis)] = sizes[static_cast<size_t>(i)];
    Tensor& out = c.output(i, Shape(dims));
    const size_t width = static_cast<size_t>(sizes[static_cast<size_t>(i)]) * inner;
    copy_rectangle(gpu_of(c.device()), out.raw(), width, x.data<char>() + at, pitch, width, outer);
    at += width;
  }
}

struct Unpack {
  int64_t axis;
  void operator()(KernelContext& c) const {
    const Tensor& x = c.input(0);
    const int64_t a = axis_of(axis, x.rank(), "Unpack");
    if (x.dim(static_cast<int>(a)) != c.num_outputs())
      throw invalid_argument(fmt::format("Input shape axis {} must equal {}, got shape {}", a,
                                         c.num_outputs(), x.shape().str()));
    cut(c, x, a, std::vector<int64_t>(static_cast<size_t>(c.num_outputs()), 1), true);
  }
};
Prepared make_unpack(const KernelInit& init) {
  return prepared(Unpack{init.attr<int64_t>("axis")});
}

void split(KernelContext& c) {
  const Tensor& x = c.input(1);
  const int64_t axis = axis_of(host_ints(c.input(0)).at(0), x.rank(), "Split");
  const int64_t size = x.dim(static_cast<int>(axis));
  if (size % c.num_outputs())
    throw invalid_argument(fmt::format(
        "Number of ways to split should evenly divide the split dimension, but got split_dim {} "
        "(size = {}) and num_split {}", axis, size, c.num_outputs()));
  cut(c, x, axis,
      std::vector<int64_t>(static_cast<size_t>(c.num_outputs()), size / c.num_outputs()), false);
}

void split_v(KernelContext& c) {
  const Tensor& x = c.input(0);
  auto sizes = host_ints(c.input(1));
  const int64_t axis = axis_of(host_ints(c.input(2)).at(0), x.rank(), "SplitV");
  int64_t rest = x.dim(static_cast<int>(axis)), open = -1;
  for (size_t i = 0; i < sizes.size(); ++i)
    if (sizes[i] == -1) open = static_cast<int64_t>(i);
    else rest -= sizes[i];
  if (open >= 0) sizes[static_cast<size_t>(open)] = rest;
  if (static_cast<int>(sizes.size()) != c.num_outputs() || rest < 0 || (open < 0 && rest != 0))
    throw invalid_argument("size_splits do not add up to the size of the split dimension of " +
                           x.shape().str());
  cut(c, x, axis, sizes, false);
}

}  // namespace

std::vector<KernelRow> join_kernels() {
  return {cuda_row("Concat", make_concat),
          cuda_row("ConcatV2", make_concat),
          cuda_row("Pack", make_pack),
          cuda_row("ParallelConcat", stateless<parallel_concat>),
          cuda_row("Unpack", make_unpack),
          cuda_row("Split", stateless<split>),
          cuda_row("SplitV", stateless<split_v>)};
}

}  // namespace emplace::cuda
