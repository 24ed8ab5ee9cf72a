#include "op/shape_context.h"

#include <gtest/gtest.h>

#include "emplace/error.h"

namespace emplace {
namespace {

const OpDef kOp = parse_signature("Op(a: float, b: int32) -> (c: float, d: float)");
const Shape kUnknown = Shape::unknown();

// A rule's view of two inputs.
struct Fixture {
  explicit Fixture(Shape a, Shape b = kUnknown, const Tensor* value = nullptr)
      : inputs{{std::move(a), DType::kFloat, nullptr, nullptr, {}},
               {std::move(b), DType::kInt32, value, nullptr, {}}},
        c(kOp, attrs, inputs, 2) {}
  AttrList attrs;
  ShapeContext::Input inputs[2];
  ShapeContext c;
};

template <class F>
std::string failure(F f) {
  try {
    f();
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), Code::kInvalidArgument);
    return e.message();
  }
  return "no error";
}

TEST(ShapeContext, OutputsStartUnknown) {
  Fixture f(Shape({1}));
  EXPECT_EQ(f.c.num_outputs(), 2);
  EXPECT_FALSE(f.c.output(1).has_rank());
}

TEST(ShapeContext, RankIsCheckedInTensorFlowsWords) {
  Fixture f(Shape({1}));
  EXPECT_EQ(failure([&] { f.c.with_rank(0, 2); }), "Shape must be rank 2 but is rank 1");
  EXPECT_EQ(failure([&] { f.c.with_rank_at_least(0, 2); }),
            "Shape must be at least rank 2 but is rank 1");
  EXPECT_EQ(failure([&] { f.c.with_rank_at_most(0, 0); }),
            "Shape must be at most rank 0 but is rank 1");
  EXPECT_EQ(f.c.with_rank(1, 3), Shape::unknown_dims(3));
  EXPECT_FALSE(f.c.with_rank_at_most(1, 0).has_rank());
}

TEST(ShapeContext, DimensionsMerge) {
  Fixture f(Shape({1}));
  EXPECT_EQ(f.c.merge_dims(-1, 3), 3);
  EXPECT_EQ(f.c.merge_dims(3, -1), 3);
  EXPECT_EQ(failure([&] { f.c.merge_dims(2, 3); }), "Dimensions must be equal, but are 2 and 3");
}

TEST(ShapeContext, ShapesMerge) {
  EXPECT_EQ(ShapeContext::merge(Shape({-1, 3}), Shape({2, -1})), Shape({2, 3}));
  EXPECT_EQ(ShapeContext::merge(kUnknown, Shape({2})), Shape({2}));
  EXPECT_EQ(failure([&] { ShapeContext::merge(Shape({2, 3}), Shape({2, 4})); }),
            "Dimension 1 in both shapes must be equal, but are 3 and 4. Shapes are [2,3] and "
            "[2,4].");
  EXPECT_EQ(failure([&] { ShapeContext::merge(Shape({2}), Shape({2, 4})); }),
            "Shapes must be equal rank, but are 1 and 2");
}

TEST(ShapeContext, BroadcastsAsNumPy) {
  EXPECT_EQ(ShapeContext::broadcast(Shape({4, 1, 3}), Shape({5, 1})), Shape({4, 5, 3}));
  EXPECT_EQ(ShapeContext::broadcast(Shape({}), Shape({2})), Shape({2}));
  EXPECT_EQ(ShapeContext::broadcast(Shape({0}), Shape({1})), Shape({0}));
  EXPECT_EQ(ShapeContext::broadcast(Shape({-1, 2}), Shape({3, -1})), Shape({3, 2}));
  EXPECT_EQ(ShapeContext::broadcast(Shape({-1}), Shape({1})), Shape({-1}));
  EXPECT_FALSE(ShapeContext::broadcast(kUnknown, Shape({1})).has_rank());
  EXPECT_EQ(failure([&] { ShapeContext::broadcast(Shape({2, 3}), Shape({2, 4})); }),
            "Dimensions must be equal, but are 3 and 4");
}

TEST(ShapeContext, AKnownVectorIsAShape) {
  const Tensor t = Tensor::of<int32_t>({2, -1, 5}, Shape({3}));
  Fixture f(Shape({1}), Shape({3}), &t);
  EXPECT_EQ(f.c.input_as_shape(1), Shape({2, -1, 5}));
  EXPECT_EQ(*f.c.input_as_vector(1), (std::vector<int64_t>{2, -1, 5}));
  EXPECT_FALSE(f.c.input_as_scalar(1).has_value());
}

TEST(ShapeContext, AnUnknownVectorStillTellsTheRank) {
  EXPECT_EQ(Fixture(Shape({1}), Shape({3})).c.input_as_shape(1), Shape::unknown_dims(3));
  EXPECT_FALSE(Fixture(Shape({1}), Shape({-1})).c.input_as_shape(1).has_rank());
  EXPECT_FALSE(Fixture(Shape({1}), kUnknown).c.input_as_shape(1).has_rank());
  EXPECT_FALSE(Fixture(Shape({1}), Shape({int64_t{1} << 40})).c.input_as_shape(1).has_rank());
  EXPECT_EQ(failure([&] { Fixture(Shape({1}), Shape({3, 2})).c.input_as_shape(1); }),
            "Shape must be rank 1 but is rank 2");
}

TEST(ShapeContext, ANegativeSizeIsRefused) {
  const Tensor t = Tensor::of<int32_t>({-2}, Shape({1}));
  Fixture f(Shape({1}), Shape({1}), &t);
  EXPECT_EQ(failure([&] { f.c.input_as_shape(1); }), "Invalid value in tensor used for shape: -2");
}

// Answers for input 1 and remembers whether it was asked.
class Source : public ValueSource {
 public:
  const Tensor* value(int i) override {
    asked = true;
    return i == 1 ? &tensor : nullptr;
  }
  const Shape* value_as_shape(int) override { return nullptr; }
  Tensor tensor = Tensor::scalar<int32_t>(7);
  bool asked = false;
};

TEST(ShapeContext, ValuesAreLookedForWhenARuleAsks) {
  Source source;
  AttrList attrs;
  const ShapeContext::Input inputs[2] = {{Shape({1}), DType::kFloat, nullptr, nullptr, {}},
                                         {Shape(), DType::kInt32, nullptr, nullptr, {}}};
  ShapeContext c(kOp, attrs, inputs, 2, &source);
  EXPECT_FALSE(source.asked);
  EXPECT_EQ(c.input_as_scalar(1), 7);
  EXPECT_TRUE(source.asked);
}

TEST(ShapeContext, ErrorsTellShapesAndTheValuesThatWereAsked) {
  const Tensor t = Tensor::of<int32_t>({4, 2}, Shape({2}));
  Fixture f(Shape({6}), Shape({2}), &t);
  EXPECT_EQ(f.c.call_text("N"), " for 'N' with input shapes: [6], [2].");
  f.c.input_as_shape(1);
  EXPECT_EQ(f.c.call_text("N"),
            " for 'N' with input shapes: [6], [2] and with input tensors computed as partial "
            "shapes: input[1] = [4,2].");
  Fixture g(Shape({6}), Shape({2}), &t);
  g.c.input_value(1);
  EXPECT_EQ(g.c.call_text("N"),
            " for 'N' with input shapes: [6], [2] and with computed input tensors: input[1] = <4 "
            "2>.");
}

}  // namespace
}  // namespace emplace
