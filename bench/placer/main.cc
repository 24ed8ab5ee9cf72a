// bench/run placer [--json FILE]: plans for cost graphs beside the TensorFlow whitepaper's greedy
// simulation and HEFT in the same run. Small graphs are solved by branch and bound first (those that
// it can't prove in time are left out); larger ones are cut out of a schedule without gaps, which is
// optimal by its load; the best contiguous split of a pipeline is found by looking at all. Where no
// optimum is known, what no plan can beat is shown as `bound`: a goal below it can't be met.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <functional>
#include <iostream>

#include "bench/common/rows.h"
#include "bench/placer/cases.h"
#include "emplace/plan.h"
#include "placement/search/branch_and_bound.h"
#include "placement/search/list_anneal.h"
#include "placement/search/list_rules.h"
#include "placement/search/memory.h"
#include "placement/search/pipeline_ideals.h"
#include "placement/search/simulate_list.h"
#include "placement/search/simulate_load.h"

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

std::vector<Case> built_cases() {
  Random random(2);
  std::vector<Case> out;
  for (int k = 0; k < 2 * kCases; ++k) {
    Built built = without_gaps(random, k % 2 ? 100 : 50, 2 << random.below(4));
    out.push_back({std::move(built.graph), built.optimum});
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

// A plan by one rule, made to fit memory as every plan is.
double rule_plan_value(const CostGraph& graph, const std::function<Solution(const Problem&)>& rule) {
  const Problem p(graph);
  const Solution s = rule(p);
  if (s.where.empty()) return kInfinity;
  Plan plan;
  plan.device = to_nodes(p, make_fit(p, to_units(p, s.where)));
  if (graph.model == PlanModel::kList && plan.device == s.where) plan.order = s.order;
  return plan_value(graph, plan);
}

double heft_value(const CostGraph& graph) {
  return rule_plan_value(graph, [](const Problem& p) { return ranked_rule(p, Rank::kMean, false); });
}

// The fullest load of the best contiguous split: each time one below the last is looked for. Where
// even the first limit is below all of them, that limit; where there are too many to look at, nothing.
std::optional<double> best_contiguous(const CostGraph& graph, double limit) {
  const Problem p(graph);
  Budget all(kInfinity, 20'000'000);
  for (;;) {
    const std::vector<int> where = split_below(p, limit, all);
    if (all.over()) return std::nullopt;
    if (where.empty()) return limit;
    limit = fullest_load(p, to_nodes(p, where));
  }
}

// Geometric means of what was divided by HEFT's value.
struct OverHeft {
  double ours = 0, bound = 0, worst = 0, ms = 0;
  int cases = 0;
  void add(const CostGraph& g) {
    const double heft = heft_value(g);
    const Plan p = plan(g);
    ours += std::log(p.value / heft);
    bound += std::log(p.bound / heft);
    worst = std::max(worst, p.value / heft);
    ms = std::max(ms, p.total_ms);
    ++cases;
  }
  void show(const std::string& name, std::vector<Row>& rows) const {
    rows.push_back({name + ", over HEFT", std::exp(ours / cases), "x",
                    {{"HEFT", 1.0}, {"bound", std::exp(bound / cases), false}}, 1});
    rows.push_back({name + ", worst", worst, "x", {{"HEFT", 1.0}}, 1});
    rows.push_back({name + ", longest", ms, "ms", {}, 1});
  }
};

void measure_unlike(std::vector<Row>& rows) {
  Random random(4);
  OverHeft seen;
  for (const Tiled kind : {Tiled::kCholesky, Tiled::kLu, Tiled::kQr})
    for (const int tiles : {5, 6, 8, 10, 12, 14}) seen.add(tiled(random, kind, tiles));
  seen.show("unlike devices, tiled matrices", rows);
}

void measure_samples(std::vector<Row>& rows) {
  Random random(5);
  OverHeft seen;
  for (int k = 0; k < 16; ++k)
    seen.add(network(random, PlanModel::kCalls, 6 + 9 * (k % 2), 4 + 2 * (k % 4), 1.6));
  seen.show("one sample, tight memory", rows);
}

void measure_pipelines(std::vector<Row>& rows) {
  Random random(6);
  Score ours;
  int below = 0;
  for (int k = 0; k < 30; ++k) {
    const CostGraph g = network(random, PlanModel::kMaxLoad, 6 + 10 * (k % 3), 3 + k % 4, k % 2 ? 1.6 : 8);
    const Plan p = plan(g);
    const auto found = best_contiguous(g, 1.02 * p.value);
    if (!found) continue;
    const double best = *found;
    ours.add(p.value / best);
    ours.ms = std::max(ours.ms, p.total_ms);
    below += p.value < best * (1 - 1e-9);
  }
  rows.push_back({"pipelines, mean", ours.mean(), "x", {{"best contiguous split", 1.0}}, 1});
  rows.push_back({"pipelines, worst", ours.worst, "x", {{"best contiguous split", 1.0}}, 1});
  rows.push_back({"pipelines, below it", 100.0 * below / ours.cases, "%", {}, 1, true});
  rows.push_back({"pipelines, longest", ours.ms, "ms", {}, 1});
}

// Training steps that one GPU can hold beside that GPU.
void measure_fitting(std::vector<Row>& rows) {
  Random random(7);
  double sum = 0, worst = 0;
  constexpr int kFitting = 20;
  for (int k = 0; k < kFitting; ++k) {
    const int gpus = 2 << k % 3;
    const CostGraph g = network(random, PlanModel::kList, 6 + 9 * (k % 2), gpus, 1.1 * gpus);
    const double one = rule_plan_value(g, [](const Problem& p) { return single_rule(p, 0); });
    const double ratio = plan(g).value / one;
    sum += std::log(ratio) / kFitting;
    worst = std::max(worst, ratio);
  }
  rows.push_back({"fits one GPU, over that GPU", std::exp(sum), "x", {{"one GPU", 1.0}}, 1});
  rows.push_back({"fits one GPU, worst", worst, "x", {{"one GPU", 1.0}}, 1});
}

void measure_speed(std::vector<Row>& rows) {
  Random random(8);
  for (const int nodes : {1'000, 10'000, 100'000}) {
    const CostGraph g = layered(random, nodes, 0.5);
    const Plan p = plan(g);
    const std::string name = std::to_string(nodes) + " nodes, ";
    rows.push_back({name + "first plan, a thousand", p.first_ms * 1000 / nodes, "ms", {}, 1});
    rows.push_back({name + "whole, a thousand", p.total_ms * 1000 / nodes, "ms", {}, 1});
  }
}

}  // namespace
}  // namespace emplace::bench

int main(int argc, char** argv) {
  using namespace emplace::bench;
  std::vector<Row> rows;
  measure("10-30 nodes, transfers", proven_cases(), rows);
  measure("50-100 nodes, none", built_cases(), rows);
  measure_changed(rows);
  measure_unlike(rows);
  measure_samples(rows);
  measure_pipelines(rows);
  measure_fitting(rows);
  measure_speed(rows);
  print_table(std::cout, rows);
  if (const std::string path = json_path(argc, argv); !path.empty()) write_json(path, rows);
}
