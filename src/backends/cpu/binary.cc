#include "backends/cpu/cpu_kernels.h"
#include "backends/cpu/elementwise.h"
#include "backends/cpu/half_loops.h"
#include "backends/cpu/math.h"

namespace emplace::cpu {
namespace {

// clang-format off
struct Add { template <class T> T operator()(T a, T b) const { return plus(a, b); } };
struct Sub { template <class T> T operator()(T a, T b) const { return minus(a, b); } };
struct Mul { template <class T> T operator()(T a, T b) const { return times(a, b); } };
struct Divide { template <class T> T operator()(T a, T b) const { return a / b; } };
struct Maximum { template <class T> T operator()(T a, T b) const { return larger(a, b); } };
struct Minimum { template <class T> T operator()(T a, T b) const { return smaller(a, b); } };
struct MulNoNan { template <class T> T operator()(T a, T b) const { return b == T(0) ? T(0) : times(a, b); } };
struct DivNoNan { template <class T> T operator()(T a, T b) const { return b == T(0) ? T(0) : a / b; } };
struct Xdivy { template <class T> T operator()(T a, T b) const { return a == T(0) ? T(0) : a / b; } };
struct Xlogy { template <class T> T operator()(T a, T b) const { return a == T(0) ? T(0) : a * std::log(b); } };
// clang-format on

struct Xlog1py {
  template <class T>
  T operator()(T a, T b) const {
    if (a == T(0)) return T(0);
    if constexpr (kIsComplex<T>)
      return a * std::log(T(1) + b);
    else
      return a * std::log1p(b);
  }
};
struct SquaredDifference {
  template <class T>
  T operator()(T a, T b) const {
    const T d = minus(a, b);
    return times(d, conjugate(d));
  }
};

// The arithmetic that everything does, on float and double: one element against all is loaded once,
// which the shared loop cannot know (its output may lie over an input).
template <class Op, class T>
void arithmetic_loop(const void* a, int64_t step_a, const void* b, int64_t step_b, void* out,
                     int64_t n) {
  const T *x = static_cast<const T*>(a), *y = static_cast<const T*>(b);
  T* z = static_cast<T*>(out);
  if (n == 0) return;  // then the one element may not exist either
  if (step_a && step_b) {
#pragma GCC ivdep
#pragma GCC unroll 4
    for (int64_t i = 0; i < n; ++i) z[i] = Op{}(x[i], y[i]);
  } else if (step_a) {
    const T one = *y;
#pragma GCC ivdep
#pragma GCC unroll 4
    for (int64_t i = 0; i < n; ++i) z[i] = Op{}(x[i], one);
  } else {
    const T one = *x;
#pragma GCC ivdep
#pragma GCC unroll 4
    for (int64_t i = 0; i < n; ++i) z[i] = Op{}(one, y[i]);
  }
}

// Products of complex numbers, four at a time: real and imaginary parts lie in turns.
template <class T>
void complex_products(const void* a, int64_t step_a, const void* b, int64_t step_b, void* out,
                      int64_t n) {
  constexpr int kLanes = 8;
  typedef T V __attribute__((vector_size(kLanes * sizeof(T)), aligned(sizeof(T)), may_alias));
  const T *x = static_cast<const T*>(a), *y = static_cast<const T*>(b);
  T* z = static_cast<T*>(out);
  constexpr int kNumbers = kLanes / 2;
  const auto load = [](const T* from, int64_t step, V& v) {
    if (step) v = *reinterpret_cast<const V*>(from);
    else
      for (int k = 0; k < kLanes; ++k) v[k] = from[k % 2];
  };
  int64_t i = 0;
  for (; i + kNumbers <= n; i += kNumbers) {
    V p, q, real, imaginary, turned;
    load(x + 2 * i * step_a, step_a, p);
    load(y + 2 * i * step_b, step_b, q);
    for (int k = 0; k < kLanes; ++k) {
      real[k] = p[k & ~1];
      imaginary[k] = p[k | 1];
      turned[k] = q[k ^ 1];
    }
    turned *= V{-1, 1, -1, 1, -1, 1, -1, 1};
    *reinterpret_cast<V*>(z + 2 * i) = real * q + imaginary * turned;
  }
  using C = std::complex<T>;
  for (; i < n; ++i)
    static_cast<C*>(out)[i] = times(static_cast<const C*>(a)[i * step_a], static_cast<const C*>(b)[i * step_b]);
}

template <class Op>
BinaryLoop float_arithmetic() {
  return best<arithmetic_loop<Op, float>>();
}

template <class Op, class List>
BinaryLoop find_arithmetic(DType dtype) {
  if (dtype == DType::kFloat) return best<arithmetic_loop<Op, float>>();
  if (dtype == DType::kDouble) return best<arithmetic_loop<Op, double>>();
  if (dtype == DType::kHalf) return halves_binary<float_arithmetic<Op>>;
  if constexpr (std::is_same_v<Op, Mul>) {
    if (dtype == DType::kComplex64) return best<complex_products<float>>();
    if (dtype == DType::kComplex128) return best<complex_products<double>>();
  }
  return find_binary<Op, List>(dtype);
}

template <class Op, class List>
Prepared make_arithmetic(const KernelInit& init) {
  return prepare_binary(init, find_arithmetic<Op, List>(init.input_types[0]), kCheap);
}

template <class Op, class List>
KernelRow arithmetic(const char* op) {
  KernelRow row = binary<Op, List>(op);
  row.make = make_arithmetic<Op, List>;
  return row;
}

// Strings are joined; a loop of its own, because a string is no number.
struct Concatenate {
  std::string operator()(const std::string& a, const std::string& b) const { return a + b; }
};

}  // namespace

BinaryLoop add_loop(DType dtype) { return find_arithmetic<Add, Numbers>(dtype); }
BinaryLoop sub_loop(DType dtype) { return find_binary<Sub, Numbers>(dtype); }

std::vector<KernelRow> binary_kernels() {
  using NumbersAndStrings = Join<Join<FloatsAndComplexes, SignedInts>, Types<uint8_t>>;
  KernelRow string_add = binary<Concatenate, Types<std::string>, SameType, kDear>("Add");
  string_add.traits = {};
  return {binary<Add, NumbersAndStrings>("Add"),
          std::move(string_add),
          arithmetic<Add, Numbers>("AddV2"),
          arithmetic<Sub, Numbers>("Sub"),
          arithmetic<Mul, Numbers>("Mul"),
          arithmetic<Divide, FloatsAndComplexes>("RealDiv"),
          arithmetic<Maximum, Reals>("Maximum"),
          arithmetic<Minimum, Reals>("Minimum"),
          binary<SquaredDifference, Join<FloatsAndComplexes, Types<int32_t, int64_t>>>(
              "SquaredDifference"),
          binary<MulNoNan, FloatsAndComplexes>("MulNoNan"),
          binary<DivNoNan, FloatsAndComplexes>("DivNoNan"),
          binary<Xdivy, FloatsAndComplexes>("Xdivy"),
          binary<Xlogy, FloatsAndComplexes, SameType, kDear>("Xlogy"),
          binary<Xlog1py, FloatsAndComplexes, SameType, kDear>("Xlog1py")};
}

}  // namespace emplace::cpu
