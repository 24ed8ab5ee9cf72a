#include "format/npy_header.h"

#include <fmt/format.h>

#include <charconv>
#include <cstring>
#include <vector>

#include "emplace/error.h"

namespace emplace {
namespace {

constexpr std::string_view kMagic = "\x93NUMPY";
constexpr size_t kMaxText = 1 << 20;  // bytes of one fixed-width text

// Reads the header: a Python dict of three known keys.
class HeaderReader {
 public:
  explicit HeaderReader(std::string_view text) : text_(text) {}

  bool take(char c) {
    skip();
    if (text_.empty() || text_.front() != c) return false;
    text_.remove_prefix(1);
    return true;
  }
  void expect(char c) {
    if (!take(c)) throw bad_npy(fmt::format("its header has no '{}' where one belongs", c));
  }
  std::string_view quoted() {
    skip();
    if (text_.empty() || (text_.front() != '\'' && text_.front() != '"'))
      throw bad_npy("its header has no text where one belongs");
    const char quote = text_.front();
    const size_t end = text_.find(quote, 1);
    if (end == std::string_view::npos) throw bad_npy("its header ends inside a text");
    const std::string_view out = text_.substr(1, end - 1);
    text_.remove_prefix(end + 1);
    return out;
  }
  bool truth() {
    skip();
    for (const auto& [word, value] : {std::pair{"True", true}, {"False", false}})
      if (text_.starts_with(word)) {
        text_.remove_prefix(std::strlen(word));
        return value;
      }
    throw bad_npy("fortran_order is neither True nor False");
  }
  int64_t number() {
    skip();
    int64_t n = 0;
    const auto [end, error] = std::from_chars(text_.data(), text_.data() + text_.size(), n);
    if (error != std::errc() || n < 0) throw bad_npy("a dimension is not a size");
    text_.remove_prefix(static_cast<size_t>(end - text_.data()));
    if (text_.starts_with('L')) text_.remove_prefix(1);  // Python 2's long
    return n;
  }
  bool is_list() {
    skip();
    return text_.starts_with('[');
  }

 private:
  void skip() {
    while (!text_.empty() && std::strchr(" \t\r\n", text_.front())) text_.remove_prefix(1);
  }
  std::string_view text_;
};

Shape read_shape(HeaderReader& r) {
  std::vector<int64_t> dims;
  r.expect('(');
  while (!r.take(')')) {
    dims.push_back(r.number());
    if (dims.size() > static_cast<size_t>(Shape::kMaxRank)) throw bad_npy("too many dimensions");
    if (r.take(',')) continue;
    r.expect(')');
    break;
  }
  checked_elements(dims);
  return Shape(dims);
}

DType number_type(char kind, size_t width) {
  switch (kind) {
    case 'f': return width == 4 ? DType::kFloat : width == 8 ? DType::kDouble
                     : width == 2 ? DType::kHalf : DType::kInvalid;
    case 'i': return width == 4 ? DType::kInt32 : width == 8 ? DType::kInt64
                     : width == 2 ? DType::kInt16 : width == 1 ? DType::kInt8 : DType::kInvalid;
    case 'u': return width == 4 ? DType::kUint32 : width == 8 ? DType::kUint64
                     : width == 2 ? DType::kUint16 : width == 1 ? DType::kUint8 : DType::kInvalid;
    case 'c': return width == 8 ? DType::kComplex64
                     : width == 16 ? DType::kComplex128 : DType::kInvalid;
    case 'b': return width == 1 ? DType::kBool : DType::kInvalid;
    case 'V': return width == 2 ? DType::kBfloat16 : DType::kInvalid;  // as ml_dtypes saves it
    default: return DType::kInvalid;
  }
}

void read_descr(std::string_view descr, NpyHeader& h) {
  const std::string_view whole = descr;
  if (!descr.empty() && std::string_view("<>|=").find(descr.front()) != std::string_view::npos) {
    h.big_endian = descr.front() == '>';
    descr.remove_prefix(1);
  }
  if (descr == "O") throw bad_npy("it holds Python objects; save the array with a dtype of its own");
  if (descr == "?") descr = "b1";
  size_t width = 0;
  const char* end = descr.data() + descr.size();
  if (descr.size() < 2 || std::from_chars(descr.data() + 1, end, width).ptr != end)
    throw bad_npy(fmt::format("dtype '{}' is not understood", whole));
  h.kind = descr.front();
  if (h.kind == 'S' || h.kind == 'U') {
    if (width > kMaxText) throw bad_npy("its texts are too long");
    h.dtype = DType::kString;
    h.width = h.kind == 'U' ? 4 * width : width;
    return;
  }
  h.dtype = number_type(h.kind, width);
  h.width = width;
  if (h.dtype == DType::kInvalid) throw bad_npy(fmt::format("dtype '{}' is not understood", whole));
}

}  // namespace

Error bad_npy(std::string_view why) {
  return invalid_argument(fmt::format("Not a .npy file: {}", why));
}

NpyHeader parse_npy_header(std::string_view file) {
  if (!file.starts_with(kMagic) || file.size() < 10) throw bad_npy("it does not begin as one");
  const int version = static_cast<unsigned char>(file[6]);
  if (version < 1 || version > 3) throw bad_npy(fmt::format("version {} is not known", version));
  const size_t prefix = version == 1 ? 10 : 12;
  if (file.size() < prefix) throw bad_npy("it ends in its header");
  uint32_t length = 0;
  std::memcpy(&length, file.data() + 8, prefix - 8);
  if (length > file.size() - prefix) throw bad_npy("it ends in its header");
  NpyHeader h;
  h.data_offset = prefix + length;
  HeaderReader r(file.substr(prefix, length));
  bool descr = false, order = false, shape = false;
  r.expect('{');
  while (!r.take('}')) {
    const std::string_view key = r.quoted();
    r.expect(':');
    if (key == "descr") {
      if (r.is_list()) throw bad_npy("it holds records; an array of one dtype is needed");
      read_descr(r.quoted(), h), descr = true;
    } else if (key == "fortran_order") {
      h.columns_first = r.truth(), order = true;
    } else if (key == "shape") {
      h.shape = read_shape(r), shape = true;
    } else {
      throw bad_npy(fmt::format("its header has a key '{}'", key));
    }
    if (r.take(',')) continue;
    r.expect('}');
    break;
  }
  if (!descr || !order || !shape) throw bad_npy("its header lacks descr, fortran_order or shape");
  return h;
}

}  // namespace emplace
