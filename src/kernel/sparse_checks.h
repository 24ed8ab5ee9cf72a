#pragma once
#include <span>
#include <vector>

#include "emplace/tensor.h"

namespace emplace {

// What kernels of sparse tensors ask of their inputs, on every device.

// Throws InvalidArgument unless these are a matrix, and vectors that fit it.
void check_sparse(const Tensor& indices, const Tensor& values, const Tensor& shape);
// How many elements the dense tensor would have; InvalidArgument if more than can be counted.
int64_t checked_size(std::span<const int64_t> dims);
// The sizes that SparseReshape gives; -1 at one place of `to`: what is left.
std::vector<int64_t> reshaped_sizes(const std::vector<int64_t>& from, std::vector<int64_t> to);
// The sizes of SparseSlice's result.
std::vector<int64_t> sliced_sizes(const std::vector<int64_t>& dims, const std::vector<int64_t>& start,
                                  const std::vector<int64_t>& size);
// … of SparseConcat's. Sets `axis` to a dimension counted from the front.
std::vector<int64_t> joined_sizes(const std::vector<std::vector<int64_t>>& parts, int64_t& axis);

}  // namespace emplace
