#include "exec/fuse.h"

#include <gtest/gtest.h>

#include "exec/step_graph_testutil.h"

namespace emplace {
namespace {

constexpr int64_t kLarge = 1 << 17;

Prepared make_nothing(const KernelInit&) {
  return {[](const void*, KernelContext&) {}, nullptr};
}

// Steps of `Neg` and `Add` nodes over large vectors.
class FuseTest : public ::testing::Test {
 protected:
  int input(int64_t elements = kLarge) {
    const int i = maker_.add({}, elements);
    graph().steps[i].row = nullptr;
    return i;
  }
  int neg(int x, int64_t elements = kLarge) { return op("Neg", {{x, 0}}, elements); }
  int add(int x, int y, int64_t elements = kLarge) {
    return op("AddV2", {{x, 0}, {y, 0}}, elements);
  }
  StepGraph& graph() { return maker_.g; }
  const Step& fused(int i) {
    fuse_elementwise(graph());
    return graph().steps[i];
  }
  bool silent(int i) { return graph().steps[i].outputs.empty() && graph().steps[i].inputs.empty(); }

 private:
  int op(const char* type, std::vector<Port> inputs, int64_t elements) {
    const Output x = placeholder_;
    const Node* node = std::string_view(type) == "Neg" ? maker_.graph().add("Neg", {x})
                                                       : maker_.graph().add("AddV2", {x, x});
    const int i = maker_.add_node(node, std::move(inputs), elements, {.in_place = true});
    row_.make = make_nothing;
    row_.traits.in_place = true;
    graph().steps[i].row = &row_;
    return i;
  }
  testing::StepGraphMaker maker_;
  KernelRow row_;
  Output placeholder_ = Output{
      maker_.graph().add("Placeholder", {}, {{"dtype", DType::kFloat}, {"shape", Shape{kLarge}}}),
      0};
};

TEST_F(FuseTest, JoinsAChainIntoItsLastStep) {
  const int x = input(), a = neg(x), b = neg(a), c = add(b, x);
  graph().fetches = {{c, 0}};
  EXPECT_EQ(fused(c).inputs, (std::vector<Port>{{x, 0}}));
  EXPECT_TRUE(silent(a) && silent(b));
  EXPECT_TRUE(fused(c).kernel.run);
}

TEST_F(FuseTest, TakesScalarsFromOutside) {
  const int x = input(), one = input(1), a = add(x, one), b = neg(a);
  graph().fetches = {{b, 0}};
  EXPECT_EQ(fused(b).inputs, (std::vector<Port>{{x, 0}, {one, 0}}));
}

TEST_F(FuseTest, LeavesWhatOthersNeed) {
  const int x = input(), fetched = neg(x), b = neg(fetched);
  const int shared = neg(x), c = neg(shared), d = neg(shared);
  graph().fetches = {{fetched, 0}, {b, 0}, {c, 0}, {d, 0}};
  fuse_elementwise(graph());
  for (int i : {fetched, b, shared, c, d}) EXPECT_FALSE(silent(i)) << i;
}

TEST_F(FuseTest, LeavesSmallTensorsAndOtherShapes) {
  const int x = input(16), a = neg(x, 16), b = neg(a, 16);
  const int y = input(), row = input(8), c = neg(y), d = add(c, row);
  graph().fetches = {{b, 0}, {d, 0}};
  fuse_elementwise(graph());
  for (int i : {a, b, c, d}) EXPECT_FALSE(silent(i)) << i;
}

TEST_F(FuseTest, WhoeverWaitedForAJoinedStepWaitsForTheWhole) {
  const int x = input(), a = neg(x), b = neg(a), after = input();
  graph().steps[after].controls = {a};
  graph().fetches = {{b, 0}};
  fuse_elementwise(graph());
  EXPECT_TRUE(silent(a));
  EXPECT_EQ(graph().steps[after].controls, std::vector<int>{b});
}

TEST_F(FuseTest, AStepThatAnEarlierOneWaitsForStays) {
  const int x = input(), a = neg(x), between = input(), b = neg(a);
  graph().steps[between].controls = {a};
  graph().fetches = {{b, 0}};
  fuse_elementwise(graph());
  EXPECT_FALSE(silent(a));
}

}  // namespace
}  // namespace emplace
