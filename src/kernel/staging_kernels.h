#pragma once
#include <string_view>
#include <vector>

#include "kernel/kernel.h"

namespace emplace {

// Kernels whose state lies in the session and that may wait for each other: areas where tensors are
// laid down for later (in order, by key, or under a handle), mutexes, accumulators of gradients.
std::vector<KernelRow> staging_kernels(std::string_view device_type);
std::vector<KernelRow> mutex_kernels(std::string_view device_type);
std::vector<KernelRow> accumulator_kernels(std::string_view device_type);
std::vector<KernelRow> session_tensor_kernels(std::string_view device_type);

}  // namespace emplace
