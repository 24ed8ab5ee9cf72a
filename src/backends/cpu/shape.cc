// Shapes as values, and the same values under another shape.
#include <fmt/format.h>

#include "backends/cpu/cpu_kernels.h"
#include "backends/cpu/move.h"
#include "backends/cpu/rows.h"

namespace emplace::cpu {
namespace {

void put_shape(KernelContext& c, int output, const Shape& shape) {
  Tensor& out = c.output(output, Shape{shape.rank()});
  for (int i = 0; i < shape.rank(); ++i) {
    if (out.dtype() == DType::kInt32 && shape[i] > INT32_MAX)
      throw invalid_argument(fmt::format("Shape output type is 32-bit but dim {} is {}", i, shape[i]));
    put_int(out, i, shape[i]);
  }
}

void shape(KernelContext& c) {
  for (int i = 0; i < c.num_outputs(); ++i) put_shape(c, i, c.input(i).shape());
}

void size(KernelContext& c) {
  const int64_t n = c.input(0).num_elements();
  Tensor& out = c.output(0, Shape{});
  if (out.dtype() == DType::kInt32 && n > INT32_MAX)
    throw invalid_argument(fmt::format("Number of elements was larger than representable by "
                                       "32-bit output type: {}", n));
  put_int(out, 0, n);
}

void rank(KernelContext& c) { put_int(c.output(0, Shape{}), 0, c.input(0).rank()); }

// What -1 stands for where other sizes are 0: what is left when zeros are left out on both sides.
int64_t missing_beside_zeros(const Shape& in, std::vector<int64_t> sizes) {
  std::erase(sizes, 0);
  std::vector<int64_t> dims(in.dims().begin(), in.dims().end());
  std::erase(dims, 0);
  return checked_elements(dims) / checked_elements(sizes);
}

// The sizes asked for, the one that is -1 filled in.
Shape reshaped(const Shape& in, const std::vector<int64_t>& sizes) {
  int open = -1;
  std::vector<int64_t> known = sizes;
  for (size_t i = 0; i < sizes.size(); ++i) {
    if (sizes[i] == -1) {
      if (open >= 0)
        throw invalid_argument(fmt::format("Only one input size may be -1, not both {} and {}",
                                           open, i));
      open = static_cast<int>(i);
      known[i] = 1;
    } else if (sizes[i] < 0) {
      throw invalid_argument(fmt::format("Size {} must be non-negative, not {}", i, sizes[i]));
    }
  }
  const int64_t n = in.num_elements(), rest = checked_elements(known);
  if (open >= 0) {
    known[static_cast<size_t>(open)] = rest == 0 ? missing_beside_zeros(in, known) : n / rest;
    if (rest != 0 && n % rest != 0)
      throw invalid_argument(fmt::format("Input to reshape is a tensor with {} values, but the "
                                         "requested shape requires a multiple of {}", n, rest));
  }
  if ((open < 0 || rest == 0) && rest != n) {
    throw invalid_argument(fmt::format(
        "Input to reshape is a tensor with {} values, but the requested shape has {}", n, rest));
  }
  return Shape(known);
}

void reshape(KernelContext& c) {
  const Tensor &in = c.input(0), &sizes = c.input(1);
  if (sizes.rank() > 1)
    throw invalid_argument("sizes input must be 1-D, not " + sizes.shape().str());
  if (sizes.num_elements() > Shape::kMaxRank)
    throw invalid_argument(fmt::format("Reshape: at most {} dimensions", Shape::kMaxRank));
  c.set_output(0, in.reshaped(reshaped(in.shape(), int_values(sizes))));
}

struct Squeeze {
  std::vector<int64_t> dims;
  void operator()(KernelContext& c) const {
    const Tensor& in = c.input(0);
    std::vector<bool> chosen(static_cast<size_t>(in.rank()), dims.empty());
    for (int64_t d : dims) {
      if (d < -in.rank() || d >= in.rank())
        throw invalid_argument(fmt::format("Tried to squeeze dim index {} for tensor with {} "
                                           "dimensions.", d, in.rank()));
      chosen[static_cast<size_t>(d < 0 ? d + in.rank() : d)] = true;
    }
    Shape out;
    for (int i = 0; i < in.rank(); ++i) {
      const bool drop = chosen[static_cast<size_t>(i)] && in.dim(i) == 1;
      if (!dims.empty() && chosen[static_cast<size_t>(i)] && !drop)
        throw invalid_argument(fmt::format("Can not squeeze dim[{}], expected a dimension of 1, "
                                           "got {}", i, in.dim(i)));
      if (!drop) out.push_back(in.dim(i));
    }
    c.set_output(0, in.reshaped(std::move(out)));
  }
};

Prepared make_squeeze(const KernelInit& init) {
  return prepared(Squeeze{init.attr<std::vector<int64_t>>("squeeze_dims")});
}

void expand_dims(KernelContext& c) {
  const Tensor &in = c.input(0), &dim = c.input(1);
  if (dim.num_elements() != 1)
    throw invalid_argument("'dim' must be a tensor with a single value");
  const int64_t at = int_values(dim)[0];
  if (at < -1 - in.rank() || at > in.rank())
    throw invalid_argument(fmt::format("Tried to expand dim index {} for tensor with {} dimensions.",
                                       at, in.rank()));
  Shape out = in.shape();
  out.insert(static_cast<int>(at < 0 ? at + in.rank() + 1 : at), 1);
  c.set_output(0, in.reshaped(std::move(out)));
}

struct EnsureShape {
  Shape expected;
  void operator()(KernelContext& c) const {
    const Tensor& in = c.input(0);
    if (!expected.compatible_with(in.shape()))
      throw invalid_argument(fmt::format("Shape of tensor {} {} is not compatible with expected "
                                         "shape {}.", c.node(), in.shape().str(), expected.str()));
    c.set_output(0, in);
  }
};

Prepared make_ensure(const KernelInit& init) {
  return prepared(EnsureShape{init.attr<Shape>("shape")});
}

}  // namespace

std::vector<KernelRow> shape_kernels() {
  return {row("Shape", stateless<shape>),
          row("ShapeN", stateless<shape>),
          row("Size", stateless<size>),
          row("Rank", stateless<rank>),
          row("Reshape", stateless<reshape>, {.forwards = true}),
          row("Squeeze", make_squeeze, {.forwards = true}),
          row("ExpandDims", stateless<expand_dims>, {.forwards = true}),
          row("EnsureShape", make_ensure, {.forwards = true})};
}

}  // namespace emplace::cpu
