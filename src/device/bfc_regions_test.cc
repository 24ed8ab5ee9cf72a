#include "device/bfc_allocator.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <cstring>
#include <thread>

#include "base/log.h"
#include "device/bfc_testutil.h"

namespace emplace {
namespace {

using namespace std::chrono_literals;

class BfcRegions : public BfcFixture {};

TEST_F(BfcRegions, HoldsItsLimitWhileGrowing) {
  auto a = make(2 * kMiB + 100, true);
  EXPECT_NE(a->try_allocate(64), nullptr);
  EXPECT_EQ(a->try_allocate(2 * kMiB), nullptr);
  EXPECT_LE(physical_.in_use, 2 * kMiB + 100);
}

TEST_F(BfcRegions, WithoutGrowthTakesTheWholeLimitOnFirstUse) {
  auto a = make(16 * kMiB);
  EXPECT_EQ(a->stats().reserved, 0);
  a->allocate(1);
  EXPECT_EQ(a->stats().reserved, static_cast<int64_t>(16 * kMiB));
}

TEST_F(BfcRegions, GrowsByDoublingFromTwoMebibytes) {
  auto a = make(1 << 30, true);
  a->allocate(1);
  a->allocate(2 * kMiB);
  a->allocate(8 * kMiB);
  a->allocate(50 * kMiB);  // doubles until it fits
  EXPECT_EQ(physical_.given, (std::vector<size_t>{2 * kMiB, 4 * kMiB, 8 * kMiB, 64 * kMiB}));
  EXPECT_EQ(a->stats().reserved, static_cast<int64_t>(78 * kMiB));
  expect_sound(*a);
}

TEST_F(BfcRegions, BacksOffWhenTheDeviceHasLessThanTheLimit) {
  physical_.capacity = 80 * kMiB;
  auto a = make(100 * kMiB);
  EXPECT_NE(a->try_allocate(1), nullptr);
  ASSERT_EQ(physical_.given.size(), 1u);
  EXPECT_LE(physical_.given[0], 80 * kMiB);
  EXPECT_GE(physical_.given[0], 72 * kMiB);
  EXPECT_EQ(physical_.given[0] % 256, 0u);
  EXPECT_EQ(a->try_allocate(90 * kMiB), nullptr);
}

TEST_F(BfcRegions, ADeviceWithoutMemoryFailsCleanly) {
  physical_.capacity = 0;
  auto a = make(1 << 30);
  EXPECT_EQ(a->try_allocate(1), nullptr);
  auto none = make(0);
  EXPECT_EQ(none->try_allocate(1), nullptr);
}

TEST_F(BfcRegions, EnvironmentForcesGrowthEitherWay) {
  unsetenv("TF_FORCE_GPU_ALLOW_GROWTH");
  EXPECT_TRUE(BfcAllocator::growth_from_environment(true));
  EXPECT_FALSE(BfcAllocator::growth_from_environment(false));
  setenv("TF_FORCE_GPU_ALLOW_GROWTH", "true", 1);
  EXPECT_TRUE(BfcAllocator::growth_from_environment(false));
  setenv("TF_FORCE_GPU_ALLOW_GROWTH", "false", 1);
  EXPECT_FALSE(BfcAllocator::growth_from_environment(true));
  setenv("TF_FORCE_GPU_ALLOW_GROWTH", "unparseable", 1);
  set_log_level(LogLevel::kOff);
  EXPECT_TRUE(BfcAllocator::growth_from_environment(true));
  EXPECT_FALSE(BfcAllocator::growth_from_environment(false));
  set_log_level(LogLevel::kWarning);
  unsetenv("TF_FORCE_GPU_ALLOW_GROWTH");
}

TEST_F(BfcRegions, EnvironmentSwitchesGarbageCollection) {
  unsetenv("TF_ENABLE_GPU_GARBAGE_COLLECTION");
  EXPECT_TRUE(BfcAllocator::garbage_collection_from_environment());
  setenv("TF_ENABLE_GPU_GARBAGE_COLLECTION", "false", 1);
  EXPECT_FALSE(BfcAllocator::garbage_collection_from_environment());
  unsetenv("TF_ENABLE_GPU_GARBAGE_COLLECTION");
}

TEST_F(BfcRegions, UnusedRegionsAreGivenBackWhenTheDeviceIsTooFragmented) {
  physical_.capacity = 8 * kMiB;
  auto a = make(1 << 30, true);
  void* small = a->allocate(2 * kMiB);
  void* middle = a->allocate(4 * kMiB);
  a->deallocate(small);
  a->deallocate(middle);
  EXPECT_NE(a->try_allocate(7 * kMiB), nullptr);
  EXPECT_EQ(physical_.regions, 1u);
  expect_sound(*a);
}

TEST_F(BfcRegions, GarbageCollectionKeepsRegionsInUse) {
  auto a = make(10 * kMiB, true);
  void* first = a->allocate(2 * kMiB);   // region of 2 MiB
  void* second = a->allocate(4 * kMiB);  // region of 4 MiB
  a->deallocate(second);
  EXPECT_NE(a->try_allocate(8 * kMiB), nullptr) << "the free region makes room";
  EXPECT_EQ(a->requested_size(first), 2 * kMiB);
  EXPECT_EQ(physical_.regions, 2u);
  EXPECT_EQ(a->try_allocate(kMiB), nullptr);
}

TEST_F(BfcRegions, GarbageIsNotCollectedWhenItWouldNotHelpOrIsOff) {
  auto a = make(10 * kMiB, true);
  a->allocate(2 * kMiB);
  a->deallocate(a->allocate(4 * kMiB));
  EXPECT_EQ(a->try_allocate(9 * kMiB), nullptr);
  EXPECT_EQ(physical_.regions, 2u) << "given back for nothing";
  auto off = make(10 * kMiB, true, false);
  off->allocate(2 * kMiB);
  off->deallocate(off->allocate(4 * kMiB));
  EXPECT_EQ(off->try_allocate(8 * kMiB), nullptr);
}

TEST_F(BfcRegions, TrimGivesUnusedRegionsBack) {
  auto a = make(1 << 30, true);
  void* first = a->allocate(kMiB);
  void* second = a->allocate(4 * kMiB);
  EXPECT_EQ(a->trim(), 0u);
  a->deallocate(second);
  EXPECT_EQ(a->trim(), 4 * kMiB);
  a->deallocate(first);
  EXPECT_EQ(a->trim(), 2 * kMiB);
  EXPECT_EQ(physical_.in_use, 0u);
  EXPECT_EQ(a->stats().reserved, 0);
  EXPECT_NE(a->allocate(1), nullptr);
}

TEST_F(BfcRegions, EverythingIsGivenBackAtTheEnd) {
  {
    auto a = make(1 << 30, true);
    for (size_t i = 1; i < 20; ++i) a->allocate(i * kMiB);
  }
  EXPECT_EQ(physical_.in_use, 0u);
}

// A sub-allocator that hands out neighbouring pieces of one block.
class Contiguous final : public SubAllocator {
 public:
  explicit Contiguous(bool joins) : joins_(joins), block_(64 * kMiB + 256) {}
  void* alloc(size_t bytes) override {
    void* base = block_.data();
    size_t space = block_.size();
    char* begin = static_cast<char*>(std::align(256, 64 * kMiB, base, space));
    used_ += bytes;
    return used_ <= 64 * kMiB ? begin + used_ - bytes : nullptr;
  }
  void free(void*, size_t) noexcept override {}
  bool joins_neighbours() const override { return joins_; }

 private:
  bool joins_;
  std::vector<char> block_;
  size_t used_ = 0;
};

TEST_F(BfcRegions, NeighbouringRegionsJoinOnlyWhereTheSubAllocatorAllows) {
  for (bool joins : {true, false}) {
    BfcAllocator a(std::make_unique<Contiguous>(joins),
                   {.limit = 14 * kMiB, .allow_growth = true, .collect_garbage = false});
    void* p = a.allocate(2 * kMiB);
    void* q = a.allocate(4 * kMiB);
    void* r = a.allocate(8 * kMiB);
    EXPECT_EQ(a.snapshot().regions.size(), joins ? 1u : 3u);
    for (void* block : {q, p, r}) a.deallocate(block);
    expect_sound(a);
    EXPECT_EQ(a.stats().largest_free, static_cast<int64_t>((joins ? 14 : 8) * kMiB));
    EXPECT_EQ(a.try_allocate(14 * kMiB) != nullptr, joins);
  }
}

TEST_F(BfcRegions, HostRegionsAreUsableMemory) {
  BfcAllocator a(std::make_unique<HostSubAllocator>(), {.limit = 1 << 30});
  void* p = a.allocate(3 * kMiB);
  std::memset(p, 1, 3 * kMiB);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(p) % 256, 0u);
  EXPECT_EQ(a.stats().reserved, 1 << 30);
}

TEST_F(BfcRegions, PatienceIsRewardedWhenOthersFree) {
  auto a = make(1 * kMiB);
  void* held = a->allocate(kMiB);
  std::thread other([&] {
    std::this_thread::sleep_for(20ms);
    a->deallocate(held);
  });
  void* p = a->try_allocate(kMiB, "patient", 10min);
  other.join();
  EXPECT_NE(p, nullptr);
}

TEST_F(BfcRegions, WithoutPatienceAFullArenaFailsAtOnce) {
  auto a = make(1 * kMiB);
  a->allocate(kMiB);
  EXPECT_EQ(a->try_allocate(1), nullptr);  // nobody will ever free any
}

TEST_F(BfcRegions, PatienceEndsWhenTooLittleIsFreed) {
  auto a = make(1 * kMiB);
  void* small = a->allocate(kKiB);
  a->allocate(900 * kKiB);
  std::thread other([&] { a->deallocate(small); });
  EXPECT_EQ(a->try_allocate(512 * kKiB, "", 50ms), nullptr);
  other.join();
}

TEST_F(BfcRegions, MoreThanTheLimitIsNotWaitedFor) {
  auto a = make(1 * kMiB);
  EXPECT_EQ(a->try_allocate(2 * kMiB, "", 24h), nullptr);
}

}  // namespace
}  // namespace emplace
