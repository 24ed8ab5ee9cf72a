#include "bench/sched/goals.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>

namespace emplace::bench {
namespace {

Row chain(const char* workers, std::optional<double> ours) {
  return {std::string("sched/chain-100000/") + workers, ours, "ns/node",
          {{"in order", 1, false}, {"floor", 2.5, false}, {"tbb task_group", 20},
           {"one worker", 3, false}}, 9};
}

const Goal* find(const std::vector<Goal>& goals, const std::string& what) {
  const auto found = std::ranges::find(goals, what, &Goal::what);
  return found == goals.end() ? nullptr : &*found;
}

TEST(Goals, FloorIsHeldToThePlainLoopEvenWithoutOurs) {
  const std::vector<Goal> goals = judge({chain("1", std::nullopt)});
  ASSERT_EQ(goals.size(), 1u);
  EXPECT_DOUBLE_EQ(goals[0].figure, 2.5);
  EXPECT_TRUE(goals[0].met());
}

TEST(Goals, OursIsHeldToBestPeerFloorAndOneWorker) {
  const std::vector<Goal> goals = judge({chain("1", 3), chain("2", 12)});
  EXPECT_TRUE(find(goals, "sched/chain-100000/1: ours over tbb task_group")->met());
  EXPECT_TRUE(find(goals, "sched/chain-100000/1: ours over the floor")->met());
  EXPECT_FALSE(find(goals, "sched/chain-100000/2: ours over tbb task_group")->met());
  EXPECT_FALSE(find(goals, "sched/chain-100000/2: ours over the floor")->met());
  EXPECT_FALSE(find(goals, "sched/chain-100000: two workers over one")->met());
}

TEST(Goals, GainsMustReachTheirLimit) {
  const Row gain{"sched/wave-1us/gain", 1.6, "x", {{"floor", 1.9, false}}, 9, true};
  const std::vector<Goal> goals = judge({gain});
  EXPECT_TRUE(find(goals, "sched/wave-1us/gain: floor")->met());
  EXPECT_FALSE(find(goals, "sched/wave-1us/gain: ours")->met());
}

TEST(Goals, PlacementMustStayShortAndLinear) {
  const std::vector<Goal> goals =
      judge({{"sched/place-1000", 0.001, "s", {}, 9}, {"sched/place-100000", 0.4, "s", {}, 9}});
  EXPECT_TRUE(find(goals, "sched/place-100000, s")->met());
  EXPECT_FALSE(find(goals, "placing 100,000 nodes over 1,000")->met());
}

TEST(Goals, TextSaysMetOrMissed) {
  std::ostringstream out;
  print_goals(out, {{"a", 1, 2}, {"b", 1, 2, true}});
  EXPECT_NE(out.str().find("met"), std::string::npos);
  EXPECT_NE(out.str().find("MISSED"), std::string::npos);
}

}  // namespace
}  // namespace emplace::bench
