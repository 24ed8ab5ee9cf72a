#include "base/parse_limits.h"

#include <fmt/format.h>

#include <charconv>
#include <cstdlib>
#include <cstring>

#include "base/file.h"
#include "base/file_reader.h"

namespace emplace {
namespace {

// `otherwise` where the variable is no such number.
int64_t number_in(const char* variable, int64_t most, int64_t otherwise) {
  const char* text = std::getenv(variable);
  if (!text) return otherwise;
  int64_t number = 0;
  const char* end = text + std::strlen(text);
  const auto read = std::from_chars(text, end, number);
  return read.ec == std::errc() && read.ptr == end && number > 0 && number <= most ? number
                                                                                  : otherwise;
}

}  // namespace

ParseLimits parse_limits() {
  static const ParseLimits limits = [] {
    const ParseLimits usual;
    const int64_t mb = number_in("EMPLACE_PARSE_MB", INT64_MAX >> 20, 0);
    return ParseLimits{mb > 0 ? static_cast<size_t>(mb) << 20 : usual.bytes,
                       static_cast<int>(number_in("EMPLACE_PARSE_DEPTH", 10'000, usual.depth))};
  }();
  return limits;
}

void check_parse_size(uint64_t bytes, std::string_view what) {
  const size_t most = parse_limits().bytes;
  if (bytes <= most) return;
  throw invalid_argument(fmt::format("{}: {} bytes are more than the {} that may be parsed "
                                     "(EMPLACE_PARSE_MB)",
                                     what, bytes, most));
}

std::string read_to_parse(const std::string& path) {
  check_parse_size(FileReader(path).size(), path);
  return read_file(path, parse_limits().bytes);
}

}  // namespace emplace
