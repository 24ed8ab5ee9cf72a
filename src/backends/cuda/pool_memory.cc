#include "backends/cuda/pool_memory.h"

#include <charconv>
#include <cstdlib>
#include <string_view>

#include "emplace/error.h"

namespace emplace::cuda {
namespace {

// Bytes that the pool takes at once, by TensorFlow's variable; -1: all that it may have.
size_t taken_at_once(size_t limit) {
  const char* const text = std::getenv("TF_CUDA_MALLOC_ASYNC_SUPPORTED_PREALLOC");
  if (!text) return 0;
  const std::string_view whole = text;
  int64_t bytes = 0;
  const auto [end, error] = std::from_chars(text, text + whole.size(), bytes);
  if (error != std::errc() || *end || bytes < -1)
    throw invalid_argument("TF_CUDA_MALLOC_ASYNC_SUPPORTED_PREALLOC: expected a number of bytes");
  return bytes < 0 ? limit : static_cast<size_t>(bytes);
}

}  // namespace

PoolMemory::PoolMemory(int card, size_t limit) : card_(card) {
  use_card(card);
  const size_t at_once = taken_at_once(limit);
  check(cudaDeviceGetDefaultMemPool(&pool_, card), "asking for the card's memory pool");
  check(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "making a stream");
  if (at_once == 0) return;
  keep(at_once);
  if (void* const all = alloc(at_once)) free(all, at_once);
}

PoolMemory::~PoolMemory() {
  keep(0);
  cudaMemPoolTrimTo(pool_, 0);
  cudaStreamDestroy(stream_);
}

// So much stays in the pool when nobody uses it.
void PoolMemory::keep(uint64_t bytes) noexcept {
  cudaMemPoolSetAttribute(pool_, cudaMemPoolAttrReleaseThreshold, &bytes);
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
