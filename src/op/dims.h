#pragma once
#include <cstdint>

namespace emplace {

// Arithmetic of dimensions: of what is unknown nothing is known, and what fits no int64 is refused.
int64_t add_dims(int64_t a, int64_t b);
int64_t multiply_dims(int64_t a, int64_t b);

}  // namespace emplace
