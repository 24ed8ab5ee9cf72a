// Functions given by integrals: Dawson's, the exponential integral, Fresnel's, the dilogarithm.
// Sums are of positive terms as far as they reach, so that no digits are lost.
#include <cmath>
#include <complex>
#include <numbers>

#include "backends/cpu/analysis_kernels.h"
#include "backends/cpu/elementwise.h"

namespace emplace::cpu {
namespace {

constexpr double kTiny = 1e-17;

// exp(-x^2) times the integral of exp(t^2) from 0 to x.
double dawson(double x) {
  const double square = x * x;
  if (std::abs(x) > 7) {
    double term = 1 / (2 * x), sum = term;
    for (int k = 1; k < 25 && std::abs(term) > kTiny * std::abs(sum); ++k)
      sum += term *= (2 * k - 1) / (2 * square);
    return sum;
  }
  double term = x, sum = x;
  for (int k = 1; k < 400 && std::abs(term) > kTiny * std::abs(sum); ++k) {
    term *= square / k;
    sum += term / (2 * k + 1);
  }
  return std::exp(-square) * sum;
}

double exponential_integral(double x) {
  if (std::isnan(x) || x < 0) return std::numeric_limits<double>::quiet_NaN();
  if (x == 0) return -std::numeric_limits<double>::infinity();
  if (std::isinf(x)) return x;
  if (x > 40) {
    double term = 1, sum = 1;
    for (int k = 1; k < 40 && term > kTiny * sum; ++k) sum += term *= k / x;
    return std::exp(x) / x * sum;
  }
  double term = 1, sum = 0;
  for (int k = 1; k < 400; ++k) {
    term *= x / k;
    sum += term / k;
    if (term < kTiny * sum) break;
  }
  return std::numbers::egamma + std::log(x) + sum;
}

// Cosine integral in the real part, sine integral in the imaginary one; x >= 0.
std::complex<double> fresnel(double x) {
  const double angle = std::numbers::pi * x * x / 2;
  if (std::isinf(angle)) return {0.5, 0.5};
  if (x < 1.5) {  // the integral of exp(i pi t^2 / 2), term by term
    std::complex<double> power = x, sum = x;
    for (int k = 1; k < 100 && std::abs(power) > kTiny * std::abs(sum); ++k) {
      power *= std::complex<double>(0, angle / k);
      sum += power / (2.0 * k + 1);
    }
    return sum;
  }
  std::complex<double> b(1, -2 * angle), c = 1e300, d = 1.0 / b, h = d;
  for (int k = 1; k < 400; ++k) {
    const double a = -(2.0 * k - 1) * (2.0 * k);
    b += 4;
    d = 1.0 / (a * d + b);
    c = b + a / c;
    const std::complex<double> factor = c * d;
    h *= factor;
    if (std::abs(factor - 1.0) < 1e-16) break;
  }
  h *= std::complex<double>(x, -x);
  return std::complex<double>(0.5, 0.5) * (1.0 - std::polar(1.0, angle) * h);
}

double spence(double x) {
  constexpr double kSixth = std::numbers::pi * std::numbers::pi / 6;
  if (std::isnan(x) || x < 0) return std::numeric_limits<double>::quiet_NaN();
  if (x == 0) return kSixth;
  if (std::isinf(x)) return -x;
  if (x > 1.5) {
    const double l = std::log(x);
    return -spence(1 / x) - 0.5 * l * l;
  }
  if (x < 0.5) return kSixth - std::log(x) * std::log1p(-x) - spence(1 - x);
  double power = 1, sum = 0;
  for (int k = 1; k < 100; ++k) {
    power *= 1 - x;
    sum += power / (static_cast<double>(k) * k);
  }
  return sum;
}

// clang-format off
struct Dawsn { template <class T> T operator()(T x) const { return static_cast<T>(dawson(x)); } };
struct Expint { template <class T> T operator()(T x) const { return static_cast<T>(exponential_integral(x)); } };
struct FresnelCos { template <class T> T operator()(T x) const { return static_cast<T>(std::copysign(fresnel(std::abs(x)).real(), x)); } };
struct FresnelSin { template <class T> T operator()(T x) const { return static_cast<T>(std::copysign(fresnel(std::abs(x)).imag(), x)); } };
struct Spence { template <class T> T operator()(T x) const { return static_cast<T>(spence(x)); } };
// clang-format on

}  // namespace

std::vector<KernelRow> integral_kernels() {
  return {unary<Dawsn, Floats, SameType, kDear>("Dawsn"),
          unary<Expint, Floats, SameType, kDear>("Expint"),
          unary<FresnelCos, Floats, SameType, kDear>("FresnelCos"),
          unary<FresnelSin, Floats, SameType, kDear>("FresnelSin"),
          unary<Spence, Floats, SameType, kDear>("Spence")};
}

}  // namespace emplace::cpu
