// Random numbers of further distributions, made from the same draws as TensorFlow's.
#include <cmath>

#include <fmt/format.h>

#include "backends/cpu/draws.h"
#include "backends/cpu/loops.h"
#include "backends/cpu/more_kernels.h"
#include "backends/cpu/move.h"
#include "backends/cpu/random.h"
#include "backends/cpu/rows.h"
#include "backends/cpu/simd_math.h"
#include "base/stop_scope.h"

namespace emplace::cpu {
namespace {

// Marsaglia and Tsang: a transformed normal number, kept or drawn again.
double gamma(double alpha, Draws& draws) {
  if (alpha == 1) return -std::log1p(-draws.uniform());
  const bool small = alpha < 1;
  const double d = alpha + (small ? 2.0 / 3 : -1.0 / 3), c = 1.0 / 3 / std::sqrt(d);
  for (;;) {
    const double x = draws.normal();
    double v = 1 + c * x;
    if (v <= 0) continue;
    v = v * v * v;
    const double u = draws.uniform();
    if (u < 1 - 0.0331 * (x * x) * (x * x) ||
        std::log(u) < 0.5 * x * x + d * (1 - v + std::log(v)))
      return small ? d * v * std::pow(draws.uniform(), 1 / alpha) : d * v;
  }
}

// Knuth: as many uniform numbers as their product takes to fall below exp(-rate).
double small_poisson(double rate, Draws& draws) {
  const double limit = std::exp(-rate);
  double product = 1;
  for (double x = 0;; x += 1)
    if ((product *= draws.uniform()) <= limit) return x;
}

// Hörmann: transformed rejection. What no number up to `most` fits is `most`.
double large_poisson(double rate, double most, Draws& draws) {
  const double b = 0.931 + 2.53 * std::sqrt(rate), a = -0.059 + 0.02483 * b;
  const double inverse_alpha = 1.1239 + 1.1328 / (b - 3.4);
  int sign;  // lgamma's own is shared by all threads
  for (int attempts = 0; attempts < 10000; ++attempts) {
    const double u = draws.uniform() - 0.5, v = draws.uniform(), us = 0.5 - std::abs(u);
    const double k = std::floor((2 * a / us + b) * u + rate + 0.43);
    if (k > most) continue;
    if (us >= 0.07 && v <= 0.9277 - 3.6224 / (b - 2)) return k;
    if (k < 0 || (us < 0.013 && v > us)) continue;
    const double s = std::log(v * inverse_alpha / (a / (us * us) + b));
    if (s <= -rate + k * std::log(rate) - lgamma_r(k + 1, &sign)) return k;
  }
  return most;
}

double poisson(double rate, double most, Draws& draws) {
  if (std::isnan(rate)) return rate;
  if (rate < 10) return small_poisson(rate, draws);
  return std::isinf(rate) ? rate : large_poisson(rate, most, draws);
}

// out[sample, parameter] for every parameter; each number has draws of its own in reserve.
template <class T, class P, class F>
void fill(KernelContext& c, const Philox& gen, const Tensor& parameters, Tensor& out, F&& draw) {
  const int64_t n = out.num_elements(), count = parameters.num_elements();
  if (n == 0) return;
  const int64_t samples = n / count;
  c.parallel_for(n, 100, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const int64_t k = i / samples;
      Draws draws(gen.skipped(kPhiloxReservedPerOutput * static_cast<uint64_t>(i)));
      const auto parameter = static_cast<double>(static_cast<Compute<P>>(parameters.data<P>()[k]));
      out.data<T>()[i % samples * count + k] = draw(parameter, draws);
    }
  });
}

template <class T>
double largest() {
  if constexpr (std::is_same_v<T, Half>) return 65504;
  else return static_cast<double>(std::numeric_limits<T>::max());
}

struct Gamma {
  static void run(KernelContext& c, const Philox& gen, const Tensor& alpha, Tensor& out) {
    visit_dtype(out.dtype(), Types<float, double, Half>{}, [&](auto tag) {
      using T = typename decltype(tag)::type;
      fill<T, T>(c, gen, alpha, out, [](double a, Draws& d) { return rounded<T>(gamma(a, d)); });
    });
  }
};
struct Poisson {
  using List = Types<float, double, Half, int32_t, int64_t>;
  static void run(KernelContext& c, const Philox& gen, const Tensor& rate, Tensor& out) {
    visit_dtype(rate.dtype(), List{}, [&](auto from) {
      using R = typename decltype(from)::type;
      visit_dtype(out.dtype(), List{}, [&](auto tag) {
        using T = typename decltype(tag)::type;
        fill<T, R>(c, gen, rate, out, [](double r, Draws& d) {
          return rounded<T>(poisson(r, largest<T>(), d));
        });
      });
    });
  }
};

// ---- With a stream: the output's shape is the given one, then the parameters'.

template <class What>
struct Stateful {
  std::shared_ptr<RandomStream> stream;
  void operator()(KernelContext& c) const {
    if (c.input(0).rank() != 1)
      throw invalid_argument("shape must be a vector of {int32,int64}, got shape: " +
                             c.input(0).shape().str());
    Shape shape = shape_from(c.input(0));
    for (int64_t d : c.input(1).shape()) shape.push_back(d);
    checked_elements(shape.dims());
    Tensor& out = c.output(0, shape);
    const auto n = static_cast<uint64_t>(out.num_elements());
    What::run(c, stream->reserve(n * kPhiloxReservedPerOutput), c.input(1), out);
  }
};
template <class What>
Prepared make_stateful(const KernelInit& init) {
  return prepared(Stateful<What>{random_stream_of(init)});
}

// ---- By seeds: the given shape ends with the parameters'.

template <class What>
void seeded_fill(KernelContext& c, const Philox& gen, const Tensor& parameters) {
  const Shape shape = shape_from(c.input(0)), &end = parameters.shape();
  check_ends_with(shape, end);
  What::run(c, gen, parameters, c.output(0, shape));
}
template <class What>
void stateless_v1(KernelContext& c) {
  seeded_fill<What>(c, philox_from_seed(c.input(1)), c.input(2));
}
void stateless_gamma_v3(KernelContext& c) {
  seeded_fill<Gamma>(c, philox_from_key(c, 1), c.input(4));
}

// ---- Classes by their unnormalized logarithms of probability.

template <class T>
std::vector<double> sums_of_weights(const T* logits, int64_t classes) {
  double most = std::numeric_limits<double>::lowest();
  auto logit = [&](int64_t i) { return static_cast<double>(static_cast<Compute<T>>(logits[i])); };
  for (int64_t i = 0; i < classes; ++i)
    if (std::isfinite(logit(i))) most = std::max(most, logit(i));
  // What is not finite weighs nothing.
  std::vector<double> sums(static_cast<size_t>(classes));
  for (int64_t i = 0; i < classes; ++i) {
    const double v = logit(i);
    sums[static_cast<size_t>(i)] = std::isfinite(v) ? v - most : -std::numeric_limits<double>::infinity();
  }
  static const UnaryLoop exponentials = simd_loop(Fn::kExp, DType::kDouble);
  if (exponentials) exponentials(sums.data(), sums.data(), classes);
  else for (double& v : sums) v = std::exp(v);
  double total = 0;
  for (double& v : sums) v = total += v;
  return sums;
}

int64_t checked_samples(KernelContext& c) {
  const Tensor &logits = c.input(0), &count = c.input(1);
  if (logits.rank() != 2)
    throw invalid_argument("logits should be a matrix, got shape " + logits.shape().str());
  if (count.rank() != 0)
    throw invalid_argument("num_samples should be a scalar, got shape " + count.shape().str());
  const int64_t samples = int_scalar(count, "num_samples");
  if (samples < 0)
    throw invalid_argument(fmt::format("num_samples should be non-negative, got {}", samples));
  if (logits.dim(1) <= 0)
    throw invalid_argument(
        fmt::format("num_classes should be positive, got {}", logits.dim(1)));
  return samples;
}

void draw_classes(KernelContext& c, const Philox& gen, Tensor& out) {
  const Tensor& logits = c.input(0);
  const int64_t rows = out.dim(0), samples = out.dim(1), classes = logits.dim(1);
  std::vector<double> draws(static_cast<size_t>(rows * samples));
  philox_uniform<double>(gen, std::span(draws));
  visit_dtype(logits.dtype(), Reals{}, [&](auto tag) {
    using T = typename decltype(tag)::type;
    for (const int64_t r : paced(rows)) {
      const auto sums = sums_of_weights(logits.data<T>() + r * classes, classes);
      for (const int64_t k : paced(samples)) {
        const double wanted = draws[static_cast<size_t>(r * samples + k)] * sums.back();
        const auto at = std::upper_bound(sums.begin(), sums.end(), wanted) - sums.begin();
        put_int(out, r * samples + k, at);
      }
    }
  });
}

struct Multinomial {
  std::shared_ptr<RandomStream> stream;
  void operator()(KernelContext& c) const {
    const int64_t samples = checked_samples(c), rows = c.input(0).dim(0);
    Tensor& out = c.output(0, Shape{rows, samples});
    const auto reserved = static_cast<uint64_t>(rows * ((samples + 3) / 4 * 4) * 2);
    draw_classes(c, stream->reserve(reserved * kPhiloxReservedPerOutput), out);
  }
};
Prepared make_multinomial(const KernelInit& init) {
  return prepared(Multinomial{random_stream_of(init)});
}
void stateless_multinomial(KernelContext& c) {
  const int64_t samples = checked_samples(c);
  Tensor& out = c.output(0, Shape{c.input(0).dim(0), samples});
  draw_classes(c, philox_from_seed(c.input(2)), out);
}

}  // namespace

std::vector<KernelRow> distribution_kernels() {
  const auto floats = Types<float, double, Half>::dtypes(), numbers = Poisson::List::dtypes();
  return {row("RandomGamma", "T", floats, make_stateful<Gamma>),
          row("StatelessRandomGammaV2", "dtype", floats, stateless<stateless_v1<Gamma>>),
          row("StatelessRandomGammaV3", "dtype", floats, stateless<stateless_gamma_v3>),
          row("RandomPoisson", "dtype", floats, make_stateful<Poisson>),
          row("RandomPoissonV2", "dtype", numbers, make_stateful<Poisson>),
          row("StatelessRandomPoisson", "dtype", numbers, stateless<stateless_v1<Poisson>>),
          row("Multinomial", "T", Reals::dtypes(), make_multinomial),
          row("StatelessMultinomial", "T", Reals::dtypes(), stateless<stateless_multinomial>)};
}

}  // namespace emplace::cpu
