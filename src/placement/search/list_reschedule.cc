#include "placement/search/list_reschedule.h"

#include <algorithm>
#include <cmath>

#include "placement/search/list_schedule.h"

namespace emplace::planning {
namespace {

class Rescheduling {
 public:
  Rescheduling(const Problem& p, const ListBounds& bounds, uint64_t seed, Budget& budget,
               Solution& best)
      : p_(p), bounds_(bounds), random_(seed), budget_(budget), best_(best), scheduler_(p) {}

  void run() {
    rank_ = tails(best_);
    now_ = best_.value;
    while (budget_.spend() && best_.value > bounds_.value * (1 + 1e-9)) {
      trial_ = rank_;
      shake();
      const double ahead = kAhead[random_.below(3)];
      Solution s = scheduler_.run(trial_, ahead);
      if (s.value > now_ * (1 + kSlack * random_.unit() * (1 - budget_.progress()))) continue;
      now_ = s.value;
      rank_ = random_.below(2) ? tails(s) : trial_;
      if (now_ < best_.value * (1 - 1e-12) && fits(s)) {
        best_.value = s.value;
        best_.where = std::move(s.where);
        best_.order = std::move(s.order);
      }
    }
  }

 private:
  static constexpr double kAhead[] = {0, 1, 0.5};
  static constexpr double kShakes[] = {0, 0.02, 0.05, 0.1, 0.2, 0.4};
  static constexpr double kSlack = 0.004;

  void shake() {
    const double most = kShakes[random_.below(6)] * now_ * 0.5;
    if (most == 0) return;
    for (double& r : trial_) r += most * (random_.unit() - 0.5);
  }

  // The longest way from each node's start to the end, what its device runs after it included.
  std::vector<double> tails(const Solution& s) const {
    std::vector<double> tail(p_.nodes, 0), queue(p_.devices, 0);
    for (size_t k = s.order.size(); k-- > 0;) {
      const int i = s.order[k], d = s.where[i];
      double after = p_.slots[d] != 0 ? queue[d] : 0;
      for (const Arc& a : p_.succ(i))
        after = std::max(after, tail[a.node] + p_.transfer(a.edge, d, s.where[a.node]));
      queue[d] = tail[i] = after + p_.time(i, d);
    }
    return tail;
  }

  bool fits(const Solution& s) const {
    if (!p_.limited) return true;
    Memory memory(p_);
    for (int u = 0; u < p_.units; ++u) {
      const int d = s.where[p_.members(u)[0]];
      if (!memory.has_room(u, d)) return false;
      memory.take(u, d);
    }
    return true;
  }

  const Problem& p_;
  const ListBounds& bounds_;
  Random random_;
  Budget& budget_;
  Solution& best_;
  ListScheduler scheduler_;
  std::vector<double> rank_, trial_;
  double now_ = kInfinity;
};

}  // namespace

void reschedule_list(const Problem& p, const ListBounds& bounds, uint64_t seed, Budget& budget,
                     Solution& best) {
  if (p.nodes > 1 && p.devices > 1) Rescheduling(p, bounds, seed, budget, best).run();
}

}  // namespace emplace::planning
