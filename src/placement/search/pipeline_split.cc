#include "placement/search/pipeline_split.h"

#include <algorithm>
#include <numeric>

namespace emplace::planning {
namespace {

// Nodes topologically, going deep before wide or as named, from the sources or from the sinks.
template <typename Next, typename Before>
std::vector<int> deep_order(const Problem& p, const Next& next, const Before& before) {
  std::vector<int> left(p.nodes), order, stack;
  for (int i = p.nodes; i-- > 0;)
    if ((left[i] = int(before(i).size())) == 0) stack.push_back(i);
  while (!stack.empty()) {
    const int i = stack.back();
    stack.pop_back();
    order.push_back(i);
    const auto arcs = next(i);
    for (size_t k = arcs.size(); k-- > 0;)
      if (--left[arcs[k].node] == 0) stack.push_back(arcs[k].node);
  }
  return order;
}

std::vector<int> units_in(const Problem& p, const std::vector<int>& nodes) {
  std::vector<int> units;
  std::vector<char> seen(p.units, 0);
  for (int i : nodes)
    if (!seen[p.unit_of[i]]) seen[p.unit_of[i]] = 1, units.push_back(p.unit_of[i]);
  return units;
}

// The load of a span of units on an accelerator as it grows to the right.
class Span {
 public:
  Span(const Problem& p, int device)
      : p_(p), device_(device), inside_(p.units, -1), paid_(p.nodes, -1), outside_(p.nodes) {}
  void begin(int stamp) { stamp_ = stamp, load = time = memory = 0; }
  void add(int unit) {
    inside_[unit] = stamp_;
    memory += p_.unit_memory[unit];
    for (int i : p_.members(unit)) add_node(i);
  }
  double load = 0, time = 0, memory = 0;

 private:
  bool has(int node) const { return inside_[p_.unit_of[node]] == stamp_; }
  void add_node(int i) {
    const double t = p_.time(i, device_);
    time += t, load += t;
    if (p_.is_cpu[device_]) return;
    if (paid_[i] == stamp_) load -= p_.host_cost[i], paid_[i] = -1;  // it came in till now
    outside_[i] = 0;
    for (const Arc& a : p_.succ(i)) outside_[i] += !has(a.node);
    if (outside_[i] > 0) load += p_.host_cost[i];
    for (const Arc& a : p_.pred(i)) {
      if (p_.unit_of[a.node] == p_.unit_of[i]) continue;
      if (has(a.node)) {
        if (--outside_[a.node] == 0) load -= p_.host_cost[a.node];
      } else if (paid_[a.node] != stamp_) {
        paid_[a.node] = stamp_;
        load += p_.host_cost[a.node];
      }
    }
  }

  const Problem& p_;
  const int device_;
  int stamp_ = 0;
  std::vector<int> inside_, paid_, outside_;
};

}  // namespace

std::vector<int> alike_accelerators(const Problem& p) {
  std::vector<std::vector<int>> sets(p.devices);
  for (int d = 0; d < p.devices; ++d) sets[p.twin[d]].push_back(d);
  const auto better = [&](const std::vector<int>& a, const std::vector<int>& b) {
    if (a.empty() || b.empty()) return a.size() < b.size();
    if (p.is_cpu[a[0]] != p.is_cpu[b[0]]) return p.is_cpu[a[0]] > p.is_cpu[b[0]];
    return a.size() < b.size();
  };
  return *std::max_element(sets.begin(), sets.end(), better);
}

std::vector<std::vector<int>> unit_orders(const Problem& p) {
  const auto succ = [&](int i) { return p.succ(i); };
  const auto pred = [&](int i) { return p.pred(i); };
  std::vector<int> back = deep_order(p, pred, succ);
  std::reverse(back.begin(), back.end());
  return {units_in(p, deep_order(p, succ, pred)), units_in(p, back), units_in(p, p.topo)};
}

std::vector<int> best_split(const Problem& p, const std::vector<int>& order, SplitGoal goal,
                            double limit) {
  const std::vector<int> devices = alike_accelerators(p);
  const int kind = devices[0], most = int(devices.size()), n = int(order.size());
  for (int u : order)
    if (!p.may(u, kind)) return {};
  // value[k][i]: the fullest of k spans over the first i units.
  std::vector<std::vector<double>> value(most + 1, std::vector<double>(n + 1, kInfinity));
  std::vector<std::vector<int>> from(most + 1, std::vector<int>(n + 1, -1));
  for (int k = 0; k <= most; ++k) value[k][0] = 0;
  Span span(p, kind);
  for (int j = 0; j < n; ++j) {
    int first = 0;  // fewest spans before j
    while (first < most && value[first][j] >= limit) ++first;
    if (first == most) continue;
    span.begin(j);
    for (int i = j + 1; i <= n; ++i) {
      span.add(order[i - 1]);
      if (span.time >= limit || !p.fits(kind, span.memory)) break;
      if (span.load >= limit) continue;
      for (int k = first; k < most; ++k) {
        const double v = goal == SplitGoal::kSum ? value[k][j] + span.load
                                                 : std::max(value[k][j], span.load);
        if (v < value[k + 1][i]) value[k + 1][i] = v, from[k + 1][i] = j;
      }
    }
  }
  int k = 0;
  for (int c = 1; c <= most; ++c)
    if (value[c][n] < value[k][n] || k == 0) k = c;
  if (value[k][n] >= limit) return {};
  std::vector<int> where(p.units);
  for (int i = n; i > 0; i = from[k][i], --k)
    for (int x = from[k][i]; x < i; ++x) where[order[x]] = devices[k - 1];
  return where;
}

}  // namespace emplace::planning
