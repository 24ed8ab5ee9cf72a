// Matrices of three diagonals. Diagonals are rows of n: the upper one ends, the lower one begins
// with a number that is not looked at.
#include <fmt/format.h>

#include "backends/cpu/matrix.h"
#include "backends/cpu/matrix_kernels.h"

namespace emplace::cpu {
namespace {

template <class T>
struct System {
  std::vector<T> upper, main, lower, second;  // second: filled in above `upper` by exchanges
  Matrix<T> x;
  int64_t n() const { return static_cast<int64_t>(main.size()); }
};

template <class T>
System<T> read_system(const Matrix<T>& d, Matrix<T> b) {
  System<T> s;
  for (int64_t i = 0; i < d.cols(); ++i) {
    s.upper.push_back(i + 1 < d.cols() ? d(0, i) : T(0));
    s.main.push_back(d(1, i));
    s.lower.push_back(i > 0 ? d(2, i) : T(0));
  }
  s.second.assign(s.main.size(), T(0));
  s.x = std::move(b);
  return s;
}

// Clears the lower diagonal, exchanging rows where the lower one has the larger number. False where
// a pivot is 0.
template <class T>
bool eliminate(System<T>& s, bool exchange) {
  for (size_t i = 0; i < s.main.size(); ++i) {
    const bool last = i + 1 == s.main.size();
    const auto row = static_cast<int64_t>(i);
    if (!last && exchange && std::abs(s.lower[i + 1]) > std::abs(s.main[i])) {
      std::swap(s.main[i], s.lower[i + 1]);
      std::swap(s.upper[i], s.main[i + 1]);
      std::swap(s.second[i], s.upper[i + 1]);
      s.x.row(row).swap(s.x.row(row + 1));
    }
    if (s.main[i] == T(0)) return false;
    if (last) break;
    const T factor = s.lower[i + 1] / s.main[i];
    s.main[i + 1] -= factor * s.upper[i];
    s.upper[i + 1] -= factor * s.second[i];
    s.x.row(row + 1) -= factor * s.x.row(row);
  }
  return true;
}

template <class T>
void substitute(System<T>& s) {
  for (int64_t i = s.n() - 1; i >= 0; --i) {
    const auto k = static_cast<size_t>(i);
    if (i + 1 < s.n()) s.x.row(i) -= s.upper[k] * s.x.row(i + 1);
    if (i + 2 < s.n()) s.x.row(i) -= s.second[k] * s.x.row(i + 2);
    s.x.row(i) /= s.main[k];
  }
}

struct Solve {
  bool exchange;
  void operator()(KernelContext& c) const {
    const Matrices d = matrices(c, 0), b = matrices(c, 1);
    check_same_lead(d, b);
    if (d.rows != 3)
      throw invalid_argument(fmt::format("Expected diagonals to have 3 rows, got {}", d.rows));
    if (d.columns != b.rows)
      throw invalid_argument("The length of diagonals and the number of rows in the right-hand "
                             "side are incompatible.");
    Tensor& out = c.output(0, b.tensor->shape());
    if (out.num_elements() == 0) return;
    visit_dtype(out.dtype(), MatrixTypes{}, [&](auto tag) {
      using T = typename decltype(tag)::type;
      using W = Wide<T>;
      for_each_matrix(c, d, [&](int64_t i) {
        System<W> s = read_system<W>(d.read<T>(i), b.read<T>(i));
        if (eliminate(s, exchange)) substitute(s);
        else s.x.setConstant(nan_of<W>());
        write_matrix<T>(out, i, s.x);
      });
    });
  }
};
Prepared make_solve(const KernelInit& i) {
  if (i.attr<bool>("perturb_singular"))
    throw unimplemented("TridiagonalSolve with perturb_singular");
  return prepared(Solve{i.attr<bool>("partial_pivoting")});
}

void product(KernelContext& c) {
  const Matrices b = matrices(c, 3);
  std::array<Matrices, 3> d = {matrices(c, 0), matrices(c, 1), matrices(c, 2)};
  for (const Matrices& m : d) {
    check_same_lead(m, b);
    if (m.rows != 1 || m.columns != b.rows)
      throw invalid_argument("Diagonals must be rows as long as the right-hand side is high.");
  }
  Tensor& out = c.output(0, b.tensor->shape());
  if (out.num_elements() == 0) return;
  visit_dtype(out.dtype(), MatrixTypes{}, [&](auto tag) {
    using T = typename decltype(tag)::type;
    using W = Wide<T>;
    for_each_matrix(c, b, [&](int64_t i) {
      const Matrix<W> x = b.read<T>(i);
      const Matrix<W> u = d[0].read<T>(i), m = d[1].read<T>(i), l = d[2].read<T>(i);
      Matrix<W> y(x.rows(), x.cols());
      for (int64_t r = 0; r < x.rows(); ++r) {
        y.row(r) = m(0, r) * x.row(r);
        if (r + 1 < x.rows()) y.row(r) += u(0, r) * x.row(r + 1);
        if (r > 0) y.row(r) += l(0, r) * x.row(r - 1);
      }
      write_matrix<T>(out, i, y);
    });
  });
}

}  // namespace

std::vector<KernelRow> tridiagonal_kernels() {
  return {matrix_row("TridiagonalSolve", make_solve),
          matrix_row("TridiagonalMatMul", stateless<product>)};
}

}  // namespace emplace::cpu
