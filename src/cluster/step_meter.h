#pragma once
#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>

namespace emplace::cluster {

// Counts steps, and how many there are in a second; a thread that counts waits for nobody, so that one or
// two may be lost where a second begins.
class StepMeter {
 public:
  void count() {
    const uint64_t number = now();
    Second& second = seconds_[number % seconds_.size()];
    if (second.number.exchange(number, std::memory_order_relaxed) != number) second.steps = 0;
    second.steps.fetch_add(1, std::memory_order_relaxed);
    total_.fetch_add(1, std::memory_order_relaxed);
  }
  int64_t total() const { return total_; }
  // Over the ten seconds that are over.
  double per_second() const {
    const uint64_t last = now();
    int64_t steps = 0;
    for (const Second& s : seconds_)
      if (s.number < last && s.number + kSpan >= last) steps += s.steps;
    return static_cast<double>(steps) / kSpan;
  }

 private:
  static constexpr uint64_t kSpan = 10;
  struct Second {
    std::atomic<uint64_t> number{0};
    std::atomic<int64_t> steps{0};
  };
  static uint64_t now() {
    return static_cast<uint64_t>(std::chrono::duration_cast<std::chrono::seconds>(
                                     std::chrono::steady_clock::now().time_since_epoch())
                                     .count());
  }
  std::array<Second, 16> seconds_;
  std::atomic<int64_t> total_{0};
};

}  // namespace emplace::cluster
