#include "backends/cpu/cpu_kernels.h"
#include "backends/cpu/extreme.h"
#include "backends/cpu/math.h"
#include "backends/cpu/reduce.h"

namespace emplace::cpu {
namespace {

// Each reduction: where it starts, how an element and how another accumulator comes in, what
// becomes of it. A: the accumulator.
struct Sum {
  template <class A> static A start() { return A(0); }
  template <class A> static A take(A a, A x) { return plus(a, x); }
  template <class A> static A merge(A a, A b) { return plus(a, b); }
  template <class A> static A finish(A a, int64_t) { return a; }
};
struct Mean : Sum {
  template <class A> static A finish(A a, int64_t n) {
    if constexpr (std::is_integral_v<A>)
      return n == 0 ? A(0) : static_cast<A>(static_cast<int64_t>(a) / n);
    else if constexpr (kIsComplex<A>)
      return a / static_cast<typename A::value_type>(n);
    else
      return a / static_cast<A>(n);
  }
};
struct Prod {
  template <class A> static A start() { return A(1); }
  template <class A> static A take(A a, A x) { return times(a, x); }
  template <class A> static A merge(A a, A b) { return times(a, b); }
  template <class A> static A finish(A a, int64_t) { return a; }
};
struct Max {
  template <class A> static A start() {
    if constexpr (std::is_floating_point_v<A>) return -std::numeric_limits<A>::infinity();
    else return std::numeric_limits<A>::lowest();
  }
  template <class A> static A take(A a, A x) { return larger(x, a); }
  template <class A> static A merge(A a, A b) { return larger(b, a); }
  template <class A> static A finish(A a, int64_t) { return a; }
};
struct Min {
  template <class A> static A start() {
    if constexpr (std::is_floating_point_v<A>) return std::numeric_limits<A>::infinity();
    else return std::numeric_limits<A>::max();
  }
  template <class A> static A take(A a, A x) { return smaller(x, a); }
  template <class A> static A merge(A a, A b) { return smaller(b, a); }
  template <class A> static A finish(A a, int64_t) { return a; }
};
struct All {
  template <class A> static A start() { return true; }
  template <class A> static A take(A a, A x) { return a & x; }
  template <class A> static A merge(A a, A b) { return a & b; }
  template <class A> static A finish(A a, int64_t) { return a; }
};
struct Any : All {
  template <class A> static A start() { return false; }
  template <class A> static A take(A a, A x) { return a | x; }
  template <class A> static A merge(A a, A b) { return a | b; }
};
struct Norm : Sum {
  template <class A> static A take(A a, A x) { return plus(a, times(x, conjugate(x))); }
  template <class A> static A finish(A a, int64_t) {
    if constexpr (std::is_integral_v<A>)
      return static_cast<A>(std::sqrt(static_cast<double>(a)));
    else
      return std::sqrt(a);
  }
};

template <class R, class A>
void init_loop(void* accs, int64_t n) {
  std::fill_n(static_cast<A*>(accs), n, R::template start<A>());
}

// Sixteen accumulators side by side, so that the machine can add several at once. Extremes by hand:
// what becomes of NaN keeps the compiler from doing the same there.
template <class R, class T, class A>
void row_loop(const void* in, int64_t n, void* acc) {
  constexpr int kLanes = !kHot<T> ? 1 : sizeof(T) == 1 ? 64 : 16;
  const T* x = static_cast<const T*>(in);
  constexpr bool kIsMax = std::is_same_v<R, Max>, kIsMin = std::is_same_v<R, Min>;
  if constexpr ((kIsMax || kIsMin) && kHot<T> && std::is_same_v<A, T>) {
    T* to = static_cast<T*>(acc);
    *to = R::merge(*to, extreme_of<T, kIsMax, true>(x, n, R::template start<T>()));
    return;
  }
  A lanes[kLanes];
  for (A& lane : lanes) lane = R::template start<A>();
  int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes)
    for (int k = 0; k < kLanes; ++k) lanes[k] = R::take(lanes[k], static_cast<A>(x[i + k]));
  for (int k = 0; i < n; ++i, ++k) lanes[k] = R::take(lanes[k], static_cast<A>(x[i]));
  for (int half = kLanes / 2; half > 0; half /= 2)
    for (int k = 0; k < half; ++k) lanes[k] = R::merge(lanes[k], lanes[k + half]);
  A* to = static_cast<A*>(acc);
  *to = R::merge(*to, lanes[0]);
}

// Four rows at a time, one after the other into each accumulator.
template <class R, class T, class A>
void column_loop(const void* in, int64_t rows, int64_t step, int64_t n, void* accs) {
  const T* x = static_cast<const T*>(in);
  A* a = static_cast<A*>(accs);
  for (; rows >= 4; rows -= 4, x += 4 * step) {
    const T *y = x + step, *z = y + step, *w = z + step;
#pragma GCC ivdep
    for (int64_t i = 0; i < n; ++i) {
      const A half = R::take(R::take(a[i], static_cast<A>(x[i])), static_cast<A>(y[i]));
      a[i] = R::take(R::take(half, static_cast<A>(z[i])), static_cast<A>(w[i]));
    }
  }
  for (; rows > 0; --rows, x += step) {
#pragma GCC ivdep
    for (int64_t i = 0; i < n; ++i) a[i] = R::take(a[i], static_cast<A>(x[i]));
  }
}

template <class R, class A>
void merge_loop(const void* others, int64_t n, void* accs) {
  const A* b = static_cast<const A*>(others);
  A* a = static_cast<A*>(accs);
  for (int64_t i = 0; i < n; ++i) a[i] = R::merge(a[i], b[i]);
}

template <class R, class T, class A>
void finish_loop(const void* accs, int64_t n, int64_t count, void* out) {
  const A* a = static_cast<const A*>(accs);
  T* y = static_cast<T*>(out);
  for (int64_t i = 0; i < n; ++i) y[i] = static_cast<T>(R::finish(a[i], count));
}

template <class R, class T>
ReduceLoops loops_of() {
  using A = Compute<T>;
  return {sizeof(A),
          std::is_same_v<A, T>,
          init_loop<R, A>,
          pick<T, row_loop<R, T, A>>(),
          pick<T, column_loop<R, T, A>>(),
          merge_loop<R, A>,
          finish_loop<R, T, A>};
}

struct StaticReduction {
  ReduceLoops loops;
  ReducePlan plan;
  void operator()(KernelContext& c) const {
    reduce(c, loops, plan, c.input(0), c.output(0, plan.shape()));
  }
};

struct Reduction {
  ReduceLoops loops;
  bool keep_dims;
  void operator()(KernelContext& c) const {
    const ReducePlan plan(c.input(0).shape(), c.input(1), keep_dims);
    reduce(c, loops, plan, c.input(0), c.output(0, plan.shape()));
  }
};

template <class R, class List>
Prepared make(const KernelInit& init) {
  ReduceLoops loops;
  visit_dtype(init.input_types[0], List{},
              [&](auto tag) { loops = loops_of<R, typename decltype(tag)::type>(); });
  const bool keep = init.attr<bool>("keep_dims");
  if (!init.static_shapes() || init.input_values.size() < 2 || !init.input_values[1])
    return prepared(Reduction{loops, keep});
  return prepared(
      StaticReduction{loops, ReducePlan(init.input_shapes[0], *init.input_values[1], keep)});
}

template <class R, class List>
KernelRow row(const char* op) {
  return {op, "CPU", {{"T", List::dtypes()}}, {"reduction_indices"}, make<R, List>, {}, 0, ""};
}

KernelRow untyped(KernelRow r) {
  r.types.clear();
  return r;
}

}  // namespace

std::vector<KernelRow> reduction_kernels() {
  return {row<Sum, Numbers>("Sum"),
          row<Mean, Numbers>("Mean"),
          row<Prod, Numbers>("Prod"),
          row<Max, Reals>("Max"),
          row<Min, Reals>("Min"),
          untyped(row<All, Types<bool>>("All")),
          untyped(row<Any, Types<bool>>("Any")),
          row<Norm, Numbers>("EuclideanNorm")};
}

}  // namespace emplace::cpu
