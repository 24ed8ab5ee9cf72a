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
std::vector<KernelRow> special_kernels();
std::vector<KernelRow> matrix_kernels();
std::vector<KernelRow> volume_kernels();
std::vector<KernelRow> crop_kernels();
std::vector<KernelRow> conv3d_kernels();
std::vector<KernelRow> piece_kernels();
std::vector<KernelRow> einsum_kernels();
std::vector<KernelRow> draw_kernels();
std::vector<KernelRow> sparse_kernels();
std::vector<KernelRow> fft_kernels();
std::vector<KernelRow> join_kernels();
std::vector<KernelRow> quantize_kernels();
std::vector<KernelRow> box_kernels();
std::vector<KernelRow> layout_map_kernels();
std::vector<KernelRow> recurrent_kernels();
std::vector<KernelRow> sparse_place_kernels();

}  // namespace emplace::cuda
