// Along one dimension: the index of the largest, running sums.
#include <fmt/format.h>

#include <cmath>

#include "backends/cpu/cpu_kernels.h"
#include "backends/cpu/extreme.h"
#include "backends/cpu/loops.h"
#include "backends/cpu/math.h"
#include "backends/cpu/move.h"
#include "backends/cpu/rows.h"

namespace emplace::cpu {
namespace {

// A tensor seen as [outer, size, inner] around one dimension.
struct Around {
  int64_t outer = 1, size, inner = 1;
  Around(const Shape& s, int axis) : size(s[axis]) {
    for (int i = 0; i < axis; ++i) outer *= s[i];
    for (int i = axis + 1; i < s.rank(); ++i) inner *= s[i];
  }
};

using Ordered = Join<Reals, Types<bool>>;

template <class T>
T extreme(bool largest) {
  using L = std::numeric_limits<T>;
  return largest ? L::lowest() : L::max();
}

// Where the first of the largest (or smallest) stands; NaN never does.
template <class T, bool kMax>
void arg_of(const T* x, int64_t n, int64_t step, int64_t* at) {
  using C = Compute<T>;
  C value = extreme<C>(kMax);
  *at = 0;
  for (int64_t k = 0; k < n; ++k) {
    const C v = static_cast<C>(x[k * step]);
    if (kMax ? v > value : v < value) value = v, *at = k;
  }
}
// … of neighbours: by stretches, of which only the one that holds it is looked through.
template <class T, bool kMax>
void arg_of_row(const T* x, int64_t n, int64_t* at) {
  constexpr int64_t kStretch = 256;
  T value = extreme<T>(kMax);
  int64_t found = -1;
  for (int64_t k = 0; k < n; k += kStretch) {
    const T best = extreme_of<T, kMax, false>(x + k, std::min(kStretch, n - k), value);
    if (best != value) value = best, found = k;
  }
  *at = std::max<int64_t>(found, 0);
  if (found < 0) return;
  while (x[*at] != value) ++*at;
}

template <class T, bool kMax>
void arg_reduce(KernelContext& c, const Tensor& in, const Around& a, Tensor& out) {
  const T* x = in.data<T>();
  const auto find = [&](int64_t i) {
    const T* from = x + i / a.inner * a.size * a.inner + i % a.inner;
    int64_t at;
    if constexpr (kHot<T> && kIsPlainNumber<T>) {
      if (a.inner == 1) return best<arg_of_row<T, kMax>>()(from, a.size, &at), at;
    }
    return arg_of<T, kMax>(from, a.size, a.inner, &at), at;
  };
  const auto put = [&](int64_t i, int64_t at) {
    switch (dtype_size(out.dtype())) {
      case 2: out.data<int16_t>()[i] = static_cast<int16_t>(at); break;
      case 4: out.data<int32_t>()[i] = static_cast<int32_t>(at); break;
      default: out.data<int64_t>()[i] = at;
    }
  };
  const double cost = (a.inner == 1 ? 0.2 : 0.6) * static_cast<double>(a.size) + 5;
  c.parallel_for(a.outer * a.inner, cost, [&](int64_t b, int64_t e) {
    for (int64_t i = b; i < e; ++i) put(i, find(i));
  });
}

template <bool kMax>
void arg_op(KernelContext& c) {
  const Tensor& in = c.input(0);
  const int64_t axis = int_scalar(c.input(1), "dim");
  if (axis < -in.rank() || axis >= in.rank())
    throw invalid_argument(fmt::format("Expected dimension in the range [{}, {}), but got {}",
                                       -in.rank(), in.rank(), axis));
  const int at = static_cast<int>(axis < 0 ? axis + in.rank() : axis);
  if (in.dim(at) == 0)
    throw invalid_argument(
        fmt::format("Reduction axis {} is empty in shape {}", axis, in.shape().str()));
  Shape shape = in.shape();
  shape.erase(at);
  Tensor& out = c.output(0, shape);
  const Around a(in.shape(), at);
  visit_dtype(in.dtype(), Ordered{},
              [&](auto tag) { arg_reduce<typename decltype(tag)::type, kMax>(c, in, a, out); });
}

// clang-format off
struct RunningSum { template <class T> static T start() { return T(0); } template <class T> T operator()(T a, T b) const { return plus(a, b); } };
struct RunningProduct { template <class T> static T start() { return T(1); } template <class T> T operator()(T a, T b) const { return times(a, b); } };
// clang-format on
struct LogSumExp {
  template <class T>
  static T start() {
    return -std::numeric_limits<T>::infinity();
  }
  template <class T>
  T operator()(T a, T b) const {
    const T high = std::max(a, b), low = std::min(a, b);
    if (high == -std::numeric_limits<T>::infinity() || is_nan(a) || is_nan(b)) return a + b;
    return high + std::log1p(std::exp(low - high));
  }
};

struct ScanState {
  bool exclusive, reverse;
};

template <class Op, class T>
void scan_lines(KernelContext& c, const ScanState& s, const Tensor& in, const Around& a,
                Tensor& out) {
  using C = Compute<T>;
  c.parallel_for(a.outer * a.inner, static_cast<double>(a.size) + 5, [&](int64_t b, int64_t e) {
    for (int64_t i = b; i < e; ++i) {
      const int64_t first = i / a.inner * a.size * a.inner + i % a.inner;
      C sum = Op::template start<C>();
      for (int64_t k = 0; k < a.size; ++k) {
        const int64_t at = first + (s.reverse ? a.size - 1 - k : k) * a.inner;
        const C x = static_cast<C>(in.data<T>()[at]);
        if (s.exclusive) out.data<T>()[at] = static_cast<T>(sum);
        sum = Op{}(sum, x);
        if (!s.exclusive) out.data<T>()[at] = static_cast<T>(sum);
      }
    }
  });
}

template <class Op, class List>
struct Scan : ScanState {
  void operator()(KernelContext& c) const {
    const Tensor& in = c.input(0);
    const int64_t axis = int_scalar(c.input(1), "axis");
    Tensor& out = c.output(0, in.shape());
    if (in.num_elements() == 0) return;
    if (axis < -in.rank() || axis >= in.rank())
      throw invalid_argument(
          fmt::format("ScanOp: Expected scan axis in the range [{}, {}), but got "
                      "{}",
                      -in.rank(), in.rank(), axis));
    const Around a(in.shape(), static_cast<int>(axis < 0 ? axis + in.rank() : axis));
    visit_dtype(in.dtype(), List{}, [&](auto tag) {
      scan_lines<Op, typename decltype(tag)::type>(c, *this, in, a, out);
    });
  }
};

template <class Op, class List>
Prepared make_scan(const KernelInit& init) {
  Scan<Op, List> scan;
  scan.exclusive = init.attr<bool>("exclusive");
  scan.reverse = init.attr<bool>("reverse");
  return prepared(scan);
}

}  // namespace

std::vector<KernelRow> scan_kernels() {
  return {row("ArgMax", Ordered::dtypes(), stateless<arg_op<true>>),
          row("ArgMin", Ordered::dtypes(), stateless<arg_op<false>>),
          row("Cumsum", Numbers::dtypes(), make_scan<RunningSum, Numbers>),
          row("Cumprod", Numbers::dtypes(), make_scan<RunningProduct, Numbers>),
          row("CumulativeLogsumexp", Floats::dtypes(), make_scan<LogSumExp, Floats>)};
}

}  // namespace emplace::cpu
