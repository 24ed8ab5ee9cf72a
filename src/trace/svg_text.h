#pragma once
#include <string>
#include <string_view>

namespace emplace {

// Text as it stands in SVG and HTML.
inline std::string svg_text(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '<') out += "&lt;";
    else if (c == '>') out += "&gt;";
    else if (c == '&') out += "&amp;";
    else if (c == '"') out += "&quot;";
    else if (static_cast<unsigned char>(c) >= 0x20 || c == '\n') out += c;
  }
  return out;
}

}  // namespace emplace
