#pragma once
#include <vector>

#include "kernel/kernel.h"

namespace emplace::cuda {

std::vector<KernelRow> box_kernels();

}  // namespace emplace::cuda
