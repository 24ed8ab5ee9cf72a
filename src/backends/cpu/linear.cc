#include "backends/cpu/linear.h"

#include <cmath>

#include "backends/cpu/gemm_blocked.h"
#include "backends/cpu/simd.h"
#include "base/stop_scope.h"

namespace emplace::cpu {
namespace {

constexpr int64_t kSmall = 32;  // below, products of halves are too small to pay
constexpr int64_t kNarrow = 16;  // columns that are cleared one by one

// Near the middle, such that products have whole strips.
int64_t half_of(int64_t n) { return n >= 128 ? n / 2 / 32 * 32 : n / 2 / 8 * 8; }

// c [m, n] -= a [m, k] * b [k, n]
template <class T>
void subtract_product(KernelContext& context, MatrixView<T> a, MatrixRows<T> b, MatrixRows<T> c,
                      int64_t m, int64_t n, int64_t k) {
  if (m == 0 || n == 0 || k == 0) return;
  std::vector<T> negative(static_cast<size_t>(m * k));
  for (const int64_t i : paced(m))
    for (int64_t p = 0; p < k; ++p) negative[static_cast<size_t>(i * k + p)] = -a(i, p);
  add_product(context, {.m = m, .n = n, .k = k}, {k, b.row, c.row}, negative.data(), b.data, c.data);
}

// x[0, m) -= factor * y[0, m)
template <class T>
void subtract_row(T* x, const T* y, T factor, int64_t m) {
#pragma GCC ivdep
  for (int64_t j = 0; j < m; ++j) x[j] -= factor * y[j];
}
template <class T>
void divide_row(T* x, T divisor, int64_t m) {
#pragma GCC ivdep
  for (int64_t j = 0; j < m; ++j) x[j] /= divisor;
}

// Equations of a small triangle; the columns from begin on, to end.
template <class T>
void small_triangle(const MatrixView<T>& t, const TriangleKind& kind, int64_t n,
                    const MatrixRows<T>& x, int64_t begin, int64_t end) {
  for (int64_t step = 0; step < n; ++step) {
    const int64_t i = kind.lower ? step : n - 1 - step;
    T* row = x[i] + begin;
    for (int64_t j = kind.lower ? 0 : i + 1; j < (kind.lower ? i : n); ++j)
      subtract_row(row, x[j] + begin, t(i, j), end - begin);
    if (!kind.ones) divide_row(row, t(i, i), end - begin);
  }
}

template <class T>
void solve_small(KernelContext& c, MatrixView<T> t, TriangleKind kind, int64_t n, MatrixRows<T> x,
                 int64_t m) {
  static const auto loop = best<small_triangle<T>>();
  constexpr int64_t kBand = 512;  // columns; so many of all rows stay near
  c.parallel_for((m + kBand - 1) / kBand, static_cast<double>(kBand * n * n) * 0.1,
                 [&](int64_t first, int64_t last) {
    for (int64_t i = first; i < last; ++i) {
      StopScope::attend();
      loop(t, kind, n, x, i * kBand, std::min(m, (i + 1) * kBand));
    }
  });
}

// Clears a few columns [rows, columns] one after another, each by its greatest number.
template <class T>
void eliminate(const MatrixRows<T>& a, int64_t rows, int64_t columns, int64_t* pivots) {
  for (int64_t j = 0; j < std::min(rows, columns); ++j) {
    int64_t pivot = j;
    for (int64_t i = j + 1; i < rows; ++i)
      if (std::abs(a[i][j]) > std::abs(a[pivot][j])) pivot = i;
    pivots[j] = pivot;
    if (pivot != j) std::swap_ranges(a[j], a[j] + columns, a[pivot]);
    const T divisor = a[j][j];
    if (divisor == T(0)) continue;
    const int64_t rest = columns - j - 1;
    const T* from = a[j] + j + 1;
    for (int64_t i = j + 1; i < rows; ++i) {
      T* to = a[i] + j;
      const T factor = *to /= divisor;
      subtract_row(to + 1, from, factor, rest);
    }
  }
}

template <class T>
void exchange(const int64_t* pivots, int64_t count, MatrixRows<T> x, int64_t m) {
  for (const int64_t i : paced(count))
    if (pivots[i] != i) std::swap_ranges(x[i], x[i] + m, x[pivots[i]]);
}

// Of [rows, columns], at least as high as wide.
template <class T>
void factor_tall(KernelContext& c, MatrixRows<T> a, int64_t rows, int64_t columns,
                 int64_t* pivots) {
  StopScope::attend();
  if (columns <= kNarrow) {
    static const auto loop = best<eliminate<T>>();
    return loop(a, rows, columns, pivots);
  }
  const int64_t left = std::max(kNarrow / 2, half_of(columns)), right = columns - left;
  factor_tall(c, a, rows, left, pivots);
  const MatrixRows<T> beside = a.at(0, left), below = a.at(left, 0), rest = a.at(left, left);
  exchange(pivots, left, beside, right);
  solve_triangle(c, a.view(), {.lower = true, .ones = true}, left, beside, right);
  subtract_product(c, below.view(), beside, rest, rows - left, right, left);
  factor_tall(c, rest, rows - left, right, pivots + left);
  exchange(pivots + left, right, below, left);
  for (int64_t i = left; i < columns; ++i) pivots[i] += left;
}

template <class T>
bool small_positive(const MatrixRows<T>& a, int64_t n) {
  for (int64_t i = 0; i < n; ++i) {
    if (!(a[i][i] > 0) || !std::isfinite(a[i][i])) return false;
    const T root = std::sqrt(a[i][i]);
    a[i][i] = root;
    divide_row(a[i] + i + 1, root, n - i - 1);
    for (int64_t j = i + 1; j < n; ++j) subtract_row(a[j] + j, a[i] + j, a[i][j], n - j);
  }
  return true;
}

}  // namespace

template <class T>
void solve_triangle(KernelContext& c, MatrixView<T> t, TriangleKind kind, int64_t n,
                    MatrixRows<T> x, int64_t m) {
  if (n <= kSmall) return solve_small(c, t, kind, n, x, m);
  const int64_t top = half_of(n), bottom = n - top;
  const MatrixRows<T> lower_x = x.at(top, 0);
  if (kind.lower) {
    solve_triangle(c, t, kind, top, x, m);
    subtract_product(c, t.at(top, 0), x, lower_x, bottom, m, top);
    solve_triangle(c, t.at(top, top), kind, bottom, lower_x, m);
  } else {
    solve_triangle(c, t.at(top, top), kind, bottom, lower_x, m);
    subtract_product(c, t.at(0, top), lower_x, x, top, m, bottom);
    solve_triangle(c, t, kind, top, x, m);
  }
}

template <class T>
void factor(KernelContext& c, MatrixRows<T> a, int64_t n, std::vector<int64_t>& pivots) {
  pivots.resize(static_cast<size_t>(n));
  factor_tall(c, a, n, n, pivots.data());
}

template <class T>
void exchange_rows(const std::vector<int64_t>& pivots, MatrixRows<T> x, int64_t m) {
  exchange(pivots.data(), static_cast<int64_t>(pivots.size()), x, m);
}

template <class T>
bool factor_positive(KernelContext& c, MatrixRows<T> a, int64_t n) {
  StopScope::attend();
  if (n <= kSmall) return small_positive(a, n);
  const int64_t top = half_of(n), bottom = n - top;
  const MatrixRows<T> beside = a.at(0, top), rest = a.at(top, top);
  if (!factor_positive(c, a, top)) return false;
  solve_triangle(c, a.view().turned(), {.lower = true}, top, beside, bottom);
  subtract_product(c, beside.view().turned(), beside, rest, bottom, bottom, top);
  return factor_positive(c, rest, bottom);
}

template void solve_triangle(KernelContext&, MatrixView<float>, TriangleKind, int64_t,
                             MatrixRows<float>, int64_t);
template void solve_triangle(KernelContext&, MatrixView<double>, TriangleKind, int64_t,
                             MatrixRows<double>, int64_t);
template void factor(KernelContext&, MatrixRows<double>, int64_t, std::vector<int64_t>&);
template void exchange_rows(const std::vector<int64_t>&, MatrixRows<double>, int64_t);
template bool factor_positive(KernelContext&, MatrixRows<double>, int64_t);

}  // namespace emplace::cpu
