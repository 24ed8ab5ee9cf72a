#pragma once
#include <vector>

#include "kernel/kernel.h"

namespace emplace {

// Tables of keys and values; those that are filled from files are in format/.
std::vector<KernelRow> lookup_kernels(std::string_view device_type);

}  // namespace emplace
