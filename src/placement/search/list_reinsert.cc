#include "placement/search/list_reinsert.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "placement/search/memory.h"

namespace emplace::planning {
namespace {

class Reinsertion {
 public:
  Reinsertion(const Problem& p, const ListBounds& bounds, uint64_t seed, Budget& budget,
              Solution& best)
      : p_(p), bounds_(bounds), random_(seed), budget_(budget), best_(best), memory_(p),
        pos_(p.nodes), start_(p.nodes), tail_(p.nodes), head_without_(p.nodes),
        tail_without_(p.nodes), free_(p.devices), last_(p.devices), arrival_(p.devices),
        leave_(p.devices), tried_(p.nodes, 0) {}

  void run() {
    restart();
    int idle = 0;
    while (budget_.spend() && best_.value > bounds_.value * (1 + 1e-9)) {
      const int i = pick();
      if (idle > 4 * int(critical_.size()) + 8) {
        kick();
        idle = 0;
        continue;
      }
      const double before = now_;
      reinsert(i);
      idle = now_ < before * (1 - 1e-12) ? 0 : idle + 1;
    }
  }

 private:
  struct Place {
    double value = kInfinity, through = kInfinity;
    int device = -1, pos = -1;  // before the node now at `pos`
  };

  void restart() {
    order_ = best_.order;
    where_ = best_.where;
    memory_ = Memory(p_);
    for (int u = 0; u < p_.units; ++u) memory_.take(u, where_[p_.members(u)[0]]);
    measure();
  }

  double ready(int i, int d, const std::vector<double>& start) const {
    double at = 0;
    for (const Arc& a : p_.pred(i))
      at = std::max(at, start[a.node] + p_.time(a.node, where_[a.node]) +
                            p_.transfer(a.edge, where_[a.node], d));
    return at;
  }
  double rest(int i, int d, const std::vector<double>& tail) const {
    double most = 0;
    for (const Arc& a : p_.succ(i)) {
      const int e = where_[a.node];
      most = std::max(most, p_.transfer(a.edge, d, e) + p_.time(a.node, e) + tail[a.node]);
    }
    return most;
  }

  // Starts and tails of the whole schedule, the order renewed by starts, the longest paths.
  void measure() {
    now_ = forward();
    by_start();
    std::fill(free_.begin(), free_.end(), 0);
    for (size_t k = order_.size(); k-- > 0;) {
      const int i = order_[k], d = where_[i];
      tail_[i] = rest(i, d, tail_);
      if (p_.slots[d] != 0) tail_[i] = std::max(tail_[i], free_[d]);
      free_[d] = tail_[i] + p_.time(i, d);
    }
    critical_.clear();
    for (int i : order_)
      if (start_[i] + p_.time(i, where_[i]) + tail_[i] >= now_ * (1 - 1e-9)) critical_.push_back(i);
    if (now_ < best_.value * (1 - 1e-12)) {
      best_.value = now_;
      best_.order = order_;
      best_.where = where_;
    }
  }

  double forward() {
    std::fill(free_.begin(), free_.end(), 0);
    double last = 0;
    for (int i : order_) {
      const int d = where_[i];
      start_[i] = ready(i, d, start_);
      if (p_.slots[d] != 0) start_[i] = std::max(start_[i], free_[d]);
      free_[d] = start_[i] + p_.time(i, d);
      last = std::max(last, free_[d]);
    }
    return last;
  }

  void by_start() {
    for (int k = 0; k < p_.nodes; ++k) pos_[order_[k]] = k;
    // Nearly sorted: insertion, never past what must stay before.
    for (int k = 1; k < p_.nodes; ++k) {
      const int i = order_[k];
      int at = k;
      for (; at > 0 && start_[order_[at - 1]] > start_[i]; --at) order_[at] = order_[at - 1];
      order_[at] = i;
    }
    for (int k = 0; k < p_.nodes; ++k) pos_[order_[k]] = k;
  }

  // A node of a longest path; one tried less often first.
  int pick() {
    int best = -1;
    for (int k = 0; k < 3; ++k) {
      const int i = critical_[random_.below(int(critical_.size()))];
      if (best < 0 || tried_[i] < tried_[best]) best = i;
    }
    ++tried_[best];
    return best;
  }

  // Heads and tails of the schedule without node i: only what comes after it can start earlier,
  // only what comes before it can have a shorter tail. Returns the end.
  double without(int i) {
    const int at = pos_[i];
    std::fill(free_.begin(), free_.end(), 0);
    double last = 0;
    for (int k = 0; k < p_.nodes; ++k) {
      const int j = order_[k], d = where_[j];
      if (j == i) continue;
      if (k < at) {
        head_without_[j] = start_[j];
      } else {
        double from = p_.slots[d] != 0 ? free_[d] : 0;
        for (const Arc& a : p_.pred(j))
          if (a.node != i)
            from = std::max(from, head_without_[a.node] + p_.time(a.node, where_[a.node]) +
                                      p_.transfer(a.edge, where_[a.node], d));
        head_without_[j] = from;
      }
      free_[d] = head_without_[j] + p_.time(j, d);
      last = std::max(last, free_[d]);
    }
    std::fill(free_.begin(), free_.end(), 0);
    for (int k = p_.nodes; k-- > 0;) {
      const int j = order_[k], d = where_[j];
      if (j == i) continue;
      if (k > at) {
        tail_without_[j] = tail_[j];
      } else {
        double after = p_.slots[d] != 0 ? free_[d] : 0;
        for (const Arc& a : p_.succ(j))
          if (a.node != i)
            after = std::max(after, p_.transfer(a.edge, d, where_[a.node]) +
                                        p_.time(a.node, where_[a.node]) + tail_without_[a.node]);
        tail_without_[j] = after;
      }
      free_[d] = tail_without_[j] + p_.time(j, d);
    }
    return last;
  }

  void consider(Place& best, double rest_value, int i, int d, int pos, int before, int after) const {
    double from = arrival_[d], after_end = leave_[d];
    if (p_.slots[d] != 0 && before >= 0)
      from = std::max(from, head_without_[before] + p_.time(before, d));
    if (p_.slots[d] != 0 && after >= 0)
      after_end = std::max(after_end, p_.time(after, d) + tail_without_[after]);
    const double through = from + p_.time(i, d) + after_end;
    const double value = std::max(rest_value, through);
    if (value < best.value - 1e-15 || (value <= best.value && through < best.through))
      best = {value, through, d, pos};
  }

  // Every gap of every device between the last producer and the first consumer in the order.
  Place best_place(int i, double rest_value, bool stay) {
    const int u = p_.unit_of[i], old = where_[i];
    int low = -1, high = p_.nodes;
    for (const Arc& a : p_.pred(i)) low = std::max(low, pos_[a.node]);
    for (const Arc& a : p_.succ(i)) high = std::min(high, pos_[a.node]);
    const bool fixed = p_.members(u).size() > 1;
    choices_.clear();
    for (int d : p_.allowed(u))
      if (d == old || (!fixed && memory_.has_room(u, d))) choices_.push_back(d);
    for (int d : choices_) {
      arrival_[d] = ready(i, d, head_without_);
      leave_[d] = rest(i, d, tail_without_);
    }
    // Machine predecessors at the window's start.
    std::fill(last_.begin(), last_.end(), -1);
    int wanted = int(choices_.size());
    for (int k = low; k >= 0 && wanted > 0; --k) {
      const int j = order_[k], d = where_[j];
      if (j == i || last_[d] >= 0) continue;
      last_[d] = j;
      --wanted;
    }
    Place best;
    for (int k = low + 1; k < high; ++k) {
      const int j = order_[k], d = where_[j];
      if (j == i) continue;
      if (can(d, u, old, fixed) && !(stay && d == old && last_[d] == before_))
        consider(best, rest_value, i, d, k, last_[d], j);
      last_[d] = j;
    }
    // Behind the last node of the window on each device.
    next_.assign(p_.devices, -1);
    wanted = int(choices_.size());
    for (int k = high; k < p_.nodes && wanted > 0; ++k) {
      const int j = order_[k], d = where_[j];
      if (j == i || next_[d] >= 0) continue;
      next_[d] = j;
      --wanted;
    }
    for (int d : choices_)
      if (!(stay && d == old && last_[d] == before_))
        consider(best, rest_value, i, d, high, last_[d], next_[d]);
    return best;
  }

  bool can(int d, int u, int old, bool fixed) const {
    return d == old || (!fixed && p_.may(u, d) && memory_.has_room(u, d));
  }

  void reinsert(int i) {
    before_ = -1;
    for (int k = pos_[i] - 1; k >= 0 && before_ < 0; --k)
      if (where_[order_[k]] == where_[i]) before_ = order_[k];
    const double rest_value = without(i);
    const Place place = best_place(i, rest_value, true);
    const double limit = now_ - now_ * kHeat * (1 - budget_.progress()) * std::log(random_.unit() + 1e-9);
    if (place.device < 0 || place.value > limit) return;
    put(i, place);
    measure();
  }

  void put(int i, const Place& place) {
    const int u = p_.unit_of[i];
    if (place.device != where_[i]) {
      memory_.drop(u, where_[i]);
      memory_.take(u, place.device);
      for (int j : p_.members(u)) where_[j] = place.device;
    }
    const int from = pos_[i], to = place.pos > from ? place.pos - 1 : place.pos;
    if (from < to) std::rotate(order_.begin() + from, order_.begin() + from + 1, order_.begin() + to + 1);
    else std::rotate(order_.begin() + to, order_.begin() + from, order_.begin() + from + 1);
  }

  // Out of a dead end: back to the best, then some nodes anywhere.
  void kick() {
    if (now_ > best_.value * 1.01) restart();
    for (int k = 0; k < 3; ++k) {
      const int i = critical_[random_.below(int(critical_.size()))];
      const int u = p_.unit_of[i];
      const int d = p_.allowed(u)[random_.below(int(p_.allowed(u).size()))];
      if (d == where_[i] || !memory_.has_room(u, d)) continue;
      memory_.drop(u, where_[i]);
      memory_.take(u, d);
      for (int j : p_.members(u)) where_[j] = d;
    }
    measure();
  }

  static constexpr double kHeat = 0.0005;
  const Problem& p_;
  const ListBounds& bounds_;
  Random random_;
  Budget& budget_;
  Solution& best_;
  Memory memory_;
  std::vector<int> order_, where_, pos_, critical_, choices_, next_;
  std::vector<double> start_, tail_, head_without_, tail_without_, free_;
  std::vector<int> last_;
  std::vector<double> arrival_, leave_;
  std::vector<int> tried_;
  double now_ = kInfinity;
  int before_ = -1;  // what ran before the node that is being moved
};

}  // namespace

void reinsert_list(const Problem& p, const ListBounds& bounds, uint64_t seed, Budget& budget,
                   Solution& best) {
  if (p.nodes > 1 && p.one_slot) Reinsertion(p, bounds, seed, budget, best).run();
}

}  // namespace emplace::planning
