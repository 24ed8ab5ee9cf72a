#include "placement/search/list_rules.h"

#include <algorithm>
#include <functional>
#include <optional>
#include <queue>
#include <tuple>

#include "placement/search/memory.h"

namespace emplace::planning {
namespace {

constexpr double kTie = 1e-12;

// Which devices a node may still take.
class Choices {
 public:
  explicit Choices(const Problem& p) : p_(p), memory_(p), fixed_(p.units, -1) {}
  // Devices of one kind alone, by unit, where such a device has room; -1: any.
  void prefer(std::vector<int> kind) { kind_ = std::move(kind); }
  const std::vector<int>& of(int node) {
    const int u = p_.unit_of[node];
    list_.clear();
    if (fixed_[u] >= 0) {
      list_.push_back(fixed_[u]);
      return list_;
    }
    if (!kind_.empty() && kind_[u] >= 0)
      for (int d : p_.allowed(u))
        if (p_.twin[d] == kind_[u] && memory_.has_room(u, d)) list_.push_back(d);
    if (list_.empty())
      for (int d : p_.allowed(u))
        if (memory_.has_room(u, d)) list_.push_back(d);
    if (list_.empty())
      list_.push_back(*std::max_element(p_.allowed(u).begin(), p_.allowed(u).end(), [&](int a, int b) {
        return memory_.free(a) < memory_.free(b);
      }));
    return list_;
  }
  void take(int node, int device) {
    int& fixed = fixed_[p_.unit_of[node]];
    if (fixed >= 0) return;
    fixed = device;
    memory_.take(p_.unit_of[node], device);
  }

 private:
  const Problem& p_;
  Memory memory_;
  std::vector<int> fixed_, list_, kind_;
};

struct Schedule {
  explicit Schedule(const Problem& p) : where(p.nodes, -1), start(p.nodes), finish(p.nodes) {}
  std::vector<int> where, made;
  std::vector<double> start, finish;

  double arrival(const Problem& p, int node, int device) const {
    double t = 0;
    for (const Arc& a : p.pred(node))
      t = std::max(t, finish[a.node] + p.transfer(a.edge, where[a.node], device));
    return t;
  }
  void put(int node, int device, double s, double f) {
    where[node] = device, start[node] = s, finish[node] = f;
    made.push_back(node);
  }
  Solution solution(const char* found_by) {
    Solution s;
    s.order = made;
    std::stable_sort(s.order.begin(), s.order.end(),
                     [&](int a, int b) { return start[a] < start[b]; });
    s.where = where;
    s.found_by = found_by;
    return s;
  }
};

// The busy times of a device, sorted; finds the first gap.
class Gaps {
 public:
  double first(double from, double length) const {
    auto at = std::lower_bound(busy_.begin(), busy_.end(), std::pair(from, from));
    if (at != busy_.begin()) --at;
    for (; at != busy_.end(); ++at) {
      if (from + length <= at->first + kTie) break;
      from = std::max(from, at->second);
    }
    return from;
  }
  void add(double from, double to) {
    if (to > from) busy_.insert(std::lower_bound(busy_.begin(), busy_.end(), std::pair(from, to)),
                                {from, to});
  }

 private:
  std::vector<std::pair<double, double>> busy_;
};

// For each node and kind of device, the least that must follow its end there: the table of
// predict-earliest-finish-time. Devices that are twins share a column.
class Prospects {
 public:
  explicit Prospects(const Problem& p) : p_(p), rest_(size_t(p.nodes) * p.devices, 0) {
    for (int d = 0; d < p.devices; ++d)
      if (p.twin[d] == d) kinds_.push_back(d);
    for (size_t k = p.topo.size(); k-- > 0;) fill(p.topo[k]);
  }
  double rest(int node, int device) const {
    return rest_[size_t(node) * p_.devices + p_.twin[device]];
  }

 private:
  void fill(int i) {
    for (int a : kinds_) {
      double most = 0;
      for (const Arc& s : p_.succ(i)) {
        double least = kInfinity;
        for (int b : kinds_) {
          const double t = p_.time(s.node, b);
          if (t == kInfinity) continue;
          const double move = a == b ? 0 : p_.transfer(s.edge, a, b);
          least = std::min(least, rest(s.node, b) + t + move);
        }
        if (least < kInfinity) most = std::max(most, least);
      }
      rest_[size_t(i) * p_.devices + a] = most;
    }
  }
  const Problem& p_;
  std::vector<double> rest_;
  std::vector<int> kinds_;
};

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
  Schedule s(p);
  const std::vector<double> rank = upward_ranks(p, kind);
  std::optional<Prospects> prospects;
  if (look_ahead) prospects.emplace(p);
  using Entry = std::tuple<double, int, int>;
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> ready;
  std::vector<int> left(p.nodes);
  for (int i = 0; i < p.nodes; ++i)
    if ((left[i] = int(p.pred(i).size())) == 0) ready.emplace(-rank[i], p.rank[i], i);
  std::vector<Gaps> gaps(p.devices);
  while (!ready.empty()) {
    const int i = std::get<2>(ready.top());
    ready.pop();
    double best = kInfinity, best_start = 0;
    int device = -1;
    for (int d : choices.of(i)) {
      double at = s.arrival(p, i, d);
      if (p.slots[d] != 0) at = gaps[d].first(at, p.time(i, d));
      const double score = at + p.time(i, d) + (prospects ? prospects->rest(i, d) : 0);
      if (device < 0 || score < best - kTie) best = score, best_start = at, device = d;
    }
    const double end = best_start + p.time(i, device);
    choices.take(i, device);
    s.put(i, device, best_start, end);
    gaps[device].add(best_start, end);
    for (const Arc& a : p.succ(i))
      if (--left[a.node] == 0) ready.emplace(-rank[a.node], p.rank[a.node], a.node);
  }
  return s.solution(look_ahead ? "look-ahead ranks" : kind == Rank::kMean ? "HEFT" : "ranks");
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
