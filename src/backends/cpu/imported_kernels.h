#pragma once
#include <vector>

#include "kernel/kernel.h"

// Families that models from elsewhere bring along.
namespace emplace::cpu {

std::vector<KernelRow> fft_kernels();
std::vector<KernelRow> ragged_kernels();
std::vector<KernelRow> ragged_variant_kernels();
std::vector<KernelRow> quantize_kernels();
std::vector<KernelRow> scale_translate_kernels();
std::vector<KernelRow> picture_kernels();
std::vector<KernelRow> picture_file_kernels();
std::vector<KernelRow> sound_kernels();
std::vector<KernelRow> cross_kernels();
std::vector<KernelRow> distorted_box_kernels();
std::vector<KernelRow> layout_map_kernels();
std::vector<KernelRow> sequence_kernels();
std::vector<KernelRow> ctc_kernels();
std::vector<KernelRow> ctc_beam_kernels();
std::vector<KernelRow> glimpse_kernels();
std::vector<KernelRow> quantized_kernels();
std::vector<KernelRow> isotonic_kernels();

}  // namespace emplace::cpu
