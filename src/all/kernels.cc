#include <algorithm>

#include "backends/cpu/cpu_kernels.h"
#include "kernel/gpu_table.h"
#include "session/runtime.h"

namespace emplace {

std::vector<std::string> op_devices(std::string_view name) {
  std::vector<std::string> types;
  for (const KernelRow& row : kernel_table().rows(name))
    if (std::find(types.begin(), types.end(), row.device_type) == types.end())
      types.push_back(row.device_type);
  return types;
}

const KernelRegistry& kernel_table() {
  static const KernelRegistry* const kernels = [] {
    auto* r = new KernelRegistry;
    register_cpu_kernels(*r);
    // Virtual GPUs run the CPU's kernels, as far as a real GPU has them.
    for (KernelRow& row : gpu_rows(*r)) r->add(std::move(row));
    return r;
  }();
  return *kernels;
}

}  // namespace emplace
