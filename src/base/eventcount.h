#pragma once

#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <climits>
#include <cstdint>
#include <thread>

namespace emplace {

// Tells the core that we are in a spin loop.
inline void spin_pause() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

// Lets threads sleep until a condition kept elsewhere (in atomics) may have become true, at no cost
// to the notifier while nobody sleeps. Any number of waiters and notifiers. The waiter:
//
//   auto key = events.prepare_wait();
//   if (condition()) events.cancel_wait(); else events.commit_wait(key);
//
// and the notifier makes the condition true before it notifies. Both sides do a read-modify-write
// on waiters_, and those are totally ordered: either the notifier's comes later and sees the
// waiter, or the waiter's comes later and its check of the condition sees what the notifier wrote.
// Waking up does not mean that the condition holds: check again.
class EventCount {
 public:
  using Key = uint32_t;

  EventCount() = default;
  EventCount(const EventCount&) = delete;
  EventCount& operator=(const EventCount&) = delete;

  Key prepare_wait() {
    waiters_.fetch_add(1, std::memory_order_acq_rel);
    return epoch_.load(std::memory_order_acquire);
  }

  void cancel_wait() { waiters_.fetch_sub(1, std::memory_order_relaxed); }

  void commit_wait(Key key) {
    while (epoch_.load(std::memory_order_acquire) == key) futex_wait(key, nullptr);
    cancel_wait();
  }

  // False when the time is up before any notification.
  bool commit_wait_for(Key key, std::chrono::nanoseconds timeout) {
    const auto deadline = std::chrono::steady_clock::now() + timeout;
    bool notified = true;
    while (notified && epoch_.load(std::memory_order_acquire) == key) {
      const auto left = deadline - std::chrono::steady_clock::now();
      notified = left.count() > 0;
      if (notified) futex_wait_for(key, left);
    }
    cancel_wait();
    return notified;
  }

  void notify_one() { notify(1); }
  void notify_all() { notify(INT_MAX); }

  // Wakes at least `count` of the sleeping threads, if there are so many.
  void notify(int count) {
    if (waiters_.fetch_add(0, std::memory_order_acq_rel) == 0) return;
    epoch_.fetch_add(1, std::memory_order_release);
    syscall(SYS_futex, &epoch_, FUTEX_WAKE_PRIVATE, count, nullptr, nullptr, 0);
  }

  // Returns once `ready()` is true: spins for about `spin`, yields a few times, then sleeps.
  // A spin is always bounded: on a busy machine the one we wait for may need this very core.
  template <typename Ready>
  void await(Ready&& ready, std::chrono::nanoseconds spin = kSpin) {
    if (spin_until(ready, spin)) return;
    while (true) {
      const Key key = prepare_wait();
      if (ready()) return cancel_wait();
      commit_wait(key);
      if (ready()) return;
    }
  }

  static constexpr std::chrono::nanoseconds kSpin{2000};

  // Spins and yields; true as soon as `ready()` is.
  template <typename Ready>
  static bool spin_until(Ready&& ready, std::chrono::nanoseconds spin = kSpin) {
    if (ready()) return true;
    if (spin.count() > 0) {
      const auto deadline = std::chrono::steady_clock::now() + spin;
      do {
        for (int i = 0; i < 8; ++i) {
          spin_pause();
          if (ready()) return true;
        }
      } while (std::chrono::steady_clock::now() < deadline);
    }
    for (int i = 0; i < 4; ++i) {
      std::this_thread::yield();
      if (ready()) return true;
    }
    return false;
  }

 private:
  void futex_wait(Key key, const timespec* timeout) {
    syscall(SYS_futex, &epoch_, FUTEX_WAIT_PRIVATE, key, timeout, nullptr, 0);
  }

  void futex_wait_for(Key key, std::chrono::nanoseconds left) {
    timespec timeout;
    timeout.tv_sec = static_cast<time_t>(left.count() / 1'000'000'000);
    timeout.tv_nsec = static_cast<long>(left.count() % 1'000'000'000);
    futex_wait(key, &timeout);
  }

  // A futex is 32 bits wide; epoch_ is the word that sleepers sleep on.
  std::atomic<uint32_t> epoch_{0};
  std::atomic<uint32_t> waiters_{0};
};

static_assert(sizeof(std::atomic<uint32_t>) == 4);

}  // namespace emplace
