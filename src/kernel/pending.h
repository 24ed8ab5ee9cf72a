#pragma once
#include <functional>
#include <memory>
#include <mutex>
#include <optional>

#include "emplace/error.h"
#include "kernel/kernel.h"

namespace emplace {

// Ends a suspended kernel: well, or with an error.
void conclude(std::unique_ptr<Continuation> kernel, std::optional<Error> error);

// A suspended kernel that is ended by an event, or by its step's cancellation: whoever is first.
class Pending {
 public:
  explicit Pending(KernelContext& c) : cancellation_(c.cancellation()), continuation_(c.suspend()) {}

  KernelContext& context() { return continuation_->context(); }
  // What to do when the step is cancelled before the end; nothing, once that has been.
  void on_cancel(std::function<void()> f);
  // Once only.
  void end(std::optional<Error> error);

 private:
  Cancellation& cancellation_;
  std::unique_ptr<Continuation> continuation_;
  std::mutex mutex_;
  uint64_t callback_ = 0;
  bool over_ = false;
};

}  // namespace emplace
