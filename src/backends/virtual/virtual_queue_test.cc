#include "backends/virtual/virtual_queue.h"

#include <gtest/gtest.h>

#include <atomic>

namespace emplace {
namespace {

struct Log {
  std::mutex mutex;
  std::vector<uint64_t> seen;
  static void add(void* log, uint64_t n) {
    Log& l = *static_cast<Log*>(log);
    const std::lock_guard lock(l.mutex);
    l.seen.push_back(n);
  }
};

TEST(VirtualQueue, RunsInOrderAlsoWhenItsRingGrows) {
  VirtualQueue q("test");
  Log log;
  for (uint64_t i = 0; i < 1000; ++i) q.submit(&Log::add, &log, i);
  q.drain();
  ASSERT_EQ(log.seen.size(), 1000u);
  for (uint64_t i = 0; i < 1000; ++i) EXPECT_EQ(log.seen[i], i);
}

TEST(VirtualQueue, AWaitHoldsWhatFollowsUntilTheEventIsRecorded) {
  VirtualQueue first("a"), second("b");
  const auto event = first.make_event();
  Log log;
  second.wait(*event, 5);
  second.submit(&Log::add, &log, 2);
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  EXPECT_TRUE(log.seen.empty());
  first.submit(&Log::add, &log, 1);
  first.record(*event, 5);
  second.drain();
  EXPECT_EQ(log.seen, (std::vector<uint64_t>{1, 2}));
  second.wait(*event, 4);  // long past
  second.submit(&Log::add, &log, 3);
  second.drain();
  EXPECT_EQ(log.seen.size(), 3u);
}

TEST(VirtualQueue, SubmitReturnsAtOnce) {
  VirtualQueue q("test");
  std::atomic<bool> go{false};
  const Queue::Fn wait = [](void* flag, uint64_t) {
    static_cast<std::atomic<bool>*>(flag)->wait(false);
  };
  q.submit(wait, &go, 0);
  go = true;  // reached, though the call has not ended
  go.notify_all();
  q.drain();
}

// Whoever waited may free the event while the queue that recorded it has yet to leave it.
TEST(VirtualQueue, AnEventMayGoAsSoonAsItIsReached) {
  VirtualQueue first("a"), second("b");
  const Queue::Fn free_it = [](void* event, uint64_t) { delete static_cast<Event*>(event); };
  for (int i = 0; i < 500; ++i) {
    Event* const event = first.make_event().release();
    first.record(*event, 1);
    second.wait(*event, 1);
    second.submit(free_it, event, 0);
  }
  second.drain();
  SUCCEED();  // the sanitizers are the judges
}

}  // namespace
}  // namespace emplace
