// Functions of statistics and of physics. Computed in double whatever the tensors hold: a card has units
// for it, and no rounding is left to see in the narrower ones.
#define TINY 1e-17
#define PI 3.14159265358979323846

// A number and its derivative by one variable.
struct Dual { double v, d; };
DEV Dual operator+(Dual a, Dual b) { return {a.v + b.v, a.d + b.d}; }
DEV Dual operator*(Dual a, Dual b) { return {a.v * b.v, a.d * b.v + a.v * b.d}; }
DEV Dual operator/(Dual a, Dual b) { return {a.v / b.v, (a.d - a.v / b.v * b.d) / b.v}; }

DEV double not_a_number() { return (double)NOT_A_NUMBER; }
DEV double psi(double x) {
  if (x <= 0 && x == floor(x)) return not_a_number();
  double shift = 0;
  if (x < 0) { shift = -PI / tan(PI * x); x = 1 - x; }
  while (x < 10) { shift -= 1 / x; x += 1; }
  const double r = 1 / (x * x);
  return shift + log(x) - 0.5 / x -
         r * (1.0 / 12 - r * (1.0 / 120 - r * (1.0 / 252 - r * (1.0 / 240 - r * (1.0 / 132 - r * (691.0 / 32760))))));
}

// ---- The incomplete gamma function: x^a e^-x / Gamma(a) times a series, or times a fraction.
DEV bool by_fraction(double a, double x) { return x > 1 && x > a; }
// 1 + x/(a+1) + x^2/((a+1)(a+2)) + …, and its derivative by a.
DEV Dual gamma_series(double a, double x) {
  Dual term = {1, 0}, sum = {1, 0};
  for (int k = 1; k < 5000; ++k) {
    term = term * (Dual{x, 0} / Dual{a + k, 1});
    sum = sum + term;
    if (fabs(term.v) < TINY * fabs(sum.v) && fabs(term.d) <= TINY * fabs(sum.d)) break;
  }
  return sum;
}
DEV Dual gamma_fraction(double a, double x) {
  Dual b = {x + 1 - a, -1}, c = {1e300, 0}, d = Dual{1, 0} / b, h = d;
  for (int k = 1; k < 5000; ++k) {
    const Dual n = {-k * (k - a), (double)k};
    b = b + Dual{2, 0};
    d = Dual{1, 0} / (n * d + b);
    c = b + n / c;
    const Dual factor = d * c;
    h = h * factor;
    if (fabs(factor.v - 1) < 1e-16 && fabs(factor.d) < 1e-16) break;
  }
  return h;
}
DEV double gamma_front(double a, double x) { return exp(a * log(x) - x - lgamma(a)); }
DEV double lower_gamma(double a, double x) {
  if (x == 0) return 0;
  if (!(x > 0) || !(a > 0)) return not_a_number();
  if (isinf(a)) return isinf(x) ? not_a_number() : 0;
  if (isinf(x)) return 1;
  return by_fraction(a, x) ? 1 - gamma_front(a, x) * gamma_fraction(a, x).v : gamma_front(a, x) * gamma_series(a, x).v / a;
}
struct Igamma { DEV double f(double a, double x) { return lower_gamma(a, x); } };
struct Igammac {
  DEV double f(double a, double x) {
    if (!(x >= 0) || !(a > 0)) return not_a_number();
    if (x == 0) return 1;
    if (isinf(a)) return isinf(x) ? not_a_number() : 1;
    if (isinf(x)) return 0;
    return by_fraction(a, x) ? gamma_front(a, x) * gamma_fraction(a, x).v : 1 - gamma_front(a, x) * gamma_series(a, x).v / a;
  }
};
// The derivative by a over x^a e^-x / Gamma(a).
DEV double gamma_slope(double a, double x) {
  if (by_fraction(a, x)) {
    const Dual h = gamma_fraction(a, x);
    return -(h.v * (log(x) - psi(a)) + h.d);
  }
  const Dual s = gamma_series(a, x);
  return (s.v * (log(x) - psi(a + 1)) + s.d) / a;
}
struct IgammaGradA {
  DEV double f(double a, double x) {
    if (x == 0) return 0;
    return x > 0 && a > 0 ? gamma_front(a, x) * gamma_slope(a, x) : not_a_number();
  }
};
struct RandomGammaGrad {
  DEV double f(double a, double x) {
    if (x == 0) return 0;
    return x > 0 && a > 0 ? -x * gamma_slope(a, x) : not_a_number();
  }
};

// ---- The incomplete beta function.
DEV double beta_fraction(double a, double b, double x) {
  double c = 1, d = 1 - (a + b) * x / (a + 1);
  d = 1 / (fabs(d) < 1e-300 ? 1e-300 : d);
  double h = d;
  for (int k = 1; k < 5000; ++k) {
    for (int half = 0; half < 2; ++half) {
      const double n = half ? -(a + k) * (a + b + k) * x / ((a + 2 * k) * (a + 2 * k + 1))
                            : k * (b - k) * x / ((a + 2 * k - 1) * (a + 2 * k));
      d = 1 + n * d;
      d = 1 / (fabs(d) < 1e-300 ? 1e-300 : d);
      c = 1 + n / c;
      if (fabs(c) < 1e-300) c = 1e-300;
      h *= d * c;
    }
    if (fabs(d * c - 1) < 1e-16) break;
  }
  return h;
}
DEV double lower_beta(double a, double b, double x) {
  if (!(a > 0) || !(b > 0) || !(x >= 0) || x > 1) return not_a_number();
  if (x == 0 || x == 1) return x;
  const double front = exp(lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * log1p(-x));
  return x < (a + 1) / (a + b + 2) ? front * beta_fraction(a, b, x) / a : 1 - front * beta_fraction(b, a, 1 - x) / b;
}

// ---- Hurwitz's zeta function by Euler and Maclaurin: (2k)! over the Bernoulli numbers.
DEV double hurwitz(double x, double q) {
  const double ratio[12] = {12.0, -720.0, 30240.0, -1209600.0, 47900160.0, -1.8924375803183791606e9, 7.47242496e10,
                            -2.950130727918164224e12, 1.1646782814350067249e14, -4.5979787224074726105e15,
                            1.8152105401943546773e17, -7.1661652561756670113e18};
  if (x == 1) return (double)INF;
  if (!(x > 1) || isnan(q)) return not_a_number();
  if (q <= 0) {
    if (q == floor(q)) return x == floor(x) && fmod(x, 2.0) == 0 ? (double)INF : not_a_number();
    if (x != floor(x)) return not_a_number();
  }
  double sum = pow(q, -x), a = q, b = 0;
  for (int k = 0; k < 9 || a <= 9; ++k) {
    a += 1;
    sum += b = pow(a, -x);
    if (fabs(b / sum) < 1e-17) return sum;
  }
  const double w = a;
  sum += b * w / (x - 1) - 0.5 * b;
  double rise = 1;
  for (int k = 0; k < 12; ++k) {
    rise *= x + 2 * k;
    b /= w;
    const double t = rise * b / ratio[k];
    sum += t;
    if (fabs(t / sum) < 1e-17) break;
    rise *= x + 2 * k + 1;
    b /= w;
  }
  return sum;
}
struct Zeta { DEV double f(double x, double q) { return hurwitz(x, q); } };
struct Polygamma {
  DEV double f(double n, double x) {
    if (n != floor(n) || n < 0) return not_a_number();
    if (n == 0) return psi(x);
    return (fmod(n, 2.0) == 0 ? -1 : 1) * exp(lgamma(n + 1)) * hurwitz(n + 1, x);
  }
};

// ---- Bessel functions. N: the order. Those that grow or fall are kept without that factor.
template <int N> DEV double bessel_i_scaled(double x) {
  const double a = fabs(x);
  double sum;
  if (a < 25) {
    const double square = a * a / 4;
    double term = N ? a / 2 : 1;
    sum = term;
    for (int k = 1; k < 200 && term > TINY * sum; ++k) sum += term *= square / ((double)k * (k + N));
    sum *= exp(-a);
  } else {
    double term = 1;
    sum = 1;
    for (int k = 1; k < 30; ++k) sum += term *= -(4.0 * N * N - (2.0 * k - 1) * (2.0 * k - 1)) / (8.0 * k * a);
    sum /= sqrt(2 * PI * a);
  }
  return N && x < 0 ? -sum : sum;
}
// The integral of exp(-x (cosh t - 1)) cosh(N t) over t > 0: steps of a quarter give every digit.
template <int N> DEV double bessel_k_scaled(double x) {
  if (x == 0) return (double)INF;
  if (!(x > 0)) return not_a_number();
  double sum = 0.5;
  for (int k = 1; k < 4000; ++k) {
    const double t = 0.125 * k, half = sinh(t / 2), term = exp(-2 * x * half * half + (N ? log(cosh(t)) : 0));
    sum += term;
    if (term < TINY * sum) break;
  }
  return 0.125 * sum;
}
struct BesselI0e { DEV double f(double x) { return bessel_i_scaled<0>(x); } };
struct BesselI1e { DEV double f(double x) { return bessel_i_scaled<1>(x); } };
struct BesselI0 { DEV double f(double x) { return bessel_i_scaled<0>(x) * exp(fabs(x)); } };
struct BesselI1 { DEV double f(double x) { return bessel_i_scaled<1>(x) * exp(fabs(x)); } };
struct BesselK0e { DEV double f(double x) { return bessel_k_scaled<0>(x); } };
struct BesselK1e { DEV double f(double x) { return bessel_k_scaled<1>(x); } };
struct BesselK0 { DEV double f(double x) { return bessel_k_scaled<0>(x) * exp(-x); } };
struct BesselK1 { DEV double f(double x) { return bessel_k_scaled<1>(x) * exp(-x); } };
struct BesselJ0 { DEV double f(double x) { return j0(x); } };
struct BesselJ1 { DEV double f(double x) { return j1(x); } };
struct BesselY0 { DEV double f(double x) { return y0(x); } };
struct BesselY1 { DEV double f(double x) { return y1(x); } };

// ---- Given by integrals.
struct Dawsn {
  DEV double f(double x) {
    const double square = x * x;
    if (fabs(x) > 7) {
      double term = 1 / (2 * x), sum = term;
      for (int k = 1; k < 25 && fabs(term) > TINY * fabs(sum); ++k) sum += term *= (2 * k - 1) / (2 * square);
      return sum;
    }
    double term = x, sum = x;
    for (int k = 1; k < 400 && fabs(term) > TINY * fabs(sum); ++k) {
      term *= square / k;
      sum += term / (2 * k + 1);
    }
    return exp(-square) * sum;
  }
};
struct Expint {
  DEV double f(double x) {
    if (isnan(x) || x < 0) return not_a_number();
    if (x == 0) return -(double)INF;
    if (isinf(x)) return x;
    double term = 1, sum = 1;
    if (x > 40) {
      for (int k = 1; k < 40 && term > TINY * sum; ++k) sum += term *= k / x;
      return exp(x) / x * sum;
    }
    sum = 0;
    for (int k = 1; k < 400; ++k) {
      term *= x / k;
      sum += term / k;
      if (term < TINY * sum) break;
    }
    return 0.57721566490153286061 + log(x) + sum;
  }
};
DEV double size_of(c128 x) { return hypot(x.re, x.im); }
// The cosine integral in the real part, the sine integral in the other; x >= 0.
DEV c128 fresnel(double x) {
  const double angle = PI * x * x / 2;
  if (isinf(angle)) return {0.5, 0.5};
  if (x < 1.5) {
    c128 power = {x, 0}, sum = power;
    for (int k = 1; k < 100 && size_of(power) > TINY * size_of(sum); ++k) {
      power = power * c128{0, angle / k};
      sum = sum + power * c128{1 / (2.0 * k + 1), 0};
    }
    return sum;
  }
  const c128 one = {1, 0};
  c128 b = {1, -2 * angle}, c = {1e300, 0}, d = one / b, h = d;
  for (int k = 1; k < 400; ++k) {
    const c128 a = {-(2.0 * k - 1) * (2.0 * k), 0};
    b = b + c128{4, 0};
    d = one / (a * d + b);
    c = k == 1 ? b : b + a / c;
    const c128 factor = c * d;
    h = h * factor;
    if (size_of(factor - one) < 1e-16) break;
  }
  h = h * c128{x, -x};
  return c128{0.5, 0.5} * (one - c128{cos(angle), sin(angle)} * h);
}
struct FresnelCos { DEV double f(double x) { return isnan(x) ? x : copysign(fresnel(fabs(x)).re, x); } };
struct FresnelSin { DEV double f(double x) { return isnan(x) ? x : copysign(fresnel(fabs(x)).im, x); } };
DEV double dilogarithm_near_one(double x) {
  double power = 1, sum = 0;
  for (int k = 1; k < 100; ++k) sum += (power *= 1 - x) / ((double)k * k);
  return sum;
}
DEV double dilogarithm_to_one_and_a_half(double x) {
  return x < 0.5 ? PI * PI / 6 - log(x) * log1p(-x) - dilogarithm_near_one(1 - x) : dilogarithm_near_one(x);
}
struct Spence {
  DEV double f(double x) {
    if (isnan(x) || x < 0) return not_a_number();
    if (x == 0) return PI * PI / 6;
    if (isinf(x)) return -x;
    if (x <= 1.5) return dilogarithm_to_one_and_a_half(x);
    const double l = log(x);
    return -dilogarithm_to_one_and_a_half(1 / x) - 0.5 * l * l;
  }
};

// ---- Loops.
template <class F, class T> __global__ void special_of_one(T* out, const T* x, i64 n) {
  for (i64 i = thread_id(); i < n; i += num_threads()) out[i] = Store<T>::from(F::f((double)load(x[i])));
}
template <class F, class T> __global__ void special_of_two(T* out, const T* a, const T* b, i64 n, const Strides s) {
  for (i64 i = thread_id(); i < n; i += num_threads()) {
    i64 at[2];
    offsets<2>(s, i, at);
    out[i] = Store<T>::from(F::f((double)load(a[at[0]]), (double)load(b[at[1]])));
  }
}
template <class T> __global__ void betainc(T* out, const T* a, const T* b, const T* x, i64 n, const Strides s) {
  for (i64 i = thread_id(); i < n; i += num_threads()) {
    i64 at[3];
    offsets<3>(s, i, at);
    out[i] = Store<T>::from(lower_beta((double)load(a[at[0]]), (double)load(b[at[1]]), (double)load(x[at[2]])));
  }
}
