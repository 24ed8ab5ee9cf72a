#pragma once
#include <string>

namespace emplace {

// Opens a shared object of this build that lies beside this library, or above it (a build tree has
// its Python part further down), or where the environment variable says. Null, with why, where it
// can't be opened.
void* open_beside(const std::string& name, const char* variable, std::string& problem);

}  // namespace emplace
