#pragma once
#include <string>

namespace emplace {

// The checkout, where tests find their golden files; EMPLACE_SOURCE where they run elsewhere.
std::string source_dir();

}  // namespace emplace
