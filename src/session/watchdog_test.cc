#include "session/watchdog.h"

#include <gtest/gtest.h>

#include <atomic>

namespace emplace {
namespace {

using std::chrono::milliseconds;

TEST(Watchdog, CallsWhenADeadlinePasses) {
  std::atomic<bool> called{false};
  Watchdog::get().add(Watchdog::Clock::now() + milliseconds(5), [&] {
    called = true;
    called.notify_all();
  });
  called.wait(false);
  EXPECT_TRUE(called);
}

TEST(Watchdog, ARemovedDeadlineIsForgotten) {
  std::atomic<int> calls{0};
  const auto then = Watchdog::Clock::now() + milliseconds(30);
  const uint64_t id = Watchdog::get().add(then, [&] { ++calls; });
  Watchdog::get().remove(id);
  std::this_thread::sleep_for(milliseconds(60));
  EXPECT_EQ(calls, 0);
}

TEST(Watchdog, ADeadlineMayGoWhileItIsWaitedFor) {
  for (int i = 0; i < 20; ++i) {
    const auto then = Watchdog::Clock::now() + milliseconds(4);
    const uint64_t id = Watchdog::get().add(then, [] {});
    std::this_thread::sleep_for(milliseconds(1));  // by now the thread waits for it
    Watchdog::get().remove(id);
    std::this_thread::sleep_for(milliseconds(4));  // and wakes after its entry has gone
  }
  SUCCEED();  // the address sanitizer is the judge
}

TEST(Watchdog, AnEarlierDeadlineOvertakes) {
  std::atomic<int> order{0};
  std::atomic<int> late{0}, early{0};
  Watchdog::get().add(Watchdog::Clock::now() + milliseconds(60), [&] {
    late = ++order;
    late.notify_all();
  });
  Watchdog::get().add(Watchdog::Clock::now() + milliseconds(10), [&] { early = ++order; });
  late.wait(0);
  EXPECT_EQ(early, 1);
  EXPECT_EQ(late, 2);
}

}  // namespace
}  // namespace emplace
