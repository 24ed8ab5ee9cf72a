#include "backends/cpu/symmetric.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "backends/cpu/four_doubles.h"
#include "backends/cpu/reflections.h"
#include "backends/cpu/simd.h"
#include "base/stop_scope.h"

namespace emplace::cpu {
namespace {

// row -= a · w + b · v
void update_row(double* row, double a, const double* w, double b, const double* v, int64_t n) {
  for (int64_t j = 0; j < n; ++j) row[j] -= a * w[j] + b * v[j];
}

// m -= v wᵀ + w vᵀ, and what comes of it times `next`: each row is met once for both.
void update_and_multiply(double* m, int64_t stride, int64_t n, const double* v, const double* w,
                         const double* next, double* out) {
  for (int64_t i = 0; i < n; ++i, m += stride) {
    const double a = v[i], b = w[i];
    Four sum = {}, more = {};
    int64_t j = 0;
    for (; j + 8 <= n; j += 8) {
      const Four x = four(m + j) - a * four(w + j) - b * four(v + j);
      const Four y = four(m + j + 4) - a * four(w + j + 4) - b * four(v + j + 4);
      four(m + j) = x;
      four(m + j + 4) = y;
      sum += x * four(next + j);
      more += y * four(next + j + 4);
    }
    sum += more;
    double total = (sum[0] + sum[1]) + (sum[2] + sum[3]);
    for (; j < n; ++j) {
      m[j] -= a * w[j] + b * v[j];
      total += m[j] * next[j];
    }
    out[i] = total;
  }
}

// q -= weight · v (vᵀ q), of n × n; y is scratch.
void reflect_rows(double* q, int64_t stride, int64_t n, const double* v, double weight, double* y) {
  std::fill_n(y, n, 0.0);
  int64_t i = 0;
  for (; i + 4 <= n; i += 4) {
    const double* r = q + i * stride;
#pragma GCC ivdep
    for (int64_t j = 0; j < n; ++j)
      y[j] += v[i] * r[j] + v[i + 1] * r[j + stride] + v[i + 2] * r[j + 2 * stride] +
              v[i + 3] * r[j + 3 * stride];
  }
  for (; i < n; ++i)
#pragma GCC ivdep
    for (int64_t j = 0; j < n; ++j) y[j] += v[i] * q[i * stride + j];
  for (i = 0; i < n; ++i) {
    const double part = weight * v[i];
    double* r = q + i * stride;
#pragma GCC ivdep
    for (int64_t j = 0; j < n; ++j) r[j] -= part * y[j];
  }
}

// The matrix as three diagonals, and how it came to them.
struct Tridiagonal {
  std::vector<double> main, side;      // side[k]: between k and k + 1
  std::vector<double> reflections;     // row k: v of the k-th, from k + 1 on
  std::vector<double> weights;
};

Tridiagonal tridiagonal(double* a, int64_t n) {
  static const auto pass = best<update_and_multiply>();
  static const auto update = best<update_row>();
  const auto size = static_cast<size_t>(n);
  Tridiagonal t{std::vector<double>(size), std::vector<double>(size),
                std::vector<double>(size * size), std::vector<double>(size)};
  std::vector<double> v(size), w(size), p(size);
  // An update (v, w) is made together with the next product.
  for (int64_t k = 0; k < n; ++k) {
    StopScope::attend();
    const auto at = static_cast<size_t>(k);
    const int64_t rest = n - k - 1;
    double* row = a + k * n + k;
    update(row, v[0], w.data(), w[0], v.data(), rest + 1);
    t.main[at] = row[0];
    if (rest == 0) break;
    double* next = t.reflections.data() + k * n + k + 1;
    std::copy_n(row + 1, rest, next);
    const Reflection r = reflect(next, rest);
    t.side[at] = r.length;
    t.weights[at] = r.weight;
    pass(row + n + 1, n, rest, v.data() + 1, w.data() + 1, next, p.data());
    double along = 0;
    for (int64_t i = 0; i < rest; ++i) along += p[static_cast<size_t>(i)] * next[i];
    const double half = r.weight * r.weight * along / 2;
    for (int64_t i = 0; i < rest; ++i) {
      v[static_cast<size_t>(i)] = next[i];
      w[static_cast<size_t>(i)] = r.weight * p[static_cast<size_t>(i)] - half * next[i];
    }
  }
  return t;
}

// All reflections, one after another; its rows are what the three diagonals' matrix is turned by.
void fill_turned(const Tridiagonal& t, double* q, int64_t n) {
  static const auto reflect_all = best<reflect_rows>();
  std::fill_n(q, n * n, 0.0);
  for (int64_t i = 0; i < n; ++i) q[i * n + i] = 1;
  std::vector<double> y(static_cast<size_t>(n));
  for (int64_t k = n - 2; k >= 0; --k) {
    StopScope::attend();
    reflect_all(q + (k + 1) * n + k + 1, n, n - k - 1, t.reflections.data() + k * n + k + 1,
                t.weights[static_cast<size_t>(k)], y.data());
  }
  for (int64_t i = 0; i < n; ++i)
    for (int64_t j = 0; j < i; ++j) std::swap(q[i * n + j], q[j * n + i]);
}

// Rotations of neighbouring rows: `count` of them, from the last pair, (low + count, low + count - 1),
// up.
struct Sweep {
  int64_t low, count;
  size_t first;  // where its cosines and sines stand
};
struct Sweeps {
  std::vector<Sweep> sweeps;
  std::vector<double> cosines, sines;  // by row, each sweep's from `low` on
  void clear() {
    sweeps.clear();
    cosines.clear();
    sines.clear();
  }
};

constexpr int64_t kColumns = 16;  // at a time: so the rows of them stay in the first cache

void turn(const Sweeps& all, double* block) {
  for (const Sweep& sweep : all.sweeps) {
    const double *cosines = all.cosines.data() + sweep.first, *sines = all.sines.data() + sweep.first;
    double* row = block + (sweep.low + sweep.count) * kColumns;
    Four held[4];
    for (int k = 0; k < 4; ++k) held[k] = four(row + 4 * k);
    for (int64_t i = sweep.count - 1; i >= 0; --i, row -= kColumns) {
      const double c = cosines[i], s = sines[i];
      for (int k = 0; k < 4; ++k) {
        const Four x = four(row - kColumns + 4 * k);
        four(row + 4 * k) = s * x + c * held[k];
        held[k] = c * x - s * held[k];
      }
    }
    for (int k = 0; k < 4; ++k) four(row + 4 * k) = held[k];
  }
}

void turn_all(KernelContext& c, const Sweeps& all, double* z, int64_t n) {
  static const auto loop = best<turn>();
  const double cost = static_cast<double>(all.cosines.size() * kColumns) * 0.3 + 100;
  c.parallel_for((n + kColumns - 1) / kColumns, cost, [&](int64_t begin, int64_t end) {
    std::vector<double> block(static_cast<size_t>(n * kColumns));
    for (int64_t b = begin; b < end; ++b) {
      StopScope::attend();
      const int64_t from = b * kColumns, width = std::min(kColumns, n - from);
      for (int64_t i = 0; i < n; ++i) std::copy_n(z + i * n + from, width, &block[static_cast<size_t>(i * kColumns)]);
      loop(all, block.data());
      for (int64_t i = 0; i < n; ++i) std::copy_n(&block[static_cast<size_t>(i * kColumns)], width, z + i * n + from);
    }
  });
}

// Implicit shifts from the side of the last ones (QL). `done` gets each sweep's rotations.
class Search {
 public:
  Search(std::vector<double>& main, std::vector<double>& side) : d_(main), e_(side) {}

  template <class F>
  bool run(Sweeps& sweeps, const F& done) {
    const auto n = static_cast<int64_t>(d_.size());
    constexpr int kMost = 60;  // sweeps for one value
    for (int64_t l = 0; l < n; ++l)
      for (int rounds = 0;; ++rounds) {
        const int64_t m = end_of_block(l);
        if (m == l) break;
        if (rounds == kMost) return false;
        StopScope::attend();
        sweep(l, m, sweeps);
        done();
      }
    return true;
  }

 private:
  double& d(int64_t i) { return d_[static_cast<size_t>(i)]; }
  double& e(int64_t i) { return e_[static_cast<size_t>(i)]; }

  int64_t end_of_block(int64_t l) {
    const auto n = static_cast<int64_t>(d_.size());
    int64_t m = l;
    while (m + 1 < n && std::abs(e(m)) > std::numeric_limits<double>::epsilon() * (std::abs(d(m)) + std::abs(d(m + 1)))) ++m;
    return m;
  }

  void sweep(int64_t l, int64_t m, Sweeps& sweeps) {
    const size_t first = sweeps.cosines.size();
    sweeps.cosines.resize(first + static_cast<size_t>(m - l), 1.0);
    sweeps.sines.resize(first + static_cast<size_t>(m - l), 0.0);
    sweeps.sweeps.push_back({l, m - l, first});
    const double shift = (d(l + 1) - d(l)) / (2 * e(l));
    double g = d(m) - d(l) + e(l) / (shift + std::copysign(std::hypot(shift, 1.0), shift));
    double s = 1, c = 1, p = 0;
    for (int64_t i = m - 1; i >= l; --i) {
      const double f = s * e(i), b = c * e(i), r = std::sqrt(f * f + g * g);
      e(i + 1) = r;
      if (r == 0) {  // fell apart: go on with the parts
        d(i + 1) -= p;
        e(m) = 0;
        return;
      }
      s = f / r;
      c = g / r;
      g = d(i + 1) - p;
      const double t = (d(i) - g) * s + 2 * c * b;
      p = s * t;
      d(i + 1) = g + p;
      g = c * t - b;
      sweeps.cosines[first + static_cast<size_t>(i - l)] = c;
      sweeps.sines[first + static_cast<size_t>(i - l)] = s;
    }
    d(l) -= p;
    e(l) = g;
    e(m) = 0;
  }

  std::vector<double>&d_, &e_;
};

void sort_ascending(std::vector<double>& values, std::vector<double>& rows, bool vectors) {
  const size_t n = values.size();
  std::vector<size_t> order(n);
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return values[a] < values[b]; });
  std::vector<double> sorted(n), moved(vectors ? rows.size() : 0);
  for (size_t i = 0; i < n; ++i) {
    sorted[i] = values[order[i]];
    if (vectors)
      std::copy_n(rows.begin() + static_cast<int64_t>(order[i] * n), n, moved.begin() + static_cast<int64_t>(i * n));
  }
  values = std::move(sorted);
  if (vectors) rows = std::move(moved);
}

}  // namespace

bool symmetric_eigenvalues(KernelContext& c, std::vector<double>& a, int64_t n, bool vectors,
                           std::vector<double>& values) {
  double most = 0;
  for (const double v : a) {
    if (!std::isfinite(v)) return false;
    most = std::max(most, std::abs(v));
  }
  if (most == 0) most = 1;
  for (double& v : a) v /= most;
  Tridiagonal t = tridiagonal(a.data(), n);
  if (vectors) fill_turned(t, a.data(), n);
  Sweeps sweeps;
  const size_t enough = vectors ? static_cast<size_t>(64 * n) : size_t(n);
  const bool found = Search(t.main, t.side).run(sweeps, [&] {
    if (sweeps.cosines.size() < enough) return;
    if (vectors) turn_all(c, sweeps, a.data(), n);
    sweeps.clear();
  });
  if (!found) return false;
  if (vectors) turn_all(c, sweeps, a.data(), n);
  for (double& v : t.main) v *= most;
  values = std::move(t.main);
  sort_ascending(values, a, vectors);
  return true;
}

}  // namespace emplace::cpu
