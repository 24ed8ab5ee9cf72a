#include "base/cpu_isa.h"

#include <algorithm>
#include <cstdlib>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace emplace {
namespace {

#if defined(__x86_64__)
// Conversions of 16-bit floats; clang's __builtin_cpu_supports has no word for them.
bool has_f16c() {
  unsigned a = 0, b = 0, c = 0, d = 0;
  return __get_cpuid(1, &a, &b, &c, &d) != 0 && (c & bit_F16C) != 0;
}

CpuIsa found() {
  if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma") || !has_f16c())
    return CpuIsa::kBase;
  const bool wide = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq");
  return wide ? CpuIsa::kAvx512 : CpuIsa::kAvx2;
}
#else
CpuIsa found() { return CpuIsa::kBase; }
#endif

}  // namespace

std::optional<CpuIsa> max_cpu_isa() {
  static const char* const text = std::getenv("EMPLACE_MAX_CPU_ISA");
  static const std::optional<CpuIsa> most = parse_cpu_isa(text ? text : "");
  return most;
}

CpuIsa cpu_isa() {
  static const CpuIsa isa = std::min(found(), max_cpu_isa().value_or(CpuIsa::kAvx512));
  return isa;
}

std::optional<CpuIsa> parse_cpu_isa(std::string_view text) {
  if (text == "SSE4") return CpuIsa::kBase;
  if (text == "AVX2") return CpuIsa::kAvx2;
  if (text == "AVX512") return CpuIsa::kAvx512;
  return std::nullopt;
}

}  // namespace emplace
