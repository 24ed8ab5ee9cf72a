// The threads of a step: where they find work, and who wakes whom.
#include <algorithm>
#include <optional>
#include <utility>

#include "base/eventcount.h"
#include "base/stop_scope.h"
#include "exec/instance.h"
#include "exec/silence.h"

namespace emplace {
namespace {

constexpr int kSpins = 2000;  // pauses: some ten microseconds, then park
constexpr int kMostPauses = 16;  // between two looks
constexpr int kMostVisits = 8;  // threads that a round asks for at once
// Waking up takes so long, above all under a hypervisor, that whoever sleeps through a card's step
// gets up before its usual end.
constexpr std::chrono::microseconds kUpBefore{500}, kWorthSleeping{200}, kOverdue{1000};
constexpr std::chrono::milliseconds kLookEvery{20};
using Clock = std::chrono::steady_clock;

// Looks less and less often: every look takes a cache line from somebody at work. Returns how long
// it waited, in pauses.
int wait_a_little(int waited) {
  const int pauses = std::min(1 + waited / 4, kMostPauses);
  for (int i = 0; i < pauses; ++i) spin_pause();
  return pauses;
}

}  // namespace

void Instance::work_as_caller() {
  Worker& self = *lanes_[0]->workers[0];
  const Clock::time_point start = p_.on_card ? Clock::now() : Clock::time_point{};
  std::optional<Silence> silence;  // once there is one
  int waited = 0;
  bool overslept = false;  // then nobody knows how long the step took
  while (!done_.load(std::memory_order_acquire)) {
    uint32_t next = take(0, self);
    if (next != kNone || serve_visitor()) {
      while (next != kNone) next = execute(next, 0, &self);
      waited = 0;
      if (silence) silence->end();
      continue;
    }
    if (waited < p_.patience) {
      waited += wait_a_little(waited);
      continue;
    }
    waited = 0;
    look_up();
    if (!silence) silence.emplace();
    if (!p_.on_card) {
      park(silence->left());
      if (silence->due()) silence->tell(root_->waiting());
      continue;
    }
    const Clock::duration usual = p_.usual.load(std::memory_order_relaxed);
    const auto left = start + usual - Clock::now();
    const auto nap = left - kUpBefore - usual / 8;
    if (nap > kWorthSleeping) overslept = !park(nap) && done_.load(std::memory_order_acquire);
    else if (left < -kOverdue) {
      park(silence->left());
      if (silence->due()) silence->tell(root_->waiting());
    }
  }
  if (!p_.on_card) return;
  const Clock::duration took = Clock::now() - start;
  p_.usual.store(overslept ? took * 3 / 4 : took, std::memory_order_relaxed);
}

// A caller that has nothing to do, and somebody to look after.
void Instance::look_up() {
  if (failed_.calm() || failed_.stopped()) return;
  try {
    StopScope::attend(failed_);
  } catch (const Error& e) {
    cancel(step_, e);
  }
}

// Until somebody brings work or ends the step, or for so long; 0: however long. False when nobody
// came.
bool Instance::park(std::chrono::nanoseconds at_most) {
  if (StopScope::looks() && (at_most.count() == 0 || at_most > kLookEvery)) at_most = kLookEvery;
  // Whoever brings work or ends the step writes that first and then reads parked_: one of us
  // sees the other.
  const EventCount::Key key = sleep_.prepare_wait();
  parked_.store(true, std::memory_order_seq_cst);
  bool in_time = true;
  if (num_ready(0) > 0 || num_visitors_.load(std::memory_order_seq_cst) > 0 ||
      done_.load(std::memory_order_seq_cst))
    sleep_.cancel_wait();
  else if (at_most.count() > 0)
    in_time = sleep_.commit_wait_for(key, at_most);
  else
    sleep_.commit_wait(key);
  parked_.store(false, std::memory_order_relaxed);
  return in_time;
}

// ---- Calls for help.

void Instance::help_entry(void* arg, uint64_t lane) {
  Summons* const call = static_cast<Summons*>(arg);
  Instance* const instance = call->instance;  // there only if the call is wanted
  while (call->state.load() != Summons::kOrphan) {
    if (call->change(Summons::kWanted, Summons::kHome)) return instance->help(static_cast<int>(lane));
    if (call->change(Summons::kTakenBack, Summons::kHome)) return;
  }
  delete call;
}

// Calls that lie in another pool's queue do not count: that one may be busy for long.
void Instance::make_calls(Lane& lane) {
  const auto usable = [&](const Summons* c) {
    return c->state.load() == Summons::kHome || c->pool == lane.pool;
  };
  for (auto n = std::ranges::count_if(lane.calls, usable); n < lane.max_helpers; ++n) {
    lane.calls.reserve(lane.calls.size() + 1);
    lane.calls.push_back(new Summons);
    lane.calls.back()->instance = this;
  }
}

// For a helper that was counted already: so there is a call for it.
void Instance::send_call(int lane) {
  Lane& l = *lanes_[lane];
  holders_.fetch_add(1, std::memory_order_relaxed);
  for (size_t i = 0;; i = (i + 1) % l.calls.size()) {
    Summons& call = *l.calls[i];
    if (call.state.load() == Summons::kTakenBack && call.pool == l.pool &&
        call.change(Summons::kTakenBack, Summons::kWanted))
      break;
    if (call.change(Summons::kHome, Summons::kWanted)) {
      call.pool = l.pool;
      l.pool->submit({&help_entry, &call, static_cast<uint64_t>(lane)});
      break;
    }
  }
  // Whoever ended the step meanwhile may not have seen it.
  if (done_.load()) take_calls_back();
}

// Of a step that is done. Whoever calls it holds the instance.
void Instance::take_calls_back() {
  for (const auto& lane : lanes_)
    for (Summons* call : lane->calls)
      if (call->change(Summons::kWanted, Summons::kTakenBack)) {
        lane->helpers.fetch_sub(1, std::memory_order_seq_cst);
        holders_.fetch_sub(1, std::memory_order_acq_rel);
      }
}

void Instance::help(int lane) {
  Lane& l = *lanes_[lane];
  const StopScope stoppable(root_->failed_);
  for (;;) {
    Worker& self = take_seat(l);
    for (int waited = 0; waited < kSpins && !done_.load(std::memory_order_acquire);) {
      uint32_t next = take(lane, self);
      if (next != kNone || (lane == 0 && serve_visitor())) {
        while (next != kNone) next = execute(next, lane, &self);
        waited = 0;
      } else {
        waited += wait_a_little(waited);
      }
    }
    self.taken.store(false, std::memory_order_release);
    l.helpers.fetch_sub(1, std::memory_order_seq_cst);
    // Somebody may have pushed after our last look and relied on us.
    const bool visitors = lane == 0 && num_visitors_.load(std::memory_order_seq_cst) > 0;
    if ((num_ready(lane) == 0 && !visitors) || done_.load()) break;
    if (!one_more_helper(l)) break;  // whoever came meanwhile looks
  }
  leave();
}

// There are as many seats as helpers, and one leaves its seat before it stops to count as one.
Instance::Worker& Instance::take_seat(Lane& lane) {
  for (int i = 1;; i = i % lane.max_helpers + 1)
    if (!lane.workers[static_cast<size_t>(i)]->taken.exchange(true, std::memory_order_acquire))
      return *lane.workers[static_cast<size_t>(i)];
}

// What `self` made ready, then what came from outside, then what others have. Who finds nothing
// says what it has done: the step may be over.
uint32_t Instance::take(int lane, Worker& self) {
  uint32_t i = self.ready.pop();
  if (i == kNone) i = pop(lane);
  const Lane& l = *lanes_[lane];
  for (int k = 0; i == kNone && k <= l.max_helpers; ++k)
    if (Worker& other = *l.workers[static_cast<size_t>(k)]; &other != &self)
      i = other.ready.steal();
  if (i == kNone && self.completed > 0) complete(std::exchange(self.completed, 0));
  return i;
}

int64_t Instance::num_ready(int lane) const {
  const Lane& l = *lanes_[lane];
  int64_t n = l.count.load(std::memory_order_seq_cst);
  for (int k = 0; k <= l.max_helpers; ++k)
    n += std::max<int64_t>(0, l.workers[static_cast<size_t>(k)]->ready.size());
  return n;
}

void Instance::push(int lane, uint32_t i) {
  Lane& r = *lanes_[lane];
  while (r.lock.test_and_set(std::memory_order_acquire)) spin_pause();
  const uint32_t n = r.count.load(std::memory_order_relaxed);
  r.items[n] = i;
  r.count.store(n + 1, std::memory_order_seq_cst);
  r.lock.clear(std::memory_order_release);
}

uint32_t Instance::pop(int lane) {
  Lane& r = *lanes_[lane];
  if (r.count.load(std::memory_order_relaxed) == 0) return kNone;
  while (r.lock.test_and_set(std::memory_order_acquire)) spin_pause();
  const uint32_t n = r.count.load(std::memory_order_relaxed);
  uint32_t i = kNone;
  if (n > 0) {
    i = r.items[n - 1];
    r.count.store(n - 1, std::memory_order_relaxed);
  }
  r.lock.clear(std::memory_order_release);
  return i;
}

// Never counts one too many, even for a moment: somebody else might rely on that one.
bool Instance::one_more_helper(Lane& lane) {
  int n = lane.helpers.load(std::memory_order_seq_cst);
  while (n < lane.max_helpers)
    if (lane.helpers.compare_exchange_weak(n, n + 1, std::memory_order_seq_cst)) return true;
  return false;
}

// New work lies on `lane`: see that somebody looks. The work was written before, sequentially
// consistent like what we read here and what a thread does that is about to leave or to park.
void Instance::wake(int lane) {
  Lane& l = *lanes_[lane];
  if (lane == 0 && root_ != this) {
    // The threads of the step come to help; each of them counts as being in here.
    const auto items = static_cast<int>(l.count.load(std::memory_order_seq_cst));
    for (int n = std::min(items, kMostVisits); n > 0; --n) {
      holders_.fetch_add(1, std::memory_order_relaxed);
      root_->post(*this);
    }
    return;
  }
  if (lane == 0 && parked_.load(std::memory_order_seq_cst)) sleep_.notify_all();
  if (l.helpers.load(std::memory_order_seq_cst) >= l.max_helpers) return;
  int64_t wanted = num_ready(lane);
  if (lane == 0) {
    wanted += num_visitors_.load(std::memory_order_seq_cst);
    if (wanted > 1) --wanted;  // the caller takes one of its own lane, when it comes to look
  }
  for (; wanted > 0; --wanted) {
    if (!one_more_helper(l)) return;
    send_call(lane);
  }
}

}  // namespace emplace
