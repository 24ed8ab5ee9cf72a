#pragma once
#include <vector>

#include "kernel/kernel.h"

namespace emplace::cuda {

// The card's kernels, a list a family.
std::vector<KernelRow> elementwise_kernels();
std::vector<KernelRow> fused_kernels();
std::vector<KernelRow> reduce_kernels();
std::vector<KernelRow> matmul_kernels();
std::vector<KernelRow> arrange_kernels();
std::vector<KernelRow> index_kernels();
std::vector<KernelRow> rearrange_kernels();
std::vector<KernelRow> place_kernels();
std::vector<KernelRow> image_kernels();
std::vector<KernelRow> order_kernels();
std::vector<KernelRow> dynamic_kernels();
std::vector<KernelRow> random_kernels();
std::vector<KernelRow> training_kernels();
std::vector<KernelRow> conv_kernels();
std::vector<KernelRow> pool_kernels();
std::vector<KernelRow> batch_norm_kernels();

}  // namespace emplace::cuda
