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

TEST(VirtualQueue, LanesOfARecordingTakeTurnsAtGoingFirst) {
  VirtualQueue q("test");
  Log log;
  const uint32_t first[] = {0};
  std::vector<RecordedCall> calls;
  for (const uint64_t n : {0, 1, 2, 3})  // 0 and 2 on lane 0, 1 and 3 on lane 1
    calls.push_back({&Log::add, &log, n, static_cast<int>(n % 2), {}});
  calls[3].after = first;
  const auto recording = q.record_calls(calls);
  EXPECT_TRUE(log.seen.empty());  // nothing runs while it is recorded
  recording->replay();
  EXPECT_EQ(log.seen, (std::vector<uint64_t>{0, 2, 1, 3}));
  log.seen.clear();
  recording->replay();
  EXPECT_EQ(log.seen, (std::vector<uint64_t>{1, 0, 3, 2}));
}

TEST(VirtualQueue, CallsThatWaitForEachOtherAreNotRecorded) {
  VirtualQueue q("test");
  const uint32_t other[][1] = {{1}, {0}};
  const std::vector<RecordedCall> calls = {{&Log::add, nullptr, 0, 0, other[0]},
                                           {&Log::add, nullptr, 1, 1, other[1]}};
  EXPECT_THROW(q.record_calls(calls), Error);
}

}  // namespace
}  // namespace emplace
