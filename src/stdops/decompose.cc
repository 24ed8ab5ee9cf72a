// Inverses, solutions and decompositions of matrices, which lie in the last two dimensions.
#include "op/shape_context.h"

#include "stdops/stdops.h"

namespace emplace::stdops {
namespace {

// The dimensions before the matrix; unknown where the rank is.
Shape leading(const Shape& s) {
  return s.has_rank() ? Shape(s.dims().first(static_cast<size_t>(s.rank() - 2))) : s;
}

Shape extended(Shape lead, std::initializer_list<int64_t> dims) {
  if (!lead.has_rank()) return lead;
  for (int64_t d : dims) lead.push_back(d);
  return lead;
}

struct Matrix {
  Shape lead;
  int64_t rows = Shape::kUnknown, columns = Shape::kUnknown;
};
Matrix matrix(ShapeContext& c, int input) {
  const Shape s = c.with_rank_at_least(input, 2);
  if (!s.has_rank()) return {s};
  return {leading(s), s[s.rank() - 2], s[s.rank() - 1]};
}
Matrix square(ShapeContext& c, int input) {
  Matrix m = matrix(c, input);
  m.rows = m.columns = c.merge_dims(m.rows, m.columns);
  return m;
}
int64_t smaller(const Matrix& m) {
  if (m.rows == 0 || m.columns == 0) return 0;
  return m.rows < 0 || m.columns < 0 ? Shape::kUnknown : std::min(m.rows, m.columns);
}

void square_unchanged(ShapeContext& c) {
  const Matrix m = square(c, 0);
  c.set_output(0, extended(m.lead, {m.rows, m.rows}));
}
void square_pair(ShapeContext& c) {  // CholeskyGrad
  c.set_output(0, c.merge(c.with_rank_at_least(0, 2), c.with_rank_at_least(1, 2)));
  square(c, 0);
}
void determinant(ShapeContext& c) {
  const Matrix m = square(c, 0);
  for (int i = 0; i < c.num_outputs(); ++i) c.set_output(i, m.lead);
}

// Left and right side with the same leading dimensions, or with such as broadcast.
void solution(ShapeContext& c, const Matrix& a, bool broadcasts) {
  const Matrix b = matrix(c, 1);
  c.merge_dims(a.rows, b.rows);
  c.set_output(0, extended(broadcasts ? c.broadcast(a.lead, b.lead) : c.merge(a.lead, b.lead),
                           {a.columns, b.columns}));
}
void solve(ShapeContext& c) { solution(c, square(c, 0), false); }
void triangular_solve(ShapeContext& c) { solution(c, square(c, 0), true); }
void solve_least_squares(ShapeContext& c) {
  c.with_rank(2, 0);
  solution(c, matrix(c, 0), false);
}
void banded_solve(ShapeContext& c) {  // the bands are rows: [bands, n]
  Matrix m = matrix(c, 0);
  m.rows = m.columns;
  solution(c, m, true);
}

void qr(ShapeContext& c) {
  const Matrix m = matrix(c, 0);
  const int64_t inner = c.attr<bool>("full_matrices") ? m.rows : smaller(m);
  c.set_output(0, extended(m.lead, {m.rows, inner}));
  c.set_output(1, extended(m.lead, {inner, m.columns}));
}
void svd(ShapeContext& c) {
  const Matrix m = matrix(c, 0);
  const int64_t small = smaller(m);
  const bool full = c.attr<bool>("full_matrices");
  c.set_output(0, extended(m.lead, {small}));
  const bool vectors = c.attr<bool>("compute_uv");
  c.set_output(1, vectors ? extended(m.lead, {m.rows, full ? m.rows : small}) : Shape{0});
  c.set_output(2, vectors ? extended(m.lead, {m.columns, full ? m.columns : small}) : Shape{0});
}
void eigen(ShapeContext& c) {
  const Matrix m = square(c, 0);
  c.set_output(0, extended(m.lead, {m.rows}));
  c.set_output(1, c.attr<bool>("compute_v") ? extended(m.lead, {m.rows, m.rows}) : Shape{0});
}
void lu(ShapeContext& c) {
  const Matrix m = square(c, 0);
  c.set_output(0, extended(m.lead, {m.rows, m.rows}));
  c.set_output(1, extended(m.lead, {m.rows}));
}

void tridiagonal_solve(ShapeContext& c) {
  const Matrix d = matrix(c, 0), b = matrix(c, 1);
  if (d.rows >= 0) c.merge_dims(d.rows, 3);
  c.set_output(0, extended(c.merge(d.lead, b.lead), {c.merge_dims(d.columns, b.rows), b.columns}));
}
void tridiagonal_product(ShapeContext& c) {
  const Matrix b = matrix(c, 3);
  Shape lead = b.lead;
  int64_t n = b.rows;
  for (int i = 0; i < 3; ++i) {
    const Matrix d = matrix(c, i);
    if (d.rows >= 0) c.merge_dims(d.rows, 1);
    n = c.merge_dims(n, d.columns);
    lead = c.merge(lead, d.lead);
  }
  c.set_output(0, extended(lead, {n, b.columns}));
}

// So many times the smaller dimension's length for each element of the matrices, in loops.
template <int kTimes>
Work cubic(const CostContext& c) {
  const Shape& s = c.inputs[0];
  const double inner = std::min(CostContext::dim(s, 1), CostContext::dim(s, 2));
  return {.ops = kTimes * CostContext::elements(s) * inner, .bytes = c.bytes()};
}

// One pass over the matrix for each column of the right side.
Work substitution(const CostContext& c) {
  return {.ops = CostContext::elements(c.inputs[0]) * CostContext::dim(c.inputs[1], 1),
          .bytes = c.bytes()};
}

constexpr OpRow kDecomposeRows[] = {
    {"MatrixInverse(input: T) -> (output: T) | adjoint: bool = false; T: type in [double,float,"
     "half,complex64,complex128]",
     square_unchanged, cubic<2>,
     "Inverses of square matrices."},
    {"MatrixDeterminant(input: T) -> (output: T) | T: type in [half,float,double,complex64,"
     "complex128]",
     determinant, cubic<1>,
     "Determinants of square matrices."},
    {"LogMatrixDeterminant(input: T) -> (sign: T, log_abs_determinant: T) | T: type in [half,"
     "float,double,complex64,complex128]",
     determinant, cubic<1>,
     "Signs and logarithms of the sizes of determinants."},
    {"Cholesky(input: T) -> (output: T) | T: type in [double,float,half,complex64,complex128]",
     square_unchanged, cubic<1>,
     "Lower triangles L with L L^H the (positive definite) input."},
    {"CholeskyGrad(l: T, grad: T) -> (output: T) | T: type in [half,float,double]",
     square_pair, cubic<3>,
     "Carries a gradient back through Cholesky."},
    {"MatrixSolve(matrix: T, rhs: T) -> (output: T) | adjoint: bool = false; T: type in [double,"
     "float,half,complex64,complex128]",
     solve, cubic<1>,
     "Solves systems of linear equations."},
    {"MatrixTriangularSolve(matrix: T, rhs: T) -> (output: T) | lower: bool = true; adjoint: bool "
     "= false; T: type in [bfloat16,double,float,half,complex64,complex128]",
     triangular_solve, substitution,
     "Solves systems with triangular matrices."},
    {"BandedTriangularSolve(matrix: T, rhs: T) -> (output: T) | lower: bool = true; adjoint: bool "
     "= false; T: type in [double,float,half,complex64,complex128]",
     banded_solve, substitution,
     "Solves systems with triangular matrices given by bands."},
    {"MatrixSolveLs(matrix: T, rhs: T, l2_regularizer: double) -> (output: T) | T: type in "
     "[double,float,half,complex64,complex128]; fast: bool = true",
     solve_least_squares, cubic<2>,
     "Solves linear least-squares problems."},
    {"Qr(input: T) -> (q: T, r: T) | full_matrices: bool = false; T: type in [double,float,half,"
     "complex64,complex128]",
     qr, cubic<4>,
     "Orthogonal Q and upper triangular R with Q R the input."},
    {"Svd(input: T) -> (s: T, u: T, v: T) | compute_uv: bool = true; full_matrices: bool = false; "
     "T: type in [double,float,half,complex64,complex128]",
     svd, cubic<20>,
     "Singular values and vectors."},
    {"SelfAdjointEigV2(input: T) -> (e: T, v: T) | compute_v: bool = true; T: type in [double,"
     "float,half,complex64,complex128]",
     eigen, cubic<10>,
     "Eigenvalues, rising, and vectors of self-adjoint matrices."},
    {"Eig(input: T) -> (e: Tout, v: Tout) | compute_v: bool = true; T: type in [float,double,"
     "complex64,complex128]; Tout: type in [complex64,complex128]",
     eigen, cubic<25>,
     "Eigenvalues and vectors of any square matrices."},
    {"MatrixSquareRoot(input: T) -> (output: T) | T: type in [double,float,half,complex64,"
     "complex128]",
     square_unchanged, cubic<25>,
     "Matrices whose squares are the input."},
    {"MatrixLogarithm(input: T) -> (output: T) | T: type in [complex64,complex128]",
     square_unchanged, cubic<25>,
     "Matrices whose exponentials are the input."},
    {"Lu(input: T) -> (lu: T, p: output_idx_type) | T: type in [double,float,half,complex64,"
     "complex128]; output_idx_type: type in [int32,int64] = int32",
     lu, cubic<1>,
     "Lower and upper triangles in one matrix, and the permutation of the rows."},
    {"TridiagonalSolve(diagonals: T, rhs: T) -> (output: T) | partial_pivoting: bool = true; "
     "perturb_singular: bool = false; T: type in [double,float,complex64,complex128]",
     tridiagonal_solve, cost_rules::elementwise,
     "Solves systems with three diagonals."},
    {"TridiagonalMatMul(superdiag: T, maindiag: T, subdiag: T, rhs: T) -> (output: T) | T: type "
     "in [double,float,complex64,complex128]",
     tridiagonal_product, cost_rules::elementwise,
     "Products of matrices with three diagonals."},
};

}  // namespace

std::span<const OpRow> decompose_ops() { return kDecomposeRows; }

}  // namespace emplace::stdops
