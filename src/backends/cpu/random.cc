#include "backends/cpu/random.h"

#include <array>
#include <limits>
#include <memory>
#include <random>
#include <span>

#include <fmt/format.h>

#include "backends/cpu/cpu_kernels.h"
#include "backends/cpu/move.h"
#include "backends/cpu/rows.h"
#include "base/stop_scope.h"

namespace emplace::cpu {

// ---- Generators of seeds.

Philox philox_from_seed(const Tensor& seed) {
  if (seed.rank() != 1 || seed.num_elements() != 2)
    throw invalid_argument("seed must have shape [2], not " + seed.shape().str());
  const auto v = int_values(seed);
  return Philox::stateless(static_cast<uint64_t>(v[0]), static_cast<uint64_t>(v[1]));
}

Philox philox_from_key(KernelContext& c, int first) {
  const Tensor &key = c.input(first), &counter = c.input(first + 1);
  const int64_t algorithm = int_scalar(c.input(first + 2), "alg");
  if (algorithm == kThreeFry) throw unimplemented("the ThreeFry algorithm");
  if (algorithm != kPhiloxAlgorithm && algorithm != 3)
    throw invalid_argument(fmt::format("Unsupported algorithm id: {}", algorithm));
  if (key.rank() != 1 || key.num_elements() != 1)
    throw invalid_argument("key must have shape [1], not " + key.shape().str());
  if (counter.rank() != 1 || counter.num_elements() < 1)
    throw invalid_argument("counter must have shape [2], not " + counter.shape().str());
  const uint64_t high = counter.num_elements() > 1 ? counter.data<uint64_t>()[1] : 0;
  return Philox::keyed(*key.data<uint64_t>(), counter.data<uint64_t>()[0], high);
}

Philox philox_from_variable(KernelContext& c, std::optional<int64_t> algorithm, uint64_t blocks) {
  if (algorithm) check_algorithm(*algorithm);
  const int64_t least = algorithm ? 3 : 4;
  Philox gen(0, 0);
  c.variable(0).update(c.own_aliases(), [&](Tensor& t) {
    check_generator_state(t, least);
    auto* state = reinterpret_cast<uint64_t*>(t.data<int64_t>());
    if (!algorithm) check_algorithm(static_cast<int64_t>(*state++));
    gen = Philox::keyed(state[2], state[0], state[1]);
    const Philox after = gen.skipped(blocks);
    state[0] = after.counter(0), state[1] = after.counter(1);
  });
  return gen;
}

namespace {

using Whole = Types<int32_t, int64_t, uint32_t, uint64_t>;

// Fills the output group by group, in parallel.
template <class T, class F>
void fill_groups(KernelContext& c, const Philox& gen, Tensor& out, uint64_t blocks, F&& fill) {
  const int64_t n = out.num_elements(), group = kPhiloxGroup<T>;
  c.parallel_for((n + group - 1) / group, 8.0 * static_cast<double>(blocks),
                 [&](int64_t begin, int64_t end) {
    const int64_t first = begin * group, last = std::min(end * group, n);
    fill(gen.skipped(static_cast<uint64_t>(begin) * blocks),
         std::span(out.data<T>() + first, static_cast<size_t>(last - first)));
  });
}

// ---- What is drawn.

struct Uniform {
  using List = Floats;
  template <class T>
  static void fill(KernelContext& c, const Philox& gen, Tensor& out, int) {
    fill_groups<T>(c, gen, out, kPhiloxBlocks, philox_uniform<T>);
  }
};
struct Normal {
  using List = Floats;
  template <class T>
  static void fill(KernelContext& c, const Philox& gen, Tensor& out, int) {
    fill_groups<T>(c, gen, out, kPhiloxBlocks, philox_normal<T>);
  }
};
struct Truncated {
  using List = Floats;
  template <class T>
  static void fill(KernelContext& c, const Philox& gen, Tensor& out, int) {
    fill_groups<T>(c, gen, out, kPhiloxTruncatedBlocks<T>, philox_truncated_normal<T>);
  }
};
struct FullInt {
  using List = Whole;
  template <class T>
  static void fill(KernelContext& c, const Philox& gen, Tensor& out, int) {
    fill_groups<T>(c, gen, out, kPhiloxBlocks, philox_full_int<T>);
  }
};
struct UniformInt {  // bounds at inputs `first` and `first + 1`
  using List = Whole;
  template <class T>
  static void fill(KernelContext& c, const Philox& gen, Tensor& out, int first) {
    for (int i = first; i < first + 2; ++i)
      if (c.input(i).rank() != 0)
        throw invalid_argument("minval and maxval must be 0-D, got shape " +
                               c.input(i).shape().str());
    const T low = *c.input(first).template data<T>(), high = *c.input(first + 1).template data<T>();
    if (out.num_elements() == 0) return;
    if (!(low < high))
      throw invalid_argument(fmt::format("Need minval < maxval, got {} >= {}", low, high));
    fill_groups<T>(c, gen, out, kPhiloxBlocks, [&](const Philox& g, std::span<T> part) {
      philox_uniform_int<T>(g, low, high, part);
    });
  }
};

template <class What>
void fill_output(KernelContext& c, const Philox& gen, Tensor& out, int bounds) {
  visit_dtype(out.dtype(), typename What::List{}, [&](auto tag) {
    What::template fill<typename decltype(tag)::type>(c, gen, out, bounds);
  });
}

// ---- With a stream of the node's own.

template <class What>
struct Stateful {
  std::shared_ptr<RandomStream> stream;
  void operator()(KernelContext& c) const {
    Tensor& out = c.output(0, shape_from(c.input(0)));
    const auto n = static_cast<uint64_t>(out.num_elements());
    fill_output<What>(c, stream->reserve(n * kPhiloxReservedPerOutput), out, 1);
  }
};
template <class What>
Prepared make_stateful(const KernelInit& init) {
  return prepared(Stateful<What>{random_stream_of(init)});
}

// Puts values in another order. Where the next ones come from is drawn before they are moved, so
// that memory brings them meanwhile.
template <class T>
void shuffle(std::span<T> values, Philox gen) {
  constexpr size_t kAhead = 32;
  std::array<size_t, kAhead> from;
  Philox::Block block{};
  const size_t last = values.size() - 1;
  for (size_t begin = 0; begin < last; begin += kAhead) {
    StopScope::attend();
    const size_t count = std::min(kAhead, last - begin);
    for (size_t i = 0; i < count; ++i) {
      if (i % 4 == 0) block = gen();
      from[i] = begin + i + block[i % 4] % static_cast<uint32_t>(values.size() - begin - i);
      __builtin_prefetch(&values[from[i]], 1);
    }
    for (size_t i = 0; i < count; ++i) std::swap(values[begin + i], values[from[i]]);
  }
}

template <class Index>
void shuffle_by_index(const Mover& mover, const Tensor& in, Tensor& out, const Philox& gen) {
  const auto n = static_cast<size_t>(in.dim(0));
  const auto rows = std::make_unique_for_overwrite<Index[]>(n);
  const std::span order(rows.get(), n);
  for (const size_t i : paced(n)) order[i] = static_cast<Index>(i);
  shuffle(order, gen);
  const int64_t inner = in.num_elements() / in.dim(0);
  for (const size_t i : paced(n))
    mover.copy(out, static_cast<int64_t>(i) * inner, in, static_cast<int64_t>(order[i]) * inner,
               inner);
}

// Input 0 with its rows in another order; `generator` is asked only where there is a choice.
template <class F>
void shuffle_rows_by(KernelContext& c, F&& generator) {
  const Tensor& in = c.input(0);
  const int64_t n = in.rank() ? in.dim(0) : 1, all = in.num_elements();
  Tensor& out = c.output(0, in.shape());
  const Mover mover(in.dtype());
  if (all == 0) return;
  if (n <= 1) return mover.copy(out, 0, in, 0, all);
  const Philox gen = generator(static_cast<uint64_t>(n - 1 + 3) / 4);
  const bool small = is_plain(in.dtype()) && all == n;  // moving it costs no more than an index
  const auto in_place = [&]<class T>(T*) {
    c.parallel_for(n, move_cost(in.dtype()), [&](int64_t begin, int64_t end) {
      mover.copy(out, begin, in, begin, end - begin);
    });
    shuffle(std::span(static_cast<T*>(out.raw()), static_cast<size_t>(n)), gen);
  };
  if (small && mover.size() == 4) return in_place(static_cast<uint32_t*>(nullptr));
  if (small && mover.size() == 8) return in_place(static_cast<uint64_t*>(nullptr));
  if (n <= std::numeric_limits<uint32_t>::max())
    shuffle_by_index<uint32_t>(mover, in, out, gen);
  else
    shuffle_by_index<uint64_t>(mover, in, out, gen);
}

struct Shuffle {
  std::shared_ptr<RandomStream> stream;
  void operator()(KernelContext& c) const {
    shuffle_rows_by(c, [&](uint64_t blocks) { return stream->reserve(blocks); });
  }
};
Prepared make_shuffle(const KernelInit& init) { return prepared(Shuffle{random_stream_of(init)}); }

// ---- Decided by the seed alone.

template <class What>
void stateless_v1(KernelContext& c) {
  Tensor& out = c.output(0, shape_from(c.input(0)));
  fill_output<What>(c, philox_from_seed(c.input(1)), out, 2);
}

template <class What>
void stateless_v2(KernelContext& c) {
  const Philox gen = philox_from_key(c, 1);
  fill_output<What>(c, gen, c.output(0, shape_from(c.input(0))), 4);
}

void key_counter(KernelContext& c) {
  const Philox gen = philox_from_seed(c.input(0));
  *c.output(0, Shape{1}).data<uint64_t>() = gen.key();
  uint64_t* counter = c.output(1, Shape{2}).data<uint64_t>();
  counter[0] = gen.counter(0);
  counter[1] = gen.counter(1);
  if (c.num_outputs() > 2) *c.output(2, Shape{}).data<int32_t>() = kPhiloxAlgorithm;
}

void algorithm(KernelContext& c) { *c.output(0, Shape{}).data<int32_t>() = kPhiloxAlgorithm; }

// The rows in an order that the seed alone decides.
void stateless_shuffle(KernelContext& c) {
  const Philox gen = philox_from_key(c, 1);
  shuffle_rows_by(c, [&](uint64_t) { return gen; });
}

// ---- From a generator's state in a variable.

template <class What, bool kOldest>
void generated(KernelContext& c) {
  const int shape = kOldest ? 1 : 2;
  std::optional<int64_t> algorithm;
  if (!kOldest) algorithm = int_scalar(c.input(1), "algorithm");
  Tensor& out = c.output(0, shape_from(c.input(shape)));
  const auto n = static_cast<uint64_t>(out.num_elements());
  const Philox gen = philox_from_variable(c, algorithm, n * kPhiloxReservedPerOutput);
  fill_output<What>(c, gen, out, shape + 1);
}

void skip(KernelContext& c) {
  const auto delta = static_cast<uint64_t>(int_scalar(c.input(2), "delta"));
  philox_from_variable(c, int_scalar(c.input(1), "algorithm"), delta * kPhiloxReservedPerOutput);
}

void non_deterministic(KernelContext& c) {
  Tensor& out = c.output(0, shape_from(c.input(0)));
  std::random_device random;
  auto* words = static_cast<uint32_t*>(out.raw());
  for (size_t i = 0; i < out.bytes() / sizeof(uint32_t); ++i) words[i] = random();
}

}  // namespace

std::vector<KernelRow> random_kernels() {
  const auto floats = Floats::dtypes(), whole = Whole::dtypes();
  return {row("RandomUniform", "dtype", floats, make_stateful<Uniform>),
          row("RandomStandardNormal", "dtype", floats, make_stateful<Normal>),
          row("TruncatedNormal", "dtype", floats, make_stateful<Truncated>),
          row("RandomUniformInt", "Tout", {DType::kInt32, DType::kInt64}, make_stateful<UniformInt>),
          {"RandomShuffle", "CPU", {}, {}, make_shuffle, {}, 0, ""},
          row("StatelessRandomUniform", "dtype", floats, stateless<stateless_v1<Uniform>>),
          row("StatelessRandomNormal", "dtype", floats, stateless<stateless_v1<Normal>>),
          row("StatelessTruncatedNormal", "dtype", floats, stateless<stateless_v1<Truncated>>),
          row("StatelessRandomUniformInt", "dtype", whole, stateless<stateless_v1<UniformInt>>),
          row("StatelessRandomUniformFullInt", "dtype", whole, stateless<stateless_v1<FullInt>>),
          row("StatelessRandomUniformV2", "dtype", floats, stateless<stateless_v2<Uniform>>),
          row("StatelessRandomNormalV2", "dtype", floats, stateless<stateless_v2<Normal>>),
          row("StatelessTruncatedNormalV2", "dtype", floats, stateless<stateless_v2<Truncated>>),
          row("StatelessRandomUniformIntV2", "dtype", whole, stateless<stateless_v2<UniformInt>>),
          row("StatelessRandomUniformFullIntV2", "dtype", whole, stateless<stateless_v2<FullInt>>),
          row("StatefulStandardNormal", "dtype", floats, stateless<generated<Normal, true>>),
          row("StatefulStandardNormalV2", "dtype", floats, stateless<generated<Normal, false>>),
          row("StatefulTruncatedNormal", "dtype", floats, stateless<generated<Truncated, false>>),
          row("StatefulUniform", "dtype", floats, stateless<generated<Uniform, false>>),
          row("StatefulUniformInt", "dtype", {DType::kInt32, DType::kInt64},
              stateless<generated<UniformInt, false>>),
          row("StatefulUniformFullInt", "dtype", whole, stateless<generated<FullInt, false>>),
          row("NonDeterministicInts", "dtype", whole, stateless<non_deterministic>),
          {"RngSkip", "CPU", {}, {}, stateless<skip>, {}, 0, ""},
          {"StatelessShuffle", "CPU", {}, {}, stateless<stateless_shuffle>, {}, 0, ""},
          {"StatelessRandomGetKeyCounter", "CPU", {}, {}, stateless<key_counter>, {}, 0, ""},
          {"StatelessRandomGetKeyCounterAlg", "CPU", {}, {}, stateless<key_counter>, {}, 0, ""},
          {"StatelessRandomGetAlg", "CPU", {}, {}, stateless<algorithm>, {}, 0, ""}};
}

}  // namespace emplace::cpu
