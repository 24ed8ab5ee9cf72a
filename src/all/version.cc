#include <emplace/export.h>

namespace emplace {

const char* version() { return EMPLACE_VERSION; }

}  // namespace emplace
