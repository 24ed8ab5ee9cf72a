#include "base/byte_size.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

namespace emplace {
namespace {

constexpr std::string_view kLetters = "KMGTP";

char upper(char c) { return c >= 'a' && c <= 'z' ? char(c - 'a' + 'A') : c; }

// What a unit multiplies by; 0 where there is no such unit.
double factor(std::string_view unit) {
  if (unit.empty() || unit == "B" || unit == "bytes") return 1;
  const size_t power = kLetters.find(upper(unit[0]));
  if (power == std::string_view::npos) return 0;
  const std::string_view rest = unit.substr(1);
  if (rest.empty() || rest == "iB") return std::pow(1024.0, double(power + 1));
  return rest == "B" ? std::pow(1000.0, double(power + 1)) : 0;
}

}  // namespace

std::optional<int64_t> parse_byte_size(std::string_view text) {
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  std::string_view unit = text.substr(size_t(end - text.data()));
  unit.remove_prefix(std::min(unit.find_first_not_of(' '), unit.size()));
  const double bytes = number * factor(unit);
  if (error != std::errc{} || factor(unit) == 0 || !(bytes >= 0) || bytes >= 0x1p63)
    return std::nullopt;
  return int64_t(std::llround(bytes));
}

std::string byte_size_text(double bytes) {
  const char* units[] = {"bytes", "KiB", "MiB", "GiB", "TiB", "PiB"};
  int unit = 0;
  while (bytes >= 1024 && unit < 5) bytes /= 1024, ++unit;
  return unit == 0 ? fmt::format("{:.0f} bytes", bytes) : fmt::format("{:.1f} {}", bytes, units[unit]);
}

}  // namespace emplace
