#include "format/inflate.h"

#include <fmt/format.h>

#if defined(EMPLACE_WITH_ZLIB)
#include <zlib.h>
#endif

#include "emplace/error.h"

namespace emplace {
namespace {

#if defined(EMPLACE_WITH_ZLIB)
constexpr size_t kMost = size_t{1} << 31;  // what a few bytes may swell to

std::string inflated(std::string_view packed, int window) {
  z_stream z{};
  if (inflateInit2(&z, window) != Z_OK) throw internal_error("zlib did not start");
  z.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(packed.data()));
  z.avail_in = static_cast<uInt>(packed.size());
  std::string out, part(1 << 16, '\0');
  int rc = Z_OK;
  while (rc == Z_OK && out.size() < kMost) {
    z.next_out = reinterpret_cast<Bytef*>(part.data());
    z.avail_out = static_cast<uInt>(part.size());
    rc = inflate(&z, Z_NO_FLUSH);
    out.append(part, 0, part.size() - z.avail_out);
    // Files may be put together of several.
    if (rc == Z_STREAM_END && z.avail_in > 0) rc = inflateReset(&z);
  }
  inflateEnd(&z);
  if (out.size() >= kMost) throw resource_exhausted("a compressed file holds more than 2 GiB");
  if (rc != Z_STREAM_END)
    throw Error(Code::kDataLoss, fmt::format("inflate() failed with error {}", rc));
  return out;
}
#endif

}  // namespace

std::string unpack(std::string_view packed, std::string_view type) {
  if (type.empty()) return std::string(packed);
  if (type != "ZLIB" && type != "GZIP")
    throw invalid_argument(fmt::format("Only ZLIB, GZIP or NONE are supported compressions, not {}",
                                       type));
#if defined(EMPLACE_WITH_ZLIB)
  if (packed.size() >= kMost) throw resource_exhausted("a compressed file of more than 2 GiB");
  return inflated(packed, type == "GZIP" ? 16 + MAX_WBITS : MAX_WBITS);
#else
  throw unimplemented("compressed files: this build has no zlib");
#endif
}

}  // namespace emplace
