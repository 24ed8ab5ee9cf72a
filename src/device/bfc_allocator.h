#pragma once

#include <array>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "device/device.h"
#include "device/sub_allocator.h"
#include "emplace/dtype.h"
#include "emplace/error.h"
#include "emplace/shape.h"

namespace emplace {

struct AllocatorStats : MemoryStats {
  int64_t peak_reserved = 0;
  int64_t largest_free = 0;  // the largest block that can be had without growing
};

// A device's memory: best fit with coalescing, as TensorFlow's. Regions come from a SubAllocator
// and are cut into chunks of multiples of 256 bytes; a freed chunk joins its free neighbours. Free
// chunks wait in 21 bins by size (256 · 2^b), each ordered by size and address. Thread-safe;
// allocates no host memory once it has seen the load. Owns its regions; what is still allocated
// when it is destroyed dies with them.
class BfcAllocator {
 public:
  static constexpr size_t kGranularity = 256;
  static constexpr int kNumBins = 21;
  static constexpr size_t kFirstRegion = size_t{2} << 20;    // with growth; then doubling
  static constexpr size_t kMaxFragment = size_t{128} << 20;  // the most a chunk may exceed

  struct Options {
    std::string name = "GPU_0_bfc";
    std::string device = {};            // for messages
    size_t limit = 0;                   // bytes, of all regions together
    bool allow_growth = false;          // grow from 2 MiB by doubling; else the whole limit at once
    bool collect_garbage = true;        // give unused regions back before failing
    double fragmentation_fraction = 0;  // of the limit, in place of kMaxFragment; 0: not given
  };

  // A chunk as reports see it.
  struct ChunkInfo {
    const char* address;
    size_t size;
    size_t requested;  // 0 when free
    int64_t id;        // -1 when free
    size_t region;     // its index
    std::string tag;
  };
  struct RegionInfo {
    const char* address;
    size_t size;
  };
  struct Snapshot {
    AllocatorStats stats;
    size_t next_region;  // the size that the next region would have
    std::vector<RegionInfo> regions;
    std::vector<ChunkInfo> chunks;  // by region and address
  };

  BfcAllocator(std::unique_ptr<SubAllocator> sub, Options options);
  ~BfcAllocator();
  BfcAllocator(const BfcAllocator&) = delete;
  BfcAllocator& operator=(const BfcAllocator&) = delete;

  const std::string& name() const { return options_.name; }
  const std::string& device() const { return options_.device; }

  // Null for 0 bytes and when there is no room, after waiting up to `patience` for others to free.
  // `tag`, the node's name, is copied.
  void* try_allocate(size_t bytes, std::string_view tag = {},
                     std::chrono::milliseconds patience = {});
  // Throws out_of_memory(bytes, tag).
  void* allocate(size_t bytes, std::string_view tag = {}, std::chrono::milliseconds patience = {});
  // Null is allowed; a pointer that is not an allocation throws Internal.
  void deallocate(void* pointer);

  // Of an allocation; others throw Internal.
  size_t requested_size(const void* pointer) const;
  size_t allocated_size(const void* pointer) const;
  int64_t allocation_id(const void* pointer) const;
  // Does the address lie in one of the regions?
  bool owns(const void* pointer) const;

  AllocatorStats stats() const;
  void reset_peak();  // from now on
  // From now on; 0: as the options said. What is held stays: if it is more, nothing is had until enough was freed.
  void set_limit(size_t bytes);
  // Gives regions without any allocation back; returns bytes.
  size_t trim();
  Snapshot snapshot() const;

  // ResourceExhausted, with who holds what.
  Error out_of_memory(size_t bytes, std::string_view tag) const;
  Error out_of_memory(const Shape& shape, DType dtype) const;

  // `option`, unless TF_FORCE_GPU_ALLOW_GROWTH says true or false.
  static bool growth_from_environment(bool option);
  // TF_ENABLE_GPU_GARBAGE_COLLECTION; true when unset.
  static bool garbage_collection_from_environment();

  static size_t rounded(size_t bytes);
  static int bin_of(size_t bytes);

 private:
  using Handle = uint32_t;  // index into chunks_
  static constexpr Handle kNone = ~Handle{0};

  struct FreeKey {
    size_t size;
    char* address;
    Handle chunk;
    bool operator<(const FreeKey& o) const {
      return size != o.size ? size < o.size : address < o.address;
    }
  };
  using Bin = std::set<FreeKey>;

  // An invariant: neighbours in a region are linked, and no two of them are both free.
  struct Chunk {
    char* address = nullptr;
    size_t size = 0;
    size_t requested = 0;
    int64_t id = -1;  // -1: free
    Handle prev = kNone, next = kNone;
    Bin::iterator in_bin;  // while free
    std::string tag;
    bool free() const { return id < 0; }
  };

  struct FreeStarts {
    void operator()(Handle* p) const { std::free(p); }
  };
  using Starts = std::unique_ptr<Handle[], FreeStarts>;

  // `starts` maps an address to the chunk that starts there: its handle + 1 at
  // (address - begin) / 256, or 0. Zero pages until touched, so a large region costs little.
  struct Region {
    char* begin;
    size_t size;
    Starts starts;
    char* end() const { return begin + size; }
    Handle& start(const char* p) const {
      return starts[static_cast<size_t>(p - begin) / kGranularity];
    }
  };

  // All with mutex_ held.
  void* find_or_grow(size_t size, size_t bytes, std::string_view tag) noexcept;
  void* take_fit(size_t size, size_t bytes, std::string_view tag);
  void split(Handle h, size_t size);
  void merge(Handle into, Handle next);
  void free_chunk(Handle h);
  bool extend(size_t size);
  size_t room_to_grow() const;
  void* alloc_region(size_t& bytes, size_t at_least);
  bool add_region(char* begin, size_t bytes);
  void join_region(Region& before, Handle h, Starts starts);
  bool collect_garbage(size_t size);
  size_t unused_bytes() const;
  size_t release_unused_regions();
  bool unused(const Region& region) const;
  void make_records();
  Handle new_chunk(char* address, size_t size);
  void delete_chunk(Handle h);
  void insert_free(Handle h);
  void remove_free(Handle h);
  Region* region_of(const void* p) const;
  Handle handle_of(const void* p) const;
  const Chunk& allocation(const void* p) const;
  int64_t largest_free() const;
  size_t max_fragment() const;

  const Options options_;
  const std::unique_ptr<SubAllocator> sub_;
  mutable std::mutex mutex_;
  size_t limit_;
  std::condition_variable freed_;
  int waiting_ = 0;
  std::vector<Region> regions_;  // by address
  std::vector<Chunk> chunks_;
  std::vector<Handle> spare_chunks_;
  std::array<Bin, kNumBins> bins_;
  uint32_t filled_bins_ = 0;  // bit b: bins_[b] is not empty
  std::vector<Bin::node_type> spare_nodes_;
  size_t next_region_;
  int64_t next_id_ = 1;
  AllocatorStats stats_;
};

}  // namespace emplace
