#include "placement/search/list_schedule.h"

#include <queue>
#include <tuple>

namespace emplace::planning {

Solution ListScheduler::run(std::span<const double> rank, double look_ahead, Choices choices) {
  if (look_ahead > 0 && !prospects_) prospects_.emplace(p_);
  Schedule s(p_);
  using Entry = std::tuple<double, int, int>;
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> ready;
  std::vector<int> left(p_.nodes);
  for (int i = 0; i < p_.nodes; ++i)
    if ((left[i] = int(p_.pred(i).size())) == 0) ready.emplace(-rank[i], p_.rank[i], i);
  const auto shortest = std::min_element(p_.min_time.begin(), p_.min_time.end());
  const double least = shortest == p_.min_time.end() ? 0 : std::max(0.0, *shortest * 0.999 - 2 * kTie);
  std::vector<Gaps> gaps(p_.devices, Gaps(least));
  double last = 0;
  while (!ready.empty()) {
    const int i = std::get<2>(ready.top());
    ready.pop();
    double best = kInfinity, best_start = 0;
    int device = -1;
    for (int d : choices.of(i)) {
      double at = s.arrival(p_, i, d);
      if (p_.slots[d] != 0) at = gaps[d].first(at, p_.time(i, d));
      const double score =
          at + p_.time(i, d) + (look_ahead > 0 ? look_ahead * prospects_->rest(i, d) : 0);
      if (device < 0 || score < best - kTie) best = score, best_start = at, device = d;
    }
    const double end = best_start + p_.time(i, device);
    choices.take(i, device);
    s.put(i, device, best_start, end);
    gaps[device].add(best_start, end);
    last = std::max(last, end);
    for (const Arc& a : p_.succ(i))
      if (--left[a.node] == 0) ready.emplace(-rank[a.node], p_.rank[a.node], a.node);
  }
  Solution out = s.solution("");
  out.value = last;
  return out;
}

}  // namespace emplace::planning
