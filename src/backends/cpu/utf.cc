#include "backends/cpu/utf.h"

#include <algorithm>

#include "emplace/error.h"

namespace emplace::cpu {
namespace {

using Bytes = std::basic_string_view<unsigned char>;

struct Lead {
  int more = -1;                 // bytes to follow; negative: begins nothing
  unsigned low = 0x80, high = 0xbf;  // what the second byte may be
};

Lead utf8_lead(unsigned b) {
  if (b < 0x80) return {0};
  if (b >= 0xc2 && b <= 0xdf) return {1};
  if (b == 0xe0) return {2, 0xa0, 0xbf};
  if (b == 0xed) return {2, 0x80, 0x9f};  // no surrogates
  if (b >= 0xe1 && b <= 0xef) return {2};
  if (b == 0xf0) return {3, 0x90, 0xbf};
  if (b >= 0xf1 && b <= 0xf3) return {3};
  if (b == 0xf4) return {3, 0x80, 0x8f};
  return {};
}

// Reads one character at `at` and moves behind it.
int32_t next_utf8(Bytes s, size_t& at) {
  const unsigned first = s[at++];
  const Lead lead = utf8_lead(first);
  if (lead.more < 0) return -1;
  if (lead.more == 0) return static_cast<int32_t>(first);
  uint32_t value = first & (0x3fu >> lead.more);
  for (int i = 0; i < lead.more; ++i, ++at) {
    const unsigned low = i == 0 ? lead.low : 0x80, high = i == 0 ? lead.high : 0xbf;
    if (at >= s.size() || s[at] < low || s[at] > high) return -1;
    value = value << 6 | (s[at] & 0x3fu);
  }
  return static_cast<int32_t>(value);
}

int32_t next_utf16(Bytes s, size_t& at) {
  auto unit = [&](size_t i) { return static_cast<uint32_t>(s[i]) << 8 | s[i + 1]; };
  if (at + 2 > s.size()) return at = s.size(), -1;
  const uint32_t a = unit(at);
  at += 2;
  if (a < 0xd800 || a > 0xdfff) return static_cast<int32_t>(a);
  if (a > 0xdbff || at + 2 > s.size()) return -1;
  const uint32_t b = unit(at);
  if (b < 0xdc00 || b > 0xdfff) return -1;
  at += 2;
  return static_cast<int32_t>(0x10000 + ((a - 0xd800) << 10) + (b - 0xdc00));
}

int32_t next_utf32(Bytes s, size_t& at) {
  if (at + 4 > s.size()) return at = s.size(), -1;
  uint32_t value = 0;
  for (int i = 0; i < 4; ++i) value = value << 8 | s[at++];
  return is_code_point(value) ? static_cast<int32_t>(value) : -1;
}

int32_t next_code_point(Bytes s, size_t& at, Encoding encoding) {
  switch (encoding) {
    case Encoding::kUtf8: return next_utf8(s, at);
    case Encoding::kUtf16Be: return next_utf16(s, at);
    case Encoding::kUtf32Be: return next_utf32(s, at);
    case Encoding::kLatin1: return s[at++];
    case Encoding::kAscii: break;
  }
  const unsigned char c = s[at++];
  return c < 0x80 ? c : -1;
}

void append_units(std::string& text, uint32_t value, int bytes) {
  for (int i = bytes - 1; i >= 0; --i) text += static_cast<char>(value >> (8 * i) & 0xff);
}

void append_utf8(std::string& text, uint32_t v) {
  if (v < 0x80) return text.push_back(static_cast<char>(v));
  const int more = v < 0x800 ? 1 : v < 0x10000 ? 2 : 3;
  constexpr uint32_t kLead[] = {0xc0, 0xe0, 0xf0};
  text += static_cast<char>(kLead[more - 1] | v >> (6 * more));
  for (int i = more - 1; i >= 0; --i) text += static_cast<char>(0x80 | (v >> (6 * i) & 0x3f));
}

}  // namespace

Encoding encoding_named(std::string_view name) {
  std::string lower;
  for (unsigned char c : name)
    if (c != '-' && c != '_' && c != ' ') lower += static_cast<char>('A' <= c && c <= 'Z' ? c + ('a' - 'A') : c);  // whatever the locale
  if (lower == "utf8") return Encoding::kUtf8;
  if (lower == "utf16be" || lower == "utf16") return Encoding::kUtf16Be;
  if (lower == "utf32be" || lower == "utf32") return Encoding::kUtf32Be;
  if (lower == "latin1" || lower == "iso88591") return Encoding::kLatin1;
  if (lower == "usascii" || lower == "ascii") return Encoding::kAscii;
  throw invalid_argument("Could not create converter for input encoding: " + std::string(name));
}

std::vector<CodePoint> decode(std::string_view text, Encoding encoding) {
  const Bytes s(reinterpret_cast<const unsigned char*>(text.data()), text.size());
  std::vector<CodePoint> points;
  for (size_t at = 0; at < s.size();) {
    CodePoint p;
    p.begin = static_cast<int64_t>(at);
    p.value = next_code_point(s, at, encoding);
    points.push_back(p);
  }
  return points;
}

bool is_code_point(int64_t value) {
  return value >= 0 && value <= 0x10ffff && (value < 0xd800 || value > 0xdfff);
}

void append(std::string& text, int32_t code_point, Encoding encoding) {
  auto v = static_cast<uint32_t>(code_point);
  switch (encoding) {
    case Encoding::kUtf8: return append_utf8(text, v);
    case Encoding::kUtf32Be: return append_units(text, v, 4);
    case Encoding::kUtf16Be:
      if (v < 0x10000) return append_units(text, v, 2);
      v -= 0x10000;
      append_units(text, 0xd800 + (v >> 10), 2);
      return append_units(text, 0xdc00 + (v & 0x3ff), 2);
    case Encoding::kLatin1:
    case Encoding::kAscii: break;
  }
  text += static_cast<char>(v);
}

}  // namespace emplace::cpu
