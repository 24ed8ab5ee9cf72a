#include "device/bfc_allocator.h"

#include <gtest/gtest.h>
#include <malloc.h>

#include <atomic>
#include <map>
#include <random>
#include <thread>

#include "device/bfc_report.h"
#include "device/bfc_testutil.h"

namespace emplace {
namespace {

class Bfc : public BfcFixture {};

void expect_stats(const BfcAllocator& a, int64_t num_allocs, int64_t in_use, int64_t peak,
                  int64_t largest) {
  const AllocatorStats stats = a.stats();
  EXPECT_EQ(stats.num_allocs, num_allocs);
  EXPECT_EQ(stats.in_use, in_use);
  EXPECT_EQ(stats.peak, peak);
  EXPECT_EQ(stats.largest, largest);
}

TEST_F(Bfc, AllocationsDoNotOverlap) {
  auto a = make(1 << 30);
  std::vector<std::pair<char*, size_t>> got;
  for (size_t bytes = 1; bytes < 1024; ++bytes) {
    got.emplace_back(static_cast<char*>(a->allocate(bytes)), bytes);
  }
  std::sort(got.begin(), got.end());
  for (size_t i = 1; i < got.size(); ++i) {
    ASSERT_GE(static_cast<size_t>(got[i].first - got[i - 1].first), got[i - 1].second);
  }
  expect_sound(*a);
  for (auto [p, bytes] : got) a->deallocate(p);
  expect_stats(*a, 1023, 0, a->stats().peak, 1024);
  EXPECT_EQ(a->stats().largest_free, 1 << 30);
}

TEST_F(Bfc, RandomAllocationsAndDeallocationsWithFailureBetween) {
  auto a = make(64 * kMiB);
  std::mt19937 random(1);
  std::vector<void*> held;
  for (int i = 0; i < 256; ++i) held.push_back(a->allocate(1 + random() % (64 * kKiB)));
  for (size_t i = 0; i < held.size(); i += 2) a->deallocate(std::exchange(held[i], nullptr));
  EXPECT_EQ(a->try_allocate(64 * kMiB), nullptr);
  expect_sound(*a);
  for (size_t i = 0; i < held.size(); i += 2) held[i] = a->allocate(1 + random() % (64 * kKiB));
  for (void* p : held) a->deallocate(p);
  void* everything = a->try_allocate(64 * kMiB);
  EXPECT_NE(everything, nullptr) << "all chunks must have joined again";
  expect_sound(*a);
}

TEST_F(Bfc, FreedNeighboursJoinSoThatTheFirstAddressComesBack) {
  auto a = make(1 << 30);
  void* first = a->allocate(4);
  a->deallocate(first);
  expect_stats(*a, 1, 0, 256, 256);
  for (int round = 0; round < 100; ++round) {
    void* p1 = a->allocate(4);
    void* p2 = a->allocate(512);
    void* p3 = a->allocate(200 * 4);
    a->deallocate(round % 2 ? p1 : p3);
    a->deallocate(p2);
    a->deallocate(round % 2 ? p3 : p1);
    ASSERT_EQ(a->stats().in_use, 0);
  }
  expect_stats(*a, 301, 0, 256 + 512 + 1024, 1024);
  EXPECT_EQ(a->allocate(4), first);
}

TEST_F(Bfc, NothingForZeroBytes) {
  auto a = make(1 << 20);
  EXPECT_EQ(a->allocate(0), nullptr);
  EXPECT_EQ(a->try_allocate(0), nullptr);
  a->deallocate(nullptr);
  expect_stats(*a, 0, 0, 0, 0);
}

TEST_F(Bfc, TracksRequestedAndAllocatedSizesAndIds) {
  auto a = make(1 << 20);
  void* p = a->allocate(4);
  void* q = a->allocate(1000);
  EXPECT_EQ(a->requested_size(p), 4u);
  EXPECT_EQ(a->allocated_size(p), 256u);
  EXPECT_EQ(a->requested_size(q), 1000u);
  EXPECT_EQ(a->allocated_size(q), 1024u);
  EXPECT_EQ(a->allocation_id(p), 1);
  EXPECT_EQ(a->allocation_id(q), 2);
}

TEST_F(Bfc, SpecialSizesFallIntoTheirBins) {
  EXPECT_EQ(BfcAllocator::rounded(1), 256u);
  EXPECT_EQ(BfcAllocator::rounded(256), 256u);
  EXPECT_EQ(BfcAllocator::rounded(257), 512u);
  EXPECT_EQ(BfcAllocator::bin_of(256), 0);
  EXPECT_EQ(BfcAllocator::bin_of(511), 0);
  EXPECT_EQ(BfcAllocator::bin_of(512), 1);
  EXPECT_EQ(BfcAllocator::bin_of(256 * kMiB), 20);
  EXPECT_EQ(BfcAllocator::bin_of(size_t{1} << 40), 20);
}

TEST_F(Bfc, HoldsItsLimit) {
  auto a = make(2 * kMiB);
  void* first = a->try_allocate(64);
  EXPECT_NE(first, nullptr);
  EXPECT_EQ(a->try_allocate(2 * kMiB), nullptr);
  EXPECT_EQ(a->try_allocate(SIZE_MAX), nullptr);
  EXPECT_EQ(physical_.given, std::vector<size_t>{2 * kMiB});
}

TEST_F(Bfc, SplitsWhenAtLeastTwiceTheRequest) {
  auto a = make(4 * kKiB);
  a->deallocate(a->allocate(1));
  void* p = a->allocate(2 * kKiB);  // exactly half: split
  EXPECT_EQ(a->allocated_size(p), 2 * kKiB);
  a->deallocate(p);
  void* q = a->allocate(2 * kKiB + 1);  // more than half: the whole chunk
  EXPECT_EQ(a->allocated_size(q), 4 * kKiB);
}

TEST_F(Bfc, SplitsOffExcessOf128MebibytesOrTheGivenFraction) {
  auto a = make(512 * kMiB);
  void* p = a->allocate(300 * kMiB);
  EXPECT_EQ(a->allocated_size(p), 300 * kMiB);
  BfcAllocator b(std::make_unique<FakeSub>(physical_),
                 {.limit = 100 * kMiB, .fragmentation_fraction = 0.1});
  void* q = b.allocate(60 * kMiB);
  EXPECT_EQ(b.allocated_size(q), 60 * kMiB);
}

TEST_F(Bfc, PrefersTheSmallestFitThenTheLowestAddress) {
  auto a = make(1 * kMiB);
  std::vector<void*> p;
  for (size_t bytes : {1024u, 256u, 512u, 256u, 512u, 256u}) p.push_back(a->allocate(bytes));
  a->deallocate(p[4]);
  a->deallocate(p[0]);
  a->deallocate(p[2]);
  EXPECT_EQ(a->allocate(500), p[2]);
  EXPECT_EQ(a->allocate(500), p[4]);
  EXPECT_EQ(a->allocate(500), p[0]);
}

TEST_F(Bfc, BinInfoCountsChunksAndBytes) {
  auto a = make(1 << 30);
  const auto bins = [&] { return bin_info(a->snapshot()); };
  void* p = a->allocate(300);
  auto b = bins();
  EXPECT_EQ(b[1].chunks_in_use, 1u);
  EXPECT_EQ(b[1].chunks_in_bin, 1u);
  EXPECT_EQ(b[1].bytes_in_use, 512u);
  EXPECT_EQ(b[1].bytes_in_bin, 512u);
  EXPECT_EQ(b[1].requested_bytes_in_use, 300u);
  EXPECT_EQ(b[20].chunks_in_bin, 1u);
  EXPECT_EQ(b[20].chunks_in_use, 0u);
  a->allocate(100);
  a->deallocate(p);
  b = bins();
  EXPECT_EQ(b[1].chunks_in_use, 0u);
  EXPECT_EQ(b[1].chunks_in_bin, 1u);
  EXPECT_EQ(b[1].bytes_in_use, 0u);
  EXPECT_EQ(b[0].chunks_in_use, 1u);
  EXPECT_EQ(b[0].requested_bytes_in_use, 100u);
}

TEST_F(Bfc, PeaksCanBeReset) {
  auto a = make(1 << 30, true);
  a->deallocate(a->allocate(kMiB));
  EXPECT_EQ(a->stats().peak, static_cast<int64_t>(kMiB));
  a->reset_peak();
  EXPECT_EQ(a->stats().peak, 0);
}

TEST_F(Bfc, WrongPointersAreInternalErrors) {
  auto a = make(1 * kMiB);
  auto* p = static_cast<char*>(a->allocate(1000));
  char other = 0;
  for (void* bad : {static_cast<void*>(p + 1), static_cast<void*>(p + 256),
                    static_cast<void*>(p + 2048), static_cast<void*>(&other)}) {
    EXPECT_THROW(a->deallocate(bad), Error);
    EXPECT_THROW(a->allocated_size(bad), Error);
  }
  a->deallocate(p);
  EXPECT_THROW(a->deallocate(p), Error) << "freed twice";
  expect_sound(*a);
}

TEST_F(Bfc, KnowsItsAddresses) {
  auto a = make(1 * kMiB);
  auto* p = static_cast<char*>(a->allocate(1));
  char other = 0;
  EXPECT_TRUE(a->owns(p));
  EXPECT_TRUE(a->owns(p + kMiB - 1));
  EXPECT_FALSE(a->owns(p + kMiB));
  EXPECT_FALSE(a->owns(&other));
  EXPECT_FALSE(a->owns(nullptr));
}

TEST_F(Bfc, RandomLoadStaysSound) {
  auto a = make(32 * kMiB, true);
  std::mt19937 random(42);
  std::map<char*, std::pair<size_t, char>> held;
  for (int i = 0; i < 5000; ++i) {
    if (held.size() > 60 || (random() % 2 && !held.empty())) {
      auto it = std::next(held.begin(), static_cast<long>(random() % held.size()));
      const auto [bytes, mark] = it->second;
      ASSERT_TRUE(it->first[0] == mark && it->first[bytes - 1] == mark) << "overwritten";
      a->deallocate(it->first);
      held.erase(it);
    } else {
      const size_t bytes = 1 + random() % (random() % 10 == 0 ? 4 * kMiB : 20 * kKiB);
      if (auto* p = static_cast<char*>(a->try_allocate(bytes))) {
        const char mark = static_cast<char>(i);
        p[0] = p[bytes - 1] = mark;
        held[p] = {bytes, mark};
      }
    }
    if (i % 100 == 0) expect_sound(*a);
  }
  for (auto& [p, what] : held) a->deallocate(p);
  EXPECT_GT(a->trim(), 0u);
  EXPECT_EQ(physical_.in_use, 0u);
}

TEST_F(Bfc, ManyThreadsMayUseItAtOnce) {
  auto a = make(256 * kMiB, true);
  std::vector<std::thread> threads;
  std::atomic<int> wrong{0};
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      std::mt19937 random(static_cast<unsigned>(t));
      std::vector<std::pair<char*, size_t>> held;
      for (int i = 0; i < 1000; ++i) {
        const size_t bytes = 1 + random() % (64 * kKiB);
        auto* p = static_cast<char*>(a->allocate(bytes, "node"));
        p[0] = p[bytes - 1] = static_cast<char>(t);
        held.emplace_back(p, bytes);
        if (held.size() > 20) {
          if (held[0].first[held[0].second - 1] != static_cast<char>(t)) ++wrong;
          a->deallocate(held[0].first);
          held.erase(held.begin());
        }
      }
      for (auto [p, bytes] : held) a->deallocate(p);
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(a->stats().in_use, 0);
  expect_sound(*a);
}

TEST_F(Bfc, SteadyLoadTakesNoMoreHostMemory) {
  auto a = make(64 * kMiB, true);
  std::vector<void*> held(50);
  const auto step = [&] {
    for (size_t i = 0; i < held.size(); ++i)
      held[i] = a->allocate(100 * (i + 1), "tower/conv/weights");
    for (size_t i = 0; i < held.size(); i += 2) a->deallocate(held[i]);
    for (size_t i = 1; i < held.size(); i += 2) a->deallocate(held[i]);
  };
  step();
  const size_t before = mallinfo2().uordblks;
  for (int i = 0; i < 100; ++i) step();
  EXPECT_EQ(mallinfo2().uordblks, before);
}

}  // namespace
}  // namespace emplace
