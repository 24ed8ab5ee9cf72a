#include "placement/dynamic/dynamic_placer.h"

#include <algorithm>
#include <cmath>

#include "placement/cost_source.h"
#include "placement/dynamic/figures.h"
#include "placement/dynamic/step_islands.h"

namespace emplace {

namespace {

using namespace placement;

// Nodes beside the step (initial values, say) go where all that is read of them goes.
void follow_readers(Result& r, const StepCosts& step) {
  const Consumers readers(r.nodes, r.groups.index());
  std::vector<int> at(r.nodes.size(), -1);
  for (size_t i = r.nodes.size(); i-- > 0;) {
    const int node = static_cast<int>(i);
    const std::vector<int>& may = r.groups.candidates(node);
    if (may.size() == 1) at[i] = may.front();
    if (may.size() < 2 || step.at[i] >= 0) continue;
    int to = -1;
    for (const int reader : readers[node]) {
      if (to >= 0 && at[reader] != to) to = -2;
      if (to == -1) to = at[reader];
    }
    if (to < 0 || std::ranges::find(may, to) == may.end()) continue;
    r.groups.fix(node, at[i] = to);
  }
}

// … and others (another run's, say) where the largest is that they read and that is settled.
void follow_inputs(Result& r, const StepCosts& step, const CostSource& costs) {
  std::vector<int> at(r.nodes.size(), -1);
  for (size_t i = 0; i < r.nodes.size(); ++i) {
    const int node = static_cast<int>(i);
    const std::vector<int>& may = r.groups.candidates(node);
    if (may.size() == 1) at[i] = may.front();
    if (may.size() < 2 || step.at[i] >= 0) continue;
    double most = -1;
    int to = -1;
    for (const Output& in : r.nodes[i]->inputs()) {
      const int from = r.groups.index().of(in.node);
      if (from < 0 || at[from] < 0 || std::ranges::find(may, at[from]) == may.end()) continue;
      const double bytes = costs.bytes(*in.node, in.index);
      if (bytes > most) most = bytes, to = at[from];
    }
    if (to >= 0) r.groups.fix(node, at[i] = to);
  }
}

// An error of memory is that of the node that keeps most.
void name_largest(Error& e, const PlacementRequest& request, const StepCosts& step) {
  const auto most = std::ranges::max_element(step.graph.nodes, {}, &CostNode::memory);
  const int at = step.node[static_cast<size_t>(most - step.graph.nodes.begin())];
  if (at < 0) return;
  const Node& node = *request.nodes[static_cast<size_t>(at)];
  e.at_node(node.name(), node.type()).from_source(node.source());
}

// Of the nodes of a cost graph, where the request's nodes are there.
std::vector<int> step_devices(const StepCosts& step, std::span<const int> devices) {
  std::vector<int> out;
  for (size_t i = 0; i < step.node.size(); ++i)
    out.push_back(step.node[i] >= 0 ? devices[static_cast<size_t>(step.node[i])] : step.home[i]);
  return out;
}

}  // namespace

std::optional<StepForecast> DynamicPlacer::forecast(const PlacementRequest& request,
                                                    std::span<const int> devices) const {
  if (!request.costs) return std::nullopt;
  const auto groups = tied(request);
  StepCosts step = step_costs(request, groups->groups);
  for (CostDevice& d : step.graph.devices) d.memory.reset();
  Plan plan;
  plan.device = step_devices(step, devices);
  double variance = 0;
  for (size_t i = 0; i < step.node.size(); ++i) {
    const double s = step.spread[i][static_cast<size_t>(plan.device[i])];
    variance += s * s;
  }
  return StepForecast{island_step_s(step, step.graph, plan.device), std::sqrt(variance)};
}

Placement DynamicPlacer::place(const PlacementRequest& request) const {
  if (!request.costs) throw internal_error("the dynamic placer needs costs");
  const auto simple = place_simply(request);
  const auto mine = tied(request);
  StepCosts step = step_costs(request, mine->groups);
  Choice choice;
  try {
    choice = choose(step, step_devices(step, simple->device), request.options.search,
                    request.options.one_device);
  } catch (Error& e) {
    if (e.code() == Code::kResourceExhausted) name_largest(e, request, step);
    throw;
  }
  for (size_t i = 0; i < step.node.size(); ++i)
    if (step.node[i] >= 0) mine->groups.fix(step.node[i], choice.device[i]);
  follow_readers(*mine, step);
  follow_inputs(*mine, step, *request.costs);
  place_by_rules(*mine);
  Placement out{mine->device, mine->context.notes, nullptr};
  out.step_s = choice.step_s;
  out.quality = quality(choice);
  out.remark = choice.doubt;
  out.explainer = std::make_shared<Figures>(mine, std::move(step), std::move(choice));
  return out;
}

}  // namespace emplace
