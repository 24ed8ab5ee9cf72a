#pragma once
#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>

#include "cluster/peer.h"

namespace emplace::cluster {

// Waits for several answers; the first error wins, but that a cancellation gives way to what caused
// it. Shared with the answers, which may come when nobody waits any more.
class Gather : public std::enable_shared_from_this<Gather> {
 public:
  explicit Gather(size_t count) : left_(count) {}

  void one(const Failure& failure) {
    const std::lock_guard lock(mutex_);
    if (failure && (!failure_ || failure_->code() == Code::kCancelled)) failure_ = failure;
    --left_;
    changed_.notify_all();
  }
  void fail(const Error& error) {
    const std::lock_guard lock(mutex_);
    if (!failure_) failure_ = error;
    changed_.notify_all();
  }
  Done done() {
    return [self = shared_from_this()](const Failure& failure) { self->one(failure); };
  }

  // Until all have answered or one has failed.
  Failure wait() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return left_ == 0 || failure_; });
    return failure_;
  }
  // Until all have answered; false when the time is over.
  bool wait_all(std::chrono::milliseconds most) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, most, [&] { return left_ == 0; });
  }
  Failure failure() {
    const std::lock_guard lock(mutex_);
    return failure_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  size_t left_;
  Failure failure_;
};

}  // namespace emplace::cluster
