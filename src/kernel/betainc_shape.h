#pragma once
#include <fmt/format.h>

#include "emplace/error.h"
#include "emplace/shape.h"

namespace emplace {

// What Betainc gives: each operand is a scalar or of the shape of the others. Throws InvalidArgument.
inline Shape betainc_shape(const Shape& a, const Shape& b, const Shape& x) {
  const auto agree = [](const char* names, const Shape& s, const Shape& t) {
    if (s.rank() > 0 && t.rank() > 0 && !(s == t))
      throw invalid_argument(fmt::format("Shapes of {} are inconsistent: {} vs. {}", names,
                                         s.str(), t.str()));
  };
  agree("a and b", a, b), agree("a and x", a, x), agree("b and x", b, x);
  return a.rank() > 0 ? a : b.rank() > 0 ? b : x;
}

}  // namespace emplace
