#pragma once
#include "kernel/kernel.h"

namespace emplace {

// SerializeSparse and its like, for CPUs.
void register_sparse_message_kernels(KernelRegistry& registry);

// A sparse tensor as SerializeSparse with variants gives it: a vector of three.
Tensor sparse_as_variants(const Tensor& indices, const Tensor& values,
                          const std::vector<int64_t>& shape);

}  // namespace emplace
