// Strings one by one: length, case, ends, parts.
#include <clocale>
#include <cwctype>

#include <fmt/format.h>

#include "backends/cpu/broadcast.h"
#include "backends/cpu/move.h"
#include "backends/cpu/text_kernels.h"
#include "backends/cpu/utf.h"

namespace emplace::cpu {
namespace {

std::string without_outer_space(const std::string& s) {
  size_t begin = 0, end = s.size();
  while (begin < end && is_space(s[begin])) ++begin;
  while (end > begin && is_space(s[end - 1])) --end;
  return s.substr(begin, end - begin);
}
void strip(KernelContext& c) { map_strings<std::string>(c, without_outer_space); }

// ---- Lengths.

int64_t characters(const std::string& s) { return std::count_if(s.begin(), s.end(), begins_utf8); }

void length_in_bytes(KernelContext& c) {
  map_strings<int32_t>(c, [](const std::string& s) { return static_cast<int32_t>(s.size()); });
}
void length_in_characters(KernelContext& c) {
  map_strings<int32_t>(c, [](const std::string& s) { return static_cast<int32_t>(characters(s)); });
}
Prepared make_length(const KernelInit& i) {
  return i.attr<std::string>("unit") == "BYTE" ? prepared<length_in_bytes>()
                                               : prepared<length_in_characters>();
}

// ---- Case.

struct Lower {
  static char byte(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; }
  static void letter(std::string& to, int32_t c, locale_t l) {
    append(to, static_cast<int32_t>(::towlower_l(static_cast<wint_t>(c), l)), Encoding::kUtf8);
  }
};
struct Upper {
  static char byte(char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 32) : c; }
  static void letter(std::string& to, int32_t c, locale_t l) {
    // Letters whose capitals are several.
    constexpr std::pair<int32_t, const char*> kMany[] = {
        {0xdf, "SS"}, {0xfb00, "FF"}, {0xfb01, "FI"}, {0xfb02, "FL"}, {0xfb03, "FFI"},
        {0xfb04, "FFL"}, {0xfb05, "ST"}, {0xfb06, "ST"}, {0x149, "\xca\xbcN"}};
    for (const auto& [letter, capitals] : kMany)
      if (c == letter) return void(to += capitals);
    append(to, static_cast<int32_t>(::towupper_l(static_cast<wint_t>(c), l)), Encoding::kUtf8);
  }
};

locale_t unicode_locale() {
  static const locale_t locale = ::newlocale(LC_CTYPE_MASK, "C.UTF-8", nullptr);
  if (!locale) throw unimplemented("this system has no locale C.UTF-8");
  return locale;
}

template <class Case>
void change_bytes(KernelContext& c) {
  map_strings<std::string>(c, [](std::string s) {
    for (char& x : s) x = Case::byte(x);
    return s;
  });
}
template <class Case>
void change_letters(KernelContext& c) {
  const locale_t locale = unicode_locale();
  map_strings<std::string>(c, [&](const std::string& s) {
    std::string out;
    for (const CodePoint& p : decode(s, Encoding::kUtf8))
      Case::letter(out, p.value < 0 ? 0xfffd : p.value, locale);
    return out;
  });
}
template <class Case>
Prepared make_case(const KernelInit& i) {
  const std::string& encoding = i.attr<std::string>("encoding");
  if (encoding.empty()) return prepared<change_bytes<Case>>();
  if (encoding == "utf-8") return prepared<change_letters<Case>>();
  throw invalid_argument("only utf-8 or '' (no encoding) is supported, received " + encoding);
}

// ---- Parts.

// Bytes [begin, end) of a part; false when it begins outside.
bool part_in_bytes(const std::string& s, int64_t pos, int64_t len, size_t& begin, size_t& end) {
  const auto size = static_cast<int64_t>(s.size());
  if (pos > size || pos < -size) return false;
  if (pos < 0) pos += size;
  begin = static_cast<size_t>(pos);
  end = static_cast<size_t>(len < 0 || len > size - pos ? size : pos + len);
  return true;
}

bool part_in_characters(const std::string& s, int64_t pos, int64_t len, size_t& begin,
                        size_t& end) {
  const int64_t count = characters(s);
  if (pos > count || pos < -count) return false;
  if (pos < 0) pos += count;
  const int64_t last = len > count - pos ? count : pos + std::max<int64_t>(len, 0);
  begin = end = s.size();
  int64_t seen = 0;
  for (size_t i = 0; i < s.size(); ++i) {
    if (!begins_utf8(s[i])) continue;
    if (seen == pos) begin = i;
    if (seen++ == last) return end = i, true;
  }
  return true;
}

struct Substr {
  bool in_bytes;
  void operator()(KernelContext& c) const {
    const Tensor &in = c.input(0), &pos = c.input(1), &len = c.input(2);
    if (!(pos.shape() == len.shape()))
      throw invalid_argument(fmt::format("pos and len should have the same shape, got: {} vs. {}",
                                         pos.shape().str(), len.shape().str()));
    const Broadcast way(in.shape(), pos.shape());
    Tensor& out = c.output(0, way.shape());
    const auto at = int_values(pos), size = int_values(len);
    const int64_t inner = way.inner();
    way.for_rows(0, way.rows(), [&](const auto& offsets, int64_t row) {
      for (int64_t k = 0; k < inner; ++k) {
        const auto p = static_cast<size_t>(offsets[1] + k * way.inner_stride(1));
        const std::string& s = in.data<std::string>()[offsets[0] + k * way.inner_stride(0)];
        out.data<std::string>()[row * inner + k] = part(s, at[p], size[p], row * inner + k);
      }
    });
  }
  std::string part(const std::string& s, int64_t pos, int64_t len, int64_t index) const {
    size_t begin = 0, end = 0;
    const bool found = in_bytes ? part_in_bytes(s, pos, len, begin, end)
                                : part_in_characters(s, pos, len, begin, end);
    if (!found)
      throw invalid_argument(
          in_bytes ? fmt::format("pos {} out of range for string b'{}' at index {}", pos, s, index)
                   : fmt::format("pos {} out of range for string at index {}", pos, index));
    return s.substr(begin, end - begin);
  }
};
Prepared make_substr(const KernelInit& i) {
  return prepared(Substr{i.attr<std::string>("unit") == "BYTE"});
}

}  // namespace

std::vector<KernelRow> string_kernels() {
  return {text_row("StringStrip", stateless<strip>), text_row("StringLength", make_length),
          text_row("StringLower", make_case<Lower>), text_row("StringUpper", make_case<Upper>),
          text_row("Substr", make_substr)};
}

}  // namespace emplace::cpu
