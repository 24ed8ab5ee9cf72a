#include "device/sub_allocator.h"

#include <sys/mman.h>

namespace emplace {

void* HostSubAllocator::alloc(size_t bytes) {
  // NORESERVE: a virtual GPU's whole memory is taken at once, as a card's is, but most programs
  // touch little of it.
  void* region = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (region == MAP_FAILED) return nullptr;
  madvise(region, bytes, MADV_HUGEPAGE);
  return region;
}

void HostSubAllocator::free(void* region, size_t bytes) noexcept { munmap(region, bytes); }

}  // namespace emplace
