#include "format/snappy.h"

#include <fmt/format.h>

#include "emplace/error.h"
#include "format/varint.h"

namespace emplace {
namespace {

// A copy can say 64 bytes in two: what claims to grow more is damage.
constexpr uint64_t kMaxRatio = 64;

// `bytes` little-endian bytes from the front.
uint32_t take_little(std::string_view& in, size_t bytes, const Error& damage) {
  if (in.size() < bytes) throw damage;
  uint32_t v = 0;
  for (size_t i = 0; i < bytes; ++i) v |= uint32_t{static_cast<unsigned char>(in[i])} << (8 * i);
  in.remove_prefix(bytes);
  return v;
}

}  // namespace

std::string unpack_snappy(std::string_view in, const std::string& name) {
  const Error damage(Code::kDataLoss, fmt::format("{}: corrupted compressed block contents", name));
  const auto length = take_varint(in);
  if (!length || *length > in.size() * kMaxRatio) throw damage;
  std::string out;
  out.reserve(*length);
  while (!in.empty()) {
    const auto tag = static_cast<unsigned char>(in.front());
    in.remove_prefix(1);
    size_t n = tag >> 2, offset = 0;
    switch (tag & 3) {
      case 0:  // literal
        if (n >= 60) n = take_little(in, n - 59, damage);
        ++n;
        if (n > in.size() || out.size() + n > *length) throw damage;
        out += in.substr(0, n);
        in.remove_prefix(n);
        continue;
      case 1:
        offset = (tag >> 5) << 8 | take_little(in, 1, damage);
        n = (n & 7) + 4;
        break;
      case 2: offset = take_little(in, 2, damage), ++n; break;
      default: offset = take_little(in, 4, damage), ++n; break;
    }
    if (offset == 0 || offset > out.size() || out.size() + n > *length) throw damage;
    for (; n > 0; --n) out += out[out.size() - offset];
  }
  if (out.size() != *length) throw damage;
  return out;
}

}  // namespace emplace
