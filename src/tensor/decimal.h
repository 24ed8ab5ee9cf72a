#pragma once
#include <string>

#include "emplace/dtype.h"

namespace emplace {

// A finite number in decimal: 0.d1d2d3… × 10^point. Digits neither begin nor end with 0; zero has
// none. Nothing here looks at the locale.
struct Decimal {
  bool negative = false;
  std::string digits;
  int point = 0;

  std::string integer_part() const;   // "0" when there is none
  std::string fraction_part() const;  // "" when there is none
  int exponent() const { return digits.empty() ? 0 : point - 1; }
};

// The fewest digits that tell the number from its neighbours of the same width.
Decimal shortest_decimal(double v);
Decimal shortest_decimal(float v);
Decimal shortest_decimal(Half v);

// The number itself, rounded to so many digits after the point, in 12.3 or in 1.23e+01.
Decimal fixed_decimal(double v, int digits);
Decimal scientific_decimal(double v, int digits);

}  // namespace emplace
