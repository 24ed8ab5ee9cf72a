#pragma once
#include "backends/cpu/eigen/decompositions.h"
#include "backends/cpu/loops.h"
#include "base/stop_scope.h"
#include "kernel/kernel.h"

namespace emplace::cpu {

// Decompositions work in double precision, whatever the dtype: half as many templates to build, and
// a float's answer is right to its last bits.
template <class T>
using Wide = std::conditional_t<kIsComplex<T>, Complex128, double>;

using MatrixTypes = Types<float, double, Complex64, Complex128>;

// A tensor as matrices, which lie in its last two dimensions.
struct Matrices {
  const Tensor* tensor;
  Shape lead;  // the dimensions before
  int64_t count, rows, columns;

  template <class T>
  Matrix<Wide<T>> read(int64_t i) const {
    const T* from = tensor->data<T>() + i * rows * columns;
    Matrix<Wide<T>> m(rows, columns);
    for (const int64_t r : paced(rows))
      for (int64_t k = 0; k < columns; ++k)
        m(r, k) = static_cast<Wide<T>>(static_cast<Compute<T>>(from[r * columns + k]));
    return m;
  }
};

// InvalidArgument below rank 2.
Matrices matrices(KernelContext& c, int input);
// … and for what is not square.
Matrices square_matrices(KernelContext& c, int input);
Shape joined(const Shape& lead, std::initializer_list<int64_t> dims);

template <class T, class C>
T narrowed(const C& v) {
  if constexpr (kIsComplex<T>) return static_cast<T>(Complex128(v));
  else return static_cast<T>(static_cast<Compute<T>>(v));
}

// Writes the i-th of the matrices (or vectors) of an output, all of this size.
template <class T, class M>
void write_matrix(const Tensor& out, int64_t i, const M& m) {
  T* to = out.data<T>() + i * m.rows() * m.cols();
  for (const int64_t r : paced(int64_t{m.rows()}))
    for (int64_t k = 0; k < m.cols(); ++k) to[r * m.cols() + k] = narrowed<T>(m(r, k));
}

template <class T>
T nan_of() {
  return T(std::numeric_limits<typename Eigen::NumTraits<T>::Real>::quiet_NaN());
}

// Calls f(i) for each of the matrices, several at once.
template <class F>
void for_each_matrix(KernelContext& c, const Matrices& m, F&& f) {
  const double cost = 500 + 2.0 * static_cast<double>(m.rows * m.columns) *
                                static_cast<double>(std::max(m.rows, m.columns));
  c.parallel_for(m.count, cost, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) f(i);
  });
}

// Both sides of equations, whose leading dimensions agree.
void check_same_lead(const Matrices& a, const Matrices& b);

inline KernelRow matrix_row(const char* op, KernelFactory make,
                            std::vector<DType> types = MatrixTypes::dtypes()) {
  return {op, "CPU", {{"T", std::move(types)}}, {}, make, {}, 0, ""};
}

}  // namespace emplace::cpu
