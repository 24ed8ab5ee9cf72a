#include "placement/search/list_anneal.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "placement/search/memory.h"
#include "placement/search/order_search.h"
#include "placement/search/simulate_list.h"

namespace emplace::planning {
namespace {


class Annealing {
 public:
  Annealing(const Problem& p, const ListBounds& bounds, uint64_t seed, Budget& budget,
            Solution& best)
      : p_(p),
        bounds_(bounds),
        random_(seed),
        budget_(budget),
        best_(best),
        order_alone_(order_alone_counts(p)),
        pos_(p.nodes),
        finish_(p.nodes),
        free_(p.devices),
        slot_free_(p.devices),
        last_start_(p.devices),
        memory_(p) {}

  void run() {
    while (!done()) {
      // Rounds grow: short ones find what is easy, long ones what is not.
      const int64_t length = int64_t(kRound * p_.nodes) << std::min(round_, 6);
      begin();
      anneal(length);
      ++round_;
    }
  }

 private:
  static constexpr double kRound = 120;

  bool done() { return budget_.over() || best_.value <= bounds_.value * (1 + 1e-9); }

  void begin() {
    order_ = best_.order;
    where_ = best_.where;
    if (round_ % 3 == 1 && !p_.limited && p_.units == p_.nodes) gather();
    unit_where_ = to_units(p_, where_);
    memory_ = Memory(p_);
    for (int u = 0; u < p_.units; ++u) memory_.take(u, unit_where_[u]);
    for (int k = 0; k < p_.nodes; ++k) pos_[order_[k]] = k;
    now_ = evaluate(kInfinity);
  }

  // Far from where the best one is: all on one device.
  void gather() {
    const int d = random_.below(p_.devices);
    for (int i = 0; i < p_.nodes; ++i)
      if (p_.may(p_.unit_of[i], d)) where_[i] = d;
  }

  void anneal(int64_t length) {
    static constexpr double kHeats[] = {0.08, 0.03, 0.15};
    const double hot = best_.value * kHeats[round_ % 3], cold = best_.value * 0.001;
    for (int64_t k = 0; k < length; ++k) {
      if (!budget_.spend(16)) return;
      const double heat = hot * std::pow(cold / hot, double(k) / double(length));
      const double limit = now_ - heat * std::log(random_.unit() + 1e-300);
      if (!move(limit)) continue;
      if (now_ < best_.value * (1 - 1e-12)) {
        keep();
        if (best_.value <= bounds_.value * (1 + 1e-9)) return;
      }
    }
  }

  void keep() {
    best_.order = order_;
    best_.where = where_;
    best_.value = now_;
  }

  // One change, kept if the value stays under the limit.
  bool move(double limit) {
    if (!order_alone_ && random_.below(6) == 0) return move_many(limit);
    if (!order_alone_ && random_.below(4) == 0) return exchange(limit);
    const int i = random_.below(p_.nodes), u = p_.unit_of[i];
    const int old_pos = pos_[i], old_device = where_[i];
    const int device = order_alone_ || random_.below(3) == 0 ? old_device : pick_device(i);
    int to = old_pos;
    if (device == old_device || random_.below(2) == 0) to = pick_position(i);
    if (device == old_device && to == old_pos) return false;
    if (device != old_device) {
      if (!memory_.has_room(u, device)) return false;
      assign(u, device);
    }
    shift(old_pos, to);
    const double value = evaluate(limit);
    if (value <= limit) {
      now_ = value;
      return true;
    }
    shift(to, old_pos);
    if (device != old_device) assign(u, old_device);
    return false;
  }

  // A set of nodes that belong together, to one device; or the later halves of two devices swapped.
  bool move_many(double limit) {
    changed_.clear();
    const int i = random_.below(p_.nodes), device = pick_device(i);
    bool possible = true;
    if (random_.below(4) == 0) possible = swap_after(i, device);
    else possible = pull_along(i, device, random_.below(3));
    possible &= !changed_.empty();
    const bool anew = possible && random_.below(2) == 0;
    if (anew) order_anew();
    const double value = possible ? evaluate(limit) : kInfinity;
    if (value <= limit) {
      now_ = value;
      return true;
    }
    if (anew) take_order(former_order_);
    for (size_t k = changed_.size(); k-- > 0;) assign(changed_[k].first, changed_[k].second);
    return false;
  }

  // Two nodes take each other's device, and most often each other's turn as far as the edges allow.
  bool exchange(double limit) {
    const int i = random_.below(p_.nodes), j = random_.below(p_.nodes);
    const int a = where_[i], b = where_[j], u = p_.unit_of[i], v = p_.unit_of[j];
    if (a == b || p_.limited || !p_.may(u, b) || !p_.may(v, a)) return false;
    assign(u, b), assign(v, a);
    const int at_i = pos_[i], at_j = pos_[j];
    const bool turns = random_.below(4) != 0;
    if (turns) shift(at_i, nearest_position(i, at_j));
    const int then_j = pos_[j];
    if (turns) shift(then_j, nearest_position(j, at_i));
    const double value = evaluate(limit);
    if (value <= limit) {
      now_ = value;
      return true;
    }
    shift(pos_[j], then_j);
    shift(pos_[i], at_i);
    assign(u, a), assign(v, b);
    return false;
  }

  // What leads to a copy that was not there before has to come sooner.
  void order_anew() {
    former_order_ = order_;
    const std::vector<double> level = bottom_levels(p_, where_);
    std::stable_sort(order_.begin(), order_.end(),
                     [&](int a, int b) { return level[a] > level[b]; });
    take_order(order_);
  }

  void take_order(const std::vector<int>& order) {
    order_ = order;
    for (int k = 0; k < p_.nodes; ++k) pos_[order_[k]] = k;
  }

  bool change(int unit, int device) {
    if (!p_.may(unit, device) || !memory_.has_room(unit, device)) return false;
    changed_.emplace_back(unit, unit_where_[unit]);
    assign(unit, device);
    return true;
  }

  // The node and what hangs on it (before, after, or both) on the same device.
  bool pull_along(int i, int device, int way) {
    const int from = where_[i], most = 1 + random_.below(p_.nodes);
    if (device == from) return false;
    stack_.assign(1, i);
    for (int moved = 0; !stack_.empty() && moved < most; ++moved) {
      const int k = stack_.back();
      stack_.pop_back();
      if (where_[k] != from) continue;
      if (!change(p_.unit_of[k], device)) return false;
      if (way != 0)
        for (const Arc& a : p_.succ(k)) stack_.push_back(a.node);
      if (way != 1)
        for (const Arc& a : p_.pred(k)) stack_.push_back(a.node);
    }
    return true;
  }

  bool swap_after(int i, int device) {
    const int from = where_[i];
    if (device == from || p_.limited || p_.units != p_.nodes) return false;
    for (int k = pos_[i]; k < p_.nodes; ++k) {
      const int j = order_[k];
      const int to = where_[j] == from ? device : where_[j] == device ? from : -1;
      if (to >= 0 && !change(p_.unit_of[j], to)) return false;
    }
    return true;
  }

  void assign(int unit, int device) {
    memory_.drop(unit, unit_where_[unit]);
    memory_.take(unit, device);
    unit_where_[unit] = device;
    for (int i : p_.members(unit)) where_[i] = device;
  }

  // A neighbour's device more often than any.
  int pick_device(int i) {
    const auto allowed = p_.allowed(p_.unit_of[i]);
    const int near = int(p_.pred(i).size() + p_.succ(i).size());
    if (near > 0 && random_.below(2) == 0) {
      const int k = random_.below(near), before = int(p_.pred(i).size());
      const int d = where_[k < before ? p_.pred(i)[k].node : p_.succ(i)[k - before].node];
      if (p_.may(p_.unit_of[i], d)) return d;
    }
    return allowed[random_.below(int(allowed.size()))];
  }

  // Between what a node waits for and what waits for it.
  std::pair<int, int> positions(int i) const {
    int low = 0, high = p_.nodes - 1;
    for (const Arc& a : p_.pred(i)) low = std::max(low, pos_[a.node] + 1);
    for (const Arc& a : p_.succ(i)) high = std::min(high, pos_[a.node] - 1);
    return {low, high};
  }

  int pick_position(int i) {
    const auto [low, high] = positions(i);
    return low + random_.below(high - low + 1);
  }

  int nearest_position(int i, int wish) const {
    const auto [low, high] = positions(i);
    return std::clamp(wish, low, high);
  }

  void shift(int from, int to) {
    const int i = order_[from];
    for (int k = from; k < to; ++k) pos_[order_[k] = order_[k + 1]] = k;
    for (int k = from; k > to; --k) pos_[order_[k] = order_[k - 1]] = k;
    pos_[order_[to] = i] = to;
  }

  double ready_at(int i, int d) const {
    double at = 0;
    for (const Arc& a : p_.pred(i))
      at = std::max(at, finish_[a.node] + p_.transfer(a.edge, where_[a.node], d));
    return at;
  }

  // The end of the step, or infinity once it is sure to pass the limit.
  double evaluate(double limit) {
    if (order_alone_) return evaluate_order(limit);
    if (!p_.one_slot) return evaluate_slots(limit);
    std::fill(free_.begin(), free_.end(), 0);
    double last = 0;
    for (int i : order_) {
      const int d = where_[i];
      double at = ready_at(i, d);
      if (p_.slots[d] != 0) at = std::max(at, free_[d]);
      else at = std::max(at, last_start_[d] = std::max(last_start_[d], at));
      const double end = at + p_.time(i, d);
      if (end + bounds_.tail[i] > limit) {
        std::fill(last_start_.begin(), last_start_.end(), 0);
        return kInfinity;
      }
      finish_[i] = free_[d] = end;
      last = std::max(last, end);
    }
    std::fill(last_start_.begin(), last_start_.end(), 0);
    return last;
  }

  double evaluate_order(double limit) {
    std::fill(free_.begin(), free_.end(), 0);
    double last = 0;
    for (int i : order_) {
      double ready = 0;
      for (const Arc& a : p_.pred(i)) ready = std::max(ready, finish_[a.node]);
      const int device = next_device(free_, ready);
      const double end = std::max(ready, free_[device]) + p_.time(i, device);
      if (end + bounds_.tail[i] > limit) return kInfinity;
      where_[i] = device;
      finish_[i] = free_[device] = end;
      last = std::max(last, end);
    }
    return last;
  }

  double evaluate_slots(double limit) {
    std::fill(last_start_.begin(), last_start_.end(), 0);
    for (int d = 0; d < p_.devices; ++d) slot_free_[d].assign(std::max(1, p_.slots[d]), 0);
    double last = 0;
    for (int i : order_) {
      const int d = where_[i];
      double at = std::max(ready_at(i, d), last_start_[d]);
      auto slot = std::min_element(slot_free_[d].begin(), slot_free_[d].end());
      if (p_.slots[d] != 0) at = std::max(at, *slot);
      last_start_[d] = at;
      const double end = at + p_.time(i, d);
      if (end + bounds_.tail[i] > limit) return kInfinity;
      finish_[i] = *slot = end;
      last = std::max(last, end);
    }
    std::fill(last_start_.begin(), last_start_.end(), 0);
    return last;
  }

  const Problem& p_;
  const ListBounds& bounds_;
  Random random_;
  Budget& budget_;
  Solution& best_;
  const bool order_alone_;
  std::vector<int> order_, former_order_, where_, unit_where_, pos_;
  std::vector<double> finish_, free_;
  std::vector<std::vector<double>> slot_free_;
  std::vector<double> last_start_;
  Memory memory_;
  double now_ = kInfinity;
  std::vector<std::pair<int, int>> changed_;  // units and where they were
  std::vector<int> stack_;
  int round_ = 0;
};

}  // namespace

void anneal_list(const Problem& p, const ListBounds& bounds, uint64_t seed, Budget& budget,
                 Solution& best) {
  if (p.nodes > 1) Annealing(p, bounds, seed, budget, best).run();
}

}  // namespace emplace::planning
