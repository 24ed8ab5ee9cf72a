#include "placement/dynamic/cost_graph.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <set>
#include <unordered_map>

#include "op/shape_context.h"
#include "placement/dynamic/hints.h"

namespace emplace::placement {
namespace {

constexpr double kGuessedSeconds = 1e-6;  // a call of which nobody knows anything
constexpr double kGuessedRounds = 16;     // of a loop
constexpr double kGuessedDimension = 32;
constexpr double kOneCoresPart = 50e-6;  // seconds of work that stay on one core

double bytes_of(DType type, const Shape& shape) {
  if (!is_plain(type) || !shape.has_rank()) return 0;
  double n = static_cast<double>(dtype_size(type));
  for (const int64_t d : shape) n *= d < 0 ? kGuessedDimension : static_cast<double>(d);
  return n;
}

bool is_ref_variable(const Node& node) {
  return node.inputs().empty() && node.num_outputs() == 1 && node.output_is_ref(0);
}

// Its value lies where the variable's does.
bool shares_variable(const Node& node) {
  return node.type() == "ReadVariableOp" ||
         (node.type() == "Identity" && node.inputs()[0].is_ref());
}

// What fills variables, and files, is no work that steps are planned for.
bool done_once(const Node& node) {
  static constexpr std::string_view kOps[] = {"Assign",      "AssignVariableOp", "Fill",
                                              "SaveV2",      "RestoreV2",        "Save",
                                              "SaveSlices",  "Restore",          "RestoreSlice",
                                              "MergeV2Checkpoints"};
  return std::ranges::find(kOps, node.type()) != std::end(kOps) ||
         node.type().find("Random") != std::string::npos || node.type() == "TruncatedNormal";
}

class Maker {
 public:
  Maker(const PlacementRequest& request, Colocation& groups)
      : r_(request), groups_(groups), rounds_(request.nodes.size(), 1) {}

  StepCosts run() {
    add_devices();
    find_host();
    count_rounds();
    const StepNodes step = step_nodes(r_, groups_.index(), weights());
    out_.at.assign(r_.nodes.size(), -1);
    for (const int i : step) add_node(i);
    for (const int i : step) add_inputs(i);
    add_fetches();
    count_beside();
    keep_company();
    name_groups();
    return std::move(out_);
  }

 private:
  void add_devices() {
    CostGraph& g = out_.graph;
    g.serial_links = true;
    for (const DeviceInfo& d : r_.devices) out_.liking.push_back(d.priority);
    for (const DeviceInfo& d : r_.devices)
      g.devices.push_back(
          {d.name, d.type, d.memory, d.slots, 0, d.pool, d.pool_cores, d.most_cores});
    for (size_t a = 0; a < r_.devices.size(); ++a)
      for (size_t b = 0; b < r_.devices.size(); ++b)
        if (a != b)
          g.links.push_back({static_cast<int>(a), static_cast<int>(b),
                             r_.costs->link(r_.devices[a], r_.devices[b])});
  }

  void find_host() {
    const auto local_cpu = [](const DeviceInfo& d) { return d.local && d.type == "CPU"; };
    const auto found = std::ranges::find_if(r_.devices, local_cpu);
    host_ = found == r_.devices.end() ? 0 : static_cast<int>(found - r_.devices.begin());
  }

  // What is between Enter and Exit runs as often as the loop goes round.
  void count_rounds() {
    for (size_t i = 0; i < r_.nodes.size(); ++i) {
      const Node& node = *r_.nodes[i];
      double most = 1;
      for (const Output& in : node.inputs())
        if (const int at = groups_.index().of(in.node); at >= 0 && !closes_loop(*in.node))
          most = std::max(most, rounds_[at]);
      for (const Node* before : node.control_inputs())
        if (const int at = groups_.index().of(before); at >= 0) most = std::max(most, rounds_[at]);
      if (node.type() == "Enter" || node.type() == "RefEnter") most *= kGuessedRounds;
      if (node.type() == "Exit" || node.type() == "RefExit") most /= kGuessedRounds;
      rounds_[i] = std::max(1.0, most);
    }
  }

  NodeCost cost(int i, int device) const {
    const Node& node = *r_.nodes[i];
    if (const auto said = hinted_seconds(node, r_.devices[device])) return {*said, 0, false};
    NodeCost c = r_.costs->time(node, r_.devices[device]).value_or(NodeCost{kGuessedSeconds});
    if (!std::isfinite(c.seconds) || c.seconds < 0) c.seconds = kGuessedSeconds;
    return {c.seconds * rounds_[i], c.spread * rounds_[i], c.measured};
  }

  std::vector<double> weights() {
    std::vector<double> weight(r_.nodes.size(), 0);
    const std::vector<bool> once = nodes_done_once();
    for (int i = 0; i < groups_.size(); ++i)
      if (const auto& may = groups_.candidates(i); !may.empty() && !once[i])
        weight[i] = cost(i, may.front()).seconds;
    return weight;
  }

  // … and neither is what is made for them alone.
  std::vector<bool> nodes_done_once() const {
    std::vector<bool> once(r_.nodes.size()), read(r_.nodes.size()), read_often(r_.nodes.size());
    for (size_t i = r_.nodes.size(); i-- > 0;) {
      once[i] = done_once(*r_.nodes[i]) || (read[i] && !read_often[i]);
      for (const Output& in : r_.nodes[i]->inputs())
        if (const int from = groups_.index().of(in.node); from >= 0) {
          read[from] = true;
          if (!once[i]) read_often[from] = true;
        }
    }
    return once;
  }

  int new_node(std::string name, int request_node) {
    out_.graph.nodes.emplace_back().name = std::move(name);
    out_.node.push_back(request_node);
    out_.home.push_back(-1);
    out_.spread.emplace_back(r_.devices.size(), 0);
    out_.recorded.emplace_back(r_.devices.size(), 0);
    out_.outputs.push_back(0);
    return static_cast<int>(out_.graph.nodes.size()) - 1;
  }

  void add_node(int i) {
    const Node& node = *r_.nodes[i];
    const int at = out_.at[i] = new_node(node.name(), i);
    CostNode& n = out_.graph.nodes.back();
    for (const int d : groups_.candidates(i)) {
      const NodeCost c = cost(i, d);
      out_.spread[at][d] = c.spread;
      out_.recorded[at][d] = recorded(node, r_.devices[d]);
      n.time.emplace_back(r_.devices[d].name, c.seconds);
    }
    n.op = node.type();
    n.cores = cores(i, n);
    n.memory = kept_bytes(node);
    for (int o = 0; o < node.num_outputs(); ++o)
      n.output_bytes.push_back(n.memory > 0 || shares_variable(node) ? 0 : bytes(node, o));
    out_.outputs[at] = std::accumulate(n.output_bytes.begin(), n.output_bytes.end(), 0.0);
    out_.transient_bytes += out_.outputs[at];
    members_[groups_.find(i)].push_back(at);
  }

  // What takes long even where it is fastest is split over the cores of a pool.
  double cores(int i, const CostNode& n) const {
    double most = 0;
    for (size_t k = 0; k < n.time.size(); ++k) {
      const DeviceInfo& d = r_.devices[groups_.candidates(i)[k]];
      if (d.pool.empty() || d.pool_cores <= 1) continue;
      const double here = std::clamp(n.time[k].second / kOneCoresPart, 1.0, d.pool_cores);
      most = most > 0 ? std::min(most, here) : here;
    }
    return std::max(1.0, most);
  }

  // On which types of devices it may be a part of an island.
  bool recorded(const Node& node, const DeviceInfo& device) {
    if (!device.records) return false;
    const Kernels k = r_.oracle->kernels(node);
    return std::ranges::any_of(
        k.types, [&](const Support& s) { return s.replays && s.type == device.type; });
  }

  double bytes(const Node& node, int output) const {
    if (node.output_is_ref(output)) return 8;
    const double b = r_.costs->bytes(node, output);
    return std::isfinite(b) && b > 0 ? b : 0;
  }

  void add_inputs(int i) {
    const Node& node = *r_.nodes[i];
    for (const Output& in : node.inputs()) {
      const int from = source(in);
      if (from >= 0 && !closes_loop(*in.node))
        out_.graph.edges.push_back(
            {from, out_.at[i], bytes(*in.node, in.index) * rounds_[i], in.index});
    }
    for (const Node* before : node.control_inputs()) {
      const int k = groups_.index().of(before);
      if (k >= 0 && out_.at[k] >= 0 && !closes_loop(*before))
        out_.graph.edges.push_back({out_.at[k], out_.at[i], 0, -1});
    }
  }

  // Who gives an output: a feed, a node of the step, or nobody.
  int source(const Output& o) {
    const auto& feeds = r_.run.feeds;
    if (!feeds.empty() && feed_of_.empty())
      for (size_t f = 0; f < feeds.size(); ++f) feed_of_.emplace(feeds[f].node, f);
    const auto [first, last] = feed_of_.equal_range(o.node);
    for (auto it = first; it != last; ++it)
      if (feeds[it->second].index == o.index) return feed(it->second);
    const int k = groups_.index().of(o.node);
    return k < 0 ? -1 : out_.at[k];
  }

  int feed(size_t f) {
    const auto [it, fresh] = feeds_.try_emplace(f, -1);
    if (fresh) {
      const auto& where = r_.run.feed_devices;
      it->second = fixed("feed " + r_.run.feeds[f].name(), where.empty() ? -1 : where[f]);
    }
    return it->second;
  }

  // A node that takes no time, on a device (-1: the host).
  int fixed(std::string name, int device) {
    const int at = new_node(std::move(name), -1);
    const int home = out_.home[at] = device < 0 ? host_ : device;
    out_.graph.nodes.back().time.emplace_back(r_.devices[home].name, 0.0);
    return at;
  }

  void add_fetches() {
    for (const Output& o : r_.run.fetches) {
      const int k = groups_.index().of(o.node);
      if (k < 0 || out_.at[k] < 0) continue;
      if (r_.run.fetches_stay) {
        out_.graph.nodes[out_.at[k]].fetched = true;
        continue;
      }
      const int to = fixed("fetch " + o.name(), -1);
      out_.graph.edges.push_back({out_.at[k], to, bytes(*o.node, o.index), o.index});
    }
  }

  // Constants of other steps (initial values, say) stay where what reads them is.
  void count_beside() {
    for (size_t i = 0; i < r_.nodes.size(); ++i)
      for (const Output& in : r_.nodes[i]->inputs()) {
        const int from = groups_.index().of(in.node);
        if (from < 0 || out_.at[from] >= 0 || in.node->type() != "Const") continue;
        if (const auto with = members_.find(groups_.find(static_cast<int>(i)));
            with != members_.end())
          out_.graph.nodes[with->second.front()].memory += kept_bytes(*in.node);
      }
  }

  // Groups whose users want them together become one, as long as a device is left for all.
  void keep_company() {
    std::map<std::string, int> first;  // by name: the root that the others join
    for (size_t i = 0; i < r_.nodes.size(); ++i) {
      const std::string* company = out_.at[i] < 0 ? nullptr : hinted_company(*r_.nodes[i]);
      if (!company) continue;
      int root = groups_.find(static_cast<int>(i));
      while (joined_.contains(root)) root = joined_.at(root);
      const auto [to, fresh] = first.try_emplace(*company, root);
      while (joined_.contains(to->second)) to->second = joined_.at(to->second);
      if (to->second != root) join(root, to->second);
    }
  }

  void join(int root, int to) {
    const auto& mine = out_.graph.nodes[members_[root].front()].time;
    const auto& theirs = out_.graph.nodes[members_[to].front()].time;
    const auto in = [](const auto& times, const std::string& device) {
      return std::ranges::any_of(times, [&](const auto& t) { return t.first == device; });
    };
    std::set<std::string> both;
    for (const auto& [device, seconds] : mine)
      if (in(theirs, device)) both.insert(device);
    if (both.empty()) return;  // demands come before wishes
    members_[to].insert(members_[to].end(), members_[root].begin(), members_[root].end());
    members_.erase(root);
    joined_[root] = to;
    for (const int at : members_[to])
      std::erase_if(out_.graph.nodes[at].time, [&](const auto& t) { return !both.contains(t.first); });
  }

  void name_groups() {
    for (const auto& [root, nodes] : members_) {
      if (nodes.size() < 2) continue;
      for (const int at : nodes)
        out_.graph.nodes[at].group = static_cast<int>(out_.graph.groups.size());
      out_.graph.groups.push_back("with " + out_.graph.nodes[nodes.front()].name);
    }
  }

  const PlacementRequest& r_;
  Colocation& groups_;
  std::vector<double> rounds_;  // how often a node runs in a step
  int host_ = 0;                // whose memory feeds and fetches are in
  StepCosts out_;
  std::unordered_map<int, std::vector<int>> members_;  // of the graph, by root of their group
  std::unordered_map<int, int> joined_;  // roots that joined others, which users want them with
  std::unordered_multimap<const Node*, size_t> feed_of_;
  std::unordered_map<size_t, int> feeds_;
};

}  // namespace

double kept_bytes(const Node& node) {
  if (node.type() == "VarHandleOp")
    if (const HandleInfo* h = node.handle(0)) return bytes_of(h->dtype, h->shape);
  if (node.type() == "Const")
    if (const AttrValue* v = node.attr("value"); v && v->is<Tensor>())
      return static_cast<double>(v->as<Tensor>().bytes());
  if (is_ref_variable(node))
    return bytes_of(node.output_type(0), node.output_shape(0));
  return 0;
}

StepCosts step_costs(const PlacementRequest& request, Colocation& groups) {
  return Maker(request, groups).run();
}

}  // namespace emplace::placement
