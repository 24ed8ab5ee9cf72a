// bench/run placer [--json FILE]: plans for cost graphs whose optimum is known, beside the
// TensorFlow whitepaper's greedy simulation and HEFT in the same run. Small graphs are solved by
// branch and bound first (those that it can't prove in time are left out); larger ones are cut out
// of a schedule without gaps, which is optimal by its load.
#include <algorithm>
#include <cstdio>
#include <functional>
#include <iostream>

#include "bench/common/rows.h"
#include "emplace/plan.h"
#include "placement/search/branch_and_bound.h"
#include "placement/search/list_anneal.h"
#include "placement/search/list_rules.h"
#include "placement/search/simulate_list.h"

namespace emplace::bench {
namespace {

using namespace planning;

constexpr int kCases = 60;
constexpr int64_t kProofSteps = 3'000'000;

struct Case {
  CostGraph graph;
  double optimum = 0;
};

// How far above the optimum one method is over a set of cases.
struct Score {
  double sum = 0, worst = 0, ms = 0;
  int optimal = 0, cases = 0;
  void add(double ratio) {
    sum += ratio;
    worst = std::max(worst, ratio);
    optimal += ratio <= 1 + 1e-9;
    ++cases;
  }
  double mean() const { return sum / cases; }
  double share() const { return 100.0 * optimal / cases; }
};

CostGraph devices(int count) {
  CostGraph g;
  g.default_link = {0, 1};
  for (int d = 0; d < count; ++d)
    g.devices.push_back({"/device:CPU:" + std::to_string(d), "CPU", std::nullopt, 1});
  return g;
}

// Layers of tasks with whole times; edges carry about `ratio` times what a task takes.
CostGraph layered(Random& random, int nodes, double ratio) {
  CostGraph g = devices(2 << random.below(3));
  const int width = 2 + random.below(6);
  for (int i = 0; i < nodes; ++i) {
    g.nodes.push_back({"t" + std::to_string(i), {{"CPU", 1.0 + random.below(20)}}});
    for (int j = std::max(0, i - 2 * width); j <= i - width; ++j)
      if (random.below(3) == 0)
        g.edges.push_back({j, i, double(int((0.5 + random.unit()) * ratio * 10))});
  }
  return g;
}

std::vector<Case> proven_cases() {
  Random random(1);
  std::vector<Case> out;
  for (int k = 0; k < kCases; ++k) {
    constexpr double kRatios[] = {0.1, 1, 2, 10};
    Case c{layered(random, 10 + random.below(21), kRatios[k % 4])};
    const Problem p(c.graph);
    const ListBounds bounds = list_bounds(p);
    Solution best = ranked_rule(p, Rank::kMean, false);
    best.value = *ListSimulation(p).in_order(best.where, best.order);
    Budget first(kInfinity, 100'000), exact(kInfinity, kProofSteps);
    anneal_list(p, bounds, 99, first, best);
    if (best.value > bounds.value * (1 + 1e-9) && !prove_list(p, bounds, exact, best)) continue;
    c.optimum = best.value;
    out.push_back(std::move(c));
  }
  return out;
}

// Each device is filled without a gap up to one end; edges join what ends to what starts later.
std::vector<Case> built_cases() {
  Random random(2);
  std::vector<Case> out;
  for (int k = 0; k < kCases; ++k) {
    const int count = 2 << random.below(4), nodes = k % 2 ? 100 : 50;
    const double end = 10.0 * nodes / count;
    Case c{devices(count), end};
    std::vector<double> starts, ends;
    for (int d = 0; d < count; ++d) {
      const int mine = std::max(1, nodes / count);
      double at = 0;
      for (int i = 0; i < mine; ++i) {
        const double rest = end - at;
        const double time = i + 1 == mine ? rest : std::max(1.0, std::min(1.0 + random.below(19), rest - (mine - i)));
        c.graph.nodes.push_back({"", {{"CPU", time}}});
        starts.push_back(at);
        ends.push_back(at += time);
      }
    }
    for (size_t i = 0; i < starts.size(); ++i) {
      c.graph.nodes[i].name = "t" + std::to_string(i);
      for (size_t j = 0; j < starts.size(); ++j)
        if (ends[i] <= starts[j] && random.below(nodes / 3) == 0)
          c.graph.edges.push_back({int(i), int(j), 0});
    }
    out.push_back(std::move(c));
  }
  return out;
}

double rule_value(const CostGraph& graph, const std::function<Solution(const Problem&)>& rule) {
  const Problem p(graph);
  const Solution s = rule(p);
  return *ListSimulation(p).in_order(s.where, s.order);
}

void measure(const std::string& name, const std::vector<Case>& cases, std::vector<Row>& rows) {
  Score ours, greedy, heft;
  for (const Case& c : cases) {
    const Plan p = plan(c.graph);
    ours.add(p.value / c.optimum);
    ours.ms = std::max(ours.ms, p.total_ms);
    greedy.add(rule_value(c.graph, greedy_rule) / c.optimum);
    heft.add(rule_value(c.graph, [](const Problem& p) {
               return ranked_rule(p, Rank::kMean, false);
             }) / c.optimum);
  }
  const auto row = [&](const char* what, const char* unit, auto value, bool higher = false) {
    rows.push_back({name + ", " + what, value(ours), unit,
                    {{"greedy", value(greedy)}, {"HEFT", value(heft)}}, 1, higher});
  };
  row("mean", "x", [](const Score& s) { return s.mean(); });
  row("worst", "x", [](const Score& s) { return s.worst; });
  row("optimal", "%", [](const Score& s) { return s.share(); }, true);
  rows.push_back({name + ", longest", ours.ms, "ms", {}, 1});
}

// Networks on two kinds of devices, whose costs change a little after the first plan: a plan that
// goes on from it, beside one from scratch.
void measure_changed(std::vector<Row>& rows) {
  Random random(3);
  double ratio = 0, worst = 0, share = 0;
  constexpr int kChanged = 20;
  for (int k = 0; k < kChanged; ++k) {
    CostGraph g = layered(random, 1000, 0.5);
    for (size_t d = 0; d < g.devices.size() / 2; ++d)
      g.devices[d] = {"/device:GPU:" + std::to_string(d), "GPU", std::nullopt, 1};
    for (CostNode& n : g.nodes) n.time.emplace_back("GPU", n.time[0].second / (1 + random.below(8)));
    const Plan first = plan(g);
    for (CostNode& n : g.nodes)
      for (auto& [device, seconds] : n.time) seconds *= 0.9 + 0.2 * random.unit();
    PlanOptions options;
    options.start = &first;
    const Plan next = plan(g, options), fresh = plan(g);
    ratio += next.value / fresh.value / kChanged;
    worst = std::max(worst, next.value / fresh.value);
    share += 100 * next.total_ms / fresh.total_ms / kChanged;
  }
  rows.push_back({"1000 nodes, changed costs, mean", ratio, "x", {{"from scratch", 1.0}}, 1});
  rows.push_back({"1000 nodes, changed costs, worst", worst, "x", {{"from scratch", 1.0}}, 1});
  rows.push_back({"1000 nodes, changed costs, time", share, "%", {{"from scratch", 100.0}}, 1});
}

}  // namespace
}  // namespace emplace::bench

int main(int argc, char** argv) {
  using namespace emplace::bench;
  std::vector<Row> rows;
  measure("10-30 nodes, transfers", proven_cases(), rows);
  measure("50-100 nodes, none", built_cases(), rows);
  measure_changed(rows);
  print_table(std::cout, rows);
  if (const std::string path = json_path(argc, argv); !path.empty()) write_json(path, rows);
}
