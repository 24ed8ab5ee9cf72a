#pragma once
#include <shared_mutex>

namespace emplace {

// Holds a graph's mutex for reading, on the stack of one thread. A thread that reads the graph
// already goes on with that: to lock a second time would wait for a writer that waits for us.
class ReadLock {
 public:
  explicit ReadLock(std::shared_mutex& mutex);
  ~ReadLock();
  ReadLock(const ReadLock&) = delete;
  ReadLock& operator=(const ReadLock&) = delete;

 private:
  static thread_local const ReadLock* innermost;

  std::shared_mutex& mutex_;
  const ReadLock* const outer_;
  bool mine_ = true;
};

}  // namespace emplace
