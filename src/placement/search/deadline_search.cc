#include "placement/search/deadline_search.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <map>
#include <numeric>

#include "placement/search/order_search.h"

namespace emplace::planning {
namespace {

using Ticks = int32_t;
constexpr int kMostTasks = 256;
constexpr int kMostTicks =
    1024;  // of what is left of devices, for which sums of times are looked up

// The graph in whole ticks, as it is or turned round, without nodes that take no time.
struct Tasks {
  std::vector<int> node;          // of the problem
  std::vector<Ticks> time, tail;  // tail: own time included
  std::vector<std::vector<int>> before, after;
  int size() const { return int(node.size()); }
};

uint64_t mixed(uint64_t x) {
  x ^= x >> 31;
  x *= 0x9E3779B97F4A7C15ull;
  x ^= x >> 29;
  return x * 0xBF58476D1CE4E5B9ull ^ x >> 32;
}

// A set of tasks.
class Bits {
 public:
  void add(int i) { word_[i >> 6] |= uint64_t{1} << (i & 63); }
  void drop(int i) { word_[i >> 6] &= ~(uint64_t{1} << (i & 63)); }
  bool has(int i) const { return word_[i >> 6] >> (i & 63) & 1; }
  // The first one from `i` on; -1: none.
  int next(int i) const {
    if (i >= kMostTasks) return -1;
    uint64_t w = word_[i >> 6] & ~uint64_t{0} << (i & 63);
    for (int k = i >> 6;;) {
      if (w != 0) return k * 64 + std::countr_zero(w);
      if (++k == kMostTasks / 64) return -1;
      w = word_[k];
    }
  }

 private:
  std::array<uint64_t, kMostTasks / 64> word_{};
};

// Depth first through the schedules that end in time. Tasks are known by their rank.
class Descent {
 public:
  Descent(const Tasks& tasks, int devices, Ticks deadline)
      : tasks_(tasks),
        n_(tasks.size()),
        deadline_(deadline),
        order_(n_),
        rank_(n_),
        time_(n_),
        latest_(n_),
        end_(n_),
        from_(n_),
        left_(n_),
        alike_(n_),
        after_(n_),
        before_(n_),
        free_(devices),
        runs_(devices),
        dead_ends_(size_t{1} << 14, 0),
        sums_(deadline / 64 + 2) {
    std::iota(order_.begin(), order_.end(), 0);
    // Of one kind are tasks of which, once they are ready, it is all the same which one runs.
    std::map<std::pair<Ticks, std::vector<int>>, int> kinds;
    for (int i = 0; i < n_; ++i)
      kind_.push_back(
          kinds.emplace(std::pair(tasks.time[i], tasks.after[i]), int(kinds.size())).first->second);
  }

  // What has more of `preference` first, till `steps` are made.
  Found run(const std::vector<double>& preference, int64_t steps) {
    std::sort(order_.begin(), order_.end(),
              [&](int a, int b) { return preference[a] > preference[b]; });
    for (int k = 0; k < n_; ++k) rank_[order_[k]] = k;
    std::fill(free_.begin(), free_.end(), 0);
    std::fill(runs_.begin(), runs_.end(), -1);
    ready_ = waiting_ = rest_ = Bits();
    count_ = n_;
    set_ = 0;
    last_of_kind_.assign(n_, -1);
    late_.assign(std::min<Ticks>(deadline_, kMostTicks) + 1, 0);
    runs_on_.resize(late_.size() + 3);
    int64_t work = 0;
    for (int k = 0; k < n_; ++k) take_in(k), work += time_[k];
    idle_ = int64_t(free_.size()) * deadline_ - work;
    steps_ = most_ = steps;
    if (idle_ >= 0 && start(0, -1)) return Found::kYes;
    return steps_ < 0 ? Found::kGaveUp : Found::kNo;
  }
  int64_t made() const { return most_ - steps_; }
  Ticks end(int task) const { return end_[rank_[task]]; }

 private:
  void take_in(int k) {
    const int i = order_[k];
    time_[k] = tasks_.time[i];
    latest_[k] = deadline_ - tasks_.tail[i];
    end_[k] = -1;
    after_[k].clear(), before_[k].clear();
    for (int j : tasks_.after[i]) after_[k].push_back(rank_[j]);
    for (int j : tasks_.before[i]) before_[k].push_back(rank_[j]);
    from_[k] = 0;
    rest_.add(k);
    count_late(k, 1);
    if ((left_[k] = int(before_[k].size())) == 0) ready_.add(k);
    alike_[k] = last_of_kind_[kind_[i]];
    last_of_kind_[kind_[i]] = k;
  }

  // Gives free devices tasks at time t, by rank: those after `last`.
  bool start(Ticks t, int last) {
    if (count_ == 0) return true;
    if (--steps_ < 0) return false;
    int idle = 0, must = 0, can = 0;
    Ticks next = deadline_;
    for (Ticks f : free_) {
      if (f <= t)
        ++idle;
      else
        next = std::min(next, f);
    }
    Ticks soonest = next;  // when a device is free again at the earliest
    for (int i = ready_.next(0); i >= 0; i = ready_.next(i + 1))
      soonest = std::min(soonest, t + time_[i]);
    for (int i = ready_.next(0); i >= 0; i = ready_.next(i + 1)) {
      if (latest_[i] < t) return false;
      can += i > last;
      if (latest_[i] >= soonest) continue;
      if (i <= last) return false;  // passed over, and can't wait
      ++must;
    }
    if (must > idle || int64_t(idle - can) * (soonest - t) > idle_) return false;
    if (idle > 0)
      for (int i = ready_.next(last + 1); i >= 0; i = ready_.next(i + 1)) {
        if (alike_[i] > last && ready_.has(alike_[i])) continue;
        const size_t d = std::min_element(free_.begin(), free_.end()) - free_.begin();
        const Ticks was_free = free_[d];
        const int ran = runs_[d];
        put(i, d, t);
        if (start(t, i)) return true;
        take_back(i);
        free_[d] = was_free, runs_[d] = ran;
        if (steps_ < 0 || latest_[i] < soonest) return false;  // it had to start now
      }
    return wait(t, next, idle);
  }

  bool wait(Ticks t, Ticks next, int idle) {
    const int64_t lost = int64_t(idle) * (next - t);
    if (next >= deadline_ || lost > idle_) return false;
    const uint64_t key = state(next);
    uint64_t& known = dead_ends_[key & (dead_ends_.size() - 1)];
    if (known == key) return false;
    idle_ -= lost;
    const Bits ready = ready_, waiting = waiting_;
    for (int i = waiting.next(0); i >= 0; i = waiting.next(i + 1))
      if (from_[i] <= next) waiting_.drop(i), ready_.add(i);
    const bool found = !starved(next) && !wasted(next) && start(next, -1);
    idle_ += lost;
    if (found) return true;
    ready_ = ready, waiting_ = waiting;
    if (steps_ >= 0) known = key;
    return false;
  }

  // In the last x ticks, for each x, what is left can be too little to keep the devices busy.
  bool starved(Ticks t) {
    const int m = int(free_.size());
    const int most = int(std::min<Ticks>(deadline_ - t, kMostTicks));
    std::fill(runs_on_.begin(), runs_on_.begin() + most + 2, 0);
    for (Ticks f : free_) {
      const Ticks left = deadline_ - f;  // busy before the last `left` ticks
      if (left < most) ++runs_on_[left + 1];
    }
    int busy = 0, sum = 0;
    for (int x = 1; x <= most; ++x) {
      busy += runs_on_[x];
      sum += busy;
      if (late_[x] + sum < m * x - idle_) return true;
    }
    return false;
  }

  // Adds what of a task can be done in the last x ticks, for each x.
  void count_late(int i, int sign) {
    const int from = int(deadline_ - latest_[i] - time_[i]), to = from + int(time_[i]),
              all = int(late_.size());
    int x = from + 1;
    for (; x < to && x < all; ++x) late_[x] += sign * (x - from);
    const int full = sign * int(time_[i]);
    for (x = std::max(x, 0); x < all; ++x) late_[x] += full;
  }

  // What is left of a device can be more than any sum of times that are left.
  bool wasted(Ticks t) {
    if (count_ > 2 * int(free_.size())) return false;
    Ticks most = 0;
    for (Ticks f : free_) most = std::max(most, deadline_ - std::max(f, t));
    if (most >= kMostTicks) return false;
    if (crowded(t, most)) return true;
    const int words = int(most / 64) + 1;
    std::fill(sums_.begin(), sums_.begin() + words, 0);
    sums_[0] = 1;
    for (int i = rest_.next(0); i >= 0; i = rest_.next(i + 1)) add_to_sums(time_[i], words);
    Ticks lost = 0;
    for (Ticks f : free_) {
      const Ticks gap = deadline_ - std::max(f, t);
      Ticks g = gap;
      while (!(sums_[g >> 6] >> (g & 63) & 1)) --g;
      if ((lost += gap - g) > idle_) return true;
    }
    return false;
  }

  // What is left of the devices can be too little for the longest tasks, or can be such that none
  // of the shortest fills it.
  bool crowded(Ticks t, Ticks most) {
    tasks_of_.assign(most + 1, 0), gaps_of_.assign(most + 1, 0), holds_.assign(most + 1, 0);
    Ticks shortest = most;
    for (int i = rest_.next(0); i >= 0; i = rest_.next(i + 1)) {
      if (time_[i] > most) return true;
      ++tasks_of_[time_[i]];
      shortest = std::min(shortest, time_[i]);
    }
    for (Ticks f : free_) {
      const Ticks gap = deadline_ - std::max(f, t);
      ++gaps_of_[gap], ++holds_[gap], ++holds_[gap / 2];
    }
    if (idle_ == 0)
      for (Ticks x = 1; x < 2 * shortest && x <= most; ++x)
        if (gaps_of_[x] > tasks_of_[x]) return true;
    int more = 0;
    for (Ticks x = most; x > most / 3; --x)
      if ((more += tasks_of_[x] - holds_[x]) > 0) return true;
    return false;
  }

  void add_to_sums(Ticks time, int words) {
    const int far = int(time >> 6), near = int(time & 63);
    for (int k = words - 1; k >= far; --k) {
      uint64_t moved = sums_[k - far] << near;
      if (near > 0 && k > far) moved |= sums_[k - far - 1] >> (64 - near);
      sums_[k] |= moved;
    }
  }

  void put(int i, size_t d, Ticks t) {
    end_[i] = free_[d] = t + time_[i];
    runs_[d] = i;
    --count_;
    set_ ^= mixed(uint64_t(order_[i]) + 1);
    ready_.drop(i), rest_.drop(i);
    count_late(i, -1);
    for (int j : after_[i]) {
      if (--left_[j] > 0) continue;
      Ticks from = 0;
      for (int b : before_[j]) from = std::max(from, end_[b]);
      from_[j] = from;
      waiting_.add(j);
    }
  }

  void take_back(int i) {
    for (int j : after_[i])
      if (left_[j]++ == 0) waiting_.drop(j);
    end_[i] = -1;
    ++count_;
    set_ ^= mixed(uint64_t(order_[i]) + 1);
    ready_.add(i), rest_.add(i);
    count_late(i, 1);
  }

  // What has been started, and what of it still runs till when.
  uint64_t state(Ticks next) const {
    uint64_t key = set_ ^ mixed(uint64_t(next) * 977 + 13);
    for (int i : runs_)
      if (i >= 0 && end_[i] > next) key += mixed(uint64_t(order_[i]) << 32 ^ uint64_t(end_[i]));
    return key | 1;
  }

  const Tasks& tasks_;
  const int n_;
  const Ticks deadline_;
  std::vector<int> order_, rank_;  // tasks by rank, and the other way
  std::vector<Ticks> time_, latest_, end_, from_;
  std::vector<int> left_, kind_, last_of_kind_;
  std::vector<int> alike_;  // by rank: the last one before it of its kind; -1: none
  std::vector<std::vector<int>> after_, before_;
  std::vector<Ticks> free_;
  std::vector<int> runs_;  // by device: its last task
  std::vector<int> late_;  // what of the tasks that are left fits into the last x ticks
  std::vector<int> runs_on_, tasks_of_, gaps_of_, holds_;
  std::vector<uint64_t> dead_ends_, sums_;
  Bits ready_, waiting_, rest_;
  int count_ = 0;  // tasks not yet started
  int64_t idle_ = 0;
  uint64_t set_ = 0;
  int64_t steps_ = 0, most_ = 0;
};

Tasks tasks_of(const Problem& p, double tick, bool turned) {
  Tasks g;
  std::vector<int> task(p.nodes, -1);
  // What must be done before each node: tasks alone, through nodes that take no time.
  std::vector<std::vector<int>> before(p.nodes);
  const auto visit = [&](int i, std::span<const Arc> arcs) {
    std::vector<int>& all = before[i];
    for (const Arc& a : arcs) {
      if (task[a.node] >= 0)
        all.push_back(task[a.node]);
      else
        all.insert(all.end(), before[a.node].begin(), before[a.node].end());
    }
    std::sort(all.begin(), all.end());
    all.erase(std::unique(all.begin(), all.end()), all.end());
    // Rounded down where there is no common measure: what ends in time is never missed.
    const double ticks = p.time(i, 0) / tick;
    const auto time = Ticks(p.grain > 0 ? std::round(ticks) : std::floor(ticks));
    if (time == 0) return;
    task[i] = g.size();
    g.node.push_back(i);
    g.time.push_back(time);
    g.before.push_back(all);
  };
  if (turned)
    for (size_t k = p.topo.size(); k-- > 0;) visit(p.topo[k], p.succ(p.topo[k]));
  else
    for (int i : p.topo) visit(i, p.pred(i));
  g.after.resize(g.size());
  for (int i = 0; i < g.size(); ++i)
    for (int b : g.before[i]) g.after[b].push_back(i);
  g.tail = g.time;
  for (int i = g.size(); i-- > 0;)
    for (int j : g.after[i]) g.tail[i] = std::max(g.tail[i], g.time[i] + g.tail[j]);
  return g;
}

// Nodes by the time at which they start, each on the device that was free last among those free in
// time.
void schedule(const Problem& p, const std::vector<double>& start, Solution& out) {
  out.order = p.topo;
  std::stable_sort(out.order.begin(), out.order.end(),
                   [&](int a, int b) { return start[a] < start[b]; });
  std::vector<double> free(p.devices, 0), end(p.nodes, 0);
  out.value = 0;
  for (int i : out.order) {
    double ready = 0;
    for (const Arc& a : p.pred(i)) ready = std::max(ready, end[a.node]);
    const int d = next_device(free, ready);
    out.where[i] = d;
    end[i] = free[d] = std::max(ready, free[d]) + p.time(i, d);
    out.value = std::max(out.value, end[i]);
  }
}

}  // namespace

struct DeadlineSearch::State {
  State(const Problem& p, double deadline, uint64_t seed)
      : p(p),
        tick(p.grain > 0 ? p.grain : deadline * 1e-9),
        deadline(Ticks(std::floor(deadline / tick + 1e-6))),
        random(seed),
        tasks{tasks_of(p, tick, false), tasks_of(p, tick, true)},
        descents{Descent(tasks[0], p.devices, this->deadline),
                 Descent(tasks[1], p.devices, this->deadline)} {}

  Found run(Budget& budget, Solution& best) {
    while (!budget.over()) {
      const int turned = round & 1;
      const Found found =
          descents[turned].run(preferences(tasks[turned]), kSteps + kMoreSteps * round);
      for (int64_t k = descents[turned].made() / kStepsOfAnEvaluation; k >= 0; --k)
        budget.spend(16);
      ++round;
      if (found == Found::kNo) return found;
      if (found == Found::kYes && offer(starts(turned), best)) return found;
    }
    return Found::kGaveUp;
  }

 private:
  static constexpr int64_t kSteps = 300, kMoreSteps = 30, kStepsOfAnEvaluation = 8;

  // What has most behind it first; then, more and more, by chance.
  std::vector<double> preferences(const Tasks& t) {
    const double by_time = round < 2 ? 0 : 2 * random.unit();
    const double by_chance = round < 2 ? 0 : 0.2 * std::pow(100, random.unit()) * double(deadline);
    std::vector<double> all(t.size());
    for (int i = 0; i < t.size(); ++i)
      all[i] = double(t.tail[i]) + by_time * double(t.time[i]) + by_chance * random.unit();
    return all;
  }

  std::vector<double> starts(int turned) const {
    const Tasks& t = tasks[turned];
    std::vector<double> start(p.nodes, -1);
    for (int i = 0; i < t.size(); ++i) {
      const Ticks end = descents[turned].end(i);
      start[t.node[i]] = tick * double(turned ? deadline - end : end - t.time[i]);
    }
    for (int i : p.topo)  // those that take no time: at once
      if (start[i] < 0)
        for (const Arc& a : p.pred(i))
          start[i] = std::max(start[i], start[a.node] + p.min_time[a.node]);
    return start;
  }

  // False where rounding made it end too late.
  bool offer(const std::vector<double>& start, Solution& best) const {
    Solution s = best;
    schedule(p, start, s);
    if (s.value >= best.value) return false;
    best = std::move(s);
    return true;
  }

  const Problem& p;
  const double tick;
  const Ticks deadline;
  Random random;
  int round = 0;
  Tasks tasks[2];  // as they are, turned round
  Descent descents[2];
};

DeadlineSearch::DeadlineSearch(const Problem& p, double deadline, uint64_t seed)
    : state_(std::make_unique<State>(p, deadline, seed)) {}
DeadlineSearch::~DeadlineSearch() = default;

Found DeadlineSearch::run(Budget& budget, Solution& best) { return state_->run(budget, best); }

}  // namespace emplace::planning
