#include "placement/search/list_bounds.h"

#include <gtest/gtest.h>

#include "placement/search/branch_and_bound.h"
#include "placement/search/list_rules.h"
#include "placement/search/simulate_list.h"

namespace emplace::planning {
namespace {

CostGraph two_kinds(int first, int second) {
  CostGraph g;
  g.default_link = {0, 1};
  for (int d = 0; d < first + second; ++d) {
    const std::string type = d < first ? "CPU" : "GPU";
    g.devices.push_back({"/device:" + type + ":" + std::to_string(d), type, std::nullopt, 1});
  }
  return g;
}

TEST(ListBounds, SharesWorkBetweenTwoKindsOfDevices) {
  // 30 nodes of 4 s, or of 1 s on the second kind: the CPUs do half a one in a second, the GPU one.
  CostGraph g = two_kinds(2, 1);
  for (int i = 0; i < 30; ++i)
    g.nodes.push_back({"n" + std::to_string(i), {{"CPU", 4.0}, {"GPU", 1.0}}});
  EXPECT_NEAR(list_bounds(Problem(g)).value, 20, 1e-9);
}

TEST(ListBounds, CountsWhatOnlyOneKindCanRun) {
  CostGraph g = two_kinds(1, 1);
  for (int i = 0; i < 6; ++i) g.nodes.push_back({"c" + std::to_string(i), {{"CPU", 5.0}}});
  g.nodes.push_back({"either", {{"CPU", 5.0}, {"GPU", 5.0}}});
  EXPECT_NEAR(list_bounds(Problem(g)).value, 30, 1e-9);
}

TEST(ListBounds, NoPlanIsBetter) {
  Random random(9);
  for (int k = 0; k < 60; ++k) {
    CostGraph g = two_kinds(1 + random.below(2), 1 + random.below(2));
    for (int i = 0; i < 8; ++i) {
      g.nodes.push_back({"n" + std::to_string(i), {{"CPU", 1.0 + random.below(12)}}});
      if (random.below(4)) g.nodes.back().time.emplace_back("GPU", 1.0 + random.below(4));
      for (int j = 0; j < i; ++j)
        if (random.below(6) == 0) g.edges.push_back({j, i, double(random.below(4))});
    }
    const Problem p(g);
    const ListBounds bounds = list_bounds(p);
    Solution best = ranked_rule(p, Rank::kMean, false);
    best.value = *ListSimulation(p).in_order(best.where, best.order);
    Budget much(kInfinity, 50'000'000);
    ASSERT_TRUE(prove_list(p, bounds, much, best));
    EXPECT_LE(bounds.value, best.value * (1 + 1e-9)) << k;
  }
}

}  // namespace
}  // namespace emplace::planning
