#pragma once
#include "kernel/kernel.h"

namespace emplace {

// SerializeSparse and its like, for CPUs.
void register_sparse_message_kernels(KernelRegistry& registry);

}  // namespace emplace
