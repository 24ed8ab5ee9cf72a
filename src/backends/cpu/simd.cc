#include "backends/cpu/simd.h"

#include "base/cpu_isa.h"

namespace emplace::cpu {

bool has_avx2() { return cpu_isa() >= CpuIsa::kAvx2; }

}  // namespace emplace::cpu
