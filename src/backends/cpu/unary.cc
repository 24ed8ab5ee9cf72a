#include <bit>

#include "backends/cpu/cpu_kernels.h"
#include "backends/cpu/elementwise.h"
#include "backends/cpu/math.h"
#include "backends/cpu/rounding.h"
#include "backends/cpu/simd_math.h"

namespace emplace::cpu {
namespace {

struct Abs {
  template <class T>
  T operator()(T x) const {
    if constexpr (std::is_integral_v<T>)
      return x < 0 ? negate(x) : x;
    else
      return std::abs(x);
  }
};
struct Neg {
  template <class T>
  T operator()(T x) const {
    return negate(x);
  }
};
struct Sign {
  template <class T>
  T operator()(T x) const {
    if constexpr (kIsComplex<T>) {
      const auto length = std::abs(x);
      return length == 0 ? T(0) : x / length;
    } else {
      return is_nan(x) ? x : static_cast<T>((x > T{0}) - (x < T{0}));
    }
  }
};
struct Reciprocal {
  template <class T>
  T operator()(T x) const {
    return T(1) / x;
  }
};
struct Square {
  template <class T>
  T operator()(T x) const {
    return times(x, x);
  }
};
struct Sqrt {
  template <class T>
  T operator()(T x) const {
    return std::sqrt(x);
  }
};
struct Rsqrt {
  template <class T>
  T operator()(T x) const {
    return T(1) / std::sqrt(x);
  }
};
struct Floor {
  template <class T>
  T operator()(T x) const {
    return rounded_down(x);
  }
};
struct Ceil {
  template <class T>
  T operator()(T x) const {
    return -rounded_down(-x);
  }
};
struct Round {  // halves go to the even neighbour
  template <class T>
  T operator()(T x) const {
    if constexpr (std::is_integral_v<T>)
      return x;
    else
      return std::nearbyint(x);
  }
};
struct IsNan {
  template <class T>
  bool operator()(T x) const {
    return x != x;
  }
};
struct IsInf {
  template <class T>
  bool operator()(T x) const {
    return std::abs(x) == std::numeric_limits<T>::infinity();
  }
};
struct IsFinite {
  template <class T>
  bool operator()(T x) const {
    return std::abs(x) < std::numeric_limits<T>::infinity();
  }
};
struct Invert {
  template <class T>
  T operator()(T x) const {
    return static_cast<T>(~x);
  }
};
struct LogicalNot {
  bool operator()(bool x) const { return !x; }
};
struct PopulationCount {
  template <class T>
  uint8_t operator()(T x) const {
    return static_cast<uint8_t>(std::popcount(static_cast<std::make_unsigned_t<T>>(x)));
  }
};
struct ToByte {
  template <class T>
  using Result = uint8_t;
};

// Roots go through vectors by hand: std's may set errno, which the compiler respects.
template <class Op, Fn kFn>
Prepared make_root(const KernelInit& init) {
  const DType t = init.input_types[0];
  UnaryLoop loop = simd_loop(kFn, t);
  return prepare_unary(init, loop ? loop : find_unary<Op, FloatsAndComplexes>(t), kCheap);
}
template <class Op, Fn kFn>
KernelRow root(const char* op) {
  KernelRow row = unary<Op, FloatsAndComplexes>(op);
  row.make = make_root<Op, kFn>;
  return row;
}

}  // namespace

std::vector<KernelRow> unary_kernels() {
  using SignedNumbers = Join<FloatsAndComplexes, SignedInts>;
  using Doubles = Types<float, double>;
  KernelRow logical_not = unary<LogicalNot, Types<bool>>("LogicalNot");
  logical_not.types.clear();
  return {unary<Abs, Join<Floats, SignedInts>>("Abs"),
          unary<Neg, SignedNumbers>("Neg"),
          unary<Sign, SignedNumbers>("Sign"),
          unary<Reciprocal, FloatsAndComplexes>("Reciprocal"),
          unary<Reciprocal, FloatsAndComplexes>("Inv"),
          unary<Square, Numbers>("Square"),
          root<Sqrt, Fn::kSqrt>("Sqrt"),
          root<Rsqrt, Fn::kRsqrt>("Rsqrt"),
          unary<Floor, Floats>("Floor"),
          unary<Ceil, Floats>("Ceil"),
          unary<Round, Doubles>("Rint"),
          unary<Round, Join<Floats, Types<int32_t, int64_t>>>("Round"),
          unary<IsNan, Floats, ToBool>("IsNan"),
          unary<IsInf, Floats, ToBool>("IsInf"),
          unary<IsFinite, Floats, ToBool>("IsFinite"),
          unary<Invert, Ints>("Invert"),
          unary<PopulationCount, Ints, ToByte>("PopulationCount"),
          std::move(logical_not)};
}

}  // namespace emplace::cpu
