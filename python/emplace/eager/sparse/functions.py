"""`tf.sparse.*`. Places are worked out in NumPy; values go through operations, so gradients do too."""

from __future__ import annotations

from typing import Any, TYPE_CHECKING

import numpy as np

from emplace.eager import op_errors
from emplace.eager.sparse import in_graphs
from emplace.eager.sparse.tensor import SparseTensor
from emplace.framework import array_ops, dtypes, errors, index_values, math_ops, sparse_ops
from emplace.framework.dispatch import execute as _op
from emplace.framework.ops import convert_to_tensor as _convert

if TYPE_CHECKING:
    from emplace.framework.tensor import Tensor


def from_dense(tensor: Any, name: str | None = None) -> SparseTensor:
    """The elements of a dense tensor that are not zero (or empty) as a sparse one."""
    tensor = _convert(tensor)
    zero = _convert(b"" if tensor.dtype is dtypes.string else False if tensor.dtype.is_bool else 0, tensor.dtype)
    indices = array_ops.where_v2(_op("NotEqual", [tensor, zero], {}))
    if tensor.shape.rank == 0:
        return SparseTensor(indices, array_ops.reshape(tensor, [1])[: array_ops.shape(indices)[0]], array_ops.shape(tensor, out_type=dtypes.int64))
    return SparseTensor(indices, array_ops.gather_nd(tensor, indices), array_ops.shape(tensor, out_type=dtypes.int64))


def to_dense(sp_input: Any, default_value: Any = None, validate_indices: bool = True, name: str | None = None) -> Tensor:
    """A dense tensor with `default_value` (zero) wherever the sparse one has nothing."""
    _check(sp_input)
    rest = array_ops.zeros([], sp_input.dtype) if default_value is None else _convert(default_value, sp_input.dtype)
    given = [sp_input.indices, sp_input.dense_shape, sp_input.values, rest]
    return _op("SparseToDense", given, {"validate_indices": validate_indices}, name)


def _check(value: Any) -> None:
    if not isinstance(value, SparseTensor):
        raise TypeError(f"Input must be a SparseTensor. Received: {value}")


def _places(sparse: Any) -> np.ndarray:
    return np.asarray(sparse.indices)


def _chosen(sparse: Any, order: Any, places: Any = None, shape: Any = None) -> SparseTensor:
    """The values numbered by `order`, at new places."""
    order = np.asarray(order, np.int64)
    places = _places(sparse)[order] if places is None else places
    shape = sparse.dense_shape if shape is None else np.asarray(shape, np.int64)
    return SparseTensor(np.asarray(places, np.int64), array_ops.gather(sparse.values, order), shape)


def reorder(sp_input: Any, name: str | None = None) -> SparseTensor:
    """The same with indices in ascending order."""
    return _chosen(sp_input, np.lexsort(_places(sp_input).T[::-1]))


def transpose(sp_input: Any, perm: Any = None, name: str | None = None) -> SparseTensor:
    """The dimensions in the order `perm`, reversed by default."""
    rank = _places(sp_input).shape[1]
    perm = list(range(rank))[::-1] if perm is None else [int(p) for p in perm]
    return reorder(SparseTensor(_places(sp_input)[:, perm], sp_input.values, sp_input.dense_shape.numpy()[perm]))


def reshape(sp_input: Any, shape: Any, name: str | None = None) -> SparseTensor:
    """The same values in another shape of as many elements; one size may be -1."""
    old = sp_input.dense_shape.numpy()
    shape = np.array(_convert(shape).numpy(), np.int64)
    if (shape == -1).sum() == 1:
        shape[shape == -1] = old.prod() // -shape.prod()
    if shape.prod() != old.prod():
        raise op_errors.refused("SparseReshape", f"Input to reshape is a tensor with {old.prod()} dense values, but the requested shape has {shape.prod()}")
    flat = np.ravel_multi_index(tuple(_places(sp_input).T), tuple(old)) if len(_places(sp_input)) else np.zeros(0, np.int64)
    places = np.stack(np.unravel_index(flat, tuple(shape)), 1) if len(shape) else np.zeros((len(flat), 0))
    return SparseTensor(places.astype(np.int64), sp_input.values, shape)


def expand_dims(sp_input: Any, axis: Any = None, name: str | None = None) -> SparseTensor:
    """With a dimension of 1 inserted at `axis`, by default at the end."""
    rank = _places(sp_input).shape[1]
    at = -1 if axis is None else int(axis)
    if not -rank - 1 <= at <= rank:
        raise ValueError(f"axis {axis} is out of range for a sparse tensor of rank {rank}")
    at = at % (rank + 1)
    return SparseTensor(np.insert(_places(sp_input), at, 0, 1), sp_input.values, np.insert(sp_input.dense_shape.numpy(), at, 1))


def retain(sp_input: Any, to_retain: Any) -> SparseTensor:
    """Only the values where `to_retain`, one bool each, is true."""
    return _chosen(sp_input, np.flatnonzero(_convert(to_retain).numpy()))


def slice(sp_input: Any, start: Any, size: Any, name: str | None = None) -> SparseTensor:  # noqa: A001
    """The part of `size` from `start`; what lies outside of the tensor is left out."""
    start, size = _convert(start, dtypes.int64).numpy(), _convert(size, dtypes.int64).numpy()
    places = _places(sp_input)
    inside = np.flatnonzero(((places >= start) & (places < start + size)).all(1))
    shape = np.clip(np.minimum(start + size, sp_input.dense_shape.numpy()) - start, 0, None)
    return _chosen(sp_input, inside, places[inside] - start, shape)


def split(sp_input: Any = None, num_split: Any = None, axis: Any = None, name: str | None = None) -> list[SparseTensor]:
    """`num_split` parts along `axis`, the first ones longer where it does not divide."""
    if num_split is None or sp_input is None or axis is None:
        raise ValueError("sp_input, num_split and axis are required")
    shape = sp_input.dense_shape.numpy()
    at, n = index_values.axis(axis, len(shape)), int(num_split)
    if not 0 < n <= shape[at]:
        raise op_errors.refused("SparseSplit", f"num_split must be positive and at most the size of the axis, {shape[at]}: {n}")
    base, extra = divmod(int(shape[at]), n)
    parts, begin = [], np.zeros_like(shape)
    for i in range(n):
        size = shape.copy()
        size[at] = base + (i < extra)
        parts.append(slice(sp_input, begin, size))
        begin = begin.copy()
        begin[at] += size[at]
    return parts


def concat(axis: Any, sp_inputs: Any, expand_nonconcat_dims: bool = False, name: str | None = None) -> SparseTensor:
    """Sparse tensors one after another along `axis`; `expand_nonconcat_dims` lets other dimensions differ."""
    shapes = np.stack([s.dense_shape.numpy() for s in sp_inputs])
    at = index_values.axis(axis, shapes.shape[1])
    others = np.delete(shapes, at, 1)
    if not expand_nonconcat_dims and (others != others[0]).any():
        raise op_errors.refused("SparseConcat", "Input shapes must match in all but the concatenated dimension")
    shape = shapes.max(0)
    shape[at] = shapes[:, at].sum()
    moved, before = [], 0
    for s in sp_inputs:
        places = _places(s).copy()
        places[:, at] += before
        before += int(s.dense_shape.numpy()[at])
        moved.append(places)
    whole = SparseTensor(np.concatenate(moved), array_ops.concat([s.values for s in sp_inputs], 0), shape)
    return reorder(whole)


def _together(a: Any, b: Any) -> tuple[np.ndarray, Any, Any]:
    """The places of either, and the values of both there (zero where there is none)."""
    if (a.dense_shape.numpy() != b.dense_shape.numpy()).any():
        raise errors.InvalidArgumentError(None, None, f"Operands' shapes do not match: got {a.shape} and {b.shape}")
    both = np.concatenate([_places(a), _places(b)])
    places, at = np.unique(both, axis=0, return_inverse=True)
    n, at = len(places), np.asarray(at).reshape(-1).astype(np.int64)
    spread = [_op("UnsortedSegmentSum", [v, i, np.int32(n)], {}) for v, i in ((a.values, at[: len(_places(a))]), (b.values, at[len(_places(a)) :]))]
    return places, spread[0], spread[1]


def maximum(sp_a: Any, sp_b: Any, name: str | None = None) -> SparseTensor:
    """The greater of two sparse tensors at each place; what is missing counts as 0."""
    places, x, y = _together(sp_a, sp_b)
    return SparseTensor(places, _op("Maximum", [x, y], {}), sp_a.dense_shape)


def minimum(sp_a: Any, sp_b: Any, name: str | None = None) -> SparseTensor:
    """The lesser of two sparse tensors at each place; what is missing counts as 0."""
    places, x, y = _together(sp_a, sp_b)
    return SparseTensor(places, _op("Minimum", [x, y], {}), sp_a.dense_shape)


def add(a: Any, b: Any, threshold: Any = 0) -> Any:
    """The sum, sparse if both are; values below `threshold` in size are then left out."""
    if isinstance(a, SparseTensor) and isinstance(b, SparseTensor):
        places, x, y = _together(a, b)
        total = SparseTensor(places, x + y, a.dense_shape)
        return total if not threshold else retain(total, math_ops.abs(total.values) >= threshold)
    if not isinstance(a, SparseTensor) and not isinstance(b, SparseTensor):
        raise TypeError("At least one input should be SparseTensor; do you mean to use tf.add()?")
    sparse, dense = (a, b) if isinstance(a, SparseTensor) else (b, a)
    return _op("TensorScatterAdd", [_convert(dense), sparse.indices, sparse.values], {})


def eye(num_rows: Any, num_columns: Any = None, dtype: Any = dtypes.float32, name: str | None = None) -> SparseTensor:
    """A sparse matrix with ones on its diagonal."""
    rows = int(num_rows)
    columns = rows if num_columns is None else int(num_columns)
    n = min(rows, columns)
    return SparseTensor(np.repeat(np.arange(n), 2).reshape(n, 2), array_ops.ones([n], dtype), np.array([rows, columns]))


def map_values(op: Any, *args: Any, **kwargs: Any) -> Any:
    """`op` applied to the values of sparse tensors with the same indices, which the result has too."""
    given = [a for a in (*args, *kwargs.values()) if isinstance(a, SparseTensor)]
    if not given:
        raise ValueError("No SparseTensor in argument list of map_values")
    for other in given[1:]:
        if (other.dense_shape.numpy() != given[0].dense_shape.numpy()).any() or (_places(other) != _places(given[0])).any():
            raise errors.InvalidArgumentError(None, None, "Mismatched SparseTensors")
    bare = [a.values if isinstance(a, SparseTensor) else a for a in args]
    return given[0].with_values(op(*bare, **{k: a.values if isinstance(a, SparseTensor) else a for k, a in kwargs.items()}))


def mask(a: Any, mask_indices: Any, name: str | None = None) -> Any:
    """Slices without the rows whose indices are in `mask_indices`."""
    places = _convert(a.indices)
    if not hasattr(places, "numpy"):
        return sparse_ops.sparse_mask(a, mask_indices)
    kept = ~np.isin(places.numpy(), _convert(mask_indices).numpy())
    return type(a)(array_ops.boolean_mask(a.values, kept), array_ops.boolean_mask(places, kept), a.dense_shape)


def softmax(sp_input: Any, name: str | None = None) -> SparseTensor:
    """`softmax` along the last dimension over the values that are there."""
    places = _places(sp_input)
    _, ids = np.unique(places[:, :-1], axis=0, return_inverse=True)
    ids = np.asarray(ids).reshape(-1).astype(np.int64)
    n = np.int32(ids.max() + 1 if len(ids) else 0)
    highest = _op("UnsortedSegmentMax", [sp_input.values, ids, n], {})
    powers = math_ops.exp(sp_input.values - array_ops.gather(highest, ids))
    total = _op("UnsortedSegmentSum", [powers, ids, n], {})
    return sp_input.with_values(powers / array_ops.gather(total, ids))


def _reduced(sp_input: Any, op: str, axis: Any, keepdims: Any, sparse: bool) -> Any:
    shape = sp_input.dense_shape.numpy()
    rank = len(shape)
    given = range(rank) if axis is None else axis if isinstance(axis, (list, tuple)) else [axis]
    axes = sorted({index_values.axis(a, rank) for a in given})
    rest = [a for a in range(rank) if a not in axes]
    size = shape[rest]
    left = _places(sp_input)[:, rest]
    flat = np.ravel_multi_index(tuple(left.T), tuple(size)) if rest else np.zeros(len(left), np.int64)
    final = [1 if a in axes else int(shape[a]) for a in range(rank)] if keepdims else [int(s) for s in size]
    found = np.unique(flat)
    at = np.searchsorted(found, flat)
    values = _op(op, [sp_input.values, at.astype(np.int64), np.int32(len(found))], {})
    dense = _op("ScatterNd", [found.reshape(-1, 1).astype(np.int64), values, _convert(np.array([int(size.prod())], np.int64))], {})
    result = array_ops.reshape(dense, final)
    return from_dense(result) if sparse else result


def reduce_sum(sp_input: Any, axis: Any = None, keepdims: Any = None, output_is_sparse: bool = False, name: str | None = None) -> Any:
    """The sum over `axis`, dense unless `output_is_sparse`."""
    return _reduced(sp_input, "UnsortedSegmentSum", axis, keepdims, output_is_sparse)


def reduce_max(sp_input: Any, axis: Any = None, keepdims: Any = None, output_is_sparse: bool = False, name: str | None = None) -> Any:
    """The greatest value that is there over `axis`, dense unless `output_is_sparse`."""
    return _reduced(sp_input, "UnsortedSegmentMax", axis, keepdims, output_is_sparse)


def sparse_dense_matmul(sp_a: Any, b: Any, adjoint_a: bool = False, adjoint_b: bool = False, name: str | None = None) -> Any:
    """The product of a sparse matrix and a dense one, in either order, as a dense one."""
    if not isinstance(sp_a, SparseTensor):  # dense times sparse
        left = sparse_dense_matmul(b, sp_a, not adjoint_b, not adjoint_a)
        return array_ops.transpose(left, conjugate=sp_a.dtype.is_complex)
    b = _convert(b, sp_a.dtype)
    b = array_ops.matrix_transpose(b, conjugate=b.dtype.is_complex) if adjoint_b else b
    rows, columns = sp_a.indices[:, 0], sp_a.indices[:, 1]
    n = sp_a.dense_shape[1 if adjoint_a else 0]
    if adjoint_a:
        rows, columns = columns, rows
    products = array_ops.expand_dims(sp_a.values, 1) * array_ops.gather(b, columns)
    return _op("UnsortedSegmentSum", [products, rows, math_ops.cast(n, dtypes.int32)], {})


def sampled_addmm(
    indices: Any, values: Any, dense_shape: Any, mat1: Any, mat2: Any, beta: Any = 1.0, alpha: Any = 1.0, output_type: Any = dtypes.float32
) -> tuple[Tensor, Tensor, Tensor]:
    """`alpha * mat1 @ mat2 + beta * values` at the given places only."""
    indices, mat1, mat2 = _convert(indices), _convert(mat1), _convert(mat2)
    batch = indices.shape.rank - 2
    left = array_ops.gather(mat1, indices[..., 0], batch_dims=batch, axis=batch)
    right = array_ops.gather(array_ops.matrix_transpose(mat2), indices[..., 1], batch_dims=batch, axis=batch)
    products = math_ops.reduce_sum(math_ops.cast(left, output_type) * math_ops.cast(right, output_type), -1)
    return indices, alpha * products + math_ops.cast(values, output_type) * beta, _convert(dense_shape)


def fill_empty_rows(sp_input: Any, default_value: Any, name: str | None = None) -> Any:
    """With `default_value` at the front of each empty row, and which rows were empty."""
    places, n = _places(sp_input), int(sp_input.dense_shape.numpy()[0])
    empty = np.setdiff1d(np.arange(n), places[:, 0])
    added = np.zeros((len(empty), places.shape[1]), np.int64)
    added[:, 0] = empty
    extra = _op("Fill", [np.array([len(empty)], np.int32), _convert(default_value, sp_input.dtype)], {})
    whole = SparseTensor(np.concatenate([places, added]), array_ops.concat([sp_input.values, extra], 0), sp_input.dense_shape)
    return reorder(whole), _convert(np.isin(np.arange(n), empty))


def reset_shape(sp_input: Any, new_shape: Any = None) -> SparseTensor:
    """The same values in a shape just large enough, or in `new_shape`, which must hold them."""
    places = _places(sp_input)
    shape = places.max(0) + 1 if new_shape is None else np.asarray(_convert(new_shape).numpy(), np.int64)
    if len(places) and ((places >= shape).any() if new_shape is not None else False):
        raise errors.InvalidArgumentError(None, None, f"New shape {list(shape)} does not hold all values")
    return SparseTensor(sp_input.indices, sp_input.values, shape)


def to_indicator(sp_input: Any, vocab_size: Any, name: str | None = None) -> Any:
    """A bool tensor that is true at [row, value] for each value, a class number below `vocab_size`."""
    ids = math_ops.cast(sp_input.values, dtypes.int64)
    places = np.concatenate([_places(sp_input)[:, :-1], ids.numpy().reshape(-1, 1)], 1)
    shape = np.append(sp_input.dense_shape.numpy()[:-1], int(vocab_size))
    made = np.zeros(shape, bool)
    made[tuple(places.T)] = True
    return _convert(made)


def of_tensors(name: str, plain: Any) -> Any:
    """What functions of tensors do with sparse ones."""
    return {
        "cast": lambda x, dtype, name=None: x.with_values(math_ops.cast(x.values, dtype)),
        "shape": lambda input, out_type=dtypes.int32, name=None: math_ops.cast(input.dense_shape, out_type or dtypes.int32),  # noqa: A002
        "size": lambda input, out_type=dtypes.int32, name=None: math_ops.cast(math_ops.reduce_prod(input.dense_shape), out_type or dtypes.int32),  # noqa: A002
        "rank": lambda input, name=None: array_ops.size(input.dense_shape),  # noqa: A002
        **{n: lambda x, name=None: x.with_values(plain(x.values)) for n in ("abs", "negative", "sign", "square", "sqrt", "tanh", "round", "floor", "identity", "zeros_like", "ones_like")},
    }.get(name)


in_graphs.install(globals())
