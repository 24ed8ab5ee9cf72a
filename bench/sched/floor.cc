#include "bench/sched/floor.h"

#include <algorithm>
#include <chrono>

#if defined(__x86_64__)
#include <x86intrin.h>
#endif

#include "base/work_deque.h"

namespace emplace::bench {
namespace {

constexpr double kTheftNs = 2'000;         // a theft that brings less was not worth it
constexpr double kWakeNs = 20'000;         // a parked thread needs about this long to run
constexpr double kLongestPauseNs = 500'000;
constexpr int kSpins = 200;                // then yield: others may need the core
constexpr int kMeasuredRuns = 8;

uint64_t ticks() {
#if defined(__x86_64__)
  return __rdtsc();
#else
  return static_cast<uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count());
#endif
}

void relax(int spins) {
  if (spins > kSpins) {
    std::this_thread::yield();
    return;
  }
#if defined(__x86_64__)
  _mm_pause();
#endif
}

double measure_ticks_per_ns() {
  using Clock = std::chrono::steady_clock;
  const auto start = Clock::now();
  const uint64_t first = ticks();
  while (Clock::now() - start < std::chrono::milliseconds(2)) {
  }
  const std::chrono::duration<double, std::nano> took = Clock::now() - start;
  return static_cast<double>(ticks() - first) / took.count();
}

uint64_t to_ticks(double ns) {
  static const double per_ns = measure_ticks_per_ns();
  return static_cast<uint64_t>(ns * per_ns);
}

}  // namespace

void Floor::prepare(const TaskGraph& graph, Work work, int workers) {
  stop_helpers();
  nodes_ = graph.nodes;
  succs_ = graph.succs;
  sources_.clear();
  records_ = std::vector<Record>(nodes_);
  for (uint32_t i = 0; i < nodes_; ++i) {
    Record& record = records_[i];
    record.work = work;
    record.succ_begin = graph.succ_begin[i];
    record.succ_count = graph.succ_begin[i + 1] - graph.succ_begin[i];
    if (record.succ_count == 1) record.succ_begin = succs_[record.succ_begin];
    record.joins = static_cast<uint32_t>(graph.preds_of(i).size());
    record.pending = record.joins;
    if (record.joins == 0) sources_.push_back(i);
  }
  measured_ticks_ = ~0ull;
  measured_runs_ = 0;
  for (int i = 0; i < workers; ++i) {
    workers_.push_back(std::make_unique<Worker>());
    workers_.back()->ready.resize(nodes_ + 1);
  }
  for (uint32_t i = 1; i < workers_.size(); ++i) helpers_.emplace_back([this, i] { help(i); });
}

void Floor::run() {
  if (measured_runs_ < kMeasuredRuns) {
    const uint64_t start = ticks();
    run_alone();
    measured_ticks_ = std::min(measured_ticks_, ticks() - start);
    ++measured_runs_;
    return;
  }
  static const uint64_t kWorthWaking = to_ticks(kWakeNs);
  if (workers_.size() == 1 || measured_ticks_ < kWorthWaking) return run_alone();
  run_shared();
}

// Alone, a lone predecessor is the last one like any other. With others busy it needs no atomic.
template <Floor::Others kOthers>
bool Floor::arrive(Record& record) {
  if (kOthers == Others::kBusy && record.joins == 1) return true;
  std::atomic<uint32_t>& pending = record.pending;
  const uint32_t seen = pending.load(std::memory_order_acquire);
  if (seen == 1) {  // all others were here: nobody else writes
    pending.store(record.joins, std::memory_order_relaxed);
    return true;
  }
  if constexpr (kOthers == Others::kIdle) {
    pending.store(seen - 1, std::memory_order_relaxed);
    return false;
  }
  if (pending.fetch_sub(1, std::memory_order_acq_rel) != 1) return false;
  pending.store(record.joins, std::memory_order_relaxed);
  return true;
}

std::span<const uint32_t> Floor::succs_of(const Record& record) const {
  if (record.succ_count == 1) return {&record.succ_begin, 1};
  return {succs_.data() + record.succ_begin, record.succ_count};
}

// With one worker the deque is a stack, and nobody asks.
void Floor::work_alone() {
  Record* const records = records_.data();
  uint32_t* const bottom = workers_[0]->ready.data();
  uint32_t* top = std::ranges::reverse_copy(sources_, bottom).out;
  while (top != bottom) {
    uint32_t node = *--top;
    do {
      Record& record = records[node];
      record.work.fn(record.work.context, node);
      node = kNone;
      for (const uint32_t succ : succs_of(record)) {
        if (!arrive<Others::kIdle>(records[succ])) continue;
        if (node == kNone) {
          node = succ;
        } else {
          *top++ = succ;
        }
      }
    } while (node != kNone);
  }
}

// Runs what is in the deque and all that becomes ready here. While nobody else holds a node plain
// arithmetic does, until one is handed over; with others busy, until all came back. Returns whether
// the deque is empty.
template <Floor::Others kOthers>
bool Floor::work_on(Worker& self) {
  Record* const records = records_.data();
  uint32_t* const ready = self.ready.data();
  uint32_t done = 0;
  uint32_t next = kNone;
  while (next != kNone || self.end != self.oldest) {
    const uint32_t node = next != kNone ? next : ready[--self.end];
    Record& record = records[node];
    record.work.fn(record.work.context, node);
    ++done;
    next = kNone;
    const std::span<const uint32_t> succs = succs_of(record);
    if constexpr (kOthers == Others::kBusy) {
      for (const uint32_t succ : succs) prefetch_for_write(&records[succ].pending);
    }
    for (const uint32_t succ : succs) {
      if (!arrive<kOthers>(records[succ])) continue;
      if (next == kNone) {
        next = succ;
      } else {
        ready[self.end++] = succ;
      }
    }
    const bool asked = self.asked_by.load(std::memory_order_relaxed) != 0;
    const bool lent = asked && answer(self);
    const bool turn =
        kOthers == Others::kBusy ? holders_.load(std::memory_order_acquire) == 1 : lent;
    if (turn) [[unlikely]] break;
  }
  if (next != kNone) ready[self.end++] = next;
  self.done += done;
  return self.end == self.oldest;
}

// A worker that holds a node works until it holds none.
void Floor::work_off(Worker& self) {
  self.done = 0;
  for (bool empty = false; !empty;) {
    const bool alone = holders_.load(std::memory_order_acquire) == 1;
    empty = alone ? work_on<Others::kIdle>(self) : work_on<Others::kBusy>(self);
  }
  self.oldest = self.end = 0;
  holders_.fetch_sub(1, std::memory_order_acq_rel);
}

// Only a holder can make another, so while there is one, it alone decides that there are two.
void Floor::start() {
  Worker& self = *workers_[0];
  for (size_t i = sources_.size(); i-- > 0;) self.ready[self.end++] = sources_[i];
  holders_.store(1, std::memory_order_relaxed);
}

void Floor::run_alone() {
  if (workers_.size() == 1) return work_alone();
  start();
  work_off(*workers_[0]);
}

void Floor::run_shared() {
  start();
  active_.store(1, std::memory_order_release);
  active_.notify_all();
  work_off(*workers_[0]);
  while (!finished()) plunder(0);
  active_.store(0, std::memory_order_relaxed);
}

// Hands the oldest ready node to whoever asked; a thief waits while there is none.
bool Floor::answer(Worker& self) {
  if (self.end == self.oldest || active_.load(std::memory_order_relaxed) != 1) return false;
  const uint32_t thief = self.asked_by.exchange(0, std::memory_order_acquire);
  if (thief == 0) return false;  // it took its question back
  const uint32_t node = self.ready[self.oldest++];
  holders_.fetch_add(1, std::memory_order_relaxed);
  workers_[thief - 1]->mailbox.store(node, std::memory_order_release);
  return true;
}

uint32_t Floor::steal(uint32_t thief) {
  Worker& self = *workers_[thief];
  for (uint32_t step = 1; step < workers_.size(); ++step) {
    Worker& victim = *workers_[(thief + step) % workers_.size()];
    uint32_t nobody = 0;
    self.mailbox.store(kWaiting, std::memory_order_relaxed);
    if (!victim.asked_by.compare_exchange_strong(nobody, thief + 1)) continue;
    const uint32_t node = await_answer(self, victim, thief);
    if (node != kNone) return node;
  }
  return kNone;
}

// With two workers it waits until there is an answer or the run is over; with more it moves on.
uint32_t Floor::await_answer(Worker& self, Worker& victim, uint32_t thief) {
  for (int spins = 0;; ++spins) {
    const uint32_t node = self.mailbox.load(std::memory_order_acquire);
    if (node != kWaiting) return node;
    const bool bored = workers_.size() > 2 && spins > kSpins;
    const bool over = active_.load(std::memory_order_relaxed) == 0 || finished();
    uint32_t mine = thief + 1;
    if ((bored || over) && victim.asked_by.compare_exchange_strong(mine, 0)) return kNone;
    relax(spins);
  }
}

// One theft, and the work that came of it.
void Floor::plunder(uint32_t thief) {
  static const uint64_t kWorthIt = to_ticks(kTheftNs);
  static const uint64_t kLongest = to_ticks(kLongestPauseNs);
  Worker& self = *workers_[thief];
  const uint32_t node = steal(thief);
  if (node == kNone) return;
  self.ready[self.end++] = node;
  work_off(self);
  // By what these nodes cost a worker alone: the clock would count the theft's own misses as work.
  const bool worth_it = self.done * (measured_ticks_ / nodes_ + 1) >= kWorthIt;
  self.pause = worth_it ? 0 : std::min(std::max(2 * self.pause, kWorthIt), kLongest);
  if (!worth_it) stay_away(self);
}

void Floor::stay_away(const Worker& self) {
  const uint64_t until = ticks() + self.pause;
  for (int spins = 0; ticks() < until && !finished(); ++spins) relax(spins);
}

void Floor::help(uint32_t worker) {
  while (!stopping_.load(std::memory_order_relaxed)) {
    for (int spins = 0; spins < 2 * kSpins && active_.load() == 0; ++spins) relax(spins);
    active_.wait(0, std::memory_order_acquire);
    while (active_.load(std::memory_order_acquire) == 1) plunder(worker);
  }
}

void Floor::stop_helpers() {
  stopping_ = true;
  active_.store(2, std::memory_order_release);
  active_.notify_all();
  for (std::thread& helper : helpers_) helper.join();
  helpers_.clear();
  workers_.clear();
  active_ = 0;
  stopping_ = false;
}

std::unique_ptr<Contender> make_floor() { return std::make_unique<Floor>(); }

}  // namespace emplace::bench
