#include "backends/cuda/pinned.h"

#include <algorithm>
#include <bit>

#include "backends/cuda/api.h"
#include "backends/cuda/queue.h"

namespace emplace::cuda {

PinnedCache::~PinnedCache() { trim(); }

size_t PinnedCache::rounded(size_t bytes) {
  return std::bit_ceil(std::max<size_t>(bytes, 4096));
}

void* PinnedCache::take(size_t bytes) {
  const size_t size = rounded(bytes);
  {
    const std::lock_guard lock(mutex_);
    collect(false);
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

void PinnedCache::give_back(void* p, size_t bytes, std::unique_ptr<CudaEvent> after) {
  const std::lock_guard lock(mutex_);
  in_use_.push_back({p, rounded(bytes), std::move(after)});
}

// An error counts as passed: the card is lost.
void PinnedCache::collect(bool wait) {
  std::erase_if(in_use_, [&](const InUse& m) {
    const cudaEvent_t e = m.until->get();
    if ((wait ? cudaEventSynchronize(e) : cudaEventQuery(e)) == cudaErrorNotReady) return false;
    free_[m.size].push_back(m.p);
    return true;
  });
}

void PinnedCache::trim() {
  const std::lock_guard lock(mutex_);
  collect(true);
  for (auto& [size, list] : free_)
    for (void* p : list) cudaFreeHost(p);
  free_.clear();
}

}  // namespace emplace::cuda
