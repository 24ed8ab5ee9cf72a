#include <gtest/gtest.h>

#include "exec/fuse.h"
#include "exec/step_graph_testutil.h"

namespace emplace {
namespace {

// A card by name only.
class Card final : public Device {
 public:
  Card() : Device(DeviceName::of_task("localhost", 0, 0), "", 0) {}
  int num_queues() const override { return 1; }
  bool can_record() const override { return true; }
  BufferPtr allocate(size_t, std::string_view) override { return {}; }
  MemoryStats memory_stats() const override { return {}; }
  void copy(void*, const void*, size_t) override {}
  ThreadPool& inter_op() override { return pool_; }
  ThreadPool& intra_op() override { return pool_; }
  bool owns(const void*) const override { return false; }

 private:
  ThreadPool pool_{ThreadPool::Options{}};
};

AttrList seen;       // what the latest joined kernel was made with
bool refuses = false;

Prepared make_joined(const KernelInit& init) {
  if (refuses) throw unimplemented("not this one");
  seen = *init.attrs;
  return {[](const void*, KernelContext&) {}, nullptr};
}

class Environment final : public PlanEnvironment {
 public:
  Environment() {
    for (const char* op :
         {"_FusedElementwise", "_FusedMatMul", "_FusedApply", "_FusedNorm", "_FusedNormGrad"})
      kernels_.add({op, "GPU", {}, {}, make_joined, {}, 0, ""});
  }
  Device* device_of(const Node&) override { return nullptr; }
  std::vector<Device*> place_function(const Function&, Device*,
                                      std::span<Device* const>) override {
    return {};
  }
  const KernelRegistry& kernels() override { return kernels_; }
  ResourceManager& resources() override { return resources_; }
  Device* host() override { return nullptr; }

 private:
  KernelRegistry kernels_;
  ResourceManager resources_;
};

class FuseForCards : public ::testing::Test {
 protected:
  FuseForCards() { seen.clear(), refuses = false; }

  int step(const char* op, std::vector<Port> inputs, Shape shape, AttrList attrs = {}) {
    std::vector<Output> from(inputs.size(), placeholder_);
    const Node* node = maker_.graph().add(op, from, std::move(attrs));
    const int i = maker_.add_node(node, std::move(inputs), 1, {}, 1);
    graph().steps[i].device = &card_;
    graph().steps[i].outputs[0].shape = std::move(shape);
    return i;
  }
  int input(Shape shape) {
    const int i = step("Placeholder", {}, std::move(shape), {{"dtype", DType::kFloat}});
    graph().steps[i].kind = StepKind::kFeed;
    return i;
  }
  int variable(const char* name) {
    const int i = step("VarHandleOp", {}, Shape{},
                       {{"dtype", DType::kFloat}, {"shape", Shape{4}}, {"shared_name", name}});
    graph().steps[i].outputs[0].dtype = DType::kResource;
    graph().steps[i].outputs[0].space = kHostSpace;
    return i;
  }
  // A normalisation of x, or with a gradient first, its gradient.
  int norm(std::vector<Port> inputs) {
    const bool grad = inputs.size() == 6;
    std::vector<Output> from(inputs.size(), placeholder_);
    const Node* node = maker_.graph().add(grad ? "FusedBatchNormGradV3" : "FusedBatchNormV3", from,
                                          {{"is_training", true}});
    const int outputs = grad ? 5 : 6;
    const int i = maker_.add_node(node, std::move(inputs), 1, {}, 1);
    graph().steps[i].device = &card_;
    StepOutput one = graph().steps[i].outputs[0];
    one.shape = {3};
    graph().steps[i].outputs[0].shape = {2, 2, 2, 3};
    for (int o = 1; o < outputs; ++o) graph().steps[i].outputs.push_back(one);
    return i;
  }
  // The node's own inputs don't matter here: any op with as many will do.
  int descend(int handle, int gradient) {
    const Node* node = maker_.graph().add(
        "ResourceApplyGradientDescent", {handle_, placeholder_, placeholder_});
    const int i = maker_.add_node(node, {{handle, 0}, {rate_, 0}, {gradient, 0}}, 1, {}, 1);
    graph().steps[i].device = &card_;
    graph().steps[i].outputs.clear();
    return i;
  }
  void fuse() { fuse_for_cards(graph(), environment_); }
  StepGraph& graph() { return maker_.g; }
  bool silent(int i) { return graph().steps[i].kind == StepKind::kConst; }
  template <class T>
  static const std::vector<T>& list(const char* name) {
    return find_attr(seen, name)->as<std::vector<T>>();
  }

  Card card_;
  Environment environment_;
  testing::StepGraphMaker maker_;
  Output placeholder_{  // of any shape
      maker_.graph().add("Placeholder", {}, {{"dtype", DType::kFloat}, {"shape", Shape::unknown()}}),
      0};
  Output handle_{
      maker_.graph().add("VarHandleOp", {}, {{"dtype", DType::kFloat}, {"shape", Shape{2, 3}}}), 0};
  int rate_ = input(Shape{});
};

TEST_F(FuseForCards, JoinsAChainOfAnySize) {
  const int x = input({2, 3}), a = step("Neg", {{x, 0}}, {2, 3}), b = step("Exp", {{a, 0}}, {2, 3});
  graph().fetches = {{b, 0}};
  fuse();
  EXPECT_TRUE(silent(a));
  EXPECT_EQ(graph().steps[b].inputs, (std::vector<Port>{{x, 0}}));
  EXPECT_EQ(list<std::string>("ops"), (std::vector<std::string>{"Neg", "Exp"}));
  EXPECT_EQ(list<int64_t>("operands"), (std::vector<int64_t>{0, -1}));
}

TEST_F(FuseForCards, SaysHowOperandsRepeat) {
  const int x = input({4, 2, 3}), column = input({2, 1}), one = input({});
  const int a = step("Mul", {{x, 0}, {column, 0}}, {4, 2, 3});
  const int b = step("AddV2", {{a, 0}, {one, 0}}, {4, 2, 3});
  graph().fetches = {{b, 0}};
  fuse();
  EXPECT_TRUE(silent(a));
  EXPECT_EQ(list<int64_t>("spans"), (std::vector<int64_t>{0, 0, 3, 2, 1, 1}));
}

TEST_F(FuseForCards, LeavesOperandsThatRepeatInTwoDirections) {
  const int x = input({4, 2, 3}), edges = input({4, 1, 3});
  const int a = step("Mul", {{x, 0}, {edges, 0}}, {4, 2, 3}), b = step("Neg", {{a, 0}}, {4, 2, 3});
  graph().fetches = {{b, 0}};
  fuse();
  EXPECT_FALSE(silent(a));
}

TEST_F(FuseForCards, LeavesWhatSomebodyElseTakes) {
  const int x = input({2, 3}), a = step("Neg", {{x, 0}}, {2, 3}), b = step("Exp", {{a, 0}}, {2, 3});
  graph().fetches = {{a, 0}, {b, 0}};
  fuse();
  EXPECT_FALSE(silent(a));
}

TEST_F(FuseForCards, LeavesWhatTheCardRefuses) {
  refuses = true;
  const int x = input({2, 3}), a = step("Neg", {{x, 0}}, {2, 3}), b = step("Exp", {{a, 0}}, {2, 3});
  graph().fetches = {{b, 0}};
  fuse();
  EXPECT_FALSE(silent(a));
  EXPECT_EQ(graph().steps[b].inputs, (std::vector<Port>{{a, 0}}));
}

TEST_F(FuseForCards, ComputesAgainWhatReadsNothingMore) {
  const int x = input({2, 3}), a = step("Neg", {{x, 0}}, {2, 3}), b = step("Exp", {{a, 0}}, {2, 3});
  const int c = step("Mul", {{a, 0}, {x, 0}}, {2, 3});
  graph().fetches = {{b, 0}, {c, 0}};
  fuse();
  EXPECT_TRUE(silent(a));
  EXPECT_EQ(graph().steps[b].inputs, (std::vector<Port>{{x, 0}}));
  EXPECT_EQ(graph().steps[c].inputs, (std::vector<Port>{{x, 0}}));
}

TEST_F(FuseForCards, WhatAllComputeAgainIsNotComputed) {
  const int x = input({2, 3}), a = step("Neg", {{x, 0}}, {2, 3});
  const int b = step("Mul", {{a, 0}, {x, 0}}, {2, 3}), c = step("Sub", {{x, 0}, {a, 0}}, {2, 3});
  graph().fetches = {{b, 0}, {c, 0}};
  fuse();
  EXPECT_TRUE(silent(a));
  EXPECT_EQ(graph().steps[b].inputs, (std::vector<Port>{{x, 0}}));
  EXPECT_EQ(list<std::string>("ops"), (std::vector<std::string>{"Neg", "Mul"}));  // made last
}

TEST_F(FuseForCards, ReadsWhatWouldBeDearerToComputeAgain) {
  const int x = input({2, 3}), y = input({2, 3}), a = step("Mul", {{x, 0}, {y, 0}}, {2, 3});
  const int b = step("Exp", {{a, 0}}, {2, 3}), c = step("Log", {{b, 0}}, {2, 3});
  graph().fetches = {{a, 0}, {b, 0}, {c, 0}};
  fuse();
  EXPECT_FALSE(silent(a) || silent(b));
  EXPECT_EQ(graph().steps[b].inputs, (std::vector<Port>{{a, 0}}));
}

TEST_F(FuseForCards, ComputesNothingAgainThatWaitsForSomething) {
  const int x = input({2, 3}), other = step("Log", {{x, 0}}, {2, 3});
  const int a = step("Neg", {{x, 0}}, {2, 3}), b = step("Exp", {{a, 0}}, {2, 3});
  maker_.order(other, a);
  const int c = step("Mul", {{a, 0}, {x, 0}}, {2, 3});
  graph().fetches = {{other, 0}, {b, 0}, {c, 0}};
  fuse();
  EXPECT_FALSE(silent(a));
  EXPECT_EQ(graph().steps[c].inputs, (std::vector<Port>{{a, 0}, {x, 0}}));
}

TEST_F(FuseForCards, ReadsWhatIsRepeatedAsItIs) {
  const int x = input({2, 3}), column = input({2, 1}), times = input({2});
  const int wide = step("Neg", {{column, 0}}, {2, 3});
  const Output many = maker_.graph().add("Placeholder", {}, {{"dtype", DType::kInt32}})->output();
  graph().steps[wide].node = maker_.graph().add("Tile", {placeholder_, many});
  graph().steps[wide].inputs = {{column, 0}, {times, 0}};
  const int sum = step("AddV2", {{x, 0}, {wide, 0}}, {2, 3});
  graph().fetches = {{sum, 0}};
  fuse();
  EXPECT_TRUE(silent(wide));
  EXPECT_EQ(graph().steps[sum].inputs, (std::vector<Port>{{column, 0}, {x, 0}}));
  EXPECT_EQ(list<int64_t>("spans"), (std::vector<int64_t>{3, 2, 0, 0}));
}

TEST_F(FuseForCards, AProductTakesItsBiasAndRelu) {
  const int x = input({2, 3}), w = input({3, 4}), v = input({4});
  const int product = step("MatMul", {{x, 0}, {w, 0}}, {2, 4});
  const int sum = step("BiasAdd", {{product, 0}, {v, 0}}, {2, 4});
  const int relu = step("Relu", {{sum, 0}}, {2, 4});
  graph().fetches = {{relu, 0}};
  fuse();
  EXPECT_TRUE(silent(product) && silent(sum));
  EXPECT_EQ(graph().steps[relu].inputs, (std::vector<Port>{{x, 0}, {w, 0}, {v, 0}}));
  EXPECT_EQ(list<std::string>("fused_ops"), (std::vector<std::string>{"BiasAdd", "Relu"}));
}

TEST_F(FuseForCards, AProductTakesAVectorThatIsAddedToItsRows) {
  const int x = input({2, 3}), w = input({3, 4}), v = input({4}), other = input({2, 4});
  const int product = step("MatMul", {{x, 0}, {w, 0}}, {2, 4});
  const int sum = step("AddV2", {{v, 0}, {product, 0}}, {2, 4});
  const int second = step("MatMul", {{x, 0}, {w, 0}}, {2, 4});
  const int whole = step("AddV2", {{second, 0}, {other, 0}}, {2, 4});
  graph().fetches = {{sum, 0}, {whole, 0}};
  fuse();
  EXPECT_TRUE(silent(product));
  EXPECT_EQ(graph().steps[sum].inputs, (std::vector<Port>{{x, 0}, {w, 0}, {v, 0}}));
  EXPECT_EQ(list<std::string>("fused_ops"), (std::vector<std::string>{"BiasAdd"}));
  EXPECT_FALSE(silent(second));
}

TEST_F(FuseForCards, ALargeStepWithAnOperandThatRepeatsIsWritten) {
  const int x = input({256, 257}), row = input({257}), one = input({});
  const int a = step("Mul", {{x, 0}, {row, 0}}, {256, 257});
  const int b = step("Mul", {{x, 0}, {one, 0}}, {256, 257});
  graph().fetches = {{a, 0}, {b, 0}};
  fuse();
  EXPECT_EQ(list<std::string>("ops"), (std::vector<std::string>{"Mul"}));
  EXPECT_EQ(list<int64_t>("spans"), (std::vector<int64_t>{0, 0, 1, 257}));
  EXPECT_TRUE(graph().steps[a].joined);
  EXPECT_FALSE(graph().steps[b].joined);
}

TEST_F(FuseForCards, ANormalisationTakesItsReluAndItsGradientTheRelusGradient) {
  const Shape image{2, 2, 2, 3};
  const int x = input(image), scale = input({3}), shift = input({3}), none = input({0}),
            dy = input(image);
  const int n = norm({{x, 0}, {scale, 0}, {shift, 0}, {none, 0}, {none, 0}});
  const int relu = step("Relu", {{n, 0}}, image);
  const int dr = step("ReluGrad", {{dy, 0}, {relu, 0}}, image);
  const int dn = norm({{dr, 0}, {x, 0}, {scale, 0}, {n, 3}, {n, 4}, {n, 5}});
  graph().fetches = {{relu, 0}, {dn, 0}};
  fuse();
  EXPECT_TRUE(silent(n) && silent(dr));
  EXPECT_EQ(graph().steps[relu].outputs.size(), 6u);
  EXPECT_EQ(graph().steps[relu].inputs,
            (std::vector<Port>{{x, 0}, {scale, 0}, {shift, 0}, {none, 0}, {none, 0}}));
  EXPECT_EQ(
      graph().steps[dn].inputs,
      (std::vector<Port>{
          {dy, 0}, {x, 0}, {scale, 0}, {relu, 3}, {relu, 4}, {relu, 5}, {scale, 0}, {shift, 0}}));
}

TEST_F(FuseForCards, ANormalisationTakesWhatIsAddedBeforeItsRelu) {
  const Shape image{2, 2, 2, 3};
  const int x = input(image), scale = input({3}), none = input({0}), other = input(image);
  const int n = norm({{x, 0}, {scale, 0}, {scale, 0}, {none, 0}, {none, 0}});
  const int sum = step("AddV2", {{other, 0}, {n, 0}}, image),
            relu = step("Relu", {{sum, 0}}, image);
  const int later = step("Neg", {{n, 1}}, {3});
  graph().fetches = {{relu, 0}, {later, 0}};
  fuse();
  EXPECT_TRUE(silent(n) && silent(sum));
  EXPECT_EQ(graph().steps[relu].inputs.back(), (Port{other, 0}));
  EXPECT_EQ(graph().steps[later].inputs, (std::vector<Port>{{relu, 1}}));
}

TEST_F(FuseForCards, ANormalisationStaysWhereItsFiguresAreWantedBeforeTheRelu) {
  const Shape image{2, 2, 2, 3};
  const int x = input(image), scale = input({3}), none = input({0});
  const int n = norm({{x, 0}, {scale, 0}, {scale, 0}, {none, 0}, {none, 0}});
  const int mean = step("Neg", {{n, 1}}, {3}), relu = step("Relu", {{n, 0}}, image);
  const int other = norm({{x, 0}, {scale, 0}, {scale, 0}, {none, 0}, {none, 0}});
  const int both = step("Relu", {{other, 0}}, image), again = step("Neg", {{other, 0}}, image);
  graph().fetches = {{mean, 0}, {relu, 0}, {both, 0}, {again, 0}};
  fuse();
  EXPECT_FALSE(silent(n) || silent(other));
  EXPECT_EQ(graph().steps[relu].inputs, (std::vector<Port>{{n, 0}}));
}

TEST_F(FuseForCards, StepsOfOneRuleBecomeOne) {
  const int g = input({4}), v = variable("v"), w = variable("w");
  const int a = descend(v, g), b = descend(w, g);
  fuse();
  EXPECT_TRUE(silent(a));
  EXPECT_EQ(graph().steps[b].inputs.size(), 6u);
  EXPECT_EQ(find_attr(seen, "count")->as<int64_t>(), 2);
}

TEST_F(FuseForCards, StepsOfOldVariablesBecomeOneWhereNobodyTakesTheVariableFromThem) {
  const Output variable{
      maker_.graph().add("VariableV2", {}, {{"dtype", DType::kFloat}, {"shape", Shape{4}}}), 0};
  const int g = input({4});
  std::vector<int> steps;
  for (int k = 0; k < 3; ++k) {
    const Node* made =
        maker_.graph().add("VariableV2", {}, {{"dtype", DType::kFloat}, {"shape", Shape{4}}});
    const int v = maker_.add_node(made, {}, 1, {}, 1);
    const Node* node =
        maker_.graph().add("ApplyGradientDescent", {variable, placeholder_, placeholder_});
    const int i = maker_.add_node(node, {{v, 0}, {rate_, 0}, {g, 0}}, 1, {}, 1);
    graph().steps[v].outputs[0].is_ref = graph().steps[i].outputs[0].is_ref = true;
    graph().steps[i].device = &card_;
    graph().steps[i].outputs[0].shape = {4};
    steps.push_back(i);
  }
  graph().fetches = {{steps[1], 0}};
  fuse();
  EXPECT_TRUE(silent(steps[0]));
  EXPECT_EQ(graph().steps[steps[1]].inputs.size(), 3u);
  EXPECT_EQ(graph().steps[steps[2]].inputs.size(), 6u);
}

TEST_F(FuseForCards, StepsOfOneVariableStayApart) {
  const int g = input({4}), v = variable("v"), same = variable("v");
  const int a = descend(v, g), b = descend(same, g);
  fuse();
  EXPECT_FALSE(silent(a));
  EXPECT_EQ(graph().steps[b].inputs.size(), 3u);
}

TEST_F(FuseForCards, AStepThatIsWaitedForStaysWhereItIs) {
  const int g = input({4}), v = variable("v"), w = variable("w"), a = descend(v, g);
  const int between = step("Neg", {{g, 0}}, {4});
  maker_.order(a, between);
  const int b = descend(w, between);
  fuse();
  EXPECT_FALSE(silent(a));
  EXPECT_EQ(graph().steps[b].inputs.size(), 3u);
}

}  // namespace
}  // namespace emplace
