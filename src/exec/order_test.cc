#include "exec/order.h"

#include <gtest/gtest.h>

#include "exec/step_graph_testutil.h"

namespace emplace {
namespace {

using testing::StepGraphMaker;

TEST(Order, FollowsDataAndControlEdges) {
  StepGraphMaker m;
  const int a = m.add({}), b = m.add({{a, 0}}), c = m.add({}), d = m.add({{b, 0}});
  m.order(c, d);
  const Order order(m.g);
  EXPECT_TRUE(order.before(a, b));
  EXPECT_TRUE(order.before(a, d));
  EXPECT_TRUE(order.before(c, d));
  EXPECT_FALSE(order.before(b, a));
  EXPECT_FALSE(order.before(a, a));
}

TEST(Order, UnorderedStepsAreNotSure) {
  StepGraphMaker m;
  const int a = m.add({}), left = m.add({{a, 0}}), right = m.add({{a, 0}});
  const int join = m.add({{left, 0}, {right, 0}});
  const Order order(m.g);
  EXPECT_FALSE(order.before(left, right));
  EXPECT_FALSE(order.before(right, left));
  EXPECT_TRUE(order.before(left, join));
  EXPECT_TRUE(order.before(right, join));
}

// Against a plain search, with more chains than are tracked: it may say "not sure" where it is so,
// never "sure" where it is not.
TEST(Order, NeverClaimsWhatIsNotSo) {
  StepGraphMaker m;
  uint32_t random = 1;
  auto next = [&](int n) {
    random = random * 1664525u + 1013904223u;
    return static_cast<int>(random >> 16) % n;
  };
  constexpr int kSteps = 200;
  for (int i = 0; i < kSteps; ++i) {
    std::vector<Port> inputs;
    for (int k = next(3); k > 0 && i > 0; --k) inputs.push_back({next(i), 0});
    m.add(inputs);
  }
  const Order order(m.g);
  int sure = 0;
  for (int b = 0; b < kSteps; ++b) {
    std::vector<bool> reached(kSteps, false);
    reached[b] = true;
    for (int i = b; i >= 0; --i)
      if (reached[i])
        for (Port p : m.g.steps[i].inputs) reached[p.step] = true;
    for (int a = 0; a < kSteps; ++a) {
      if (!order.before(a, b)) continue;
      ++sure;
      EXPECT_TRUE(a != b && reached[a]) << a << " before " << b;
    }
  }
  EXPECT_GT(sure, 100);
}

// More chains than are tracked: the shortest is asked for by who takes it.
TEST(Order, KnowsAShortChainByWhatFollowsIt) {
  StepGraphMaker m;
  const int first = m.add({}), lone = m.add({});
  const int taker = m.add({{first, 0}, {lone, 0}}), last = m.add({{taker, 0}});
  int other = -1;
  for (int chain = 0; chain < Order::kTracked; ++chain) {
    other = m.add({});
    for (int i = 0; i < 2; ++i) other = m.add({{other, 0}});
  }
  const Order order(m.g);
  EXPECT_TRUE(order.before(lone, taker));
  EXPECT_TRUE(order.before(lone, last));
  EXPECT_FALSE(order.before(lone, other));
  EXPECT_FALSE(order.before(lone, first));
}

TEST(Order, EachPredecessorCountsOnce) {
  StepGraphMaker m;
  const int a = m.add({}), b = m.add({{a, 0}, {a, 0}});
  m.order(a, b);
  std::vector<int> before;
  predecessors(m.g, b, before);
  EXPECT_EQ(before, std::vector<int>{a});
}

}  // namespace
}  // namespace emplace
