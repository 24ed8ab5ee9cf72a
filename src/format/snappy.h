#pragma once
#include <string>
#include <string_view>

namespace emplace {

// What Snappy packed. Throws DataLoss naming `name`.
std::string unpack_snappy(std::string_view packed, const std::string& name);

}  // namespace emplace
