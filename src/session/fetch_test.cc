#include <gtest/gtest.h>

#include "emplace/emplace.h"

namespace emplace {
namespace {

class FetchTest : public ::testing::Test {
 protected:
  Graph graph;
  Scope in_graph = graph.as_default();
  Output x = placeholder(DType::kFloat, Shape{2}, "x");
  Feeds feeds = {{x, Tensor::of({1.f, 2.f}, {2})}};

  // Something that takes memory after `first` is done.
  Output later(Output first) {
    const Scope after = graph.control_dependencies(std::span(&first.node, 1));
    return (x * constant(30.f)) - constant(0.5f);
  }
  void expect_kept(Output fetch, const char* text) {
    const Output fetches[] = {fetch, later(fetch)};
    SessionOptions o;
    o.virtual_gpus = 0;
    Session s(graph, o);
    const auto got = s.run(feeds, fetches);
    EXPECT_EQ(got[0].str(), text);
    EXPECT_EQ(got[1].str(), "[29.5 59.5]");
  }
};

// A kernel may hand on its input's memory; the plan must not give that memory to others then.
TEST_F(FetchTest, WhatIdentityNHandsOnIsNotWrittenOver) {
  const Output a = x + constant(1.f);
  expect_kept(op("IdentityN", {a}), "[2. 3.]");
}

TEST_F(FetchTest, AViewOfUnknownShapeIsNotWrittenOver) {
  const Output a = x + constant(1.f);
  // Two rows: found by running.
  const Output where = op("Where", {op("Greater", {x, constant(0.f)})});
  const Output shape = op("Cast", {op("Reshape", {op("Shape", {where}), constant({-1}, {1})})},
                          {{"DstT", DType::kInt64}});
  const Output rows = op("StridedSlice",
                         {shape, constant({0}, {1}), constant({1}, {1}), constant({1}, {1})});
  expect_kept(op("Reshape", {a, rows}), "[2. 3.]");
}

}  // namespace
}  // namespace emplace
