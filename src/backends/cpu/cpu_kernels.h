#pragma once
#include <vector>

#include "kernel/kernel.h"

namespace emplace {

// Every kernel of the CPU.
void register_cpu_kernels(KernelRegistry& registry);
// … for joined work ("_Fused…" rows), which no graph names.
void register_cpu_fusion(KernelRegistry& registry);

namespace cpu {
std::vector<KernelRow> unary_kernels();
std::vector<KernelRow> unary_math_kernels();
std::vector<KernelRow> special_kernels();
std::vector<KernelRow> activation_kernels();
std::vector<KernelRow> complex_kernels();
std::vector<KernelRow> cast_kernels();
std::vector<KernelRow> binary_kernels();
std::vector<KernelRow> integer_kernels();
std::vector<KernelRow> compare_kernels();
std::vector<KernelRow> select_kernels();
std::vector<KernelRow> basic_kernels();
std::vector<KernelRow> transpose_kernels();
std::vector<KernelRow> reduction_kernels();
std::vector<KernelRow> matmul_kernels();
std::vector<KernelRow> update_kernels();
std::vector<KernelRow> random_kernels();
std::vector<KernelRow> shape_kernels();
std::vector<KernelRow> join_kernels();
std::vector<KernelRow> blocks_kernels();
std::vector<KernelRow> order_kernels();
std::vector<KernelRow> segment_kernels();
std::vector<KernelRow> scan_kernels();
std::vector<KernelRow> diag_kernels();
std::vector<KernelRow> spread_kernels();
std::vector<KernelRow> arrange_kernels();
std::vector<KernelRow> scatter_kernels();
std::vector<KernelRow> gather_kernels();
std::vector<KernelRow> slice_kernels();
std::vector<KernelRow> flow_kernels();
}  // namespace cpu

}  // namespace emplace
