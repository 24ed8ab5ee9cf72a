#pragma once
#include <string_view>
#include <vector>

#include "kernel/kernel.h"

namespace emplace {

// Stacks and tensor arrays. They live as long as a handle to them does, which is one step: a handle
// of whatever version (resource, string, reference) is a scalar DT_RESOURCE tensor in its slot. The
// same on every device.
std::vector<KernelRow> step_array_kernels(std::string_view device_type);
// … of which these are the stacks.
std::vector<KernelRow> stack_kernels(std::string_view device_type);

}  // namespace emplace
