#include "tensor/float_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "tensor/decimal.h"

namespace emplace {
namespace {

double wide(Half v) { return static_cast<float>(v); }
double wide(double v) { return v; }

// What NumPy's rules say of each width. Comparisons and quotients are taken in the array's own
// type, so a half overflows to infinity.
template <class T>
struct Rules {
  static constexpr double kArrayExponentFrom = 1e8, kScalarExponentFrom = 1e16;
  static double rounded(double v) { return v; }
};
template <>
struct Rules<float> {
  static constexpr double kArrayExponentFrom = 1e6, kScalarExponentFrom = 1e6;
  static double rounded(double v) { return static_cast<float>(v); }
};
template <>
struct Rules<Half> {
  static constexpr double kArrayExponentFrom = 1e3, kScalarExponentFrom = 1e3;
  static double rounded(double v) { return wide(Half(static_cast<float>(v))); }
};

// The shortest decimal where it is short enough; else the number itself rounded, not its shortest
// decimal: that would round twice.
template <class T>
Decimal fixed(T v, int precision) {
  const Decimal d = shortest_decimal(v);
  const int digits = static_cast<int>(d.digits.size()) - d.point;
  return digits <= precision ? d : fixed_decimal(wide(v), precision);
}

template <class T>
Decimal scientific(T v, int precision) {
  const Decimal d = shortest_decimal(v);
  const int digits = static_cast<int>(d.digits.size()) - 1;
  return digits <= precision ? d : scientific_decimal(wide(v), precision);
}

std::string exponent_text(const Decimal& d, int width) {
  const int e = d.exponent();
  return fmt::format("e{}{:0{}d}", e < 0 ? '-' : '+', std::abs(e), width);
}

std::string first_digit(const Decimal& d) { return d.digits.empty() ? "0" : d.digits.substr(0, 1); }

std::string other_digits(const Decimal& d) { return d.digits.empty() ? "" : d.digits.substr(1); }

std::string sign_text(bool negative, FloatFormat::Sign sign) {
  if (negative) return "-";
  return sign == FloatFormat::Sign::kAlways ? "+" : "";
}

int length(const std::string& s) { return static_cast<int>(s.size()); }

}  // namespace

template <class T>
FloatFormat::FloatFormat(std::span<const T> values, Sign sign) : sign_(sign) {
  std::vector<T> finite;
  bool negative_infinity = false;
  for (const T v : values) {
    if (std::isfinite(wide(v))) finite.push_back(v);
    negative_infinity = negative_infinity || (std::isinf(wide(v)) && wide(v) < 0);
  }
  choose_exponent<T>(finite);
  measure<T>(finite);
  if (finite.size() == values.size()) return;
  const int room = pad_right_ + 1;
  const int infinity = 3 + (negative_infinity || sign == Sign::kAlways);
  pad_left_ = std::max({pad_left_, 3 - room, infinity - room});
}

template <class T>
void FloatFormat::choose_exponent(std::span<const T> finite) {
  double largest = 0, smallest = INFINITY;
  for (const T v : finite) {
    const double a = std::abs(wide(v));
    if (a == 0) continue;
    largest = std::max(largest, a);
    smallest = std::min(smallest, a);
  }
  if (largest == 0) return;
  using R = Rules<T>;
  exponent_ = largest >= R::kArrayExponentFrom || smallest < R::rounded(0.0001) ||
              R::rounded(largest / smallest) > 1000;
}

template <class T>
void FloatFormat::measure(std::span<const T> finite) {
  int fraction = 0;
  for (const T v : finite) {
    const Decimal d = exponent_ ? scientific(v, precision_) : fixed(v, precision_);
    const int integer = exponent_ ? 1 : length(d.integer_part());
    pad_left_ = std::max(pad_left_, integer + length(sign_text(d.negative, sign_)));
    fraction = std::max(fraction, length(exponent_ ? other_digits(d) : d.fraction_part()));
    if (exponent_) exponent_digits_ = std::max(exponent_digits_, length(exponent_text(d, 2)) - 2);
  }
  pad_right_ = fraction;
  if (exponent_) {
    precision_ = fraction;
    pad_right_ += exponent_digits_ + 2;
  }
}

std::string FloatFormat::non_finite(double v) const {
  const std::string text =
      std::isnan(v) ? sign_text(false, sign_) + "nan" : sign_text(v < 0, sign_) + "inf";
  return fmt::format("{:>{}}", text, pad_left_ + pad_right_ + 1);
}

template <class T>
std::string FloatFormat::operator()(T v) const {
  if (!std::isfinite(wide(v))) return non_finite(wide(v));
  if (!exponent_) {
    const Decimal d = fixed(v, precision_);
    return fmt::format("{:>{}}.{:<{}}", sign_text(d.negative, sign_) + d.integer_part(), pad_left_,
                       d.fraction_part(), pad_right_);
  }
  // Short of the common width NumPy goes on with the number's own digits, not with zeros.
  Decimal d = scientific(v, precision_);
  if (length(d.digits) - 1 < precision_) d = scientific_decimal(wide(v), precision_);
  return fmt::format("{:>{}}.{:0<{}}{}", sign_text(d.negative, sign_) + first_digit(d), pad_left_,
                     other_digits(d), precision_, exponent_text(d, exponent_digits_));
}

template <class T>
std::string scalar_text(T v, bool point_zero) {
  const double w = wide(v), a = std::abs(w);
  if (std::isnan(w)) return "nan";
  if (std::isinf(w)) return w < 0 ? "-inf" : "inf";
  const Decimal d = shortest_decimal(v);
  const bool plain = a == 0 || (a >= 1e-4 && a < Rules<T>::kScalarExponentFrom);
  const std::string fraction = plain ? d.fraction_part() : other_digits(d);
  std::string s = d.negative ? "-" : "";
  s += plain ? d.integer_part() : first_digit(d);
  if (!fraction.empty()) return s + "." + fraction + (plain ? "" : exponent_text(d, 2));
  if (plain) return s + (point_zero ? ".0" : "");
  return s + exponent_text(d, 2);
}

template FloatFormat::FloatFormat(std::span<const double>, Sign);
template FloatFormat::FloatFormat(std::span<const float>, Sign);
template FloatFormat::FloatFormat(std::span<const Half>, Sign);
template std::string FloatFormat::operator()(double) const;
template std::string FloatFormat::operator()(float) const;
template std::string FloatFormat::operator()(Half) const;
template std::string scalar_text(double, bool);
template std::string scalar_text(float, bool);
template std::string scalar_text(Half, bool);

}  // namespace emplace
