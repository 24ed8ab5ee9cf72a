// A step of a plan as a timeline: the simulation that judges plans, told in full.
#include <algorithm>
#include <cmath>

#include "emplace/error.h"
#include "emplace/session.h"
#include "placement/search/islands.h"
#include "placement/search/memory_over_time.h"
#include "placement/search/simulate_list.h"

namespace emplace {
namespace planning {
namespace {

// The members of an island run one after another, each its share of the whole.
void add_runs(const std::vector<int>& members, const Problem& original, int device,
              double start, double end, PredictedStep& step) {
  double total = 0;
  for (int i : members) total += original.time(i, device);
  double at = start;
  std::vector<int> in_order = members;
  std::sort(in_order.begin(), in_order.end(),
            [&](int a, int b) { return original.rank[a] < original.rank[b]; });
  for (int i : in_order) {
    const bool last = i == in_order.back();
    const double share = total > 0 ? original.time(i, device) / total : 1.0 / double(members.size());
    const double until = last ? end : at + (end - start) * share;
    step.runs.push_back({i, device, 0, at, until});
    at = until;
  }
}

void assign_lanes(PredictedStep& step) {
  std::stable_sort(step.runs.begin(), step.runs.end(), [](const auto& a, const auto& b) {
    return a.start_s != b.start_s ? a.start_s < b.start_s : a.end_s < b.end_s;
  });
  std::vector<std::vector<double>> free(step.devices.size());
  std::vector<double> busy_till(step.devices.size(), 0);
  for (auto& r : step.runs) {
    auto& lanes = free[r.device];
    const auto lane = std::find_if(lanes.begin(), lanes.end(),
                                   [&](double t) { return t <= r.start_s; });
    r.lane = int(lane - lanes.begin());
    if (lane == lanes.end()) lanes.push_back(r.end_s);
    else *lane = r.end_s;
    double& till = busy_till[r.device];
    step.devices[r.device].busy_s += std::max(0.0, r.end_s - std::max(till, r.start_s));
    till = std::max(till, r.end_s);
  }
}

}  // namespace
}  // namespace planning

PredictedStep predict(const CostGraph& graph, const Plan& plan) {
  using namespace planning;
  if (graph.model != PlanModel::kList) throw invalid_argument("Only steps of lists can be predicted");
  PredictedStep step;
  step.devices.resize(graph.devices.size());
  if (graph.nodes.empty()) return step;
  plan_value(graph, plan);  // which checks it
  const Problem original(graph);
  const Merged merged = merge_islands(graph, plan.device);
  const Problem p(merged.graph);
  const std::vector<int> where = merged.devices(plan.device);
  ListSimulation simulation(p);
  simulation.keep_transfers();
  simulate_merged(p, merged, plan, simulation);
  for (int m = 0; m < p.nodes; ++m) {
    step.step_s = std::max(step.step_s, simulation.finish()[m]);
    add_runs(merged.members[m], original, where[m], simulation.start()[m],
             simulation.finish()[m], step);
  }
  for (const auto& t : simulation.transfers()) {
    const auto [node, output] = t.output < 0 ? std::pair(merged.members[t.node].front(), -1)
                                             : merged.outputs[t.node][t.output];
    step.copies.push_back({node, output, where[t.node], t.to, t.bytes, t.start, t.end});
  }
  std::stable_sort(step.copies.begin(), step.copies.end(),
                   [](const auto& a, const auto& b) { return a.start_s < b.start_s; });
  assign_lanes(step);
  add_memory(graph, plan.device, step);
  return step;
}

RunMetadata timeline(const CostGraph& graph, const PredictedStep& step) {
  const auto ns = [](double s) { return std::llround(s * 1e9); };
  const auto bytes_of = [&](int i) {
    double sum = 0;
    for (double b : graph.nodes[i].output_bytes) sum += b;
    return int64_t(sum);
  };
  RunMetadata out;
  for (const auto& r : step.runs) {
    const CostNode& n = graph.nodes[r.node];
    out.nodes.push_back({n.name, n.op, graph.devices[r.device].name, ns(r.start_s), ns(r.end_s),
                         bytes_of(r.node), uint32_t(r.lane)});
  }
  for (const auto& c : step.copies)
    if (c.output >= 0)
      out.nodes.push_back({graph.nodes[c.node].name, "Copy", graph.devices[c.to].name, ns(c.start_s),
                           ns(c.end_s), int64_t(c.bytes), uint32_t(1000 + c.from)});
  return out;
}

}  // namespace emplace
