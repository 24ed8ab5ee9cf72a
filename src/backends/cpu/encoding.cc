// Bytes behind strings: raw numbers, base64.
#include <fmt/format.h>

#include "backends/cpu/loops.h"
#include "backends/cpu/move.h"
#include "backends/cpu/text_kernels.h"
#include "base/stop_scope.h"

namespace emplace::cpu {
namespace {

// Bytes of what changes its order on the other kind of machine: half of a complex number.
size_t unit_size(DType t) { return is_complex(t) ? dtype_size(t) / 2 : dtype_size(t); }

void store_bytes(const std::string& from, size_t room, DType dtype, bool little_endian, char* to) {
  const size_t n = std::min(from.size(), room), unit = unit_size(dtype);
  std::memcpy(to, from.data(), n);
  std::memset(to + n, 0, room - n);
  if (dtype == DType::kBool)
    for (size_t i = 0; i < room; ++i) to[i] = to[i] != 0;
  if (little_endian || unit == 1) return;
  for (size_t i = 0; i + unit <= room; i += unit) std::reverse(to + i, to + i + unit);
}

struct DecodeRaw {
  bool little_endian;
  void operator()(KernelContext& c) const {
    const Tensor& in = c.input(0);
    const std::string* strings = in.data<std::string>();
    const DType dtype = c.output_type(0);
    const size_t size = dtype_size(dtype), bytes = in.num_elements() ? strings[0].size() : 0;
    for (const int64_t i : paced(in.num_elements()))
      if (strings[i].size() != bytes)
        throw invalid_argument(fmt::format("DecodeRaw requires input strings to all be the same "
                                           "size, but element {} has size {} != {}", i, bytes,
                                           strings[i].size()));
    if (bytes % size != 0)
      throw invalid_argument(fmt::format("Input to DecodeRaw has length {} that is not a multiple "
                                         "of {}, the size of {}", bytes, size, dtype_name(dtype)));
    Shape shape = in.shape();
    shape.push_back(static_cast<int64_t>(bytes / size));
    Tensor& out = c.output(0, shape);
    for (const int64_t i : paced(in.num_elements()))
      store_bytes(strings[i], bytes, dtype, little_endian,
                  static_cast<char*>(out.raw()) + static_cast<size_t>(i) * bytes);
  }
};
Prepared make_raw(const KernelInit& i) {
  return prepared(DecodeRaw{i.attr<bool>("little_endian")});
}

struct DecodePadded {
  bool little_endian;
  void operator()(KernelContext& c) const {
    const Tensor& in = c.input(0);
    const DType dtype = c.output_type(0);
    const auto size = static_cast<int64_t>(dtype_size(dtype));
    const int64_t length = int_scalar(c.input(1), "fixed_length");
    if (length <= 0)
      throw invalid_argument(fmt::format("fixed_length ({}) must be greater than zero.", length));
    if (length % size != 0)
      throw invalid_argument(fmt::format("fixed_length ({}) must be a multiple of the size of "
                                         "out_type ({})", length, size));
    Shape shape = in.shape();
    shape.push_back(length / size);
    Tensor& out = c.output(0, shape);
    for (const int64_t i : paced(in.num_elements()))
      store_bytes(in.data<std::string>()[i], static_cast<size_t>(length), dtype, little_endian,
                  static_cast<char*>(out.raw()) + i * length);
  }
};
Prepared make_padded(const KernelInit& i) {
  return prepared(DecodePadded{i.attr<bool>("little_endian")});
}

// ---- Base64 with the alphabet of addresses.

constexpr std::string_view kAlphabet =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

std::string encoded(const std::string& s, bool pad) {
  std::string text;
  uint32_t bits = 0;
  int have = 0;
  for (char c : s) {
    bits = bits << 8 | static_cast<unsigned char>(c);
    for (have += 8; have >= 6; have -= 6) text += kAlphabet[bits >> (have - 6) & 63];
  }
  if (have > 0) text += kAlphabet[bits << (6 - have) & 63];
  while (pad && text.size() % 4 != 0) text += '=';
  return text;
}

std::string decoded(std::string_view s) {
  if (s.size() % 4 == 1) throw invalid_argument("Base64 string length cannot be 1 modulo 4.");
  const bool whole = s.size() % 4 == 0;  // else there is no padding
  for (int i = 0; i < 2 && whole && s.ends_with('='); ++i) s.remove_suffix(1);
  std::string bytes;
  uint32_t bits = 0;
  int have = 0;
  for (char c : s) {
    const size_t value = kAlphabet.find(c);
    if (value == std::string_view::npos)
      throw invalid_argument("Invalid character found in base64.");
    bits = bits << 6 | static_cast<uint32_t>(value);
    if ((have += 6) >= 8) bytes += static_cast<char>(bits >> (have -= 8) & 0xff);
  }
  return bytes;
}

struct Encode {
  bool pad;
  void operator()(KernelContext& c) const {
    map_strings<std::string>(c, [&](const std::string& s) { return encoded(s, pad); });
  }
};
Prepared make_encode(const KernelInit& i) { return prepared(Encode{i.attr<bool>("pad")}); }

void decode_base64(KernelContext& c) {
  map_strings<std::string>(c, [](const std::string& s) { return decoded(s); });
}

}  // namespace

std::vector<KernelRow> encoding_kernels() {
  return {text_row("DecodeRaw", make_raw), text_row("DecodePaddedRaw", make_padded),
          text_row("EncodeBase64", make_encode),
          text_row("DecodeBase64", stateless<decode_base64>)};
}

}  // namespace emplace::cpu
