#pragma once
#include <string>
#include <string_view>

namespace emplace {

// `text` as a JSON string, quotes included.
std::string json_text(std::string_view text);

}  // namespace emplace
