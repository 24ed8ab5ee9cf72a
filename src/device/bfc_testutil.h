#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <vector>

#include "device/bfc_allocator.h"

namespace emplace {

constexpr size_t kKiB = 1 << 10, kMiB = 1 << 20;

// Host memory with a bound, and a record of what was asked.
struct Physical {
  size_t capacity = SIZE_MAX;
  size_t in_use = 0;
  std::vector<size_t> given;  // sizes, in order
  size_t regions = 0;
};

class FakeSub final : public SubAllocator {
 public:
  explicit FakeSub(Physical& physical) : physical_(physical) {}
  void* alloc(size_t bytes) override {
    if (bytes > physical_.capacity - physical_.in_use) return nullptr;
    physical_.in_use += bytes;
    physical_.given.push_back(bytes);
    ++physical_.regions;
    return std::aligned_alloc(256, bytes);
  }
  void free(void* region, size_t bytes) noexcept override {
    physical_.in_use -= bytes;
    --physical_.regions;
    std::free(region);
  }

 private:
  Physical& physical_;
};

class BfcFixture : public ::testing::Test {
 protected:
  std::unique_ptr<BfcAllocator> make(size_t limit, bool growth = false, bool collect = true) {
    return std::make_unique<BfcAllocator>(std::make_unique<FakeSub>(physical_),
                                          BfcAllocator::Options{.name = "GPU_0_bfc",
                                                                .device = "/device:GPU:0",
                                                                .limit = limit,
                                                                .allow_growth = growth,
                                                                .collect_garbage = collect,
                                                                .fragmentation_fraction = 0});
  }
  Physical physical_;
};

// Regions are fully covered by their chunks, no two neighbours are both free, sums agree.
inline void expect_sound(const BfcAllocator& a) {
  const auto s = a.snapshot();
  std::vector<const char*> at(s.regions.size());
  for (size_t r = 0; r < s.regions.size(); ++r) at[r] = s.regions[r].address;
  int64_t in_use = 0, reserved = 0, largest_free = 0;
  for (size_t i = 0; i < s.chunks.size(); ++i) {
    const auto& c = s.chunks[i];
    ASSERT_EQ(c.address, at[c.region]);
    ASSERT_EQ(c.size % 256, 0u);
    ASSERT_LE(c.requested, c.size);
    at[c.region] += c.size;
    const bool has_left = i > 0 && s.chunks[i - 1].region == c.region;
    ASSERT_FALSE(has_left && c.id < 0 && s.chunks[i - 1].id < 0);
    if (c.id >= 0) in_use += static_cast<int64_t>(c.size);
    if (c.id < 0) largest_free = std::max(largest_free, static_cast<int64_t>(c.size));
  }
  for (size_t r = 0; r < s.regions.size(); ++r) {
    ASSERT_EQ(at[r], s.regions[r].address + s.regions[r].size);
    reserved += static_cast<int64_t>(s.regions[r].size);
  }
  ASSERT_EQ(s.stats.in_use, in_use);
  ASSERT_EQ(s.stats.reserved, reserved);
  ASSERT_EQ(s.stats.largest_free, largest_free);
  ASSERT_LE(reserved, s.stats.limit);
}

}  // namespace emplace
