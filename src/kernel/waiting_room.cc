#include "kernel/waiting_room.h"

#include <algorithm>
#include <optional>

#include "kernel/pending.h"

namespace emplace {

struct WaitingRoom::Waiter {
  Attempt attempt;
  Pending kernel;
  std::optional<Error> error{};

  Waiter(Attempt attempt, KernelContext& c) : attempt(std::move(attempt)), kernel(c) {}
  void end() { kernel.end(std::move(error)); }
};

void WaitingRoom::run(KernelContext& c, Attempt attempt) {
  std::shared_ptr<Waiter> waiter;
  Waiters finished;
  {
    const std::lock_guard lock(mutex_);
    if (attempt(c)) {
      finished = take_finished();
    } else {
      waiter = std::make_shared<Waiter>(std::move(attempt), c);
      waiters_.push_back(waiter);
    }
  }
  end(std::move(finished));
  if (!waiter) return;
  waiter->kernel.on_cancel([room = weak_from_this(), weak = std::weak_ptr(waiter)] {
    const auto held = room.lock();
    const auto who = weak.lock();
    if (held && who) held->cancel(who);
  });
}

void WaitingRoom::change(const std::function<void()>& f) {
  Waiters finished;
  {
    const std::lock_guard lock(mutex_);
    f();
    finished = take_finished();
  }
  end(std::move(finished));
}

WaitingRoom::Waiters WaitingRoom::take_finished() {
  Waiters finished;
  for (auto it = waiters_.begin(); it != waiters_.end();) {
    bool done = true;
    try {
      done = (*it)->attempt((*it)->kernel.context());
    } catch (const Error& e) {
      (*it)->error = e;
    }
    if (!done) {
      ++it;
      continue;
    }
    const auto next = std::next(it);
    finished.splice(finished.end(), waiters_, it);
    it = next == waiters_.end() ? next : waiters_.begin();  // who came before may go on now
  }
  return finished;
}

void WaitingRoom::end(Waiters finished) {
  for (const auto& waiter : finished) waiter->end();
}

void WaitingRoom::cancel(const std::shared_ptr<Waiter>& waiter) {
  {
    const std::lock_guard lock(mutex_);
    const auto it = std::find(waiters_.begin(), waiters_.end(), waiter);
    if (it == waiters_.end()) return;
    waiters_.erase(it);
  }
  waiter->error = cancelled("Operation was cancelled");
  waiter->end();
}

}  // namespace emplace
