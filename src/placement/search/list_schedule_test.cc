#include "placement/search/list_schedule.h"

#include <gtest/gtest.h>

#include "placement/search/list_reschedule.h"
#include "placement/search/list_rules.h"
#include "placement/search/simulate_list.h"

namespace emplace::planning {
namespace {

// Two kinds of devices, some nodes for one of them alone, links that cost something.
CostGraph unlike_devices(Random& random, int nodes) {
  CostGraph g;
  g.default_link = {0.5, 2};
  for (int d = 0; d < 4; ++d) {
    const std::string type = d < 3 ? "CPU" : "GPU";
    g.devices.push_back({"/device:" + type + ":" + std::to_string(d), type, std::nullopt, 1});
  }
  for (int i = 0; i < nodes; ++i) {
    CostNode n{"n" + std::to_string(i), {{"CPU", 4.0 + random.below(20)}}};
    if (random.below(4)) n.time.emplace_back("GPU", 1.0 + random.below(5));
    g.nodes.push_back(n);
    for (int j = std::max(0, i - 6); j < i; ++j)
      if (random.below(4) == 0) g.edges.push_back({j, i, double(random.below(8))});
  }
  return g;
}

TEST(ListScheduler, KnowsTheEndOfItsSchedule) {
  Random random(2);
  for (int k = 0; k < 100; ++k) {
    const CostGraph g = unlike_devices(random, 5 + random.below(60));
    const Problem p(g);
    std::vector<double> rank;
    for (int i = 0; i < p.nodes; ++i) rank.push_back(random.unit());
    const Solution s = ListScheduler(p).run(rank, k % 2);
    EXPECT_NEAR(*ListSimulation(p).in_order(s.where, s.order), s.value, 1e-9) << k;
  }
}

TEST(ListReschedule, GetsBetterAndSaysWhatItIsWorth) {
  Random random(5);
  double before = 0, after = 0;
  for (int k = 0; k < 20; ++k) {
    const CostGraph g = unlike_devices(random, 100);
    const Problem p(g);
    Solution best = ranked_rule(p, Rank::kMean, false);
    before += best.value = *ListSimulation(p).in_order(best.where, best.order);
    Budget budget(kInfinity, 200);
    reschedule_list(p, list_bounds(p), 1, budget, best);
    after += best.value;
    EXPECT_NEAR(*ListSimulation(p).in_order(best.where, best.order), best.value, 1e-9) << k;
    EXPECT_GE(best.value, list_bounds(p).value * (1 - 1e-9));
  }
  EXPECT_LT(after, before * 0.995);
}

}  // namespace
}  // namespace emplace::planning
