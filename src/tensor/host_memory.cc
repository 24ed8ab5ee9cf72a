#include "tensor/host_memory.h"

#include <cstdlib>

namespace emplace {

void* host_memory_alloc(size_t bytes) {
  const size_t rounded = (bytes + kHostAlignment - 1) & ~(kHostAlignment - 1);
  return rounded < bytes ? nullptr : std::aligned_alloc(kHostAlignment, rounded);
}

void host_memory_free(void* block, size_t) { std::free(block); }

}  // namespace emplace
