#pragma once
#include <functional>

#include "emplace/eager.h"
#include "emplace/error.h"

namespace emplace {

// Whoever runs steps or operations, in the list of all of them: so that the end of the process can
// end their work. `cancel` is called from any thread.
class LiveWork {
 public:
  explicit LiveWork(std::function<void(const Error&)> cancel);
  ~LiveWork();
  LiveWork(const LiveWork&) = delete;
  LiveWork& operator=(const LiveWork&) = delete;

  // See leave_work_behind.
  static bool left_behind();

 private:
  friend void cancel_all_work();
  const std::function<void(const Error&)> cancel_;
};

}  // namespace emplace
