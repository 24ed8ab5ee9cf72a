#include "base/host_cache.h"

#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <thread>
#include <vector>

#include "base/free_memory.h"
#include "emplace/error.h"

namespace emplace {
namespace {

constexpr size_t kMiB = size_t{1} << 20;

class HostCache : public ::testing::Test {
 protected:
  void SetUp() override {
    set_host_cache_limit(256 * kMiB);
    host_trim();
  }
  void TearDown() override { host_trim(); }
};

TEST_F(HostCache, BlocksAreAlignedAndWritable) {
  for (size_t bytes :
       {1ul, 63ul, 64ul, 65ul, 1000ul, 65'536ul, 65'537ul, kMiB, 2 * kMiB, 5 * kMiB + 1}) {
    void* block = host_alloc(bytes);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(block) % 64, 0u) << bytes;
    std::memset(block, 0xab, bytes);
    host_free(block, bytes);
  }
}

TEST_F(HostCache, LargeBlocksAreAlignedToHugePages) {
  void* block = host_alloc(3 * kMiB);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(block) % (2 * kMiB), 0u);
  host_free(block, 3 * kMiB);
}

TEST_F(HostCache, RoundsUpByAQuarterAtMost) {
  for (size_t bytes = 1; bytes < 100'000; ++bytes) {
    const size_t block = host_block_size(bytes);
    ASSERT_GE(block, bytes);
    ASSERT_EQ(block % 64, 0u);
    ASSERT_LE(block, std::max<size_t>(bytes + 63, bytes + bytes / 4 + 64)) << bytes;
    ASSERT_EQ(host_block_size(block), block);
  }
  EXPECT_EQ(host_block_size(0), 0u);
}

TEST_F(HostCache, NothingForNothing) {
  EXPECT_EQ(host_alloc(0), nullptr);
  host_free(nullptr, 0);
  host_free(nullptr, 100);
}

TEST_F(HostCache, ImpossibleSizeIsResourceExhausted) {
  for (size_t bytes : {SIZE_MAX, size_t{1} << 60}) {
    EXPECT_EQ(try_host_alloc(bytes), nullptr);
    try {
      host_alloc(bytes);
      ADD_FAILURE();
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), Code::kResourceExhausted);
      EXPECT_NE(error.message().find(std::to_string(bytes)), std::string::npos);
    }
  }
}

TEST_F(HostCache, RepeatedStepsAskTheSystemForNothing) {
  const auto step = [] {
    std::vector<std::pair<void*, size_t>> blocks;
    for (size_t bytes = 8; bytes <= 8 * kMiB; bytes *= 2) {
      for (int i = 0; i < 5; ++i) blocks.emplace_back(host_alloc(bytes), bytes);
    }
    for (auto [block, bytes] : blocks) host_free(block, bytes);
  };
  step();
  const auto before = host_cache_stats();
  for (int i = 0; i < 20; ++i) step();
  EXPECT_EQ(host_cache_stats().system_allocs, before.system_allocs);
  EXPECT_EQ(host_cache_stats().system_frees, before.system_frees);
}

TEST_F(HostCache, ABlockComesBackToTheThreadThatFreedIt) {
  void* a = host_alloc(100);
  host_free(a, 100);
  void* b = host_alloc(128);  // the same class
  EXPECT_EQ(a, b);
  host_free(b, 128);
}

TEST_F(HostCache, BlocksOfAThreadThatEndedServeOthers) {
  host_free(host_alloc(1), 1);  // this thread has lists of its own
  std::thread([] {
    std::vector<void*> blocks;
    for (int i = 0; i < 40; ++i) blocks.push_back(host_alloc(1024));
    for (void* block : blocks) host_free(block, 1024);
  }).join();
  const auto before = host_cache_stats();
  EXPECT_GE(before.cached, 40 * 1024u);
  std::vector<void*> blocks;
  for (int i = 0; i < 40; ++i) blocks.push_back(host_alloc(1024));
  EXPECT_EQ(host_cache_stats().system_allocs, before.system_allocs);
  for (void* block : blocks) host_free(block, 1024);
}

TEST_F(HostCache, TrimGivesEverythingBack) {
  for (size_t bytes : {size_t{100}, kMiB, 4 * kMiB}) host_free(host_alloc(bytes), bytes);
  EXPECT_GE(host_trim(), 5 * kMiB);
  const auto stats = host_cache_stats();
  EXPECT_EQ(stats.cached, 0u);
  EXPECT_EQ(stats.system_allocs, stats.system_frees);
}

TEST_F(HostCache, KeepsNoMoreThanItsLimit) {
  set_host_cache_limit(8 * kMiB);
  std::vector<void*> blocks;
  for (int i = 0; i < 8; ++i) blocks.push_back(host_alloc(2 * kMiB));
  for (void* block : blocks) host_free(block, 2 * kMiB);
  EXPECT_LE(host_cache_stats().cached, 8 * kMiB);
  EXPECT_GE(host_cache_stats().cached, 6 * kMiB);
  host_free(host_alloc(16 * kMiB),
            16 * kMiB);  // larger than the limit: not kept, pushes nothing out
  EXPECT_GE(host_cache_stats().cached, 6 * kMiB);
  set_host_cache_limit(0);
  EXPECT_EQ(host_cache_stats().cached, 0u);
}

TEST_F(HostCache, NewSizesPushOutOldOnes) {
  set_host_cache_limit(8 * kMiB);
  host_free(host_alloc(8 * kMiB), 8 * kMiB);
  host_free(host_alloc(2 * kMiB), 2 * kMiB);
  const auto before = host_cache_stats();
  host_free(host_alloc(2 * kMiB), 2 * kMiB);
  EXPECT_EQ(host_cache_stats().system_allocs, before.system_allocs);
}

// Threads hand blocks to one another; every block carries its owner's mark while it is held.
TEST_F(HostCache, NoBlockIsHandedOutTwice) {
  constexpr int kThreads = 4, kRounds = 3000;
  std::vector<std::thread> threads;
  std::atomic<int> wrong{0};
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([t, &wrong] {
      std::mt19937 random(static_cast<unsigned>(t));
      struct Held {
        uint64_t* block;
        size_t bytes;
        uint64_t mark;
      };
      std::vector<Held> held;
      for (int i = 0; i < kRounds; ++i) {
        const size_t bytes = 8 + random() % (i % 50 == 0 ? 200'000 : 3000);
        auto* block = static_cast<uint64_t*>(host_alloc(bytes));
        const uint64_t mark = static_cast<uint64_t>(t) << 32 | static_cast<uint64_t>(i);
        *block = mark;
        held.push_back({block, bytes, mark});
        if (held.size() < 100) continue;
        std::swap(held[random() % held.size()], held.back());
        if (*held.back().block != held.back().mark) ++wrong;
        host_free(held.back().block, held.back().bytes);
        held.pop_back();
      }
      for (const Held& h : held) {
        if (*h.block != h.mark) ++wrong;
        host_free(h.block, h.bytes);
      }
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
}

TEST_F(HostCache, OneThreadMayFreeWhatAnotherAllocated) {
  std::vector<void*> blocks(5000);
  for (int round = 0; round < 3; ++round) {
    std::thread([&] {
      for (auto& block : blocks) block = host_alloc(256);
    }).join();
    for (void* block : blocks) host_free(block, 256);
  }
  EXPECT_LE(host_cache_stats().system_allocs - host_cache_stats().system_frees, 2 * blocks.size());
}

// The kernel would promise it, and end the process when it is filled.
TEST_F(HostCache, RefusesABlockLargerThanWhatIsFree) {
  const auto free = free_memory();
  ASSERT_TRUE(free.has_value());
  EXPECT_EQ(try_host_alloc(*free + *free / 8), nullptr);
}

}  // namespace
}  // namespace emplace
