#include "placement/search/pipeline_search.h"

#include <algorithm>
#include <cmath>

#include "placement/search/memory.h"
#include "placement/search/simulate_load.h"

namespace emplace::planning {
namespace {

class PipelineAnnealing {
 public:
  PipelineAnnealing(const Problem& p, double bound, uint64_t seed, Budget& budget, Solution& best)
      : p_(p), bound_(bound), random_(seed), budget_(budget), best_(best), memory_(p),
        used_by_(size_t(p.nodes) * p.devices), mark_(p.nodes, 0) {}

  void run() {
    for (int round = 0; !over(); ++round) {
      restart();
      anneal(int64_t(p_.units) * 150 << std::min(round, 8), round);
    }
  }

 private:
  bool over() { return budget_.over() || best_.value <= bound_ * (1 + 1e-9); }

  void restart() {
    where_ = to_units(p_, best_.where);
    memory_ = Memory(p_);
    for (int u = 0; u < p_.units; ++u) memory_.take(u, where_[u]);
    std::fill(used_by_.begin(), used_by_.end(), 0);
    for (int i = 0; i < p_.nodes; ++i)
      for (const Arc& a : p_.succ(i)) ++used_by(i, where_[p_.unit_of[a.node]]);
    load_ = device_loads(p_, best_.where);
    scale_ = 1 / best_.value;
    now_ = norm();
  }

  void anneal(int64_t length, int round) {
    const double hot = round % 2 ? 0.003 : 0.02, cold = 0.00003;
    double heat = hot;
    for (int64_t k = 0; k < length; ++k) {
      if (!budget_.spend(32)) return;
      if (k % 64 == 0) heat = hot * std::pow(cold / hot, double(k) / double(length));
      if (!step(now_ - heat * std::log(random_.unit() + 1e-300))) continue;
      if (*std::max_element(load_.begin(), load_.end()) < best_.value * (1 - 1e-9)) keep();
    }
  }

  void keep() {
    const std::vector<int> where = to_nodes(p_, where_);
    const double value = fullest_load(p_, where);  // without what sums have drifted by
    if (value >= best_.value) return;
    best_.value = value;
    best_.where = where;
  }

  bool step(double limit) {
    undo_.clear();
    const int u = random_.below(p_.units);
    const int kind = random_.below(8);
    bool possible;
    if (kind < 5) possible = shift(u, near_device(u));
    else if (kind < 6) possible = swap(u);
    else possible = pull_along(u, near_device(u));
    if (possible && !undo_.empty()) {
      const double value = norm();
      if (value <= limit) {
        now_ = value;
        return true;
      }
    }
    for (size_t k = undo_.size(); k-- > 0;) apply(undo_[k].first, undo_[k].second);
    return false;
  }

  bool shift(int u, int device) {
    if (device == where_[u] || !p_.may(u, device) || !memory_.has_room(u, device)) return false;
    undo_.emplace_back(u, where_[u]);
    apply(u, device);
    return true;
  }

  // Two units change devices: where memory is tight nothing else can move.
  bool swap(int u) {
    const int v = random_.below(p_.units), a = where_[u], b = where_[v];
    if (a == b || !p_.may(u, b) || !p_.may(v, a)) return false;
    undo_.emplace_back(u, a);
    apply(u, b);
    undo_.emplace_back(v, b);
    apply(v, a);
    return memory_.free(a) >= 0 && memory_.free(b) >= 0;
  }

  bool pull_along(int u, int device) {
    const int from = where_[u];
    for (int left = 2 + random_.below(6); left > 0 && where_[u] == from; --left) {
      if (!shift(u, device)) return left > 1 && !undo_.empty();
      u = neighbour(u);
    }
    return true;
  }

  int neighbour(int u) {
    const auto members = p_.members(u);
    const int i = members[random_.below(int(members.size()))];
    const int before = int(p_.pred(i).size()), all = before + int(p_.succ(i).size());
    if (all == 0) return u;
    const int k = random_.below(all);
    return p_.unit_of[k < before ? p_.pred(i)[k].node : p_.succ(i)[k - before].node];
  }

  int near_device(int u) {
    if (random_.below(8) != 0)
      for (int tries = 0; tries < 3; ++tries)
        if (const int d = where_[neighbour(u)]; d != where_[u]) return d;
    const auto allowed = p_.allowed(u);
    return allowed[random_.below(int(allowed.size()))];
  }

  int& used_by(int node, int device) { return used_by_[size_t(node) * p_.devices + device]; }

  // A node's transfers, on its device and on those that use it.
  void pay(int i, double sign) {
    const int d = where_[p_.unit_of[i]];
    bool leaves = false;
    for (int e = 0; e < p_.devices; ++e) {
      if (e == d || used_by(i, e) == 0) continue;
      leaves = true;
      if (!p_.is_cpu[e]) load_[e] += sign * p_.host_cost[i];
    }
    if (leaves && !p_.is_cpu[d]) load_[d] += sign * p_.host_cost[i];
  }

  void apply(int u, int device) {
    const int from = where_[u];
    touched_.clear();
    ++stamp_;
    const auto touch = [&](int i) {
      if (mark_[i] != stamp_) mark_[i] = stamp_, touched_.push_back(i);
    };
    for (int i : p_.members(u)) {
      touch(i);
      for (const Arc& a : p_.pred(i)) touch(a.node);
    }
    for (int i : touched_) pay(i, -1);
    for (int i : p_.members(u)) {
      load_[from] -= p_.time(i, from);
      load_[device] += p_.time(i, device);
      for (const Arc& a : p_.pred(i)) --used_by(a.node, from), ++used_by(a.node, device);
    }
    where_[u] = device;
    for (int i : touched_) pay(i, 1);
    memory_.drop(u, from);
    memory_.take(u, device);
  }

  double norm() const {
    double sum = 0;
    for (double l : load_) {
      double x = l * scale_;
      x *= x, x *= x, x *= x, x *= x;
      sum += x * x;
    }
    return std::sqrt(std::sqrt(std::sqrt(std::sqrt(std::sqrt(sum)))));
  }

  const Problem& p_;
  const double bound_;
  Random random_;
  Budget& budget_;
  Solution& best_;
  Memory memory_;
  std::vector<int> where_;
  std::vector<int> used_by_;  // by node and device: edges from the node to there
  std::vector<double> load_;
  std::vector<int> mark_, touched_;
  std::vector<std::pair<int, int>> undo_;
  int stamp_ = 0;
  double scale_ = 1, now_ = 0;
};

}  // namespace

void anneal_pipeline(const Problem& p, double bound, uint64_t seed, Budget& budget,
                     Solution& best) {
  if (p.units > 1 && p.devices > 1) PipelineAnnealing(p, bound, seed, budget, best).run();
}

double pipeline_bound(const Problem& p) {
  std::vector<double> speed(p.devices, 0);
  double work = 0, largest = 0;
  for (int u = 0; u < p.units; ++u) {
    std::vector<double> on;
    for (int d : p.allowed(u)) {
      double t = 0;
      for (int i : p.members(u)) t += p.time(i, d);
      on.push_back(t);
    }
    const double least = *std::min_element(on.begin(), on.end());
    work += least;
    largest = std::max(largest, least);
    for (size_t k = 0; k < on.size(); ++k)
      speed[p.allowed(u)[k]] = std::max(speed[p.allowed(u)[k]], on[k] > 0 ? least / on[k] : 1);
  }
  double all = 0;
  for (double s : speed) all += s;
  return std::max(largest, all > 0 ? work / all : 0);
}

}  // namespace emplace::planning
