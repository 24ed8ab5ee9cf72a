#pragma once

#include <cstddef>

namespace emplace {

// Where an arena gets its regions: the card's memory, or the host's for a virtual GPU. Called with
// the arena's lock held, one call at a time.
class SubAllocator {
 public:
  virtual ~SubAllocator() = default;
  // A region of `bytes`, aligned to 256 at least; null when there is none.
  virtual void* alloc(size_t bytes) = 0;
  // Exactly what alloc gave; or, where regions may be joined, several neighbours at once.
  virtual void free(void* region, size_t bytes) noexcept = 0;
  // May two regions that happen to be neighbours be treated as one?
  virtual bool joins_neighbours() const { return false; }
};

// Regions of plain host memory, mapped: untouched pages cost nothing, and are asked to be huge.
class HostSubAllocator final : public SubAllocator {
 public:
  void* alloc(size_t bytes) override;
  void free(void* region, size_t bytes) noexcept override;
  bool joins_neighbours() const override { return true; }
};

}  // namespace emplace
