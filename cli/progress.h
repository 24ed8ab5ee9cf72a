#pragma once
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>

namespace emplace::cli {

// "[=====     ] 12/20  3 s" on stderr where that is a terminal, once a run has taken a while; gone when
// it is over. A thread of its own draws it, so that a single long step shows too.
class Progress {
 public:
  explicit Progress(int total);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  void next() { done_.fetch_add(1, std::memory_order_relaxed); }

 private:
  using Clock = std::chrono::steady_clock;
  void paint();
  void draw() const;

  const int total_;
  const Clock::time_point start_ = Clock::now();
  std::atomic<int> done_{0};
  std::mutex mutex_;  // guards over_
  std::condition_variable changed_;
  bool over_ = false;
  std::thread painter_;
};

}  // namespace emplace::cli
