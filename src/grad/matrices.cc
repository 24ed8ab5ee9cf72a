// Gradients of solving with matrices and of taking them apart.
#include <algorithm>

#include <fmt/format.h>

#include "grad/rows.h"

namespace emplace::grad {
namespace {

Output times(Output a, Output b, bool adjoint_a = false, bool adjoint_b = false) {
  return op("BatchMatMulV2", {a, b}, {{"adj_x", adjoint_a}, {"adj_y", adjoint_b}});
}

Output band(Output x, int below, int above) {
  return f("MatrixBandPart", x, constant(int64_t{below}), constant(int64_t{above}));
}
Output lower(Output x) { return band(x, -1, 0); }

// The two last axes change places.
Output adjoint(Output x) {
  const Output rank = f("Rank", x), one = constant(1), two = constant(2);
  const Output outer = f("Range", constant(0), rank - two, one);
  const Output last = op("Pack", {rank - one, rank - two});
  return f("ConjugateTranspose", x, f("ConcatV2", outer, last, constant(0)));
}

Output diagonal(Output x) { return f("MatrixDiagPart", x); }
Output with_diagonal(Output x, Output d) { return f("MatrixSetDiag", x, d); }
Output half(Output x) { return x * number(0.5, x); }

Output row(Output x) { return f("ExpandDims", x, constant(-2)); }
Output column(Output x) { return f("ExpandDims", x, constant(-1)); }

// Zero where x is.
Output reciprocal(Output x) { return f("DivNoNan", f("OnesLike", x), x); }

// 1 / (values[j] - values[i]), and zero on the diagonal.
Output gaps(Output values) {
  return with_diagonal(reciprocal(row(values) - column(values)), zeros_like(values));
}

struct Sizes {
  int64_t rows, columns;
};
Sizes sizes(const Forward& n) {
  const Shape& s = n.x().shape();
  if (!s.has_rank() || s.rank() < 2 || s.dim(s.rank() - 2) < 0 || s.dim(s.rank() - 1) < 0)
    throw unimplemented(fmt::format("the gradient of {} needs the matrices' sizes to be known, not "
                                    "{}", n.node.type(), s.str()))
        .at_node(n.node.name(), n.node.type());
  return {s.dim(s.rank() - 2), s.dim(s.rank() - 1)};
}

// Columns [begin, end) of the last axis; end 0: all that follow.
Output columns(Output x, int begin, int end) {
  return op("StridedSlice", {x, ints({0, begin}), ints({0, end}), ints({1, 1})},
            {{"ellipsis_mask", 1}, {"begin_mask", 0}, {"end_mask", end == 0 ? 2 : 0}});
}

std::vector<Output> of_solve(const Forward& n) {
  const bool turned = n.attr<bool>("adjoint");
  const Output x = n.y(), gb = op("MatrixSolve", {n.x(0), n.dy()}, {{"adjoint", !turned}});
  return {-(turned ? times(x, gb, false, true) : times(gb, x, false, true)), gb};
}

// Only the triangle that was read has a gradient.
std::vector<Output> of_triangular_solve(const Forward& n) {
  const bool turned = n.attr<bool>("adjoint"), low = n.attr<bool>("lower");
  const Output x = n.y();
  const Output gb =
      op("MatrixTriangularSolve", {n.x(0), n.dy()}, {{"lower", low}, {"adjoint", !turned}});
  const Output ga = -(turned ? times(x, gb, false, true) : times(gb, x, false, true));
  const Output part = low ? lower(ga) : band(ga, 0, -1);
  return {like(part, n.x(0)), like(gb, n.x(1))};  // the leading axes broadcast
}

std::vector<Output> of_cholesky(const Forward& n) {
  const Output l = n.y(), inverse = f("MatrixInverse", l);
  const Output product = times(l, n.dy(), true);
  const Output middle = lower(with_diagonal(product, half(diagonal(product))));
  const Output full = times(times(inverse, middle, true), inverse);
  return {half(full + adjoint(full))};
}

std::vector<Output> of_log_determinant(const Forward& n) {
  const Output inverse = op("MatrixInverse", {n.x()}, {{"adjoint", true}});
  const Output shape = f("ConcatV2", shape_of(n.y(1)), ints({1, 1}), constant(0));
  return {f("Reshape", n.dy(1), shape) * inverse};
}

// Back in the basis of the eigenvectors; the lower triangle alone was read.
std::vector<Output> of_self_adjoint_eig(const Forward& n) {
  Output v = n.y(1), inner = f("MatrixDiag", n.dy(0));
  if (n.attr<bool>("compute_v"))
    inner = inner + gaps(n.y(0)) * times(v, n.dy(1), true);
  else
    v = op("SelfAdjointEigV2", {n.x()}, {{"compute_v", true}}).node->output(1);
  const Output whole = times(v, times(inner, v, false, true));
  const Output both = lower(whole + adjoint(whole));
  return {with_diagonal(both, half(diagonal(both)))};
}

// What the gradient of the vectors says of directions that they leave out.
Output outside(Output w, Output g) { return g - times(w, times(w, g, true)); }

std::vector<Output> of_svd(const Forward& n) {
  const Output middle = f("MatrixDiag", cast(n.dy(0), n.x().dtype()));
  if (!n.attr<bool>("compute_uv")) {
    Node* whole = op("Svd", {n.x()}, {{"compute_uv", true}}).node;
    return {times(whole->output(1), times(middle, whole->output(2), false, true))};
  }
  const auto [height, width] = sizes(n);
  if (n.attr<bool>("full_matrices") && height != width)
    throw unimplemented("gradient of Svd with full_matrices that are not square")
        .at_node(n.node.name(), "Svd");
  if (is_complex(n.x().dtype()))
    throw unimplemented("gradient of the vectors of a complex Svd").at_node(n.node.name(), "Svd");
  const Output s = n.y(0), u = n.y(1), v = n.y(2);
  const Output apart = gaps(s * s), turned_u = times(u, n.dy(1), true),
               turned_v = times(v, n.dy(2), true);
  const Output inner = middle + apart * (turned_u - adjoint(turned_u)) * row(s) +
                       apart * (turned_v - adjoint(turned_v)) * column(s);
  Output found = times(u, times(inner, v, false, true));
  const Output share = row(reciprocal(s));
  if (height > width) found = found + times(outside(u, n.dy(1)) * share, v, false, true);
  if (height < width) found = found + times(u * share, outside(v, n.dy(2)), false, true);
  return {found};
}

// (dq + q h) r^-H, where h is symmetric and its lower triangle that of r dr^H - dq^H q.
Output of_square_qr(Output q, Output r, Output dq, Output dr) {
  const Output m = times(r, dr, false, true) - times(dq, q, true);
  const Output zeros = zeros_like(diagonal(m));
  const Output below = with_diagonal(lower(m), zeros);
  const Output h = with_diagonal(below + adjoint(below), diagonal(m));
  const Output right = adjoint(dq + times(q, h));
  return adjoint(op("MatrixTriangularSolve", {r, right}, {{"lower", false}}));
}

std::vector<Output> of_qr(const Forward& n) {
  const auto [height, width] = sizes(n);
  if (is_complex(n.x().dtype()) || (n.attr<bool>("full_matrices") && height > width))
    throw unimplemented("gradient of a Qr that is complex, or of full matrices that are tall")
        .at_node(n.node.name(), "Qr");
  const Output q = n.y(0), r = n.y(1), dq = n.dy(0), dr = n.dy(1);
  if (height >= width) return {of_square_qr(q, r, dq, dr)};
  // The columns behind the square part are q times theirs of r, and move q.
  const int k = static_cast<int>(height);
  const Output behind = columns(n.x(), k, 0), of_behind = columns(dr, k, 0);
  const Output moved = dq + times(behind, of_behind, false, true);
  const Output left = of_square_qr(q, columns(r, 0, k), moved, columns(dr, 0, k));
  return {f("ConcatV2", left, times(q, of_behind), constant(-1))};
}

}  // namespace

void add_matrices(Rows& rows) {
  rows.add("MatrixSolve", of_solve);
  rows.add("MatrixTriangularSolve", of_triangular_solve);
  rows.add("Cholesky", of_cholesky);
  rows.add("LogMatrixDeterminant", of_log_determinant);
  rows.add("SelfAdjointEigV2", of_self_adjoint_eig);
  rows.add("Svd", of_svd);
  rows.add("Qr", of_qr);
}

}  // namespace emplace::grad
