#include "backends/cpu/cpu_testutil.h"

#include "backends/cpu/cpu_kernels.h"

namespace emplace::cpu {

TestKernels& kernels() {
  static const KernelRegistry registry = [] {
    KernelRegistry r;
    register_cpu_kernels(r);
    return r;
  }();
  static TestKernels all(registry, 2);
  return all;
}

}  // namespace emplace::cpu
