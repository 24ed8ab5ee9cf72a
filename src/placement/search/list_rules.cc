#include "placement/search/list_rules.h"

#include <algorithm>
#include <functional>
#include <optional>
#include <queue>
#include <tuple>

#include "placement/search/list_schedule.h"

namespace emplace::planning {
namespace {

// Mean transfer of an edge over all pairs of devices: fixed + per byte.
std::pair<double, double> mean_link(const Problem& p) {
  double fixed = 0, per_byte = 0;
  int pairs = 0;
  constexpr double kMany = double(int64_t{1} << 40);
  for (int a = 0; a < p.devices; ++a)
    for (int b = 0; b < p.devices; ++b) {
      if (a == b) continue;
      ++pairs;
      const int c = p.link_class[size_t(a) * p.devices + b];
      if (c < 0) continue;
      fixed += p.transfer_bytes(0, c);
      per_byte += p.transfer_bytes(kMany, c) - p.transfer_bytes(0, c);
    }
  if (pairs == 0) return {0, 0};
  return {fixed / pairs, per_byte / pairs / kMany};
}

}  // namespace

std::vector<double> upward_ranks(const Problem& p, Rank kind) {
  auto [fixed, per_byte] = mean_link(p);
  const double share = kind == Rank::kMean ? 1 : kind == Rank::kBest ? 0.5 : 0;
  fixed *= share, per_byte *= share;
  std::vector<double> rank(p.nodes, 0);
  for (size_t k = p.topo.size(); k-- > 0;) {
    const int i = p.topo[k];
    double below = 0;
    for (const Arc& a : p.succ(i))
      below = std::max(below, fixed + per_byte * p.graph.edges[a.edge].bytes + rank[a.node]);
    double sum = 0;
    int able = 0;
    for (int d = 0; d < p.devices; ++d)
      if (p.time(i, d) < kInfinity) sum += p.time(i, d), ++able;
    rank[i] = below + (kind == Rank::kMean ? sum / able : p.min_time[i]);
  }
  return rank;
}

Solution greedy_rule(const Problem& p) {
  Choices choices(p);
  Schedule s(p);
  std::vector<int> left(p.nodes);
  std::vector<double> free(p.devices, 0);
  std::priority_queue<std::pair<double, int>, std::vector<std::pair<double, int>>, std::greater<>>
      ready;
  for (int i = 0; i < p.nodes; ++i)
    if ((left[i] = int(p.pred(i).size())) == 0) ready.emplace(0.0, i);
  while (!ready.empty()) {
    const int i = ready.top().second;
    ready.pop();
    double best = kInfinity, best_start = 0;
    int device = -1;
    for (int d : choices.of(i)) {
      double at = s.arrival(p, i, d);
      if (p.slots[d] != 0) at = std::max(at, free[d]);
      if (device < 0 || at + p.time(i, d) < best - kTie)
        best = at + p.time(i, d), best_start = at, device = d;
    }
    choices.take(i, device);
    s.put(i, device, best_start, best);
    free[device] = std::max(free[device], best);
    for (const Arc& a : p.succ(i)) {
      if (--left[a.node] > 0) continue;
      double when = 0;
      for (const Arc& b : p.pred(a.node)) when = std::max(when, s.finish[b.node]);
      ready.emplace(when, a.node);
    }
  }
  return s.solution("greedy");
}

namespace {

Solution by_rank(const Problem& p, Rank kind, bool look_ahead, Choices choices) {
  ListScheduler scheduler(p);
  Solution s = scheduler.run(upward_ranks(p, kind), look_ahead ? 1 : 0, std::move(choices));
  const bool exact = p.graph.model == PlanModel::kList && !p.graph.serial_links && p.one_slot &&
                     p.pool_cores.empty();
  if (!exact) s.value = kInfinity;  // till it is simulated
  s.found_by = look_ahead ? "look-ahead ranks" : kind == Rank::kMean ? "HEFT" : "ranks";
  return s;
}

// The kind of device of each unit that `affinity_rule` asks for; empty where there are not two.
std::vector<int> kinds_by_gain(const Problem& p, double shift) {
  std::vector<int> kinds, count(p.devices, 0);
  for (int d = 0; d < p.devices; ++d) {
    if (p.twin[d] == d) kinds.push_back(d);
    ++count[p.twin[d]];
  }
  if (kinds.size() != 2) return {};
  const int a = kinds[0], b = kinds[1];
  struct Gain {
    double gain, on_a, on_b;
    int unit;
  };
  std::vector<Gain> gains;
  std::vector<int> kind(p.units, -1);
  double load_a = 0, load_b = 0;
  for (int u = 0; u < p.units; ++u) {
    double on_a = 0, on_b = 0;
    for (int i : p.members(u)) on_a += p.time(i, a), on_b += p.time(i, b);
    if (on_a == kInfinity || on_b == kInfinity) {
      (on_a == kInfinity ? load_b : load_a) += std::min(on_a, on_b);
      continue;
    }
    gains.push_back({on_a / std::max(on_b, 1e-300), on_a, on_b, u});
    load_a += on_a;
  }
  std::stable_sort(gains.begin(), gains.end(),
                   [](const Gain& x, const Gain& y) { return x.gain > y.gain; });
  for (const Gain& g : gains) {
    const bool more = load_a / count[a] > (load_b + g.on_b) / count[b] * (1 + shift);
    kind[g.unit] = more ? b : a;
    if (more) load_a -= g.on_a, load_b += g.on_b;
  }
  return kind;
}

}  // namespace

Solution ranked_rule(const Problem& p, Rank rank, bool look_ahead) {
  return by_rank(p, rank, look_ahead, Choices(p));
}

Solution affinity_rule(const Problem& p, double shift) {
  std::vector<int> kind = kinds_by_gain(p, shift);
  if (kind.empty()) return {};
  Choices choices(p);
  choices.prefer(std::move(kind));
  Solution s = by_rank(p, Rank::kBest, false, std::move(choices));
  s.found_by = "affinity";
  return s;
}

Solution single_rule(const Problem& p, int device) {
  double need = 0;
  for (int u = 0; u < p.units; ++u) {
    if (!p.may(u, device)) return {};
    need += p.unit_memory[u];
  }
  if (!p.fits(device, need)) return {};
  Solution s;
  s.where.assign(p.nodes, device);
  s.order = p.topo;
  s.found_by = "one device";
  return s;
}

}  // namespace emplace::planning
