#include "backends/cuda/card_memory.h"

namespace emplace::cuda {
namespace {

size_t whole_pages(size_t bytes) {
  return (bytes + CardMemory::kPage - 1) / CardMemory::kPage * CardMemory::kPage;
}

CUmemAllocationProp on(int card) {
  CUmemAllocationProp prop{};
  prop.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  prop.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  prop.location.id = card;
  return prop;
}

}  // namespace

// Twice the addresses: a hole that is too small does not keep a region out.
CardMemory::CardMemory(int card, size_t limit) : card_(card), reserved_(2 * whole_pages(limit)) {
  use_card(card);
  check(cuMemAddressReserve(&base_, reserved_, kPage, 0, 0), "reserving addresses");
}

CardMemory::~CardMemory() {
  for (const auto& [at, piece] : pieces_) unmap(at, piece);
  if (base_) cuMemAddressFree(base_, reserved_);
}

void* CardMemory::alloc(size_t bytes) {
  bytes = whole_pages(bytes);
  use_card(card_);
  const CUdeviceptr at = find_gap(bytes);
  if (!at || !map(at, bytes)) return nullptr;
  return reinterpret_cast<void*>(at);
}

CUdeviceptr CardMemory::find_gap(size_t bytes) const {
  CUdeviceptr at = base_;
  for (const auto& [begin, piece] : pieces_) {
    if (begin - at >= bytes) return at;
    at = begin + piece.bytes;
  }
  return base_ + reserved_ - at >= bytes ? at : 0;
}

bool CardMemory::map(CUdeviceptr at, size_t bytes) {
  const CUmemAllocationProp prop = on(card_);
  Piece piece{bytes, 0};
  if (cuMemCreate(&piece.handle, bytes, &prop, 0) != CUDA_SUCCESS) return false;
  CUmemAccessDesc access{};
  access.location = prop.location;
  access.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
  if (cuMemMap(at, bytes, 0, piece.handle, 0) != CUDA_SUCCESS) {
    cuMemRelease(piece.handle);
    return false;
  }
  if (cuMemSetAccess(at, bytes, &access, 1) != CUDA_SUCCESS) {
    unmap(at, piece);
    return false;
  }
  pieces_.emplace(at, piece);
  return true;
}

void CardMemory::unmap(CUdeviceptr at, const Piece& piece) noexcept {
  cuMemUnmap(at, piece.bytes);
  cuMemRelease(piece.handle);
}

void CardMemory::free(void* region, size_t bytes) noexcept {
  const auto begin = reinterpret_cast<CUdeviceptr>(region);
  auto it = pieces_.find(begin);
  while (it != pieces_.end() && it->first < begin + bytes) {
    unmap(it->first, it->second);
    it = pieces_.erase(it);
  }
}

}  // namespace emplace::cuda
