#include "tensor/float_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

namespace emplace {
namespace {

double wide(Half v) { return static_cast<float>(v); }
double wide(double v) { return v; }

// Reads "-d.ddde±xx".
Decimal from_scientific(std::string_view text) {
  Decimal d;
  d.negative = text.front() == '-';
  const size_t e = text.find('e');
  for (const char c : text.substr(0, e))
    if (c >= '0' && c <= '9') d.digits += c;
  while (!d.digits.empty() && d.digits.back() == '0') d.digits.pop_back();
  d.point = d.digits.empty() ? 1 : std::atoi(text.data() + e + 1) + 1;
  return d;
}

template <class T>
Decimal by_to_chars(T v) {
  char buffer[64];
  const auto end =
      std::to_chars(buffer, buffer + sizeof buffer - 1, v, std::chars_format::scientific);
  *end.ptr = 0;
  return from_scientific({buffer, end.ptr});
}

Decimal scientific_rounded(double v, int digits_after_point) {
  char buffer[64];
  const int n = std::snprintf(buffer, sizeof buffer, "%.*e", digits_after_point, v);
  return from_scientific({buffer, static_cast<size_t>(n)});
}

int digits_after_point(const Decimal& d) {
  return std::max(0, static_cast<int>(d.digits.size()) - d.point);
}

// Rounds the number itself, not its shortest decimal: that would round twice.
template <class T>
Decimal fixed_decimal(T v, int precision) {
  Decimal d = shortest_decimal(v);
  if (digits_after_point(d) <= precision) return d;
  char buffer[400];  // the longest double has 309 digits before the point
  std::snprintf(buffer, sizeof buffer, "%.*f", precision, wide(v));
  d.digits.clear();
  d.point = 0;
  bool fraction = false;
  for (const char c : std::string_view(buffer)) {
    fraction = fraction || c == '.';
    if (c < '0' || c > '9' || (!fraction && d.digits.empty() && c == '0')) continue;
    d.digits += c;
    if (!fraction) ++d.point;
  }
  const size_t zeros = std::min(d.digits.find_first_not_of('0'), d.digits.size());
  d.digits.erase(0, zeros);
  d.point -= static_cast<int>(zeros);
  while (!d.digits.empty() && d.digits.back() == '0') d.digits.pop_back();
  return d;
}

template <class T>
Decimal scientific_decimal(T v, int precision) {
  const Decimal d = shortest_decimal(v);
  if (static_cast<int>(d.digits.size()) - 1 <= precision) return d;
  return scientific_rounded(wide(v), precision);
}

std::string integer_part(const Decimal& d) {
  if (d.point <= 0 || d.digits.empty()) return "0";
  std::string s = d.digits.substr(0, static_cast<size_t>(d.point));
  s.resize(static_cast<size_t>(d.point), '0');
  return s;
}

std::string fraction_part(const Decimal& d) {
  if (d.point < 0 && !d.digits.empty())
    return std::string(static_cast<size_t>(-d.point), '0') + d.digits;
  return static_cast<size_t>(d.point) < d.digits.size()
             ? d.digits.substr(static_cast<size_t>(d.point))
             : "";
}

std::string exponent_text(const Decimal& d, int width) {
  const int e = d.digits.empty() ? 0 : d.point - 1;
  return fmt::format("e{}{:0{}d}", e < 0 ? '-' : '+', std::abs(e), width);
}

int exponent_width(const Decimal& d) { return static_cast<int>(exponent_text(d, 2).size()) - 2; }

std::string sign_text(bool negative, FloatFormat::Sign sign) {
  if (negative) return "-";
  return sign == FloatFormat::Sign::kAlways ? "+" : "";
}

std::string padded_left(std::string s, int width) {
  if (static_cast<int>(s.size()) < width) s.insert(0, static_cast<size_t>(width) - s.size(), ' ');
  return s;
}

std::string padded_right(std::string s, int width, char with) {
  if (static_cast<int>(s.size()) < width) s.resize(static_cast<size_t>(width), with);
  return s;
}

// NumPy compares and divides in the array's own type, so half overflows to infinity.
template <class T>
double rounded_to(double v) {
  return static_cast<double>(static_cast<float>(T(static_cast<float>(v))));
}
template <>
double rounded_to<double>(double v) {
  return v;
}

template <class T>
constexpr double kExponentFrom = 1e8;  // 10^min(8, decimal precision of T)
template <>
constexpr double kExponentFrom<float> = 1e6;
template <>
constexpr double kExponentFrom<Half> = 1e3;

template <class T>
constexpr double kScalarExponentFrom = 1e16;
template <>
constexpr double kScalarExponentFrom<float> = 1e6;
template <>
constexpr double kScalarExponentFrom<Half> = 1e3;

bool reads_as(const std::string& text, Half v) {
  return Half(static_cast<float>(std::strtod(text.c_str(), nullptr))).bits == v.bits;
}

}  // namespace

Decimal shortest_decimal(double v) { return by_to_chars(v); }
Decimal shortest_decimal(float v) { return by_to_chars(v); }

// A power of two has more room above than below: where the nearest decimal is taken by the
// neighbour below, the next one up may still do.
Decimal shortest_decimal(Half v) {
  const double exact = wide(v);
  for (int digits = 0; digits < 4; ++digits) {
    const std::string nearest = fmt::format("{:.{}e}", exact, digits);
    if (reads_as(nearest, v)) return from_scientific(nearest);
    const double step = std::strtod(("1" + nearest.substr(nearest.find('e'))).c_str(), nullptr) *
                        std::pow(10.0, -digits);
    const double up = std::strtod(nearest.c_str(), nullptr) + std::copysign(step, exact);
    const std::string next = fmt::format("{:.{}e}", up, digits);
    if (reads_as(next, v)) return from_scientific(next);
  }
  return scientific_rounded(exact, 4);
}

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
  exponent_ = largest >= kExponentFrom<T> || smallest < rounded_to<T>(0.0001) ||
              rounded_to<T>(largest / smallest) > 1000;
}

template <class T>
void FloatFormat::measure(std::span<const T> finite) {
  int fraction = 0;
  for (const T v : finite) {
    const Decimal d = exponent_ ? scientific_decimal(v, precision_) : fixed_decimal(v, precision_);
    const bool sign = !sign_text(d.negative, sign_).empty();
    const size_t integer = exponent_ ? 1 : integer_part(d).size();
    pad_left_ = std::max(pad_left_, static_cast<int>(integer) + sign);
    fraction = std::max(fraction, exponent_ ? static_cast<int>(d.digits.size()) - 1
                                            : static_cast<int>(fraction_part(d).size()));
    if (exponent_) exponent_digits_ = std::max(exponent_digits_, exponent_width(d));
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
  return padded_left(text, pad_left_ + pad_right_ + 1);
}

template <class T>
std::string FloatFormat::operator()(T v) const {
  if (!std::isfinite(wide(v))) return non_finite(wide(v));
  if (!exponent_) {
    const Decimal d = fixed_decimal(v, precision_);
    const std::string left = sign_text(d.negative, sign_) + integer_part(d);
    return padded_left(left, pad_left_) + "." + padded_right(fraction_part(d), pad_right_, ' ');
  }
  // Short of the common width NumPy goes on with the number's own digits, not with zeros.
  Decimal d = scientific_decimal(v, precision_);
  if (static_cast<int>(d.digits.size()) - 1 < precision_ && !d.digits.empty())
    d = scientific_rounded(wide(v), precision_);
  const std::string first = d.digits.empty() ? "0" : d.digits.substr(0, 1);
  const std::string rest = d.digits.size() > 1 ? d.digits.substr(1) : "";
  return padded_left(sign_text(d.negative, sign_) + first, pad_left_) + "." +
         padded_right(rest, precision_, '0') + exponent_text(d, exponent_digits_);
}

template <class T>
std::string scalar_text(T v, bool point_zero) {
  const double w = wide(v);
  if (std::isnan(w)) return "nan";
  if (std::isinf(w)) return w < 0 ? "-inf" : "inf";
  const Decimal d = shortest_decimal(v);
  const double a = std::abs(w);
  const std::string sign = d.negative ? "-" : "";
  if (a == 0 || (a >= 1e-4 && a < kScalarExponentFrom<T>)) {
    const std::string fraction = fraction_part(d);
    if (fraction.empty()) return sign + integer_part(d) + (point_zero ? ".0" : "");
    return sign + integer_part(d) + "." + fraction;
  }
  const std::string rest = d.digits.size() > 1 ? "." + d.digits.substr(1) : "";
  return sign + d.digits.substr(0, 1) + rest + exponent_text(d, 2);
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
