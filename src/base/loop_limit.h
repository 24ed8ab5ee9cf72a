#pragma once
#include <cstdint>

namespace emplace {

// While it lives, loops that this thread runs (ThreadPool::parallel_for) take
// at most so many threads; 0: as many as there are. Where a pool has more than
// that they stay on their own thread.
class LoopLimit {
 public:
  explicit LoopLimit(int64_t threads);
  ~LoopLimit();
  LoopLimit(const LoopLimit&) = delete;
  LoopLimit& operator=(const LoopLimit&) = delete;
  // May a loop be helped by a pool of so many threads?
  static bool allows(int64_t pool_threads);

 private:
  const int64_t outer_;
};

}  // namespace emplace
