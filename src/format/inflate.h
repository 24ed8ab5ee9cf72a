#pragma once
#include <string>
#include <string_view>

namespace emplace {

// What a compressed file holds. `type`: "" (as it is), "ZLIB" or "GZIP"; InvalidArgument for another,
// DataLoss for bytes that are none, Unimplemented where the library is missing.
std::string unpack(std::string_view packed, std::string_view type);

}  // namespace emplace
