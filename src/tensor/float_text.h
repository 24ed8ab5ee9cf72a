#pragma once
#include <span>
#include <string>

#include "emplace/dtype.h"

namespace emplace {

// Writes the numbers of one array in a common width, as NumPy does: aligned at the point, all
// with exponents when the magnitudes are far apart, at most 8 digits after the point.
// T is double, float or Half.
class FloatFormat {
 public:
  enum class Sign { kMinusOnly, kAlways };

  // Looks at all the numbers that will be shown.
  template <class T>
  FloatFormat(std::span<const T> values, Sign sign);

  template <class T>
  std::string operator()(T v) const;

 private:
  template <class T>
  void choose_exponent(std::span<const T> finite);
  template <class T>
  void measure(std::span<const T> finite);
  std::string non_finite(double v) const;

  Sign sign_;
  bool exponent_ = false;
  int precision_ = 8;
  int pad_left_ = 0, pad_right_ = 0;
  int exponent_digits_ = 2;
};

// One number on its own, as NumPy's scalars print: "3.0", "1e-05"; `point_zero` false leaves
// out ".0", as within complex numbers.
template <class T>
std::string scalar_text(T v, bool point_zero = true);

}  // namespace emplace
