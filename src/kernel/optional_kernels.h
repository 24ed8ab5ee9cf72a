#pragma once
#include <string_view>
#include <vector>

#include "kernel/kernel.h"

namespace emplace {

// Optionals, and the sums and zeros of variants that gradients need; the same on every device.
std::vector<KernelRow> optional_kernels(std::string_view device_type);

}  // namespace emplace
