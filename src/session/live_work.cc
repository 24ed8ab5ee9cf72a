#include "session/live_work.h"

#include <algorithm>
#include <atomic>
#include <functional>
#include <mutex>
#include <vector>

#include "base/stop_scope.h"
#include "session/waiting_signal.h"

namespace emplace {
namespace {

struct All {
  std::recursive_mutex mutex;  // what is cancelled may be the last to hold a session
  std::vector<LiveWork*> work;
};

All& all() {
  static All* const a = new All;  // threads may outlive static objects
  return *a;
}

std::atomic<bool> left{false};

}  // namespace

LiveWork::LiveWork(std::function<void(const Error&)> cancel, Waiting waiting)
    : cancel_(std::move(cancel)), waiting_(std::move(waiting)) {
  heed_waiting_signal();
  const std::lock_guard lock(all().mutex);
  all().work.push_back(this);
}

LiveWork::~LiveWork() {
  const std::lock_guard lock(all().mutex);
  std::erase(all().work, this);
}

std::vector<WaitingCall> LiveWork::waiting_everywhere() {
  std::vector<WaitingCall> found;
  const std::lock_guard lock(all().mutex);
  for (const LiveWork* w : all().work)
    if (w->waiting_)
      for (WaitingCall& c : w->waiting_()) found.push_back(std::move(c));
  std::ranges::stable_sort(found, std::ranges::greater(), &WaitingCall::seconds);
  return found;
}

bool LiveWork::left_behind() { return left.load(std::memory_order_relaxed); }

void cancel_all_work() {
  const std::lock_guard lock(all().mutex);
  const auto& work = all().work;
  for (size_t i = work.size(); i-- > 0;)
    if (i < work.size()) work[i]->cancel_(cancelled("The process is ending."));
}

void set_look(void (*look)()) { StopScope::set_look(look); }
void ask_to_look() { StopScope::ask(); }
void ask_to_look_here() {
  if (StopWord* const word = StopScope::current()) word->ask();
}
uint64_t work_of_looker() { return StopScope::work_of_looker(); }

void leave_work_behind() { left.store(true, std::memory_order_relaxed); }

}  // namespace emplace
