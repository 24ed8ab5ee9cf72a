#include "placement/search/order_search.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace emplace::planning {
namespace {

class OrderSearch {
 public:
  OrderSearch(const Problem& p, const ListBounds& bounds, uint64_t seed, Budget& budget,
              Solution& best)
      : p_(p), bounds_(bounds), random_(seed), budget_(budget), best_(best),
        pos_(p.nodes), device_(p.nodes), start_(p.nodes), end_(p.nodes), free_(p.devices) {}

  void run() {
    begin(best_.order);
    while (!done()) {
      trial_ = order_;
      perturb();
      const double value = improve();
      const double slack = now_ * kSlack * (1 - budget_.progress()) * -std::log(random_.unit() + 1e-9);
      if (value > now_ + slack) continue;
      now_ = value;
      order_ = trial_;
    }
  }

 private:
  static constexpr double kSlack = 0.002;

  bool done() { return !budget_.spend(4) || best_.value <= bounds_.value * (1 + 1e-9); }

  void begin(const std::vector<int>& order) {
    trial_ = order;
    now_ = improve();
    order_ = trial_;
  }

  // Backward and forward until nothing is won.
  double improve() {
    double value = forward();
    for (;;) {
      backward();
      const double again = forward();
      budget_.spend(4);
      if (again >= value * (1 - 1e-12)) return std::min(again, value);
      value = again;
    }
  }

  double forward() {
    const double end = pass([&](int i) { return p_.pred(i); });
    if (end < best_.value * (1 - 1e-12)) {
      best_.value = end;
      best_.where = device_;
      best_.order = trial_;
    }
    return end + overflow();
  }

  // What is done after the bound: of schedules that end at once, the one with less of it is nearer
  // to a schedule without gaps.
  double overflow() const {
    double sum = 0;
    for (double f : free_) sum += std::max(0.0, f - bounds_.value);
    return sum / p_.devices;
  }

  // To the right: what ends last comes first; then what starts first on that way.
  void backward() {
    turn_round();
    fix(trial_, [&](int i) { return p_.succ(i); });
    pass([&](int i) { return p_.succ(i); });
    turn_round();
    fix(trial_, [&](int i) { return p_.pred(i); });
  }

  // By falling end. A schedule's order is nearly that when read backward: insertion is quick.
  void turn_round() {
    std::reverse(trial_.begin(), trial_.end());
    for (int k = 1; k < p_.nodes; ++k) {
      const int i = trial_[k];
      int at = k;
      for (; at > 0 && end_[trial_[at - 1]] < end_[i]; --at) trial_[at] = trial_[at - 1];
      trial_[at] = i;
    }
  }

  // Nodes that take no time can stand before what they wait for: mends that.
  template <typename Before>
  void fix(std::vector<int>& order, const Before& before) {
    if (!idle_nodes_) return;
    for (int k = 0; k < p_.nodes; ++k) pos_[order[k]] = k;
    bool broken = false;
    for (int k = 0; k < p_.nodes && !broken; ++k)
      for (const Arc& a : before(order[k])) broken |= pos_[a.node] > k;
    if (!broken) return;
    std::vector<int> out;
    std::vector<char> put(p_.nodes, 0);
    const auto add = [&](auto&& self, int i) -> void {
      if (put[i]) return;
      put[i] = 1;
      for (const Arc& a : before(i)) self(self, a.node);
      out.push_back(i);
    };
    for (int i : order) add(add, i);
    order = out;
  }

  // Nodes in turn, each as early as it can.
  template <typename Before>
  double pass(const Before& before) {
    std::fill(free_.begin(), free_.end(), 0);
    double last = 0;
    for (int i : trial_) {
      double ready = 0;
      for (const Arc& a : before(i)) ready = std::max(ready, end_[a.node]);
      const int d = next_device(free_, ready);
      start_[i] = std::max(ready, free_[d]);
      device_[i] = d;
      last = std::max(last, end_[i] = free_[d] = start_[i] + p_.time(i, d));
    }
    return last;
  }

  void perturb() {
    for (int k = 0; k < p_.nodes; ++k) pos_[trial_[k]] = k;
    for (int count = 1 + random_.below(4); count > 0; --count) {
      const int i = random_.below(p_.nodes);
      int low = 0, high = p_.nodes - 1;
      for (const Arc& a : p_.pred(i)) low = std::max(low, pos_[a.node] + 1);
      for (const Arc& a : p_.succ(i)) high = std::min(high, pos_[a.node] - 1);
      shift(pos_[i], low + random_.below(high - low + 1));
    }
  }

  void shift(int from, int to) {
    const int i = trial_[from];
    for (int k = from; k < to; ++k) pos_[trial_[k] = trial_[k + 1]] = k;
    for (int k = from; k > to; --k) pos_[trial_[k] = trial_[k - 1]] = k;
    pos_[trial_[to] = i] = to;
  }

  const Problem& p_;
  const ListBounds& bounds_;
  Random random_;
  Budget& budget_;
  Solution& best_;
  std::vector<int> order_, trial_, pos_, device_;
  std::vector<double> start_, end_, free_;
  double now_ = kInfinity;
  const bool idle_nodes_ = std::any_of(p_.min_time.begin(), p_.min_time.end(),
                                       [](double t) { return t == 0; });
};

}  // namespace

bool order_alone_counts(const Problem& p) {
  if (p.units != p.nodes || p.limited || p.graph.serial_links) return false;
  for (int d = 0; d < p.devices; ++d)
    if (p.twin[d] != 0 || p.slots[d] != 1) return false;
  for (size_t e = 0; e < p.graph.edges.size(); ++e)
    for (int c : p.link_class)
      if (c >= 0 && p.transfer_bytes(p.graph.edges[e].bytes, c) > 0) return false;
  return true;
}

void search_orders(const Problem& p, const ListBounds& bounds, uint64_t seed, Budget& budget,
                   Solution& best) {
  if (p.nodes > 1) OrderSearch(p, bounds, seed, budget, best).run();
}

}  // namespace emplace::planning
