// One step of a graph under several ways of placing it, on devices that need not be here.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "emplace/error.h"
#include "emplace/what_if.h"
#include "exec/prune.h"
#include "placement/dynamic/cost_graph.h"
#include "placement/dynamic/dynamic_placer.h"
#include "placement/result.h"
#include "placement/costs/source.h"
#include "session/absent_devices.h"
#include "session/device_forecasts.h"
#include "session/runtime.h"
#include "session/table_oracle.h"

namespace emplace {
namespace {

using placement::StepCosts;

std::vector<DeviceInfo> devices_of(const Topology& topology) {
  std::vector<std::string> names;
  for (const auto& d : topology.devices) names.push_back(d.device.name);
  if (names.empty()) throw invalid_argument("The topology has no device");
  std::vector<DeviceInfo> devices = absent_devices(names);
  for (size_t d = 0; d < devices.size(); ++d) {
    const CostDevice& given = topology.devices[d].device;
    devices[d].memory = given.memory;
    devices[d].slots = given.slots;
    devices[d].pool = given.pool;
    devices[d].pool_cores = given.pool_cores;
    devices[d].most_cores = given.most_cores;
  }
  return devices;
}

// Kinds of which the book can say something.
std::set<std::string> kinds_in(const CostBook& book) {
  std::set<std::string> kinds;
  for (const DeviceRates& r : book.all_rates()) kinds.insert(r.device);
  for (const CostRow& r : book.rows()) kinds.insert(r.device);
  return kinds;
}

DeviceKinds kinds_of(const Topology& topology, std::span<const DeviceInfo> devices,
                     const CostBook& book) {
  const std::set<std::string> known = kinds_in(book);
  DeviceKinds kinds;
  for (size_t d = 0; d < devices.size(); ++d) {
    const std::string& kind = topology.devices[d].kind;
    if (kind.empty()) continue;
    if (!known.contains(kind))
      throw invalid_argument(fmt::format("Device {} is of kind '{}', of which the costs say nothing: "
                                         "they know {}",
                                         topology.devices[d].device.name, kind,
                                         known.empty() ? "none" : fmt::format("{}", fmt::join(known, ", "))));
    kinds.emplace(devices[d].name, kind);
  }
  return kinds;
}

class Looker {
 public:
  Looker(Graph& graph, const Topology& topology, const OutlookOptions& options)
      : graph_(graph), topology_(topology), options_(options), devices_(devices_of(topology)),
        table_(kernel_table(any_gpu()), devices_), oracle_(table_),
        costs_(options.costs, kinds_of(topology, devices_, options.costs)), nodes_(graph.nodes()),
        needed_(nodes_) {
    if (!options.fetches.empty()) {
      std::vector<Node*> roots;
      for (const Output& o : options.fetches) roots.push_back(o.node);
      needed_ = needed_nodes(roots, {});
      std::ranges::sort(needed_, {}, &Node::id);
    }
  }

  std::vector<Outlook> run() {
    const bool pinned = std::ranges::any_of(nodes_, [](Node* n) { return !n->device().empty(); });
    {
      ClearedRequests cleared(graph_);
      for (Node* n : nodes_) cleared.clear(n);
      by_rules("simple placer");
    }
    if (pinned) by_rules("your pins");
    planned();
    return std::move(out_);
  }

 private:
  static SessionOptions any_gpu() {
    SessionOptions options;
    options.virtual_gpus = 1;  // what a GPU can run in principle, not what a card's backend has
    return options;
  }

  PlacementRequest request() const {
    PlacementRequest r{nodes_, devices_, &oracle_};
    r.options.allow_soft_placement = options_.soft;
    r.options.search = options_.search;
    r.costs = &costs_;
    r.run.fetches = options_.fetches;
    return r;
  }

  // One step of what is fetched, and nothing else. What the topology says of devices and links
  // counts.
  StepCosts step_of() const {
    PlacementRequest r = request();
    r.nodes = needed_;
    const auto tied = placement::tied(r);
    StepCosts step = placement::step_costs(r, tied->groups);
    for (int& i : step.node)  // numbers among all nodes
      if (i >= 0)
        i = static_cast<int>(std::ranges::lower_bound(nodes_, needed_[i]->id(), {}, &Node::id) -
                             nodes_.begin());
    for (size_t d = 0; d < devices_.size(); ++d)
      step.graph.devices[d].launch_s = topology_.devices[d].device.launch_s;
    if (topology_.default_link) {
      step.graph.links.clear();
      step.graph.default_link = *topology_.default_link;
    }
    for (const CostLinkPair& p : topology_.links) step.graph.links.push_back(p);
    return step;
  }

  // The rules' answer, and before the first one everything on each device.
  void by_rules(const std::string& way) {
    try {
      const auto placed = placement::place_simply(request());
      const StepCosts step = step_of();
      if (out_.empty())
        for (size_t d = 0; d < devices_.size(); ++d) alone(static_cast<int>(d), placed->device, step);
      Outlook o = look(way, placed->device, step);
      for (size_t i = 0; i < nodes_.size(); ++i) add_row(o, placed->explain(i));
      out_.push_back(std::move(o));
    } catch (const Error& e) {
      refused(way, e);
    }
  }

  // Everything that has a kernel there; the rest stays where the rules have it.
  void alone(int device, std::vector<int> where, const StepCosts& step) {
    const std::string& name = devices_[device].name;
    size_t moved = 0;
    for (size_t i = 0; i < step.node.size(); ++i) {
      const auto& time = step.graph.nodes[i].time;
      const bool may = std::ranges::any_of(time, [&](const auto& t) { return t.first == name; });
      if (step.node[i] >= 0 && may) where[step.node[i]] = device, ++moved;
    }
    if (moved == 0) return;
    const DeviceInfo& d = devices_[device];
    Outlook o = look((d.local ? d.parsed.local_name() : name) + " alone", where, step);
    for (size_t i = 0; i < nodes_.size(); ++i)
      o.report.rows.push_back({nodes_[i]->name(), nodes_[i]->type(), devices_[where[i]].name,
                               where[i] == device ? "everything" : "no kernel there", {}});
    out_.push_back(std::move(o));
  }

  void planned() {
    const std::string way = "dynamic placer";
    try {
      const Placement placed = DynamicPlacer().place(request());
      Outlook o = look(way, placed.devices, step_of());
      for (size_t i = 0; i < nodes_.size(); ++i) add_row(o, placed.explain(i));
      out_.push_back(std::move(o));
    } catch (const Error& e) {
      refused(way, e);
    }
  }

  void refused(const std::string& way, const Error& e) {
    if (e.code() != Code::kResourceExhausted && e.node().empty()) throw;
    out_.emplace_back();
    out_.back().way = way;
    out_.back().problem = e.message();
  }

  void add_row(Outlook& o, const PlacedNode& p) const {
    PlacementRow row{p.node->name(), p.node->type(), devices_[p.device].name, p.detail, {}};
    for (const Rejected& r : p.rejected) row.rejected.push_back({r.device, r.why});
    o.report.rows.push_back(std::move(row));
  }

  // Figures are given of what does not fit, too.
  Outlook look(std::string way, const std::vector<int>& where, const StepCosts& step) const {
    Plan plan;
    for (size_t i = 0; i < step.node.size(); ++i)
      plan.device.push_back(step.node[i] >= 0 ? where[step.node[i]] : step.home[i]);
    CostGraph roomy = step.graph;
    for (CostDevice& d : roomy.devices) d.memory.reset();
    const PredictedStep predicted = predict(roomy, plan);
    Outlook o;
    o.way = std::move(way);
    o.step_s = predicted.step_s;
    o.timeline = timeline(roomy, predicted);
    const auto memory = device_forecasts(step.graph, predicted);
    for (size_t d = 0; d < memory.size(); ++d)
      o.devices.push_back({predicted.devices[d].busy_s, memory[d]});
    o.problem = what_is_too_much(memory);
    return o;
  }

  Graph& graph_;
  const Topology& topology_;
  const OutlookOptions& options_;
  const std::vector<DeviceInfo> devices_;
  const TableOracle table_;
  const LenientOracle oracle_;
  const BookCosts costs_;
  const std::vector<Node*> nodes_;  // by id
  std::vector<Node*> needed_;       // by the fetches
  std::vector<Outlook> out_;
};

}  // namespace

std::vector<Outlook> outlooks(Graph& graph, const Topology& topology, const OutlookOptions& options) {
  return Looker(graph, topology, options).run();
}

}  // namespace emplace
