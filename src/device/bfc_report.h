#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "device/bfc_allocator.h"

namespace emplace {

// What an arena looks like, in words: for out-of-memory errors and for logs.

// `512B`, `1.5KiB`, `2.00MiB`, as TensorFlow writes sizes.
std::string human_bytes(int64_t bytes);

// All that one node holds.
struct Holder {
  std::string tag;
  size_t bytes = 0;
  size_t allocations = 0;
};
// Largest first.
std::vector<Holder> holders(const BfcAllocator::Snapshot& snapshot);

struct BinInfo {
  size_t bytes_in_use = 0;            // of its chunks in use
  size_t bytes_in_bin = 0;            // of all its chunks
  size_t requested_bytes_in_use = 0;  // what was asked for
  size_t chunks_in_use = 0;
  size_t chunks_in_bin = 0;
};
// All chunks by size, in use or free.
std::array<BinInfo, BfcAllocator::kNumBins> bin_info(const BfcAllocator::Snapshot& snapshot);

// Who holds what: the largest nodes until 99 % are told, at most 100; then limit and free space.
std::string usage_report(const BfcAllocator& allocator);

// Everything: bins, regions, chunks, statistics and a map. `bytes` is what could not be had.
std::string allocator_dump(const BfcAllocator& allocator, size_t bytes, std::string_view tag);

// The regions in `width` characters: `*` in use, `x` in use but not asked for, `_` free.
std::string occupancy_map(const BfcAllocator::Snapshot& snapshot, size_t width);

}  // namespace emplace
