// What every device source starts with: number types without any header, so that the text compiles
// at run time wherever NVRTC is. Half precision is stored as bits and computed in float.
#define DEV static __device__ __forceinline__
#define INF __int_as_float(0x7f800000)
#define NOT_A_NUMBER __int_as_float(0x7fffffff)
typedef signed char i8;
typedef short i16;
typedef int i32;
typedef long long i64;
typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;
struct f16 { u16 bits; };
struct bf16 { u16 bits; };
template <class R> struct alignas(2 * sizeof(R)) Complex { R re, im; };
typedef Complex<float> c64;
typedef Complex<double> c128;

// The type a stored number is computed in.
template <class T> struct ComputeOf { typedef T type; };
template <> struct ComputeOf<f16> { typedef float type; };
template <> struct ComputeOf<bf16> { typedef float type; };
template <class T> using Compute = typename ComputeOf<T>::type;

template <class T> DEV T load(const T& x) { return x; }
DEV float load(const f16& x) { float f; asm("cvt.f32.f16 %0, %1;" : "=f"(f) : "h"(x.bits)); return f; }
DEV float load(const bf16& x) { return __uint_as_float((u32)x.bits << 16); }

template <class T> struct Store {
  template <class U> DEV T from(U x) { return (T)x; }
};
template <> struct Store<f16> {
  template <class U> DEV f16 from(U x) {
    f16 h; float f = (float)x; asm("cvt.rn.f16.f32 %0, %1;" : "=h"(h.bits) : "f"(f)); return h;
  }
};
template <> struct Store<bf16> {
  template <class U> DEV bf16 from(U x) {
    bf16 h; float f = (float)x; asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(h.bits) : "f"(f)); return h;
  }
};
template <class R> struct Store<Complex<R>> {
  DEV Complex<R> from(Complex<R> x) { return x; }
  template <class S> DEV Complex<R> from(Complex<S> x) { return {(R)x.re, (R)x.im}; }
  template <class U> DEV Complex<R> from(U x) { return {(R)x, (R)0}; }
};
template <class R, class S> DEV R real_part(Complex<S> x) { return (R)x.re; }

template <class R> DEV Complex<R> operator+(Complex<R> a, Complex<R> b) { return {a.re + b.re, a.im + b.im}; }
template <class R> DEV Complex<R> operator-(Complex<R> a, Complex<R> b) { return {a.re - b.re, a.im - b.im}; }
template <class R> DEV Complex<R> operator-(Complex<R> a) { return {-a.re, -a.im}; }
template <class R> DEV Complex<R> operator*(Complex<R> a, Complex<R> b) {
  return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}
template <class R> DEV Complex<R> operator/(Complex<R> a, Complex<R> b) {
  R d = b.re * b.re + b.im * b.im;
  return {(a.re * b.re + a.im * b.im) / d, (a.im * b.re - a.re * b.im) / d};
}
template <class R> DEV bool operator==(Complex<R> a, Complex<R> b) { return a.re == b.re && a.im == b.im; }
template <class R> DEV bool operator!=(Complex<R> a, Complex<R> b) { return !(a == b); }

template <class T> struct Is { static const bool integer = false, complex = false; };
template <> struct Is<i8> { static const bool integer = true, complex = false; };
template <> struct Is<i16> { static const bool integer = true, complex = false; };
template <> struct Is<i32> { static const bool integer = true, complex = false; };
template <> struct Is<i64> { static const bool integer = true, complex = false; };
template <> struct Is<u8> { static const bool integer = true, complex = false; };
template <> struct Is<u16> { static const bool integer = true, complex = false; };
template <> struct Is<u32> { static const bool integer = true, complex = false; };
template <> struct Is<u64> { static const bool integer = true, complex = false; };
template <> struct Is<bool> { static const bool integer = true, complex = false; };
template <> struct Is<c64> { static const bool integer = false, complex = true; };
template <> struct Is<c128> { static const bool integer = false, complex = true; };

template <class T, int N> struct alignas(sizeof(T) * N) Vec { T v[N]; };

// A kernel that is launched before the one before it has ended (launch.h: Start::kEarly) begins with the
// first of these; the second lets the one behind it do the same.
DEV void wait_for_previous() {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}
DEV void let_next_start() {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.launch_dependents;");
#endif
}

// The value of the lane whose number differs by `bits`, in a warp of which all lanes ask.
template <class T> DEV T other_lane(T x, int bits) {
  static_assert(sizeof(T) % 4 == 0 || sizeof(T) < 4, "in whole words");
  if constexpr (sizeof(T) < 4) {
    return (T)__shfl_xor_sync(0xffffffffu, (u32)x, bits);
  } else {
    T y;
    #pragma unroll
    for (int w = 0; w < (int)(sizeof(T) / 4); ++w)
      ((u32*)&y)[w] = __shfl_xor_sync(0xffffffffu, ((const u32*)&x)[w], bits);
    return y;
  }
}

DEV i64 thread_id() { return (i64)blockIdx.x * blockDim.x + threadIdx.x; }
DEV i64 num_threads() { return (i64)gridDim.x * blockDim.x; }

// How operands meet a result of another shape: dims outermost first, strides in elements.
struct Strides {
  i32 rank;
  u32 dims[8];
  i64 strides[3][8];
};
template <int K> DEV void offsets(const Strides& s, i64 i, i64 (&at)[K]) {
  for (int k = 0; k < K; ++k) at[k] = 0;
  u64 rest = (u64)i;
  for (int d = s.rank - 1; d > 0; --d) {
    u64 q = rest >> 32 ? rest / s.dims[d] : (u64)((u32)rest / s.dims[d]);
    u32 x = (u32)(rest - q * s.dims[d]);
    rest = q;
    for (int k = 0; k < K; ++k) at[k] += x * s.strides[k][d];
  }
  for (int k = 0; k < K; ++k) at[k] += (i64)rest * s.strides[k][0];
}
