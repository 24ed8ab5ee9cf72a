#include "session/watchdog.h"

#include <gtest/gtest.h>

#include <atomic>
#include <memory>

namespace emplace {
namespace {

using std::chrono::milliseconds;

TEST(Watchdog, CallsWhenADeadlinePasses) {
  auto called = std::make_shared<std::atomic<bool>>(false);
  Watchdog::get().add(Watchdog::Clock::now() + milliseconds(5), [called] {
    *called = true;
    called->notify_all();
  });
  called->wait(false);
  EXPECT_TRUE(*called);
}

TEST(Watchdog, ARemovedDeadlineIsForgotten) {
  auto calls = std::make_shared<std::atomic<int>>(0);
  Watchdog::Clock::time_point due;
  do {  // until we were quick enough to remove it before it was due
    *calls = 0;
    due = Watchdog::Clock::now() + milliseconds(30);
    const uint64_t id = Watchdog::get().add(due, [calls] { ++*calls; });
    Watchdog::get().remove(id);
  } while (Watchdog::Clock::now() >= due);
  std::this_thread::sleep_until(due + milliseconds(30));
  EXPECT_EQ(*calls, 0);
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
  auto late = std::make_shared<std::atomic<bool>>(false);
  auto early = std::make_shared<std::atomic<bool>>(false);
  const auto now = Watchdog::Clock::now();
  const uint64_t id = Watchdog::get().add(now + std::chrono::hours(1), [late] { *late = true; });
  Watchdog::get().add(now + milliseconds(10), [early] {
    *early = true;
    early->notify_all();
  });
  early->wait(false);
  EXPECT_FALSE(*late);
  Watchdog::get().remove(id);
}

}  // namespace
}  // namespace emplace
