#include "device/bfc_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>

namespace emplace {
namespace {

using Snapshot = BfcAllocator::Snapshot;
using ChunkInfo = BfcAllocator::ChunkInfo;

constexpr size_t kMaxNodes = 100;
constexpr double kMaxShare = 0.99;

std::string human(size_t bytes) { return human_bytes(static_cast<int64_t>(bytes)); }

template <typename... Args>
void append(std::string& out, fmt::format_string<Args...> format, Args&&... args) {
  fmt::format_to(std::back_inserter(out), format, std::forward<Args>(args)...);
}

void append_bins(std::string& out, const Snapshot& s) {
  const auto bins = bin_info(s);
  for (size_t b = 0; b < bins.size(); ++b) {
    append(out,
           "Bin ({}): \tTotal Chunks: {}, Chunks in use: {}. {} allocated for chunks. {} in use in "
           "bin. {} client-requested in use in bin.\n",
           BfcAllocator::kGranularity << b, bins[b].chunks_in_bin, bins[b].chunks_in_use,
           human(bins[b].bytes_in_bin), human(bins[b].bytes_in_use),
           human(bins[b].requested_bytes_in_use));
  }
}

void append_free_of_bin(std::string& out, const Snapshot& s, size_t bytes) {
  const int bin = BfcAllocator::bin_of(BfcAllocator::rounded(bytes));
  append(out, "Bin for {} was {}, Chunk State: \n", human(bytes),
         human(BfcAllocator::kGranularity << bin));
  for (const ChunkInfo& c : s.chunks) {
    if (c.id < 0 && BfcAllocator::bin_of(c.size) == bin) append(out, "  Size: {}\n", human(c.size));
  }
}

void append_chunks(std::string& out, const Snapshot& s) {
  for (size_t i = 0; i < s.chunks.size(); ++i) {
    const ChunkInfo& c = s.chunks[i];
    const bool first = i == 0 || s.chunks[i - 1].region != c.region;
    if (first) append(out, "Next region of size {}\n", s.regions[c.region].size);
    const bool last = i + 1 == s.chunks.size() || s.chunks[i + 1].region != c.region;
    append(out, "{} at {:x} of size {} next {}", c.id < 0 ? "Free " : "InUse",
           reinterpret_cast<uintptr_t>(c.address), c.size, last ? SIZE_MAX : i + 1);
    out += c.tag.empty() ? "\n" : fmt::format(" by {}\n", c.tag);
  }
}

void append_summary(std::string& out, const Snapshot& s) {
  std::map<size_t, size_t> count_by_size;
  for (const ChunkInfo& c : s.chunks) {
    if (c.id >= 0) ++count_by_size[c.size];
  }
  out += "     Summary of in-use Chunks by size: \n";
  for (const auto& [size, count] : count_by_size) {
    append(out, "{} Chunks of size {} totalling {}\n", count, size, human(size * count));
  }
  append(out, "Sum Total of in-use chunks: {}\n", human_bytes(s.stats.in_use));
}

void append_stats(std::string& out, const Snapshot& s) {
  const AllocatorStats& st = s.stats;
  append(out,
         "Total size in pool: {} memory_limit_: {} available size: {} "
         "curr_region_allocation_bytes_: {}\n",
         st.reserved, st.limit, st.limit - st.reserved, s.next_region);
  append(out,
         "Stats: \nLimit:            {:20}\nInUse:            {:20}\nMaxInUse:         {:20}\n"
         "NumAllocs:        {:20}\nMaxAllocSize:     {:20}\nReserved:         {:20}\n"
         "PeakReserved:     {:20}\nLargestFreeBlock: {:20}\n",
         st.limit, st.in_use, st.peak, st.num_allocs, st.largest, st.reserved, st.peak_reserved,
         st.largest_free);
}

}  // namespace

std::string human_bytes(int64_t bytes) {
  const char* sign = bytes < 0 ? "-" : "";
  auto n = bytes < 0 ? -static_cast<double>(bytes) : static_cast<double>(bytes);
  if (n < 1024) return fmt::format("{}{:.0f}B", sign, n);
  const char* unit = "KMGTPE";
  for (n /= 1024; n >= 1024; n /= 1024) ++unit;
  return *unit == 'K' ? fmt::format("{}{:.1f}KiB", sign, n)
                      : fmt::format("{}{:.2f}{}iB", sign, n, *unit);
}

std::vector<Holder> holders(const Snapshot& snapshot) {
  std::map<std::string_view, Holder> by_tag;
  for (const ChunkInfo& c : snapshot.chunks) {
    if (c.id < 0) continue;
    Holder& holder = by_tag[c.tag];
    holder.bytes += c.size;
    ++holder.allocations;
  }
  std::vector<Holder> all;
  for (auto& [tag, holder] : by_tag) {
    holder.tag = tag;
    all.push_back(std::move(holder));
  }
  std::stable_sort(all.begin(), all.end(),
                   [](const Holder& a, const Holder& b) { return a.bytes > b.bytes; });
  return all;
}

std::array<BinInfo, BfcAllocator::kNumBins> bin_info(const Snapshot& snapshot) {
  std::array<BinInfo, BfcAllocator::kNumBins> bins;
  for (const ChunkInfo& c : snapshot.chunks) {
    BinInfo& bin = bins[static_cast<size_t>(BfcAllocator::bin_of(c.size))];
    bin.bytes_in_bin += c.size;
    ++bin.chunks_in_bin;
    if (c.id < 0) continue;
    bin.bytes_in_use += c.size;
    bin.requested_bytes_in_use += c.requested;
    ++bin.chunks_in_use;
  }
  return bins;
}

std::string usage_report(const BfcAllocator& allocator) {
  const Snapshot s = allocator.snapshot();
  const std::vector<Holder> all = holders(s);
  std::string out = fmt::format("\nCurrent usage from device: {}, allocator: {}\n",
                                allocator.device(), allocator.name());
  const double enough = kMaxShare * static_cast<double>(s.stats.in_use);
  size_t told = 0, nodes = 0;
  for (; nodes < all.size() && nodes < kMaxNodes && static_cast<double>(told) <= enough; ++nodes) {
    const Holder& holder = all[nodes];
    append(out, "  {} from {}\n", human(holder.bytes), holder.tag.empty() ? "?" : holder.tag);
    told += holder.bytes;
  }
  if (nodes < all.size()) {
    append(out, "  Remaining {} nodes with {}\n", all.size() - nodes,
           human(static_cast<size_t>(s.stats.in_use) - told));
  }
  const int64_t growth = s.stats.limit - s.stats.reserved;
  append(out, "Limit {}, in use {}; the largest block to be had is {}.", human_bytes(s.stats.limit),
         human_bytes(s.stats.in_use), human_bytes(std::max(growth, s.stats.largest_free)));
  return out;
}

std::string occupancy_map(const Snapshot& snapshot, size_t width) {
  std::string map(width, '_');
  const auto total = static_cast<double>(snapshot.stats.reserved);
  size_t before = 0;  // bytes of the chunks to the left
  const auto column = [&](size_t offset) {
    return std::min(width, static_cast<size_t>(static_cast<double>(offset) / total *
                                               static_cast<double>(width)));
  };
  for (const ChunkInfo& c : snapshot.chunks) {
    if (c.id >= 0 && width > 0) {
      const size_t first = std::min(width - 1, column(before));
      const size_t slack = std::max(first + 1, column(before + c.requested));
      const size_t last = std::max(slack, column(before + c.size));
      std::fill(map.begin() + std::ptrdiff_t(first), map.begin() + std::ptrdiff_t(slack), '*');
      std::fill(map.begin() + std::ptrdiff_t(slack), map.begin() + std::ptrdiff_t(last), 'x');
    }
    before += c.size;
  }
  return map;
}

std::string allocator_dump(const BfcAllocator& allocator, size_t bytes, std::string_view tag) {
  const Snapshot s = allocator.snapshot();
  std::string out = fmt::format(
      "Allocator ({}) ran out of memory trying to allocate {} (rounded to {})requested by op {}\n"
      "BFCAllocator dump for {}\n",
      allocator.name(), human(bytes), BfcAllocator::rounded(bytes), tag, allocator.name());
  append_bins(out, s);
  append_free_of_bin(out, s, bytes);
  append_chunks(out, s);
  append_summary(out, s);
  append_stats(out, s);
  return out + occupancy_map(s, 100);
}

Error BfcAllocator::out_of_memory(size_t bytes, std::string_view tag) const {
  return resource_exhausted(
      fmt::format("OOM when allocating {} ({} bytes){}{} on {} by allocator {}{}", human(bytes),
                  bytes, tag.empty() ? "" : " for ", tag, device(), name(), usage_report(*this)));
}

Error BfcAllocator::out_of_memory(const Shape& shape, DType dtype) const {
  return resource_exhausted(
      fmt::format("OOM when allocating tensor with shape{} and type {} on {} by allocator {}{}",
                  shape.str(), dtype_proto_name(dtype), device(), name(), usage_report(*this)));
}

}  // namespace emplace
