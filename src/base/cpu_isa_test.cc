#include "base/cpu_isa.h"

#include <gtest/gtest.h>

#include <cstdlib>

namespace emplace {
namespace {

TEST(CpuIsa, NamesAreThoseOfTheVariable) {
  EXPECT_EQ(parse_cpu_isa("SSE4"), CpuIsa::kBase);
  EXPECT_EQ(parse_cpu_isa("AVX2"), CpuIsa::kAvx2);
  EXPECT_EQ(parse_cpu_isa("AVX512"), CpuIsa::kAvx512);
  for (const char* other : {"", "avx2", "SSE2"}) EXPECT_FALSE(parse_cpu_isa(other)) << other;
}

TEST(CpuIsa, IsHeldBackByTheVariable) {
  const char* before = std::getenv("EMPLACE_MAX_CPU_ISA");
  const auto ends_with = [](const char* most, CpuIsa isa) {
    setenv("EMPLACE_MAX_CPU_ISA", most, 1);
    std::exit(cpu_isa() <= isa ? 0 : 1);
  };
  // In processes of their own: the first call decides.
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(ends_with("SSE4", CpuIsa::kBase), testing::ExitedWithCode(0), "");
  EXPECT_EXIT(ends_with("AVX2", CpuIsa::kAvx2), testing::ExitedWithCode(0), "");
  if (!before) EXPECT_EXIT(ends_with("nonsense", CpuIsa::kAvx512), testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace emplace
