#include "backends/cpu/philox.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <type_traits>

namespace emplace {
namespace {

using Block = Philox::Block;

template <class T>
using Group = std::array<T, kPhiloxGroup<T>>;

template <class To, class From>
To bits_as(From from) {
  To to;
  static_assert(sizeof to == sizeof from);
  std::memcpy(&to, &from, sizeof to);
  return to;
}

// Random bits as the fraction of a number in [1, 2), less one.
float unit_float(uint32_t x) { return bits_as<float>(0x3f800000u | (x & 0x7fffffu)) - 1.0f; }

double unit_double(uint32_t high, uint32_t low) {
  const uint64_t fraction = uint64_t{high & 0xfffffu} << 32 | low;
  return bits_as<double>(uint64_t{1023} << 52 | fraction) - 1.0;
}

template <class T>
T unit_16(uint32_t x, uint16_t one, uint16_t fraction) {
  T v;
  v.bits = static_cast<uint16_t>(one | (x & fraction));
  return T(static_cast<float>(v) - 1.0f);
}

template <class T>
Group<T> uniform_group(const Block& b) {
  Group<T> g;
  for (size_t i = 0; i < g.size(); ++i) {
    if constexpr (std::is_same_v<T, float>) {
      g[i] = unit_float(b[i]);
    } else if constexpr (std::is_same_v<T, double>) {
      g[i] = unit_double(b[2 * i], b[2 * i + 1]);
    } else if constexpr (std::is_same_v<T, Half>) {
      g[i] = unit_16<Half>(b[i], 0x3c00, 0x3ff);
    } else {
      g[i] = unit_16<Bfloat16>(b[i], 0x3f80, 0x7f);
    }
  }
  return g;
}

template <class T>
auto word(const Block& b, size_t i) {
  if constexpr (sizeof(T) == 8) {
    return b[2 * i] | uint64_t{b[2 * i + 1]} << 32;
  } else {
    return b[i];
  }
}

// Box and Muller: two normal numbers from two uniform ones, the first kept off log(0).
std::array<float, 2> normal_pair(uint32_t x0, uint32_t x1) {
  const float u = std::max(unit_float(x0), 1.0e-7f);
  const auto angle = static_cast<float>(2 * std::numbers::pi * unit_float(x1));
  const float radius = std::sqrt(-2.0f * std::log(u));
  float sine, cosine;
  ::sincosf(angle, &sine, &cosine);
  return {sine * radius, cosine * radius};
}

std::array<double, 2> normal_pair(uint32_t x0, uint32_t x1, uint32_t x2, uint32_t x3) {
  const double u = std::max(unit_double(x0, x1), 1.0e-7);
  const double angle = 2 * std::numbers::pi * unit_double(x2, x3);
  const double radius = std::sqrt(-2.0 * std::log(u));
  double sine, cosine;
  ::sincos(angle, &sine, &cosine);
  return {sine * radius, cosine * radius};
}

template <class T>
Group<T> normal_group(const Block& b) {
  if constexpr (std::is_same_v<T, double>) {
    return normal_pair(b[0], b[1], b[2], b[3]);
  } else {
    const auto [a, c] = normal_pair(b[0], b[1]);
    const auto [d, e] = normal_pair(b[2], b[3]);
    return {T(a), T(c), T(d), T(e)};
  }
}

// Takes pairs until enough of them lie within two deviations.
template <class T>
Group<T> truncated_group(Philox gen) {
  Group<T> g;
  size_t n = 0;
  for (;;) {
    const Block b = gen();
    const auto offer = [&](auto v) {
      if (n < g.size() && std::abs(v) < 2) g[n++] = T(v);
    };
    if constexpr (std::is_same_v<T, double>) {
      for (const double v : normal_pair(b[0], b[1], b[2], b[3])) offer(v);
    } else {
      for (const float v : normal_pair(b[0], b[1])) offer(v);
      for (const float v : normal_pair(b[2], b[3])) offer(v);
    }
    if (n == g.size()) return g;
  }
}

// Fills `out` group by group; the last group may be cut.
template <class T, class F>
void by_group(std::span<T> out, F next_group) {
  constexpr size_t kSize = kPhiloxGroup<T>;
  size_t i = 0;
  for (; i + kSize <= out.size(); i += kSize) {
    const Group<T> g = next_group();
    std::copy(g.begin(), g.end(), out.begin() + i);
  }
  if (i == out.size()) return;
  const Group<T> g = next_group();
  std::copy_n(g.begin(), out.size() - i, out.begin() + i);
}

}  // namespace

template <class T>
void philox_uniform(Philox gen, std::span<T> out) {
  by_group(out, [&] { return uniform_group<T>(gen()); });
}

template <class T>
void philox_uniform_int(Philox gen, T low, T high, std::span<T> out) {
  using U = std::make_unsigned_t<T>;
  const U range = static_cast<U>(high) - static_cast<U>(low);
  by_group(out, [&] {
    const Block b = gen();
    Group<T> g;
    for (size_t i = 0; i < g.size(); ++i)
      g[i] = static_cast<T>(static_cast<U>(low) + word<T>(b, i) % range);
    return g;
  });
}

template <class T>
void philox_full_int(Philox gen, std::span<T> out) {
  by_group(out, [&] {
    const Block b = gen();
    Group<T> g;
    for (size_t i = 0; i < g.size(); ++i) g[i] = static_cast<T>(word<T>(b, i));
    return g;
  });
}

template <class T>
void philox_normal(Philox gen, std::span<T> out) {
  by_group(out, [&] { return normal_group<T>(gen()); });
}

// Each group has blocks of its own in reserve, however many it takes.
template <class T>
void philox_truncated_normal(Philox gen, std::span<T> out) {
  by_group(out, [&] {
    const Group<T> g = truncated_group<T>(gen);
    gen.skip(kPhiloxTruncatedBlocks<T>);
    return g;
  });
}

template void philox_uniform(Philox, std::span<float>);
template void philox_uniform(Philox, std::span<double>);
template void philox_uniform(Philox, std::span<Half>);
template void philox_uniform(Philox, std::span<Bfloat16>);
template void philox_uniform_int(Philox, int32_t, int32_t, std::span<int32_t>);
template void philox_uniform_int(Philox, int64_t, int64_t, std::span<int64_t>);
template void philox_uniform_int(Philox, uint32_t, uint32_t, std::span<uint32_t>);
template void philox_uniform_int(Philox, uint64_t, uint64_t, std::span<uint64_t>);
template void philox_full_int(Philox, std::span<int32_t>);
template void philox_full_int(Philox, std::span<int64_t>);
template void philox_full_int(Philox, std::span<uint32_t>);
template void philox_full_int(Philox, std::span<uint64_t>);
template void philox_normal(Philox, std::span<float>);
template void philox_normal(Philox, std::span<double>);
template void philox_normal(Philox, std::span<Half>);
template void philox_normal(Philox, std::span<Bfloat16>);
template void philox_truncated_normal(Philox, std::span<float>);
template void philox_truncated_normal(Philox, std::span<double>);
template void philox_truncated_normal(Philox, std::span<Half>);
template void philox_truncated_normal(Philox, std::span<Bfloat16>);

}  // namespace emplace
