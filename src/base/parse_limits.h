#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace emplace {

// How large, and how deeply nested, what is parsed may be: graphs, models, tensors and other messages, arrays,
// checkpoints' indexes, records, pictures (decoded). Formats have limits of their own beside these. As
// EMPLACE_PARSE_MB and EMPLACE_PARSE_DEPTH say when it is first asked.
struct ParseLimits {
  size_t bytes = SIZE_MAX;
  int depth = 100;
};

ParseLimits parse_limits();

// Throws InvalidArgument, naming what it is.
void check_parse_size(uint64_t bytes, std::string_view what);

// A whole file, to be parsed; of one that is too large no more is read.
std::string read_to_parse(const std::string& path);

}  // namespace emplace
