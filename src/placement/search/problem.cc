#include "placement/search/problem.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <queue>
#include <tuple>
#include <unordered_map>

#include "emplace/error.h"

namespace emplace::planning {
namespace {

constexpr size_t kLargestTable = size_t{1} << 22;

bool whole(double x) { return x == std::floor(x); }

// Rows of a compressed table from (row, value) pairs in order.
template <typename T, typename Row>
void compress(int rows, const std::vector<T>& items, Row row_of, std::vector<int>& at,
              std::vector<T>& out) {
  at.assign(rows + 1, 0);
  for (const T& x : items) ++at[row_of(x) + 1];
  for (int i = 0; i < rows; ++i) at[i + 1] += at[i];
  std::vector<int> next(at.begin(), at.end() - 1);
  out.resize(items.size());
  for (const T& x : items) out[next[row_of(x)]++] = x;
}

void check_devices(const CostGraph& g) {
  if (g.devices.empty()) throw invalid_argument("The case has no device");
  for (const CostDevice& d : g.devices) {
    if (d.slots && *d.slots < 1)
      throw invalid_argument(fmt::format("Device {} has {} slots", d.name, *d.slots));
    if (d.memory && !(*d.memory >= 0))
      throw invalid_argument(fmt::format("The memory of device {} is not a size", d.name));
    if (!(d.launch_s >= 0) || !std::isfinite(d.launch_s))
      throw invalid_argument(fmt::format("A launch on device {} takes {} s", d.name, d.launch_s));
    if (!(d.pool_cores > 0))
      throw invalid_argument(fmt::format("The pool of device {} has {} cores", d.name, d.pool_cores));
  }
}

void check_link(const CostLink& l) {
  if (!(l.latency_s >= 0) || !(l.bytes_per_s > 0) || !std::isfinite(l.latency_s))
    throw invalid_argument(fmt::format(
        "A link of {} s and {} bytes/s: latency must not be negative, the rate must be positive",
        l.latency_s, l.bytes_per_s));
}

}  // namespace

Problem::Problem(const CostGraph& g)
    : graph(g), nodes(int(g.nodes.size())), devices(int(g.devices.size())) {
  check_devices(g);
  for (const CostDevice& d : g.devices) {
    slots.push_back(d.slots.value_or(0));
    one_slot &= slots.back() <= 1;
    is_cpu.push_back(d.type == "CPU");
    limited |= d.memory.has_value();
  }
  const bool exact = std::all_of(g.nodes.begin(), g.nodes.end(),
                                 [](const CostNode& n) { return whole(n.memory); });
  for (const CostDevice& d : g.devices)
    room.push_back(d.memory ? *d.memory * (exact ? 1 : 1 - 1e-12) : kInfinity);
  read_pools();
  read_times();
  read_edges();
  sort_nodes();
  read_links();
  make_units();
  allow_devices();
  find_twins();
  find_grain();
}

void Problem::read_pools() {
  std::unordered_map<std::string, int> index;
  for (const CostDevice& d : graph.devices) {
    pool.push_back(-1);
    most_cores.push_back(d.most_cores > 0 ? d.most_cores : kInfinity);
    if (d.pool.empty()) continue;
    const auto [at, fresh] = index.emplace(d.pool, int(pool_cores.size()));
    if (fresh) pool_cores.push_back(d.pool_cores);
    else if (pool_cores[at->second] != d.pool_cores)
      throw invalid_argument(fmt::format("Pool '{}' has {} cores and {} cores", d.pool,
                                         pool_cores[at->second], d.pool_cores));
    pool.back() = at->second;
  }
}

void Problem::read_times() {
  time_.assign(size_t(nodes) * devices, kInfinity);
  std::unordered_map<std::string, std::vector<int>> by_name, by_type;
  for (int d = 0; d < devices; ++d) {
    by_name[graph.devices[d].name].push_back(d);
    by_type[graph.devices[d].type].push_back(d);
  }
  for (const auto& [name, who] : by_name)
    if (who.size() > 1) throw invalid_argument(fmt::format("Two devices are called {}", name));
  const auto fill = [&](int i, const auto& table) {
    for (const auto& [key, seconds] : graph.nodes[i].time) {
      const auto found = table.find(key);
      if (found == table.end()) continue;
      if (!(seconds >= 0) || !std::isfinite(seconds))
        throw invalid_argument(fmt::format("The time of node '{}' on {} is {}",
                                           graph.nodes[i].name, key, seconds));
      for (int d : found->second)
        time_[size_t(i) * devices + d] =
            seconds > 0 ? std::max(seconds, graph.devices[d].launch_s) : 0;
    }
  };
  for (int i = 0; i < nodes; ++i) {
    fill(i, by_type);
    fill(i, by_name);
    if (!(graph.nodes[i].memory >= 0) || !std::isfinite(graph.nodes[i].memory))
      throw invalid_argument(
          fmt::format("The memory of node '{}' is not a size", graph.nodes[i].name));
    if (!(graph.nodes[i].cores > 0))
      throw invalid_argument(fmt::format("Node '{}' keeps {} cores busy", graph.nodes[i].name,
                                         graph.nodes[i].cores));
  }
}

void Problem::read_edges() {
  std::vector<Arc> out, in;
  std::vector<int> src, dst;
  for (size_t e = 0; e < graph.edges.size(); ++e) {
    const CostEdge& x = graph.edges[e];
    if (x.src < 0 || x.src >= nodes || x.dst < 0 || x.dst >= nodes)
      throw invalid_argument(fmt::format("Edge {} names a node that is not there", e));
    if (!(x.bytes >= 0) || !std::isfinite(x.bytes))
      throw invalid_argument(fmt::format("The edge from '{}' to '{}' has no size",
                                         graph.nodes[x.src].name, graph.nodes[x.dst].name));
    out.push_back({x.dst, int(e)});
    in.push_back({x.src, int(e)});
  }
  compress(nodes, out, [&](const Arc& a) { return graph.edges[a.edge].src; }, succ_at_, succ_);
  compress(nodes, in, [&](const Arc& a) { return graph.edges[a.edge].dst; }, pred_at_, pred_);
}

// The order of the evaluator: of the nodes that are ready, the first one named.
void Problem::sort_nodes() {
  std::vector<int> left(nodes);
  std::priority_queue<int, std::vector<int>, std::greater<>> ready;
  for (int i = 0; i < nodes; ++i)
    if ((left[i] = int(pred(i).size())) == 0) ready.push(i);
  rank.assign(nodes, -1);
  while (!ready.empty()) {
    const int i = ready.top();
    ready.pop();
    rank[i] = int(topo.size());
    topo.push_back(i);
    for (const Arc& a : succ(i))
      if (--left[a.node] == 0) ready.push(a.node);
  }
  for (int i = 0; i < nodes; ++i)
    if (rank[i] < 0)
      throw invalid_argument(
          fmt::format("Node '{}' waits for itself: the graph has a cycle", graph.nodes[i].name));
}

double Problem::transfer_bytes(double bytes, int link_class) const {
  const LinkClass& c = classes_[link_class];
  const double t = c.latency + bytes / c.rate;
  return c.times == 2 ? t * 2 : t;
}

void Problem::read_links() {
  check_link(graph.default_link);
  std::vector<const CostLink*> link(size_t(devices) * devices, &graph.default_link);
  for (const CostLinkPair& p : graph.links) {
    check_link(p.link);
    if (p.src < 0 || p.src >= devices || p.dst < 0 || p.dst >= devices)
      throw invalid_argument("A link names a device that is not there");
    link[size_t(p.src) * devices + p.dst] = &p.link;
  }
  std::map<std::tuple<double, double, int>, int> known;
  std::map<std::string, int> channels;
  link_class.assign(size_t(devices) * devices, -1);
  channel.resize(size_t(devices) * devices);
  for (int a = 0; a < devices; ++a)
    for (int b = 0; b < devices; ++b) {
      const size_t ab = size_t(a) * devices + b;
      channel[ab] = int(ab);
      if (!link[ab]->channel.empty())
        channel[ab] = devices * devices +
                      channels.emplace(link[ab]->channel, int(channels.size())).first->second;
      const bool free = a == b || (graph.through_host && is_cpu[a] && is_cpu[b]);
      if (free) continue;
      const int times = graph.through_host && !is_cpu[a] && !is_cpu[b] ? 2 : 1;
      const auto [at, fresh] = known.emplace(
          std::tuple(link[ab]->latency_s, link[ab]->bytes_per_s, times), int(known.size()));
      if (fresh) classes_.push_back({link[ab]->latency_s, link[ab]->bytes_per_s, times});
      link_class[ab] = at->second;
    }
  const size_t edges = graph.edges.size();
  const bool some_free = [&] {
    for (int a = 0; a < devices; ++a)
      for (int b = 0; b < devices; ++b)
        if (a != b && link_class[size_t(a) * devices + b] < 0) return true;
    return false;
  }();
  min_transfer.assign(edges, some_free || classes_.empty() ? 0 : kInfinity);
  for (size_t e = 0; e < edges; ++e)
    for (size_t c = 0; c < classes_.size(); ++c)
      min_transfer[e] = std::min(min_transfer[e], transfer_bytes(graph.edges[e].bytes, int(c)));
  if (classes_.size() * edges <= kLargestTable)
    for (size_t c = 0; c < classes_.size(); ++c)
      for (size_t e = 0; e < edges; ++e)
        cost_.push_back(transfer_bytes(graph.edges[e].bytes, int(c)));
  host_cost.assign(nodes, 0);
  for (int i = 0; i < nodes; ++i) {
    double most = 0;
    for (const Arc& a : succ(i)) most = std::max(most, graph.edges[a.edge].bytes);
    host_cost[i] = graph.default_link.latency_s + most / graph.default_link.bytes_per_s;
  }
}

void Problem::make_units() {
  unit_of.assign(nodes, -1);
  std::vector<int> of_group(graph.groups.size(), -1);
  std::vector<int> all(nodes);
  for (int i = 0; i < nodes; ++i) {
    const int g = graph.nodes[i].group;
    if (g >= int(of_group.size())) throw invalid_argument("A node is in a group without a name");
    int& unit = g < 0 ? unit_of[i] : of_group[g];
    if (unit < 0) unit = units++;
    unit_of[i] = unit;
    all[i] = i;
  }
  compress(units, all, [&](int i) { return unit_of[i]; }, member_at_, members_);
  unit_memory.assign(units, 0);
  for (int i = 0; i < nodes; ++i) unit_memory[unit_of[i]] += graph.nodes[i].memory;
}

void Problem::allow_devices() {
  std::unordered_map<std::string, int> by_name;
  for (int d = 0; d < devices; ++d) by_name.emplace(graph.devices[d].name, d);
  may_.assign(size_t(units) * devices, 1);
  min_time.assign(nodes, kInfinity);
  for (int i = 0; i < nodes; ++i) {
    const std::string& pin = graph.nodes[i].pin;
    int pinned = -1;
    if (!pin.empty()) {
      const auto found = by_name.find(pin);
      if (found == by_name.end())
        throw invalid_argument(fmt::format("Node '{}' is pinned to {}, which is not there",
                                           graph.nodes[i].name, pin));
      pinned = found->second;
    }
    for (int d = 0; d < devices; ++d)
      if (time(i, d) == kInfinity || (pinned >= 0 && pinned != d))
        may_[size_t(unit_of[i]) * devices + d] = 0;
  }
  allowed_at_.push_back(0);
  for (int u = 0; u < units; ++u) {
    for (int d = 0; d < devices; ++d)
      if (may(u, d)) allowed_.push_back(d);
    allowed_at_.push_back(int(allowed_.size()));
    if (allowed(u).empty()) {
      const CostNode& first = graph.nodes[members(u)[0]];
      throw invalid_argument(
          first.group < 0
              ? fmt::format("No device can run node '{}': it has no kernel{}", first.name,
                            first.pin.empty() ? "" : " on " + first.pin + ", to which it is pinned")
              : fmt::format("No device can run all nodes of group '{}' ('{}' is the first): "
                            "kernels and pins contradict each other",
                            graph.groups[first.group], first.name));
    }
    for (int i : members(u))
      for (int d : allowed(u)) min_time[i] = std::min(min_time[i], time(i, d));
  }
}

bool Problem::alike(int a, int b) const {
  if (slots[a] != slots[b] || room[a] != room[b] || is_cpu[a] != is_cpu[b] || pool[a] != pool[b] ||
      most_cores[a] != most_cores[b])
    return false;
  for (int i = 0; i < nodes; ++i)
    if (time(i, a) != time(i, b)) return false;
  for (int u = 0; u < units; ++u)
    if (may(u, a) != may(u, b)) return false;
  const auto classes = [&](int x, int y) { return link_class[size_t(x) * devices + y]; };
  for (int d = 0; d < devices; ++d)
    if (d != a && d != b && (classes(a, d) != classes(b, d) || classes(d, a) != classes(d, b)))
      return false;
  return classes(a, b) == classes(b, a);
}

void Problem::find_twins() {
  const bool channels = graph.serial_links &&
                        std::any_of(channel.begin(), channel.end(),
                                    [&](int c) { return c >= devices * devices; });
  for (int d = 0; d < devices; ++d) {
    twin.push_back(d);
    for (int e = 0; e < d && twin[d] == d && !channels; ++e)
      if (twin[e] == e && alike(e, d)) twin[d] = e;
  }
}

// Euclid's algorithm on times, as far as rounding lets it. Only small graphs are worth it.
void Problem::find_grain() {
  if (nodes > 256) return;
  std::vector<double> values;
  for (double t : time_)
    if (t > 0 && t < kInfinity) values.push_back(t);
  for (size_t e = 0; e < graph.edges.size(); ++e)
    for (size_t c = 0; c < classes_.size(); ++c)
      values.push_back(transfer_bytes(graph.edges[e].bytes, int(c)));
  const double largest = values.empty() ? 0 : *std::max_element(values.begin(), values.end());
  if (largest == 0) return;
  double g = 0;
  for (double v : values) {
    double a = std::max(g, v), b = std::min(g, v);
    while (b > largest * 1e-6) {
      double r = std::fmod(a, b);
      if (b - r < largest * 1e-9) r = 0;
      a = b;
      b = r;
    }
    if (b > largest * 1e-9) return;  // no common measure
    g = a;
  }
  for (double v : values)
    if (std::abs(v / g - std::round(v / g)) > 1e-6) return;
  grain = g;
}

double Problem::round_up(double bound) const {
  return grain > 0 ? std::ceil(bound / grain - 1e-6) * grain : bound;
}

}  // namespace emplace::planning
