#pragma once
#include <vector>

#include "kernel/kernel.h"

namespace emplace::cpu {

std::vector<KernelRow> convolution_kernels();
std::vector<KernelRow> pooling_kernels();
std::vector<KernelRow> pooling_gradient_kernels();
std::vector<KernelRow> normalization_kernels();
std::vector<KernelRow> resize_kernels();
std::vector<KernelRow> crop_kernels();
std::vector<KernelRow> color_kernels();
std::vector<KernelRow> patch_kernels();
std::vector<KernelRow> box_kernels();
std::vector<KernelRow> fractional_pooling_kernels();
std::vector<KernelRow> recurrent_kernels();

}  // namespace emplace::cpu
