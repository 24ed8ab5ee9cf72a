#include "placement/search/pipeline_ideals.h"

#include <algorithm>
#include <cstdint>
#include <unordered_map>

#include "placement/search/pipeline_split.h"

namespace emplace::planning {
namespace {

class IdealSplit {
 public:
  IdealSplit(const Problem& p, double limit, Budget& budget)
      : p_(p), limit_(limit), budget_(budget), devices_(alike_accelerators(p)), kind_(devices_[0]),
        after_(p.units), before_(p.units, 0), left_(p.units), key_(p.units), side_(p.nodes, kAhead),
        inside_(p.nodes, 0), behind_(p.nodes, 0) {
    Random random(1);
    for (uint64_t& k : key_) k = random.next();
    for (int u = 0; u < p.units; ++u) {
      const int i = p.members(u)[0];
      for (const Arc& a : p.succ(i))
        if (const int v = p.unit_of[a.node]; v != u && p.members(v)[0] == a.node)
          after_[u].push_back(v);
      std::ranges::sort(after_[u]);
      after_[u].erase(std::unique(after_[u].begin(), after_[u].end()), after_[u].end());
      for (int v : after_[u]) ++before_[v];
      work_ += unit_time(u);
      memory_ += p.unit_memory[u];
    }
  }

  std::vector<int> run() {
    for (int u = 0; u < p_.units; ++u)
      if (!p_.may(u, kind_)) return {};
    if (!sort_units()) return {};
    reached_.push_back({{}, 0, -1});
    by_size_.resize(size_t(p_.units) + 1);
    by_size_[0].emplace(0, 0);
    for (int size = 0; size < p_.units; ++size)
      for (const auto& [hash, at] : by_size_[size])
        if (!extend(at, hash, size)) return {};
    for (const auto& [hash, at] : by_size_[p_.units]) return split(at);
    return {};
  }

 private:
  enum Side : char { kBehind, kInside, kAhead };  // in an earlier span, in this one, in a later one
  struct Ideal {
    std::vector<int> added;  // by its last span
    int spans, from;
  };

  double unit_time(int u) const {
    double t = 0;
    for (int i : p_.members(u)) t += p_.time(i, kind_);
    return t;
  }

  bool sort_units() {
    left_ = before_;
    list_.clear();
    for (int u = 0; u < p_.units; ++u)
      if (left_[u] == 0) list_.push_back(u);
    for (size_t k = 0; k < list_.size(); ++k)
      for (int v : after_[list_[k]])
        if (--left_[v] == 0) list_.push_back(v);
    return int(list_.size()) == p_.units;
  }

  // What a node costs the span beside its time: a transfer if it is used outside, or used here.
  double pays(int i) const {
    const bool here = side_[i] == kInside ? inside_[i] < int(p_.succ(i).size()) : inside_[i] > 0;
    return here ? p_.host_cost[i] : 0;
  }
  // … and the part of it that stays however the span grows.
  double pays_for_good(int i) const {
    if (side_[i] == kBehind) return inside_[i] > 0 ? p_.host_cost[i] : 0;
    return side_[i] == kInside && behind_[i] > 0 ? p_.host_cost[i] : 0;
  }
  void count(int i, double sign) {
    load_ += sign * pays(i);
    least_ += sign * pays_for_good(i);
  }

  void move(int u, Side to) {
    const int sign = to == kInside ? 1 : -1;
    span_memory_ += sign * p_.unit_memory[u];
    for (int i : p_.members(u)) {
      const double t = sign * p_.time(i, kind_);
      span_time_ += t, load_ += t, least_ += t;
      count(i, -1);
      side_[i] = to;
      count(i, 1);
      for (const Arc& a : p_.pred(i)) {
        count(a.node, -1);
        inside_[a.node] += sign;
        count(a.node, 1);
      }
    }
    for (int v : after_[u]) left_[v] -= sign;
  }

  // All spans that begin behind an ideal. False: the budget is spent.
  bool extend(int at, uint64_t hash, int size) {
    spans_ = reached_[at].spans;
    if (spans_ == int(devices_.size())) return true;
    begin(at);
    at_ = at;
    return grow(0, hash, size);
  }

  void begin(int at) {
    std::fill(side_.begin(), side_.end(), kAhead);
    std::fill(inside_.begin(), inside_.end(), 0);
    std::fill(behind_.begin(), behind_.end(), 0);
    left_ = before_;
    done_time_ = done_memory_ = span_time_ = span_memory_ = load_ = least_ = 0;
    std::vector<char> done(p_.units, 0);
    for (int k = at; k >= 0; k = reached_[k].from)
      for (int u : reached_[k].added) {
        done[u] = 1;
        done_time_ += unit_time(u);
        done_memory_ += p_.unit_memory[u];
        for (int v : after_[u]) --left_[v];
        for (int i : p_.members(u)) {
          side_[i] = kBehind;
          for (const Arc& a : p_.pred(i)) ++behind_[a.node];
        }
      }
    list_.clear();
    span_.clear();
    for (int u = 0; u < p_.units; ++u)
      if (!done[u] && left_[u] == 0) list_.push_back(u);
  }

  // Each set of units once: from `first` on in the list of those that could come next, each is
  // taken, or passed over for good.
  bool grow(size_t first, uint64_t hash, int size) {
    const size_t end = list_.size();
    for (size_t k = first; k < end; ++k) {
      const int u = list_[k];
      if (!budget_.spend(512)) return false;
      move(u, kInside);
      bool go_on = true;
      if (least_ < limit_ && p_.fits(kind_, span_memory_)) {
        span_.push_back(u);
        note(hash ^ key_[u], size + 1);
        for (int v : after_[u])
          if (left_[v] == 0) list_.push_back(v);
        go_on = grow(k + 1, hash ^ key_[u], size + 1);
        list_.resize(end);
        span_.pop_back();
      }
      move(u, kAhead);
      if (!go_on) return false;
    }
    return true;
  }

  void note(uint64_t hash, int size) {
    if (load_ >= limit_) return;
    const int rest = int(devices_.size()) - spans_ - 1;
    // What is left must go into as many spans; sums drift by a hair.
    if (work_ * (1 - 1e-9) - done_time_ - span_time_ > rest * limit_) return;
    if (memory_ * (1 - 1e-9) - done_memory_ - span_memory_ > rest * p_.room[kind_]) return;
    const auto [found, fresh] = by_size_[size].try_emplace(hash, int(reached_.size()));
    if (fresh) reached_.push_back({span_, spans_ + 1, at_});
    else if (Ideal& i = reached_[found->second]; i.spans > spans_ + 1) i = {span_, spans_ + 1, at_};
  }

  std::vector<int> split(int at) const {
    std::vector<int> where(p_.units, kind_);
    for (int k = at; k >= 0; k = reached_[k].from)
      for (int u : reached_[k].added) where[u] = devices_[reached_[k].spans - 1];
    return where;
  }

  const Problem& p_;
  const double limit_;
  Budget& budget_;
  const std::vector<int> devices_;
  const int kind_;
  std::vector<std::vector<int>> after_;  // by unit
  std::vector<int> before_, left_;       // by unit: how many come before it; … and are not there yet
  std::vector<uint64_t> key_;
  std::vector<Side> side_;            // by node
  std::vector<int> inside_, behind_;  // by node: its edges into the span, to what is behind
  std::vector<Ideal> reached_;
  std::vector<std::unordered_map<uint64_t, int>> by_size_;
  std::vector<int> list_, span_;
  double work_ = 0, memory_ = 0, done_time_ = 0, done_memory_ = 0;
  double span_time_ = 0, span_memory_ = 0, load_ = 0;
  double least_ = 0;  // of the load, however the span grows
  int spans_ = 0, at_ = 0;
};

}  // namespace

std::vector<int> split_below(const Problem& p, double limit, Budget& budget) {
  return IdealSplit(p, limit, budget).run();
}

}  // namespace emplace::planning
