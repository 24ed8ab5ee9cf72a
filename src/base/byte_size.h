#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace emplace {

// "64MiB", "1.5 GB", "512M", "4096": bytes; one letter counts in powers of 1024. Nothing when
// malformed, negative or beyond 63 bits.
std::optional<int64_t> parse_byte_size(std::string_view text);

// "4.0 MiB".
std::string byte_size_text(double bytes);

}  // namespace emplace
