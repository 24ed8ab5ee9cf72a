#include "backends/cuda/pool_memory.h"

namespace emplace::cuda {

PoolMemory::PoolMemory(int card) : card_(card) {
  use_card(card);
  check(cudaDeviceGetDefaultMemPool(&pool_, card), "asking for the card's memory pool");
  check(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "making a stream");
}

PoolMemory::~PoolMemory() {
  cudaMemPoolTrimTo(pool_, 0);
  cudaStreamDestroy(stream_);
}

void* PoolMemory::alloc(size_t bytes) {
  use_card(card_);
  void* region = nullptr;
  if (cudaMallocFromPoolAsync(&region, bytes, pool_, stream_) != cudaSuccess) {
    cudaGetLastError();  // there was no room: that is all
    return nullptr;
  }
  // Other streams use the region: it must be there for them.
  if (cudaStreamSynchronize(stream_) != cudaSuccess) return nullptr;
  return region;
}

void PoolMemory::free(void* region, size_t) noexcept {
  cudaFreeAsync(region, stream_);
  cudaStreamSynchronize(stream_);
}

}  // namespace emplace::cuda
