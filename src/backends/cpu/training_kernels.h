#pragma once
#include <vector>

#include "kernel/kernel.h"

namespace emplace::cpu {

std::vector<KernelRow> nets_kernels();
std::vector<KernelRow> optimizer_kernels();
std::vector<KernelRow> more_optimizer_kernels();
std::vector<KernelRow> candidate_kernels();
std::vector<KernelRow> scatter_variable_kernels();

}  // namespace emplace::cpu
