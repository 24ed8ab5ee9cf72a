#pragma once
#include <chrono>
#include <condition_variable>
#include <functional>
#include <map>
#include <mutex>
#include <thread>

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

}  // namespace emplace
