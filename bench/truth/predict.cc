#include "bench/truth/predict.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "placement/request.h"
#include "placement/search/simulate_list.h"

namespace emplace::bench {
namespace {

// What the fetches need, in order of creation; constants lie where they are used.
std::vector<const Node*> needed(const Net& net) {
  std::vector<const Node*> todo, found;
  std::unordered_set<const Node*> seen;
  const auto look = [&](const Node* n) {
    if (n->type() != "Const" && seen.insert(n).second) todo.push_back(n);
  };
  for (const Output& o : net.fetches) look(o.node);
  while (!todo.empty()) {
    const Node* n = todo.back();
    todo.pop_back();
    found.push_back(n);
    for (const Output& in : n->inputs()) look(in.node);
  }
  std::ranges::sort(found, {}, &Node::id);
  return found;
}

bool is_fed(const Net& net, const Node* n) {
  return std::ranges::any_of(net.feeds, [&](const Output& f) { return f.node == n; });
}

}  // namespace

StepModel step_model(const Net& net, const std::vector<DeviceInfo>& devices, const CostSource& costs) {
  StepModel m;
  CostGraph& g = m.graph;
  g.serial_links = true;
  for (const DeviceInfo& d : devices) g.devices.push_back({d.name, d.type, std::nullopt, 1});
  for (int a = 0; a < int(devices.size()); ++a)
    for (int b = 0; b < int(devices.size()); ++b)
      if (a != b) g.links.push_back({a, b, costs.link(devices[size_t(a)], devices[size_t(b)])});
  std::unordered_map<const Node*, int> at;
  for (const Node* n : needed(net)) {
    at.emplace(n, int(g.nodes.size()));
    m.node.push_back(is_fed(net, n) ? nullptr : n);
    CostNode node{n->name(), {}};
    if (!m.node.back()) node.time = {{devices[0].name, 0.0}};
    else
      for (size_t d = 1; d < devices.size(); ++d)
        node.time.emplace_back(devices[d].name, costs.time(*n, devices[d])->seconds);
    for (const Output& in : n->inputs())
      if (const auto from = at.find(in.node); from != at.end())
        g.edges.push_back({from->second, int(g.nodes.size()), costs.bytes(*in.node, in.index), in.index});
    g.nodes.push_back(std::move(node));
  }
  for (const Output& f : net.fetches) {
    g.edges.push_back({at.at(f.node), int(g.nodes.size()), costs.bytes(*f.node, f.index), f.index});
    g.nodes.push_back({"fetch " + std::to_string(g.nodes.size()), {{devices[0].name, 0.0}}});
    m.node.push_back(nullptr);
  }
  return m;
}

double predicted(const StepModel& model, const std::vector<int>& device) {
  const planning::Problem problem(model.graph);
  std::vector<int> where;
  std::vector<double> priority;  // of what is ready, the executor takes about the oldest
  for (size_t i = 0; i < model.node.size(); ++i) {
    where.push_back(model.node[i] ? device[size_t(model.node[i]->id())] : 0);
    priority.push_back(-double(i));
  }
  return planning::ListSimulation(problem).by_priority(where, priority);
}

}  // namespace emplace::bench
