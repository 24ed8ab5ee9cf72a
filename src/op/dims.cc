#include "op/dims.h"

#include <fmt/format.h>

#include "emplace/error.h"
#include "emplace/shape.h"

namespace emplace {

int64_t add_dims(int64_t a, int64_t b) {
  if (a < 0 || b < 0) return Shape::kUnknown;
  int64_t sum = 0;
  if (__builtin_add_overflow(a, b, &sum))
    throw invalid_argument(fmt::format("Dimension size overflow from adding {} and {}", a, b));
  return sum;
}

int64_t multiply_dims(int64_t a, int64_t b) {
  if (a < 0 || b < 0) return Shape::kUnknown;
  int64_t product = 0;
  if (__builtin_mul_overflow(a, b, &product))
    throw invalid_argument(
        fmt::format("Negative dimension size caused by overflow when multiplying {} and {}", a, b));
  return product;
}

}  // namespace emplace
