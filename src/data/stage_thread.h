#pragma once
#include <functional>
#include <thread>

namespace emplace::data {

// A thread of a stage, joined when it goes.
class StageThread {
 public:
  // ResourceExhausted when the system gives no more threads. `body` throws nothing.
  StageThread(const char* name, std::function<void()> body);
  ~StageThread() { thread_.join(); }
  StageThread(const StageThread&) = delete;
  StageThread& operator=(const StageThread&) = delete;

 private:
  std::thread thread_;
};

}  // namespace emplace::data
