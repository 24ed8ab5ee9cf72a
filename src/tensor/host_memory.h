#pragma once
#include "base/host_cache.h"

namespace emplace {

// Host memory for tensors: blocks aligned to a cache line. Any thread may free what another
// allocated.
inline void* host_memory_alloc(size_t bytes) { return try_host_alloc(bytes); }  // null: none left
inline void host_memory_free(void* block, size_t bytes) { host_free(block, bytes); }  // as asked for

}  // namespace emplace
