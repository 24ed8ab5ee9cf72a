#include "backends/cpu/reflections.h"

#include <algorithm>
#include <cmath>

#include "backends/cpu/four_doubles.h"
#include "backends/cpu/simd.h"
#include "base/stop_scope.h"

namespace emplace::cpu {
namespace {

// Takes from each of `count` vectors, `step` apart, weight · v (v · vector).
void reflect_all(const double* v, double weight, int64_t n, double* vectors, int64_t count,
                 int64_t step) {
  for (int64_t i = 0; i < count; ++i, vectors += step) {
    Four sums[4] = {};
    int64_t j = 0;
    for (; j + 16 <= n; j += 16)
      for (int k = 0; k < 4; ++k) sums[k] += four(v + j + 4 * k) * four(vectors + j + 4 * k);
    const Four all = (sums[0] + sums[1]) + (sums[2] + sums[3]);
    double total = (all[0] + all[1]) + (all[2] + all[3]);
    for (; j < n; ++j) total += v[j] * vectors[j];
    total *= weight;
#pragma GCC ivdep
    for (j = 0; j < n; ++j) vectors[j] -= total * v[j];
  }
}

}  // namespace

Reflection reflect(double* x, int64_t n) {
  double rest = 0;
  for (int64_t i = 1; i < n; ++i) rest += x[i] * x[i];
  const double first = x[0];
  x[0] = 1;
  if (rest == 0) return {0, first};
  const double length = -std::copysign(std::sqrt(first * first + rest), first);
  for (int64_t i = 1; i < n; ++i) x[i] /= first - length;
  return {(length - first) / length, length};
}

Reflected::Reflected(std::vector<double> turned, int64_t rows, int64_t columns)
    : rows_(rows), columns_(columns), numbers_(std::move(turned)) {
  static const auto loop = best<reflect_all>();
  for (int64_t k = 0; k < std::min(rows, columns); ++k) {
    StopScope::attend();
    double* v = numbers_.data() + k * rows + k;
    const Reflection r = reflections_.emplace_back(reflect(v, rows - k));
    loop(v, r.weight, rows - k, v + rows, columns - k - 1, rows);
  }
}

double Reflected::r(int64_t i, int64_t j) const {
  if (i == j) return reflections_[static_cast<size_t>(i)].length;
  return i < j ? numbers_[static_cast<size_t>(j * rows_ + i)] : 0;
}

std::vector<double> Reflected::q(int64_t count) const {
  static const auto loop = best<reflect_all>();
  std::vector<double> q(static_cast<size_t>(count * rows_));
  for (int64_t i = 0; i < count; ++i) q[static_cast<size_t>(i * rows_ + i)] = 1;
  for (auto k = static_cast<int64_t>(reflections_.size()); k-- > 0;) {
    StopScope::attend();
    loop(numbers_.data() + k * rows_ + k, reflections_[static_cast<size_t>(k)].weight, rows_ - k,
         q.data() + k * rows_ + k, count - k, rows_);
  }
  return q;
}

}  // namespace emplace::cpu
