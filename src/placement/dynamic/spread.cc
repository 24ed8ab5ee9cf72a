#include "placement/dynamic/spread.h"

#include <algorithm>
#include <numeric>

namespace emplace::placement {
namespace {

using planning::Arc;
using planning::Problem;

class Spread {
 public:
  Spread(const Problem& p, const std::vector<int>& simple) : p_(p), simple_(simple) {}

  std::vector<int> run(std::span<const int> devices, double bytes) {
    where_.assign(p_.units, -1);
    fill(devices, bytes);
    for (const int i : p_.topo) follow(i, p_.pred(i));
    for (size_t k = p_.topo.size(); k-- > 0;) follow(p_.topo[k], p_.succ(p_.topo[k]));
    std::vector<int> out(p_.nodes);
    for (int i = 0; i < p_.nodes; ++i)
      out[i] = where_[p_.unit_of[i]] >= 0 ? where_[p_.unit_of[i]] : simple_[i];
    return out;
  }

 private:
  double kept(int unit) const {
    double sum = 0;
    for (const int i : p_.members(unit)) sum += p_.graph.nodes[i].memory;
    return sum;
  }

  // When somebody beside the unit first needs it.
  int first_use(int unit) const {
    int first = p_.nodes;
    for (const int i : p_.members(unit))
      for (const Arc& a : p_.succ(i))
        if (p_.unit_of[a.node] != unit) first = std::min(first, p_.rank[a.node]);
    return first;
  }

  void fill(std::span<const int> devices, double bytes) {
    std::vector<std::pair<int, int>> units;  // by first use
    for (int u = 0; u < p_.units; ++u)
      if (kept(u) > 0) units.emplace_back(first_use(u), u);
    std::ranges::sort(units);
    size_t at = 0;
    double used = 0;
    for (const auto& [use, u] : units) {
      if (used > 0 && used + kept(u) > bytes && at + 1 < devices.size()) ++at, used = 0;
      if (!p_.may(u, devices[at])) continue;
      where_[u] = devices[at];
      used += kept(u);
    }
  }

  // To the neighbour that keeps most, else to the one with the largest tensor between.
  void follow(int i, std::span<const Arc> neighbours) {
    const int u = p_.unit_of[i];
    if (where_[u] >= 0) return;
    std::pair<double, double> most{-1, -1};
    int to = -1;
    for (const Arc& a : neighbours) {
      const int other = p_.unit_of[a.node];
      if (where_[other] < 0 || !p_.may(u, where_[other])) continue;
      const std::pair weight{kept(other), p_.graph.edges[a.edge].bytes};
      if (weight > most) most = weight, to = where_[other];
    }
    where_[u] = to;
  }

  const Problem& p_;
  const std::vector<int>& simple_;
  std::vector<int> where_;  // by unit; -1: not yet
};

}  // namespace

std::vector<int> spread(const Problem& p, const std::vector<int>& simple,
                        std::span<const int> devices, double bytes) {
  return Spread(p, simple).run(devices, bytes);
}

}  // namespace emplace::placement
