#pragma once
#include <string_view>
#include <vector>

#include "kernel/kernel.h"

namespace emplace {

// Queues, by resource handles and by the references of old graphs.
std::vector<KernelRow> queue_kernels(std::string_view device_type);

}  // namespace emplace
