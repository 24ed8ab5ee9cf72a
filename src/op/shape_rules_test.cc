#include <gtest/gtest.h>

#include "emplace/error.h"
#include "op/shape_context.h"

namespace emplace {
namespace {

// Runs a rule over inputs and returns output 0.
Shape infer(ShapeRule rule, const OpDef& op, std::vector<ShapeContext::Input> inputs,
            AttrList attrs = {}) {
  ShapeContext c(op, attrs, inputs, 1);
  rule(c);
  return c.output(0);
}

ShapeContext::Input in(Shape s, const Tensor* value = nullptr) {
  return {std::move(s), DType::kFloat, value, nullptr, {}};
}

const OpDef kAny = parse_signature("Any(a: float, b: float) -> (c: float)");

TEST(ShapeRules, MatmulMultipliesAndTransposes) {
  const AttrList plain = {{"transpose_a", false}, {"transpose_b", false}};
  const AttrList both = {{"transpose_a", true}, {"transpose_b", true}};
  EXPECT_EQ(infer(shape_rules::matmul, kAny, {in({2, 3}), in({3, 4})}, plain), Shape({2, 4}));
  EXPECT_EQ(infer(shape_rules::matmul, kAny, {in({3, 2}), in({4, 3})}, both), Shape({2, 4}));
  EXPECT_EQ(infer(shape_rules::matmul, kAny, {in(Shape::unknown()), in({3, 4})}, plain),
            Shape({-1, 4}));
  EXPECT_THROW(infer(shape_rules::matmul, kAny, {in({1, 2}), in({3, 1})}, plain), Error);
}

TEST(ShapeRules, ReductionDropsOrKeepsDimensions) {
  const Tensor axes = Tensor::of<int32_t>({0, -1}, Shape({2}));
  const AttrList drop = {{"keep_dims", false}}, keep = {{"keep_dims", true}};
  EXPECT_EQ(infer(shape_rules::reduction, kAny, {in({2, 3, 4}), in({2}, &axes)}, drop), Shape({3}));
  EXPECT_EQ(infer(shape_rules::reduction, kAny, {in({2, 3, 4}), in({2}, &axes)}, keep),
            Shape({1, 3, 1}));
  EXPECT_EQ(infer(shape_rules::reduction, kAny, {in({2, 3}), in({1})}, keep), Shape({-1, -1}));
  EXPECT_FALSE(infer(shape_rules::reduction, kAny, {in({2, 3}), in({1})}, drop).has_rank());
}

TEST(ShapeRules, ReductionAxisOutOfRange) {
  const Tensor axes = Tensor::of<int32_t>({2}, Shape({1}));
  try {
    infer(shape_rules::reduction, kAny, {in({2, 3}), in({1}, &axes)}, {{"keep_dims", false}});
    FAIL();
  } catch (const Error& e) {
    EXPECT_EQ(e.message(), "Invalid reduction dimension 2 for input with 2 dimensions.");
  }
}

TEST(ShapeRules, MergeAllSpeaksOfTheFirstShape) {
  EXPECT_EQ(infer(shape_rules::merge_all, kAny, {in({2, -1}), in({-1, 3})}), Shape({2, 3}));
  try {
    infer(shape_rules::merge_all, kAny, {in({2, 3}), in({2, 4})});
    FAIL();
  } catch (const Error& e) {
    EXPECT_EQ(e.message(),
              "Dimension 1 in both shapes must be equal, but are 3 and 4. Shapes are [2,3] and "
              "[2,4].\n\tFrom merging shape 0 with other shapes.");
  }
}

TEST(ShapeRules, SimpleOnes) {
  EXPECT_EQ(infer(shape_rules::unchanged, kAny, {in({2, -1})}), Shape({2, -1}));
  EXPECT_EQ(infer(shape_rules::scalar, kAny, {in({2})}), Shape());
  EXPECT_FALSE(infer(shape_rules::unknown, kAny, {in({2})}).has_rank());
  EXPECT_EQ(infer(shape_rules::from_shape_attr, kAny, {}, {{"shape", Shape({7})}}), Shape({7}));
  EXPECT_EQ(infer(shape_rules::broadcast_binary, kAny, {in({2, 1}), in({3})}), Shape({2, 3}));
}

TEST(CostRules, GrowWithTheWork) {
  const Shape small[] = {Shape({8, 8}), Shape({8, 8})}, large[] = {Shape({256, 256}), Shape({256, 256})};
  const DType types[] = {DType::kFloat, DType::kFloat};
  const AttrList attrs;
  const CostContext a{small, std::span(small, 1), types, types, attrs};
  const CostContext b{large, std::span(large, 1), types, types, attrs};
  EXPECT_EQ(cost_rules::cheap(b).bytes, 0);
  EXPECT_EQ(cost_rules::elementwise(a).ops, 64);
  EXPECT_EQ(cost_rules::elementwise(a).bytes, 3 * 64 * 4);
  EXPECT_LT(cost_rules::elementwise(b).ops, cost_rules::transcendental(b).ops);
  EXPECT_EQ(cost_rules::matmul(b).flops, 2.0 * 256 * 256 * 256);
  EXPECT_EQ(cost_rules::moved(b).bytes, 2 * 256 * 256 * 4);
}

TEST(CostRules, TakeTheInnerDimensionOfATransposedProduct) {
  const Shape in[] = {Shape({100, 2}), Shape({100, 3})}, out[] = {Shape({2, 3})};
  const DType types[] = {DType::kFloat, DType::kFloat};
  const AttrList attrs = {{"transpose_a", true}};
  EXPECT_EQ(cost_rules::matmul({in, out, types, types, attrs}).flops, 2 * 6 * 100);
}

TEST(CostRules, CountEveryCombinationOfAnEinsum) {
  const Shape in[] = {Shape({8, 16, 4}), Shape({8, 32, 4})}, out[] = {Shape({8, 16, 32})};
  const DType types[] = {DType::kFloat, DType::kFloat};
  const AttrList attrs = {{"equation", "bqd,bkd->bqk"}};
  EXPECT_EQ(cost_rules::einsum({in, out, types, types, attrs}).flops, 2 * 8 * 16 * 32 * 4);
}

// A table of weights of which some rows are taken is not read whole.
TEST(CostRules, CountOnlyTheRowsThatAreTaken) {
  const Shape in[] = {Shape({100000, 64}), Shape({10})}, out[] = {Shape({10, 64})};
  const DType types[] = {DType::kFloat, DType::kInt32};
  EXPECT_EQ(cost_rules::moved({in, out, types, types, {}}).bytes, 2 * 640 * 4);
}

TEST(CostRules, CountTheVariablesOfAnOptimizer) {
  const Shape n({1000}), one;
  const Shape adam[] = {one, one, one, one, one, one, one, one, one, n};
  DType types[10] = {DType::kResource, DType::kResource, DType::kResource};
  for (int i = 3; i < 10; ++i) types[i] = DType::kFloat;
  EXPECT_EQ(cost_rules::optimizer({adam, {}, types, {}, {}}).bytes, 7 * 1000 * 4);
}

TEST(CostRules, AssumeSomethingOfUnknownShapes) {
  const Shape in[] = {Shape::unknown(), Shape({-1, 10})}, out[] = {Shape({-1, 10})};
  const DType types[] = {DType::kFloat, DType::kFloat};
  const Work w = cost_rules::matmul({in, out, types, types, {}});
  EXPECT_EQ(w.flops, 2 * 320 * CostContext::kAssumedDim);
  EXPECT_GT(w.bytes, 0);
}

}  // namespace
}  // namespace emplace
