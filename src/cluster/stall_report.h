#pragma once
#include <functional>
#include <thread>
#include <vector>

#include "exec/silence.h"
#include "session/watchdog.h"

namespace emplace::cluster {

// While it lives, a step is under way elsewhere: when it takes long, who waits for what is told once on the log.
class StallReport {
 public:
  explicit StallReport(std::function<std::vector<WaitingCall>()> waiting)
      : waiting_(std::move(waiting)), late_(report_waiting_ms(), [this] { thread_ = std::thread([this] { tell(); }); }) {}
  ~StallReport() {
    late_.end();
    if (thread_.joinable()) thread_.join();
  }

 private:
  void tell() noexcept {
    try {
      tell_waiting(waiting_());
    } catch (const std::exception&) {  // what is wrong the step says
    }
  }

  const std::function<std::vector<WaitingCall>()> waiting_;
  std::thread thread_;
  Deadline late_;  // goes first
};

}  // namespace emplace::cluster
