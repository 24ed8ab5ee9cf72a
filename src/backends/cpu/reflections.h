#pragma once
#include <cstdint>
#include <vector>

namespace emplace::cpu {

// I - weight · v vᵀ takes a vector to (length, 0, …).
struct Reflection {
  double weight, length;
};
// That of x [n]; v, with 1 at its head, comes in x's place.
Reflection reflect(double* x, int64_t n);

// Q and R of a large real matrix [rows, columns], whose columns are given: `columns` times `rows`
// numbers. Householder's way, a column at a time, each of which lies together.
class Reflected {
 public:
  Reflected(std::vector<double> turned, int64_t rows, int64_t columns);

  // Of R; 0 below the diagonal.
  double r(int64_t i, int64_t j) const;
  // The first `count` columns of Q, one after another.
  std::vector<double> q(int64_t count) const;

 private:
  int64_t rows_, columns_;
  std::vector<double> numbers_;  // column k: R's above the diagonal, then v of the k-th reflection
  std::vector<Reflection> reflections_;
};

}  // namespace emplace::cpu
