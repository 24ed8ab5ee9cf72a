#include "backends/cpu/elementwise.h"

#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "backends/cpu/cpu_testutil.h"

namespace emplace::cpu {
namespace {

const float kNan = std::numeric_limits<float>::quiet_NaN();
const float kInf = std::numeric_limits<float>::infinity();

using F = std::vector<float>;
using I = std::vector<int32_t>;

TEST(Elementwise, AddsTensorsOfOneShape) {
  EXPECT_EQ(list<float>(op("AddV2", {floats({1, 2}), floats({3, 4})})), (F{4, 6}));
}

TEST(Elementwise, BroadcastsScalarsRowsAndColumns) {
  const Tensor m = tensor<float>({1, 2, 3, 4, 5, 6}, {2, 3});
  EXPECT_EQ(list<float>(op("Sub", {m, Tensor::scalar(1.f)})), (F{0, 1, 2, 3, 4, 5}));
  EXPECT_EQ(list<float>(op("Sub", {Tensor::scalar(1.f), m})), (F{0, -1, -2, -3, -4, -5}));
  EXPECT_EQ(list<float>(op("Sub", {m, floats({1, 2, 3})})), (F{0, 0, 0, 3, 3, 3}));
  EXPECT_EQ(list<float>(op("Sub", {m, tensor<float>({1, 2}, {2, 1})})), (F{0, 1, 2, 2, 3, 4}));
  const Tensor outer = op("Mul", {tensor<float>({1, 2}, {2, 1}), floats({3, 4})});
  EXPECT_EQ(outer.shape(), Shape({2, 2}));
  EXPECT_EQ(list<float>(outer), (F{3, 4, 6, 8}));
}

TEST(Elementwise, BroadcastsAlternatingDimensions) {
  const Tensor a = tensor<int32_t>({1, 2, 3, 4}, {2, 1, 2, 1});
  const Tensor b = tensor<int32_t>({10, 20, 30, 40}, {1, 2, 1, 2});
  EXPECT_EQ(list<int32_t>(op("AddV2", {a, b})),
            (I{11, 21, 12, 22, 31, 41, 32, 42, 13, 23, 14, 24, 33, 43, 34, 44}));
}

TEST(Elementwise, EmptyTensorsBroadcastToEmptyOnes) {
  const Tensor r = op("AddV2", {Tensor(DType::kFloat, {0, 3}), floats({1, 2, 3})});
  EXPECT_EQ(r.shape(), Shape({0, 3}));
  // Nothing of an empty operand is read, also where it is spread over the other's dimension.
  const Tensor none = op("AddV2", {Tensor(DType::kFloat, {0}), Tensor(DType::kFloat, {0, 1})});
  EXPECT_EQ(none.shape(), Shape({0, 0}));
}

TEST(Elementwise, RefusesShapesThatDoNotMeet) {
  try {
    op("AddV2", {floats({1, 2}), floats({1, 2, 3})});
    FAIL();
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), Code::kInvalidArgument);
    EXPECT_EQ(e.message(), "Incompatible shapes: [2] vs. [3]");
  }
}

TEST(Elementwise, LargeTensorsAreSharedOutAndRight) {
  Tensor a(DType::kFloat, {1 << 20}), b(DType::kFloat, {1 << 20});
  for (int i = 0; i < 1 << 20; ++i) a.data<float>()[i] = i, b.data<float>()[i] = 2 * i;
  const Tensor r = op("AddV2", {a, b});
  for (int i = 0; i < 1 << 20; ++i) ASSERT_EQ(r.data<float>()[i], 3 * i);
}

TEST(Elementwise, NanWinsInMaximumAndMinimum) {
  for (const char* name : {"Maximum", "Minimum"}) {
    const F r = list<float>(op(name, {floats({kNan, 1, 2}), floats({1, kNan, 2})}));
    EXPECT_TRUE(std::isnan(r[0]) && std::isnan(r[1]) && r[2] == 2) << name;
  }
}

TEST(Elementwise, WholeNumbersWrapRound) {
  EXPECT_EQ(list<int32_t>(op("AddV2", {ints({INT32_MAX}), ints({1})})), (I{INT32_MIN}));
  EXPECT_EQ(list<int32_t>(op("Mul", {ints({INT32_MIN}), ints({-1})})), (I{INT32_MIN}));
  EXPECT_EQ(list<int32_t>(op("Neg", {ints({INT32_MIN})})), (I{INT32_MIN}));
  EXPECT_EQ(list<int32_t>(op("FloorDiv", {ints({INT32_MIN}), ints({-1})})), (I{INT32_MIN}));
}

TEST(Elementwise, QuotientsAndRemaindersFollowTheirSigns) {
  const Tensor a = ints({-7, 7, -7}), b = ints({2, -2, -2});
  EXPECT_EQ(list<int32_t>(op("FloorDiv", {a, b})), (I{-4, -4, 3}));
  EXPECT_EQ(list<int32_t>(op("FloorMod", {a, b})), (I{1, -1, -1}));
  EXPECT_EQ(list<int32_t>(op("Div", {a, b})), (I{-3, -3, 3}));
  EXPECT_EQ(list<int32_t>(op("TruncateMod", {a, b})), (I{-1, 1, -1}));
}

TEST(Elementwise, DividingWholeNumbersByZeroIsAnError) {
  EXPECT_THROW(op("FloorDiv", {ints({1}), ints({0})}), Error);
  EXPECT_THROW(op("Mod", {ints({1}), ints({0})}), Error);
  EXPECT_THROW(op("Pow", {ints({2}), ints({-1})}), Error);
  EXPECT_EQ(op("RealDiv", {floats({1}), floats({0})}).item<float>(), kInf);
}

TEST(Elementwise, FunctionsAreRightAtTheEdgesToo) {
  const Tensor x = floats({-kInf, -1000, -1, 0, 0.5, 1, 1000, kInf, kNan, -0.25, 100, 3});
  auto check = [&](const char* name, float (*f)(float)) {
    const F r = list<float>(op(name, {x}));
    for (size_t i = 0; i < r.size(); ++i) {
      const float want = f(x.data<float>()[i]);
      if (std::isnan(want)) EXPECT_TRUE(std::isnan(r[i])) << name << " " << i;
      else if (std::isinf(want)) EXPECT_EQ(r[i], want) << name << " " << i;
      else EXPECT_NEAR(r[i], want, 1e-6 * (1 + std::abs(want))) << name << " " << i;
    }
  };
  check("Exp", std::exp);
  check("Expm1", std::expm1);
  check("Log", std::log);
  check("Log1p", std::log1p);
  check("Sin", std::sin);
  check("Cos", std::cos);
  check("Tan", std::tan);
  check("Asin", std::asin);
  check("Acos", std::acos);
  check("Atan", std::atan);
  check("Sinh", std::sinh);
  check("Cosh", std::cosh);
  check("Tanh", std::tanh);
  check("Asinh", std::asinh);
  check("Acosh", std::acosh);
  check("Atanh", std::atanh);
  check("Erf", std::erf);
  check("Sigmoid", [](float v) { return 1 / (1 + std::exp(-v)); });
  check("Sqrt", std::sqrt);
  check("Rint", std::nearbyint);
}

TEST(Elementwise, SmallFloatsComputeThroughFloat) {
  Tensor h(DType::kHalf, {2});
  h.data<Half>()[0] = Half(1.5f);
  h.data<Half>()[1] = Half(-2.0f);
  const Tensor r = op("Mul", {h, h});
  EXPECT_EQ(static_cast<float>(r.data<Half>()[0]), 2.25f);
  EXPECT_EQ(static_cast<float>(r.data<Half>()[1]), 4.0f);
}

TEST(Elementwise, CastsAsX86Does) {
  const AttrList to_int = {{"DstT", DType::kInt32}}, to_byte = {{"DstT", DType::kUint8}};
  EXPECT_EQ(list<int32_t>(op("Cast", {floats({kNan, kInf, 3e9f, -1.5f})}, to_int)),
            (I{INT32_MIN, INT32_MIN, INT32_MIN, -1}));
  EXPECT_EQ(list<uint8_t>(op("Cast", {floats({-1, 256, 300, 3.7f})}, to_byte)),
            (std::vector<uint8_t>{255, 0, 44, 3}));
}

TEST(Elementwise, SelectTakesScalarsVectorsAndWholeConditions) {
  const Tensor a = tensor<float>({1, 2, 3, 4}, {2, 2}), b = tensor<float>({5, 6, 7, 8}, {2, 2});
  EXPECT_EQ(list<float>(op("Select", {tensor<bool>({true, false}, {2}), a, b})), (F{1, 2, 7, 8}));
  EXPECT_EQ(list<float>(op("Select", {Tensor::scalar(false), a, b})), (F{5, 6, 7, 8}));
  EXPECT_EQ(list<float>(op("SelectV2", {tensor<bool>({true, false}, {2}), a, b})), (F{1, 6, 3, 8}));
}

TEST(Elementwise, StringsAreJoinedAndCompared) {
  const Tensor a = tensor<std::string>({"a", "b"}, {2});
  const Tensor r = op("Add", {a, Tensor::string("x")});
  EXPECT_EQ(list<std::string>(r), (std::vector<std::string>{"ax", "bx"}));
  EXPECT_EQ(list<bool>(op("Equal", {a, Tensor::string("b")})), (std::vector<bool>{false, true}));
}

TEST(Elementwise, ComplexNumbersMultiply) {
  const Complex64 a(1, 2), b(3, -1);
  EXPECT_EQ(op("Mul", {Tensor::scalar(a), Tensor::scalar(b)}).item<Complex64>(), Complex64(5, 5));
}

TEST(Elementwise, SumsOfManyTensors) {
  EXPECT_EQ(list<float>(op("AddN", {floats({1}), floats({2}), floats({3})})), (F{6}));
  EXPECT_THROW(op("AddN", {floats({1}), floats({2, 3})}), Error);
}

}  // namespace
}  // namespace emplace::cpu
