#pragma once
#include <condition_variable>
#include <functional>
#include <list>
#include <mutex>
#include <thread>

namespace emplace::cluster {

// Threads for work that may wait for others' work, so that there is always one more: kept when idle,
// as many as were ever needed at once. The destructor waits for all work.
class WorkThreads {
 public:
  ~WorkThreads();
  void run(std::function<void()> work);

 private:
  void serve();

  std::mutex mutex_;
  std::condition_variable wake_;
  std::list<std::function<void()>> work_;
  size_t idle_ = 0;
  bool over_ = false;
  std::list<std::thread> threads_;
};

}  // namespace emplace::cluster
