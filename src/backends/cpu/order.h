#pragma once
#include <vector>

#include "kernel/kernel.h"

// The parts of order_kernels() that have files of their own.
namespace emplace::cpu {

std::vector<KernelRow> top_k_kernels();
std::vector<KernelRow> unique_kernels();

}  // namespace emplace::cpu
