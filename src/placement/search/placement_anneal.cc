#include "placement/search/placement_anneal.h"

#include <cmath>

#include "placement/search/memory.h"
#include "placement/search/simulate_list.h"

namespace emplace::planning {
namespace {

class PlacementAnnealing {
 public:
  PlacementAnnealing(const Problem& p, double bound, uint64_t seed, Budget& budget, Solution& best)
      : p_(p), bound_(bound), random_(seed), budget_(budget), best_(best), simulation_(p),
        memory_(p) {}

  void run() {
    where_ = best_.where;
    for (int u = 0; u < p_.units; ++u) memory_.take(u, where_[p_.members(u)[0]]);
    now_ = simulation_.by_priority(where_, bottom_levels(p_, where_));
    while (budget_.spend() && best_.value > bound_ * (1 + 1e-9)) step();
  }

 private:
  static constexpr double kHot = 0.01, kCold = 0.0002;

  void step() {
    undo_.clear();
    const int i = random_.below(p_.nodes);
    const bool possible = random_.below(2) ? change(i, pick_device(i)) : pull_along(i, pick_device(i));
    if (possible && !undo_.empty()) {
      const double heat = best_.value * kHot * std::pow(kCold / kHot, budget_.progress());
      const double value = simulation_.by_priority(where_, bottom_levels(p_, where_));
      if (value <= now_ - heat * std::log(random_.unit() + 1e-300)) {
        now_ = value;
        if (value < best_.value * (1 - 1e-12)) keep();
        return;
      }
    }
    for (size_t k = undo_.size(); k-- > 0;) assign(undo_[k].first, undo_[k].second);
  }

  void keep() {
    best_.value = now_;
    best_.where = where_;
    best_.order = simulation_.order_by_start();
  }

  void assign(int unit, int device) {
    memory_.drop(unit, where_[p_.members(unit)[0]]);
    memory_.take(unit, device);
    for (int i : p_.members(unit)) where_[i] = device;
  }

  bool change(int i, int device) {
    const int u = p_.unit_of[i];
    if (device == where_[i] || !p_.may(u, device) || !memory_.has_room(u, device)) return false;
    undo_.emplace_back(u, where_[i]);
    assign(u, device);
    return true;
  }

  int neighbour(int i) {
    const int before = int(p_.pred(i).size()), all = before + int(p_.succ(i).size());
    if (all == 0) return i;
    const int k = random_.below(all);
    return k < before ? p_.pred(i)[k].node : p_.succ(i)[k - before].node;
  }

  int pick_device(int i) {
    if (random_.below(3) != 0)
      if (const int d = where_[neighbour(i)]; d != where_[i]) return d;
    const auto allowed = p_.allowed(p_.unit_of[i]);
    return allowed[random_.below(int(allowed.size()))];
  }

  // A way through the nodes of one device.
  bool pull_along(int i, int device) {
    const int from = where_[i];
    for (int left = 2 + random_.below(8); left > 0; --left) {
      if (where_[i] == from && !change(i, device)) break;
      i = neighbour(i);
    }
    return true;
  }

  const Problem& p_;
  const double bound_;
  Random random_;
  Budget& budget_;
  Solution& best_;
  ListSimulation simulation_;
  Memory memory_;
  std::vector<int> where_;
  std::vector<std::pair<int, int>> undo_;
  double now_ = kInfinity;
};

}  // namespace

void anneal_placement(const Problem& p, double bound, uint64_t seed, Budget& budget,
                      Solution& best) {
  if (p.nodes > 1 && p.devices > 1) PlacementAnnealing(p, bound, seed, budget, best).run();
}

}  // namespace emplace::planning
