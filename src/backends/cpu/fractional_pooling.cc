// Pooling whose windows differ in size, so that pictures shrink by any factor.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

#include "backends/cpu/indices.h"
#include "backends/cpu/nets_kernels.h"
#include "backends/cpu/random.h"
#include "backends/cpu/move.h"
#include "backends/cpu/rows.h"
#include "backends/cpu/visit.h"

namespace emplace::cpu {
namespace {

using PoolTypes = Types<float, double, int32_t, int64_t>;

// ---- Where the windows begin.

// A stream of words, of which each call of `reserve` starts anew behind those of the one before.
class Words {
 public:
  explicit Words(Philox gen) : gen_(gen), next_(gen) {}
  void reserve(int64_t words) {
    next_ = PhiloxWords(gen_);
    gen_.skip(static_cast<uint64_t>(words + 3) / 4);
  }
  uint32_t operator()() { return next_(); }

 private:
  Philox gen_;
  PhiloxWords next_;
};

std::vector<int64_t> pseudo_random_sizes(int64_t in, int64_t out, Words& words) {
  const double alpha = static_cast<double>(in) / static_cast<double>(out);
  const int64_t k = in / out;
  const double most =
      std::min((static_cast<double>(k) + 2) / alpha - 1,
               static_cast<double>(in + 1 - k) / alpha - static_cast<double>(out - 1));
  words.reserve(2);
  const uint64_t low = words(), high = words();
  const uint64_t bits = uint64_t{1023} << 52 | (low & 0xfffff) << 32 | high;
  double unit;
  std::memcpy(&unit, &bits, sizeof(unit));
  const double u = (unit - 1.0) * most;
  std::vector<int64_t> sizes(static_cast<size_t>(out));
  int64_t start = 1;
  for (int64_t i = 1; i <= out; ++i) {
    const int64_t next =
        i == out ? in + 1 : static_cast<int64_t>(std::ceil(alpha * (static_cast<double>(i) + u)));
    sizes[static_cast<size_t>(i - 1)] = next - start;
    start = next;
  }
  return sizes;
}

std::vector<int64_t> random_sizes(int64_t in, int64_t out, Words& words) {
  std::vector<int64_t> sizes(static_cast<size_t>(out), in / out);
  for (int64_t i = 0; i < in % out; ++i) ++sizes[static_cast<size_t>(i)];
  words.reserve(out);
  for (size_t i = 0; i + 1 < sizes.size(); ++i)
    std::swap(sizes[i], sizes[i + words() % static_cast<uint32_t>(sizes.size() - i)]);
  return sizes;
}

// The first of each window, and one past the last.
std::vector<int64_t> window_starts(int64_t in, int64_t out, bool pseudo_random, Words& words) {
  const auto sizes = in % out == 0      ? std::vector<int64_t>(static_cast<size_t>(out), in / out)
                     : pseudo_random ? pseudo_random_sizes(in, out, words)
                                     : random_sizes(in, out, words);
  std::vector<int64_t> starts = {0};
  for (int64_t s : sizes) starts.push_back(starts.back() + s);
  return starts;
}

Tensor as_tensor(const std::vector<int64_t>& v) {
  Tensor t(DType::kInt64, Shape{static_cast<int64_t>(v.size())});
  std::copy(v.begin(), v.end(), t.data<int64_t>());
  return t;
}

// ---- Windows of a picture [batch, rows, columns, channels].

struct Pool {
  Shape in;
  std::vector<int64_t> rows, columns;
  bool overlapping;

  int64_t out_rows() const { return static_cast<int64_t>(rows.size()) - 1; }
  int64_t out_columns() const { return static_cast<int64_t>(columns.size()) - 1; }
  Shape out() const { return Shape{in[0], out_rows(), out_columns(), in[3]}; }
  static int64_t last(const std::vector<int64_t>& starts, size_t i, bool overlapping,
                      int64_t size) {
    return std::min(starts[i + 1] - (overlapping ? 0 : 1), size - 1);
  }
  // f(first element of a window's result, first elements of its members)
  template <class F>
  void each_window(F&& f) const {
    const int64_t depth = in[3];
    std::vector<int64_t> members;
    for (int64_t b = 0, at = 0; b < in[0]; ++b)
      for (size_t r = 0; r + 1 < rows.size(); ++r)
        for (size_t k = 0; k + 1 < columns.size(); ++k, at += depth) {
          members.clear();
          for (int64_t y = rows[r]; y <= last(rows, r, overlapping, in[1]); ++y)
            for (int64_t x = columns[k]; x <= last(columns, k, overlapping, in[2]); ++x)
              members.push_back(((b * in[1] + y) * in[2] + x) * depth);
          f(at, members);
        }
  }
};

template <bool kMax>
struct Forward {
  std::vector<float> ratio;
  bool pseudo_random, overlapping, deterministic;
  uint64_t seed, seed2;

  void operator()(KernelContext& c) const {
    const Tensor& in = c.input(0);
    if (in.rank() != 4)
      throw invalid_argument("tensor_in must be 4-dimensional, got " + in.shape().str());
    std::array<int64_t, 2> out{};
    for (size_t d = 0; d < 2; ++d) {
      const int64_t size = in.dim(static_cast<int>(d) + 1);
      out[d] = static_cast<int64_t>(std::floor(static_cast<float>(size) / ratio[d + 1]));
      if (size < 1 || out[d] < 1)
        throw invalid_argument(
            fmt::format("MaxPool of {} by {} leaves nothing", size, ratio[d + 1]));
    }
    for (int d : {0, 3})
      if (in.dim(d) < 1) throw invalid_argument("the input must not be empty");
    Words words{Philox(seed, seed2)};
    Pool pool{in.shape(), window_starts(in.dim(1), out[0], pseudo_random, words), {}, overlapping};
    pool.columns = window_starts(in.dim(2), out[1], pseudo_random, words);
    Tensor& result = c.output(0, pool.out());
    visit_dtype(in.dtype(), PoolTypes{}, [&](auto tag) {
      run<typename decltype(tag)::type>(pool, in, result);
    });
    c.set_output(1, as_tensor(pool.rows));
    c.set_output(2, as_tensor(pool.columns));
  }
  template <class T>
  static void run(const Pool& pool, const Tensor& in, Tensor& out) {
    const T* x = in.data<T>();
    pool.each_window([&](int64_t at, const std::vector<int64_t>& members) {
      for (int64_t d = 0; d < pool.in[3]; ++d) {
        T best = kMax ? std::numeric_limits<T>::lowest() : T(0);
        for (int64_t m : members)
          best = kMax ? std::max(best, x[m + d]) : static_cast<T>(best + x[m + d]);
        if (!kMax)
          best = static_cast<T>(best / static_cast<T>(std::max<size_t>(members.size(), 1)));
        out.data<T>()[at + d] = best;
      }
    });
  }
};

template <bool kMax>
Prepared make_forward(const KernelInit& init) {
  Forward<kMax> f{init.attr<std::vector<float>>("pooling_ratio"), init.attr<bool>("pseudo_random"),
                  init.attr<bool>("overlapping"), init.attr<bool>("deterministic"),
                  static_cast<uint64_t>(init.attr<int64_t>("seed")),
                  static_cast<uint64_t>(init.attr<int64_t>("seed2"))};
  if (f.ratio.size() != 4)
    throw invalid_argument("pooling_ratio field must specify 4 dimensions");
  for (float r : f.ratio)
    if (!(r >= 1))
      throw invalid_argument(fmt::format("pooling_ratio cannot be smaller than 1, got: {}", r));
  if (f.ratio[0] != 1 || f.ratio[3] != 1)
    throw unimplemented(
        "Fractional pooling is not yet supported on the batch nor channel dimension.");
  const bool seeded = f.seed != 0 || f.seed2 != 0;
  if (seeded && !f.deterministic)
    throw invalid_argument("Both seed and seed2 should be 0 if deterministic is false.");
  if (!seeded) {
    std::random_device random;
    f.seed = random(), f.seed2 = random();
  }
  return prepared(std::move(f));
}

// ---- Gradients.

// Windows as the forward pass gave them: rising, within the picture.
std::vector<int64_t> checked_starts(const Tensor& t, int64_t windows, int64_t size) {
  if (t.rank() != 1 || t.num_elements() != windows + 1)
    throw invalid_argument(fmt::format("a pooling sequence must have {} elements, not {}",
                                       windows + 1, t.shape().str()));
  const int64_t* v = t.data<int64_t>();
  for (int64_t i = 0; i <= windows; ++i)
    if (v[i] < 0 || v[i] > size || (i > 0 && v[i] < v[i - 1]))
      throw invalid_argument("a pooling sequence must rise from 0 to the picture's size");
  return {v, v + t.num_elements()};
}

Pool pool_of(KernelContext& c, Shape in, const Tensor& gradient, int first, bool overlapping) {
  if (gradient.rank() != 4)
    throw invalid_argument("out_backprop must be 4-dimensional, got " + gradient.shape().str());
  Pool pool{std::move(in), {}, {}, overlapping};
  pool.rows = checked_starts(c.input(first), gradient.dim(1), pool.in[1]);
  pool.columns = checked_starts(c.input(first + 1), gradient.dim(2), pool.in[2]);
  if (!(gradient.shape() == pool.out()))
    throw invalid_argument(fmt::format("out_backprop must have shape {}, got {}", pool.out().str(),
                                       gradient.shape().str()));
  return pool;
}

struct MaxBack {
  bool overlapping;
  void operator()(KernelContext& c) const {
    const Tensor &in = c.input(0), &result = c.input(1), &gradient = c.input(2);
    if (in.rank() != 4) throw invalid_argument("orig_input must be 4-dimensional");
    const Pool pool = pool_of(c, in.shape(), gradient, 3, overlapping);
    if (!(result.shape() == pool.out())) throw invalid_argument("orig_output has the wrong shape");
    Tensor& out = c.output(0, in.shape());
    visit_dtype(in.dtype(), PoolTypes{}, [&](auto tag) {
      using T = typename decltype(tag)::type;
      std::fill_n(out.data<T>(), out.num_elements(), T(0));
      pool.each_window([&](int64_t at, const std::vector<int64_t>& members) {
        if (members.empty()) return;
        for (int64_t d = 0; d < pool.in[3]; ++d) {
          int64_t best = members[0];
          for (int64_t m : members)
            if (in.data<T>()[m + d] > in.data<T>()[best + d]) best = m;
          out.data<T>()[best + d] += gradient.data<T>()[at + d];
        }
      });
    });
  }
};
struct AvgBack {
  bool overlapping;
  void operator()(KernelContext& c) const {
    const Shape in = shape_from(c.input(0));
    const Tensor& gradient = c.input(1);
    if (in.rank() != 4)
      throw invalid_argument("original input tensor shape must be 1-dimensional and 4 elements");
    checked_elements(in.dims());
    const Pool pool = pool_of(c, in, gradient, 2, overlapping);
    Tensor& out = c.output(0, in);
    visit_dtype(gradient.dtype(), PoolTypes{}, [&](auto tag) {
      using T = typename decltype(tag)::type;
      std::vector<double> sums(static_cast<size_t>(out.num_elements()));
      pool.each_window([&](int64_t at, const std::vector<int64_t>& members) {
        for (int64_t d = 0; d < pool.in[3]; ++d) {
          const double share = static_cast<double>(gradient.data<T>()[at + d]) /
                               static_cast<double>(members.size());
          for (int64_t m : members) sums[static_cast<size_t>(m + d)] += share;
        }
      });
      for (size_t i = 0; i < sums.size(); ++i) out.data<T>()[i] = static_cast<T>(sums[i]);
    });
  }
};
template <class Back>
Prepared make_back(const KernelInit& init) {
  return prepared(Back{init.attr<bool>("overlapping")});
}

}  // namespace

std::vector<KernelRow> fractional_pooling_kernels() {
  return {row("FractionalMaxPool", PoolTypes::dtypes(), make_forward<true>),
          row("FractionalAvgPool", PoolTypes::dtypes(), make_forward<false>),
          row("FractionalMaxPoolGrad", PoolTypes::dtypes(), make_back<MaxBack>),
          row("FractionalAvgPoolGrad", PoolTypes::dtypes(), make_back<AvgBack>)};
}

}  // namespace emplace::cpu
