#pragma once
#include <cstdint>

#include "backends/cuda/api.h"
#include "device/sub_allocator.h"

namespace emplace::cuda {

// A card's memory out of the pool that CUDA keeps for the whole process (cudaMallocAsync): what is
// not in use here is there for other libraries of the process.
class PoolMemory final : public SubAllocator {
 public:
  PoolMemory(int card, size_t limit);
  ~PoolMemory() override;
  void* alloc(size_t bytes) override;
  void free(void* region, size_t bytes) noexcept override;

 private:
  void keep(uint64_t bytes) noexcept;

  const int card_;
  cudaMemPool_t pool_ = nullptr;
  cudaStream_t stream_ = nullptr;  // allocations are ordered on it alone
};

}  // namespace emplace::cuda
