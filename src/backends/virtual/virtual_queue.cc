#include "backends/virtual/virtual_queue.h"

#include <pthread.h>

#include "base/insist.h"

namespace emplace {
namespace {

constexpr size_t kFirstRing = 256;
constexpr int kSpins = 400;

// Spins a little, then sleeps until `ready()`.
template <class Ready>
void wait_until(EventCount& events, Ready ready) {
  for (int i = 0; i < kSpins; ++i) {
    if (ready()) return;
    spin_pause();
  }
  while (!ready()) {
    const auto key = events.prepare_wait();
    if (ready()) {
      events.cancel_wait();
      return;
    }
    events.commit_wait(key);
  }
}

}  // namespace

// Whoever sees the step reached may free the event at once: it waits here until we are out.
VirtualEvent::~VirtualEvent() {
  while (inside_.load(std::memory_order_acquire) > 0) std::this_thread::yield();
}

void VirtualEvent::reach(uint64_t step) {
  inside_.fetch_add(1, std::memory_order_relaxed);
  step_.store(step, std::memory_order_release);
  changed_.notify_all();
  inside_.fetch_sub(1, std::memory_order_release);
}

void VirtualEvent::wait_for(uint64_t step) {
  wait_until(changed_, [&] { return step_.load(std::memory_order_acquire) >= step; });
}

VirtualQueue::VirtualQueue(std::string thread_name)
    : thread_name_(std::move(thread_name)), ring_(kFirstRing) {}

VirtualQueue::~VirtualQueue() {
  stopping_.store(true);
  work_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void VirtualQueue::submit(Fn fn, void* arg, uint64_t n) { put({Kind::kCall, fn, arg, n}); }
void VirtualQueue::notify(Fn fn, void* arg, uint64_t n) { put({Kind::kCall, fn, arg, n}); }
void VirtualQueue::record(Event& e, uint64_t step) {
  put({Kind::kRecord, nullptr, static_cast<VirtualEvent*>(&e), step});
}
void VirtualQueue::wait(Event& e, uint64_t step) {
  put({Kind::kWait, nullptr, static_cast<VirtualEvent*>(&e), step});
}
std::unique_ptr<Event> VirtualQueue::make_event() { return std::make_unique<VirtualEvent>(); }

void VirtualQueue::put(Entry e) {
  {
    const std::lock_guard lock(mutex_);
    const size_t n = queued_.load(std::memory_order_relaxed);
    if (n == ring_.size()) insist([this] { grow(); });
    ring_[(head_ + n) & (ring_.size() - 1)] = e;
    put_.fetch_add(1, std::memory_order_relaxed);
    queued_.store(n + 1, std::memory_order_release);
    if (!thread_.joinable()) thread_ = insist([this] { return std::thread([this] { run(); }); });
  }
  work_.notify_one();
}

void VirtualQueue::grow() {
  std::vector<Entry> larger(ring_.size() * 2);
  for (size_t i = 0; i < ring_.size(); ++i) larger[i] = ring_[(head_ + i) & (ring_.size() - 1)];
  ring_ = std::move(larger);
  head_ = 0;
}

bool VirtualQueue::take(Entry& e) {
  if (queued_.load(std::memory_order_acquire) == 0) return false;
  const std::lock_guard lock(mutex_);
  const size_t n = queued_.load(std::memory_order_relaxed);
  if (n == 0) return false;
  e = ring_[head_];
  head_ = (head_ + 1) & (ring_.size() - 1);
  queued_.store(n - 1, std::memory_order_relaxed);
  return true;
}

void VirtualQueue::run() {
  pthread_setname_np(pthread_self(), thread_name_.substr(0, 15).c_str());
  for (;;) {
    wait_until(work_, [&] { return queued_.load() > 0 || stopping_.load(); });
    Entry e;
    if (!take(e)) {
      if (stopping_.load()) return;
      continue;
    }
    carry_out(e);
    done_.fetch_add(1, std::memory_order_release);
    progress_.notify_all();
  }
}

void VirtualQueue::carry_out(const Entry& e) {
  switch (e.kind) {
    case Kind::kCall:
      return e.fn(e.arg, e.n);
    case Kind::kRecord:
      return static_cast<VirtualEvent*>(e.arg)->reach(e.n);
    case Kind::kWait:
      return static_cast<VirtualEvent*>(e.arg)->wait_for(e.n);
  }
}

void VirtualQueue::drain() {
  const uint64_t target = put_.load(std::memory_order_acquire);
  wait_until(progress_, [&] { return done_.load(std::memory_order_acquire) >= target; });
}

}  // namespace emplace
