#pragma once
#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <map>
#include <mutex>
#include <thread>
#include <utility>

#include "emplace/error.h"

namespace emplace {

// Calls back when a deadline passes. One thread for the process, started by the first deadline.
class Watchdog {
 public:
  using Clock = std::chrono::steady_clock;
  static Watchdog& get();

  uint64_t add(Clock::time_point deadline, std::function<void()> expired);
  // After this the callback neither runs nor is running.
  void remove(uint64_t id);

 private:
  void run();

  std::mutex mutex_;
  std::condition_variable changed_;
  std::multimap<Clock::time_point, std::pair<uint64_t, std::function<void()>>> deadlines_;
  uint64_t next_ = 1;
  bool started_ = false;
};

// What a step or an operation fails with that took too long.
Error timed_out();

// While it lives, `expired` is called once so many milliseconds have passed; 0: never.
class Deadline {
 public:
  template <class F>
  Deadline(int64_t ms, F expired) {
    if (ms > 0)
      id_ = Watchdog::get().add(Watchdog::Clock::now() + std::chrono::milliseconds(std::min(ms, kLongest)),
                                std::move(expired));
  }
  ~Deadline() { end(); }
  Deadline(const Deadline&) = delete;
  Deadline& operator=(const Deadline&) = delete;

  // After this `expired` neither runs nor is running.
  void end() {
    if (id_) Watchdog::get().remove(std::exchange(id_, 0));
  }

 private:
  static constexpr int64_t kLongest = 1000LL * 60 * 60 * 24 * 365;  // a clock holds 292 years

  uint64_t id_ = 0;
};

}  // namespace emplace
