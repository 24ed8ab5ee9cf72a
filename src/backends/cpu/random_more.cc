// Binomial numbers, from the same draws as TensorFlow's, and places in a random order.
#include <cmath>
#include <optional>

#include <fmt/format.h>

#include "backends/cpu/broadcast.h"
#include "backends/cpu/draws.h"
#include "backends/cpu/more_kernels.h"
#include "backends/cpu/move.h"

namespace emplace::cpu {
namespace {

// ---- How many of `count` tries succeed.

// How far one gets with waiting times, each geometrically distributed.
double few_successes(double count, double p, Draws& draws) {
  double waited = 0;
  for (double n = 0;; n += 1)
    if ((waited += std::ceil(std::log(draws.uniform()) / std::log1p(-p))) > count) return n;
}

// What Stirling's formula lacks for k!.
double beyond_stirling(double k) {
  static constexpr double kFirst[] = {
      0.0810614667953272,  0.0413406959554092,  0.0276779256849983, 0.02079067210376509,
      0.0166446911898211,  0.0138761288230707,  0.0118967099458917, 0.0104112652619720,
      0.00925546218271273, 0.00833056343336287};
  if (k <= 9) return kFirst[static_cast<size_t>(k)];
  const double square = (k + 1) * (k + 1);
  return (1.0 / 12 - (1.0 / 360 - 1.0 / 1260 / square) / square) / (k + 1);
}

// Hörmann: transformed rejection.
double many_successes(double count, double p, Draws& draws) {
  const double deviation = std::sqrt(count * p * (1 - p));
  const double b = 1.15 + 2.53 * deviation, a = -0.0873 + 0.0248 * b + 0.01 * p;
  const double middle = count * p + 0.5, ratio = p / (1 - p);
  const double alpha = (2.83 + 5.1 / b) * deviation, mode = std::floor((count + 1) * p);
  for (;;) {
    const double u = draws.uniform() - 0.5, v = draws.uniform(), us = 0.5 - std::abs(u);
    const double k = std::floor((2 * a / us + b) * u + middle);
    if (us >= 0.07 && v <= 0.92 - 4.2 / b) return k;
    if (k < 0 || k > count) continue;
    const double limit = (mode + 0.5) * std::log((mode + 1) / (ratio * (count - mode + 1))) +
                         (count + 1) * std::log((count - mode + 1) / (count - k + 1)) +
                         (k + 0.5) * std::log(ratio * (count - k + 1) / (k + 1)) +
                         beyond_stirling(mode) + beyond_stirling(count - mode) -
                         beyond_stirling(k) - beyond_stirling(count - k);
    if (std::log(v * alpha / (a / (us * us) + b)) <= limit) return k;
  }
}

// Blocks that each number has in reserve: few successes need few.
constexpr uint64_t kReservedForFew = 42;

// The number at place `at` of those that `gen` gives.
template <class T>
double successes(T count, T p, const Philox& gen, int64_t at) {
  using C = Compute<T>;
  const auto n = static_cast<double>(static_cast<C>(count));
  const C chance = static_cast<C>(p);
  if (n <= 0 || chance <= C(0)) return 0;
  if (chance >= C(1)) return n;
  if (std::isnan(chance) || !std::isfinite(n)) return std::numeric_limits<double>::quiet_NaN();
  const bool rare = chance <= C(0.5);
  const T q = rare ? p : T(C(1) - chance);  // the product is rounded as T is
  const bool many = static_cast<C>(T(static_cast<C>(count) * static_cast<C>(q))) >= C(10);
  const auto exact = static_cast<double>(static_cast<C>(q));
  const uint64_t reserved = many ? kPhiloxReservedPerOutput : kReservedForFew;
  Draws draws(gen.skipped(reserved * static_cast<uint64_t>(at)));
  const double k = many ? many_successes(n, exact, draws) : few_successes(n, exact, draws);
  return rare ? k : n - k;
}

// Counts and chances from input `first` on; the given shape ends with what they broadcast to.
template <class F>
void binomial(KernelContext& c, const Tensor& given, int first, F&& generator) {
  const Tensor &counts = c.input(first), &chances = c.input(first + 1);
  if (given.rank() != 1)
    throw invalid_argument("Input shape should be a vector, got shape: " + given.shape().str());
  const Shape shape = shape_from(given);
  std::optional<Broadcast> spread;
  try {
    spread.emplace(counts.shape(), chances.shape());
  } catch (const Error&) {
    throw invalid_argument(
        fmt::format("counts and probs must have compatible batch dimensions: {} vs. {}",
                    counts.shape().str(), chances.shape().str()));
  }
  const Shape& end = spread->shape();
  check_ends_with(shape, end);
  Tensor& out = c.output(0, shape);
  const int64_t n = out.num_elements(), batches = checked_elements(end.dims());
  if (n == 0) return;
  const int64_t samples = n / batches;
  const Philox gen = generator(batches, samples);
  std::vector<std::array<int64_t, 2>> from;
  spread->for_rows(0, spread->rows(), [&](const auto& at, int64_t) {
    for (int64_t i = 0; i < spread->inner(); ++i)
      from.push_back({at[0] + i * spread->inner_stride(0), at[1] + i * spread->inner_stride(1)});
  });
  visit_dtype(counts.dtype(), Types<float, double, Half>{}, [&](auto given_tag) {
    using T = typename decltype(given_tag)::type;
    visit_dtype(out.dtype(), Types<float, double, Half, int32_t, int64_t>{}, [&](auto tag) {
      using R = typename decltype(tag)::type;
      c.parallel_for(n, 200, [&](int64_t begin, int64_t last) {
        for (int64_t i = begin; i < last; ++i) {
          const int64_t k = i / samples;
          const auto [a, b] = from[static_cast<size_t>(k)];
          out.data<R>()[i % samples * batches + k] =
              rounded<R>(successes<T>(counts.data<T>()[a], chances.data<T>()[b], gen, i));
        }
      });
    });
  });
}

void stateless_binomial(KernelContext& c) {
  const Philox gen = philox_from_seed(c.input(1));
  binomial(c, c.input(0), 2, [&](int64_t, int64_t) { return gen; });
}

void stateful_binomial(KernelContext& c) {
  const int64_t algorithm = int_scalar(c.input(1), "algorithm");
  binomial(c, c.input(2), 3, [&](int64_t batches, int64_t samples) {
    const auto blocks = static_cast<uint64_t>(batches * 2 * 100 * (samples + 3) / 4);
    return philox_from_variable(c, algorithm, blocks * kPhiloxReservedPerOutput);
  });
}

// ---- Places in a random order.

// A place among 0 … last in an order that the key decides: the block cipher Simon over as many
// bits as are needed, asked again for what lies beyond the last place.
class Places {
 public:
  Places(std::array<uint32_t, 3> key, uint64_t last, int64_t rounds) : last_(last) {
    const auto bits = static_cast<int>(std::ceil(std::log2(static_cast<double>(last))));
    width_ = std::max(bits + bits % 2, 16) / 2;
    mask_ = (uint64_t{1} << width_) - 1;
    for (const uint32_t k : key) keys_.push_back(k & mask_);
    uint64_t constants = 0x7369f885192c0ef5 & mask_;
    for (auto i = keys_.size(); i < static_cast<size_t>(rounds); ++i, constants >>= 1) {
      const uint64_t before = keys_[i - 1];
      keys_.push_back((0xfffffffc & mask_) ^ (constants & 1) ^ keys_[i - 3] ^
                      turned(before, width_ - 3) ^ turned(before, width_ - 4));
    }
  }

  uint64_t operator()(uint64_t place) const {
    if (last_ == 0) return 0;
    do place = encrypted(place);
    while (place > last_);
    return place;
  }

 private:
  uint64_t turned(uint64_t x, int by) const {
    return ((x << by) | (x >> (width_ - by))) & mask_;
  }
  uint64_t mixed(uint64_t x) const { return (turned(x, 1) & turned(x, 8 % width_)) ^ turned(x, 2); }
  uint64_t encrypted(uint64_t value) const {
    uint64_t left = (value >> width_) & mask_, right = value & mask_;
    for (size_t i = 0; i + 1 < keys_.size(); i += 2) {
      left ^= mixed(right) ^ keys_[i];
      right ^= mixed(left) ^ keys_[i + 1];
    }
    return left << width_ | right;
  }

  uint64_t last_, mask_ = 0;
  int width_ = 8;
  std::vector<uint64_t> keys_;
};

constexpr int64_t kMostRounds = 1024;

struct IndexShuffle {
  int64_t rounds;
  void operator()(KernelContext& c) const {
    const Tensor &index = c.input(0), &seed = c.input(1), &last = c.input(2);
    const int64_t n =
        std::max({index.num_elements(), last.num_elements(), seed.num_elements() / 3});
    const auto one_or_all = [&](const Tensor& t) {
      return t.rank() == 0 || (t.rank() == 1 && t.dim(0) == n);
    };
    if (!one_or_all(index)) throw invalid_argument("Index bust be a scalar or vector.");
    const bool one_seed = seed.rank() == 1 && seed.dim(0) == 3;
    if (!one_seed && !(seed.rank() == 2 && seed.dim(0) == n && seed.dim(1) == 3))
      throw invalid_argument(fmt::format(
          "Seed must be a vector of size [3] or a matrix of size [{}, 3] but got {}.", n,
          seed.shape().str()));
    if (!one_or_all(last))
      throw invalid_argument(
          "Maxval must be a scalar or a vector of the same size as index but got " +
          last.shape().str());
    const bool scalar = index.rank() == 0 && seed.rank() == 1 && last.rank() == 0;
    Tensor& out = c.output(0, scalar ? Shape{} : Shape{n});
    using Whole = Types<int32_t, uint32_t, int64_t, uint64_t>;
    visit_dtype(seed.dtype(), Whole{}, [&](auto seed_tag) {
      using S = typename decltype(seed_tag)::type;
      visit_dtype(out.dtype(), Whole{}, [&](auto tag) {
        using T = typename decltype(tag)::type;
        for (int64_t i = 0; i < n; ++i) {
          const T place = index.data<T>()[index.rank() ? i : 0];
          const T most = last.data<T>()[last.rank() ? i : 0];
          // From outside, the way back to the places there are may not exist.
          if (std::is_signed_v<T> && static_cast<int64_t>(place) < 0)
            throw invalid_argument(fmt::format("index must not be negative, got {}", place));
          if (place > most)
            throw invalid_argument(
                fmt::format("max_index must be >= index, but {} < {}", most, place));
          const S* key = seed.data<S>() + (one_seed ? 0 : 3 * i);
          const Places places({static_cast<uint32_t>(key[0]), static_cast<uint32_t>(key[1]),
                               static_cast<uint32_t>(key[2])},
                              static_cast<uint64_t>(most), rounds);
          out.data<T>()[i] = static_cast<T>(places(static_cast<uint64_t>(place)));
        }
      });
    });
  }
};
Prepared make_index_shuffle(const KernelInit& init) {
  const auto rounds = init.attr<int64_t>("rounds");
  if (rounds > kMostRounds)
    throw invalid_argument(fmt::format("rounds must be at most {}, got {}", kMostRounds, rounds));
  return prepared(IndexShuffle{rounds});
}

}  // namespace

std::vector<KernelRow> more_random_kernels() {
  const auto given = Types<float, double, Half>::dtypes();
  const auto made = Types<float, double, Half, int32_t, int64_t>::dtypes();
  const auto whole = Types<int32_t, uint32_t, int64_t, uint64_t>::dtypes();
  const auto row = [&](const char* op, KernelFactory make) -> KernelRow {
    return {op, "CPU", {{"T", given}, {"dtype", made}}, {}, make, {}, 0, ""};
  };
  return {row("StatelessRandomBinomial", stateless<stateless_binomial>),
          row("StatefulRandomBinomial", stateless<stateful_binomial>),
          {"RandomIndexShuffle", "CPU", {{"dtype", whole}}, {}, make_index_shuffle, {}, 0, ""}};
}

}  // namespace emplace::cpu
