#pragma once
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kernel/kernel.h"

namespace emplace {

// What a GPU can run: one row for each set of dtypes that TensorFlow has a GPU kernel for. Drives
// virtual GPUs and placing without a card.
struct GpuRow {
  std::string op;
  std::vector<TypeConstraint> types;
  std::vector<std::string> host_args;
};

// Reads one line "op | attr: dtypes; … | arguments in host memory".
GpuRow parse_gpu_row(std::string_view line);
const std::vector<GpuRow>& gpu_table();

// A GPU's kernels: those of `type` in `kernels` where the table allows them, with the table's host
// arguments. A virtual GPU's are the CPU's.
std::vector<KernelRow> gpu_rows(const KernelRegistry& kernels, std::string_view type);

// The table's text, in files of their own (made by tools/gpu_table).
std::span<const std::string_view> gpu_lines_a_to_d();
std::span<const std::string_view> gpu_lines_e_to_o();
std::span<const std::string_view> gpu_lines_p_to_r();
std::span<const std::string_view> gpu_lines_s_to_z();

}  // namespace emplace
