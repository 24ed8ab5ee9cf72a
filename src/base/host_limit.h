#pragma once
#include <cstddef>

namespace emplace {

// From now on no more than so many bytes are had from the system for all blocks of host memory together (host_cache.h),
// those that are kept included: what would need more is refused, once what is kept has been given back. 0: no limit.
void limit_host_memory(size_t bytes) noexcept;

struct HostMemory {
  size_t held = 0;   // bytes had from the system
  size_t limit = 0;  // 0: none
};
HostMemory host_memory() noexcept;

}  // namespace emplace
