// Elementwise operations: a functor an op, named as the op is; and the loops they run in.
#define PI_F 3.14159265358979323846

// Functions of complex numbers, found by the same names as those of real ones.
template <class R> DEV Complex<R> exp(Complex<R> x) { const R e = exp(x.re); return {e * cos(x.im), e * sin(x.im)}; }
template <class R> DEV Complex<R> log(Complex<R> x) { return {(R)log(hypot(x.re, x.im)), (R)atan2(x.im, x.re)}; }
template <class R> DEV Complex<R> log1p(Complex<R> x) {
  const R more = x.re * ((R)2 + x.re) + x.im * x.im;  // of the square of 1 + x
  return {(R)0.5 * log1p(more), (R)atan2(x.im, (R)1 + x.re)};
}
template <class R> DEV Complex<R> sin(Complex<R> x) { return {sin(x.re) * cosh(x.im), cos(x.re) * sinh(x.im)}; }
template <class R> DEV Complex<R> cos(Complex<R> x) { return {cos(x.re) * cosh(x.im), -sin(x.re) * sinh(x.im)}; }
template <class R> DEV Complex<R> sinh(Complex<R> x) { return {sinh(x.re) * cos(x.im), cosh(x.re) * sin(x.im)}; }
template <class R> DEV Complex<R> cosh(Complex<R> x) { return {cosh(x.re) * cos(x.im), sinh(x.re) * sin(x.im)}; }
template <class R> DEV Complex<R> tan(Complex<R> x) {
  if (fabs(x.im) > (R)20) return {(R)4 * sin(x.re) * cos(x.re) * exp((R)-2 * fabs(x.im)), x.im > 0 ? (R)1 : (R)-1};
  return sin(x) / cos(x);
}

// ---- Unary.
struct Neg { template <class T> DEV T f(T x) { return -x; } };
struct Abs {
  template <class T> DEV T f(T x) { return x < (T)0 ? -x : x; }
  DEV float f(float x) { return fabsf(x); }
  DEV double f(double x) { return fabs(x); }
};
struct ComplexAbs { template <class R> DEV R f(Complex<R> x) { return (R)hypot(x.re, x.im); } };
struct Angle { template <class R> DEV R f(Complex<R> x) { return (R)atan2(x.im, x.re); } };
struct Real { template <class R> DEV R f(Complex<R> x) { return x.re; } };
struct Imag { template <class R> DEV R f(Complex<R> x) { return x.im; } };
struct Conj { template <class R> DEV Complex<R> f(Complex<R> x) { return {x.re, -x.im}; } };
struct Sign {
  template <class R> DEV Complex<R> f(Complex<R> x) {
    const R size = (R)hypot(x.re, x.im);
    return size == (R)0 ? x : Complex<R>{x.re / size, x.im / size};
  }
  template <class T> DEV T f(T x) {
    if constexpr (!Is<T>::integer) if (isnan(x)) return x;
    return (T)((x > (T)0) - (x < (T)0));
  }
};
struct Square { template <class T> DEV T f(T x) { return x * x; } };
struct Reciprocal { template <class T> DEV T f(T x) { return Store<T>::from(1) / x; } };
struct Inv : Reciprocal {};
struct Sqrt { template <class T> DEV T f(T x) { return sqrt(x); } };
struct Rsqrt { DEV float f(float x) { return rsqrtf(x); } DEV double f(double x) { return rsqrt(x); } };
struct Exp { template <class T> DEV T f(T x) { return exp(x); } };
struct Expm1 { template <class T> DEV T f(T x) { return expm1(x); } };
struct Log { template <class T> DEV T f(T x) { return log(x); } };
struct Log1p { template <class T> DEV T f(T x) { return log1p(x); } };
struct Sin { template <class T> DEV T f(T x) { return sin(x); } };
struct Cos { template <class T> DEV T f(T x) { return cos(x); } };
struct Tan { template <class T> DEV T f(T x) { return tan(x); } };
struct Asin { template <class T> DEV T f(T x) { return asin(x); } };
struct Acos { template <class T> DEV T f(T x) { return acos(x); } };
struct Atan { template <class T> DEV T f(T x) { return atan(x); } };
struct Sinh { template <class T> DEV T f(T x) { return sinh(x); } };
struct Cosh { template <class T> DEV T f(T x) { return cosh(x); } };
struct Tanh { template <class T> DEV T f(T x) { return tanh(x); } };
struct Asinh { template <class T> DEV T f(T x) { return asinh(x); } };
struct Acosh { template <class T> DEV T f(T x) { return acosh(x); } };
struct Atanh { template <class T> DEV T f(T x) { return atanh(x); } };
struct Sigmoid { template <class T> DEV T f(T x) { return (T)1 / ((T)1 + exp(-x)); } };
struct Erf { template <class T> DEV T f(T x) { return erf(x); } };
struct Erfc { template <class T> DEV T f(T x) { return erfc(x); } };
struct Erfinv { template <class T> DEV T f(T x) { return erfinv(x); } };
struct Ndtri { template <class T> DEV T f(T x) { return normcdfinv(x); } };
struct Lgamma { template <class T> DEV T f(T x) { return lgamma(x); } };
struct Digamma {
  template <class T> DEV T f(T x) {
    if (x == (T)0) return (T)NOT_A_NUMBER;
    T shift = 0, y = x;
    if (y < (T)0) {
      if (y == floor(y)) return (T)NOT_A_NUMBER;
      shift = -(T)PI_F / tan((T)PI_F * y);
      y = (T)1 - y;
    }
    while (y < (T)10) { shift -= (T)1 / y; y += (T)1; }
    T r = (T)1 / (y * y);
    T tail = r * ((T)(1.0 / 12) - r * ((T)(1.0 / 120) - r * ((T)(1.0 / 252) - r * ((T)(1.0 / 240) -
             r * ((T)(1.0 / 132))))));
    return log(y) - (T)0.5 / y - tail + shift;
  }
};
struct Floor { template <class T> DEV T f(T x) { return floor(x); } };
struct Ceil { template <class T> DEV T f(T x) { return ceil(x); } };
struct Rint { template <class T> DEV T f(T x) { return rint(x); } };
struct Round { template <class T> DEV T f(T x) { if constexpr (Is<T>::integer) return x; else return rint(x); } };
struct IsNan { template <class T> DEV bool f(T x) { return isnan(x); } };
struct IsInf { template <class T> DEV bool f(T x) { return isinf(x); } };
struct IsFinite { template <class T> DEV bool f(T x) { return isfinite(x); } };
struct LogicalNot { DEV bool f(bool x) { return !x; } };
struct Invert { template <class T> DEV T f(T x) { return (T)~x; } };
struct PopulationCount {
  template <class T> DEV u8 f(T x) { return (u8)__popcll((u64)x & (sizeof(T) == 8 ? ~0ull : (1ull << 8 * (sizeof(T) % 8)) - 1)); }
};
struct Relu { template <class T> DEV T f(T x) { return x > (T)0 || x != x ? x : (T)0; } };
struct Relu6 { template <class T> DEV T f(T x) { return x < (T)0 ? (T)0 : x > (T)6 ? (T)6 : x; } };
struct Elu { template <class T> DEV T f(T x) { return x < (T)0 ? expm1(x) : x; } };
struct Selu {
  template <class T> DEV T f(T x) {
    const T scale = (T)1.0507009873554804934193349852946, alpha = (T)1.7580993408473768599402175208123;
    return x < (T)0 ? alpha * expm1(x) : scale * x;
  }
};
struct Softplus { template <class T> DEV T f(T x) { return x > (T)30 ? x : log1p(exp(x)); } };
struct Softsign { template <class T> DEV T f(T x) { return x / ((T)1 + fabs(x)); } };
struct ZerosLike { template <class T> DEV T f(T) { return Store<T>::from(0); } };
struct OnesLike { template <class T> DEV T f(T) { return Store<T>::from(1); } };
struct Same { template <class T> DEV T f(T x) { return x; } };

// ---- Binary.
struct Add { template <class T> DEV T f(T a, T b) { return a + b; } };
struct AddV2 : Add {};
struct Sub { template <class T> DEV T f(T a, T b) { return a - b; } };
struct Mul { template <class T> DEV T f(T a, T b) { return a * b; } };
struct RealDiv { template <class T> DEV T f(T a, T b) { return a / b; } };
struct Div { template <class T> DEV T f(T a, T b) { return a / b; } };
struct DivNoNan { template <class T> DEV T f(T a, T b) { return b == Store<T>::from(0) ? Store<T>::from(0) : a / b; } };
struct MulNoNan { template <class T> DEV T f(T a, T b) { return b == Store<T>::from(0) ? Store<T>::from(0) : a * b; } };
struct TruncateDiv { template <class T> DEV T f(T a, T b) { if constexpr (Is<T>::integer) return a / b; else return trunc(a / b); } };
struct FloorDiv {
  template <class T> DEV T f(T a, T b) {
    if constexpr (Is<T>::integer) { T q = a / b; return q * b != a && (a < (T)0) != (b < (T)0) ? q - 1 : q; }
    else return floor(a / b);
  }
};
struct FloorMod {
  template <class T> DEV T f(T a, T b) {
    if constexpr (Is<T>::integer) { T r = a % b; return r != (T)0 && (r < (T)0) != (b < (T)0) ? r + b : r; }
    else { T r = fmod(a, b); return r != (T)0 && (r < (T)0) != (b < (T)0) ? r + b : r; }
  }
};
struct Mod { template <class T> DEV T f(T a, T b) { if constexpr (Is<T>::integer) return a % b; else return fmod(a, b); } };
struct TruncateMod : Mod {};
struct Maximum { template <class T> DEV T f(T a, T b) { return a > b || a != a ? a : b; } };
struct Minimum { template <class T> DEV T f(T a, T b) { return a < b || a != a ? a : b; } };
struct SquaredDifference { template <class T> DEV T f(T a, T b) { return (a - b) * (a - b); } };
struct Pow {
  DEV float f(float a, float b) { return powf(a, b); }
  DEV double f(double a, double b) { return pow(a, b); }
  template <class T> DEV T f(T a, T b) { T r = 1; for (T e = b; e > 0; e >>= 1, a *= a) if (e & 1) r *= a; return r; }
};
struct Atan2 { template <class T> DEV T f(T a, T b) { return atan2(a, b); } };
struct NextAfter { template <class T> DEV T f(T a, T b) { return nextafter(a, b); } };
struct Xdivy { template <class T> DEV T f(T a, T b) { return a == Store<T>::from(0) ? a : a / b; } };
struct Xlogy { template <class T> DEV T f(T a, T b) { return a == Store<T>::from(0) ? a : a * log(b); } };
struct Xlog1py { template <class T> DEV T f(T a, T b) { return a == Store<T>::from(0) ? a : a * log1p(b); } };
struct Equal { template <class T> DEV bool f(T a, T b) { return a == b; } };
struct NotEqual { template <class T> DEV bool f(T a, T b) { return a != b; } };
struct Less { template <class T> DEV bool f(T a, T b) { return a < b; } };
struct LessEqual { template <class T> DEV bool f(T a, T b) { return a <= b; } };
struct Greater { template <class T> DEV bool f(T a, T b) { return a > b; } };
struct GreaterEqual { template <class T> DEV bool f(T a, T b) { return a >= b; } };
struct LogicalAnd { DEV bool f(bool a, bool b) { return a && b; } };
struct LogicalOr { DEV bool f(bool a, bool b) { return a || b; } };
struct BitwiseAnd { template <class T> DEV T f(T a, T b) { return a & b; } };
struct BitwiseOr { template <class T> DEV T f(T a, T b) { return a | b; } };
struct BitwiseXor { template <class T> DEV T f(T a, T b) { return a ^ b; } };
struct LeftShift { template <class T> DEV T f(T a, T b) { return a << (b < 0 ? 0 : b > (T)(8 * sizeof(T) - 1) ? 8 * sizeof(T) - 1 : b); } };
struct RightShift { template <class T> DEV T f(T a, T b) { return a >> (b < 0 ? 0 : b > (T)(8 * sizeof(T) - 1) ? 8 * sizeof(T) - 1 : b); } };
struct MakeComplex { template <class R> DEV Complex<R> f(R a, R b) { return {a, b}; } };
// Gradients: of y (or x) and dy.
struct SigmoidGrad { template <class T> DEV T f(T y, T dy) { return dy * y * ((T)1 - y); } };
struct TanhGrad { template <class T> DEV T f(T y, T dy) { return dy * ((T)1 - y * y); } };
struct SqrtGrad { template <class T> DEV T f(T y, T dy) { return (T)0.5 * dy / y; } };
struct RsqrtGrad { template <class T> DEV T f(T y, T dy) { return (T)-0.5 * dy * y * y * y; } };
struct ReciprocalGrad { template <class T> DEV T f(T y, T dy) { return -dy * y * y; } };
struct InvGrad : ReciprocalGrad {};
// Gradients that take dy first.
struct ReluGrad { template <class T> DEV T f(T dy, T x) { return x > (T)0 ? dy : (T)0; } };
struct Relu6Grad { template <class T> DEV T f(T dy, T x) { return x > (T)0 && x < (T)6 ? dy : (T)0; } };
struct EluGrad { template <class T> DEV T f(T dy, T y) { return y < (T)0 ? (y + (T)1) * dy : dy; } };
struct SeluGrad {
  template <class T> DEV T f(T dy, T y) {
    const T scale = (T)1.0507009873554804934193349852946, alpha = (T)1.7580993408473768599402175208123;
    return y < (T)0 ? dy * (y + alpha) : dy * scale;
  }
};
struct SoftplusGrad { template <class T> DEV T f(T dy, T x) { return dy / ((T)1 + exp(-x)); } };
struct SoftsignGrad { template <class T> DEV T f(T dy, T x) { T d = (T)1 + fabs(x); return dy / (d * d); } };

// ---- With a number from the op's attributes.
struct LeakyRelu { template <class T> DEV T f(T x, float a) { return x > (T)0 ? x : x * (T)a; } };
struct LeakyReluGrad { template <class T> DEV T f(T dy, T x, float a) { return x > (T)0 ? dy : dy * (T)a; } };

// ---- Loops. V elements a load and thread; threads behind them take what is left over, one each.
template <class F, class O, class A> DEV O apply1(A a) { return Store<O>::from(F::f(load(a))); }
template <class F, class O, class A> DEV O apply2(A a, A b) { return Store<O>::from(F::f(load(a), load(b))); }

template <class F, class O, class A, int V>
__global__ void unary(O* out, const A* a, i64 n) {
  wait_for_previous();
  let_next_start();
  const i64 i = thread_id();
  if (i < n / V) {
    const Vec<A, V> x = ((const Vec<A, V>*)a)[i];
    Vec<O, V> y;
    #pragma unroll
    for (int k = 0; k < V; ++k) y.v[k] = apply1<F, O>(x.v[k]);
    ((Vec<O, V>*)out)[i] = y;
  } else if (n / V * V + (i - n / V) < n) {
    out[n / V * V + (i - n / V)] = apply1<F, O>(a[n / V * V + (i - n / V)]);
  }
}

template <class F, class O, class A, int V>
__global__ void binary(O* out, const A* a, const A* b, i64 n) {
  wait_for_previous();
  let_next_start();
  const i64 i = thread_id();
  if (i < n / V) {
    const Vec<A, V> x = ((const Vec<A, V>*)a)[i], z = ((const Vec<A, V>*)b)[i];
    Vec<O, V> y;
    #pragma unroll
    for (int k = 0; k < V; ++k) y.v[k] = apply2<F, O>(x.v[k], z.v[k]);
    ((Vec<O, V>*)out)[i] = y;
  } else if (n / V * V + (i - n / V) < n) {
    const i64 at = n / V * V + (i - n / V);
    out[at] = apply2<F, O>(a[at], b[at]);
  }
}

// One operand is a single number: LEFT says which.
template <class F, class O, class A, int V, bool LEFT>
__global__ void binary_scalar(O* out, const A* a, const A* b, i64 n) {
  const A one = LEFT ? a[0] : b[0];
  const A* many = LEFT ? b : a;
  for (i64 i = thread_id(); i < n / V; i += num_threads()) {
    Vec<A, V> x = ((const Vec<A, V>*)many)[i];
    Vec<O, V> y;
    #pragma unroll
    for (int k = 0; k < V; ++k) y.v[k] = LEFT ? apply2<F, O>(one, x.v[k]) : apply2<F, O>(x.v[k], one);
    ((Vec<O, V>*)out)[i] = y;
  }
  for (i64 i = n / V * V + thread_id(); i < n; i += num_threads())
    out[i] = LEFT ? apply2<F, O>(one, many[i]) : apply2<F, O>(many[i], one);
}

template <class F, class O, class A>
__global__ void binary_broadcast(O* out, const A* a, const A* b, i64 n, const Strides s) {
  for (i64 i = thread_id(); i < n; i += num_threads()) {
    i64 at[2];
    offsets<2>(s, i, at);
    out[i] = apply2<F, O>(a[at[0]], b[at[1]]);
  }
}

template <class T> __global__ void approximately_equal(bool* out, const T* a, const T* b, i64 n, float p) {
  for (i64 i = thread_id(); i < n; i += num_threads()) out[i] = fabs(a[i] - b[i]) < (T)p;
}
template <class F, class T>
__global__ void unary_param(T* out, const T* a, i64 n, float p) {
  for (i64 i = thread_id(); i < n; i += num_threads()) out[i] = Store<T>::from(F::f(load(a[i]), p));
}
template <class F, class T>
__global__ void binary_param(T* out, const T* a, const T* b, i64 n, float p) {
  for (i64 i = thread_id(); i < n; i += num_threads())
    out[i] = Store<T>::from(F::f(load(a[i]), load(b[i]), p));
}

// out = which ? a : b, each with strides of its own.
template <class T>
__global__ void select(T* out, const bool* which, const T* a, const T* b, i64 n, const Strides s) {
  for (i64 i = thread_id(); i < n; i += num_threads()) {
    i64 at[3];
    offsets<3>(s, i, at);
    out[i] = which[at[0]] ? a[at[1]] : b[at[2]];
  }
}

template <class T> DEV T clipped(T x, T low, T high) {
  Compute<T> v = load(x), l = load(low), h = load(high);
  return Store<T>::from(v < l ? l : v > h ? h : v);
}
template <class T>
__global__ void clip(T* out, const T* x, const T* low, const T* high, i64 n, const Strides s) {
  for (i64 i = thread_id(); i < n; i += num_threads()) {
    i64 at[3];
    offsets<3>(s, i, at);
    out[i] = clipped(x[at[0]], low[at[1]], high[at[2]]);
  }
}

template <class O, class A> DEV O convert(A a) {
  if constexpr (Is<A>::complex && !Is<O>::complex) return Store<O>::from(a.re);
  else return Store<O>::from(load(a));
}
template <class O, class A> __global__ void cast(O* out, const A* a, i64 n) {
  wait_for_previous();
  let_next_start();
  for (i64 i = thread_id(); i < n; i += num_threads()) out[i] = convert<O>(a[i]);
}

// Where an operand that repeats has its element for element i of the result.
template <class N> DEV N placed(i64 i, u64 inner, u64 size) { return (N)i / (N)inner % (N)size; }
// … and for the elements behind it, one after another.
template <class N>
struct Places {
  N inner, size, left, at;
  __device__ __forceinline__ Places(i64 i, u64 each, u64 all) : inner((N)each), size((N)all) {
    const N q = (N)i / inner;
    left = inner - ((N)i - q * inner);
    at = q % size;
  }
  __device__ __forceinline__ N next() {
    const N now = at;
    if (--left == 0) {
      left = inner;
      if (++at == size) at = 0;
    }
    return now;
  }
};

// The sum of up to 8 tensors.
struct Pointers8 { const void* p[8]; };
template <class T> __global__ void add_n(T* out, const Pointers8 in, i32 count, i64 n) {
  for (i64 i = thread_id(); i < n; i += num_threads()) {
    Compute<T> sum = load(((const T*)in.p[0])[i]);
    for (int k = 1; k < count; ++k) sum = sum + load(((const T*)in.p[k])[i]);
    out[i] = Store<T>::from(sum);
  }
}

template <class T> __global__ void fill(T* out, const T* value, i64 n) {
  for (i64 i = thread_id(); i < n; i += num_threads()) out[i] = *value;
}
// A value the host knows.
template <class T> __global__ void fill_with(T* out, const T value, i64 n) {
  for (i64 i = thread_id(); i < n; i += num_threads()) out[i] = value;
}
template <class T> __global__ void bias_add(T* out, const T* x, const T* bias, i64 n, i64 channels, i64 inner) {
  for (i64 i = thread_id(); i < n; i += num_threads())
    out[i] = Store<T>::from(load(x[i]) + load(bias[(i / inner) % channels]));
}
