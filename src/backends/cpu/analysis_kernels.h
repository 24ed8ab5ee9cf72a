#pragma once
#include <vector>

#include "kernel/kernel.h"

namespace emplace::cpu {

std::vector<KernelRow> integral_kernels();
std::vector<KernelRow> sparse_segment_kernels();

}  // namespace emplace::cpu
