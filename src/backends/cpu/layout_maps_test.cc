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

// The gradient is what a small change of each input does to the sum of the results, each times its gradient.
TEST(BatchNormWithGlobalNormalization, CarriesGradientsBack) {
  const Tensor grad = Tensor::of({1.f, -2.f, 0.5f, 3.f}, {1, 1, 2, 2});
  const std::vector<Tensor> at = {
      Tensor::of({1.f, 2.f, 3.f, 5.f}, {1, 1, 2, 2}), Tensor::of({0.5f, 2.5f}, {2}),
      Tensor::of({3.f, 0.5f}, {2}), Tensor::of({10.f, 20.f}, {2}), Tensor::of({4.f, 5.f}, {2})};
  for (const bool scale : {true, false}) {
    const AttrList how = {{"variance_epsilon", 1.f}, {"scale_after_normalization", scale}};
    const auto back = kernels().run("BatchNormWithGlobalNormalizationGrad",
                                    {at[0], at[1], at[2], at[4], grad}, how);
    ASSERT_EQ(back.size(), 5u);
    for (size_t input = 0; input < 5; ++input)
      for (int64_t i = 0; i < at[input].num_elements(); ++i) {
        double sums[2] = {};
        for (int side = 0; side < 2; ++side) {
          std::vector<Tensor> moved;
          for (const Tensor& t : at) moved.push_back(t.copy());
          moved[input].data<float>()[i] += side ? 0.01f : -0.01f;
          const Tensor y = kernels().run1("BatchNormWithGlobalNormalization", moved, how);
          for (int k = 0; k < 4; ++k) sums[side] += y.data<float>()[k] * grad.data<float>()[k];
        }
        EXPECT_NEAR(back[input].data<float>()[i], (sums[1] - sums[0]) / 0.02, 2e-3)
            << "input " << input << " at " << i;
      }
  }
}

}  // namespace
}  // namespace emplace::cpu
