#include "base/crc32c.h"

#include <array>
#include <cstring>

namespace emplace {
namespace {

using Tables = std::array<std::array<uint32_t, 256>, 8>;

Tables make_tables() {
  Tables t{};
  for (uint32_t i = 0; i < 256; ++i) {
    uint32_t c = i;
    for (int k = 0; k < 8; ++k) c = (c >> 1) ^ ((c & 1) ? 0x82f63b78u : 0);
    t[0][i] = c;
  }
  for (size_t k = 1; k < 8; ++k)
    for (size_t i = 0; i < 256; ++i) t[k][i] = (t[k - 1][i] >> 8) ^ t[0][t[k - 1][i] & 0xff];
  return t;
}

// Eight bytes a turn.
uint32_t portable(uint32_t c, const char* p, size_t n) {
  static const Tables t = make_tables();
  for (; n >= 8; n -= 8, p += 8) {
    uint64_t word;
    std::memcpy(&word, p, 8);
    word ^= c;
    c = 0;
    for (size_t k = 0; k < 8; ++k) c ^= t[7 - k][(word >> (8 * k)) & 0xff];
  }
  for (; n > 0; --n, ++p) c = t[0][(c ^ static_cast<unsigned char>(*p)) & 0xff] ^ (c >> 8);
  return c;
}

#if defined(__x86_64__)
__attribute__((target("sse4.2"))) uint32_t with_sse42(uint32_t c, const char* p, size_t n) {
  uint64_t wide = c;
  for (; n >= 8; n -= 8, p += 8) {
    uint64_t word;
    std::memcpy(&word, p, 8);
    wide = __builtin_ia32_crc32di(wide, word);
  }
  c = static_cast<uint32_t>(wide);
  for (; n > 0; --n, ++p) c = __builtin_ia32_crc32qi(c, static_cast<unsigned char>(*p));
  return c;
}
#endif

}  // namespace

uint32_t extend_crc32c(uint32_t crc, std::string_view bytes) {
#if defined(__x86_64__)
  static const bool sse42 = __builtin_cpu_supports("sse4.2");
  if (sse42) return ~with_sse42(~crc, bytes.data(), bytes.size());
#endif
  return ~portable(~crc, bytes.data(), bytes.size());
}

}  // namespace emplace
