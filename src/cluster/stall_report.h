#pragma once
#include <atomic>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "exec/waiting.h"
#include "session/watchdog.h"

namespace emplace::cluster {

// After how long a step is asked what it waits for: EMPLACE_REPORT_WAITING_S seconds, 30 unless set; 0: never.
int64_t report_waiting_ms();

// "'add' (Add, train.py:7) on /job:worker/…: waits 30 s for x:0 from /job:ps/…", a line each, ten at most.
std::string waiting_text(const std::vector<WaitingCall>& calls);

// While it lives, a step is under way: when it takes long, who waits for what is told once on the log.
class StallReport {
 public:
  explicit StallReport(std::function<std::vector<WaitingCall>()> waiting)
      : waiting_(std::move(waiting)), late_(report_waiting_ms(), [this] { thread_ = std::thread([this] { tell(); }); }) {}
  ~StallReport() {
    late_.end();
    if (thread_.joinable()) thread_.join();
  }

 private:
  void tell() noexcept;

  const std::function<std::vector<WaitingCall>()> waiting_;
  std::thread thread_;
  Deadline late_;  // goes first
};

}  // namespace emplace::cluster
