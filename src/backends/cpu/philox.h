#pragma once
#include <span>

#include "emplace/dtype.h"
#include "kernel/philox.h"

namespace emplace {

// Output is made in groups of so many elements, each from the same number of blocks. To fill in
// parallel cut the output at multiples of the group, and begin at
// `gen.skipped(first_group * blocks)`.
template <class T>
inline constexpr int64_t kPhiloxGroup = sizeof(T) == 8 ? 2 : 4;
inline constexpr uint64_t kPhiloxBlocks = 1;
template <class T>
inline constexpr uint64_t kPhiloxTruncatedBlocks = kPhiloxGroup<T>* kPhiloxReservedPerOutput / 4;

// [0, 1): float, double, Half, Bfloat16.
template <class T>
void philox_uniform(Philox gen, std::span<T> out);
// [low, high), low < high: int32_t, int64_t, uint32_t, uint64_t.
template <class T>
void philox_uniform_int(Philox gen, T low, T high, std::span<T> out);
// Every value equally likely: int32_t, int64_t, uint32_t, uint64_t.
template <class T>
void philox_full_int(Philox gen, std::span<T> out);
// Mean 0, deviation 1: float, double, Half, Bfloat16.
template <class T>
void philox_normal(Philox gen, std::span<T> out);
// The same without what lies two deviations off or further.
template <class T>
void philox_truncated_normal(Philox gen, std::span<T> out);

}  // namespace emplace
