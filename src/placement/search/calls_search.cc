#include "placement/search/calls_search.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <numeric>

#include "placement/search/memory.h"
#include "placement/search/simulate_calls.h"

namespace emplace::planning {
namespace {

constexpr int kSpread = 4;  // levels between neighbours, so that calls can come between

class CallsAnnealing {
 public:
  CallsAnnealing(const Problem& p, double bound, uint64_t seed, Budget& budget, Solution& best)
      : p_(p), bound_(bound), random_(seed), budget_(budget), best_(best), memory_(p),
        pos_(p.nodes), seen_(p.nodes, 0), done_(p.nodes), free_(p.devices), tail_(p.nodes, 0) {
    for (size_t k = p.topo.size(); k-- > 0;)
      for (const Arc& a : p.succ(p.topo[k]))
        tail_[p.topo[k]] = std::max(tail_[p.topo[k]], tail_[a.node] + p.min_time[a.node]);
  }

  void run() {
    levels_of_best();
    for (int round = 0; !over(); ++round) {
      restart();
      // First what is near, then, where there is time for it, from so hot that little is left of where
      // it began.
      const Round& r = kRounds[std::min<size_t>(round, std::size(kRounds) - 2 + round % 2)];
      anneal(int64_t(p_.nodes) * 100 << r.doublings, r.hot);
    }
  }

 private:
  struct Round {
    int doublings;
    double hot;  // share of the best value
  };
  static constexpr Round kRounds[] = {{0, 0.015}, {3, 0.1}, {7, 0.5}, {8, 0.2}, {9, 0.5}};

  bool over() { return budget_.over() || best_.value <= bound_ * (1 + 1e-9); }

  // The best plan's calls as levels: its calls in an order in which they can run.
  void levels_of_best() {
    best_level_.assign(p_.nodes, 0);
    for (int i : p_.topo)
      for (const Arc& a : p_.pred(i))
        best_level_[i] =
            std::max(best_level_[i], best_level_[a.node] + (best_.where[a.node] != best_.where[i]));
    const double value = *calls_end(p_, best_.where, best_level_);
    if (value < best_.value) best_.value = value, best_.call = best_level_;
    start_where_ = best_.where;
  }

  int rank(int i) const { return p_.is_cpu[where_[i]] ? p_.devices + p_.rank[i] : where_[i]; }
  bool before(int a, int b) const {
    return level_[a] != level_[b] ? level_[a] < level_[b] : rank(a) < rank(b);
  }
  bool one_call(int a, int b) const {
    return where_[a] == where_[b] && level_[a] == level_[b] && !p_.is_cpu[where_[a]];
  }
  bool edge_holds(int u, int v) const {
    if (level_[u] != level_[v]) return level_[u] < level_[v];
    return p_.is_cpu[where_[v]] || where_[u] == where_[v];
  }
  bool holds(int i) const {
    for (const Arc& a : p_.pred(i))
      if (!edge_holds(a.node, i)) return false;
    for (const Arc& a : p_.succ(i))
      if (!edge_holds(i, a.node)) return false;
    return true;
  }

  void restart() {
    where_ = start_where_;
    level_ = best_level_;
    memory_ = Memory(p_);
    for (int u = 0; u < p_.units; ++u) memory_.take(u, where_[p_.members(u)[0]]);
    spread();
    now_ = evaluate(kInfinity);
  }

  // Levels anew, with room between them; the order by level and device.
  void spread() {
    std::vector<int> used(level_);
    std::sort(used.begin(), used.end());
    used.erase(std::unique(used.begin(), used.end()), used.end());
    for (int& l : level_)
      l = kSpread * int(std::lower_bound(used.begin(), used.end(), l) - used.begin());
    order_.resize(p_.nodes);
    std::iota(order_.begin(), order_.end(), 0);
    std::sort(order_.begin(), order_.end(), [&](int a, int b) {
      return before(a, b) || (!before(b, a) && a < b);
    });
    for (int k = 0; k < p_.nodes; ++k) pos_[order_[k]] = k;
  }

  void anneal(int64_t length, double hot) {
    constexpr double kCold = 0.0001;
    const double from = budget_.progress();
    double heat = hot;
    for (int64_t k = 0; k < length; ++k) {
      if (!budget_.spend(8)) return;
      if (k % 32 == 0) {  // cold when the round ends, or the budget
        const double spent = (budget_.progress() - from) / std::max(1e-9, 1 - from);
        heat = hot * std::pow(kCold / hot, std::max(spent, double(k) / double(length)));
      }
      if (k % 4096 == 4095) spread();
      if (!step(now_ - best_.value * heat * std::log(random_.unit() + 1e-300))) continue;
      if (now_ < best_.value * (1 - 1e-12)) {
        best_.value = now_;
        best_.where = start_where_ = where_;
        best_.call = best_level_ = level_;
      }
    }
  }

  bool step(double limit) {
    undo_.clear();
    const int i = random_.below(p_.nodes), kind = random_.below(10);
    bool possible;
    if (kind < 4) possible = join_neighbour(i);
    else if (kind < 6) possible = move_alone(i);
    else if (kind < 8) possible = pull_along(i);
    else if (kind < 9) possible = move_call(i);
    else possible = swap(i);
    if (possible && !undo_.empty() && valid()) {
      const double value = evaluate(limit);
      if (value <= limit) {
        now_ = value;
        return true;
      }
    }
    for (size_t k = undo_.size(); k-- > 0;) set(undo_[k].node, undo_[k].device, undo_[k].level);
    return false;
  }

  bool valid() {
    for (const Was& w : undo_)
      if (!holds(w.node)) return false;
    return true;
  }

  bool change(int i, int device, int level) {
    const int u = p_.unit_of[i];
    if (device != where_[i]) {
      if (!p_.may(u, device) || !memory_.has_room(u, device)) return false;
      if (p_.members(u).size() > 1) {
        for (int j : p_.members(u)) {
          undo_.push_back({j, where_[j], level_[j]});
          set_alone(j, device, j == i ? level : level_[j]);
        }
        memory_.drop(u, undo_.back().device);
        memory_.take(u, device);
        return true;
      }
    } else if (level == level_[i]) {
      return true;
    }
    undo_.push_back({i, where_[i], level_[i]});
    set(i, device, level);
    return true;
  }

  // Memory is counted for the unit's first member, so that undoing member by member is right.
  void set(int i, int device, int level) {
    const int u = p_.unit_of[i];
    if (device != where_[i] && p_.members(u)[0] == i) {
      memory_.drop(u, where_[i]);
      memory_.take(u, device);
    }
    set_alone(i, device, level);
  }

  void set_alone(int i, int device, int level) {
    where_[i] = device;
    level_[i] = level;
    int at = pos_[i];
    for (; at > 0 && before(i, order_[at - 1]); --at) pos_[order_[at] = order_[at - 1]] = at;
    for (; at + 1 < p_.nodes && before(order_[at + 1], i); ++at)
      pos_[order_[at] = order_[at + 1]] = at;
    pos_[order_[at] = i] = at;
  }

  int neighbour(int i) {
    const int before = int(p_.pred(i).size()), all = before + int(p_.succ(i).size());
    if (all == 0) return random_.below(p_.nodes);
    const int k = random_.below(all);
    return k < before ? p_.pred(i)[k].node : p_.succ(i)[k - before].node;
  }

  bool join_neighbour(int i) {
    const int j = neighbour(i);
    return !one_call(i, j) && change(i, where_[j], level_[j]);
  }

  // The levels that a node may take by itself.
  std::pair<int, int> window(int i) const {
    int low = 0, high = kNone;
    for (const Arc& a : p_.pred(i)) low = std::max(low, level_[a.node]);
    for (const Arc& a : p_.succ(i)) high = std::min(high, level_[a.node]);
    if (high == kNone) high = level_[order_.back()] + kSpread;
    return {low, std::max(low, high)};
  }

  bool move_alone(int i) {
    const auto allowed = p_.allowed(p_.unit_of[i]);
    const auto [low, high] = window(i);
    const int d = random_.below(3) == 0 ? where_[i] : allowed[random_.below(int(allowed.size()))];
    return change(i, d, low + random_.below(high - low + 1));
  }

  // Nodes that hang together in one call, to a neighbour's call or to a device of their own.
  bool pull_along(int i) {
    const int j = neighbour(i), from = where_[i], level = level_[i];
    const auto allowed = p_.allowed(p_.unit_of[i]);
    const bool join = random_.below(2) == 0;
    const int device = join ? where_[j] : allowed[random_.below(int(allowed.size()))];
    const auto [low, high] = window(i);
    const int to = join ? level_[j] : low + random_.below(high - low + 1);
    if (device == from && to == level) return false;
    const int way = random_.below(3);
    stack_.assign(1, i);
    for (int left = 2 + random_.below(10); left > 0 && !stack_.empty();) {
      const int k = stack_.back();
      stack_.pop_back();
      if (where_[k] != from || level_[k] != level) continue;
      if (!change(k, device, to)) return false;
      --left;
      if (way != 0)
        for (const Arc& a : p_.succ(k)) stack_.push_back(a.node);
      if (way != 1)
        for (const Arc& a : p_.pred(k)) stack_.push_back(a.node);
    }
    return true;
  }

  void members_of_call(int i) {
    stack_.clear();
    int k = pos_[i];
    while (k > 0 && one_call(order_[k - 1], i)) --k;
    for (; k < p_.nodes && (order_[k] == i || one_call(order_[k], i)); ++k) stack_.push_back(order_[k]);
  }

  bool move_call(int i) {
    members_of_call(i);
    const auto allowed = p_.allowed(p_.unit_of[i]);
    const int d = random_.below(2) ? where_[i] : allowed[random_.below(int(allowed.size()))];
    const int level = std::max(0, level_[i] + (random_.below(2) ? random_.below(4 * kSpread + 1) - 2 * kSpread : 0));
    for (int k : std::vector<int>(stack_))
      if (!change(k, d, level)) return false;
    return true;
  }

  // Two nodes of different devices change places: where memory is full nothing else moves.
  bool swap(int i) {
    const int j = random_.below(p_.nodes);
    const int u = p_.unit_of[i], v = p_.unit_of[j], a = where_[i], b = where_[j];
    if (a == b || p_.members(u).size() > 1 || p_.members(v).size() > 1) return false;
    if (!p_.may(u, b) || !p_.may(v, a)) return false;
    const int level_i = level_[i], level_j = level_[j];
    undo_.push_back({i, a, level_i});
    set(i, b, level_j);
    undo_.push_back({j, b, level_j});
    set(j, a, level_i);
    return memory_.free(a) >= 0 && memory_.free(b) >= 0;
  }

  // The end of the sample, or infinity once it is sure to pass the limit.
  double evaluate(double limit) {
    std::fill(free_.begin(), free_.end(), 0);
    double last = 0;
    for (int k = 0; k < p_.nodes;) {
      const int first = k, d = where_[order_[k]];
      const bool cpu = p_.is_cpu[d];
      double at = cpu ? 0 : free_[d], took = 0, tail = 0;
      ++stamp_;
      do {
        const int i = order_[k++];
        took += p_.time(i, d);
        tail = std::max(tail, tail_[i]);
        for (const Arc& a : p_.pred(i)) {
          if (one_call(a.node, i) || seen_[a.node] == stamp_) continue;
          seen_[a.node] = stamp_;
          at = std::max(at, done_[a.node]);
          if (!cpu) took += p_.host_cost[a.node];
        }
        if (cpu) continue;
        for (const Arc& a : p_.succ(i))
          if (!one_call(a.node, i)) {
            took += p_.host_cost[i];
            break;
          }
      } while (k < p_.nodes && one_call(order_[k], order_[first]));
      const double end = at + took;
      if (end + tail > limit) return kInfinity;
      if (!cpu) free_[d] = end;
      for (int x = first; x < k; ++x) done_[order_[x]] = end;
      last = std::max(last, end);
    }
    return last;
  }

  static constexpr int kNone = 1 << 30;
  struct Was {
    int node, device, level;
  };
  const Problem& p_;
  const double bound_;
  Random random_;
  Budget& budget_;
  Solution& best_;
  Memory memory_;
  std::vector<int> where_, level_, order_, pos_, start_where_, best_level_, stack_;
  std::vector<Was> undo_;
  std::vector<int> seen_;
  std::vector<double> done_, free_, tail_;
  int stamp_ = 0;
  double now_ = kInfinity;
};

}  // namespace

void anneal_calls(const Problem& p, double bound, uint64_t seed, Budget& budget, Solution& best) {
  if (p.nodes > 1 && p.devices > 1) CallsAnnealing(p, bound, seed, budget, best).run();
}

double calls_bound(const Problem& p) {
  std::vector<double> end(p.nodes);
  double last = 0;
  for (int i : p.topo) {
    double at = 0;
    for (const Arc& a : p.pred(i)) at = std::max(at, end[a.node]);
    last = std::max(last, end[i] = at + p.min_time[i]);
  }
  return last;
}

}  // namespace emplace::planning
