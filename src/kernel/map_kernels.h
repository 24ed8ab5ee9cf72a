#pragma once
#include <string_view>
#include <vector>

#include "kernel/kernel.h"

namespace emplace {

// Maps from tensors to tensors.
std::vector<KernelRow> map_kernels(std::string_view device_type);

}  // namespace emplace
