#include "exec/memory_plan.h"

#include <gtest/gtest.h>

#include "exec/step_graph_testutil.h"

namespace emplace {
namespace {

using testing::StepGraphMaker;
constexpr KernelTraits kForwards = {.forwards = true};
constexpr KernelTraits kInPlace = {.in_place = true};

struct Plan {
  explicit Plan(const StepGraph& g) : users(g), plan(plan_memory(g, Order(g), users)) {}
  int64_t offset(int step) const { return plan.offset[users.slot({step, 0})]; }
  Users users;
  MemoryPlan plan;
};

TEST(MemoryPlan, ReusesMemoryWhenItsUsersAreDone) {
  StepGraphMaker m;
  const int a = m.add({}), b = m.add({{a, 0}}), c = m.add({{b, 0}}), d = m.add({{c, 0}});
  const Plan p(m.g);
  EXPECT_NE(p.offset(b), p.offset(a));
  EXPECT_EQ(p.offset(c), p.offset(a));
  EXPECT_EQ(p.offset(d), p.offset(b));
  EXPECT_EQ(p.plan.arena_bytes[kHostSpace], 128);
}

TEST(MemoryPlan, DoesNotReuseMemoryOfAnUnorderedUser) {
  StepGraphMaker m;
  const int a = m.add({}), b = m.add({{a, 0}});
  const int other = m.add({});  // may run before b has read a
  const int end = m.add({{b, 0}, {other, 0}});
  const Plan p(m.g);
  EXPECT_NE(p.offset(other), p.offset(a));
  EXPECT_NE(p.offset(other), p.offset(b));
  EXPECT_EQ(p.offset(end), p.offset(a));  // b is done by then
}

TEST(MemoryPlan, ReusesItOnceAControlEdgeOrdersThem) {
  StepGraphMaker m;
  const int a = m.add({}), b = m.add({{a, 0}}), later = m.add({});
  m.order(b, later);
  m.add({{b, 0}, {later, 0}});
  const Plan p(m.g);
  EXPECT_EQ(p.offset(later), p.offset(a));
}

TEST(MemoryPlan, WritesOverAnInputThatDies) {
  StepGraphMaker m;
  const int a = m.add({}), b = m.add({{a, 0}}, 16, kInPlace);
  const int c = m.add({{b, 0}, {b, 0}}, 16, kInPlace);
  const Plan p(m.g);
  EXPECT_EQ(p.offset(b), p.offset(a));
  EXPECT_EQ(p.offset(c), p.offset(b));
  EXPECT_EQ(p.plan.arena_bytes[kHostSpace], 64);
}

TEST(MemoryPlan, DoesNotWriteOverAnInputThatOthersRead) {
  StepGraphMaker m;
  const int a = m.add({}), b = m.add({{a, 0}}, 16, kInPlace);
  m.add({{a, 0}, {b, 0}});
  const Plan p(m.g);
  EXPECT_NE(p.offset(b), p.offset(a));
}

TEST(MemoryPlan, DoesNotWriteOverAnInputOfAnotherSize) {
  StepGraphMaker m;
  const int a = m.add({}, 16), b = m.add({{a, 0}}, 8, kInPlace);
  const Plan p(m.g);
  EXPECT_NE(p.offset(b), p.offset(a));
}

TEST(MemoryPlan, PutsTwoLargeValuesWhereALargerOneWas) {
  constexpr int64_t kHalf = 1 << 19;  // elements: 2 MiB
  StepGraphMaker m;
  const int a = m.add({}, 2 * kHalf), end = m.add({{a, 0}});
  const int left = m.add({}, kHalf), right = m.add({}, kHalf);
  m.order(end, left);
  m.order(end, right);
  m.add({{left, 0}, {right, 0}});
  const Plan p(m.g);
  EXPECT_NE(p.offset(left), p.offset(right));
  EXPECT_LE(p.plan.arena_bytes[kHostSpace], 4 * 2 * kHalf + 4096);
}

TEST(MemoryPlan, KeepsALargeValueWhileSomebodyUnorderedTakesIt) {
  constexpr int64_t kMany = 1 << 19;
  StepGraphMaker m;
  const int a = m.add({}, kMany), user = m.add({{a, 0}}), other = m.add({}, kMany);
  m.add({{user, 0}, {other, 0}});
  const Plan p(m.g);
  EXPECT_GE(std::abs(p.offset(a) - p.offset(other)), 4 * kMany);
}

TEST(MemoryPlan, ForwardingIsNoWork) {
  StepGraphMaker m;
  const int a = m.add({}), view = m.add({{a, 0}}, 16, kForwards);
  m.add({{view, 0}});
  const Plan p(m.g);
  EXPECT_EQ(p.offset(view), p.offset(a));
  EXPECT_TRUE(p.plan.elided[view]);
  EXPECT_FALSE(p.plan.elided[a]);
}

TEST(MemoryPlan, MemoryThatIsForwardedLivesAsLongAsTheViewIsRead) {
  StepGraphMaker m;
  const int a = m.add({}), view = m.add({{a, 0}}, 16, kForwards);
  const int b = m.add({{a, 0}});              // a itself is not read any more
  const int c = m.add({{b, 0}});
  m.add({{c, 0}, {view, 0}});                 // … but the view is
  const Plan p(m.g);
  EXPECT_NE(p.offset(c), p.offset(a));
}

TEST(MemoryPlan, XAndAViewOfXAreNotWrittenOver) {
  StepGraphMaker m;
  const int a = m.add({}), view = m.add({{a, 0}}, 16, kForwards);
  const int b = m.add({{a, 0}, {view, 0}}, 16, kInPlace);
  const Plan p(m.g);
  EXPECT_NE(p.offset(b), p.offset(a));
}

TEST(MemoryPlan, FetchedAndUnknownSizesHaveNoPlace) {
  StepGraphMaker m;
  const int unknown = m.add({}, -1), fetched = m.add({});
  m.g.fetches = {{fetched, 0}};
  const Plan p(m.g);
  EXPECT_EQ(p.offset(unknown), MemoryPlan::kNone);
  EXPECT_EQ(p.offset(fetched), MemoryPlan::kNone);
  EXPECT_EQ(p.plan.arena_bytes[kHostSpace], 0);
}

TEST(MemoryPlan, MemoryThatAnOutputWithoutPlaceMayShareIsKept) {
  StepGraphMaker m;
  const int a = m.add({}), handed_on = m.add({{a, 0}}), later = m.add({});
  m.order(handed_on, later);
  m.add({{later, 0}});
  m.g.fetches = {{handed_on, 0}};
  const Plan p(m.g);
  EXPECT_NE(p.offset(later), p.offset(a));
}

TEST(MemoryPlan, EverySpaceHasItsOwnArena) {
  StepGraphMaker m;
  m.g.devices = {nullptr, nullptr};
  m.add({}, 16, {}, 1);
  m.add({}, 32, {}, 2);
  m.add({}, 48, {}, kHostSpace);
  const Plan p(m.g);
  EXPECT_EQ(p.plan.arena_bytes, (std::vector<int64_t>{192, 64, 128}));
  EXPECT_EQ(p.plan.largest_slot[1], 0);
  EXPECT_EQ(p.plan.largest_slot[2], 1);
}

}  // namespace
}  // namespace emplace
