#pragma once
#include <algorithm>
#include <iterator>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "placement/search/budget.h"
#include "placement/search/memory.h"

namespace emplace::planning {

constexpr double kTie = 1e-12;

// Which devices a node may still take.
class Choices {
 public:
  explicit Choices(const Problem& p) : p_(p), memory_(p), fixed_(p.units, -1) {}
  // Devices of one kind alone, by unit, where such a device has room; -1: any.
  void prefer(std::vector<int> kind) { kind_ = std::move(kind); }
  const std::vector<int>& of(int node) {
    const int u = p_.unit_of[node];
    list_.clear();
    if (fixed_[u] >= 0) {
      list_.push_back(fixed_[u]);
      return list_;
    }
    if (!kind_.empty() && kind_[u] >= 0)
      for (int d : p_.allowed(u))
        if (p_.twin[d] == kind_[u] && memory_.has_room(u, d)) list_.push_back(d);
    if (list_.empty())
      for (int d : p_.allowed(u))
        if (memory_.has_room(u, d)) list_.push_back(d);
    if (list_.empty())
      list_.push_back(*std::max_element(p_.allowed(u).begin(), p_.allowed(u).end(), [&](int a, int b) {
        return memory_.free(a) < memory_.free(b);
      }));
    return list_;
  }
  void take(int node, int device) {
    int& fixed = fixed_[p_.unit_of[node]];
    if (fixed >= 0) return;
    fixed = device;
    memory_.take(p_.unit_of[node], device);
  }

 private:
  const Problem& p_;
  Memory memory_;
  std::vector<int> fixed_, list_, kind_;
};

struct Schedule {
  explicit Schedule(const Problem& p) : where(p.nodes, -1), start(p.nodes), finish(p.nodes) {}
  std::vector<int> where, made;
  std::vector<double> start, finish;

  double arrival(const Problem& p, int node, int device) const {
    double t = 0;
    for (const Arc& a : p.pred(node))
      t = std::max(t, finish[a.node] + p.transfer(a.edge, where[a.node], device));
    return t;
  }
  void put(int node, int device, double s, double f) {
    where[node] = device, start[node] = s, finish[node] = f;
    made.push_back(node);
  }
  Solution solution(const char* found_by) {
    Solution s;
    s.order = made;
    std::stable_sort(s.order.begin(), s.order.end(),
                     [&](int a, int b) { return start[a] < start[b]; });
    s.where = where;
    s.found_by = found_by;
    return s;
  }
};

// The busy times of a device, sorted; finds the first gap. What follows without a gap that could hold
// a node is one time, so that there are few.
class Gaps {
 public:
  explicit Gaps(double least = 0) : least_(least) {}
  double first(double from, double length) const {
    auto at = std::lower_bound(busy_.begin(), busy_.end(), std::pair(from, from));
    if (at != busy_.begin()) --at;
    for (; at != busy_.end(); ++at) {
      if (from + length <= at->first + kTie) break;
      from = std::max(from, at->second);
    }
    return from;
  }
  void add(double from, double to) {
    if (to <= from) return;
    auto next = std::lower_bound(busy_.begin(), busy_.end(), std::pair(from, to));
    const bool after = next != busy_.begin() && from - std::prev(next)->second <= least_;
    const bool before = next != busy_.end() && next->first - to <= least_;
    if (after && before) {
      std::prev(next)->second = std::max(to, next->second);
      busy_.erase(next);
    } else if (after) {
      std::prev(next)->second = std::max(to, std::prev(next)->second);
    } else if (before) {
      next->first = from;
    } else {
      busy_.insert(next, {from, to});
    }
  }

 private:
  double least_;  // gaps up to this hold nothing
  std::vector<std::pair<double, double>> busy_;
};

// For each node and kind of device, the least that must follow its end there: the table of
// predict-earliest-finish-time. Devices that are twins share a column.
class Prospects {
 public:
  explicit Prospects(const Problem& p) : p_(p), rest_(size_t(p.nodes) * p.devices, 0) {
    for (int d = 0; d < p.devices; ++d)
      if (p.twin[d] == d) kinds_.push_back(d);
    for (size_t k = p.topo.size(); k-- > 0;) fill(p.topo[k]);
  }
  double rest(int node, int device) const {
    return rest_[size_t(node) * p_.devices + p_.twin[device]];
  }

 private:
  void fill(int i) {
    for (int a : kinds_) {
      double most = 0;
      for (const Arc& s : p_.succ(i)) {
        double least = kInfinity;
        for (int b : kinds_) {
          const double t = p_.time(s.node, b);
          if (t == kInfinity) continue;
          const double move = a == b ? 0 : p_.transfer(s.edge, a, b);
          least = std::min(least, rest(s.node, b) + t + move);
        }
        if (least < kInfinity) most = std::max(most, least);
      }
      rest_[size_t(i) * p_.devices + a] = most;
    }
  }
  const Problem& p_;
  std::vector<double> rest_;
  std::vector<int> kinds_;
};

// List scheduling by given ranks: of the nodes whose inputs are there the one of highest rank goes
// first, to where it ends soonest, gaps between nodes used. Tables that all passes share are made
// once.
class ListScheduler {
 public:
  explicit ListScheduler(const Problem& p) : p_(p) {}

  // `look_ahead`: how much of the best that can follow counts for a device. The value is the end of
  // the schedule, which is exact where links have no contention and devices one slot.
  Solution run(std::span<const double> rank, double look_ahead, Choices choices);
  Solution run(std::span<const double> rank, double look_ahead) {
    return run(rank, look_ahead, Choices(p_));
  }

 private:
  const Problem& p_;
  std::optional<Prospects> prospects_;
};

}  // namespace emplace::planning
