#pragma once
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <limits>

#include "placement/search/problem.h"

namespace emplace::planning {

// What is left of a search: wall time, evaluations, or both. Without a limit of time the clock is
// never asked, so that a run is the same everywhere.
class Budget {
 public:
  Budget(double ms, int64_t evaluations)
      : started_(Clock::now()), ms_(ms), evaluations_(evaluations) {}

  // Counts one evaluation; false once the budget is spent. The clock is read every `stride`-th time.
  bool spend(int stride = 1) {
    ++spent_;
    if (spent_ >= evaluations_) over_ = true;
    if (ms_ < kInfinity && spent_ % stride == 0) tick();
    return !over_;
  }
  bool over() {
    if (ms_ < kInfinity) tick();
    return over_;
  }
  // 0 at the start, 1 at the end.
  double progress() const {
    const double by_count = double(spent_) / double(evaluations_);
    return std::min(1.0, std::max(by_count, ms_ < kInfinity ? elapsed_ms_ / ms_ : 0));
  }
  double elapsed_ms() const {
    return std::chrono::duration<double, std::milli>(Clock::now() - started_).count();
  }
  int64_t spent() const { return spent_; }
  // A part of what is left, as a budget of its own; `charge` it afterwards.
  Budget part(double share) {
    const double now = ms_ < kInfinity ? elapsed_ms() : 0;
    Budget b(ms_ < kInfinity ? std::max(0.0, (ms_ - now) * share) : kInfinity,
             std::max<int64_t>(1, int64_t(double(evaluations_ - spent_) * share)));
    return b;
  }
  void charge(const Budget& part) {
    spent_ += part.spent_;
    if (spent_ >= evaluations_) over_ = true;
  }

 private:
  using Clock = std::chrono::steady_clock;
  void tick() {
    elapsed_ms_ = elapsed_ms();
    if (elapsed_ms_ >= ms_) over_ = true;
  }
  Clock::time_point started_;
  double ms_, elapsed_ms_ = 0;
  int64_t evaluations_, spent_ = 0;
  bool over_ = false;
};

// xorshift64*: the same numbers everywhere.
class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed * 0x9E3779B97F4A7C15ull + 0x1234567887654321ull) {}
  uint64_t next() {
    state_ ^= state_ >> 12;
    state_ ^= state_ << 25;
    state_ ^= state_ >> 27;
    return state_ * 0x2545F4914F6CDD1Dull;
  }
  int below(int n) { return int((next() >> 32) * uint64_t(n) >> 32); }
  double unit() { return double(next() >> 11) * 0x1p-53; }

 private:
  uint64_t state_;
};

// A plan on its way: devices of nodes, an order (list) or calls.
struct Solution {
  std::vector<int> where, order, call;
  double value = kInfinity;
  const char* found_by = "";
};

}  // namespace emplace::planning
