#include "backends/cpu/simd_math.h"

#if defined(EMPLACE_WITH_HWY)

#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_AVX3_DL)
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/simd_math.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <hwy/contrib/math/math-inl.h>

#include <cmath>
#include <limits>
#include <type_traits>

#include "base/cpu_isa.h"

HWY_BEFORE_NAMESPACE();
namespace emplace::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

template <class T>
constexpr T kMax = std::numeric_limits<T>::max();

// e^x of floats in [-87, 88]: 2^n times a polynomial of what is left within half of log 2.
template <class D, class V>
V exp_float(D d, V x) {
  const hn::RebindToSigned<D> whole;
  const auto n = hn::NearestInt(hn::Mul(x, hn::Set(d, 1.44269504f)));
  const V times = hn::ConvertTo(d, n);
  V r = hn::NegMulAdd(times, hn::Set(d, 0.693145752f), x);
  r = hn::NegMulAdd(times, hn::Set(d, 1.42860682e-6f), r);
  V p = hn::MulAdd(hn::Set(d, 0.001392622492f), r, hn::Set(d, 0.00836321214f));
  p = hn::MulAdd(p, r, hn::Set(d, 0.04166655437f));
  p = hn::MulAdd(p, r, hn::Set(d, 0.1666657679f));
  p = hn::MulAdd(p, r, hn::Set(d, 0.5f));
  p = hn::Add(hn::MulAdd(p, hn::Mul(r, r), r), hn::Set(d, 1.0f));
  const auto power = hn::ShiftLeft<23>(hn::Add(n, hn::Set(whole, 127)));
  return hn::Mul(p, hn::BitCast(d, power));
}
template <class D, class V>
V exp_of(D d, V x) {
  if constexpr (sizeof(hn::TFromD<D>) == 4) return exp_float(d, x);
  else return hn::Exp(d, x);
}

// The polynomial with these coefficients, the last the highest.
template <class D, class V, size_t kCount>
V polynomial(D d, V y, const float (&c)[kCount]) {
  V sum = hn::Set(d, c[kCount - 1]);
  for (size_t i = kCount - 1; i-- > 0;) sum = hn::MulAdd(sum, y, hn::Set(d, c[i]));
  return sum;
}
// An odd function of floats that has reached 1 (in floats) at `limit`: a quotient of polynomials of
// x^2, fitted for the least relative error up to there.
template <class D, class V, size_t kAbove, size_t kBelow>
V odd_quotient(D d, V x, float limit, const float (&above)[kAbove], const float (&below)[kBelow]) {
  const V y = hn::Mul(x, x), one = hn::Set(d, 1.0f);
  const V q = hn::Div(hn::Mul(x, polynomial(d, y, above)), polynomial(d, y, below));
  const auto full = hn::Or(hn::Ge(y, hn::Set(d, limit * limit)), hn::Gt(hn::Abs(q), one));
  return hn::IfThenElse(full, hn::CopySign(one, x), q);
}
constexpr float kTanhAbove[] = {0.9999999987f, 0.1367991011f, 0.003868320727f,
                                2.800727134e-5f, 3.058440418e-8f, -1.220287132e-11f};
constexpr float kTanhBelow[] = {1.0f, 0.4701324218f, 0.02724581519f, 0.0003938617065f,
                                1.287351201e-6f};
constexpr float kErfAbove[] = {1.128379146f, 0.1905743526f, 0.0527663808f,
                               0.003771623084f, 0.0002848071338f, 2.045973064e-6f};
constexpr float kErfBelow[] = {1.0f, 0.5022248585f, 0.1141743843f,
                               0.01498135152f, 0.001163604062f, 3.804530669e-5f};

// Each function: the vector form, the range [low, high] where it holds, and std's for the rest
// (infinities, NaN, results out of range).
// clang-format off
struct Total {};
template <class T> constexpr bool kIsFloat = sizeof(T) == 4;
struct ExpOp {
  template <class T> static constexpr T low = kIsFloat<T> ? -87 : -708;
  template <class T> static constexpr T high = kIsFloat<T> ? 88 : 706;
  template <class D, class V> static V vec(D d, V x) { return exp_of(d, x); }
  template <class T> static T one(T x) { return std::exp(x); }
};
struct Expm1Op {
  template <class T> static constexpr T low = kIsFloat<T> ? -87 : -708;
  template <class T> static constexpr T high = kIsFloat<T> ? 88 : 706;
  template <class D, class V> static V vec(D d, V x) { return hn::Expm1(d, x); }
  template <class T> static T one(T x) { return std::expm1(x); }
};
struct LogOp {
  template <class T> static constexpr T low = std::numeric_limits<T>::min();
  template <class T> static constexpr T high = kMax<T>;
  template <class D, class V> static V vec(D d, V x) { return hn::Log(d, x); }
  template <class T> static T one(T x) { return std::log(x); }
};
struct Log1pOp {
  template <class T> static constexpr T low = 0;
  template <class T> static constexpr T high = kMax<T>;
  template <class D, class V> static V vec(D d, V x) { return hn::Log1p(d, x); }
  template <class T> static T one(T x) { return std::log1p(x); }
};
struct SinOp {
  template <class T> static constexpr T low = -39000;
  template <class T> static constexpr T high = 39000;
  template <class D, class V> static V vec(D d, V x) { return hn::Sin(d, x); }
  template <class T> static T one(T x) { return std::sin(x); }
};
struct CosOp {
  template <class T> static constexpr T low = -39000;
  template <class T> static constexpr T high = 39000;
  template <class D, class V> static V vec(D d, V x) { return hn::Cos(d, x); }
  template <class T> static T one(T x) { return std::cos(x); }
};
struct SinhOp {
  template <class T> static constexpr T low = kIsFloat<T> ? -88 : -705;
  template <class T> static constexpr T high = kIsFloat<T> ? 88 : 705;
  template <class D, class V> static V vec(D d, V x) { return hn::Sinh(d, x); }
  template <class T> static T one(T x) { return std::sinh(x); }
};
struct TanhOp {
  template <class T> static constexpr T low = -40;
  template <class T> static constexpr T high = 40;
  template <class D, class V> static V vec(D d, V x) { return hn::Tanh(d, x); }
  template <class T> static T one(T x) { return std::tanh(x); }
};
struct SigmoidOp {
  template <class T> static constexpr T low = kIsFloat<T> ? -87 : -705;
  template <class T> static constexpr T high = kIsFloat<T> ? 87 : 705;
  template <class D, class V> static V vec(D d, V x) {
    const V one = hn::Set(d, 1);
    return hn::Div(one, hn::Add(one, exp_of(d, hn::Neg(x))));
  }
  template <class T> static T one(T x) { return T(1) / (T(1) + std::exp(-x)); }
};
struct AsinOp {
  template <class T> static constexpr T low = -1;
  template <class T> static constexpr T high = 1;
  template <class D, class V> static V vec(D d, V x) { return hn::Asin(d, x); }
  template <class T> static T one(T x) { return std::asin(x); }
};
struct AcosOp {
  template <class T> static constexpr T low = -1;
  template <class T> static constexpr T high = 1;
  template <class D, class V> static V vec(D d, V x) { return hn::Acos(d, x); }
  template <class T> static T one(T x) { return std::acos(x); }
};
struct AtanOp {
  template <class T> static constexpr T low = -kMax<T>;
  template <class T> static constexpr T high = kMax<T>;
  template <class D, class V> static V vec(D d, V x) { return hn::Atan(d, x); }
  template <class T> static T one(T x) { return std::atan(x); }
};
struct AsinhOp {
  template <class T> static constexpr T low = T(-1e15);
  template <class T> static constexpr T high = T(1e15);
  template <class D, class V> static V vec(D d, V x) { return hn::Asinh(d, x); }
  template <class T> static T one(T x) { return std::asinh(x); }
};
struct AcoshOp {
  template <class T> static constexpr T low = 1;
  template <class T> static constexpr T high = T(1e15);
  template <class D, class V> static V vec(D d, V x) { return hn::Acosh(d, x); }
  template <class T> static T one(T x) { return std::acosh(x); }
};
struct AtanhOp {
  template <class T> static constexpr T low = T(-0.999);
  template <class T> static constexpr T high = T(0.999);
  template <class D, class V> static V vec(D d, V x) { return hn::Atanh(d, x); }
  template <class T> static T one(T x) { return std::atanh(x); }
};
struct SoftplusOp {  // log(1 + exp(x)); at the end x, where the sum would lose 1
  template <class T> static constexpr T low = kIsFloat<T> ? -87 : -708;
  template <class T> static constexpr T high = kMax<T>;
  template <class D, class V> static V vec(D d, V x) {
    using T = hn::TFromD<D>;
    const V limit = hn::Set(d, kIsFloat<T> ? T(13.9423847) : T(34.0436533)), exp = exp_of(d, hn::Min(x, limit));
    return hn::IfThenElse(hn::Gt(x, limit), x, hn::IfThenElse(hn::Lt(x, hn::Neg(limit)), exp, hn::Log1p(d, exp)));
  }
  template <class T> static T one(T x) { return std::exp(x); }  // below `low`, and NaN
};
// These hold for every value.
struct SqrtOp : Total {
  template <class D, class V> static V vec(D, V x) { return hn::Sqrt(x); }
};
struct RsqrtOp : Total {
  template <class D, class V> static V vec(D d, V x) { return hn::Div(hn::Set(d, 1), hn::Sqrt(x)); }
};
// e^x - 1 below zero: -1 from `low` of Expm1Op on.
template <class D, class V> V expm1_below(D d, V x) {
  return hn::Expm1(d, hn::Max(hn::Min(x, hn::Zero(d)), hn::Set(d, Expm1Op::low<hn::TFromD<D>>)));
}
struct EluOp : Total {
  template <class D, class V> static V vec(D d, V x) { return hn::IfThenElse(hn::Lt(x, hn::Zero(d)), expm1_below(d, x), x); }
};
struct SeluOp : Total {
  template <class D, class V> static V vec(D d, V x) {
    using T = hn::TFromD<D>;
    const V below = hn::Mul(hn::Set(d, T(kSeluAlpha)), expm1_below(d, x));
    return hn::IfThenElse(hn::Lt(x, hn::Zero(d)), below, hn::Mul(hn::Set(d, T(kSeluScale)), x));
  }
};
struct FloatTanhOp : Total {
  template <class D, class V> static V vec(D d, V x) { return odd_quotient(d, x, 9.02f, kTanhAbove, kTanhBelow); }
};
struct FloatErfOp : Total {
  template <class D, class V> static V vec(D d, V x) { return odd_quotient(d, x, 3.925f, kErfAbove, kErfBelow); }
};
// clang-format on

// Some lanes are out of range. By itself, so that the loops around stay small.
template <class Op, class D, class T>
HWY_NOINLINE void block_apart(D d, const T* in, T* out) {
  const auto x = hn::LoadU(d, in);
  const auto fine = hn::And(hn::Ge(x, hn::Set(d, Op::template low<T>)),
                            hn::Le(x, hn::Set(d, Op::template high<T>)));
  HWY_ALIGN T given[hn::MaxLanes(D())];
  HWY_ALIGN T made[hn::MaxLanes(D())];
  hn::Store(x, d, given);
  hn::Store(Op::vec(d, hn::IfThenElseZero(fine, x)), d, made);
  for (size_t i = 0; i < hn::Lanes(d); ++i) {
    const bool inside = given[i] >= Op::template low<T> && given[i] <= Op::template high<T>;
    out[i] = inside ? made[i] : Op::one(given[i]);
  }
}

template <class Op, class D, class T>
HWY_INLINE void block(D d, const T* in, T* out) {
  const auto x = hn::LoadU(d, in);
  if constexpr (std::is_base_of_v<Total, Op>) {
    hn::StoreU(Op::vec(d, x), d, out);
  } else {
    const auto fine = hn::And(hn::Ge(x, hn::Set(d, Op::template low<T>)),
                              hn::Le(x, hn::Set(d, Op::template high<T>)));
    if (HWY_LIKELY(hn::AllTrue(d, fine)))
      hn::StoreU(Op::vec(d, x), d, out);
    else
      block_apart<Op>(d, in, out);
  }
}

template <class Op, class T>
void loop(const void* in, void* out, int64_t n) {
  const hn::ScalableTag<T> d;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  const T* x = static_cast<const T*>(in);
  T* y = static_cast<T*>(out);
  int64_t i = 0;
  for (; i + 2 * lanes <= n; i += 2 * lanes) {
    block<Op>(d, x + i, y + i);
    block<Op>(d, x + i + lanes, y + i + lanes);
  }
  for (; i + lanes <= n; i += lanes) block<Op>(d, x + i, y + i);
  if (i == n) return;
  HWY_ALIGN T last[hn::MaxLanes(hn::ScalableTag<T>())] = {};
  for (int64_t k = i; k < n; ++k) last[k - i] = x[k];
  block<Op>(d, last, last);
  for (int64_t k = i; k < n; ++k) y[k] = last[k - i];
}

// The angle of (x, y), in all quadrants; as std's at zeros and infinities.
template <class D, class V>
V atan2_of(D d, V y, V x) {
  using T = hn::TFromD<D>;
  const V ax = hn::Abs(x), ay = hn::Abs(y), zero = hn::Zero(d), one = hn::Set(d, T(1));
  const auto steep = hn::Gt(ay, ax);
  const V low = hn::IfThenElse(steep, ax, ay), high = hn::IfThenElse(steep, ay, ax);
  // 0 / 0 is 0 here, and infinity over itself 1.
  const V ratio = hn::IfThenElse(hn::Eq(low, high), hn::IfThenElse(hn::Eq(high, zero), zero, one),
                                 hn::Div(low, high));
  V angle = hn::Atan(d, ratio);
  angle = hn::IfThenElse(steep, hn::Sub(hn::Set(d, T(1.57079632679489661923)), angle), angle);
  const auto left = hn::Lt(hn::CopySign(one, x), zero);
  angle = hn::IfThenElse(left, hn::Sub(hn::Set(d, T(3.14159265358979323846)), angle), angle);
  const V result = hn::CopySign(angle, y);
  const auto fine = hn::And(hn::Eq(x, x), hn::Eq(y, y));
  return hn::IfThenElse(fine, result, hn::Add(x, y));  // NaN
}

template <class T>
void atan2_loop(const void* a, int64_t step_a, const void* b, int64_t step_b, void* out, int64_t n) {
  const hn::ScalableTag<T> d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  const T *y = static_cast<const T*>(a), *x = static_cast<const T*>(b);
  T* z = static_cast<T*>(out);
  const auto get = [&](const T* from, int64_t step) {
    return step ? hn::LoadU(d, from) : hn::Set(d, *from);
  };
  for (; n >= lanes; n -= lanes, y += step_a * lanes, x += step_b * lanes, z += lanes)
    hn::StoreU(atan2_of(d, get(y, step_a), get(x, step_b)), d, z);
  if (n == 0) return;
  HWY_ALIGN T last_y[hn::MaxLanes(hn::ScalableTag<T>())] = {};
  HWY_ALIGN T last_x[hn::MaxLanes(hn::ScalableTag<T>())] = {};
  for (int64_t i = 0; i < n; ++i) last_y[i] = y[i * step_a], last_x[i] = x[i * step_b];
  hn::Store(atan2_of(d, hn::Load(d, last_y), hn::Load(d, last_x)), d, last_y);
  for (int64_t i = 0; i < n; ++i) z[i] = last_y[i];
}

BinaryLoop find_atan2(bool is_double) { return is_double ? atan2_loop<double> : atan2_loop<float>; }

template <class T>
UnaryLoop pick_loop(Fn fn) {
  switch (fn) {
    case Fn::kExp: return loop<ExpOp, T>;
    case Fn::kExpm1: return loop<Expm1Op, T>;
    case Fn::kLog: return loop<LogOp, T>;
    case Fn::kLog1p: return loop<Log1pOp, T>;
    case Fn::kSin: return loop<SinOp, T>;
    case Fn::kCos: return loop<CosOp, T>;
    case Fn::kSinh: return loop<SinhOp, T>;
    case Fn::kTanh: return loop<std::conditional_t<sizeof(T) == 4, FloatTanhOp, TanhOp>, T>;
    case Fn::kSigmoid: return loop<SigmoidOp, T>;
    case Fn::kAsin: return loop<AsinOp, T>;
    case Fn::kAcos: return loop<AcosOp, T>;
    case Fn::kAtan: return loop<AtanOp, T>;
    case Fn::kAsinh: return loop<AsinhOp, T>;
    case Fn::kAcosh: return loop<AcoshOp, T>;
    case Fn::kAtanh: return loop<AtanhOp, T>;
    case Fn::kSqrt: return loop<SqrtOp, T>;
    case Fn::kRsqrt: return loop<RsqrtOp, T>;
    case Fn::kElu: return loop<EluOp, T>;
    case Fn::kSelu: return loop<SeluOp, T>;
    case Fn::kSoftplus: return loop<SoftplusOp, T>;
    case Fn::kErf:
      if constexpr (sizeof(T) == 4) return loop<FloatErfOp, T>;
  }
  return nullptr;
}

UnaryLoop find_loop(Fn fn, bool is_double) {
  return is_double ? pick_loop<double>(fn) : pick_loop<float>(fn);
}

}  // namespace emplace::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace emplace::cpu {
HWY_EXPORT(find_loop);
HWY_EXPORT(find_atan2);

namespace {

// Highway's targets are bits, the better the lower.
void hold_back() {
#if defined(__x86_64__)
  if (max_cpu_isa() == CpuIsa::kAvx2) hwy::DisableTargets(HWY_AVX2 - 1);
  if (max_cpu_isa() == CpuIsa::kBase) hwy::DisableTargets(HWY_SSE4 - 1);
#endif
}

}  // namespace

static bool has_loops(DType dtype) {
  static const bool once = (hold_back(), true);
  (void)once;
  return dtype == DType::kFloat || dtype == DType::kDouble;
}

BinaryLoop simd_atan2(DType dtype) {
  if (!has_loops(dtype)) return nullptr;
  return HWY_DYNAMIC_DISPATCH(find_atan2)(dtype == DType::kDouble);
}

UnaryLoop simd_loop(Fn fn, DType dtype) {
  if (!has_loops(dtype)) return nullptr;
  return HWY_DYNAMIC_DISPATCH(find_loop)(fn, dtype == DType::kDouble);
}

}  // namespace emplace::cpu
#endif

#else

namespace emplace::cpu {
UnaryLoop simd_loop(Fn, DType) { return nullptr; }
BinaryLoop simd_atan2(DType) { return nullptr; }
}  // namespace emplace::cpu

#endif
