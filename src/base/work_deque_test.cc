#include "base/work_deque.h"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

namespace emplace {
namespace {

TEST(WorkDeque, OwnerTakesTheNewestThiefTheOldest) {
  WorkDeque deque;
  for (uint32_t i : {1, 2, 3}) ASSERT_TRUE(deque.push(i));
  EXPECT_EQ(deque.size(), 3);
  EXPECT_EQ(deque.steal(), 1u);
  EXPECT_EQ(deque.pop(), 3u);
  EXPECT_EQ(deque.pop(), 2u);
  EXPECT_EQ(deque.pop(), WorkDeque::kNone);
  EXPECT_EQ(deque.steal(), WorkDeque::kNone);
  EXPECT_EQ(deque.size(), 0);
}

TEST(WorkDeque, RefusesWhatHasNoRoom) {
  WorkDeque deque;
  for (uint32_t i = 0; i < WorkDeque::kCapacity; ++i) ASSERT_TRUE(deque.push(i));
  EXPECT_FALSE(deque.push(7));
  EXPECT_EQ(deque.steal(), 0u);
  EXPECT_TRUE(deque.push(7));
  EXPECT_EQ(deque.pop(), 7u);
}

// Pushes in small bursts, so that owner and thieves often meet at the last number.
TEST(WorkDeque, EveryNumberIsTakenOnceAndWithWhatTheOwnerWroteBefore) {
  constexpr uint32_t kNumbers = 20'000;
  constexpr int kThieves = 3;
  WorkDeque deque;
  std::vector<uint32_t> written(kNumbers);              // plain: the deque must order it
  std::vector<std::atomic<int>> taken(kNumbers);
  std::atomic<uint32_t> left{kNumbers};
  const auto take = [&](uint32_t number) {
    if (number == WorkDeque::kNone) return false;
    EXPECT_EQ(written[number], number + 1);
    taken[number].fetch_add(1);
    left.fetch_sub(1);
    return true;
  };
  std::vector<std::thread> thieves;
  for (int i = 0; i < kThieves; ++i)
    thieves.emplace_back([&] {
      while (left.load() > 0)
        if (!take(deque.steal())) std::this_thread::yield();
    });
  uint32_t next = 0;
  for (uint32_t burst = 1; next < kNumbers; burst = burst % 5 + 1) {
    for (uint32_t i = 0; i < burst && next < kNumbers; ++i) {
      written[next] = next + 1;
      while (!deque.push(next)) take(deque.pop());
      ++next;
    }
    for (uint32_t i = 0; i < burst; ++i) take(deque.pop());
  }
  while (take(deque.pop())) {}
  for (std::thread& thief : thieves) thief.join();
  for (const auto& count : taken) EXPECT_EQ(count.load(), 1);
}

}  // namespace
}  // namespace emplace
