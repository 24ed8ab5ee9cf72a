// Convolutions of channels that stay apart, beside sums by the definition.
#include <gtest/gtest.h>

#include "backends/cpu/cpu_testutil.h"

namespace emplace::cpu {
namespace {

struct Case {
  int64_t channels, times, size, width, stride, dilation;
  bool same;
};

Tensor numbers(const Shape& shape) {
  Tensor t(DType::kFloat, shape);
  for (int64_t i = 0; i < t.num_elements(); ++i)
    t.data<float>()[i] = static_cast<float>(i * 7 % 13) - 6;
  return t;
}

Tensor slowly(const Tensor& x, const Tensor& w, const Case& k, const Shape& shape) {
  Tensor y(DType::kFloat, shape);
  const int64_t reach = (k.size - 1) * k.dilation + 1, out = k.channels * k.times;
  const auto before = [&](int64_t in, int64_t count) {
    return k.same ? std::max<int64_t>(0, (count - 1) * k.stride + reach - in) / 2 : 0;
  };
  const int64_t top = before(x.dim(1), shape[1]), left = before(x.dim(2), shape[2]);
  for (int64_t r = 0; r < shape[1]; ++r)
    for (int64_t p = 0; p < shape[2]; ++p)
      for (int64_t o = 0; o < out; ++o) {
        float sum = 0;
        for (int64_t i = 0; i < k.size; ++i)
          for (int64_t j = 0; j < k.size; ++j) {
            const int64_t h = r * k.stride - top + i * k.dilation;
            const int64_t v = p * k.stride - left + j * k.dilation;
            if (h < 0 || h >= x.dim(1) || v < 0 || v >= x.dim(2)) continue;
            sum += x.data<float>()[(h * x.dim(2) + v) * k.channels + o / k.times] *
                   w.data<float>()[(i * k.size + j) * out + o];
          }
        y.data<float>()[(r * shape[2] + p) * out + o] = sum;
      }
  return y;
}

TEST(DepthwiseConvolution, IsWhatTheDefinitionSays) {
  const Case cases[] = {{3, 1, 3, 40, 1, 1, true},  {3, 2, 3, 40, 1, 1, false},
                        {3, 1, 11, 41, 1, 1, false}, {16, 1, 3, 9, 1, 1, true},
                        {20, 1, 3, 17, 1, 2, true}, {5, 3, 2, 33, 2, 1, true},
                        {64, 1, 3, 7, 1, 1, true},  {1, 1, 3, 100, 1, 1, true},
                        {3, 1, 5, 4, 1, 1, true},   {7, 1, 3, 30, 1, 12, true}};
  for (const Case& k : cases) {
    const Tensor x = numbers({1, k.width / 2 + 11, k.width, k.channels});
    const Tensor w = numbers({k.size, k.size, k.channels, k.times});
    const std::vector<int64_t> strides{1, k.stride, k.stride, 1};
    const std::vector<int64_t> dilations{1, k.dilation, k.dilation, 1};
    const Tensor y = op("DepthwiseConv2dNative", {x, w},
                        {{"strides", strides},
                         {"dilations", dilations},
                         {"padding", k.same ? "SAME" : "VALID"}});
    // Whole numbers, and few enough of them to be exact.
    EXPECT_EQ(list<float>(y), list<float>(slowly(x, w, k, y.shape()))) << k.channels << " " << k.size;
  }
}

}  // namespace
}  // namespace emplace::cpu
