// Quotients, remainders, powers, bits: where integers need care.
#include "backends/cpu/cpu_kernels.h"
#include "backends/cpu/elementwise.h"
#include "backends/cpu/math.h"
#include "backends/cpu/rounding.h"

namespace emplace::cpu {
namespace {

template <class T>
T quotient(T a, T b) {  // b is not 0; the lowest value by -1 wraps round
  if constexpr (std::is_signed_v<T>)
    if (b == T(-1)) return negate(a);
  return static_cast<T>(a / b);
}
template <class T>
T remainder(T a, T b) {
  if constexpr (std::is_signed_v<T>)
    if (b == T(-1)) return T{0};
  return static_cast<T>(a % b);
}

struct TruncateDiv {
  template <class T>
  T operator()(T a, T b) const {
    if constexpr (std::is_integral_v<T>)
      return quotient(a, b);
    else
      return std::trunc(a / b);
  }
};
struct Div {  // of whole numbers as C divides, of others exactly
  template <class T>
  T operator()(T a, T b) const {
    if constexpr (std::is_integral_v<T>)
      return quotient(a, b);
    else
      return a / b;
  }
};
// The quotient of 32-bit numbers, rounded down: exact in double, which vectors divide in. b is not 0.
inline int32_t narrow_floor(int32_t a, int32_t b) {
  const int32_t divisor = b == -1 ? 1 : b;  // the lowest value by -1 wraps round
  const auto q = static_cast<int32_t>(std::floor(static_cast<double>(a) / static_cast<double>(divisor)));
  return b == -1 ? negate(a) : q;
}

struct FloorDiv {
  template <class T>
  T operator()(T a, T b) const {
    if constexpr (std::is_same_v<T, int32_t>) {
      return narrow_floor(a, b);
    } else if constexpr (std::is_integral_v<T>) {
      if constexpr (std::is_signed_v<T>)
        if (b == T(-1)) return negate(a);
      const T q = static_cast<T>(a / b);
      const T r = minus(a, times(q, b));
      return r != 0 && (a < 0) != (b < 0) ? static_cast<T>(q - 1) : q;
    } else {
      return rounded_down(a / b);
    }
  }
};
struct TruncateMod {
  template <class T>
  T operator()(T a, T b) const {
    if constexpr (std::is_integral_v<T>)
      return remainder(a, b);
    else
      return std::fmod(a, b);
  }
};
struct FloorMod {
  template <class T>
  T operator()(T a, T b) const {
    if constexpr (std::is_same_v<T, int32_t>) return minus(a, times(narrow_floor(a, b), b));
    const T r = TruncateMod{}(a, b);
    return r != T(0) && (r < T(0)) != (b < T(0)) ? plus(r, b) : r;
  }
};
struct Pow {
  template <class T>
  T operator()(T a, T b) const {
    if constexpr (!std::is_integral_v<T>) return std::pow(a, b);
    else {
      T result = 1;
      for (; b > 0; b = static_cast<T>(b >> 1), a = times(a, a))
        if (b & 1) result = times(result, a);
      return result;
    }
  }
};
// clang-format off
struct BitwiseAnd { template <class T> T operator()(T a, T b) const { return static_cast<T>(a & b); } };
struct BitwiseOr { template <class T> T operator()(T a, T b) const { return static_cast<T>(a | b); } };
struct BitwiseXor { template <class T> T operator()(T a, T b) const { return static_cast<T>(a ^ b); } };
// clang-format on

template <class T>
int shift_of(T b) {  // within the bits there are
  constexpr T last = static_cast<T>(sizeof(T) * 8 - 1);
  return b < T{0} ? 0 : b > last ? last : static_cast<int>(b);
}
struct LeftShift {
  template <class T>
  T operator()(T a, T b) const {
    return static_cast<T>(static_cast<Wrap<T>>(a) << shift_of(b));
  }
};
struct RightShift {
  template <class T>
  T operator()(T a, T b) const {
    return static_cast<T>(a >> shift_of(b));
  }
};

void refuse_zeros(const Tensor& divisor) {
  visit_dtype(divisor.dtype(), Ints{}, [&](auto tag) {
    using T = typename decltype(tag)::type;
    for (T d : std::span(divisor.data<T>(), static_cast<size_t>(divisor.num_elements())))
      if (d == 0) throw invalid_argument("Integer division by zero");
  });
}
void refuse_negatives(const Tensor& exponent) {
  visit_dtype(exponent.dtype(), Ints{}, [&](auto tag) {
    using T = typename decltype(tag)::type;
    for (T e : std::span(exponent.data<T>(), static_cast<size_t>(exponent.num_elements())))
      if (e < T{0})
        throw invalid_argument("Integers to negative integer powers are not allowed");
  });
}

template <class Op, class List, OperandCheck kCheck>
Prepared make_checked(const KernelInit& init) {
  const DType t = init.input_types[0];
  return prepare_binary(init, find_binary<Op, List>(t), kModerate,
                        is_integer(t) ? kCheck : nullptr);
}

template <class Op, class List, OperandCheck kCheck = refuse_zeros>
KernelRow checked(const char* op) {
  KernelRow row = binary<Op, List, SameType, kModerate>(op);
  row.make = make_checked<Op, List, kCheck>;
  return row;
}

}  // namespace

std::vector<KernelRow> integer_kernels() {
  using Some = Types<float, double, int32_t, int64_t>;
  return {checked<Div, Numbers>("Div"),
          checked<FloorDiv, Reals>("FloorDiv"),
          checked<TruncateDiv, Reals>("TruncateDiv"),
          checked<FloorMod, Reals>("FloorMod"),
          checked<TruncateMod, Some>("Mod"),
          checked<TruncateMod, Some>("TruncateMod"),
          checked<Pow, Join<FloatsAndComplexes, SignedInts>, refuse_negatives>("Pow"),
          binary<BitwiseAnd, Ints>("BitwiseAnd"),
          binary<BitwiseOr, Ints>("BitwiseOr"),
          binary<BitwiseXor, Ints>("BitwiseXor"),
          binary<LeftShift, Ints>("LeftShift"),
          binary<RightShift, Ints>("RightShift")};
}

}  // namespace emplace::cpu
