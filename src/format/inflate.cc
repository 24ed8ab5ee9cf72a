#include "format/inflate.h"

#include <fmt/format.h>

#if defined(EMPLACE_WITH_ZLIB)
#include <zlib.h>
#endif

#include "emplace/error.h"

namespace emplace {

void check_compression(std::string_view type) {
  if (!type.empty() && type != "ZLIB" && type != "GZIP")
    throw invalid_argument(
        fmt::format("Only ZLIB, GZIP or NONE are supported compressions, not {}", type));
}

#if defined(EMPLACE_WITH_ZLIB)
namespace {

constexpr size_t kMost = size_t{1} << 31;  // what a few bytes may swell to

int window_of(std::string_view type) { return type == "GZIP" ? 16 + MAX_WBITS : MAX_WBITS; }

Bytef* bytes_of(std::string_view s) {
  return reinterpret_cast<Bytef*>(const_cast<char*>(s.data()));
}

}  // namespace

struct Unpacker::Stream {
  z_stream z{};
  bool ended = false;
  std::string part = std::string(1 << 16, '\0');
};

Unpacker::Unpacker(std::string_view type) : stream_(std::make_unique<Stream>()) {
  check_compression(type);
  if (inflateInit2(&stream_->z, window_of(type)) != Z_OK)
    throw internal_error("zlib did not start");
}

Unpacker::~Unpacker() { inflateEnd(&stream_->z); }

void Unpacker::feed(std::string_view packed, std::string& out) {
  z_stream& z = stream_->z;
  if (packed.size() >= kMost) throw resource_exhausted("more than 2 GiB of compressed bytes");
  z.next_in = bytes_of(packed);
  z.avail_in = static_cast<uInt>(packed.size());
  std::string& part = stream_->part;
  do {
    if (stream_->ended && z.avail_in > 0) inflateReset(&z);  // files may be put together of several
    if (stream_->ended && z.avail_in == 0) return;
    z.next_out = reinterpret_cast<Bytef*>(part.data());
    z.avail_out = static_cast<uInt>(part.size());
    const int rc = inflate(&z, Z_NO_FLUSH);
    if (rc != Z_OK && rc != Z_STREAM_END && rc != Z_BUF_ERROR)
      throw Error(Code::kDataLoss, fmt::format("inflate() failed with error {}", rc));
    stream_->ended = rc == Z_STREAM_END;
    out.append(part, 0, part.size() - z.avail_out);
    if (out.size() >= kMost) throw resource_exhausted("compressed bytes hold more than 2 GiB");
  } while (z.avail_in > 0 || z.avail_out == 0);
}

void Unpacker::finish() {
  if (!stream_->ended)
    throw Error(Code::kDataLoss, fmt::format("inflate() failed with error {}", Z_BUF_ERROR));
}

std::string pack(std::string_view bytes, std::string_view type) {
  if (type.empty()) return std::string(bytes);
  check_compression(type);
  if (bytes.size() >= kMost) throw resource_exhausted("more than 2 GiB to compress");
  z_stream z{};
  if (deflateInit2(&z, Z_DEFAULT_COMPRESSION, Z_DEFLATED, window_of(type), 8, Z_DEFAULT_STRATEGY) !=
      Z_OK)
    throw internal_error("zlib did not start");
  std::string out(deflateBound(&z, bytes.size()), '\0');
  z.next_in = bytes_of(bytes);
  z.avail_in = static_cast<uInt>(bytes.size());
  z.next_out = reinterpret_cast<Bytef*>(out.data());
  z.avail_out = static_cast<uInt>(out.size());
  const int rc = deflate(&z, Z_FINISH);
  out.resize(z.total_out);
  deflateEnd(&z);
  if (rc != Z_STREAM_END) throw internal_error(fmt::format("deflate() failed with error {}", rc));
  return out;
}

#else

struct Unpacker::Stream {};

Unpacker::Unpacker(std::string_view type) {
  check_compression(type);
  throw unimplemented("compressed files: this build has no zlib");
}
Unpacker::~Unpacker() = default;
void Unpacker::feed(std::string_view, std::string&) {}
void Unpacker::finish() {}

std::string pack(std::string_view bytes, std::string_view type) {
  if (type.empty()) return std::string(bytes);
  check_compression(type);
  throw unimplemented("compressed files: this build has no zlib");
}

#endif

std::string unpack(std::string_view packed, std::string_view type) {
  if (type.empty()) return std::string(packed);
  Unpacker u(type);
  std::string out;
  u.feed(packed, out);
  u.finish();
  return out;
}

}  // namespace emplace
