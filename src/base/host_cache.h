#pragma once

#include <cstddef>
#include <cstdint>

namespace emplace {

// Host memory for tensors: blocks aligned to a cache line, kept when freed, so that a step that
// repeats itself makes no malloc and takes no page fault. Any thread may free what another
// allocated. Small blocks go through a list of the thread's own (a few nanoseconds), larger ones
// and what overflows through lists that all threads share.
//
// Sizes are rounded up to classes, four to each doubling. Blocks of 2 MiB and more are mapped apart
// and asked to be huge pages.

inline constexpr size_t kHostAlignment = 64;

// Null for 0 bytes. Throws ResourceExhausted when the system has no more.
void* host_alloc(size_t bytes);
// Null when the system has no more.
void* try_host_alloc(size_t bytes) noexcept;
// `bytes` as asked for. Null is allowed.
void host_free(void* block, size_t bytes) noexcept;

// Bytes that a block for `bytes` really has.
size_t host_block_size(size_t bytes);

// Gives back to the system what the shared lists and the calling thread's own keep. Returns bytes.
size_t host_trim() noexcept;

// The shared lists keep at most so many bytes; blocks freed beyond that push out others, the
// largest first. The default is an eighth of the machine's memory, at most 4 GiB, or
// EMPLACE_HOST_CACHE_MB.
void set_host_cache_limit(size_t bytes) noexcept;

struct HostCacheStats {
  size_t limit = 0;
  size_t cached = 0;           // bytes in the shared lists
  uint64_t system_allocs = 0;  // blocks got from the system so far
  uint64_t system_frees = 0;   // … and given back
};
HostCacheStats host_cache_stats() noexcept;

}  // namespace emplace
