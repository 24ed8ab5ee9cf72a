#include <gtest/gtest.h>

#include "backends/cpu/cpu_testutil.h"

namespace emplace::cpu {
namespace {

// TensorFlow refuses it in new graphs, so there is nobody to ask.
TEST(BatchNormWithGlobalNormalization, SubtractsScalesAndShifts) {
  const Tensor in = Tensor::of({1.f, 2.f, 3.f, 4.f}, {1, 1, 2, 2}),
               mean = Tensor::of({1.f, 2.f}, {2}), variance = Tensor::of({3.f, 0.f}, {2}),
               beta = Tensor::of({10.f, 20.f}, {2}), gamma = Tensor::of({4.f, 5.f}, {2});
  const auto run = [&](bool scale) {
    return kernels().run1("BatchNormWithGlobalNormalization", {in, mean, variance, beta, gamma},
                          {{"variance_epsilon", 1.f}, {"scale_after_normalization", scale}});
  };
  const Tensor scaled = run(true), plain = run(false);
  const float want[] = {10, 20, 14, 30}, unscaled[] = {10, 20, 11, 22};
  for (int i = 0; i < 4; ++i) {
    EXPECT_FLOAT_EQ(scaled.data<float>()[i], want[i]);
    EXPECT_FLOAT_EQ(plain.data<float>()[i], unscaled[i]);
  }
}

}  // namespace
}  // namespace emplace::cpu
