#pragma once
#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "exec/waiting.h"

namespace emplace {

// Work that is silent for long says once, on the log, who waits for what in it: steps here and over a cluster, and
// operations made one by one.

// After how long: EMPLACE_REPORT_WAITING_S seconds as the process began, 30 unless set; 0: never.
int64_t report_waiting_ms();

// "'add' (Add, train.py:7) on /job:worker/…: waits 30 s for x:0 from /job:ps/…", a line each, ten at most.
std::string waiting_text(const std::vector<WaitingCall>& calls);

// What a waiting call of such an operation waits for, where that is no value of another task; "": nobody knows.
std::string awaited_by(const std::string& op);

// On the log; nothing, and false, where nobody waits: then somebody is at work.
bool tell_waiting(const std::vector<WaitingCall>& calls) noexcept;

// How long a thread has had nothing to do. For that thread.
class Silence {
 public:
  // Something was done.
  void end() { since_ = Clock::now(); }
  // It has lasted so long that it is to be told.
  bool due() const { return left().count() == 1; }
  // Once; where nobody waits it begins anew.
  void tell(const std::vector<WaitingCall>& calls) noexcept;
  // Until then; 0: it never is.
  std::chrono::nanoseconds left() const;

 private:
  using Clock = std::chrono::steady_clock;
  Clock::time_point since_ = Clock::now();
  bool told_ = false;
};

}  // namespace emplace
