#include "tensor/text.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <limits>

namespace emplace {
namespace {

template <class T>
std::string shortest(T v, int long_digits) {
  if (std::isnan(v)) return std::signbit(v) ? "-nan" : "nan";
  const std::string brief = fmt::format("{:.{}g}", v, std::numeric_limits<T>::digits10);
  T back = 0;
  std::from_chars(brief.data(), brief.data() + brief.size(), back);
  return back == v ? brief : fmt::format("{:.{}g}", v, long_digits);
}

}  // namespace

std::string number_text(float v) { return shortest(v, 9); }
std::string number_text(double v) { return shortest(v, 17); }

std::string c_escaped(std::string_view s) {
  std::string out;
  for (const char c : s) {
    switch (c) {
      case '\n': out += "\\n"; break;
      case '\r': out += "\\r"; break;
      case '\t': out += "\\t"; break;
      case '"':
      case '\'':
      case '\\':
        out += '\\';
        out += c;
        break;
      default:
        if (c >= 0x20 && c < 0x7f) {
          out += c;
        } else {
          out += fmt::format("\\{:03o}", static_cast<unsigned char>(c));
        }
    }
  }
  return out;
}

std::string python_bytes(std::string_view s) {
  const bool single = s.find('\'') == s.npos || s.find('"') != s.npos;
  const char quote = single ? '\'' : '"';
  std::string out = std::string("b") + quote;
  for (const char c : s) {
    if (c == quote || c == '\\') {
      out += '\\';
      out += c;
    } else if (c == '\t' || c == '\n' || c == '\r') {
      out += c == '\t' ? "\\t" : c == '\n' ? "\\n" : "\\r";
    } else if (c >= 0x20 && c < 0x7f) {
      out += c;
    } else {
      out += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
    }
  }
  return out + quote;
}

}  // namespace emplace
