#pragma once
#include <vector>

#include "kernel/kernel.h"

namespace emplace::cpu {

std::vector<KernelRow> einsum_kernels();
std::vector<KernelRow> distribution_kernels();
std::vector<KernelRow> more_random_kernels();
std::vector<KernelRow> normal_between_kernels();
std::vector<KernelRow> sobol_kernels();
std::vector<KernelRow> bessel_kernels();
std::vector<KernelRow> misc_kernels();
std::vector<KernelRow> collective_kernels();

}  // namespace emplace::cpu
