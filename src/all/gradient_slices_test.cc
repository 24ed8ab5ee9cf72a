// Gradients in rows: of what is looked up in tables.
#include "all/session_fixture.h"

namespace emplace {
namespace {

class GradientSlices : public testing::SessionFixture {
 protected:
  const Output table = placeholder(DType::kDouble, {4, 2});
  const Output zero = constant(0);
  const Feeds feeds = {{table, Tensor::of({0., 1., 2., 3., 4., 5., 6., 7.}, {4, 2})}};

  Output rows(Output from, Output indices) { return op("GatherV2", {from, indices, zero}); }
  Output at(std::vector<int32_t> i) { return constant(Tensor::vector<int32_t>(i)); }
  Gradient slices_of(Output y) {
    return gradients_or_slices(std::span(&y, 1), std::span(&table, 1))[0];
  }
  Output dense_of(Output y) { return gradients(std::span(&y, 1), std::span(&table, 1))[0]; }
  template <class T>
  std::vector<T> run(Output y) {
    const Tensor got = session()->run(y, feeds);
    return {got.values<T>().begin(), got.values<T>().end()};
  }
};

using Doubles = std::vector<double>;

TEST_F(GradientSlices, OfALookUpAreTheRowsThatWereLookedUp) {
  const Output picked = rows(table, constant({3, 0, 3, 1}, {2, 2}));
  const Gradient g = slices_of(op("Square", {picked}));
  ASSERT_TRUE(g.is_slices());
  EXPECT_EQ(run<int32_t>(g.indices), (std::vector<int32_t>{3, 0, 3, 1}));
  EXPECT_EQ(run<int32_t>(g.dense_shape), (std::vector<int32_t>{4, 2}));
  EXPECT_EQ(session()->run(g.values, feeds).shape(), (Shape{4, 2}));
  EXPECT_EQ(run<double>(g.values), (Doubles{12, 14, 0, 2, 12, 14, 4, 6}));
  EXPECT_EQ(run<double>(g.dense()), (Doubles{0, 2, 4, 6, 0, 0, 24, 28}));
}

TEST_F(GradientSlices, OfEveryKindOfLookUp) {
  const Output column = constant({2, 2, 0}, {3, 1});
  for (const Output y : {op("Gather", {table, at({2, 2, 0})}), op("GatherNd", {table, column}),
                         identity(rows(identity(table), at({2, 2, 0})))}) {
    const Gradient g = slices_of(y);
    ASSERT_TRUE(g.is_slices()) << y.name();
    EXPECT_EQ(run<int32_t>(g.indices), (std::vector<int32_t>{2, 2, 0})) << y.name();
    EXPECT_EQ(run<double>(dense_of(y)), (Doubles{1, 1, 0, 0, 2, 2, 0, 0})) << y.name();
  }
}

TEST_F(GradientSlices, AlongAnotherAxisAreDense) {
  const Output y = op("GatherV2", {table, at({1, 1}), constant(1)});
  EXPECT_FALSE(slices_of(y).is_slices());
  EXPECT_EQ(run<double>(dense_of(y)), (Doubles{0, 2, 0, 2, 0, 2, 0, 2}));
}

TEST_F(GradientSlices, OfSeveralLookUpsFollowOneAnother) {
  const Output wide = constant({int64_t{3}, int64_t{1}}, {2});
  const Gradient g = slices_of(reduce_sum(rows(table, at({1, 0})) * rows(table, wide), {0, 1}));
  ASSERT_TRUE(g.is_slices());
  EXPECT_EQ(g.indices.dtype(), DType::kInt64);
  EXPECT_EQ(session()->run(g.indices, feeds).num_elements(), 4);
  EXPECT_EQ(run<double>(g.dense()), (Doubles{2, 3, 6, 8, 0, 0, 2, 3}));
}

TEST_F(GradientSlices, BesideATensorAreDense) {
  const Output y = reduce_sum(rows(table, at({1})), {0, 1}) + reduce_sum(table, {0, 1});
  EXPECT_FALSE(slices_of(y).is_slices());
  EXPECT_EQ(run<double>(dense_of(y)), (Doubles{1, 1, 2, 2, 1, 1, 1, 1}));
}

TEST_F(GradientSlices, OfAComputedTableAreMadeDenseOnTheWay) {
  const Output y = rows(op("Square", {table}), at({3, 3}));
  EXPECT_EQ(run<double>(dense_of(y)), (Doubles{0, 0, 0, 0, 0, 0, 24, 28}));
}

TEST_F(GradientSlices, OfAResourceVariableGoToItsHandle) {
  const Output handle = op("VarHandleOp", {}, {{"dtype", DType::kDouble}, {"shape", Shape{4, 2}}});
  const Output start = op("AssignVariableOp", {handle, constant(Tensor(DType::kDouble, {4, 2}))});
  const Output picked =
      op("ResourceGather", {handle, at({2, 0, 2})}, {{"dtype", DType::kDouble}});
  const Output y = picked * constant({1., 2., 3., 4., 5., 6.}, {3, 2});
  const Gradient g = gradients_or_slices(std::span(&y, 1), std::span(&handle, 1))[0];
  ASSERT_TRUE(g.is_slices());
  const Output dense = g.dense();
  const auto s = session();
  s->run(start.node);
  const Tensor got = s->run(dense);
  EXPECT_EQ(Doubles(got.values<double>().begin(), got.values<double>().end()),
            (Doubles{3, 4, 0, 0, 6, 8, 0, 0}));
}

TEST_F(GradientSlices, AreAllThatAStepTouches) {
  const VariableNodes v = variable(Tensor::of({1., 1., 2., 2., 3., 3.}, {3, 2}), "v");
  const Output loss = reduce_sum(op("Square", {rows(v.value, at({2, 0, 2}))}), {0, 1});
  Node* step = gradient_descent(loss, std::span(&v, 1), 0.125);
  const auto s = session();
  s->run(v.initializer);
  s->run(step);
  const Tensor got = s->run(v.value);
  EXPECT_EQ(Doubles(got.values<double>().begin(), got.values<double>().end()),
            (Doubles{0.75, 0.75, 2, 2, 1.5, 1.5}));
  for (const Node* n : graph.nodes()) EXPECT_NE(n->type(), "UnsortedSegmentSum");
}

}  // namespace
}  // namespace emplace
