#include <gtest/gtest.h>

#include "backends/cpu/cpu_kernels.h"

namespace emplace {
namespace {

TEST(Complex, HasAKernelOnlyWhereTheResultHasTheInputsPrecision) {
  KernelRegistry r;
  register_cpu_kernels(r);
  auto has = [&](DType t, DType out) {
    return r.find("Complex", "CPU", {{"T", t}, {"Tout", out}}) != nullptr;
  };
  EXPECT_TRUE(has(DType::kFloat, DType::kComplex64));
  EXPECT_TRUE(has(DType::kDouble, DType::kComplex128));
  EXPECT_FALSE(has(DType::kDouble, DType::kComplex64));
  EXPECT_FALSE(has(DType::kFloat, DType::kComplex128));
}

}  // namespace
}  // namespace emplace
