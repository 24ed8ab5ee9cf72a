// Chains of elementwise operations give the bits that the operations give one by one.
#include "all/session_fixture.h"

namespace emplace {
namespace {

class FusedChainTest : public testing::SessionFixture {
 protected:
  static Tensor numbers(int64_t n, float from) {
    Tensor t(DType::kFloat, Shape{n});
    for (int64_t i = 0; i < n; ++i)
      t.data<float>()[i] = from + static_cast<float>(i % 1001) * 0.37f;
    return t;
  }
  Output op(const char* type, std::vector<Output> inputs) { return {graph.add(type, inputs), 0}; }
};

TEST_F(FusedChainTest, MeetsWhatTheOperationsGiveOneByOne) {
  for (int64_t n : {int64_t{70'000}, int64_t{16} * 4096, int64_t{3} << 20}) {
    const Output x = placeholder(DType::kFloat, Shape{n}, "x"),
                 y = placeholder(DType::kFloat, Shape{n}, "y");
    const Output product = op("Mul", {x, y}), sum = op("AddV2", {product, x});
    const Output half = op("Mul", {sum, constant(0.5f)}), less = op("Sub", {half, y});
    const Output top = op("Maximum", {less, x}), twice = op("AddV2", {top, product});
    const Tensor a = numbers(n, -9), b = numbers(n, 3);
    auto s = session();
    const Tensor got = s->run(twice, {{x, a}, {y, b}});
    bool same = true;
    for (int64_t i = 0; i < n; ++i) {
      const float p = a.data<float>()[i], q = b.data<float>()[i], m = p * q;
      const float sum_ = m + p, half_ = sum_ * 0.5f, less_ = half_ - q;
      same = same && got.data<float>()[i] == std::max(less_, p) + m;
    }
    EXPECT_TRUE(same) << n;
  }
}

TEST_F(FusedChainTest, AFedTensorKeepsItsValues) {
  const int64_t n = 100'000;
  const Output x = placeholder(DType::kFloat, Shape{n}, "x");
  const Output y = op("Neg", {op("Square", {op("Abs", {x})})});
  const Tensor a = numbers(n, -5), before = a.copy();
  auto s = session();
  for (int i = 0; i < 3; ++i) s->run(y, {{x, a}});
  EXPECT_EQ(std::memcmp(a.raw(), before.raw(), a.bytes()), 0);
}

TEST_F(FusedChainTest, OtherTypesAlongTheWay) {
  const int64_t n = 100'003;
  const Output x = placeholder(DType::kFloat, Shape{n}, "x");
  const Output above = op("Greater", {x, constant(0.f)});
  const Output y = op("SelectV2", {above, op("Sqrt", {op("Abs", {x})}), op("Neg", {x})});
  const Tensor a = numbers(n, -50);
  auto s = session();
  const Tensor got = s->run(y, {{x, a}});
  for (int64_t i = 0; i < n; i += 997) {
    const float v = a.data<float>()[i];
    EXPECT_FLOAT_EQ(got.data<float>()[i], v > 0 ? std::sqrt(v) : -v);
  }
}

}  // namespace
}  // namespace emplace
