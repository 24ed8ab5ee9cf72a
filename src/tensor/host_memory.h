#pragma once
#include <cstddef>

namespace emplace {

// Host memory for tensors: blocks aligned to a cache line. Any thread may free what another
// allocated.
inline constexpr size_t kHostAlignment = 64;

void* host_memory_alloc(size_t bytes);             // null when there is none
void host_memory_free(void* block, size_t bytes);  // `bytes` as asked for

}  // namespace emplace
