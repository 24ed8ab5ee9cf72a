#pragma once
#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>

namespace emplace {

// Threads for functions that may block for as long as they like, on each other too: as many as there
// are calls at once. They are never joined; one that is not needed any more waits for the next call.
class HostThreads {
 public:
  static HostThreads& get();
  void run(std::function<void()> call);  // which throws nothing

 private:
  void work();

  std::mutex mutex_;
  std::condition_variable more_;
  std::deque<std::function<void()>> calls_;
  size_t idle_ = 0;
};

}  // namespace emplace
