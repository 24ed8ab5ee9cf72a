#include "graph/known_value.h"

#include <gtest/gtest.h>

#include "graph/graph_testutil.h"

namespace emplace {
namespace {

using testing::TestGraph;
constexpr int64_t kSome = KnownValue::kUnknown;

struct KnownValues : ::testing::Test {
  TestGraph g;

  Node* shape_of(Shape s) { return g.add("Shape", {g.placeholder(std::move(s))->output()}); }
  Node* slice(Node* in, int32_t begin, int32_t end, int32_t stride = 1, AttrList attrs = {}) {
    return g.add("StridedSlice", {in->output(), g.ints({begin})->output(), g.ints({end})->output(),
                                  g.ints({stride})->output()},
                 std::move(attrs));
  }
  static std::vector<int64_t> values(const Node* n, int i = 0) {
    const KnownValue* v = n->known_value(i);
    return v == nullptr ? std::vector<int64_t>{-99} : v->values;
  }
};

TEST_F(KnownValues, ShapeOfPartlyKnownInput) {
  EXPECT_EQ(values(shape_of({2, -1, 5})), (std::vector<int64_t>{2, kSome, 5}));
  EXPECT_EQ(shape_of(Shape::unknown())->known_value(0), nullptr);
  EXPECT_EQ(shape_of({-1})->known_value(0), nullptr);  // nothing is known of the one entry
}

TEST_F(KnownValues, FillTakesAPartlyKnownShape) {
  Node* f = g.add("Fill", {shape_of({-1, 3})->output(), g.scalar(0)->output()});
  EXPECT_EQ(f->output_shape(0), Shape({-1, 3}));
}

TEST_F(KnownValues, ReshapeByPackedPieces) {
  Node* shape = shape_of({-1, 4, 5});
  Node* batch = slice(shape, 0, 1, 1, {{"shrink_axis_mask", 1}});
  Node* packed = g.add("Pack", {batch->output(), g.number(20)->output()});
  Node* r = g.add("Reshape", {g.placeholder(Shape::unknown())->output(), packed->output()});
  EXPECT_EQ(r->output_shape(0), Shape({-1, 20}));
}

TEST_F(KnownValues, ConcatenatedSlices) {
  Node* shape = shape_of({2, 3, 4});
  Node* c = g.add("ConcatV2", {slice(shape, 0, 1)->output(), g.ints({7})->output(),
                               slice(shape, -1, 0, 1, {{"end_mask", 1}})->output(),
                               g.number(0)->output()});
  EXPECT_EQ(values(c), (std::vector<int64_t>{2, 7, 4}));
}

TEST_F(KnownValues, TiledOnesAreAxes) {
  const auto tile = [&](Node* of, int32_t times) {
    return g.add("Tile", {of->output(), g.ints({times})->output()});
  };
  EXPECT_EQ(values(tile(g.ints({1, 2}), 2)), (std::vector<int64_t>{1, 2, 1, 2}));
  EXPECT_EQ(values(tile(g.ints({1}), 0)), (std::vector<int64_t>{}));
  EXPECT_EQ(values(tile(shape_of({-1, 3}), 2)), (std::vector<int64_t>{kSome, 3, kSome, 3}));
  EXPECT_EQ(tile(g.ints({1}), 2'000'000'000)->known_value(0), nullptr);
}

TEST_F(KnownValues, TheNumberOfPlacesOfWhatIsTrue) {
  const auto places = [&](std::initializer_list<int32_t> of) {
    Node* truth = g.add("GreaterEqual", {g.ints(of)->output(), g.number(1)->output()});
    return g.add("Squeeze", {g.add("Where", {truth->output()})->output()});
  };
  EXPECT_EQ(values(g.add("Size", {places({1, 0, 1})->output()})), (std::vector<int64_t>{2}));
  EXPECT_EQ(values(g.add("Size", {places({0, 0})->output()})), (std::vector<int64_t>{0}));
  EXPECT_EQ(places({0, 1})->known_value(0), nullptr);
}

TEST_F(KnownValues, TheShapeOfTwoSpreadOverEachOther) {
  const auto spread = [&](Node* a, Node* b) {
    return values(g.add("BroadcastArgs", {a->output(), b->output()}));
  };
  EXPECT_EQ(spread(shape_of({2, 1, 5}), shape_of({3, 1})), (std::vector<int64_t>{2, 3, 5}));
  EXPECT_EQ(spread(shape_of({-1, 4}), shape_of({2, 1})), (std::vector<int64_t>{2, 4}));
  EXPECT_EQ(spread(shape_of({-1, 4}), shape_of({1, 4})), (std::vector<int64_t>{kSome, 4}));
  EXPECT_EQ(spread(g.ints({2}), g.ints({3})), (std::vector<int64_t>{-99}));
}

TEST_F(KnownValues, SlicesStepBothWays) {
  Node* v = g.ints({10, 11, 12, 13, 14});
  EXPECT_EQ(values(slice(v, 0, 5, 2)), (std::vector<int64_t>{10, 12, 14}));
  EXPECT_EQ(values(slice(v, 3, 0, -1)), (std::vector<int64_t>{13, 12, 11}));
  EXPECT_EQ(values(slice(v, 0, 0, -2, {{"begin_mask", 1}, {"end_mask", 1}})),
            (std::vector<int64_t>{14, 12, 10}));
  EXPECT_EQ(values(slice(v, -2, 100)), (std::vector<int64_t>{13, 14}));
  EXPECT_EQ(values(slice(v, 0, 5, std::numeric_limits<int32_t>::max())),
            (std::vector<int64_t>{10}));
}

TEST_F(KnownValues, SizeRankRangeAndProduct) {
  Node* p = g.placeholder({2, 3});
  EXPECT_EQ(values(g.add("Size", {p->output()})), (std::vector<int64_t>{6}));
  EXPECT_EQ(values(g.add("Rank", {p->output()})), (std::vector<int64_t>{2}));
  Node* r = g.add("Range", {g.number(1)->output(), g.number(6)->output(), g.number(2)->output()});
  EXPECT_EQ(values(r), (std::vector<int64_t>{1, 3, 5}));
  Node* prod = g.add("Prod", {shape_of({2, 3})->output(), g.ints({0})->output()});
  EXPECT_EQ(values(prod), (std::vector<int64_t>{6}));
  EXPECT_TRUE(prod->known_value(0)->is_scalar);
}

TEST_F(KnownValues, AHugeRangeIsLeftAlone) {
  Node* r = g.add("Range", {g.number(0)->output(), g.number(2'000'000'000)->output(),
                            g.number(1)->output()});
  EXPECT_EQ(r->known_value(0), nullptr);
}

TEST_F(KnownValues, ArithmeticEntryByEntry) {
  Node* s = shape_of({2, -1});
  EXPECT_EQ(values(g.add("Mul", {s->output(), g.number(3)->output()})),
            (std::vector<int64_t>{6, kSome}));
  EXPECT_EQ(values(g.add("Neg", {s->output()})), (std::vector<int64_t>{-2, kSome}));
}

TEST_F(KnownValues, ComparisonsChoose) {
  Node* five = g.number(5);
  Node* positive = g.add("GreaterEqual", {five->output(), g.number(0)->output()});
  EXPECT_TRUE(constant_value(positive->output())->item<bool>());
  Node* chosen = g.add("SelectV2", {positive->output(), five->output(), g.number(-1)->output()});
  EXPECT_EQ(values(chosen), (std::vector<int64_t>{5}));
  EXPECT_EQ(chosen->known_value(0)->is_scalar, true);
}

TEST_F(KnownValues, AListOfTruthsChoosesAList) {
  Node* of_rank_1 = g.add("GreaterEqual", {shape_of({2})->output(), g.number(2)->output()});
  Node* one = g.add("SelectV2", {of_rank_1->output(), g.number(7)->output(), g.number(1)->output()});
  EXPECT_EQ(values(one), (std::vector<int64_t>{7}));
  EXPECT_EQ(one->known_value(0)->is_scalar, false);
  Node* of_rank_2 = g.add("GreaterEqual", {shape_of({2, 1})->output(), g.number(2)->output()});
  Node* two = g.add("SelectV2", {of_rank_2->output(), g.number(7)->output(), g.number(1)->output()});
  EXPECT_EQ(values(two), (std::vector<int64_t>{7, 1}));
}

TEST_F(KnownValues, Int32Wraps) {
  Node* big = g.number(std::numeric_limits<int32_t>::max());
  EXPECT_EQ(values(g.add("Add", {big->output(), g.number(1)->output()})),
            (std::vector<int64_t>{std::numeric_limits<int32_t>::min()}));
}

TEST_F(KnownValues, CastKeepsThem) {
  Node* c = g.add("Cast", {shape_of({2, 3})->output()}, {{"DstT", DType::kInt64}});
  const auto t = constant_value(c->output());
  ASSERT_TRUE(t.has_value());
  EXPECT_EQ(t->dtype(), DType::kInt64);
  EXPECT_EQ(t->values<int64_t>()[1], 3);
}

TEST_F(KnownValues, AWholeNumberMayBecomeAFloat) {
  Node* c = g.add("Cast", {g.number(16)->output()}, {{"DstT", DType::kFloat}});
  EXPECT_EQ(constant_value(c->output())->item<float>(), 16.f);
  Node* unknown = g.add("Cast", {g.placeholder({}, DType::kInt32)->output()},
                        {{"DstT", DType::kFloat}});
  EXPECT_FALSE(constant_value(unknown->output()).has_value());
}

TEST_F(KnownValues, TheLargestAndTheSmallest) {
  Node* s = shape_of({2, 7, 3});
  EXPECT_EQ(values(g.add("Max", {s->output(), g.ints({0})->output()})), (std::vector<int64_t>{7}));
  EXPECT_EQ(values(g.add("Min", {s->output(), g.ints({0})->output()})), (std::vector<int64_t>{2}));
}

TEST_F(KnownValues, AxesThatShapesAreSpreadAlong) {
  const auto axes = [&](Shape a, Shape b) {
    Node* n = g.add("BroadcastGradientArgs", {shape_of(a)->output(), shape_of(b)->output()});
    return std::pair(values(n, 0), values(n, 1));
  };
  using Axes = std::vector<int64_t>;
  EXPECT_EQ(axes({2, 3}, {3}), std::pair(Axes{}, Axes{0}));
  EXPECT_EQ(axes({1, 3}, {4, 1}), std::pair(Axes{0}, Axes{1}));
  EXPECT_EQ(axes({1, 3}, {1, 1}), std::pair(Axes{0}, (Axes{0, 1})));
  EXPECT_EQ(axes({1, 3}, {1, 3}), std::pair(Axes{}, Axes{}));
  EXPECT_EQ(axes({2}, {3}), std::pair(Axes{-99}, Axes{-99}));  // an error when it runs
}

TEST_F(KnownValues, ARuleSeesHowLongTheyAre) {
  Node* axes = g.add("BroadcastGradientArgs", {shape_of({2, 3})->output(), shape_of({3})->output()});
  EXPECT_EQ(axes->output_shape(1), Shape::unknown());
  EXPECT_EQ(g.add("Identity", {axes->output(1)})->output_shape(0), Shape({1}));
}

TEST_F(KnownValues, AnOrderUndone) {
  EXPECT_EQ(values(g.add("InvertPermutation", {g.ints({2, 0, 1})->output()})),
            (std::vector<int64_t>{1, 2, 0}));
  EXPECT_EQ(g.add("InvertPermutation", {g.ints({2, 5})->output()})->known_value(0), nullptr);
}

TEST_F(KnownValues, WhatAListHasThatAnotherLacks) {
  Node* n = g.add("ListDiff", {g.ints({0, 1, 2, 3})->output(), g.ints({2, 0})->output()});
  EXPECT_EQ(values(n, 0), (std::vector<int64_t>{1, 3}));
  EXPECT_EQ(values(n, 1), (std::vector<int64_t>{1, 3}));
}

TEST_F(KnownValues, UnpackHandsThemOut) {
  Node* u = g.add("Unpack", {shape_of({2, -1, 4})->output()}, {{"num", 3}});
  EXPECT_EQ(values(u, 0), (std::vector<int64_t>{2}));
  EXPECT_EQ(values(u, 2), (std::vector<int64_t>{4}));
}

TEST_F(KnownValues, ConstantValueOfConstants) {
  EXPECT_EQ(constant_value(g.scalar(2.5f)->output())->item<float>(), 2.5f);
  EXPECT_FALSE(constant_value(g.placeholder({})->output()).has_value());
  EXPECT_FALSE(constant_value(shape_of({-1, 2})->output()).has_value());
}

TEST_F(KnownValues, AVariablesContentIsNotKnown) {
  Node* v = g.variable("v", Shape({2}), DType::kInt32);
  EXPECT_EQ(g.identity(v)->known_value(0), nullptr);
}

TEST_F(KnownValues, LongChainsCostNoDepth) {
  Node* at = shape_of({2, -1});
  for (int i = 0; i < 10'000; ++i) at = g.identity(at);
  EXPECT_EQ(values(at), (std::vector<int64_t>{2, kSome}));
}

}  // namespace
}  // namespace emplace
