#pragma once
#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <limits>
#include <memory>

#include "backends/cpu/loops.h"
#include "base/stop_scope.h"

// Sorting by the digits of keys, smallest first; elements of equal keys stay in their order.
namespace emplace::cpu {

template <size_t kBytes>
using UnsignedOf = std::conditional_t<
    kBytes == 1, uint8_t,
    std::conditional_t<kBytes == 2, uint16_t,
                       std::conditional_t<kBytes == 4, uint32_t, uint64_t>>>;

// An unsigned number that is the smaller, the larger x is; NaN's is the largest of all. Both zeros
// have one.
template <class T>
auto descending_key(T x) {
  using U = UnsignedOf<sizeof(T)>;
  constexpr U kTop = static_cast<U>(U{1} << (8 * sizeof(T) - 1));
  if constexpr (std::is_unsigned_v<T>) {
    return static_cast<U>(~x);
  } else if constexpr (std::is_integral_v<T>) {
    return static_cast<U>(~(static_cast<U>(x) ^ kTop));
  } else {
    const auto value = static_cast<Compute<T>>(x);
    if (value != value) return std::numeric_limits<U>::max();
    const U bits = value == 0 ? U{0} : std::bit_cast<U>(x);
    return static_cast<U>(bits & kTop ? bits : ~(bits ^ kTop));
  }
}

// A key and the place it came from. Narrow keys share a word with it.
struct NarrowEntry {
  uint64_t both;
  NarrowEntry() = default;
  NarrowEntry(uint64_t key, int64_t place) : both(key << 32 | static_cast<uint64_t>(place)) {}
  int64_t place() const { return static_cast<int64_t>(both & 0xffffffff); }
  unsigned digit(int byte) const { return (both >> (32 + 8 * byte)) & 255; }
  bool operator<(const NarrowEntry& o) const { return both < o.both; }
};
struct WideEntry {
  uint64_t key;
  uint32_t at;
  WideEntry() = default;
  WideEntry(uint64_t k, int64_t place) : key(k), at(static_cast<uint32_t>(place)) {}
  int64_t place() const { return at; }
  unsigned digit(int byte) const { return (key >> (8 * byte)) & 255; }
  bool operator<(const WideEntry& o) const { return key != o.key ? key < o.key : at < o.at; }
};
template <class T>
using EntryOf = std::conditional_t<sizeof(T) == 8, WideEntry, NarrowEntry>;

inline constexpr int64_t kMostEntries = int64_t{1} << 32;  // places have 32 bits

// Sorts n entries that stand in the order of their places, by `bytes` digits; `spare` is as large.
// Gives the one of both that holds the result.
template <class Entry>
Entry* radix_sort(Entry* entries, Entry* spare, int64_t n, int bytes) {
  constexpr int64_t kFew = 512;
  if (n <= kFew) {
    std::sort(entries, entries + n);  // places make it stable
    return entries;
  }
  std::array<std::array<int64_t, 256>, 8> counts{};
  for (int64_t i = 0; i < n; ++i)
    for (int b = 0; b < bytes; ++b) ++counts[static_cast<size_t>(b)][entries[i].digit(b)];
  for (int b = 0; b < bytes; ++b) {
    StopScope::attend();
    auto& starts = counts[static_cast<size_t>(b)];
    if (starts[entries[0].digit(b)] == n) continue;  // all share that digit
    int64_t sum = 0;
    for (int64_t& count : starts) sum += std::exchange(count, sum);
    for (int64_t i = 0; i < n; ++i) spare[starts[entries[i].digit(b)]++] = entries[i];
    std::swap(entries, spare);
  }
  return entries;
}

}  // namespace emplace::cpu
