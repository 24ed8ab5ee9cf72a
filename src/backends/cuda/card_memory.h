#pragma once
#include <cstddef>
#include <map>

#include "backends/cuda/api.h"
#include "device/sub_allocator.h"

namespace emplace::cuda {

// A card's memory in one range of addresses: regions are mapped into it one behind another, so that
// growth extends the range and neighbours join; freeing gives the physical memory back at once.
class CardMemory final : public SubAllocator {
 public:
  static constexpr size_t kPage = size_t{2} << 20;

  // Reserves addresses for `limit` bytes; takes no memory yet.
  CardMemory(int card, size_t limit);
  ~CardMemory() override;
  void* alloc(size_t bytes) override;
  void free(void* region, size_t bytes) noexcept override;
  bool joins_neighbours() const override { return true; }

 private:
  struct Piece {
    size_t bytes;
    CUmemGenericAllocationHandle handle;
  };
  CUdeviceptr find_gap(size_t bytes) const;  // 0: none
  bool map(CUdeviceptr at, size_t bytes);
  void unmap(CUdeviceptr at, const Piece& piece) noexcept;

  const int card_;
  CUdeviceptr base_ = 0;
  size_t reserved_ = 0;
  std::map<CUdeviceptr, Piece> pieces_;  // mapped, by address
};

}  // namespace emplace::cuda
