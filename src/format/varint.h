#pragma once
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>

namespace emplace {

inline void put_varint(std::string& out, uint64_t v) {
  for (; v >= 0x80; v >>= 7) out += static_cast<char>(v | 0x80);
  out += static_cast<char>(v);
}

// Takes a number from the front of `in`; nullopt when it is cut off or too long.
inline std::optional<uint64_t> take_varint(std::string_view& in) {
  uint64_t v = 0;
  for (size_t i = 0; i < in.size() && i < 10; ++i) {
    const auto b = static_cast<unsigned char>(in[i]);
    v |= uint64_t{b & 0x7fu} << (7 * i);
    if (b < 0x80) {
      in.remove_prefix(i + 1);
      return v;
    }
  }
  return std::nullopt;
}

template <class T>
void put_fixed(std::string& out, T v) {
  out.append(reinterpret_cast<const char*>(&v), sizeof v);
}

template <class T>
T fixed_at(std::string_view in, size_t at) {
  T v;
  std::memcpy(&v, in.data() + at, sizeof v);
  return v;
}

}  // namespace emplace
