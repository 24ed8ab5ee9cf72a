#pragma once
#include <string_view>
#include <vector>

#include "kernel/kernel.h"

namespace emplace {

// Lists of tensors: the same on every device, since elements are only moved.
std::vector<KernelRow> list_kernels(std::string_view device_type);

}  // namespace emplace
