// Zip archives of .npy members, stored without compression.
#include <array>
#include <cstring>
#include <set>

#include "emplace/error.h"
#include "format/npy.h"

namespace emplace {
namespace {

// CRC-32 as zip wants it (IEEE 802.3, reflected).
uint32_t crc32(std::string_view bytes) {
  static const auto table = [] {
    std::array<uint32_t, 256> t{};
    for (uint32_t i = 0; i < 256; ++i) {
      uint32_t c = i;
      for (int k = 0; k < 8; ++k) c = (c >> 1) ^ ((c & 1) ? 0xedb88320u : 0);
      t[i] = c;
    }
    return t;
  }();
  uint32_t c = ~0u;
  for (const char b : bytes) c = table[(c ^ static_cast<unsigned char>(b)) & 0xff] ^ (c >> 8);
  return ~c;
}

class Writer {
 public:
  void u16(uint32_t v) { put(&v, 2); }
  void u32(uint32_t v) { put(&v, 4); }
  void u64(uint64_t v) { put(&v, 8); }
  void text(std::string_view s) { out.append(s); }
  std::string out;

 private:
  void put(const void* p, size_t n) { out.append(static_cast<const char*>(p), n); }
};

struct Member {
  std::string name;
  uint32_t crc;
  uint64_t size, offset;
};

constexpr uint32_t kVersion = 45, kUtf8 = 0x800, kDate = 0x21;  // 1980-01-01
constexpr uint32_t kIn64 = 0xffffffffu;                         // see the 64-bit field

void local_header(Writer& w, const Member& m) {
  w.u32(0x04034b50);
  w.u16(kVersion), w.u16(kUtf8), w.u16(0), w.u16(0), w.u16(kDate);
  w.u32(m.crc), w.u32(kIn64), w.u32(kIn64);
  w.u16(static_cast<uint32_t>(m.name.size())), w.u16(20);
  w.text(m.name);
  w.u16(1), w.u16(16), w.u64(m.size), w.u64(m.size);
}

void central_header(Writer& w, const Member& m) {
  w.u32(0x02014b50);
  w.u16(kVersion), w.u16(kVersion), w.u16(kUtf8), w.u16(0), w.u16(0), w.u16(kDate);
  w.u32(m.crc), w.u32(kIn64), w.u32(kIn64);
  w.u16(static_cast<uint32_t>(m.name.size())), w.u16(28), w.u16(0), w.u16(0), w.u16(0), w.u32(0);
  w.u32(kIn64);
  w.text(m.name);
  w.u16(1), w.u16(24), w.u64(m.size), w.u64(m.size), w.u64(m.offset);
}

void end_of_directory(Writer& w, size_t count, uint64_t begin) {
  const uint64_t here = w.out.size(), size = here - begin;
  w.u32(0x06064b50), w.u64(44), w.u16(kVersion), w.u16(kVersion), w.u32(0), w.u32(0);
  w.u64(count), w.u64(count), w.u64(size), w.u64(begin);
  w.u32(0x07064b50), w.u32(0), w.u64(here), w.u32(1);
  w.u32(0x06054b50), w.u16(0), w.u16(0), w.u16(0xffff), w.u16(0xffff);
  w.u32(kIn64), w.u32(kIn64), w.u16(0);
}

}  // namespace

std::string npz_bytes(std::span<const std::pair<std::string, Tensor>> arrays) {
  Writer w;
  std::vector<Member> members;
  std::set<std::string> seen;
  for (const auto& [name, tensor] : arrays) {
    if (!seen.insert(name).second) continue;  // the same fetch twice
    if (name.size() > 60000) throw invalid_argument("A name is too long for an .npz file");
    const std::string bytes = npy_bytes(tensor);
    members.push_back({name + ".npy", crc32(bytes), bytes.size(), w.out.size()});
    local_header(w, members.back());
    w.text(bytes);
  }
  const uint64_t begin = w.out.size();
  for (const Member& m : members) central_header(w, m);
  end_of_directory(w, members.size(), begin);
  return std::move(w.out);
}

}  // namespace emplace
