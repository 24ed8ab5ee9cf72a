#include "placement/search/simulate_load.h"

#include <algorithm>

namespace emplace::planning {

std::vector<double> device_loads(const Problem& p, std::span<const int> where) {
  std::vector<double> load(p.devices, 0);
  std::vector<int> seen(p.devices, -1);
  for (int i = 0; i < p.nodes; ++i) {
    const int d = where[i];
    load[d] += p.time(i, d);
    bool leaves = false;
    for (const Arc& a : p.succ(i)) {
      const int e = where[a.node];
      if (e == d || seen[e] == i) continue;
      seen[e] = i;
      leaves = true;
      if (!p.is_cpu[e]) load[e] += p.host_cost[i];
    }
    if (leaves && !p.is_cpu[d]) load[d] += p.host_cost[i];
  }
  return load;
}

double fullest_load(const Problem& p, std::span<const int> where) {
  const std::vector<double> load = device_loads(p, where);
  return *std::max_element(load.begin(), load.end());
}

}  // namespace emplace::planning
