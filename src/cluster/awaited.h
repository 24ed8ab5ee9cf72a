#pragma once
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <optional>

#include "base/stop_scope.h"
#include "cluster/transport.h"

namespace emplace::cluster {

// A call's answer, waited for by a thread that hears Ctrl-C meanwhile.
class Awaited {
 public:
  void come(Answer answer) {
    const std::lock_guard lock(mutex_);
    if (!answer_) answer_ = std::move(answer);
    changed_.notify_all();
  }
  void give_up(const Error& error) { come({error, {}}); }
  Answer wait() {
    constexpr std::chrono::milliseconds kLook{20};  // how often it looks
    StopWord calm;
    const StopScope scope(calm);
    std::unique_lock lock(mutex_);
    while (!answer_) {
      if (StopScope::looks())
        changed_.wait_for(lock, kLook);
      else
        changed_.wait(lock);
      if (!answer_ && !calm.calm()) {
        lock.unlock();
        StopScope::attend(calm);
        lock.lock();
      }
    }
    return std::move(*answer_);
  }
  // Of such a call, which ends where the wait for it does.
  Answer wait_or_cancel(OutgoingCall& call) {
    try {
      return wait();
    } catch (...) {
      call.cancel();
      throw;
    }
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::optional<Answer> answer_;
};

}  // namespace emplace::cluster
