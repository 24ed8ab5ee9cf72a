#pragma once
#include <optional>
#include <string_view>

namespace emplace {

// Sets of instructions for which there are loops of their own. Each has those before it.
enum class CpuIsa {
  kBase,    // what the build assumes; up to SSE4 where a library looks for it
  kAvx2,    // with FMA and F16C
  kAvx512,  // F and DQ
};

// What EMPLACE_MAX_CPU_ISA says, if it is one of the words below: for libraries with loops of their own.
std::optional<CpuIsa> max_cpu_isa();
// What this machine has, held back to that. The same for the whole process.
CpuIsa cpu_isa();

// "SSE4", "AVX2", "AVX512".
std::optional<CpuIsa> parse_cpu_isa(std::string_view text);

}  // namespace emplace
