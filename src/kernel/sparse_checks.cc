#include "kernel/sparse_checks.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <limits>

#include "emplace/error.h"

namespace emplace {

void check_sparse(const Tensor& indices, const Tensor& values, const Tensor& shape) {
  if (indices.rank() != 2)
    throw invalid_argument("Input indices should be a matrix but received shape " +
                           indices.shape().str());
  if (values.rank() != 1)
    throw invalid_argument("Input values should be a vector but received shape " +
                           values.shape().str());
  if (shape.rank() != 1)
    throw invalid_argument("Input shape should be a vector but received shape " +
                           shape.shape().str());
  if (indices.dim(0) != values.dim(0))
    throw invalid_argument(
        fmt::format("Number of values must match first dimension of indices. Got "
                    "{} values, indices shape: {}",
                    values.dim(0), indices.shape().str()));
  if (indices.dim(1) != shape.dim(0))
    throw invalid_argument(
        fmt::format("Number of dimensions must match second dimension of indices. "
                    "Got {} dimensions, indices shape: {}",
                    shape.dim(0), indices.shape().str()));
}

int64_t checked_size(std::span<const int64_t> dims) {
  int64_t n = 1;
  for (int64_t d : dims)
    if (__builtin_mul_overflow(n, d, &n))
      throw invalid_argument(
          fmt::format("Shape would have more than 2**63 - 1 elements: [{}]", fmt::join(dims, ",")));
  return n;
}

std::vector<int64_t> reshaped_sizes(const std::vector<int64_t>& from, std::vector<int64_t> to) {
  for (int64_t d : from)
    if (d < 0) throw invalid_argument("Input shape must not have negative dimensions");
  const int64_t size = checked_size(from);
  int64_t known = 1, open = -1;
  for (size_t i = 0; i < to.size(); ++i) {
    if (to[i] == -1) {
      if (open >= 0) throw invalid_argument("only one output dimension may be -1");
      open = static_cast<int64_t>(i);
    } else {
      if (to[i] < 0)
        throw invalid_argument(fmt::format("size {} must be non-negative, not {}", i, to[i]));
      if (__builtin_mul_overflow(known, to[i], &known))
        throw invalid_argument("the new shape has too many elements");
    }
  }
  if (open >= 0) {
    if (known == 0 ? size != 0 : size % known != 0)
      throw invalid_argument(
          fmt::format("Input to reshape is a SparseTensor with {} dense values, but "
                      "the requested shape requires a multiple of {}",
                      size, known));
    to[static_cast<size_t>(open)] = known == 0 ? 0 : size / known;
  } else if (known != size) {
    throw invalid_argument(
        fmt::format("Input to reshape is a tensor with {} dense values, but the "
                    "requested shape has {}",
                    size, known));
  }
  return to;
}

std::vector<int64_t> sliced_sizes(const std::vector<int64_t>& dims, const std::vector<int64_t>& start,
                                  const std::vector<int64_t>& size) {
  const auto check_length = [&](const char* what, size_t length) {
    if (length != dims.size())
      throw invalid_argument(fmt::format(
          "Expected {} to be a vector of length {} but got length {}", what, dims.size(), length));
  };
  check_length("start", start.size());
  check_length("size", size.size());
  std::vector<int64_t> sizes;
  for (size_t d = 0; d < dims.size(); ++d) {
    if (start[d] < 0 || size[d] < 0 || start[d] > std::numeric_limits<int64_t>::max() - size[d])
      throw invalid_argument("start and size must not be negative");
    sizes.push_back(std::clamp<int64_t>(dims[d] - start[d], 0, size[d]));
  }
  return sizes;
}

std::vector<int64_t> joined_sizes(const std::vector<std::vector<int64_t>>& parts, int64_t& axis) {
  std::vector<int64_t> dims = parts[0];
  const auto rank = static_cast<int64_t>(dims.size());
  if (axis < -rank || axis >= rank)
    throw invalid_argument(
        fmt::format("Concat dimension must be in range [{}, {}), got {}", -rank, rank, axis));
  if (axis < 0) axis += rank;
  const auto at = static_cast<size_t>(axis);
  dims[at] = 0;
  for (size_t p = 0; p < parts.size(); ++p) {
    const auto& part = parts[p];
    if (part.size() != dims.size())
      throw invalid_argument(fmt::format(
          "Ranks of all input tensors must match: expected {} but got {} at position {}",
          dims.size(), part.size(), p));
    for (size_t d = 0; d < dims.size(); ++d)
      if (d != at && part[d] != dims[d])
        throw invalid_argument(fmt::format(
            "Input shapes must match: expected {} for dimension {} but got {} at position {}",
            dims[d], d, part[d], p));
    dims[at] += part[at];
  }
  return dims;
}

}  // namespace emplace
