#include "placement/search/pipeline_ideals.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "placement/search/memory.h"
#include "placement/search/simulate_load.h"

namespace emplace::planning {
namespace {

constexpr double kBytesPerSecond = 1;

CostGraph random_network(Random& random, int nodes, int devices, bool training) {
  CostGraph g;
  g.model = PlanModel::kMaxLoad;
  g.through_host = true;
  g.default_link = {0.5, kBytesPerSecond};
  for (int d = 0; d < devices; ++d)
    g.devices.push_back({"/device:GPU:" + std::to_string(d), "GPU", 4.0 + random.below(30), 1});
  for (int i = 0; i < nodes; ++i) {
    g.groups.push_back("g" + std::to_string(i));
    g.nodes.push_back({"f" + std::to_string(i), {{"GPU", 1.0 + random.below(9)}}, 1.0 + random.below(3)});
    g.nodes.back().group = training ? i : -1;
    for (int j = std::max(0, i - 3); j < i; ++j)
      if (random.below(2)) g.edges.push_back({j, i, double(random.below(4))});
  }
  if (!training) return g;
  const auto edges = g.edges;
  for (int i = 0; i < nodes; ++i) {
    g.nodes.push_back({"b" + std::to_string(i), {{"GPU", 2.0 + random.below(9)}}});
    g.nodes.back().group = i;
    g.edges.push_back({i, nodes + i, 1});
  }
  for (const CostEdge& e : edges) g.edges.push_back({nodes + e.dst, nodes + e.src, e.bytes});
  return g;
}

// The fullest load of the best contiguous split, by trying all placements of forward nodes.
double best_by_trial(const CostGraph& g, int forward) {
  const Problem p(g);
  std::vector<int> where(size_t(forward), 0);
  double best = kInfinity;
  const auto next = [&] {
    for (int& d : where) {
      if (++d < p.devices) return true;
      d = 0;
    }
    return false;
  };
  do {
    bool holds = true;
    for (const CostEdge& e : g.edges)
      if (e.src < forward && e.dst < forward) holds &= where[e.src] <= where[e.dst];
    std::vector<int> all;
    std::vector<double> used(size_t(p.devices), 0);
    for (int i = 0; i < p.nodes; ++i) {
      all.push_back(where[i % forward]);
      used[all.back()] += g.nodes[i].memory;
    }
    for (int d = 0; d < p.devices; ++d) holds &= used[d] <= *g.devices[d].memory;
    if (holds) best = std::min(best, fullest_load(p, all));
  } while (next());
  return best;
}

TEST(PipelineIdeals, FindsTheBestContiguousSplit) {
  Random random(3);
  int found = 0;
  for (int k = 0; k < 120; ++k) {
    const int nodes = 3 + random.below(5), devices = 2 + random.below(2);
    CostGraph g = random_network(random, nodes, devices, k % 2);
    for (CostDevice& d : g.devices) d.memory = g.devices[0].memory;
    const Problem p(g);
    double value = kInfinity;
    for (double limit = 1e9;;) {
      Budget budget(kInfinity, 1'000'000);
      const std::vector<int> where = split_below(p, limit, budget);
      if (where.empty()) break;
      const auto all = to_nodes(p, where);
      ASSERT_LT(fullest_load(p, all), limit);
      limit = value = fullest_load(p, all);
      ++found;
    }
    EXPECT_DOUBLE_EQ(value, best_by_trial(g, nodes)) << k;
  }
  EXPECT_GT(found, 100);
}

TEST(PipelineIdeals, EndsWithItsBudget) {
  Random random(3);
  const CostGraph g = random_network(random, 60, 3, false);
  Budget little(kInfinity, 20);
  EXPECT_TRUE(split_below(Problem(g), 1e9, little).empty());
  EXPECT_TRUE(little.over());
}

}  // namespace
}  // namespace emplace::planning
