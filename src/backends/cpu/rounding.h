#pragma once
#include <bit>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace emplace::cpu {

// The greatest whole number up to x, by operations and masks of which the compiler makes vectors:
// std::floor is a call where the build assumes no SSE4.
template <class T>
T rounded_down(T x) {
  static_assert(std::is_floating_point_v<T>);
  using Bits = std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>;
  constexpr T kWhole = T(1) / std::numeric_limits<T>::epsilon();  // from there on all are whole
  constexpr Bits kSign = Bits(1) << (8 * sizeof(T) - 1);
  const auto bits = [](T v) { return std::bit_cast<Bits>(v); };
  const T size = std::bit_cast<T>(bits(x) & ~kSign);
  const T near = std::bit_cast<T>(bits((size + kWhole) - kWhole) | (bits(x) & kSign));
  const Bits above = Bits(0) - static_cast<Bits>(near > x);
  const T down = near - std::bit_cast<T>(bits(T(1)) & above);
  const Bits small = Bits(0) - static_cast<Bits>(size < kWhole);  // not what is no number
  return std::bit_cast<T>((bits(down) & small) | (bits(x) & ~small));
}

}  // namespace emplace::cpu
