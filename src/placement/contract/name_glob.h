#pragma once
#include <string_view>

namespace emplace::placement {

// Whether a scoped name matches: `*` is anything but '/', `?` one character but '/', `**` anything,
// and a leading `**/` also nothing: "**/weights" is every node of that name at any depth.
bool name_matches(std::string_view pattern, std::string_view name);

}  // namespace emplace::placement
