#pragma once
#include <cstdint>
#include <vector>

#include "kernel/kernel.h"

namespace emplace::cpu {

// Equations and factors of large real matrices, by halves: most of the work is in products, which go
// the way of gemm.h. For float and double.

// From so many rows on this is quicker than Eigen's way.
constexpr int64_t kLargeMatrix = 48;

// A matrix that is read: element (i, j) is data[i * row + j * column].
template <class T>
struct MatrixView {
  const T* data;
  int64_t row, column;

  MatrixView at(int64_t i, int64_t j) const { return {data + i * row + j * column, row, column}; }
  T operator()(int64_t i, int64_t j) const { return data[i * row + j * column]; }
  MatrixView turned() const { return {data, column, row}; }
};

// One that is written: rows that lie `row` apart.
template <class T>
struct MatrixRows {
  T* data;
  int64_t row;

  MatrixRows at(int64_t i, int64_t j) const { return {data + i * row + j, row}; }
  T* operator[](int64_t i) const { return data + i * row; }
  MatrixView<T> view() const { return {data, row, 1}; }
};

struct TriangleKind {
  bool lower;
  bool ones = false;  // on the diagonal, whatever stands there
};

// x [n, m] becomes the solution of triangle [n, n] · solution = x. What lies beyond the triangle is
// not looked at.
template <class T>
void solve_triangle(KernelContext& c, MatrixView<T> triangle, TriangleKind kind, int64_t n,
                    MatrixRows<T> x, int64_t m);

// a [n, n] becomes L (ones on its diagonal) and U of a with rows exchanged: row i with pivots[i], one
// after another.
template <class T>
void factor(KernelContext& c, MatrixRows<T> a, int64_t n, std::vector<int64_t>& pivots);
// Exchanges rows of x [n, m] likewise.
template <class T>
void exchange_rows(const std::vector<int64_t>& pivots, MatrixRows<T> x, int64_t m);

// The upper triangle of a [n, n] becomes that of U, with a = Uᵀ U. False where a is not positive
// definite. Below the diagonal remain numbers without a meaning.
template <class T>
bool factor_positive(KernelContext& c, MatrixRows<T> a, int64_t n);

extern template void solve_triangle(KernelContext&, MatrixView<float>, TriangleKind, int64_t,
                                    MatrixRows<float>, int64_t);
extern template void solve_triangle(KernelContext&, MatrixView<double>, TriangleKind, int64_t,
                                    MatrixRows<double>, int64_t);

}  // namespace emplace::cpu
