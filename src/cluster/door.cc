#include "cluster/door.h"

#include <fmt/format.h>

#include <atomic>

#include "cluster/methods.h"
#include "cluster/socket/poller.h"
#include "session/watchdog.h"

namespace emplace::cluster {
namespace {

// A call that ends when its time is over, whoever has it.
class TimedCall final : public IncomingCall, public std::enable_shared_from_this<TimedCall> {
 public:
  explicit TimedCall(std::shared_ptr<IncomingCall> call) : call_(std::move(call)) {}
  ~TimedCall() override { Watchdog::get().remove(deadline_); }
  void start(int64_t ms) {
    deadline_ = Watchdog::get().add(Watchdog::Clock::now() + std::chrono::milliseconds(ms),
                                    [self = weak_from_this(), ms] {
                                      Poller::get().run([self, ms] {
                                        if (const auto call = self.lock()) call->end(ms);
                                      });
                                    });
    call_->on_cancel([self = weak_from_this()] {
      if (const auto call = self.lock()) call->cancel();
    });
  }
  const std::string& method() const override { return call_->method(); }
  Bytes& request() override { return call_->request(); }
  const Caller& caller() const override { return call_->caller(); }
  bool may_wait() const override { return call_->may_wait(); }
  void answer(Answer answer) override {
    if (!answered_.exchange(true)) call_->answer(std::move(answer));
  }
  void on_cancel(std::function<void()> f) override {
    {
      const std::lock_guard lock(mutex_);
      if (!cancelled_) {
        on_cancel_ = std::move(f);
        return;
      }
    }
    f();
  }

 private:
  void end(int64_t ms) {
    answer({Error(Code::kDeadlineExceeded,
                  fmt::format("{} took longer than the {} ms that this server gives to a call", method(), ms)),
            {}});
    cancel();
  }
  void cancel() {
    std::function<void()> f;
    {
      const std::lock_guard lock(mutex_);
      cancelled_ = true;
      f.swap(on_cancel_);
    }
    if (f) f();
  }

  const std::shared_ptr<IncomingCall> call_;
  uint64_t deadline_ = 0;
  std::atomic<bool> answered_{false};
  std::mutex mutex_;
  bool cancelled_ = false;
  std::function<void()> on_cancel_;
};

std::string words_for(const Caller& caller) {
  switch (caller.kind) {
    case Caller::Kind::kSameUser: return "a program of this user";
    case Caller::Kind::kTask: return caller.name;
    case Caller::Kind::kClient: return fmt::format("client {}", caller.name);
    case Caller::Kind::kAnyone: break;
  }
  return "a stranger";
}

}  // namespace

bool may_call(Caller::Kind kind, std::string_view method, bool everyone) {
  switch (kind) {
    case Caller::Kind::kSameUser:
    case Caller::Kind::kTask: return true;
    case Caller::Kind::kClient: return !method.starts_with(kTaskService);
    case Caller::Kind::kAnyone: break;
  }
  return everyone;
}

void Door::call(std::shared_ptr<IncomingCall> call) {
  try {
    check(*call);
  } catch (const Error& e) {
    return call->answer({e, {}});
  }
  if (limits_.longest_call_ms <= 0 || call->caller().kind == Caller::Kind::kSameUser)
    return inside_.call(std::move(call));
  auto timed = std::make_shared<TimedCall>(std::move(call));
  timed->start(limits_.longest_call_ms);
  inside_.call(std::move(timed));
}

void Door::check(IncomingCall& call) {
  const Caller& caller = call.caller();
  if (!may_call(caller.kind, call.method(), limits_.everyone))
    throw Error(Code::kPermissionDenied,
                fmt::format("{} may not call {}", words_for(caller), call.method()));
  if (limits_.max_message > 0 && call.request().size() > limits_.max_message)
    throw resource_exhausted(fmt::format("{} of {} bytes: this server takes {}", call.method(),
                                         call.request().size(), limits_.max_message));
  if (limits_.calls_per_second > 0 && caller.kind != Caller::Kind::kSameUser) count(caller);
}

void Door::count(const Caller& caller) {
  const auto now = std::chrono::steady_clock::now();
  const std::lock_guard lock(mutex_);
  Second& s = seconds_[words_for(caller)];
  if (now - s.began >= std::chrono::seconds(1)) s = {now, 0};
  if (++s.calls > limits_.calls_per_second)
    throw resource_exhausted(fmt::format("more than {} calls in a second of {}", limits_.calls_per_second,
                                         words_for(caller)));
}

}  // namespace emplace::cluster
