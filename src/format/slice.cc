#include "format/slice.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "emplace/error.h"

namespace emplace {
namespace {

std::vector<std::string_view> split(std::string_view text, char at) {
  std::vector<std::string_view> parts;
  for (;;) {
    const size_t end = text.find(at);
    parts.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

int64_t number(std::string_view text, std::string_view whole) {
  int64_t n = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), n);
  if (error != std::errc() || end != text.data() + text.size() || n < 0)
    throw invalid_argument(fmt::format("'{}' is not a slice: expected start,length or '-'", whole));
  return n;
}

// ---- Keys sort as the numbers and texts in them do.

void put_number(std::string& out, uint64_t v) {
  std::string bytes;
  for (; v > 0; v >>= 8) bytes += static_cast<char>(v & 0xff);
  out += static_cast<char>(bytes.size());
  out.append(bytes.rbegin(), bytes.rend());
}

void put_text(std::string& out, std::string_view text) {
  for (const char c : text) {
    out += c;
    if (c == '\0') out += '\xff';
    else if (c == '\xff') out += '\0';
  }
  out += '\0';
  out += '\1';
}

void put_signed(std::string& out, int64_t v) {
  const uint64_t magnitude = v < 0 ? ~static_cast<uint64_t>(v) : static_cast<uint64_t>(v);
  int length = 1;  // 7 bits a byte, one of them the sign
  while (length < 10 && magnitude >> std::min(63, 7 * length - 1) != 0) ++length;
  char bytes[10];
  std::fill(bytes, bytes + 10, v < 0 ? '\xff' : '\0');
  for (int i = 0; i < 8; ++i) bytes[9 - i] = static_cast<char>(static_cast<uint64_t>(v) >> (8 * i));
  // As many leading ones as there are bytes.
  const uint16_t header = static_cast<uint16_t>(0xffffu << (16 - length));
  char* begin = bytes + 10 - length;
  begin[0] = static_cast<char>(begin[0] ^ (header >> 8));
  if (length > 1) begin[1] = static_cast<char>(begin[1] ^ (header & 0xff));
  out.append(begin, static_cast<size_t>(length));
}

}  // namespace

TensorSlice TensorSlice::parse(std::string_view text) {
  TensorSlice s;
  for (const std::string_view part : split(text, ':')) {
    if (part == "-") {
      s.extents.push_back({});
      continue;
    }
    const auto pair = split(part, ',');
    if (pair.size() != 2) number("", text);
    s.extents.push_back({number(pair[0], text), number(pair[1], text)});
  }
  return s;
}

TensorSlice TensorSlice::from_proto(const proto::TensorSliceProto& in) {
  TensorSlice s;
  for (const auto& e : in.extent())
    s.extents.push_back({e.start(), e.has_length_hack_case() == e.kLength ? e.length() : -1});
  return s;
}

void TensorSlice::to_proto(proto::TensorSliceProto* out) const {
  for (const Extent& e : extents) {
    auto* to = out->add_extent();
    if (e.length < 0) continue;
    to->set_start(e.start);
    to->set_length(e.length);
  }
}

bool TensorSlice::is_everything() const {
  return std::ranges::all_of(extents, [](const Extent& e) { return e.length < 0; });
}

TensorSlice TensorSlice::within(const Shape& shape) const {
  TensorSlice s = *this;
  bool fits = static_cast<int>(extents.size()) == shape.rank();
  for (int i = 0; fits && i < shape.rank(); ++i) {
    Extent& e = s.extents[static_cast<size_t>(i)];
    if (e.length < 0) e = {0, shape.dim(i)};
    fits = e.start >= 0 && e.length <= shape.dim(i) && e.start <= shape.dim(i) - e.length;
  }
  if (!fits) throw invalid_argument(fmt::format("A slice does not lie within shape {}", shape.str()));
  return s;
}

Shape TensorSlice::shape() const {
  Shape s;
  for (const Extent& e : extents) s.push_back(e.length);
  return s;
}

std::string TensorSlice::key(std::string_view name) const {
  std::string out;
  put_number(out, 0);
  put_text(out, name);
  put_number(out, extents.size());
  for (const Extent& e : extents) {
    put_signed(out, e.length < 0 ? 0 : e.start);
    put_signed(out, e.length);
  }
  return out;
}

std::pair<Shape, TensorSlice> parse_shape_and_slice(std::string_view text) {
  const auto parts = split(text, ' ');
  if (parts.size() < 2)
    throw invalid_argument(fmt::format("Need least two elements in shape_and_slice specification: "
                                       "{}",
                                       text));
  Shape shape;
  for (size_t i = 0; i + 1 < parts.size(); ++i)
    for (const std::string_view dim : split(parts[i], ','))
      if (!dim.empty()) shape.push_back(number(dim, text));
  return {shape, TensorSlice::parse(parts.back())};
}

int64_t copy_overlap(const Tensor& from, const TensorSlice& a, Tensor& to, const TensorSlice& b) {
  const size_t rank = a.extents.size();
  std::vector<int64_t> low(rank), high(rank), from_stride(rank + 1, 1), to_stride(rank + 1, 1);
  int64_t count = 1;
  for (size_t i = rank; i-- > 0;) {
    low[i] = std::max(a.extents[i].start, b.extents[i].start);
    high[i] = std::min(a.extents[i].start + a.extents[i].length,
                       b.extents[i].start + b.extents[i].length);
    if (low[i] >= high[i]) return 0;
    count *= high[i] - low[i];
    from_stride[i] = from_stride[i + 1] * a.extents[i].length;
    to_stride[i] = to_stride[i + 1] * b.extents[i].length;
  }
  const int64_t row = rank == 0 ? 1 : high[rank - 1] - low[rank - 1];
  std::vector<int64_t> at = low;
  for (int64_t done = 0; done < count; done += row) {
    int64_t f = 0, t = 0;
    for (size_t i = 0; i < rank; ++i) {
      f += (at[i] - a.extents[i].start) * from_stride[i + 1];
      t += (at[i] - b.extents[i].start) * to_stride[i + 1];
    }
    if (from.dtype() == DType::kString) {
      std::copy_n(from.data<std::string>() + f, row, to.data<std::string>() + t);
    } else {
      const auto size = static_cast<int64_t>(dtype_size(from.dtype()));
      std::copy_n(from.data<char>() + f * size, row * size, to.data<char>() + t * size);
    }
    for (size_t i = rank > 0 ? rank - 1 : 0; i-- > 0;) {
      if (++at[i] < high[i]) break;
      at[i] = low[i];
    }
  }
  return count;
}

}  // namespace emplace
