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
  const CostContext a{small, std::span(small, 1), types, attrs};
  const CostContext b{large, std::span(large, 1), types, attrs};
  EXPECT_EQ(cost_rules::cheap(a), cost_rules::cheap(b));
  EXPECT_LT(cost_rules::elementwise(a), cost_rules::elementwise(b));
  EXPECT_LT(cost_rules::elementwise(b), cost_rules::transcendental(b));
  EXPECT_LT(100 * cost_rules::matmul(a), cost_rules::matmul(b));
}

}  // namespace
}  // namespace emplace
