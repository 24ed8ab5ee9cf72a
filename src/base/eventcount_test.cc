#include "base/eventcount.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

namespace emplace {
namespace {

using namespace std::chrono_literals;

TEST(EventCount, NotifyWithoutWaitersIsNotRemembered) {
  EventCount events;
  events.notify_all();
  EXPECT_FALSE(events.commit_wait_for(events.prepare_wait(), 1ms));
}

TEST(EventCount, NotificationBetweenPrepareAndCommitIsNotLost) {
  EventCount events;
  const auto key = events.prepare_wait();
  events.notify_one();
  events.commit_wait(key);  // must not sleep
  SUCCEED();
}

TEST(EventCount, CancelledWaitLeavesNoWaiterBehind) {
  EventCount events;
  events.prepare_wait();
  events.cancel_wait();
  const auto key = events.prepare_wait();
  EXPECT_FALSE(events.commit_wait_for(key, 1ms));
}

TEST(EventCount, WakesEveryWaiter) {
  EventCount events;
  std::atomic<bool> go{false};
  std::atomic<int> woken{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&] {
      events.await([&] { return go.load(); });
      ++woken;
    });
  }
  std::this_thread::sleep_for(5ms);  // long enough for them to park
  EXPECT_EQ(woken, 0);
  go = true;
  events.notify_all();
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(woken, 8);
}

// Two threads hand a token back and forth; a single lost wake-up would hang.
TEST(EventCount, LosesNoWakeUpInPingPong) {
  for (auto spin : {0ns, EventCount::kSpin}) {
    EventCount events[2];
    std::atomic<int> turn{0};
    constexpr int kRounds = 500;
    const auto play = [&](int me) {
      for (int i = 0; i < kRounds; ++i) {
        events[me].await([&] { return turn.load(std::memory_order_acquire) % 2 == me; }, spin);
        turn.fetch_add(1, std::memory_order_acq_rel);
        events[1 - me].notify_one();
      }
    };
    std::thread other(play, 1);
    play(0);
    other.join();
    EXPECT_EQ(turn, 2 * kRounds);
  }
}

TEST(EventCount, SpinIsBounded) {
  EXPECT_FALSE(EventCount::spin_until([] { return false; }));
}

}  // namespace
}  // namespace emplace
