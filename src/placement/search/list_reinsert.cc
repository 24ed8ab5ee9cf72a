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
        tail_without_(p.nodes), free_(p.devices), last_(p.devices), late_(p.nodes), early_(p.nodes), moved_(p.devices), turn_(p.devices), turns_(p.devices), arrival_(p.devices),
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
    double through = kInfinity;  // the longest way through the node there
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

  // Starts and tails of the whole schedule, the order renewed by starts.
  void measure() {
    std::fill(late_.begin(), late_.end(), 1);
    forward(0);
    by_start();
    std::fill(early_.begin(), early_.end(), 1);
    for (auto& turns : turns_) turns.clear();
    for (int k = 0; k < p_.nodes; ++k) turns_[where_[order_[k]]].push_back(k);
    finish(p_.nodes - 1);
    find_critical();
  }

  // … where only nodes between two positions changed places, and what `late_` and `early_` name may
  // have another start or tail.
  void measure(int low, int high) {
    if (++changes_ % kSorted == 0) return measure();
    forward(low);
    for (int d = 0; d < p_.devices; ++d)
      turn_[d] = int(std::lower_bound(turns_[d].begin(), turns_[d].end(), low) - turns_[d].begin());
    for (int k = low; k <= high; ++k) {
      const int d = where_[order_[k]];
      turns_[d][turn_[d]++] = k;
    }
    finish(high);
  }

  void finish(int to) {
    backward(to);
    now_ = 0;
    for (int d = 0; d < p_.devices; ++d) {
      const auto& turns = turns_[d];
      for (size_t k = p_.slots[d] == 0 ? 0 : turns.empty() ? 0 : turns.size() - 1; k < turns.size(); ++k)
        now_ = std::max(now_, start_[order_[turns[k]]] + p_.time(order_[turns[k]], d));
    }
    if (now_ < best_.value * (1 - 1e-12)) {
      best_.value = now_;
      best_.order = order_;
      best_.where = where_;
    }
  }

  bool critical(int i) const {
    return start_[i] + p_.time(i, where_[i]) + tail_[i] >= now_ * (1 - 1e-9);
  }

  void find_critical() {
    critical_.clear();
    for (int i : order_)
      if (critical(i)) critical_.push_back(i);
  }

  // Starts from a position on.
  void forward(int from) {
    std::fill(moved_.begin(), moved_.end(), 0);
    for (int d = 0; d < p_.devices; ++d) {
      const int j = from > 0 ? before(d, from, -1) : -1;
      free_[d] = j < 0 ? 0 : start_[j] + p_.time(j, d);
    }
    for (int k = from; k < p_.nodes; ++k) {
      const int i = order_[k], d = where_[i];
      pos_[i] = k;
      if (late_[i] || moved_[d]) {
        double at = ready(i, d, start_);
        if (p_.slots[d] != 0) at = std::max(at, free_[d]);
        late_[i] = 0;
        if ((moved_[d] = at != start_[i]))
          for (const Arc& a : p_.succ(i)) late_[a.node] = 1;
        start_[i] = at;
      }
      free_[d] = start_[i] + p_.time(i, d);
    }
  }

  // Tails up to a position.
  void backward(int to) {
    std::fill(moved_.begin(), moved_.end(), 0);
    for (int d = 0; d < p_.devices; ++d) {
      const int j = after(d, to + 1, -1);
      free_[d] = j < 0 ? 0 : tail_[j] + p_.time(j, d);
    }
    for (int k = to; k >= 0; --k) {
      const int i = order_[k], d = where_[i];
      if (early_[i] || moved_[d]) {
        double after = rest(i, d, tail_);
        if (p_.slots[d] != 0) after = std::max(after, free_[d]);
        early_[i] = 0;
        if ((moved_[d] = after != tail_[i]))
          for (const Arc& a : p_.pred(i)) early_[a.node] = 1;
        tail_[i] = after;
      }
      free_[d] = tail_[i] + p_.time(i, d);
    }
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
    for (int k = 0; k < 3 || best < 0; ++k) {
      if (k == 6) find_critical();
      const int i = critical_[random_.below(int(critical_.size()))];
      if (critical(i) && (best < 0 || tried_[i] < tried_[best])) best = i;
    }
    ++tried_[best];
    return best;
  }

  // The last node of a device before a position, the first one from it on, without node i; -1: none.
  int before(int d, int pos, int i) const {
    auto at = std::lower_bound(turns_[d].begin(), turns_[d].end(), pos);
    while (at != turns_[d].begin())
      if (const int j = order_[*--at]; j != i) return j;
    return -1;
  }
  int after(int d, int pos, int i) const {
    auto at = std::lower_bound(turns_[d].begin(), turns_[d].end(), pos);
    for (; at != turns_[d].end(); ++at)
      if (const int j = order_[*at]; j != i) return j;
    return -1;
  }

  // Heads and tails of the schedule without node i, between what it waits for and what waits for it:
  // only what comes after it can start earlier, only what comes before it can have a shorter tail.
  void without(int i, int low, int high) {
    const int at = pos_[i];
    for (int d = 0; d < p_.devices; ++d) {
      const int j = p_.slots[d] != 0 ? before(d, at, i) : -1;
      free_[d] = j < 0 ? 0 : start_[j] + p_.time(j, d);
    }
    for (int k = at + 1; k < high; ++k) {
      const int j = order_[k], d = where_[j];
      double from = p_.slots[d] != 0 ? free_[d] : 0;
      for (const Arc& a : p_.pred(j)) {
        const double start = pos_[a.node] > at ? head_without_[a.node] : start_[a.node];
        from = std::max(from, start + p_.time(a.node, where_[a.node]) + p_.transfer(a.edge, where_[a.node], d));
      }
      head_without_[j] = from;
      free_[d] = from + p_.time(j, d);
    }
    for (int d = 0; d < p_.devices; ++d) {
      const int j = p_.slots[d] != 0 ? after(d, at, i) : -1;
      free_[d] = j < 0 ? 0 : tail_[j] + p_.time(j, d);
    }
    for (int k = at - 1; k > low; --k) {
      const int j = order_[k], d = where_[j];
      double rest = p_.slots[d] != 0 ? free_[d] : 0;
      for (const Arc& a : p_.succ(j)) {
        const double tail = pos_[a.node] < at ? tail_without_[a.node] : tail_[a.node];
        rest = std::max(rest, p_.transfer(a.edge, d, where_[a.node]) + p_.time(a.node, where_[a.node]) + tail);
      }
      tail_without_[j] = rest;
      free_[d] = rest + p_.time(j, d);
    }
  }
  double head(int j, int at) const { return pos_[j] > at ? head_without_[j] : start_[j]; }
  double tail(int j, int at) const { return pos_[j] < at ? tail_without_[j] : tail_[j]; }

  void consider(Place& best, int i, int d, int pos, int before, int after) const {
    double from = arrival_[d], rest = leave_[d];
    if (p_.slots[d] != 0 && before >= 0)
      from = std::max(from, head(before, pos_[i]) + p_.time(before, d));
    if (p_.slots[d] != 0 && after >= 0)
      rest = std::max(rest, p_.time(after, d) + tail(after, pos_[i]));
    const double through = from + p_.time(i, d) + rest;
    if (through < best.through) best = {through, d, pos};
  }

  // Every gap of every device between the last producer and the first consumer in the order.
  Place best_place(int i) {
    const int u = p_.unit_of[i], old = where_[i];
    int low = -1, high = p_.nodes;
    for (const Arc& a : p_.pred(i)) low = std::max(low, pos_[a.node]);
    for (const Arc& a : p_.succ(i)) high = std::min(high, pos_[a.node]);
    without(i, low, high);
    const int stays_after = before(old, pos_[i], i);
    const bool fixed = p_.members(u).size() > 1;
    choices_.clear();
    for (int d : p_.allowed(u))
      if (d == old || (!fixed && memory_.has_room(u, d))) choices_.push_back(d);
    std::fill(last_.begin(), last_.end(), -1);
    for (int d : choices_) {
      arrival_[d] = ready(i, d, start_);
      leave_[d] = rest(i, d, tail_);
      last_[d] = before(d, low + 1, i);
    }
    const auto stays = [&](int d) { return d == old && last_[d] == stays_after; };
    Place best;
    for (int k = low + 1; k < high; ++k) {
      const int j = order_[k], d = where_[j];
      if (j == i) continue;
      if (can(d, u, old, fixed) && !stays(d)) consider(best, i, d, k, last_[d], j);
      last_[d] = j;
    }
    for (int d : choices_)  // behind the last node between them
      if (!stays(d)) consider(best, i, d, high, last_[d], after(d, high, i));
    return best;
  }

  bool can(int d, int u, int old, bool fixed) const {
    return d == old || (!fixed && p_.may(u, d) && memory_.has_room(u, d));
  }

  void reinsert(int i) {
    const Place place = best_place(i);
    const double limit = now_ - now_ * kHeat * (1 - budget_.progress()) * std::log(random_.unit() + 1e-9);
    if (place.device < 0 || place.through > limit) return;
    note_neighbours(i, where_[i], pos_[i] + 1);
    note_neighbours(i, place.device, place.pos);
    change_turns(i, place.device);
    const auto [low, high] = put(i, place);
    measure(low, high);
  }

  // One turn less on a node's device, one more on another. Which ones, `measure` tells.
  void change_turns(int i, int device) {
    auto& mine = turns_[where_[i]];
    mine.erase(std::lower_bound(mine.begin(), mine.end(), pos_[i]));
    auto& next = turns_[device];
    next.insert(std::lower_bound(next.begin(), next.end(), pos_[i]), pos_[i]);
  }

  // Node i leaves a place on a device, or comes there: its neighbours notice.
  void note_neighbours(int i, int d, int pos) {
    late_[i] = early_[i] = 1;
    for (const Arc& a : p_.succ(i)) late_[a.node] = 1;
    for (const Arc& a : p_.pred(i)) early_[a.node] = 1;
    if (const int j = after(d, pos, i); j >= 0) late_[j] = 1;
    if (const int j = before(d, pos, i); j >= 0) early_[j] = 1;
  }

  // Between which positions nodes changed places.
  std::pair<int, int> put(int i, const Place& place) {
    const int u = p_.unit_of[i];
    if (place.device != where_[i]) {
      memory_.drop(u, where_[i]);
      memory_.take(u, place.device);
      for (int j : p_.members(u)) where_[j] = place.device;
    }
    const int from = pos_[i], to = place.pos > from ? place.pos - 1 : place.pos;
    if (from < to) std::rotate(order_.begin() + from, order_.begin() + from + 1, order_.begin() + to + 1);
    else std::rotate(order_.begin() + to, order_.begin() + from, order_.begin() + from + 1);
    return std::minmax(from, to);
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

  static constexpr int kSorted = 16;  // changes after which the order is renewed
  static constexpr double kHeat = 0.0005;
  const Problem& p_;
  const ListBounds& bounds_;
  Random random_;
  Budget& budget_;
  Solution& best_;
  Memory memory_;
  std::vector<int> order_, where_, pos_, critical_, choices_;
  std::vector<double> start_, tail_, head_without_, tail_without_, free_;
  std::vector<int> last_, turn_;
  std::vector<char> late_, early_;  // by node: the start, the tail is to be computed anew
  std::vector<char> moved_;         // by device: that of its last node is another one
  std::vector<std::vector<int>> turns_;  // by device: positions of its nodes
  std::vector<double> arrival_, leave_;
  std::vector<int> tried_;
  double now_ = kInfinity;
  int changes_ = 0;
};

}  // namespace

void reinsert_list(const Problem& p, const ListBounds& bounds, uint64_t seed, Budget& budget,
                   Solution& best) {
  if (p.nodes > 1 && p.one_slot) Reinsertion(p, bounds, seed, budget, best).run();
}

}  // namespace emplace::planning
