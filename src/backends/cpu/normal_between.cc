// Normal numbers between two bounds, from the same draws as TensorFlow's.
#include <array>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "backends/cpu/broadcast.h"
#include "backends/cpu/draws.h"
#include "backends/cpu/more_kernels.h"
#include "backends/cpu/move.h"
#include "base/stop_scope.h"

namespace emplace::cpu {
namespace {

constexpr int kMostTries = 1000;  // after so many in a row whatever comes is taken

// Four (doubles: two) numbers at a time.
template <class T>
class Blocks {
 public:
  static constexpr size_t kSize = static_cast<size_t>(kPhiloxGroup<T>);
  using Block = std::array<Compute<T>, kSize>;
  explicit Blocks(const Philox& gen) : gen_(gen) {}
  Block uniform() { return next(philox_uniform<T>); }
  Block normal() { return next(philox_normal<T>); }

 private:
  template <class F>
  Block next(F&& fill) {
    std::array<T, kSize> drawn;
    fill(gen_, std::span<T>(drawn));
    gen_.skip(1);
    Block out;
    for (size_t i = 0; i < kSize; ++i) out[i] = static_cast<Compute<T>>(drawn[i]);
    return out;
  }
  Philox gen_;
};

// One normal distribution and its bounds, turned so that the lower one is nearer to the mean.
template <class C>
struct Bounded {
  C mean, deviation, low, high;
  Bounded(C m, C d, C from, C to) : mean(m), deviation(d) {
    if (!(d > 0 && from < to && (std::isfinite(from) || std::isfinite(to))))
      throw invalid_argument("Invalid parameters");
    if ((std::isinf(from) && from < 0) || to < m) {
      std::swap(from, to);
      deviation = -d;
    }
    low = (from - mean) / deviation;
    high = (to - mean) / deviation;
  }
};

// Takes what is tried until there are enough.
template <class Put>
class Taker {
 public:
  Taker(int64_t wanted, Put put) : wanted_(wanted), put_(std::move(put)) {}
  bool done() const { return taken_ == wanted_; }
  template <class C>
  void offer(C value, bool good) {
    if (!good && ++tries_ < kMostTries) return;
    put_(taken_++, value);
    tries_ = 0;
  }

 private:
  const int64_t wanted_;
  Put put_;
  int64_t taken_ = 0;
  int tries_ = 0;
};

// Far from both bounds: normal numbers. Close together: uniform ones. Else: exponential ones.
template <class T, class Put>
void draw(Blocks<T>& blocks, const Bounded<Compute<T>>& b, int64_t wanted, Put put) {
  using C = Compute<T>;
  const C low = b.low, high = b.high, wide = C(1.3);
  Taker<Put> taker(wanted, std::move(put));
  const C root = std::sqrt(low * low + C(4)), span = high - low;
  const C cutoff = C(2) * std::exp(C(0.5) + (low * (low - root)) / C(4)) / (low + root);
  const auto value = [&](C z) { return z * b.deviation + b.mean; };
  if ((low < -wide && high >= 0) || (high > wide && low <= 0)) {
    while (!taker.done())
      for (const C z : blocks.normal()) {
        taker.offer(value(z), z >= low && z <= high);
        if (taker.done()) break;
      }
  } else if (span < cutoff) {
    const C most = low < 0 ? C(0) : low * low;
    while (!taker.done()) {
      const auto places = blocks.uniform(), chances = blocks.uniform();
      for (size_t i = 0; i < places.size() && !taker.done(); ++i) {
        const C z = places[i] * span + low;
        taker.offer(value(z), chances[i] <= std::exp((most - z * z) / C(2)));
      }
    }
  } else {
    const C alpha = (low + root) / C(2);
    while (!taker.done()) {
      const auto drawn = blocks.uniform();
      for (size_t i = 0; i + 1 < drawn.size() && !taker.done(); i += 2) {
        const C z = -std::log(drawn[i]) / alpha + low, x = low < alpha ? alpha - z : low - alpha;
        taker.offer(value(z), drawn[i + 1] <= std::exp(-x * x / C(2)) && z < high);
      }
    }
  }
}

// The four parameters begin at input `first`: mean, deviation, bounds; `place(k)` is where in each.
template <class T, class Place>
Bounded<Compute<T>> bounded(KernelContext& c, int first, Place&& place) {
  const auto of = [&](int k) {
    return static_cast<Compute<T>>(c.input(first + k).template data<T>()[place(k)]);
  };
  return {of(0), of(1), of(2), of(3)};
}

struct Stateful {
  std::shared_ptr<RandomStream> stream;
  void operator()(KernelContext& c) const {
    const Shape shape = shape_from(c.input(0));
    if (shape.rank() == 0) throw invalid_argument("Shape should not be scalar.");
    bool alike = true;
    for (int k = 1; k <= 4; ++k) {
      const Tensor& t = c.input(k);
      if (t.rank() > 1)
        throw invalid_argument(fmt::format("Parameters should be scalars or vectors, got shape: {}",
                                           t.shape().str()));
      if (t.num_elements() != 1 && t.num_elements() != shape[0])
        throw invalid_argument(fmt::format("Parameters should have length 1 or shape[0], got shape: {}",
                                           t.shape().str()));
      alike &= t.num_elements() == 1;
    }
    Tensor& out = c.output(0, shape);
    const int64_t n = out.num_elements();
    if (n == 0) return;
    constexpr int64_t kBatch = 100;  // where all are alike
    const int64_t samples = alike ? kBatch : n / shape[0];
    const int64_t batches = (n + samples - 1) / samples;
    const Philox gen =
        stream->reserve(static_cast<uint64_t>(batches * 2 * kMostTries * (samples + 3) / 4));
    visit_dtype(out.dtype(), Types<float, double, Half>{}, [&](auto tag) {
      using T = typename decltype(tag)::type;
      Blocks<T> blocks(gen);
      for (const int64_t b : paced(batches)) {
        T* at = out.data<T>() + b * samples;
        const auto place = [&](int k) { return c.input(1 + k).num_elements() == 1 ? 0 : b; };
        draw<T>(blocks, bounded<T>(c, 1, place), std::min(samples, n - b * samples),
                [at](int64_t i, auto v) { at[i] = static_cast<T>(v); });
      }
    });
  }
};
Prepared make_stateful(const KernelInit& init) { return prepared(Stateful{random_stream_of(init)}); }

void seeded(KernelContext& c) {
  const Shape shape = shape_from(c.input(0));
  const Philox gen = philox_from_seed(c.input(1));
  const std::array<const Shape*, 4> given = {&c.input(2).shape(), &c.input(3).shape(),
                                             &c.input(4).shape(), &c.input(5).shape()};
  const Broadcast spread(given);
  const Shape& end = spread.shape();
  check_ends_with(shape, end);
  Tensor& out = c.output(0, shape);
  const int64_t n = out.num_elements(), batches = checked_elements(end.dims());
  if (n == 0) return;
  visit_dtype(out.dtype(), Types<float, double, Half>{}, [&](auto tag) {
    using T = typename decltype(tag)::type;
    Blocks<T> blocks(gen);
    T* at = out.data<T>();
    spread.for_rows(0, spread.rows(), [&](const auto& from, int64_t) {
      for (int64_t j = 0; j < spread.inner(); ++j, ++at) {
        const auto place = [&](int k) {
          return from[static_cast<size_t>(k)] + j * spread.inner_stride(k);
        };
        draw<T>(blocks, bounded<T>(c, 2, place), n / batches,
                [=](int64_t i, auto v) { at[i * batches] = static_cast<T>(v); });
      }
    });
  });
}

}  // namespace

std::vector<KernelRow> normal_between_kernels() {
  const auto row = [](const char* op, KernelFactory make) -> KernelRow {
    return {op, "CPU", {{"dtype", Types<float, double, Half>::dtypes()}}, {}, make, {}, 0, ""};
  };
  return {row("ParameterizedTruncatedNormal", make_stateful),
          row("StatelessParameterizedTruncatedNormal", stateless<seeded>)};
}

}  // namespace emplace::cpu
