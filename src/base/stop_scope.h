#pragma once
#include <atomic>
#include <utility>

namespace emplace {

// While it lives, long loops that this thread runs (ThreadPool::parallel_for) end between two blocks
// with Cancelled once `flag` is set. Who sets the flag knows why, and says so.
class StopScope {
 public:
  explicit StopScope(const std::atomic<bool>& flag) : outer_(std::exchange(current_, &flag)) {}
  ~StopScope() { current_ = outer_; }
  StopScope(const StopScope&) = delete;
  StopScope& operator=(const StopScope&) = delete;

  static const std::atomic<bool>* current() { return current_; }

 private:
  const std::atomic<bool>* const outer_;
  static inline constinit thread_local const std::atomic<bool>* current_ = nullptr;
};

}  // namespace emplace
