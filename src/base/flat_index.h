#pragma once
#include <bit>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <vector>

namespace emplace {

// Spreads all bits over all bits; different numbers stay different.
inline uint64_t mixed_bits(uint64_t x) {
  x = (x ^ (x >> 33)) * 0xff51afd7ed558ccdULL;
  x = (x ^ (x >> 33)) * 0xc4ceb9fe1a85ec53ULL;
  return x ^ (x >> 33);
}

inline uint64_t hash_of_bytes(std::string_view bytes) {
  uint64_t hash = bytes.size() * 0x9e3779b97f4a7c15ULL;
  const char* p = bytes.data();
  size_t left = bytes.size();
  for (uint64_t word; left >= 8; p += 8, left -= 8) {
    std::memcpy(&word, p, 8);
    hash = mixed_bits(hash ^ word) + 0x9e3779b97f4a7c15ULL;
  }
  // What is left, by reads that overlap: a copy of so many bytes as one finds out would be a call.
  uint64_t rest = 0;
  if (left >= 4) {
    uint32_t first, last;
    std::memcpy(&first, p, 4);
    std::memcpy(&last, p + left - 4, 4);
    rest = first | uint64_t{last} << 32;
  } else if (left > 0) {
    const auto byte = [p](size_t i) { return uint64_t{static_cast<unsigned char>(p[i])}; };
    rest = byte(0) | byte(left / 2) << 8 | byte(left - 1) << 16;
  }
  return mixed_bits(hash ^ rest);
}

// From hashes to numbers that its owner gives to keys and keeps with them: whether two keys of one
// hash are the same is asked of the owner, as `same(number)`. Open addressing; no thread may write
// while another reads.
class FlatIndex {
 public:
  size_t size() const { return size_; }
  void clear() {
    slots_.clear();
    size_ = 0;
  }

  // The number of that key, or -1.
  template <class Same>
  int64_t find(uint64_t hash, const Same& same) const {
    if (slots_.empty()) return -1;
    for (size_t i = hash & mask();; i = (i + 1) & mask()) {
      const Slot& slot = slots_[i];
      if (slot.number < 0) return -1;
      if (slot.hash == hash && same(slot.number)) return slot.number;
    }
  }

  // The same; a key that is not there gets `fresh`.
  template <class Same>
  int64_t find_or_insert(uint64_t hash, int64_t fresh, const Same& same) {
    if (2 * (size_ + 1) > slots_.size()) grow();
    for (size_t i = hash & mask();; i = (i + 1) & mask()) {
      Slot& slot = slots_[i];
      if (slot.number < 0) {
        slot = {hash, fresh};
        ++size_;
        return fresh;
      }
      if (slot.hash == hash && same(slot.number)) return slot.number;
    }
  }

  // The key with that number, which is there, goes.
  void erase(uint64_t hash, int64_t number) {
    size_t hole = place_of(hash, number);
    for (size_t i = (hole + 1) & mask(); slots_[i].number >= 0; i = (i + 1) & mask()) {
      const size_t home = slots_[i].hash & mask();
      if (((i - home) & mask()) < ((i - hole) & mask())) continue;  // may not stand before its home
      slots_[hole] = slots_[i];
      hole = i;
    }
    slots_[hole].number = -1;
    --size_;
  }

  // The key with that number, which is there, gets another.
  void renumber(uint64_t hash, int64_t number, int64_t other) {
    slots_[place_of(hash, number)].number = other;
  }

 private:
  struct Slot {
    uint64_t hash = 0;
    int64_t number = -1;
  };

  size_t mask() const { return slots_.size() - 1; }

  size_t place_of(uint64_t hash, int64_t number) const {
    size_t i = hash & mask();
    while (slots_[i].number != number) i = (i + 1) & mask();
    return i;
  }

  void grow() {
    std::vector<Slot> old(slots_.empty() ? 16 : 4 * slots_.size());
    old.swap(slots_);
    for (const Slot& slot : old) {
      if (slot.number < 0) continue;
      size_t i = slot.hash & mask();
      while (slots_[i].number >= 0) i = (i + 1) & mask();
      slots_[i] = slot;
    }
  }

  std::vector<Slot> slots_;  // a power of two of them, at most half in use
  size_t size_ = 0;
};

}  // namespace emplace
