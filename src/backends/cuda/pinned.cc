#include "backends/cuda/pinned.h"

#include <algorithm>
#include <bit>

#include "backends/cuda/api.h"

namespace emplace::cuda {

PinnedCache::~PinnedCache() { trim(); }

size_t PinnedCache::rounded(size_t bytes) {
  return std::bit_ceil(std::max<size_t>(bytes, 4096));
}

void* PinnedCache::take(size_t bytes) {
  const size_t size = rounded(bytes);
  {
    const std::lock_guard lock(mutex_);
    if (auto& list = free_[size]; !list.empty()) {
      void* const p = list.back();
      list.pop_back();
      return p;
    }
  }
  void* p = nullptr;
  check(cudaHostAlloc(&p, size, cudaHostAllocPortable), "pinning host memory");
  return p;
}

void PinnedCache::give_back(void* p, size_t bytes) {
  const std::lock_guard lock(mutex_);
  free_[rounded(bytes)].push_back(p);
}

void PinnedCache::trim() {
  const std::lock_guard lock(mutex_);
  for (auto& [size, list] : free_)
    for (void* p : list) cudaFreeHost(p);
  free_.clear();
}

}  // namespace emplace::cuda
