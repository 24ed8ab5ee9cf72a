#include "stdops/stdops.h"

#include <gtest/gtest.h>

#include "op/shape_context.h"

namespace emplace {
namespace {

const OpRegistry& ops() {
  static const OpRegistry registry = [] {
    OpRegistry r;
    register_all_ops(r);
    return r;
  }();
  return registry;
}

TEST(Stdops, EveryRowParsesAndHasShapeCostAndDoc) {
  for (const OpDef* op : ops().all()) {
    EXPECT_NE(op->shape_rule, nullptr) << op->name;
    EXPECT_NE(op->cost_rule, nullptr) << op->name;
    EXPECT_FALSE(op->doc.empty()) << op->name;
  }
}

Shape shape_of(const char* op, AttrList attrs, std::vector<ShapeContext::Input> inputs) {
  std::vector<DType> types;
  for (auto& i : inputs) types.push_back(i.dtype);
  const OpDef& def = ops().get(op);
  attrs = complete_attrs(def, types, std::move(attrs));
  ShapeContext c(def, attrs, inputs, static_cast<int>(output_types(def, attrs).size()));
  def.shape_rule(c);
  return c.output(0);
}

ShapeContext::Input input(Shape s, const Tensor* value = nullptr) {
  ShapeContext::Input in;
  in.shape = std::move(s);
  in.dtype = value ? value->dtype() : DType::kFloat;
  in.value = value;
  return in;
}

// Its kernel takes arguments of as many elements, [] and [1] too, and gives the first one's shape.
TEST(Stdops, AGradientOfOneArgumentHasTheShapeOfTheFirst) {
  EXPECT_EQ(shape_of("RsqrtGrad", {}, {input(Shape::unknown()), input({1})}), Shape::unknown());
  EXPECT_EQ(shape_of("RsqrtGrad", {}, {input({}), input({1})}), Shape{});
}

TEST(Stdops, ReshapeRefusesSizesBeyondCounting) {
  constexpr int64_t kHuge = int64_t{1} << 40;
  const Tensor to = Tensor::of<int32_t>({3, 4}, {2}), open = Tensor::of<int64_t>({kHuge, kHuge, -1}, {3});
  EXPECT_THROW(shape_of("Reshape", {}, {input({-1, kHuge, kHuge}), input({2}, &to)}), Error);
  EXPECT_THROW(shape_of("Reshape", {{"Tshape", DType::kInt64}}, {input({2, 6}), input({3}, &open)}), Error);
}

TEST(Stdops, ReshapeFillsTheOpenSize) {
  const Tensor to = Tensor::of<int32_t>({3, -1}, {2});
  EXPECT_EQ(shape_of("Reshape", {}, {input({2, 6}), input({2}, &to)}), Shape({3, 4}));
  EXPECT_EQ(shape_of("Reshape", {}, {input({-1, 6}), input({2}, &to)}), Shape({3, -1}));
}

TEST(Stdops, ReshapeRefusesAnotherNumberOfElements) {
  const Tensor to = Tensor::of<int32_t>({3, 5}, {2});
  EXPECT_THROW(shape_of("Reshape", {}, {input({2, 6}), input({2}, &to)}), Error);
}

TEST(Stdops, ConcatAddsUpItsAxisAndMergesTheOthers) {
  const Tensor axis = Tensor::scalar<int32_t>(-1);
  EXPECT_EQ(shape_of("ConcatV2", {{"N", 2}}, {input({-1, 2}), input({4, 3}), input({}, &axis)}),
            Shape({4, 5}));
}

TEST(Stdops, SplitVRefusesAnotherNumberOfSizes) {
  const Tensor sizes = Tensor::of<int32_t>({2}, {1}), axis = Tensor::scalar<int32_t>(0);
  EXPECT_THROW(shape_of("SplitV", {{"num_split", 3}},
                        {input({6}), input({1}, &sizes), input({}, &axis)}),
               Error);
}

// As TensorFlow refuses them; a graph from elsewhere may ask for any number.
TEST(Stdops, SizesBeyondAnInt64AreRefused) {
  constexpr int64_t kLarge = int64_t{1} << 62;
  const Tensor two = Tensor::of<int64_t>({kLarge, kLarge}, {2});
  const Tensor large = Tensor::of<int64_t>({kLarge}, {1});
  const Tensor edges = Tensor::of<int64_t>({kLarge, kLarge}, {1, 2});
  const Tensor no_edges = Tensor::of<int64_t>({0, 0}, {1, 2});
  const Tensor axis = Tensor::scalar<int32_t>(0);
  EXPECT_THROW(shape_of("SplitV", {{"num_split", 2}},
                        {input({6}), input({2}, &two), input({}, &axis)}),
               Error);
  EXPECT_THROW(shape_of("ConcatV2", {{"N", 2}},
                        {input({kLarge}), input({kLarge}), input({}, &axis)}),
               Error);
  EXPECT_THROW(shape_of("Tile", {}, {input({4}), input({1}, &large)}), Error);
  EXPECT_THROW(shape_of("Pad", {}, {input({4}), input({1, 2}, &edges)}), Error);
  EXPECT_THROW(shape_of("SpaceToBatchND", {},
                        {input({4, 6}), input({1}, &large), input({1, 2}, &no_edges)}),
               Error);
  EXPECT_THROW(shape_of("BatchToSpaceND", {},
                        {input({kLarge, 6}), input({1}, &large), input({1, 2}, &no_edges)}),
               Error);
}

TEST(Stdops, TransposeKnowsTheRankFromThePermutation) {
  const Tensor perm = Tensor::of<int32_t>({2, 0, 1}, {3});
  EXPECT_EQ(shape_of("Transpose", {}, {input({1, 2, 3}), input({3}, &perm)}), Shape({3, 1, 2}));
  EXPECT_EQ(shape_of("Transpose", {}, {input(Shape::unknown()), input({3}, &perm)}),
            Shape({-1, -1, -1}));
}

TEST(Stdops, SelectTakesAVectorOverRows) {
  auto condition = input({4});
  condition.dtype = DType::kBool;
  EXPECT_EQ(shape_of("Select", {}, {condition, input({4, 2}), input({-1, 2})}), Shape({4, 2}));
  EXPECT_THROW(shape_of("Select", {}, {condition, input({3, 2}), input({3, 2})}), Error);
}

}  // namespace
}  // namespace emplace
