#include "format/npy.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>

#include "base/file.h"
#include "base/parse_limits.h"
#include "emplace/error.h"
#include "emplace/session.h"
#include "format/npy_header.h"

namespace emplace {
namespace {

static_assert(std::endian::native == std::endian::little, "elements are written as they lie");

// ---- Reading.

void swap_bytes(char* data, size_t count, size_t width) {
  for (size_t i = 0; i < count; ++i, data += width) std::reverse(data, data + width);
}

// `in` has columns first: element (i0, i1, …) lies at i0 + d0 * (i1 + d1 * …).
template <class Put>
void for_each_row_major(const Shape& shape, Put put) {
  const int rank = shape.rank();
  std::vector<int64_t> at(static_cast<size_t>(rank), 0), stride(static_cast<size_t>(rank), 1);
  for (int i = 1; i < rank; ++i) stride[i] = stride[i - 1] * shape.dim(i - 1);
  const int64_t n = shape.num_elements();
  for (int64_t to = 0, from = 0; to < n; ++to) {
    put(to, from);
    for (int i = rank - 1; i >= 0; --i) {
      from += stride[i];
      if (++at[i] < shape.dim(i)) break;
      from -= stride[i] * at[i];
      at[i] = 0;
    }
  }
}

void append_utf8(std::string& out, uint32_t c) {
  if (c > 0x10ffff || (c >= 0xd800 && c < 0xe000)) throw bad_npy("text that is not Unicode");
  if (c < 0x80) out += static_cast<char>(c);
  else if (c < 0x800) {
    out += static_cast<char>(0xc0 | (c >> 6));
    out += static_cast<char>(0x80 | (c & 0x3f));
  } else if (c < 0x10000) {
    out += static_cast<char>(0xe0 | (c >> 12));
    out += static_cast<char>(0x80 | ((c >> 6) & 0x3f));
    out += static_cast<char>(0x80 | (c & 0x3f));
  } else {
    out += static_cast<char>(0xf0 | (c >> 18));
    out += static_cast<char>(0x80 | ((c >> 12) & 0x3f));
    out += static_cast<char>(0x80 | ((c >> 6) & 0x3f));
    out += static_cast<char>(0x80 | (c & 0x3f));
  }
}

// One fixed-width text, without the zeros that fill it up.
std::string text_at(const NpyHeader& h, const char* data) {
  if (h.kind == 'S') {
    size_t length = h.width;
    while (length > 0 && data[length - 1] == '\0') --length;
    return {data, length};
  }
  std::vector<uint32_t> letters(h.width / 4);
  if (!letters.empty()) std::memcpy(letters.data(), data, letters.size() * 4);
  if (h.big_endian) swap_bytes(reinterpret_cast<char*>(letters.data()), letters.size(), 4);
  while (!letters.empty() && letters.back() == 0) letters.pop_back();
  std::string out;
  for (const uint32_t c : letters) append_utf8(out, c);
  return out;
}

Tensor texts(const NpyHeader& h, const char* data) {
  Tensor t(DType::kString, h.shape);
  auto* out = t.data<std::string>();
  if (h.columns_first)
    for_each_row_major(h.shape, [&](int64_t to, int64_t from) {
      out[to] = text_at(h, data + static_cast<size_t>(from) * h.width);
    });
  else
    for (int64_t i = 0; i < t.num_elements(); ++i)
      out[i] = text_at(h, data + static_cast<size_t>(i) * h.width);
  return t;
}

Tensor numbers(const NpyHeader& h, const char* data) {
  Tensor t(h.dtype, h.shape);
  char* out = t.data<char>();
  const size_t width = h.width;
  if (h.columns_first)
    for_each_row_major(h.shape, [&](int64_t to, int64_t from) {
      std::memcpy(out + static_cast<size_t>(to) * width, data + static_cast<size_t>(from) * width,
                  width);
    });
  else if (t.bytes() > 0)
    std::memcpy(out, data, t.bytes());
  const size_t parts = is_complex(h.dtype) ? 2 : 1;
  if (h.big_endian) swap_bytes(out, static_cast<size_t>(t.num_elements()) * parts, width / parts);
  if (h.dtype == DType::kBool)
    for (int64_t i = 0; i < t.num_elements(); ++i) out[i] = out[i] != 0;
  return t;
}

// ---- Writing.

std::string descr_of(const Tensor& t, size_t& width) {
  width = dtype_size(t.dtype());
  switch (t.dtype()) {
    case DType::kFloat:
    case DType::kDouble:
    case DType::kHalf: return fmt::format("<f{}", width);
    case DType::kBool: return "|b1";
    case DType::kComplex64:
    case DType::kComplex128: return fmt::format("<c{}", width);
    case DType::kBfloat16: return "<V2";
    case DType::kUint8:
    case DType::kQuint8: return "|u1";
    case DType::kInt8:
    case DType::kQint8: return "|i1";
    case DType::kUint16:
    case DType::kQuint16:
    case DType::kUint32:
    case DType::kUint64: return fmt::format("<u{}", width);
    case DType::kInt16:
    case DType::kQint16:
    case DType::kInt32:
    case DType::kQint32:
    case DType::kInt64: return fmt::format("<i{}", width);
    case DType::kString: break;
    default:
      throw invalid_argument(fmt::format("A tensor of dtype {} can't be written as .npy",
                                         dtype_name(t.dtype())));
  }
  width = 1;
  for (const std::string& s : t.values<std::string>()) width = std::max(width, s.size());
  return fmt::format("|S{}", width);
}

template <class T>
void append_little(std::string& out, T value) {
  out.append(reinterpret_cast<const char*>(&value), sizeof value);
}

}  // namespace

Tensor parse_npy(std::string_view bytes) {
  check_parse_size(bytes.size(), "npy");
  const NpyHeader h = parse_npy_header(bytes);
  const std::string_view data = bytes.substr(h.data_offset);
  const auto count = static_cast<size_t>(h.shape.num_elements());
  if (h.width > 0 && count > data.size() / h.width)
    throw bad_npy(fmt::format("shape {} of {} bytes each needs more than the {} bytes there are",
                          h.shape.tuple_str(), h.width, data.size()));
  if (h.width == 0 && count > (1u << 24)) throw bad_npy("more empty texts than can be held");
  return h.dtype == DType::kString ? texts(h, data.data()) : numbers(h, data.data());
}

std::string npy_bytes(const Tensor& t) {
  size_t width = 0;
  const std::string descr = descr_of(t, width);
  std::string header = fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': {}, }}", descr,
                                   t.shape().tuple_str());
  const size_t prefix = header.size() + 75 > 65535 ? 12 : 10;
  header.append(63 - (prefix + header.size()) % 64, ' ');
  header += '\n';
  std::string out = "\x93NUMPY";
  out += prefix == 10 ? '\1' : '\2';
  out += '\0';
  if (prefix == 10) append_little(out, static_cast<uint16_t>(header.size()));
  else append_little(out, static_cast<uint32_t>(header.size()));
  out += header;
  if (t.dtype() != DType::kString) return out.append(t.data<char>(), t.bytes());
  for (const std::string& s : t.values<std::string>()) {
    out += s;
    out.append(width - s.size(), '\0');
  }
  return out;
}

Tensor load_npy(const std::string& path) {
  try {
    return parse_npy(read_to_parse(path));
  } catch (const Error& e) {
    if (e.code() != Code::kInvalidArgument) throw;
    throw invalid_argument(fmt::format("{}: {}", path, e.message()));
  }
}

void save_npz(const std::string& path, std::span<const std::pair<std::string, Tensor>> arrays) {
  write_file(path, npz_bytes(arrays));
}

}  // namespace emplace
