#pragma once
#include <functional>
#include <list>
#include <memory>
#include <mutex>

#include "kernel/kernel.h"

namespace emplace {

// Where kernels wait for shared state to allow what they do. No thread waits: an attempt that can't
// be done yet is kept with its kernel's continuation, and made again, in order of arrival, after each
// change. Attempts and changes run one at a time. Any thread may call. Lives in a shared_ptr, since a
// cancelled step looks for it.
class WaitingRoom : public std::enable_shared_from_this<WaitingRoom> {
 public:
  // Does its work on the context, outputs and all, and says so; or leaves everything as it was.
  // What it throws is what becomes of its kernel.
  using Attempt = std::function<bool(KernelContext&)>;

  // Makes the attempt, now or later: the kernel may be suspended.
  void run(KernelContext& c, Attempt attempt);
  // Changes the state; those who wait try again.
  void change(const std::function<void()>& f);

 private:
  struct Waiter;
  using Waiters = std::list<std::shared_ptr<Waiter>>;

  Waiters take_finished();  // with the lock
  static void end(Waiters finished);
  void cancel(const std::shared_ptr<Waiter>& waiter);

  std::mutex mutex_;
  Waiters waiters_;
};

}  // namespace emplace
