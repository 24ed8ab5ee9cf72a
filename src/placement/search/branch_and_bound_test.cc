#include "placement/search/branch_and_bound.h"

#include <gtest/gtest.h>

#include "placement/search/list_anneal.h"
#include "placement/search/list_rules.h"
#include "placement/search/simulate_list.h"

namespace emplace::planning {
namespace {

CostGraph random_tasks(Random& random, int nodes, int devices) {
  CostGraph g;
  g.default_link = {0, 1};
  for (int d = 0; d < devices; ++d)
    g.devices.push_back({"/device:CPU:" + std::to_string(d), "CPU", std::nullopt, 1});
  for (int i = 0; i < nodes; ++i) {
    g.nodes.push_back({"t" + std::to_string(i), {{"CPU", 1.0 + random.below(9)}}});
    for (int j = 0; j < i; ++j)
      if (random.below(4) == 0) g.edges.push_back({j, i, double(random.below(8))});
  }
  return g;
}

TEST(BranchAndBound, NothingThatTheSearchFindsIsBetter) {
  Random random(4);
  for (int k = 0; k < 40; ++k) {
    const CostGraph g = random_tasks(random, 6 + random.below(4), 2 + random.below(3));
    const Problem p(g);
    ASSERT_TRUE(provable(p));
    const ListBounds bounds = list_bounds(p);
    Solution start = ranked_rule(p, Rank::kMean, false);
    start.value = *ListSimulation(p).in_order(start.where, start.order);
    Solution exact = start, found = start;
    Budget much(kInfinity, 50'000'000), some(kInfinity, 20'000);
    EXPECT_TRUE(prove_list(p, bounds, much, exact));
    anneal_list(p, bounds, 1, some, found);
    EXPECT_DOUBLE_EQ(exact.value, found.value) << k;
    EXPECT_DOUBLE_EQ(*ListSimulation(p).in_order(exact.where, exact.order), exact.value);
    EXPECT_LE(bounds.value, exact.value * (1 + 1e-9));
  }
}

TEST(BranchAndBound, SaysWhenTheBudgetEndedFirst) {
  Random random(4);
  const CostGraph g = random_tasks(random, 30, 4);
  const Problem p(g);
  Solution best = ranked_rule(p, Rank::kMean, false);
  best.value = *ListSimulation(p).in_order(best.where, best.order) * 2;
  Budget little(kInfinity, 10);
  EXPECT_FALSE(prove_list(p, list_bounds(p), little, best));
}

}  // namespace
}  // namespace emplace::planning
