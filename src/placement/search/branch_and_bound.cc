#include "placement/search/branch_and_bound.h"

#include <algorithm>

namespace emplace::planning {
namespace {

constexpr int kMostNodes = 40;

class BranchAndBound {
 public:
  BranchAndBound(const Problem& p, const ListBounds& bounds, Budget& budget, Solution& best)
      : p_(p), bounds_(bounds), budget_(budget), best_(best), where_(p.nodes, -1),
        left_(p.nodes), end_(p.nodes), early_(p.nodes), free_(p.devices, 0), used_(p.devices, 0) {
    for (int i = 0; i < p.nodes; ++i) {
      left_[i] = int(p.pred(i).size());
      work_ += p.min_time[i];
    }
  }

  bool run() { return extend(0, -1); }

 private:
  struct Child {
    double start, tail;
    int node, device;
  };

  // Adds one node after what is there, starting no earlier than the last one did: each schedule is
  // reached once. False: the budget is spent.
  bool extend(double last, int last_rank) {
    if (int(order_.size()) == p_.nodes) {
      keep();
      return true;
    }
    if (!budget_.spend(16)) return false;
    if (lower_bound(last) >= best_.value * (1 - 1e-9)) return true;
    for (const Child& c : children(last, last_rank)) {
      if (p_.round_up(c.start + p_.time(c.node, c.device) + c.tail) >= best_.value * (1 - 1e-9))
        continue;
      const double free = free_[c.device];
      put(c);
      const bool seen = extend(c.start, p_.rank[c.node]);
      take_back(c, free);
      if (!seen) return false;
    }
    return true;
  }

  double arrival(int i, int d) const {
    double at = 0;
    for (const Arc& a : p_.pred(i))
      at = std::max(at, end_[a.node] + p_.transfer(a.edge, where_[a.node], d));
    return at;
  }

  std::vector<Child> children(double last, int last_rank) const {
    std::vector<Child> out;
    for (int i = 0; i < p_.nodes; ++i) {
      if (where_[i] >= 0 || left_[i] > 0) continue;
      for (int d : p_.allowed(p_.unit_of[i])) {
        if (hidden_by_twin(d)) continue;
        const double start = std::max(free_[d], arrival(i, d));
        if (start < last || (start == last && p_.rank[i] < last_rank)) continue;
        out.push_back({start, bounds_.tail[i], i, d});
      }
    }
    std::stable_sort(out.begin(), out.end(), [](const Child& a, const Child& b) {
      return a.start != b.start ? a.start < b.start : a.tail > b.tail;
    });
    return out;
  }

  // Of devices that are alike and still empty, one is enough.
  bool hidden_by_twin(int d) const {
    if (used_[d] > 0) return false;
    for (int e = 0; e < d; ++e)
      if (p_.twin[e] == p_.twin[d] && used_[e] == 0) return true;
    return false;
  }

  double lower_bound(double last) {
    double most = 0;
    for (int i : p_.topo) {
      if (where_[i] >= 0) continue;
      early_[i] = std::max(last, bounds_.head[i]);
      if (left_[i] == 0) {
        double soonest = kInfinity;
        for (int d : p_.allowed(p_.unit_of[i]))
          soonest = std::min(soonest, std::max(free_[d], arrival(i, d)));
        early_[i] = std::max(early_[i], soonest);
      } else {
        for (const Arc& a : p_.pred(i))
          early_[i] = std::max(early_[i], where_[a.node] >= 0 ? end_[a.node]
                                                              : early_[a.node] + p_.min_time[a.node]);
      }
      most = std::max(most, early_[i] + p_.min_time[i] + bounds_.tail[i]);
    }
    double sum = work_;
    for (double f : free_) sum += std::max(f, last);
    return p_.round_up(std::max(most, sum / p_.devices));
  }

  void put(const Child& c) {
    where_[c.node] = c.device;
    end_[c.node] = free_[c.device] = c.start + p_.time(c.node, c.device);
    ++used_[c.device];
    work_ -= p_.min_time[c.node];
    order_.push_back(c.node);
    for (const Arc& a : p_.succ(c.node)) --left_[a.node];
  }

  void take_back(const Child& c, double free) {
    for (const Arc& a : p_.succ(c.node)) ++left_[a.node];
    order_.pop_back();
    work_ += p_.min_time[c.node];
    --used_[c.device];
    free_[c.device] = free;
    where_[c.node] = -1;
  }

  void keep() {
    const double value = *std::max_element(end_.begin(), end_.end());
    if (value >= best_.value) return;
    best_.value = value;
    best_.where = where_;
    best_.order = order_;
  }

  const Problem& p_;
  const ListBounds& bounds_;
  Budget& budget_;
  Solution& best_;
  std::vector<int> where_, left_, order_;
  std::vector<double> end_, early_, free_;
  std::vector<int> used_;
  double work_ = 0;
};

}  // namespace

bool provable(const Problem& p) {
  if (p.graph.model != PlanModel::kList || p.graph.serial_links || p.limited) return false;
  if (p.nodes > kMostNodes || p.units != p.nodes) return false;
  for (int s : p.slots)
    if (s != 1) return false;
  return std::all_of(p.min_time.begin(), p.min_time.end(), [](double t) { return t > 0; });
}

bool prove_list(const Problem& p, const ListBounds& bounds, Budget& budget, Solution& best) {
  return BranchAndBound(p, bounds, budget, best).run();
}

}  // namespace emplace::planning
