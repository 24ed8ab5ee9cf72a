#pragma once
#include "kernel/kernel.h"

namespace emplace {

// Examples as bytes, taken apart.
void register_parse_kernels(KernelRegistry& r);

}  // namespace emplace
