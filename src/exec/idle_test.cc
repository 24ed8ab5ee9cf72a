#include "exec/idle.h"

#include <gtest/gtest.h>

#include "emplace/ops.h"
#include "exec/step_graph_testutil.h"

namespace emplace {
namespace {

class IdleTest : public ::testing::Test {
 protected:
  testing::StepGraphMaker m;
  Scope in_graph = m.graph().as_default();
  int add(std::vector<Port> inputs) {
    return m.add_node(op("Neg", {constant(1.f)}).node, std::move(inputs));
  }
  bool works(int i) const { return m.g.steps[static_cast<size_t>(i)].row != nullptr; }
};

TEST_F(IdleTest, WhatIsOnlyWaitedForDoesNothingAndPassesTheWaitOn) {
  const int first = add({}), idle = add({{first, 0}}), last = add({{first, 0}});
  m.order(idle, last);
  m.g.fetches.push_back({last, 0});
  drop_idle_work(m.g);
  EXPECT_FALSE(works(idle));
  EXPECT_TRUE(works(first) && works(last));
  EXPECT_EQ(m.g.steps[static_cast<size_t>(last)].controls, std::vector<int>{first});
}

TEST_F(IdleTest, SoDoesWhatOnlyIdleWorkNeeded) {
  const int first = add({}), middle = add({{first, 0}}), idle = add({{middle, 0}}), last = add({});
  m.order(idle, last);
  m.g.fetches.push_back({last, 0});
  drop_idle_work(m.g);
  EXPECT_FALSE(works(idle) || works(middle) || works(first));
}

TEST_F(IdleTest, SoDoesItOnAnAsynchronousDevice) {
  const int first = add({}), idle = add({{first, 0}}), last = add({});
  for (const int i : {first, idle, last}) m.g.steps[static_cast<size_t>(i)].device_space = 1;
  m.order(idle, last);
  m.g.fetches.push_back({last, 0});
  drop_idle_work(m.g);
  EXPECT_FALSE(works(idle) || works(first));
  EXPECT_TRUE(m.g.steps[static_cast<size_t>(idle)].is_value());  // not even an empty call
}

TEST_F(IdleTest, WhatIsTakenFetchedOrAskedForByNameWorks) {
  const int taken = add({}), fetched = add({}), target = add({}), last = add({{taken, 0}});
  m.order(taken, last);
  m.order(fetched, last);
  m.g.fetches = {{last, 0}, {fetched, 0}};
  drop_idle_work(m.g);
  EXPECT_TRUE(works(taken) && works(fetched) && works(target) && works(last));
}

TEST_F(IdleTest, WhatHasAnEffectWorks) {
  const Output noise = op("RandomUniform", {constant({2}, {1})}, {{"dtype", DType::kFloat}});
  const int effect = m.add_node(noise.node, {}), last = add({});
  m.order(effect, last);
  m.g.fetches.push_back({last, 0});
  drop_idle_work(m.g);
  EXPECT_TRUE(works(effect));
}

}  // namespace
}  // namespace emplace
