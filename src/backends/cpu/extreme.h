#pragma once
#include <cstdint>
#include <limits>
#include <type_traits>

namespace emplace::cpu {

// Numbers that vectors can hold and compare.
template <class T>
inline constexpr bool kIsPlainNumber = std::is_arithmetic_v<T> && !std::is_same_v<T, bool>;

// The largest (or smallest) of `start` and n elements, several at a time. NaN is passed over, or
// makes the result NaN. For inlining into a loop compiled for the machine's vectors.
template <class T, bool kMax, bool kNanWins>
[[gnu::always_inline]] inline T extreme_of(const T* x, int64_t n, T start) {
  typedef T Vector __attribute__((vector_size(32)));
  typedef T Unaligned __attribute__((vector_size(32), aligned(sizeof(T)), may_alias));
  constexpr int kLanes = 32 / static_cast<int>(sizeof(T)), kVectors = 4;
  const Vector first = Vector{} + start;
  Vector best[kVectors] = {first, first, first, first};
  auto strange = first != first;
  const auto take = [&](int v, int64_t at) __attribute__((always_inline)) {
    const Vector y = *reinterpret_cast<const Unaligned*>(x + at);
    best[v] = (kMax ? y > best[v] : y < best[v]) ? y : best[v];
    if constexpr (kNanWins) strange |= y != y;
  };
  T result = start;
  bool nan = false;
  const auto take_one = [&](T y) __attribute__((always_inline)) {
    if (kMax ? y > result : y < result) result = y;
    nan |= y != y;
  };
  if (n < kLanes) {
    for (int64_t i = 0; i < n; ++i) take_one(x[i]);
  } else {
    int64_t i = 0;
    for (; i + kVectors * kLanes <= n; i += kVectors * kLanes)
      for (int v = 0; v < kVectors; ++v) take(v, i + v * kLanes);
    for (; i + kLanes <= n; i += kLanes) take(0, i);
    take(0, n - kLanes);  // some of them again, which changes nothing
    for (int v = 1; v < kVectors; ++v)
      best[0] = (kMax ? best[v] > best[0] : best[v] < best[0]) ? best[v] : best[0];
    for (int l = 0; l < kLanes; ++l) take_one(best[0][l]);
  }
  if constexpr (kNanWins && std::is_floating_point_v<T>) {
    for (int l = 0; l < kLanes; ++l) nan |= strange[l] != 0;
    if (nan) return std::numeric_limits<T>::quiet_NaN();
  }
  return result;
}

}  // namespace emplace::cpu
