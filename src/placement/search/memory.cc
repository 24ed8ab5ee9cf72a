#include "placement/search/memory.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "emplace/error.h"

namespace emplace::planning {
namespace {

constexpr int kSearchSteps = 200'000;
constexpr size_t kDeepest = 3000;  // units whose choices are taken back

std::vector<int> by_falling_memory(const Problem& p) {
  std::vector<int> units(p.units);
  std::iota(units.begin(), units.end(), 0);
  // Those with a single choice have no say and come first.
  std::stable_sort(units.begin(), units.end(), [&](int a, int b) {
    const bool single_a = p.allowed(a).size() == 1, single_b = p.allowed(b).size() == 1;
    if (single_a != single_b) return single_a;
    return p.unit_memory[a] > p.unit_memory[b];
  });
  return units;
}

// Units in turn, each to the devices with most room first; back to the last choice at a dead end.
class Packing {
 public:
  explicit Packing(const Problem& p)
      : p_(p), order_(by_falling_memory(p)), memory_(p), where_(p.units, -1) {}
  bool run() { return place(0); }
  std::vector<int> where() const { return where_; }
  int stuck() const { return order_[deepest_]; }  // the unit that got no room
  double missing() const { return missing_; }

 private:
  bool place(size_t k) {
    while (k < order_.size() && p_.unit_memory[order_[k]] == 0) {
      where_[order_[k]] = p_.allowed(order_[k])[0];
      ++k;
    }
    if (k == order_.size()) return true;
    const int u = order_[k];
    std::vector<int> choices(p_.allowed(u).begin(), p_.allowed(u).end());
    std::stable_sort(choices.begin(), choices.end(),
                     [&](int a, int b) { return memory_.free(a) > memory_.free(b); });
    note(k, u, memory_.free(choices[0]));
    double last = -1;
    for (int d : choices) {
      if (!memory_.has_room(u, d)) break;  // the others have less
      if (memory_.free(d) == last && p_.twin[d] != d) continue;
      last = memory_.free(d);
      if (++steps_ > kSearchSteps) return false;
      memory_.take(u, d);
      where_[u] = d;
      if (order_.size() > kDeepest) return place_rest(k + 1);
      if (place(k + 1)) return true;
      memory_.drop(u, d);
    }
    return false;
  }
  // Many units: each where most room is, nothing taken back.
  bool place_rest(size_t k) {
    for (; k < order_.size(); ++k) {
      const int u = order_[k];
      int best = p_.allowed(u)[0];
      for (int d : p_.allowed(u))
        if (memory_.free(d) > memory_.free(best)) best = d;
      note(k, u, memory_.free(best));
      if (!memory_.has_room(u, best)) return false;
      memory_.take(u, best);
      where_[u] = best;
    }
    return true;
  }
  void note(size_t k, int u, double free) {
    if (k < deepest_ || p_.unit_memory[u] <= free) return;
    deepest_ = k;
    missing_ = p_.unit_memory[u] - free;
  }

  const Problem& p_;
  std::vector<int> order_;
  Memory memory_;
  std::vector<int> where_;
  int steps_ = 0;
  size_t deepest_ = 0;
  double missing_ = 0;
};

std::string names(const Problem& p, int unit) {
  std::string text;
  for (int i : p.members(unit)) {
    if (text.size() > 100) return text + ", …";
    text += (text.empty() ? "'" : ", '") + p.graph.nodes[i].name + "'";
  }
  return text;
}

[[noreturn]] void refuse(const Problem& p, const Packing& packing) {
  const double need = std::accumulate(p.unit_memory.begin(), p.unit_memory.end(), 0.0);
  const double room = std::accumulate(p.room.begin(), p.room.end(), 0.0);
  const int u = packing.stuck();
  std::string on;
  for (int d : p.allowed(u)) on += (on.empty() ? "" : ", ") + p.graph.devices[d].name;
  std::string text = fmt::format(
      "No device has room for {} ({:.0f} bytes): {:.0f} bytes are missing on {} beside the nodes "
      "that must go somewhere too",
      names(p, u), p.unit_memory[u], packing.missing(), on);
  if (need > room)
    text += fmt::format("; all nodes keep {:.0f} bytes, {:.0f} more than all devices have", need,
                        need - room);
  throw resource_exhausted(text);
}

double unit_time(const Problem& p, int unit, int device) {
  double t = 0;
  for (int i : p.members(unit)) t += p.time(i, device);
  return t;
}

// Takes units from devices that hold too much, smallest that is enough first, to where room is.
bool unload(const Problem& p, std::vector<int>& where) {
  Memory memory(p);
  std::vector<std::vector<int>> on(p.devices);
  for (int u = 0; u < p.units; ++u) {
    memory.take(u, where[u]);
    on[where[u]].push_back(u);
  }
  for (int d = 0; d < p.devices; ++d) {
    std::stable_sort(on[d].begin(), on[d].end(),
                     [&](int a, int b) { return p.unit_memory[a] > p.unit_memory[b]; });
    for (size_t k = 0; k < on[d].size() && memory.free(d) < 0; ++k) {
      const int u = on[d][k];
      if (p.unit_memory[u] == 0) break;
      const auto better = [&](int a, int b) {
        const double ta = unit_time(p, u, a), tb = unit_time(p, u, b);
        return ta != tb ? ta < tb : memory.free(a) > memory.free(b);
      };
      int best = -1;
      for (int e : p.allowed(u))
        if (e != d && memory.has_room(u, e) && (best < 0 || better(e, best))) best = e;
      if (best < 0) continue;
      memory.drop(u, d);
      memory.take(u, best);
      where[u] = best;
    }
    if (memory.free(d) < 0) return false;
  }
  return true;
}

}  // namespace

std::vector<int> make_fit(const Problem& p, std::vector<int> wish) {
  if (!p.limited || unload(p, wish)) return wish;
  Packing packing(p);
  if (!packing.run()) refuse(p, packing);
  return packing.where();
}

std::vector<int> to_units(const Problem& p, std::span<const int> where) {
  std::vector<int> out(p.units);
  for (int u = 0; u < p.units; ++u) out[u] = where[p.members(u)[0]];
  return out;
}

std::vector<int> to_nodes(const Problem& p, std::span<const int> unit_where) {
  std::vector<int> out(p.nodes);
  for (int i = 0; i < p.nodes; ++i) out[i] = unit_where[p.unit_of[i]];
  return out;
}

}  // namespace emplace::planning
