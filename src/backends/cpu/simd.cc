#include "backends/cpu/simd.h"

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace emplace::cpu {
namespace {

#if defined(__x86_64__)
// Conversions of 16-bit floats; clang's __builtin_cpu_supports has no word for them.
bool has_f16c() {
  unsigned a = 0, b = 0, c = 0, d = 0;
  return __get_cpuid(1, &a, &b, &c, &d) != 0 && (c & bit_F16C) != 0;
}
#endif

}  // namespace

bool has_avx2() {
#if defined(__x86_64__)
  static const bool yes =
      __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && has_f16c();
  return yes;
#else
  return false;
#endif
}

}  // namespace emplace::cpu
