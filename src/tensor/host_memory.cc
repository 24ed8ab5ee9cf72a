#include "tensor/host_memory.h"

#include <sys/sysinfo.h>

#include <cstdlib>
#include <limits>

namespace emplace {
namespace {

// The kernel would promise more than the machine has and end the process when it is touched.
size_t machine_memory() {
  struct sysinfo info;
  if (sysinfo(&info) != 0) return std::numeric_limits<size_t>::max() / 2;
  return (static_cast<size_t>(info.totalram) + info.totalswap) * info.mem_unit;
}

}  // namespace

void* host_memory_alloc(size_t bytes) {
  static const size_t limit = machine_memory();
  if (bytes > limit) return nullptr;
  return std::aligned_alloc(kHostAlignment, (bytes + kHostAlignment - 1) & ~(kHostAlignment - 1));
}

void host_memory_free(void* block, size_t) { std::free(block); }

}  // namespace emplace
