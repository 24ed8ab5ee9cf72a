#include "backends/cpu/gemm.h"

#include <dlfcn.h>

#include "backends/cpu/gemm_blocked.h"
#include "backends/cpu/half_loops.h"
#include "backends/cpu/loops.h"
#include "backends/cpu/math.h"

namespace emplace::cpu {
namespace {

// Rows [0, rows) of C, A with any strides, B row by row. Four rows of C at a time share a pass
// over B.
template <class T>
void simple_rows(const T* a, int64_t a_row, int64_t a_step, const T* b, int64_t n, int64_t k, T* c,
                 int64_t rows) {
  int64_t i = 0;
  for (; i + 4 <= rows; i += 4) {
    T* c0 = c + i * n;
    std::fill_n(c0, 4 * n, T(0));
    for (int64_t p = 0; p < k; ++p) {
      const T* q = a + i * a_row + p * a_step;
      const T x0 = q[0], x1 = q[a_row], x2 = q[2 * a_row], x3 = q[3 * a_row];
      const T* y = b + p * n;
#pragma GCC ivdep
      for (int64_t j = 0; j < n; ++j) {
        c0[j] = plus(c0[j], times(x0, y[j]));
        c0[n + j] = plus(c0[n + j], times(x1, y[j]));
        c0[2 * n + j] = plus(c0[2 * n + j], times(x2, y[j]));
        c0[3 * n + j] = plus(c0[3 * n + j], times(x3, y[j]));
      }
    }
  }
  for (; i < rows; ++i) {
    T* c0 = c + i * n;
    std::fill_n(c0, n, T(0));
    for (int64_t p = 0; p < k; ++p) {
      const T x = a[i * a_row + p * a_step];
      const T* y = b + p * n;
#pragma GCC ivdep
      for (int64_t j = 0; j < n; ++j) c0[j] = plus(c0[j], times(x, y[j]));
    }
  }
}

// B as the loops want it: row by row.
template <class T>
const T* straight(const T* b, const GemmShape& s, std::vector<T>& space) {
  if (!s.transpose_b && !s.conjugate_b) return b;
  space.resize(static_cast<size_t>(s.n * s.k));
  for (int64_t p = 0; p < s.k; ++p)
    for (int64_t j = 0; j < s.n; ++j) {
      const T x = s.transpose_b ? b[j * s.k + p] : b[p * s.n + j];
      space[static_cast<size_t>(p * s.n + j)] = s.conjugate_b ? conjugate(x) : x;
    }
  return space.data();
}

template <class T>
void simple_gemm(KernelContext& c, const GemmShape& s, const T* a, const T* b, T* out) {
  std::vector<T> b_space, a_space;
  const T* rows_of_b = straight(b, s, b_space);
  if (s.conjugate_a) {
    a_space.resize(static_cast<size_t>(s.m * s.k));
    for (size_t i = 0; i < a_space.size(); ++i) a_space[i] = conjugate(a[i]);
    a = a_space.data();
  }
  const int64_t a_row = s.transpose_a ? 1 : s.k, a_step = s.transpose_a ? s.m : 1;
  const auto loop = pick<T, simple_rows<T>>();
  constexpr int64_t kRows = 16;
  const int64_t blocks = (s.m + kRows - 1) / kRows;
  const double cost = static_cast<double>(kRows * s.n * s.k) * 0.25 + 10;
  c.parallel_for(blocks, cost, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin * kRows; i < std::min(end * kRows, s.m); i += kRows)
      loop(a + i * a_row, a_row, a_step, rows_of_b, s.n, s.k, out + i * s.n,
           std::min(kRows, s.m - i));
  });
}

template <class T>
void widen(const T* from, float* to, int64_t n) {
#pragma GCC ivdep
  for (int64_t i = 0; i < n; ++i) to[i] = static_cast<float>(from[i]);
}
template <class T>
void narrow(const float* from, T* to, int64_t n) {
#pragma GCC ivdep
  for (int64_t i = 0; i < n; ++i) to[i] = static_cast<T>(from[i]);
}

// Through float, and back.
template <class T>
void small_float_gemm(KernelContext& c, const GemmShape& s, const T* a, const T* b, T* out) {
  const Tensor fa = c.temp(DType::kFloat, Shape{s.m * s.k});
  const Tensor fb = c.temp(DType::kFloat, Shape{s.k * s.n});
  const Tensor fc = c.temp(DType::kFloat, Shape{s.m * s.n});
  void (*in)(const T*, float*, int64_t);
  void (*back)(const float*, T*, int64_t);
  if constexpr (std::is_same_v<T, Half>) in = widen_halves, back = narrow_floats;
  else in = best<widen<T>>(), back = best<narrow<T>>();
  in(a, fa.data<float>(), s.m * s.k);
  in(b, fb.data<float>(), s.k * s.n);
  blocked_gemm(c, s, fa.data<float>(), fb.data<float>(), fc.data<float>());
  back(fc.data<float>(), out, s.m * s.n);
}

// Real and imaginary parts apart, each a matrix of its own.
template <class T>
void take_apart(const std::complex<T>* x, int64_t n, T* re, T* im, bool conjugated) {
  const T sign = conjugated ? T(-1) : T(1);
#pragma GCC ivdep
  for (int64_t i = 0; i < n; ++i) {
    re[i] = x[i].real();
    im[i] = x[i].imag() * sign;
  }
}

// Products of complex numbers from those of floats: four, which are quick.
template <class T>
void complex_gemm(KernelContext& c, const GemmShape& s, const std::complex<T>* a,
                  const std::complex<T>* b, std::complex<T>* out) {
  const int64_t size_a = s.m * s.k, size_b = s.k * s.n, size = s.m * s.n;
  const Tensor work = c.temp(DTypeOf<T>::value, Shape{2 * (size_a + size_b) + 4 * size});
  T *a_re = work.data<T>(), *a_im = a_re + size_a, *b_re = a_im + size_a, *b_im = b_re + size_b,
    *p = b_im + size_b;
  take_apart(a, size_a, a_re, a_im, s.conjugate_a);
  take_apart(b, size_b, b_re, b_im, s.conjugate_b);
  GemmShape real = s;
  real.conjugate_a = real.conjugate_b = false;
  blocked_gemm(c, real, a_re, b_re, p);
  blocked_gemm(c, real, a_im, b_im, p + size);
  blocked_gemm(c, real, a_re, b_im, p + 2 * size);
  blocked_gemm(c, real, a_im, b_re, p + 3 * size);
#pragma GCC ivdep
  for (int64_t i = 0; i < size; ++i)
    out[i] = {p[i] - p[size + i], p[2 * size + i] + p[3 * size + i]};
}

constexpr int64_t kComplexBySmall = 16 * 16 * 16;  // below, taking them apart costs more

}  // namespace

void one_dnnl_thread() {
#if defined(EMPLACE_WITH_DNNL)
  static thread_local const bool done = [] {
    // Debian's oneDNN brings OpenMP along; without it there is nothing to hold back. Looked up, since
    // a weak symbol stays null in an executable.
    using SetThreads = void(int);
    if (auto* set = reinterpret_cast<SetThreads*>(dlsym(RTLD_DEFAULT, "omp_set_num_threads"))) set(1);
    return true;
  }();
  (void)done;
#endif
}

void gemm(KernelContext& c, DType dtype, const GemmShape& s, const void* a, const void* b,
          void* out) {
  if (s.m == 0 || s.n == 0) return;
  visit_dtype(dtype, Numbers{}, [&](auto tag) {
    using T = typename decltype(tag)::type;
    const T *x = static_cast<const T*>(a), *y = static_cast<const T*>(b);
    T* z = static_cast<T*>(out);
    if (s.k == 0) std::fill_n(z, s.m * s.n, T(0));
    else if constexpr (std::is_floating_point_v<T>) blocked_gemm(c, s, x, y, z);
    else if constexpr (kIsSmallFloat<T>) small_float_gemm(c, s, x, y, z);
    else if constexpr (kIsComplex<T>) {
      if (s.m * s.n * s.k < kComplexBySmall) simple_gemm(c, s, x, y, z);
      else complex_gemm(c, s, x, y, z);
    } else simple_gemm(c, s, x, y, z);
  });
}

}  // namespace emplace::cpu
