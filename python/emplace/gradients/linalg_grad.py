"""Gradients of linear algebra."""

from __future__ import annotations

from typing import Any

from emplace.framework import array_ops, math_ops, ops
from emplace.framework.dispatch import execute as _op
from emplace.gradients.common import after, conj
from emplace.gradients.registry import gradient


def _adjoint(x: Any) -> Any:
    return array_ops.matrix_transpose(x, conjugate=True)


def _lower(x: Any) -> Any:
    return _op("MatrixBandPart", [x, -1, 0], {})


def _sizes(x: Any) -> tuple[int, int]:
    """Rows and columns; the gradients of decompositions depend on them."""
    rows, columns = x.shape.as_list()[-2:] if x.shape.rank is not None else (None, None)
    if rows is None or columns is None:
        raise NotImplementedError(f"the gradient of a decomposition needs the matrices' sizes to be known, not {x.shape}")
    return rows, columns


@gradient("MatrixInverse")
def _inverse(op: Any, grad: Any) -> Any:
    y = op.outputs[0]
    adjoint = not op.get_attr("adjoint")
    return -math_ops.matmul(y, math_ops.matmul(grad, y, adjoint_b=adjoint), adjoint_a=adjoint)


def _for_matrices(op: Any, value: Any, output: int = 0) -> Any:
    """A number for each matrix, to be multiplied with it."""
    return array_ops.reshape(value, array_ops.concat([array_ops.shape(op.outputs[output]), [1, 1]], 0))


@gradient("MatrixDeterminant")
def _determinant(op: Any, grad: Any) -> Any:
    inverse = _op("MatrixInverse", [op.inputs[0]], {"adjoint": True})
    return _for_matrices(op, grad * op.outputs[0]) * inverse


@gradient("LogMatrixDeterminant")
def _log_determinant(op: Any, _: Any, grad: Any) -> Any:
    inverse = _op("MatrixInverse", [op.inputs[0]], {"adjoint": True})
    return _for_matrices(op, grad, 1) * inverse


@gradient("MatrixSolve")
def _solve(op: Any, grad: Any) -> Any:
    a, x = op.inputs[0], op.outputs[0]
    adjoint = op.get_attr("adjoint")
    gb = _op("MatrixSolve", [a, grad], {"adjoint": not adjoint})
    ga = -math_ops.matmul(x, gb, adjoint_b=True) if adjoint else -math_ops.matmul(gb, x, adjoint_b=True)
    return ga, gb


@gradient("Cholesky")
def _cholesky(op: Any, grad: Any) -> Any:
    lower = op.outputs[0]
    size, batch = array_ops.shape(lower)[-1], array_ops.shape(lower)[:-2]
    one = array_ops.eye(size, batch_shape=batch, dtype=lower.dtype)
    with ops.name_scope("triangular_solve"):
        inverse = _op("MatrixTriangularSolve", [lower, one], {})
    middle = math_ops.matmul(lower, grad, adjoint_a=True)
    middle = array_ops.matrix_set_diag(middle, 0.5 * array_ops.matrix_diag_part(middle))
    middle = _lower(middle)
    full = math_ops.matmul(math_ops.matmul(inverse, middle, adjoint_a=True), inverse)
    with ops.name_scope("adjoint"):
        turned = _adjoint(full)
    return (full + turned) * 0.5


@gradient("MatrixTriangularSolve")
def _triangular_solve(op: Any, grad: Any) -> Any:
    """As of a full solve; only the triangle that was read has a gradient."""
    a, x = op.inputs[0], op.outputs[0]
    lower, adjoint = bool(op.get_attr("lower")), bool(op.get_attr("adjoint"))
    with ops.name_scope("triangular_solve"):
        gb = _op("MatrixTriangularSolve", [a, grad], {"lower": lower, "adjoint": not adjoint})
    ga = -math_ops.matmul(x, gb, adjoint_b=True) if adjoint else -math_ops.matmul(gb, x, adjoint_b=True)
    ga = _op("MatrixBandPart", [ga, -1, 0] if lower else [ga, 0, -1], {})
    b = op.inputs[1]
    if a.shape.is_fully_defined() and b.shape.is_fully_defined() and a.shape[:-2] == b.shape[:-2]:
        return ga, gb
    sizes = array_ops.shape(a), array_ops.shape(b)  # one of them may have been broadcast
    axes = _op("BroadcastGradientArgs", [sizes[0][:-2], sizes[1][:-2]], {})
    return tuple(array_ops.reshape(math_ops.reduce_sum(g, axis=along), size) for g, along, size in zip((ga, gb), axes, sizes))


@gradient("SelfAdjointEigV2")
def _self_adjoint_eig(op: Any, of_values: Any, of_vectors: Any) -> Any:
    """Back in the basis of the eigenvectors; the lower triangle alone was read."""
    with after(*(g for g in (of_values, of_vectors) if g is not None)):
        if op.get_attr("compute_v"):
            e, v = op.outputs
            apart = array_ops.expand_dims(e, -2) - array_ops.expand_dims(e, -1)
            near = apart * _op("Reciprocal", [apart * apart + 1e-20], {})
            factor = array_ops.matrix_set_diag(near, array_ops.zeros_like(e))
            inner = array_ops.matrix_diag(of_values) + factor * math_ops.matmul(v, of_vectors, adjoint_a=True)
        else:
            v = _op("SelfAdjointEigV2", [op.inputs[0]], {"compute_v": True})[1]
            inner = array_ops.matrix_diag(of_values)
        whole = math_ops.matmul(v, math_ops.matmul(inner, v, adjoint_b=True))
        with ops.name_scope("adjoint"):
            turned = _adjoint(whole)
        both = _lower(whole + turned)
        return array_ops.matrix_set_diag(both, 0.5 * array_ops.matrix_diag_part(both))


def _reciprocal(x: Any) -> Any:
    """Zero where x is."""
    return math_ops.div_no_nan(array_ops.ones_like(x), x)


def _gaps(values: Any) -> Any:
    """1 / (values[j] - values[i]), and zero on the diagonal."""
    apart = array_ops.expand_dims(values, -2) - array_ops.expand_dims(values, -1)
    return array_ops.matrix_set_diag(_reciprocal(apart), array_ops.zeros_like(values))


@gradient("Eig")
def _eig(op: Any, of_values: Any, of_vectors: Any) -> Any:
    """Of a general matrix: the eigenvectors have length one, whatever the eigenvalues do."""
    if op.get_attr("compute_v"):
        e, v = op.outputs
        turned = math_ops.matmul(v, of_vectors, adjoint_a=True)
        along = math_ops.cast(math_ops.real(array_ops.matrix_diag_part(turned)), turned.dtype)
        across = turned - math_ops.matmul(v, v, adjoint_a=True) * array_ops.expand_dims(along, -2)
        inner = array_ops.matrix_diag(of_values) + math_ops.conj(_gaps(e)) * across
    else:
        v = _op("Eig", [op.inputs[0]], {"compute_v": True, "Tout": op.outputs[0].dtype.base_dtype})[1]
        inner = array_ops.matrix_diag(of_values)
    found = _op("MatrixSolve", [_adjoint(v), math_ops.matmul(inner, v, adjoint_b=True)], {})
    return found if op.inputs[0].dtype.is_complex else math_ops.cast(math_ops.real(found), op.inputs[0].dtype.base_dtype)


@gradient("Svd")
def _svd(op: Any, of_s: Any, of_u: Any, of_v: Any) -> Any:
    a = op.inputs[0]
    middle = array_ops.matrix_diag(math_ops.cast(of_s, a.dtype.base_dtype))
    if not op.get_attr("compute_uv"):
        _, u, v = _op("Svd", [a], {"compute_uv": True})
        return math_ops.matmul(u, math_ops.matmul(middle, v, adjoint_b=True))
    rows, columns = _sizes(a)
    full, least = op.get_attr("full_matrices"), min(rows, columns)
    if full and abs(rows - columns) > 1:
        raise NotImplementedError(f"svd gradient is not implemented for abs(m - n) > 1 when full_matrices is True: {rows}, {columns}")
    with after(of_s):
        s = math_ops.cast(op.outputs[0], a.dtype.base_dtype)
        gaps, inverse = _gaps(s * s), array_ops.expand_dims(_reciprocal(s), -2)
        u, v, gu, gv = (t[..., :least] for t in (op.outputs[1], op.outputs[2], of_u, of_v))
        turned_u, turned_v = math_ops.matmul(u, gu, adjoint_a=True), math_ops.matmul(v, gv, adjoint_a=True)
        middle += gaps * (turned_u - _adjoint(turned_u)) * array_ops.expand_dims(s, -2)
        middle += gaps * (turned_v - _adjoint(turned_v)) * array_ops.expand_dims(s, -1)
        if a.dtype.is_complex:
            phase = array_ops.matrix_diag_part(turned_v)
            middle += array_ops.matrix_diag(0.5 * (conj(phase) - phase) * _reciprocal(s))
        found = math_ops.matmul(u, math_ops.matmul(middle, v, adjoint_b=True))
        if rows > columns:
            outside = _outside(u, gu, op.outputs[1], of_u, full)
            found += math_ops.matmul(outside * inverse, v, adjoint_b=True)
        elif rows < columns:
            outside = _outside(v, gv, op.outputs[2], of_v, full)
            found += math_ops.matmul(u * inverse, outside, adjoint_b=True)
    return found


def _outside(w: Any, g: Any, whole: Any, of_whole: Any, full: bool) -> Any:
    """What the gradient of the vectors says of directions that they leave out."""
    found = g - math_ops.matmul(w, math_ops.matmul(w, g, adjoint_a=True))
    if full:
        count = w.shape.as_list()[-1]
        rest, of_rest = whole[..., count:], of_whole[..., count:]
        found -= math_ops.matmul(rest, math_ops.matmul(of_rest, w, adjoint_a=True))
    return found


@gradient("Qr")
def _qr(op: Any, of_q: Any, of_r: Any) -> Any:
    q, r = op.outputs
    rows, columns = _sizes(op.inputs[0])
    if rows > columns and q.shape.as_list()[-1] == rows:
        raise NotImplementedError(f"QrGrad not implemented when nrows > ncols and full_matrices is true: {rows}, {columns}")
    if rows >= columns:
        return _qr_square(q, r, of_q, of_r)
    # The columns behind the square part are q times theirs of r, and move q.
    behind, of_behind = op.inputs[0][..., rows:], of_r[..., rows:]
    of_q = of_q + math_ops.matmul(behind, of_behind, adjoint_b=True)
    left = _qr_square(q, r[..., :rows], of_q, of_r[..., :rows])
    return array_ops.concat([left, math_ops.matmul(q, of_behind)], -1)


def _qr_square(q: Any, r: Any, of_q: Any, of_r: Any) -> Any:
    """(dq + q h) r^-H, where h is Hermitian and its lower triangle that of r dr^H - dq^H q."""
    m = math_ops.matmul(r, of_r, adjoint_b=True) - math_ops.matmul(of_q, q, adjoint_a=True)
    diagonal = array_ops.matrix_diag_part(m)
    if m.dtype.is_complex:
        diagonal = math_ops.cast(math_ops.real(diagonal), m.dtype)
    below = array_ops.matrix_set_diag(_lower(m), array_ops.zeros_like(diagonal))
    hermitian = array_ops.matrix_set_diag(below + _adjoint(below), diagonal)
    return _adjoint(_op("MatrixTriangularSolve", [r, _adjoint(of_q + math_ops.matmul(q, hermitian))], {"lower": False}))


@gradient("MatrixSolveLs")
def _solve_ls(op: Any, grad: Any) -> Any:
    """x = (a^H a + l)^-1 a^H b; of fewer rows than columns, x = a^H (a a^H + l)^-1 b."""
    if not op.get_attr("fast"):
        raise ValueError("Gradient not defined for fast=False")
    a, b, l2 = op.inputs
    rows, columns = _sizes(a)
    x = op.outputs[0]
    tall = rows >= columns
    square = math_ops.matmul(a, a, adjoint_a=tall, adjoint_b=not tall)
    square = array_ops.matrix_set_diag(square, array_ops.matrix_diag_part(square) + math_ops.cast(l2, a.dtype.base_dtype))
    if tall:
        z = _op("MatrixSolve", [square, grad], {})
        left = b - math_ops.matmul(a, x)
        of_a = math_ops.matmul(left, z, adjoint_b=True) - math_ops.matmul(math_ops.matmul(a, z), x, adjoint_b=True)
        return of_a, math_ops.matmul(a, z), None
    of_b = _op("MatrixSolve", [square, math_ops.matmul(a, grad)], {})
    left = grad - math_ops.matmul(a, of_b, adjoint_a=True)
    weights = _op("MatrixSolve", [square, b], {})
    return math_ops.matmul(weights, left, adjoint_b=True) - math_ops.matmul(of_b, x, adjoint_b=True), of_b, None


@gradient("BandedTriangularSolve")
def _banded_solve(op: Any, grad: Any) -> Any:
    """The bands of the full solve's gradient."""
    bands, x = op.inputs[0], op.outputs[0]
    lower, adjoint = bool(op.get_attr("lower")), bool(op.get_attr("adjoint"))
    gb = _op("BandedTriangularSolve", [bands, grad], {"lower": lower, "adjoint": not adjoint})
    full = -math_ops.matmul(x, gb, adjoint_b=True) if adjoint else -math_ops.matmul(gb, x, adjoint_b=True)
    count = _sizes(bands)[0]
    k = (1 - count, 0) if lower else (0, count - 1)
    return array_ops.matrix_diag_part(full, k=k, align="LEFT_RIGHT"), gb


# ---- Three diagonals, each a row: above the main one, the main one, below it.


def _up(x: Any) -> Any:
    """Row i takes the place of row i - 1; zeros come in last."""
    return array_ops.concat([x[..., 1:, :], array_ops.zeros_like(x[..., :1, :])], -2)


def _down(x: Any) -> Any:
    return array_ops.concat([array_ops.zeros_like(x[..., :1, :]), x[..., :-1, :]], -2)


@gradient("TridiagonalMatMul")
def _tridiagonal_matmul(op: Any, grad: Any) -> Any:
    above, main, below = (_adjoint(d) for d in op.inputs[:3])
    rhs = conj(op.inputs[3])
    of_diagonals = [array_ops.expand_dims(math_ops.reduce_sum(r * grad, -1), -2) for r in (_up(rhs), rhs, _down(rhs))]
    return *of_diagonals, _down(above * grad) + main * grad + _up(below * grad)


@gradient("TridiagonalSolve")
def _tridiagonal_solve(op: Any, grad: Any) -> Any:
    """With the transposed matrix; its diagonals change places and shift."""
    diagonals, x = op.inputs[0], op.outputs[0]
    columns = array_ops.matrix_transpose(diagonals)
    above, below = _up(columns[..., 2:]), _down(columns[..., :1])
    turned = array_ops.matrix_transpose(array_ops.concat([above, columns[..., 1:2], below], -1))
    attrs = {n: op.get_attr(n) for n in ("partial_pivoting", "perturb_singular")}
    of_rhs = _op("TridiagonalSolve", [conj(turned), grad], attrs)
    rhs = conj(x)
    parts = [math_ops.reduce_sum(of_rhs * r, -1) for r in (_up(rhs), rhs, _down(rhs))]
    return -array_ops.stack(parts, -2), of_rhs


@gradient("MatrixSquareRoot")
def _square_root(op: Any, grad: Any) -> Any:
    """X with R^H X + X R^H = grad, R being the root: linear equations in the elements of X."""
    root = op.outputs[0]
    shape = array_ops.shape(root)
    n = shape[-1]
    batches = math_ops.reduce_prod(shape[:-2])
    one = array_ops.reshape(array_ops.eye(n, dtype=root.dtype), [-1])
    ones = array_ops.reshape(_op("Tile", [one, [batches]], {}), shape)
    turned = array_ops.matrix_transpose(root)
    first = _kronecker(ones, turned)
    equations = _op("AddV2", [first, _kronecker(root, ones)], {}, "Add")
    column = array_ops.concat([_batches(shape), [n * n], [1]], 0)
    right = array_ops.reshape(array_ops.matrix_transpose(grad), column)
    found = _op("MatrixSolve", [conj(equations), right], {"adjoint": False})
    return array_ops.matrix_transpose(array_ops.reshape(found, shape))


def _batches(shape: Any) -> Any:
    """The sizes before those of the matrices."""
    return array_ops.slice(shape, [0], [_op("Sub", [array_ops.size(shape), 2], {})])


def _kronecker(a: Any, b: Any) -> Any:
    """Of square matrices: each number of the one times all of the other."""
    left, right = array_ops.shape(a), array_ops.shape(b)
    m, n = left[-1], right[-1]
    batches = _batches(left)
    blocks = array_ops.concat([batches, [m], [1], [m], [1]], 0)
    inside = array_ops.concat([batches, [1], [n], [1], [n]], 0)
    a, b = array_ops.reshape(a, blocks), array_ops.reshape(b, inside)
    size = m * n
    whole = array_ops.concat([batches, [size], [size]], 0)
    return array_ops.reshape(a * b, whole)
