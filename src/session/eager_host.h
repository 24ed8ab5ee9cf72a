#pragma once
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>

#include "base/eventcount.h"
#include "exec/step_graph.h"
#include "kernel/kernel.h"

namespace emplace {

// Where the calling thread waits for an operation that suspended itself (a queue's, a barrier's).
// The kernel's side ends it from any thread.
class EagerWait {
 public:
  explicit EagerWait(KernelContext& c) : context_(c) {}
  KernelContext& context() { return context_; }

  void end(std::optional<Error> error) {
    const std::lock_guard lock(mutex_);
    error_ = std::move(error);
    ended_ = true;
    changed_.notify_one();
  }

  // Calls `look` now and then; what that throws cancels the operation and is thrown on.
  void wait(Cancellation& cancellation, const std::function<void()>& look) {
    std::exception_ptr stopped;
    EventCount::spin_until([&] { return ended_.load(std::memory_order_acquire); }, kAwake);
    std::unique_lock lock(mutex_);
    while (!changed_.wait_for(lock, kLook, [&] { return ended_.load(); })) {
      if (!look || stopped) continue;
      lock.unlock();
      try {
        look();
      } catch (...) {
        stopped = std::current_exception();
        cancellation.cancel();
      }
      lock.lock();
    }
    if (stopped) {
      cancellation.reset();
      std::rethrow_exception(stopped);
    }
    if (error_) throw *std::move(error_);
  }

 private:
  static constexpr std::chrono::milliseconds kLook{20};
  static constexpr std::chrono::microseconds kAwake{50};  // a card answers sooner than a thread wakes
  KernelContext& context_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::atomic<bool> ended_{false};
  std::optional<Error> error_;
};

// Runs one kernel after another on the calling thread; one for each thread.
class EagerHost final : public KernelHost {
 public:
  Tensor allocate(KernelContext& c, int, DType dtype, const Shape& shape, bool host) override {
    Device& device = c.device();
    if (host || !device.is_async() || !is_plain(dtype)) return Tensor(dtype, shape);
    const auto bytes = static_cast<size_t>(bytes_of(shape, dtype));
    return Tensor(dtype, shape, device.allocate(bytes, c.node()));
  }

  std::unique_ptr<Continuation> suspend(KernelContext& c) override {
    wait_ = std::make_shared<EagerWait>(c);
    return std::make_unique<Rest>(wait_);
  }

  // To be called once the kernel has returned.
  void finish(const std::function<void()>& look) {
    if (!wait_) [[likely]] return;
    const std::shared_ptr<EagerWait> wait = std::move(wait_);
    wait_ = nullptr;
    wait->wait(cancellation_, look);
  }

  Cancellation& cancellation() override { return cancellation_; }
  uint64_t step_id() const override { return 0; }

 private:
  struct Rest final : Continuation {
    explicit Rest(std::shared_ptr<EagerWait> w) : wait(std::move(w)) {}
    KernelContext& context() override { return wait->context(); }
    void done() override { wait->end(std::nullopt); }
    void fail(Error error) override { wait->end(std::move(error)); }
    const std::shared_ptr<EagerWait> wait;
  };

  std::shared_ptr<EagerWait> wait_;
  Cancellation cancellation_;
};

}  // namespace emplace
