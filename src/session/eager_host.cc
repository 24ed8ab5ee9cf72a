#include "session/eager_host.h"

#include <chrono>

#include "base/eventcount.h"
#include "base/stop_scope.h"
#include "exec/silence.h"
#include "session/watchdog.h"

namespace emplace {
namespace {

constexpr std::chrono::milliseconds kLook{20};
constexpr std::chrono::microseconds kAwake{50};  // a card answers sooner than a thread wakes

}  // namespace

void EagerHost::attend() {
  StopScope::attend();
}

void EagerWait::end(std::optional<Error> error) {
  const std::lock_guard lock(mutex_);
  error_ = std::move(error);
  ended_ = true;
  changed_.notify_one();
}

void EagerWait::wait(Cancellation& cancellation) {
  std::exception_ptr stopped;
  EventCount::spin_until([&] { return ended_.load(std::memory_order_acquire); }, kAwake);
  Silence silence;
  std::unique_lock lock(mutex_);
  while (!changed_.wait_for(lock, kLook, [&] { return ended_.load(); })) {
    if (stopped) continue;
    lock.unlock();
    if (silence.due()) silence.tell({told()});
    try {
      EagerHost::attend();
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

WaitingCall EagerWait::told() const {
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - since_;
  const std::string op(context_.node());  // made on its own, an operation has its type's name
  return {op, op, context_.device().name(), "", awaited_by(op), "", seconds.count()};
}

void EagerHost::wait_it_out() {
  const std::shared_ptr<EagerWait> wait = std::move(wait_);
  wait_ = nullptr;
  struct Told {  // while it lives, others see that we wait
    EagerHost& host;
    Told(EagerHost& h, const std::shared_ptr<EagerWait>& w) : host(h) {
      const std::lock_guard lock(host.mutex_);
      host.waits_.push_back(w);
    }
    ~Told() {
      const std::lock_guard lock(host.mutex_);
      host.waits_.pop_back();
    }
  } const told(*this, wait);
  wait->wait(cancellation_);
}

std::vector<WaitingCall> EagerHost::waiting() {
  const std::lock_guard lock(mutex_);
  std::vector<WaitingCall> calls;
  for (const auto& w : waits_) calls.push_back(w->told());
  return calls;
}

EagerHost& EagerHost::of_thread() {
  static thread_local EagerHost host;
  return host;
}

// One piece of work of the thread: its deadline, and when the outermost ends, a clean slate.
class EagerHost::Work {
 public:
  Work(EagerHost& host, int64_t timeout_in_ms)
      : host_(host),
        deadline_(timeout_in_ms, [&host] { host.cancel(timed_out()); }),
        scope_(host.word_) {
    const std::lock_guard lock(host_.mutex_);
    ++host_.depth_;
  }
  ~Work() {
    deadline_.end();
    const std::lock_guard lock(host_.mutex_);
    if (--host_.depth_ > 0 || host_.word_.calm()) return;
    host_.word_.reset();
    host_.why_.reset();
    host_.cancellation_.reset();
  }

 private:
  EagerHost& host_;
  Deadline deadline_;
  const StopScope scope_;
};

void EagerHost::work(int64_t timeout_in_ms, const std::function<void()>& body) {
  const Work work(*this, timeout_in_ms);
  try {
    body();
    attend();
  } catch (const Error&) {
    const std::lock_guard lock(mutex_);
    if (why_) throw *why_;
    throw;
  }
}

void EagerHost::cancel(const Error& error) {
  {
    const std::lock_guard lock(mutex_);
    if (depth_ == 0 || why_) return;
    why_ = error;
    word_.stop();
  }
  cancellation_.cancel();
}

bool EagerHost::at_work() {
  const std::lock_guard lock(mutex_);
  return depth_ > 0;
}

std::optional<Error> EagerHost::why() {
  const std::lock_guard lock(mutex_);
  return why_;
}

Tensor EagerHost::allocate(KernelContext& c, int, DType dtype, const Shape& shape, bool host) {
  Device& device = c.device();
  if (host || !device.is_async() || !is_plain(dtype)) return Tensor(dtype, shape);
  const auto bytes = static_cast<size_t>(bytes_of(shape, dtype));
  return Tensor(dtype, shape, device.allocate(bytes, c.node()));
}

std::unique_ptr<Continuation> EagerHost::suspend(KernelContext& c) {
  wait_ = std::make_shared<EagerWait>(c);
  return std::make_unique<Rest>(wait_);
}

}  // namespace emplace
