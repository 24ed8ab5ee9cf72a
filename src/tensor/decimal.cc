#include "tensor/decimal.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

namespace emplace {
namespace {

// Reads "-12.3e-04" and its like.
Decimal read_decimal(std::string_view text) {
  Decimal d;
  d.negative = text.starts_with('-');
  const size_t e = std::min(text.find('e'), text.size());
  const std::string_view mantissa = text.substr(d.negative, e - d.negative);
  d.point = static_cast<int>(std::min(mantissa.find('.'), mantissa.size()));
  std::copy_if(mantissa.begin(), mantissa.end(), std::back_inserter(d.digits),
               [](char c) { return c != '.'; });
  const size_t zeros = std::min(d.digits.find_first_not_of('0'), d.digits.size());
  d.digits.erase(0, zeros);
  d.point -= static_cast<int>(zeros);
  d.digits.erase(d.digits.find_last_not_of('0') + 1);
  if (e == text.size()) return d;
  const size_t sign = text[e + 1] == '+';  // from_chars takes none
  int exponent = 0;
  std::from_chars(text.data() + e + 1 + sign, text.data() + text.size(), exponent);
  d.point += exponent;
  return d;
}

// Room for the longest double: 309 digits before the point.
using Text = std::array<char, 400>;

template <class... How>
std::string_view write(Text& text, How... how) {
  return {text.data(), std::to_chars(text.data(), text.data() + text.size(), how...).ptr};
}

bool reads_as(std::string_view text, Half v) {
  double d = 0;
  std::from_chars(text.data(), text.data() + text.size(), d);
  return Half(static_cast<float>(d)).bits == v.bits;
}

// One more in the last of the digits after the point of "1.23e+04".
std::string_view next_up(Text& text, std::string_view s, int digits) {
  const Decimal d = read_decimal(s);
  double v = 0;
  std::from_chars(s.data(), s.data() + s.size(), v);
  const double step = std::pow(10.0, d.exponent() - digits);
  return write(text, v + std::copysign(step, v), std::chars_format::scientific, digits);
}

}  // namespace

std::string Decimal::integer_part() const {
  if (point <= 0 || digits.empty()) return "0";
  std::string s = digits.substr(0, static_cast<size_t>(point));
  s.resize(static_cast<size_t>(point), '0');
  return s;
}

std::string Decimal::fraction_part() const {
  if (digits.empty() || point >= static_cast<int>(digits.size())) return "";
  if (point < 0) return std::string(static_cast<size_t>(-point), '0') + digits;
  return digits.substr(static_cast<size_t>(point));
}

Decimal shortest_decimal(double v) {
  Text text;
  return read_decimal(write(text, v, std::chars_format::scientific));
}

Decimal shortest_decimal(float v) {
  Text text;
  return read_decimal(write(text, v, std::chars_format::scientific));
}

// A power of two has more room above than below: where the nearest decimal is taken by the
// neighbour below, the next one up may still do.
Decimal shortest_decimal(Half v) {
  const double exact = static_cast<float>(v);
  Text text, other;
  for (int digits = 0; digits < 4; ++digits) {
    const std::string_view nearest = write(text, exact, std::chars_format::scientific, digits);
    if (reads_as(nearest, v)) return read_decimal(nearest);
    const std::string_view next = next_up(other, nearest, digits);
    if (reads_as(next, v)) return read_decimal(next);
  }
  return scientific_decimal(exact, 4);
}

Decimal fixed_decimal(double v, int digits) {
  Text text;
  return read_decimal(write(text, v, std::chars_format::fixed, digits));
}

Decimal scientific_decimal(double v, int digits) {
  Text text;
  return read_decimal(write(text, v, std::chars_format::scientific, digits));
}

}  // namespace emplace
