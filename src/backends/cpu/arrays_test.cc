#include <algorithm>
#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "backends/cpu/cpu_kernels.h"
#include "backends/cpu/cpu_testutil.h"

namespace emplace::cpu {
namespace {

using F = std::vector<float>;
using I = std::vector<int32_t>;

Tensor counting(Shape shape) {
  Tensor t(DType::kFloat, std::move(shape));
  for (int64_t i = 0; i < t.num_elements(); ++i) t.data<float>()[i] = static_cast<float>(i % 97);
  return t;
}

// By the definition, element by element.
float at(const Tensor& t, std::vector<int64_t> index) {
  int64_t offset = 0;
  for (size_t i = 0; i < index.size(); ++i) offset = offset * t.dim(static_cast<int>(i)) + index[i];
  return t.data<float>()[offset];
}

TEST(Reduction, SumsOverAnyDimensions) {
  const Tensor x = counting({3, 5, 4, 2});
  for (int mask = 0; mask < 16; ++mask) {
    std::vector<int32_t> axes;
    for (int d = 0; d < 4; ++d)
      if (mask >> d & 1) axes.push_back(d);
    const Tensor r = op("Sum", {x, Tensor::vector<int32_t>(axes)}, {{"keep_dims", true}});
    Tensor want(DType::kFloat, r.shape());
    std::fill_n(want.data<float>(), want.num_elements(), 0.f);
    for (int a = 0; a < 3; ++a)
      for (int b = 0; b < 5; ++b)
        for (int c = 0; c < 4; ++c)
          for (int d = 0; d < 2; ++d) {
            const int64_t i[] = {mask & 1 ? 0 : a, mask & 2 ? 0 : b, mask & 4 ? 0 : c,
                                 mask & 8 ? 0 : d};
            const auto& s = r.shape();
            want.data<float>()[((i[0] * s[1] + i[1]) * s[2] + i[2]) * s[3] + i[3]] +=
                at(x, {a, b, c, d});
          }
    EXPECT_EQ(list<float>(r), list<float>(want)) << mask;
  }
}

TEST(Reduction, LargeSumsAreExactWhereFloatsCanBe) {
  const Tensor ones = op("OnesLike", {Tensor(DType::kFloat, {1 << 22})});
  EXPECT_EQ(op("Sum", {ones, ints({0})}).item<float>(), float(1 << 22));
  const Tensor wide = op("OnesLike", {Tensor(DType::kFloat, {1 << 18, 9})});
  EXPECT_EQ(list<float>(op("Sum", {wide, ints({0})})), F(9, float(1 << 18)));
}

TEST(Reduction, BitsDoNotDependOnTheNumberOfThreads) {
  KernelRegistry registry;
  register_cpu_kernels(registry);
  TestKernels alone(registry, 0), many(registry, 7);
  Tensor x(DType::kFloat, {300'000, 3});
  for (int64_t i = 0; i < x.num_elements(); ++i) x.data<float>()[i] = 1.f / (1 + i % 1013);
  for (const Tensor& axes : {ints({0}), ints({0, 1}), ints({1})})
    EXPECT_EQ(list<float>(alone.run1("Sum", {x, axes})), list<float>(many.run1("Sum", {x, axes})));
}

TEST(Reduction, EmptyOnesGiveTheNeutralElement) {
  const Tensor none(DType::kFloat, {0, 2});
  EXPECT_EQ(list<float>(op("Sum", {none, ints({0})})), (F{0, 0}));
  EXPECT_EQ(list<float>(op("Prod", {none, ints({0})})), (F{1, 1}));
  const float inf = std::numeric_limits<float>::infinity();
  EXPECT_EQ(list<float>(op("Max", {none, ints({0})})), (F{-inf, -inf}));
  EXPECT_EQ(list<float>(op("Min", {none, ints({0})})), (F{inf, inf}));
  EXPECT_TRUE(std::isnan(list<float>(op("Mean", {none, ints({0})}))[0]));
}

TEST(Reduction, MeansOfWholeNumbersAreCutOff) {
  EXPECT_EQ(op("Mean", {ints({1, 2, 4}), ints({0})}).item<int32_t>(), 2);
  EXPECT_EQ(op("Mean", {ints({-1, -2, -4}), ints({0})}).item<int32_t>(), -2);
}

TEST(Reduction, RefusesDimensionsThatAreNotThere) {
  EXPECT_THROW(op("Sum", {floats({1}), ints({1})}), Error);
  EXPECT_THROW(op("Sum", {floats({1}), ints({0, 0})}), Error);
}

TEST(Transpose, EveryOrderOfFourDimensions) {
  const Tensor x = counting({3, 17, 4, 19});
  std::vector<int> p = {0, 1, 2, 3};
  do {
    const Tensor r = op("Transpose", {x, ints({p[0], p[1], p[2], p[3]})});
    int64_t i[4];
    for (i[0] = 0; i[0] < r.dim(0); ++i[0])
      for (i[1] = 0; i[1] < r.dim(1); ++i[1])
        for (i[2] = 0; i[2] < r.dim(2); ++i[2])
          for (i[3] = 0; i[3] < r.dim(3); ++i[3]) {
            std::vector<int64_t> from(4);
            for (int d = 0; d < 4; ++d) from[static_cast<size_t>(p[static_cast<size_t>(d)])] = i[d];
            ASSERT_EQ(at(r, {i[0], i[1], i[2], i[3]}), at(x, from));
          }
  } while (std::next_permutation(p.begin(), p.end()));
}

TEST(Transpose, RefusesWhatIsNoPermutation) {
  EXPECT_THROW(op("Transpose", {counting({2, 2}), ints({0, 0})}), Error);
  EXPECT_THROW(op("Transpose", {counting({2, 2}), ints({0})}), Error);
  EXPECT_THROW(op("Transpose", {counting({2, 2}), ints({0, 2})}), Error);
}

TEST(Join, ConcatAndSplitUndoEachOther) {
  const Tensor x = counting({2, 6, 3});
  auto parts = kernels().run("Split", {Tensor::scalar<int32_t>(1), x}, {{"num_split", 3}});
  ASSERT_EQ(parts.size(), 3u);
  EXPECT_EQ(parts[1].shape(), Shape({2, 2, 3}));
  parts.push_back(Tensor::scalar<int32_t>(-2));
  EXPECT_EQ(list<float>(op("ConcatV2", parts, {{"N", 3}})), list<float>(x));
}

TEST(Join, ConcatRefusesOtherShapes) {
  EXPECT_THROW(op("ConcatV2", {counting({2, 2}), counting({2, 3}), Tensor::scalar<int32_t>(0)},
                  {{"N", 2}}), Error);
}

TEST(Shape, ReshapeInfersOneSize) {
  EXPECT_EQ(op("Reshape", {counting({2, 6}), ints({3, -1})}).shape(), Shape({3, 4}));
  EXPECT_THROW(op("Reshape", {counting({2, 6}), ints({5, -1})}), Error);
  EXPECT_THROW(op("Reshape", {counting({2, 6}), ints({-1, -1})}), Error);
  EXPECT_THROW(op("Reshape", {counting({2, 6}), ints({-2, 3})}), Error);
}

TEST(Shape, FillRefusesNegativeAndEnormousSizes) {
  EXPECT_THROW(op("Fill", {ints({-1}), Tensor::scalar(1.f)}), Error);
  EXPECT_THROW(op("Fill", {ints({1 << 30, 1 << 30, 1 << 30}), Tensor::scalar(1.f)}), Error);
  EXPECT_EQ(list<float>(op("Fill", {ints({2}), Tensor::scalar(3.f)})), (F{3, 3}));
}

TEST(MatMul, AllTransposesAndSizes) {
  for (int64_t size : {1, 3, 17, 70}) {
    const Tensor a = counting({size, size + 1}), b = counting({size + 1, size + 2});
    for (int t = 0; t < 4; ++t) {
      const bool ta = t & 1, tb = t & 2;
      const Tensor x = ta ? op("Transpose", {a, ints({1, 0})}) : a;
      const Tensor y = tb ? op("Transpose", {b, ints({1, 0})}) : b;
      const Tensor r = op("MatMul", {x, y}, {{"transpose_a", ta}, {"transpose_b", tb}});
      for (int64_t i = 0; i < size; ++i)
        for (int64_t j = 0; j < size + 2; ++j) {
          double want = 0;
          for (int64_t k = 0; k < size + 1; ++k) want += double(at(a, {i, k})) * at(b, {k, j});
          ASSERT_NEAR(at(r, {i, j}), want, 1e-5 * (1 + want));
        }
    }
  }
}

TEST(MatMul, NoInnerDimensionGivesZeros) {
  const Tensor r = op("MatMul", {Tensor(DType::kFloat, {2, 0}), Tensor(DType::kFloat, {0, 3})});
  EXPECT_EQ(list<float>(r), F(6, 0.f));
}

TEST(State, VariablesAreAssignedAddedToAndRead) {
  const AttrList attrs = {{"dtype", DType::kFloat}, {"shape", Shape{2}}};
  const Tensor handle = kernels().run("VarHandleOp", {}, attrs, "w")[0];
  const AttrList dtype = {{"dtype", DType::kFloat}};
  EXPECT_THROW(kernels().run("ReadVariableOp", {handle}, dtype), Error);
  kernels().run("AssignVariableOp", {handle, floats({1, 2})});
  kernels().run("AssignAddVariableOp", {handle, floats({10, 20})});
  kernels().run("AssignSubVariableOp", {handle, floats({1, 1})});
  EXPECT_EQ(list<float>(op("ReadVariableOp", {handle}, dtype)), (F{10, 21}));
  EXPECT_THROW(kernels().run("AssignAddVariableOp", {handle, floats({1})}), Error);
}

TEST(Random, StreamsGoOnAndSeedsRepeat) {
  const AttrList a = {{"seed", 1}, {"seed2", 2}, {"dtype", DType::kFloat}};
  const F first = list<float>(kernels().run("RandomUniform", {ints({4})}, a, "r")[0]);
  const F next = list<float>(kernels().run("RandomUniform", {ints({4})}, a, "r")[0]);
  const F other = list<float>(kernels().run("RandomUniform", {ints({4})}, a, "s")[0]);
  EXPECT_NE(first, next);
  EXPECT_EQ(first, other);
  for (float v : first) EXPECT_TRUE(v >= 0 && v < 1);
}

TEST(Output, AssertFailsWithItsData) {
  kernels().run("Assert", {Tensor::scalar(true), floats({1})});
  try {
    kernels().run("Assert", {Tensor::scalar(false), ints({1, 2, 3, 4}), Tensor::string("x")});
    FAIL();
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), Code::kInvalidArgument);
    EXPECT_EQ(e.message(), "assertion failed: [1 2 3...] [x]");
  }
}

}  // namespace
}  // namespace emplace::cpu
