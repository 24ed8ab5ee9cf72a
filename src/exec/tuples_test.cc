#include "exec/tuples.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "emplace/ops.h"
#include "exec/step_graph_testutil.h"

namespace emplace {
namespace {

class Tuples : public ::testing::Test {
 protected:
  Tuples() { m.g.devices.push_back(nullptr); }  // there is one, that is all that counts

  int add(std::vector<Port> inputs) { return m.add_node(op("Neg", {constant(1.f)}).node, std::move(inputs)); }
  int identity(int of) { return m.add_node(op("Identity", {constant(1.f)}).node, {{of, 0}}); }
  int gate(std::vector<int> members) {
    const int i = m.add_node(m.graph().add("NoOp", {}), {});
    step(i).outputs.clear();
    step(i).controls = std::move(members);
    return i;
  }
  int variable() {
    const Output handle = op("VarHandleOp", {}, {{"dtype", DType::kFloat}, {"shape", Shape{}}});
    const int i = m.add_node(handle.node, {});
    step(i).outputs[0].dtype = DType::kResource;
    return i;
  }
  int read(int variable) {
    const Output handle = op("VarHandleOp", {}, {{"dtype", DType::kFloat}, {"shape", Shape{}}});
    return m.add_node(op("ReadVariableOp", {handle}, {{"dtype", DType::kFloat}}).node, {{variable, 0}});
  }
  int assign(int variable, int value) {
    const Output handle = op("VarHandleOp", {}, {{"dtype", DType::kFloat}, {"shape", Shape{}}});
    const Node* node = m.graph().add("AssignVariableOp", {handle, constant(1.f)}, {{"dtype", DType::kFloat}});
    const int i = m.add_node(node, {{variable, 0}, {value, 0}});
    step(i).outputs.clear();
    return i;
  }
  Step& step(int i) { return m.g.steps[static_cast<size_t>(i)]; }
  bool waits(int i, int before) { return std::ranges::find(step(i).controls, before) != step(i).controls.end(); }

  testing::StepGraphMaker m;
  Scope in_graph = m.graph().as_default();
};

TEST_F(Tuples, TheirMembersAreTakenAtOnce) {
  const int a = add({}), b = add({}), both = gate({a, b}), first = identity(a), second = identity(b);
  m.order(both, first);
  m.order(both, second);
  const int x = add({{first, 0}}), y = add({{second, 0}});
  m.g.fetches = {{x, 0}, {y, 0}};
  release_tuples(m.g);
  EXPECT_EQ(step(x).inputs[0], (Port{a, 0}));
  EXPECT_EQ(step(y).inputs[0], (Port{b, 0}));
  EXPECT_TRUE(step(x).controls.empty() && step(y).controls.empty());
  EXPECT_TRUE(step(both).is_value() && step(first).is_value());
}

TEST_F(Tuples, WithoutAsynchronousDevicesTheyStay) {
  m.g.devices.clear();
  const int a = add({}), b = add({}), both = gate({a, b}), first = identity(a);
  m.order(both, first);
  m.g.fetches = {{first, 0}};
  release_tuples(m.g);
  EXPECT_TRUE(waits(first, both));
}

// b takes the variable's memory, and was done before it was written to.
TEST_F(Tuples, AWriteStillComesAfterWhatTakesTheVariable) {
  const int v = variable(), r = read(v), a = add({}), b = add({{r, 0}}), both = gate({a, b});
  const int first = identity(a);
  m.order(both, first);
  const int write = assign(v, first);
  m.g.fetches = {{b, 0}};
  release_tuples(m.g);
  EXPECT_EQ(step(write).inputs[1], (Port{a, 0}));
  EXPECT_TRUE(waits(write, b));
}

TEST_F(Tuples, WhatCameBehindACheckStillDoes) {
  const int check = m.add_node(op("CheckNumerics", {constant(1.f)}, {{"message", std::string()}}).node, {});
  const int a = add({}), b = add({{check, 0}}), both = gate({a, b}), first = identity(a);
  m.order(both, first);
  const int x = add({{first, 0}});
  m.g.fetches = {{x, 0}};
  release_tuples(m.g);
  EXPECT_TRUE(waits(first, check));
  EXPECT_EQ(step(x).inputs[0], (Port{first, 0}));
}

TEST_F(Tuples, OneThatIsFetchedOrWaitedForKeepsItsName) {
  const int a = add({}), b = add({}), both = gate({a, b}), first = identity(a), second = identity(b);
  m.order(both, first);
  m.order(both, second);
  const int last = add({});
  m.order(second, last);
  m.g.fetches = {{first, 0}, {last, 0}};
  release_tuples(m.g);
  EXPECT_EQ(m.g.fetches[0], (Port{first, 0}));
  EXPECT_FALSE(step(first).outputs.empty() || step(second).outputs.empty());
  EXPECT_TRUE(waits(last, second));
}

TEST_F(Tuples, AGateThatSomebodyElseWaitsForStays) {
  const int a = add({}), b = add({}), both = gate({a, b}), first = identity(a), last = add({});
  m.order(both, first);
  m.order(both, last);
  m.g.fetches = {{first, 0}, {last, 0}};
  release_tuples(m.g);
  EXPECT_EQ(step(both).controls, (std::vector<int>{a, b}));
}

}  // namespace
}  // namespace emplace
