#include "placement/search/simulate_calls.h"

#include <algorithm>
#include <map>

namespace emplace::planning {
namespace {

// Nodes grouped into calls; a CPU node is alone.
struct Calls {
  std::vector<int> of;  // by node
  std::vector<int> device;
  std::vector<std::vector<int>> members;
  std::vector<std::pair<int, int>> turns;  // neighbours on one device
};

Calls group(const Problem& p, std::span<const int> where, std::span<const int> number) {
  Calls calls;
  calls.of.resize(p.nodes);
  std::map<std::pair<int, int>, int> known;  // sorted: a device's calls stand side by side
  const auto fresh = [&](int d) {
    calls.device.push_back(d);
    calls.members.emplace_back();
    return int(calls.device.size()) - 1;
  };
  for (int i = 0; i < p.nodes; ++i) {
    const int d = where[i];
    int c;
    if (p.is_cpu[d]) {
      c = fresh(d);
    } else {
      const auto [at, is_new] = known.try_emplace({d, number[i]}, 0);
      if (is_new) at->second = fresh(d);
      c = at->second;
    }
    calls.of[i] = c;
    calls.members[c].push_back(i);
  }
  for (auto a = known.begin(); a != known.end(); ++a)
    if (auto b = std::next(a); b != known.end() && b->first.first == a->first.first)
      calls.turns.emplace_back(a->second, b->second);
  return calls;
}

// Empty where calls wait for each other.
std::vector<int> order_of(const Problem& p, const Calls& calls) {
  const int n = int(calls.device.size());
  std::vector<std::vector<int>> next(n);
  std::vector<int> left(n, 0), order;
  const auto add = [&](int a, int b) { next[a].push_back(b), ++left[b]; };
  for (int i = 0; i < p.nodes; ++i)
    for (const Arc& a : p.succ(i))
      if (calls.of[i] != calls.of[a.node]) add(calls.of[i], calls.of[a.node]);
  for (const auto& [a, b] : calls.turns) add(a, b);
  for (int c = 0; c < n; ++c)
    if (left[c] == 0) order.push_back(c);
  for (size_t k = 0; k < order.size(); ++k)
    for (int b : next[order[k]])
      if (--left[b] == 0) order.push_back(b);
  if (int(order.size()) != n) order.clear();
  return order;
}

}  // namespace

std::optional<double> calls_end(const Problem& p, std::span<const int> where,
                                std::span<const int> call) {
  const Calls calls = group(p, where, call);
  const std::vector<int> order = order_of(p, calls);
  if (order.empty() && p.nodes > 0) return std::nullopt;
  std::vector<double> done(p.nodes, 0), free(p.devices, 0);
  std::vector<int> seen(p.nodes, -1);
  double last = 0;
  for (int c : order) {
    const int d = calls.device[c];
    double took = 0, at = 0, inputs = 0;
    for (int i : calls.members[c]) {
      took += p.time(i, d);
      for (const Arc& a : p.pred(i)) {
        if (calls.of[a.node] == c || seen[a.node] == c) continue;
        seen[a.node] = c;
        inputs += p.host_cost[a.node];
        at = std::max(at, done[a.node]);
      }
      const bool used = std::any_of(p.succ(i).begin(), p.succ(i).end(),
                                    [&](const Arc& a) { return calls.of[a.node] != c; });
      if (!p.is_cpu[d] && used) took += p.host_cost[i];
    }
    if (!p.is_cpu[d]) {
      took += inputs;
      at = std::max(at, free[d]);
      free[d] = at + took;
    }
    for (int i : calls.members[c]) done[i] = at + took;
    last = std::max(last, at + took);
  }
  return last;
}

std::vector<int> default_calls(const Problem& p, std::span<const int> where) {
  std::vector<int> call(p.nodes, 0), depth(p.nodes);
  for (int d = 0; d < p.devices; ++d) {
    if (p.is_cpu[d]) continue;
    for (int i : p.topo) {
      int most = where[i] == d;
      for (const Arc& a : p.pred(i))
        most = std::max(most, depth[a.node] + (where[i] == d && where[a.node] != d));
      depth[i] = most;
      if (where[i] == d) call[i] = most;
    }
  }
  if (!order_of(p, group(p, where, call)).empty()) return call;
  for (int i : p.topo) {
    call[i] = 0;
    for (const Arc& a : p.pred(i))
      call[i] = std::max(call[i], call[a.node] + (where[a.node] != where[i]));
  }
  return call;
}

}  // namespace emplace::planning
