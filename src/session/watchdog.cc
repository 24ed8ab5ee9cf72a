#include "session/watchdog.h"

namespace emplace {

Watchdog& Watchdog::get() {
  static Watchdog* const w = new Watchdog;  // its thread outlives main
  return *w;
}

uint64_t Watchdog::add(Clock::time_point deadline, std::function<void()> expired) {
  const std::lock_guard lock(mutex_);
  const uint64_t id = next_++;
  deadlines_.emplace(deadline, std::pair{id, std::move(expired)});
  if (!started_) {
    started_ = true;
    std::thread([this] { run(); }).detach();
  }
  changed_.notify_one();
  return id;
}

void Watchdog::remove(uint64_t id) {
  const std::lock_guard lock(mutex_);
  for (auto it = deadlines_.begin(); it != deadlines_.end(); ++it)
    if (it->second.first == id) {
      deadlines_.erase(it);
      return;
    }
}

Error timed_out() { return {Code::kDeadlineExceeded, "Timed out waiting for notification"}; }

void Watchdog::run() {
  std::unique_lock lock(mutex_);
  for (;;) {
    if (deadlines_.empty()) {
      changed_.wait(lock);
      continue;
    }
    const auto first = deadlines_.begin();
    // A copy: while the wait has given the lock up, remove() may free the entry.
    if (const Clock::time_point due = first->first; Clock::now() < due) {
      changed_.wait_until(lock, due);
      continue;
    }
    // Called under the lock, so that remove() can promise that it is not running.
    const auto expired = std::move(first->second.second);
    deadlines_.erase(first);
    expired();
  }
}

}  // namespace emplace
