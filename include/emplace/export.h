#pragma once
// Everything else in the library is hidden, so that it can live beside other copies of what it uses.
#define EMPLACE_API __attribute__((visibility("default")))

namespace emplace {

// The version of the library that is linked, as "major.minor.patch".
EMPLACE_API const char* version();

}  // namespace emplace
