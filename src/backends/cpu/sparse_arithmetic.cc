// Sums, products and the like of sparse tensors.
#include <fmt/format.h>

#include <algorithm>
#include <compare>

#include "backends/cpu/indices.h"
#include "backends/cpu/math.h"
#include "backends/cpu/rows.h"
#include "backends/cpu/sparse.h"
#include "base/stop_scope.h"

namespace emplace::cpu {
namespace {

double real_of(const Tensor& t) {
  double v = 0;
  visit_dtype(t.dtype(), Reals{}, [&](auto tag) {
    using T = typename decltype(tag)::type;
    v = static_cast<double>(static_cast<Compute<T>>(*t.data<T>()));
  });
  return v;
}

template <class T>
double size_of(T v) {
  if constexpr (kIsComplex<T>) return std::abs(v);
  else return std::abs(static_cast<double>(static_cast<Compute<T>>(v)));
}

// Half precision is reckoned in single.
template <class T>
T sum_of(T a, T b) {
  return static_cast<T>(plus(static_cast<Compute<T>>(a), static_cast<Compute<T>>(b)));
}

// Both tensors' values in the order of their places; f gets -1 where one has none.
template <class F>
void merge(const Sparse& a, const Sparse& b, F f) {
  const size_t rank = a.rank();
  const auto first = in_order(a.at(0), a.count(), rank, rank),
             second = in_order(b.at(0), b.count(), rank, rank);
  auto i = first.begin(), j = second.begin();
  Pace pace;
  while (i != first.end() || j != second.end()) {
    pace.step();
    const auto way = i == first.end() ? std::strong_ordering::greater
                     : j == second.end()
                         ? std::strong_ordering::less
                         : std::lexicographical_compare_three_way(a.at(*i), a.at(*i) + rank,
                                                                  b.at(*j), b.at(*j) + rank);
    const int64_t x = way <= 0 ? *i++ : -1, y = way >= 0 ? *j++ : -1;
    f(x >= 0 ? a.at(x) : b.at(y), x, y);
  }
}

void check_alike(const Sparse& a, const Sparse& b) {
  if (a.rank() != b.rank())
    throw invalid_argument(fmt::format("Input indices must have the same dimension, got {} and {}",
                                       a.rank(), b.rank()));
  for (size_t d = 0; d < a.rank(); ++d)
    if (a.dims[d] != b.dims[d])
      throw invalid_argument(
          fmt::format("Operands' shapes do not match: got {} and {} for dimension {}", a.dims[d],
                      b.dims[d], d));
}

template <class T>
Tensor vector_of(const std::vector<T>& values) {
  return Tensor::vector(std::span<const T>(values));
}

void add(KernelContext& c) {
  const Sparse a(c, 0), b(c, 3);
  check_alike(a, b);
  if (c.input(6).num_elements() != 1) throw invalid_argument("thresh must be a scalar");
  const double thresh = real_of(c.input(6));
  visit_dtype(a.values.dtype(), Numbers{}, [&](auto tag) {
    using T = typename decltype(tag)::type;
    Places places(a.rank());
    places.reserve(a.count() + b.count());
    std::vector<T> values;
    merge(a, b, [&](const int64_t* place, int64_t i, int64_t j) {
      const T x = i < 0 ? T{} : a.values.data<T>()[i], y = j < 0 ? T{} : b.values.data<T>()[j];
      const T sum = i < 0 ? y : j < 0 ? x : sum_of(x, y);
      if (i >= 0 && j >= 0 && size_of(sum) < thresh) return;  // what only one has stays
      places.add(place);
      values.push_back(sum);
    });
    put_sparse(c, 0, places, a.dims, vector_of(values));
  });
}

void add_gradient(KernelContext& c) {
  const Tensor &gradient = c.input(0), &sum = c.input(3);
  for (int i = 1; i < 4; ++i)
    if (c.input(i).rank() != 2 || c.input(i).dim(1) != sum.dim(1))
      throw invalid_argument("indices must be matrices of the same width");
  if (gradient.rank() != 1 || gradient.dim(0) != sum.dim(0))
    throw invalid_argument("as many gradients as the sum has values are needed");
  const auto rank = static_cast<size_t>(sum.dim(1));
  const auto at = [rank](const Tensor& t, int64_t i) {
    return t.data<int64_t>() + i * static_cast<int64_t>(rank);
  };
  const std::vector<int64_t> sums = in_order(at(sum, 0), sum.dim(0), rank, rank);
  const Mover mover(gradient.dtype());
  for (int side : {1, 2}) {
    const Tensor& own = c.input(side);
    Tensor& out = c.output(side - 1, Shape{own.dim(0)});
    mover.zero(out, 0, own.dim(0));
    auto next = sums.begin();
    for (const int64_t i : in_order(at(own, 0), own.dim(0), rank, rank)) {
      const int64_t* mine = at(own, i);
      while (next != sums.end() &&
             std::lexicographical_compare(at(sum, *next), at(sum, *next) + rank, mine, mine + rank))
        ++next;
      if (next != sums.end() && std::equal(mine, mine + rank, at(sum, *next)))
        mover.copy(out, i, gradient, *next, 1);
    }
  }
}

template <bool kMax>
void extreme_of_two(KernelContext& c) {
  const Sparse a(c, 0), b(c, 3);
  check_alike(a, b);
  visit_dtype(a.values.dtype(), Reals{}, [&](auto tag) {
    using T = typename decltype(tag)::type;
    Places places(a.rank());
    places.reserve(a.count() + b.count());
    std::vector<T> values;
    merge(a, b, [&](const int64_t* place, int64_t i, int64_t j) {
      const auto x = static_cast<Compute<T>>(i < 0 ? T{} : a.values.data<T>()[i]);
      const auto y = static_cast<Compute<T>>(j < 0 ? T{} : b.values.data<T>()[j]);
      places.add(place);
      values.push_back(static_cast<T>(kMax ? std::max(x, y) : std::min(x, y)));
    });
    put_sparse(c, 0, places, a.dims, vector_of(values));
  });
}

void add_to_dense(KernelContext& c) {
  const Sparse a(c, 0);
  const Tensor& b = c.input(3);
  if (b.shape() != Shape(std::span<const int64_t>(a.dims)))
    throw invalid_argument(
        fmt::format("Dimensions of the sparse [{}] and the dense tensor {} differ",
                    fmt::join(a.dims, ","), b.shape().str()));
  Tensor& out = c.output(0, b.shape());
  copy_elements(out, b);
  visit_dtype(b.dtype(), Numbers{}, [&](auto tag) {
    using T = typename decltype(tag)::type;
    for (const int64_t i : paced(a.count())) {
      T& to = out.data<T>()[a.flat(i)];
      to = sum_of(to, a.values.data<T>()[i]);
    }
  });
}

struct Plus {
  template <class T>
  T operator()(T a, T b) const {
    return sum_of(a, b);
  }
};
struct Times {
  template <class T>
  T operator()(T a, T b) const {
    return static_cast<T>(times(static_cast<Compute<T>>(a), static_cast<Compute<T>>(b)));
  }
};
struct Over {
  template <class T>
  T operator()(T a, T b) const {
    if constexpr (std::is_integral_v<T>) {
      if (b == 0) throw invalid_argument("Integer division by zero");
      return static_cast<T>(a / b);
    } else {
      return static_cast<T>(static_cast<Compute<T>>(a) / static_cast<Compute<T>>(b));
    }
  }
};

// The dense side may lack leading dimensions, or have 1 in the place of any.
template <class F>
void with_dense(KernelContext& c) {
  const Sparse s(c, 0);
  const Tensor& dense = c.input(3);
  const auto missing = static_cast<int>(s.rank()) - dense.rank();
  bool fits = missing >= 0;
  for (int d = 0; fits && d < dense.rank(); ++d)
    fits = dense.dim(d) == 1 || dense.dim(d) == s.dims[static_cast<size_t>(d + missing)];
  if (!fits)
    throw invalid_argument(
        fmt::format("SparseDenseBinaryOpShared broadcasts dense to sparse only; got "
                    "incompatible shapes: [{}] vs. {}",
                    fmt::join(s.dims, ","), dense.shape().str()));
  Tensor& out = c.output(0, s.values.shape());
  visit_dtype(dense.dtype(), Numbers{}, [&](auto tag) {
    using T = typename decltype(tag)::type;
    for (const int64_t i : paced(s.count())) {
      int64_t at = 0;
      for (int d = 0; d < dense.rank(); ++d)
        at = at * dense.dim(d) +
             (dense.dim(d) == 1 ? 0 : s.index(i, static_cast<size_t>(d + missing)));
      out.data<T>()[i] = F{}(s.values.data<T>()[i], dense.data<T>()[at]);
    }
  });
}

struct Product {
  bool adjoint_a, adjoint_b;
  void operator()(KernelContext& c) const {
    const Sparse a(c, 0);
    const Tensor& b = c.input(3);
    if (a.rank() != 2) throw invalid_argument("Tensor 'a_shape' must have 2 elements");
    if (b.rank() != 2) throw invalid_argument("Tensor 'b' is not a matrix");
    const int64_t rows = a.dims[adjoint_a ? 1 : 0], inner = a.dims[adjoint_a ? 0 : 1];
    const int64_t cols = b.dim(adjoint_b ? 0 : 1), width = b.dim(1);
    if (b.dim(adjoint_b ? 1 : 0) != inner)
      throw invalid_argument(
          fmt::format("Cannot multiply A and B because inner dimension does not "
                      "match: {} vs. {}",
                      inner, b.dim(adjoint_b ? 1 : 0)));
    Tensor& out = c.output(0, Shape{rows, cols});
    visit_dtype(b.dtype(), Join<FloatsAndComplexes, Types<int32_t>>{}, [&](auto tag) {
      using T = typename decltype(tag)::type;
      // Sums of half-precision products are kept in single precision.
      using Sum = std::conditional_t<sizeof(T) == 2, float, T>;
      std::vector<Sum> sums(static_cast<size_t>(rows * cols), Sum{});
      for (const int64_t i : paced(a.count())) {
        const int64_t to = a.index(i, adjoint_a ? 1 : 0), from = a.index(i, adjoint_a ? 0 : 1);
        const T value = adjoint_a ? conjugate(a.values.data<T>()[i]) : a.values.data<T>()[i];
        for (int64_t k = 0; k < cols; ++k) {
          const T other =
              adjoint_b ? conjugate(b.data<T>()[k * width + from]) : b.data<T>()[from * width + k];
          Sum& s = sums[static_cast<size_t>(to * cols + k)];
          s = plus(s, times(static_cast<Sum>(value), static_cast<Sum>(other)));
        }
      }
      for (size_t i = 0; i < sums.size(); ++i) out.data<T>()[i] = static_cast<T>(sums[i]);
    });
  }
};
Prepared make_product(const KernelInit& i) {
  return prepared(Product{i.attr<bool>("adjoint_a"), i.attr<bool>("adjoint_b")});
}

float as_float(const Tensor& t, int64_t i) {
  return t.dtype() == DType::kFloat ? t.data<float>()[i]
                                    : static_cast<float>(t.data<Bfloat16>()[i]);
}

struct DenseProduct {
  bool transpose_a, transpose_b;
  void operator()(KernelContext& c) const {
    const Tensor &a = c.input(0), &b = c.input(1);
    if (a.rank() != 2 || b.rank() != 2) throw invalid_argument("a and b must be matrices");
    const int64_t rows = a.dim(transpose_a ? 1 : 0), inner = a.dim(transpose_a ? 0 : 1);
    const int64_t cols = b.dim(transpose_b ? 0 : 1);
    if (b.dim(transpose_b ? 1 : 0) != inner)
      throw invalid_argument("Matrix size incompatible: a: " + a.shape().str() +
                             ", b: " + b.shape().str());
    Tensor& out = c.output(0, Shape{rows, cols});
    c.parallel_for(rows, static_cast<double>(inner * cols), [&](int64_t first, int64_t last) {
      for (int64_t i = first; i < last; ++i) {
        float* to = out.data<float>() + i * cols;
        std::fill_n(to, cols, 0.0f);
        for (int64_t k = 0; k < inner; ++k) {
          const float x = as_float(a, transpose_a ? k * rows + i : i * inner + k);
          if (x == 0) continue;
          for (int64_t j = 0; j < cols; ++j)
            to[j] += x * as_float(b, transpose_b ? j * inner + k : k * cols + j);
        }
      }
    });
  }
};
Prepared make_dense_product(const KernelInit& i) {
  return prepared(DenseProduct{i.attr<bool>("transpose_a"), i.attr<bool>("transpose_b")});
}

// ---- Over dimensions.

struct Reduce {
  bool keep_dims, largest, sparse;

  void operator()(KernelContext& c) const {
    const Sparse s(c, 0);
    std::vector<bool> gone(s.rank(), false);
    const auto rank = static_cast<int64_t>(s.rank());
    for (int64_t a : int_values(c.input(3))) {
      if (a < -rank || a >= rank)
        throw invalid_argument(
            fmt::format("Invalid reduction dimension {}, for input with {} dimensions.", a, rank));
      gone[static_cast<size_t>(a < 0 ? a + rank : a)] = true;
    }
    if (c.input(3).num_elements() == 0) gone.assign(s.rank(), false);
    std::vector<int64_t> dims;
    for (size_t d = 0; d < s.rank(); ++d) {
      if (!gone[d]) dims.push_back(s.dims[d]);
      else if (keep_dims) dims.push_back(1);
    }
    // Every place without the dimensions that go.
    Places left(dims.size());
    left.reserve(s.count());
    for (const int64_t i : paced(s.count())) {
      int64_t* to = left.add();
      for (size_t d = 0; d < s.rank(); ++d) {
        if (!gone[d])
          *to++ = s.index(i, d);
        else if (keep_dims)
          *to++ = 0;
      }
    }
    visit_dtype(s.values.dtype(), Numbers{}, [&](auto tag) {
      using T = typename decltype(tag)::type;
      if (sparse)
        put_groups(c, left, s.values.data<T>(), dims);
      else
        put_dense(c, left, s.values.data<T>(), dims);
    });
  }

  template <class T>
  T joined(T a, T b) const {
    if constexpr (!kIsComplex<T>)
      if (largest) return static_cast<Compute<T>>(a) < static_cast<Compute<T>>(b) ? b : a;
    return sum_of(a, b);
  }
  template <class T>
  void put_groups(KernelContext& c, const Places& left, const T* given,
                  const std::vector<int64_t>& dims) const {
    Places places(dims.size());
    std::vector<T> values;
    for (const int64_t i : in_order(left[0], left.count(), dims.size(), dims.size())) {
      if (places.count() > 0 &&
          std::equal(left[i], left[i] + dims.size(), places[places.count() - 1])) {
        values.back() = joined(values.back(), given[i]);
      } else {
        places.add(left[i]);
        values.push_back(given[i]);
      }
    }
    put_sparse(c, 0, places, dims, vector_of(values));
  }
  template <class T>
  void put_dense(KernelContext& c, const Places& left, const T* given,
                 const std::vector<int64_t>& dims) const {
    Tensor& out = c.output(0, Shape(std::span<const int64_t>(dims)));
    std::fill_n(out.data<T>(), out.num_elements(), T{});
    std::vector<bool> met(static_cast<size_t>(out.num_elements()));
    for (const int64_t i : paced(left.count())) {
      int64_t at = 0;
      for (size_t d = 0; d < dims.size(); ++d) at = at * dims[d] + left[i][d];
      T& to = out.data<T>()[at];
      to = met[static_cast<size_t>(at)] ? joined(to, given[i]) : given[i];
      met[static_cast<size_t>(at)] = true;
    }
  }
};
template <bool kLargest, bool kSparse>
Prepared make_reduce(const KernelInit& i) {
  return prepared(Reduce{i.attr<bool>("keep_dims"), kLargest, kSparse});
}

// Rows are all dimensions but the last.
void softmax(KernelContext& c) {
  const Sparse s(c, 0);
  if (s.rank() < 2) throw invalid_argument("Input should have rank >= 2");
  Tensor& out = c.output(0, s.values.shape());
  const size_t lead = s.rank() - 1;
  const std::vector<int64_t> order = in_order(s.at(0), s.count(), s.rank(), lead);
  visit_dtype(s.values.dtype(), Types<float, double, Half>{}, [&](auto tag) {
    using T = typename decltype(tag)::type;
    auto value = [&](int64_t i) {
      return static_cast<double>(static_cast<Compute<T>>(s.values.data<T>()[i]));
    };
    for (auto row = order.begin(); row != order.end();) {
      const int64_t* place = s.at(*row);
      const auto end = std::find_if(
          row, order.end(), [&](int64_t i) { return !std::equal(place, place + lead, s.at(i)); });
      double top = value(*row), sum = 0;
      for (auto i = row; i != end; ++i) top = std::max(top, value(*i));
      for (auto i = row; i != end; ++i) sum += std::exp(value(*i) - top);
      for (; row != end; ++row)
        out.data<T>()[*row] =
            static_cast<T>(static_cast<Compute<T>>(std::exp(value(*row) - top) / sum));
    }
  });
}

void fill_empty_rows_gradient(KernelContext& c) {
  const Tensor &map = c.input(0), &gradient = c.input(1);
  if (map.rank() != 1 || gradient.rank() != 1)
    throw invalid_argument("reverse_index_map and grad_values must be vectors");
  Tensor& values = c.output(0, map.shape());
  visit_dtype(gradient.dtype(), Numbers{}, [&](auto tag) {
    using T = typename decltype(tag)::type;
    std::vector<bool> used(static_cast<size_t>(gradient.dim(0)), false);
    for (int64_t i = 0; i < map.dim(0); ++i) {
      const int64_t from = map.data<int64_t>()[i];
      if (from < 0 || from >= gradient.dim(0))
        throw invalid_argument(fmt::format(
            "Elements in reverse index must be in [0, {}) but got {}", gradient.dim(0), from));
      values.data<T>()[i] = gradient.data<T>()[from];
      used[static_cast<size_t>(from)] = true;
    }
    T rest{};
    for (int64_t i = 0; i < gradient.dim(0); ++i)
      if (!used[static_cast<size_t>(i)]) rest = sum_of(rest, gradient.data<T>()[i]);
    *c.output(1, Shape{}).data<T>() = rest;
  });
}

}  // namespace

std::vector<KernelRow> sparse_arithmetic_kernels() {
  return {row("SparseAdd", stateless<add>),
          row("SparseAddGrad", stateless<add_gradient>),
          row("SparseSparseMaximum", stateless<extreme_of_two<true>>),
          row("SparseSparseMinimum", stateless<extreme_of_two<false>>),
          row("SparseTensorDenseAdd", stateless<add_to_dense>),
          row("SparseDenseCwiseAdd", stateless<with_dense<Plus>>),
          row("SparseDenseCwiseMul", stateless<with_dense<Times>>),
          row("SparseDenseCwiseDiv", stateless<with_dense<Over>>),
          row("SparseTensorDenseMatMul", make_product),
          row("SparseMatMul", make_dense_product),
          row("SparseReduceSum", make_reduce<false, false>),
          row("SparseReduceMax", make_reduce<true, false>),
          row("SparseReduceSumSparse", make_reduce<false, true>),
          row("SparseReduceMaxSparse", make_reduce<true, true>),
          row("SparseSoftmax", stateless<softmax>),
          row("SparseFillEmptyRowsGrad", stateless<fill_empty_rows_gradient>)};
}

}  // namespace emplace::cpu
