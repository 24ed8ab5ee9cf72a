#include "device/spare_memory.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "base/stop_scope.h"

namespace emplace {
namespace {

TEST(SpareMemoryTest, OneLookBetweenTwoStepsOfANeighbourDoesNotEndTheWait) {
  int looks = 0, room = 0;
  const SpareMemory neighbour([&] { return ++looks == 30 ? 0 : 1; });  // at the 30th, none runs
  EXPECT_EQ(SpareMemory::find_room([&]() -> void* { return looks == 40 ? &room : nullptr; }), &room);
}

TEST(SpareMemoryTest, AStepThatAsksInTwoThreadsIsOneThatWaits) {
  StopWord step;
  std::atomic<int> looks{0};
  int room = 0;
  const SpareMemory steps([&] { return ++looks, 2; });  // the one that asks, and a neighbour
  const auto ask = [&] {
    const StopScope part(step);
    EXPECT_EQ(SpareMemory::find_room([&]() -> void* { return looks >= 100 ? &room : nullptr; }), &room);
  };
  std::thread other(ask);
  ask();
  other.join();
}

TEST(SpareMemoryTest, WhereNothingRunsItGivesUpSoon) {
  int looks = 0;
  const SpareMemory keeper([&] { return ++looks, 0; });
  EXPECT_EQ(SpareMemory::find_room([]() -> void* { return nullptr; }), nullptr);
  EXPECT_LT(looks, 100);
}

}  // namespace
}  // namespace emplace
