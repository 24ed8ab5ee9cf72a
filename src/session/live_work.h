#pragma once
#include <functional>
#include <string>
#include <vector>

#include "emplace/eager.h"
#include "emplace/error.h"
#include "exec/waiting.h"

namespace emplace {

// Whoever runs steps or operations, in the list of all of them: so that the end of the process can
// end their work, and so that it can say who waits. `cancel` and `waiting` are called from any thread.
class LiveWork {
 public:
  using Waiting = std::function<std::vector<WaitingCall>()>;
  explicit LiveWork(std::function<void(const Error&)> cancel, Waiting waiting = {});
  ~LiveWork();
  LiveWork(const LiveWork&) = delete;
  LiveWork& operator=(const LiveWork&) = delete;

  // Who waits in all of it, whoever waited longest first.
  static std::vector<WaitingCall> waiting_everywhere();
  // See leave_work_behind.
  static bool left_behind();

 private:
  friend void cancel_all_work();
  const std::function<void(const Error&)> cancel_;
  const Waiting waiting_;
};

}  // namespace emplace
