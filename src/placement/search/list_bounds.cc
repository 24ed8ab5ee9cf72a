#include "placement/search/list_bounds.h"

#include <algorithm>
#include <functional>

namespace emplace::planning {
namespace {

constexpr size_t kMostLocal = 64;  // neighbours on one device that are looked at

// A neighbour of a node: what it takes, when it could be over at the earliest, and when its data
// could be there if it were on another device.
struct Neighbour {
  double head, time, remote;
};

// When a node can start at the earliest after its neighbours: those on its own device run one after
// another there, data of the others take their way. The best of all splits of that kind: the k whose
// data would come latest stay, for each k.
double earliest(std::vector<Neighbour>& all, bool one_at_a_time) {
  std::sort(all.begin(), all.end(),
            [](const Neighbour& a, const Neighbour& b) { return a.remote > b.remote; });
  double best = kInfinity;
  std::vector<Neighbour> local;  // sorted by head
  for (size_t k = 0; k <= all.size(); ++k) {
    const double remote = k < all.size() ? all[k].remote : 0;
    double at = 0;
    for (const Neighbour& x : local)
      at = one_at_a_time ? std::max(at, x.head) + x.time : std::max(at, x.head + x.time);
    best = std::min(best, std::max(at, remote));
    if (k == kMostLocal) best = std::min(best, at);
    if (at >= best || k == all.size()) break;
    local.insert(std::upper_bound(local.begin(), local.end(), all[k],
                                  [](const Neighbour& a, const Neighbour& b) {
                                    return a.head < b.head;
                                  }),
                 all[k]);
  }
  return best;
}

using Arcs = std::function<std::span<const Arc>(int)>;

std::vector<double> heads(const Problem& p, const std::vector<int>& order, const Arcs& before,
                          bool one_at_a_time) {
  std::vector<double> head(p.nodes, 0);
  std::vector<Neighbour> all;
  std::vector<int> seen(p.nodes, -1), slot(p.nodes);  // a node may have several edges to another
  for (int i : order) {
    all.clear();
    for (const Arc& a : before(i)) {
      const double remote = head[a.node] + p.min_time[a.node] + p.min_transfer[a.edge];
      if (seen[a.node] != i) {
        seen[a.node] = i;
        slot[a.node] = int(all.size());
        all.push_back({head[a.node], p.min_time[a.node], remote});
      }
      all[slot[a.node]].remote = std::max(all[slot[a.node]].remote, remote);
    }
    if (!all.empty()) head[i] = earliest(all, one_at_a_time);
  }
  return head;
}

int all_slots(const Problem& p) {
  int sum = 0;
  for (int s : p.slots) {
    if (s == 0) return 0;
    sum += s;
  }
  return sum;
}

// Two kinds of devices: all of them busy from the start to the end with parts of nodes, those that
// gain most from the second kind there. No kind of work is done sooner.
double area_of_two_kinds(const Problem& p) {
  std::vector<int> kinds;
  std::vector<double> slots(p.devices, 0);
  for (int d = 0; d < p.devices; ++d) {
    if (p.twin[d] == d) kinds.push_back(d);
    slots[p.twin[d]] += p.slots[d];
    if (p.slots[d] == 0) return 0;
  }
  if (kinds.size() != 2) return 0;
  const int a = kinds[0], b = kinds[1];
  double on_a = 0, on_b = 0;  // seconds of work
  std::vector<std::pair<double, double>> either;
  for (int i = 0; i < p.nodes; ++i) {
    const int u = p.unit_of[i];
    const double ta = p.may(u, a) ? p.time(i, a) : kInfinity, tb = p.may(u, b) ? p.time(i, b) : kInfinity;
    if (ta == kInfinity && tb == kInfinity) return 0;  // pinned to one of many: twins may not tell
    if (tb == kInfinity) on_a += ta;
    else if (ta == kInfinity) on_b += tb;
    else on_a += ta, either.emplace_back(ta, tb);
  }
  std::sort(either.begin(), either.end(), [](const auto& x, const auto& y) {
    return x.first * y.second > y.first * x.second;  // by gain on the second kind
  });
  double best = std::max(on_a / slots[a], on_b / slots[b]);
  for (const auto& [ta, tb] : either) {
    if (on_a / slots[a] <= on_b / slots[b]) break;
    // The part of this node that makes both even, or all of it.
    const double gap = on_a / slots[a] - on_b / slots[b];
    const double step = ta / slots[a] + tb / slots[b];
    const double part = step > 0 ? std::min(1.0, gap / step) : 1;
    on_a -= part * ta, on_b += part * tb;
    best = std::max(on_a / slots[a], on_b / slots[b]);
    if (part < 1) break;
  }
  return best;
}

}  // namespace

ListBounds list_bounds(const Problem& p) {
  ListBounds b;
  const bool one = std::all_of(p.slots.begin(), p.slots.end(), [](int s) { return s == 1; });
  std::vector<int> back(p.topo.rbegin(), p.topo.rend());
  b.head = heads(p, p.topo, [&](int i) { return p.pred(i); }, one);
  b.tail = heads(p, back, [&](int i) { return p.succ(i); }, one);
  double work = 0;
  for (int i = 0; i < p.nodes; ++i) {
    b.value = std::max(b.value, b.head[i] + p.min_time[i] + b.tail[i]);
    work += p.min_time[i];
  }
  if (const int slots = all_slots(p); slots > 0) b.value = std::max(b.value, work / slots);
  b.value = std::max(b.value, area_of_two_kinds(p) * (1 - 1e-12));
  b.value = p.round_up(b.value);
  return b;
}

double energy_bound(const Problem& p, const ListBounds& b, double below) {
  const int slots = all_slots(p);
  if (slots == 0 || p.nodes > 200) return b.value;
  const auto fits = [&](double end) {
    std::vector<double> from(b.head), to;
    for (int i = 0; i < p.nodes; ++i) to.push_back(end - b.tail[i]);
    std::sort(from.begin(), from.end());
    from.erase(std::unique(from.begin(), from.end()), from.end());
    std::sort(to.begin(), to.end());
    to.erase(std::unique(to.begin(), to.end()), to.end());
    for (double f : from)
      for (double t : to) {
        if (t <= f) continue;
        double inside = 0;
        for (int i = 0; i < p.nodes; ++i) {
          const double early = b.head[i] + p.min_time[i] - f, late = t - (end - b.tail[i] - p.min_time[i]);
          inside += std::max(0.0, std::min({p.min_time[i], t - f, early, late}));
        }
        if (inside > slots * (t - f) * (1 + 1e-9)) return false;
      }
    return true;
  };
  double low = b.value;
  if (below <= low || fits(low)) return low;
  if (p.grain <= 0) return low;
  for (double next = low + p.grain; next <= below * (1 + 1e-9); next += p.grain) {
    low = next;
    if (fits(next)) break;
  }
  return std::min(low, below);
}

}  // namespace emplace::planning
