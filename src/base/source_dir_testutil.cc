#include "base/source_dir_testutil.h"

#include <cstdlib>

namespace emplace {

// The only source that knows the path: another checkout compiles just this one anew.
std::string source_dir() {
  const char* here = std::getenv("EMPLACE_SOURCE");
  return here ? here : EMPLACE_SOURCE_DIR;
}

}  // namespace emplace
