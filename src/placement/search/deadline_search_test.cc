#include "placement/search/deadline_search.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "placement/search/branch_and_bound.h"
#include "placement/search/list_bounds.h"
#include "placement/search/list_rules.h"
#include "placement/search/simulate_list.h"

namespace emplace::planning {
namespace {

CostGraph alike_devices(int count) {
  CostGraph g;
  g.default_link = {0, 1};
  for (int d = 0; d < count; ++d)
    g.devices.push_back({"/device:CPU:" + std::to_string(d), "CPU", std::nullopt, 1});
  return g;
}

void add_node(CostGraph& g, double seconds) {
  g.nodes.push_back({"t" + std::to_string(g.nodes.size()), {{"CPU", seconds}}});
}

Found search(const Problem& p, double deadline, Solution& best) {
  best = ranked_rule(p, Rank::kMean, false);
  best.value = 2 * *ListSimulation(p).in_order(best.where, best.order);
  Budget much(kInfinity, 10'000'000);
  return DeadlineSearch(p, deadline, 1).run(much, best);
}

TEST(DeadlineSearch, FindsScheduleThatEndsAtOptimumAndNoneBefore) {
  Random random(9);
  for (int k = 0; k < 60; ++k) {
    CostGraph g = alike_devices(2 + random.below(3));
    const int nodes = 6 + random.below(5), chance = 2 + random.below(6);
    for (int i = 0; i < nodes; ++i) {
      add_node(g, 1.0 + random.below(9));
      for (int j = 0; j < i; ++j)
        if (random.below(chance) == 0) g.edges.push_back({j, i, 0});
    }
    const Problem p(g);
    Solution exact = ranked_rule(p, Rank::kMean, false), best;
    exact.value = *ListSimulation(p).in_order(exact.where, exact.order);
    Budget much(kInfinity, 50'000'000);
    ASSERT_TRUE(prove_list(p, list_bounds(p), much, exact));
    ASSERT_EQ(search(p, exact.value, best), Found::kYes) << k;
    EXPECT_DOUBLE_EQ(best.value, exact.value);
    EXPECT_DOUBLE_EQ(*ListSimulation(p).in_order(best.where, best.order), best.value);
    EXPECT_EQ(search(p, exact.value - 1, best), Found::kNo) << k;
  }
}

TEST(DeadlineSearch, FillsDevicesToTheEnd) {
  CostGraph g = alike_devices(3);
  for (double t : {7, 5, 4, 6, 6, 8, 1, 1, 10}) add_node(g, t);  // 16 each
  for (int i : {0, 1, 2}) g.edges.push_back({i, i + 3, 0});
  Solution best;
  EXPECT_EQ(search(Problem(g), 16, best), Found::kYes);
  EXPECT_DOUBLE_EQ(best.value, 16);
}

TEST(DeadlineSearch, TakesNodesWithoutTimeAlong) {
  CostGraph g = alike_devices(2);
  for (double t : {0, 3, 0, 3, 0}) add_node(g, t);
  for (int i = 0; i < 4; ++i) g.edges.push_back({i, i + 1, 0});
  Solution best;
  EXPECT_EQ(search(Problem(g), 6, best), Found::kYes);
  EXPECT_DOUBLE_EQ(*ListSimulation(Problem(g)).in_order(best.where, best.order), 6);
}

TEST(DeadlineSearch, KnowsTimesWithoutCommonMeasure) {
  CostGraph g = alike_devices(2);
  for (double t : {0.1234567891, 0.7182818284, 0.5772156649, 0.3141592653}) add_node(g, t);
  Solution best;
  EXPECT_EQ(search(Problem(g), 0.8914, best), Found::kYes);
  EXPECT_LE(best.value, 0.8914);
  EXPECT_EQ(search(Problem(g), 0.8665, best), Found::kNo);
}

}  // namespace
}  // namespace emplace::planning
