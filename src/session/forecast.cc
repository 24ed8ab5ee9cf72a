// What a session's devices will hold, before anything has run.
#include <algorithm>

#include "emplace/what_if.h"
#include "exec/prune.h"
#include "graph/read_lock.h"
#include "placement/dynamic/cost_graph.h"
#include "placement/dynamic/step_islands.h"
#include "placement/result.h"
#include "session/device_forecasts.h"
#include "session/session_impl.h"
#include "session/table_oracle.h"

namespace emplace {
namespace {

using placement::StepCosts;

bool is_guess(const StepCosts& step, std::span<Node* const> nodes, const CostEdge* edge, int at) {
  if (step.node[at] < 0) return false;
  const Node& node = *nodes[step.node[at]];
  const auto unknown = [&](int o) { return !node.output_shape(o).is_fully_known(); };
  if (edge) return edge->output >= 0 && unknown(edge->output);
  for (int o = 0; o < node.num_outputs(); ++o)
    if (unknown(o)) return true;
  return false;
}

// Sizes that the graph leaves open count nothing.
bool drop_guesses(StepCosts& step, std::span<Node* const> nodes) {
  bool some = false;
  for (CostEdge& e : step.graph.edges)
    if (is_guess(step, nodes, &e, e.src)) e.bytes = 0;
  for (size_t i = 0; i < step.node.size(); ++i) {
    if (!is_guess(step, nodes, nullptr, static_cast<int>(i))) continue;
    some = true;
    const Node& node = *nodes[step.node[i]];
    for (int o = 0; o < node.num_outputs(); ++o)
      if (!node.output_shape(o).is_fully_known()) step.graph.nodes[i].output_bytes[o] = 0;
  }
  return some;
}

PredictedStep roomy(StepCosts& step, const Plan& plan) {
  for (CostDevice& d : step.graph.devices) d.memory.reset();
  return predict(step.graph, plan);
}

}  // namespace

Forecast Session::Impl::forecast(const Signature& signature) {
  std::vector<Node*> roots = signature.targets;
  for (const Output& o : signature.fetches) roots.push_back(o.node);
  FeedIndex fed;
  for (const Output& o : signature.feeds) fed.emplace(o, 0);
  std::vector<Node*> nodes = roots.empty() ? graph.nodes() : needed_nodes(roots, fed);
  std::ranges::sort(nodes, {}, &Node::id);
  std::vector<int> placed;
  for (const Node* n : nodes) {
    const auto id = static_cast<size_t>(n->id());
    placed.push_back(id < assigned.size() ? assigned[id] : -1);
  }
  const TableOracle oracle(kernels, device_infos);
  const std::shared_ptr<const CostSource> costs = told_costs ? told_costs : cost_source();
  PlacementRequest request{nodes, device_infos, &oracle, placement_options(), placed, costs.get()};
  request.run.fetches = signature.fetches;
  request.run.feeds = signature.feeds;
  request.run.targets = signature.targets;
  const auto rules = placement::place_simply(request);
  StepCosts step = placement::step_costs(request, placement::tied(request)->groups);
  Plan plan;
  for (size_t i = 0; i < step.node.size(); ++i)
    plan.device.push_back(step.node[i] >= 0 ? rules->device[step.node[i]] : step.home[i]);
  placement::mark_islands(step, plan.device, step.graph);
  const StepCosts given = step;
  const PredictedStep predicted = roomy(step, plan);
  Forecast out;
  out.step_s = predicted.step_s;
  out.timeline = timeline(given.graph, predicted);
  out.devices = device_forecasts(given.graph, predicted);
  out.guessed = drop_guesses(step, nodes);
  if (out.guessed) {
    const auto least = device_forecasts(given.graph, predict(step.graph, plan));
    for (size_t d = 0; d < least.size(); ++d)
      out.devices[d].least = least[d].least, out.devices[d].least_node = least[d].least_node;
  }
  std::erase_if(out.devices, [](const DeviceForecast& d) { return d.peak == 0; });
  return out;
}

Forecast forecast(Session& session, std::span<const Output> fetches, std::span<const Output> feeds) {
  Session::Impl& impl = session.impl();
  session.placement(fetches);  // which checks them
  Signature signature;
  signature.fetches.assign(fetches.begin(), fetches.end());
  signature.feeds.assign(feeds.begin(), feeds.end());
  const ReadLock reading(impl.graph.mutex());
  const std::lock_guard lock(impl.place_mutex);
  if (impl.is_closed) throw cancelled("Session has been closed.");
  return impl.forecast(signature);
}

}  // namespace emplace
