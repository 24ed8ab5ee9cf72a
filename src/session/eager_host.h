#pragma once
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "base/stop_scope.h"
#include "exec/step_graph.h"
#include "kernel/kernel.h"
#include "session/live_work.h"

namespace emplace {

// Where the calling thread waits for an operation that suspended itself (a queue's, a barrier's).
// The kernel's side ends it from any thread.
class EagerWait {
 public:
  explicit EagerWait(KernelContext& c) : context_(c) {}
  KernelContext& context() { return context_; }
  void end(std::optional<Error> error);
  // From any thread, while it waits.
  WaitingCall told() const;
  // Looks up now and then; what that throws cancels the operation and is thrown on.
  void wait(Cancellation& cancellation);

 private:
  KernelContext& context_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::atomic<bool> ended_{false};
  const std::chrono::steady_clock::time_point since_ = std::chrono::steady_clock::now();
  std::optional<Error> error_;
};

// Runs one kernel after another on the calling thread; one for each thread.
class EagerHost final : public KernelHost {
 public:
  static EagerHost& of_thread();

  // Runs operations as one piece of work, which ends when it takes longer (0: however long), when it
  // is cancelled, or by what the thread sees that looks (StopScope).
  void work(int64_t timeout_in_ms, const std::function<void()>& body);
  // Between two operations: throws where the work of this thread was ended.
  static void attend();
  // Ends the work with `error`; from any thread, while it is under way.
  void cancel(const Error& error);
  std::optional<Error> why();
  bool at_work();  // of the thread itself

  Tensor allocate(KernelContext& c, int, DType dtype, const Shape& shape, bool host) override;
  std::unique_ptr<Continuation> suspend(KernelContext& c) override;
  // To be called once the kernel has returned.
  void finish() {
    if (!wait_) [[likely]] return;
    wait_it_out();
  }

  Cancellation& cancellation() override { return cancellation_; }
  uint64_t step_id() const override { return 0; }

 private:
  class Work;
  void wait_it_out();
  std::vector<WaitingCall> waiting();
  struct Rest final : Continuation {
    explicit Rest(std::shared_ptr<EagerWait> w) : wait(std::move(w)) {}
    KernelContext& context() override { return wait->context(); }
    void done() override { wait->end(std::nullopt); }
    void fail(Error error) override { wait->end(std::move(error)); }
    const std::shared_ptr<EagerWait> wait;
  };

  std::shared_ptr<EagerWait> wait_;
  Cancellation cancellation_;
  StopWord word_;
  std::mutex mutex_;  // guards what follows
  int depth_ = 0;     // work within work: a function of the program's own language runs some
  std::optional<Error> why_;
  std::vector<std::shared_ptr<EagerWait>> waits_;  // under way, one inside the other
  const LiveWork live_{[this](const Error& e) { cancel(e); }, [this] { return waiting(); }};
};

}  // namespace emplace
