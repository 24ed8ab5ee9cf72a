#pragma once
#include <string_view>

namespace emplace {

// Throws Unimplemented, in TensorFlow's words, for an op that graphs of such a version may no
// longer have: only graphs of older producers do.
void check_not_removed(std::string_view op, int producer);

}  // namespace emplace
