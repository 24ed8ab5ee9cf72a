#pragma once
#include <vector>

#include "kernel/kernel.h"

namespace emplace::cpu {

std::vector<KernelRow> inverse_kernels();
std::vector<KernelRow> triangular_kernels();
std::vector<KernelRow> qr_kernels();
std::vector<KernelRow> svd_kernels();
std::vector<KernelRow> eigenvalue_kernels();
std::vector<KernelRow> matrix_function_kernels();
std::vector<KernelRow> tridiagonal_kernels();

}  // namespace emplace::cpu
