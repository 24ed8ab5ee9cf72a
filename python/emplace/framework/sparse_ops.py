"""tf.sparse in graph programs: functions over sparse tensors, each an operation or two."""

from __future__ import annotations

from typing import Any, TYPE_CHECKING

from emplace.framework import array_ops, constant_op, dtypes, gen, index_values, math_ops, ops, tensor_shape
from emplace.framework.dispatch import execute as _op
from emplace.framework.ops import convert_to_tensor as _convert
from emplace.framework.ops import name_scope
from emplace.framework.sparse_tensor import SparseTensor, SparseTensorValue, sparse_placeholder

if TYPE_CHECKING:
    from emplace.framework.tensor import Tensor


def _is_sparse(value: Any) -> bool:
    """One of a graph's, or of an eager program's."""
    return isinstance(value, (SparseTensor, SparseTensorValue)) or getattr(value, "_is_sparse", False)


def _sparse(value: Any) -> SparseTensor:
    if isinstance(value, SparseTensorValue):
        return SparseTensor.from_value(value)
    if not _is_sparse(value):
        raise TypeError("Input must be a SparseTensor.")
    return value


def _parts(sp: Any) -> list[Any]:
    return [sp.indices, sp.values, sp.dense_shape]


_made: dict[str, Any] = {}


def _call(op: str, *args: Any, **kwargs: Any) -> Any:
    if op not in _made:
        _made[op] = gen.make_function(op)
    return _made[op](*args, **kwargs)


def _axis(axis: Any, old: Any) -> Any:
    return math_ops._one_of("axis", axis, "reduction_axes", old)


def sparse_concat(axis: Any, sp_inputs: Any, name: str | None = None, expand_nonconcat_dim: bool = False, concat_dim: Any = None, expand_nonconcat_dims: Any = None) -> Any:
    """Sparse tensors one after another along `axis`."""
    axis = math_ops._one_of("axis", axis, "concat_dim", concat_dim)
    inputs = [_sparse(s) for s in sp_inputs]
    if len(inputs) == 1:
        return inputs[0]
    shapes = [s.dense_shape for s in inputs]
    if expand_nonconcat_dim or expand_nonconcat_dims:
        most = math_ops.reduce_max(array_ops.stack(shapes), axis=0)
        rank = inputs[0].shape.rank
        at = index_values.axis(axis, rank)
        shapes = [array_ops.concat([most[:at], s[at : at + 1], most[at + 1 :]], 0) for s in shapes]
    return SparseTensor(*_call("SparseConcat", [s.indices for s in inputs], [s.values for s in inputs], shapes, axis, name=name))


def sparse_add(a: Any, b: Any, threshold: Any = None, thresh: Any = None) -> Any:
    """The sum, sparse if both are; values below `threshold` in size are then left out."""
    threshold = 0 if threshold is None and thresh is None else threshold if thresh is None else thresh
    both = _is_sparse(a), _is_sparse(b)
    if not any(both):
        raise TypeError("At least one input should be SparseTensor; do you mean to use tf.add()?")
    if all(both):
        a, b = _sparse(a), _sparse(b)
        limit = _convert(threshold, dtype=a.values.dtype.real_dtype, name="threshold")
        return SparseTensor(*_call("SparseAdd", *_parts(a), *_parts(b), limit))
    if both[1]:
        a, b = b, a
    return _call("SparseTensorDenseAdd", *_parts(_sparse(a)), b)


def sparse_reorder(sp_input: Any, name: str | None = None) -> SparseTensor:
    """The same with indices in ascending order."""
    sp = _sparse(sp_input)
    indices, values = _call("SparseReorder", *_parts(sp), name=name)
    if sp.shape.is_fully_defined():
        return SparseTensor(indices, values, _convert(sp.shape.as_list(), dtype=dtypes.int64))
    return SparseTensor(indices, values, array_ops.identity(sp.dense_shape))


def sparse_reshape(sp_input: Any, shape: Any, name: str | None = None) -> SparseTensor:
    """The same values in another shape of as many elements; one size may be -1."""
    sp = _sparse(sp_input)
    with name_scope(name, "SparseReshape", [sp.indices]) as scope:
        shape = _convert(shape, dtype=dtypes.int64)
        indices, made = _call("SparseReshape", sp.indices, sp.dense_shape, shape, name=scope)
        return SparseTensor(indices, array_ops.identity(sp.values), made)


def sparse_split(keyword_required: Any = None, sp_input: Any = None, num_split: Any = None, axis: Any = None, name: str | None = None, split_dim: Any = None) -> Any:
    """`num_split` parts along `axis`, the first ones longer where it does not divide."""
    if num_split is None or sp_input is None:
        raise ValueError(f"{'num_split' if num_split is None else 'sp_input'} is required")
    axis = math_ops._one_of("axis", axis, "split_dim", split_dim)
    sp = _sparse(sp_input)
    made = _call("SparseSplit", axis, *_parts(sp), num_split, name=name)
    return [SparseTensor(*each) for each in zip(*made)]


def sparse_slice(sp_input: Any, start: Any, size: Any, name: str | None = None) -> SparseTensor:
    """The part of `size` from `start`; what lies outside of the tensor is left out."""
    sp = _sparse(sp_input)
    start, size = _convert(start, dtype=dtypes.int64), _convert(size, dtype=dtypes.int64)
    with name_scope(name, "SparseSlice", [sp.indices]) as scope:
        return SparseTensor(*_call("SparseSlice", *_parts(sp), start, size, name=scope))


def sparse_to_dense(sparse_indices: Any, output_shape: Any, sparse_values: Any, default_value: Any = 0, validate_indices: bool = True, name: str | None = None) -> Tensor:
    """A dense tensor with values at index vectors and `default_value` elsewhere."""
    return _call("SparseToDense", sparse_indices, output_shape, sparse_values, default_value, validate_indices=validate_indices, name=name)


def sparse_tensor_to_dense(sp_input: Any, default_value: Any = None, validate_indices: bool = True, name: str | None = None) -> Tensor:
    """A dense tensor with `default_value` (zero) wherever the sparse one has nothing."""
    sp = _sparse(sp_input)
    if default_value is None:
        default_value = array_ops.zeros([], dtype=sp.dtype)
    return sparse_to_dense(sp.indices, sp.dense_shape, sp.values, default_value, validate_indices, name)


def _reduction(op: str, sp_input: Any, axis: Any, keepdims: Any, reduction_axes: Any, keep_dims: Any) -> Any:
    keep = bool(math_ops._one_of("keepdims", keepdims, "keep_dims", keep_dims))
    sp, axis = _sparse(sp_input), _axis(axis, reduction_axes)
    if axis is None:
        rank = sp.shape.rank
        axis = constant_op.constant(list(range(rank)), dtypes.int32) if rank is not None else math_ops.range(0, array_ops.size(sp.dense_shape))
    return _call(op, *_parts(sp), axis, keep_dims=keep)


def sparse_reduce_sum(sp_input: Any, axis: Any = None, keepdims: Any = None, reduction_axes: Any = None, keep_dims: Any = None) -> Any:
    """The sum over `axis` as a dense tensor."""
    return _reduction("SparseReduceSum", sp_input, axis, keepdims, reduction_axes, keep_dims)


def sparse_reduce_max(sp_input: Any, axis: Any = None, keepdims: Any = None, reduction_axes: Any = None, keep_dims: Any = None) -> Any:
    """The greatest value that is there over `axis` as a dense tensor."""
    return _reduction("SparseReduceMax", sp_input, axis, keepdims, reduction_axes, keep_dims)


def sparse_reduce_sum_sparse(sp_input: Any, axis: Any = None, keepdims: Any = None, reduction_axes: Any = None, keep_dims: Any = None) -> SparseTensor:
    """The sum over `axis` as a sparse tensor."""
    return SparseTensor(*_reduction("SparseReduceSumSparse", sp_input, axis, keepdims, reduction_axes, keep_dims))


def sparse_reduce_max_sparse(sp_input: Any, axis: Any = None, keepdims: Any = None, reduction_axes: Any = None, keep_dims: Any = None) -> SparseTensor:
    """The greatest value that is there over `axis` as a sparse tensor."""
    return SparseTensor(*_reduction("SparseReduceMaxSparse", sp_input, axis, keepdims, reduction_axes, keep_dims))


def sparse_retain(sp_input: Any, to_retain: Any) -> SparseTensor:
    """Only the values where `to_retain`, one bool each, is true."""
    sp, keep = _sparse(sp_input), _convert(to_retain)
    tensor_shape.as_dimension(sp.values.shape[0]).assert_is_compatible_with(keep.shape.with_rank(1)[0])
    places = array_ops.reshape(array_ops.where_v2(keep), [-1])
    return SparseTensor(array_ops.gather(sp.indices, places), array_ops.gather(sp.values, places), array_ops.identity(sp.dense_shape))


def sparse_fill_empty_rows(sp_input: Any, default_value: Any, name: str | None = None) -> Any:
    """With `default_value` at the front of each empty row, and which rows were empty."""
    sp = _sparse(sp_input)
    with name_scope(name, "SparseFillEmptyRows", [sp.indices]):
        default = _convert(default_value, dtype=sp.values.dtype)
        indices, values, empty, _ = _call("SparseFillEmptyRows", *_parts(sp), default)
        return SparseTensor(indices, values, sp.dense_shape), empty


def sparse_tensor_dense_matmul(sp_a: Any, b: Any, adjoint_a: bool = False, adjoint_b: bool = False, name: str | None = None) -> Tensor:
    """The product of a sparse matrix and a dense one, in either order, as a dense one."""
    if _is_sparse(b):  # dense by sparse: the other way round
        wanted = _op_transposed(sparse_tensor_dense_matmul(b, sp_a, adjoint_a=not adjoint_b, adjoint_b=not adjoint_a))
        return wanted
    sp = _sparse(sp_a)
    with name_scope(name, "SparseTensorDenseMatMul", [sp.indices, sp.values, b]):
        return _call("SparseTensorDenseMatMul", *_parts(sp), _convert(b, name="b"), adjoint_a=adjoint_a, adjoint_b=adjoint_b)


def _op_transposed(x: Any) -> Any:
    return array_ops.transpose(x)


def sparse_softmax(sp_input: Any, name: str | None = None) -> SparseTensor:
    """`softmax` along the last dimension over the values that are there."""
    sp = _sparse(sp_input)
    with name_scope(name, "SparseSoftmax", [sp.indices, sp.values]):
        return SparseTensor(sp.indices, _call("SparseSoftmax", *_parts(sp)), sp.dense_shape)


def _pairwise(op: str, a: Any, b: Any, name: str | None) -> SparseTensor:
    a, b = _sparse(a), _sparse(b)
    with name_scope(name, op, [a.indices, a.values, b.indices, b.values]) as scope:
        indices, values = _call(op, *_parts(a), *_parts(b), name=scope)
    return SparseTensor(indices, values, a.dense_shape)


def sparse_maximum(sp_a: Any, sp_b: Any, name: str | None = None) -> SparseTensor:
    """The greater of two sparse tensors at each place; what is missing counts as 0."""
    return _pairwise("SparseSparseMaximum", sp_a, sp_b, name)


def sparse_minimum(sp_a: Any, sp_b: Any, name: str | None = None) -> SparseTensor:
    """The lesser of two sparse tensors at each place; what is missing counts as 0."""
    return _pairwise("SparseSparseMinimum", sp_a, sp_b, name)


def sparse_transpose(sp_input: Any, perm: Any = None, name: str | None = None) -> SparseTensor:
    """The dimensions in the order `perm`, reversed by default."""
    sp = _sparse(sp_input)
    with name_scope(name, "SparseTranspose", [sp.indices]):
        if perm is None:
            rank = sp.shape.rank
            perm = list(range(rank))[::-1] if rank is not None else array_ops.reverse_v2(math_ops.range(0, array_ops.rank(sp.dense_shape)), [0])
        indices = array_ops.gather(sp.indices, perm, axis=1)
        return sparse_reorder(SparseTensor(indices, sp.values, array_ops.gather(sp.dense_shape, perm)))


def from_dense(tensor: Any, name: str | None = None) -> SparseTensor:
    """The elements of a dense tensor that are not zero (or empty) as a sparse one."""
    with name_scope(name, "dense_to_sparse"):
        tensor = _convert(tensor)
        indices = array_ops.where_v2(math_ops.not_equal(tensor, array_ops.zeros_like(tensor)))
        return SparseTensor(indices, array_ops.gather_nd(tensor, indices), array_ops.shape(tensor, out_type=dtypes.int64))


def sparse_reset_shape(sp_input: Any, new_shape: Any = None) -> SparseTensor:
    """The same values in a shape just large enough, or in `new_shape`, which must hold them."""
    sp = _sparse(sp_input)
    indices, values, shape = (array_ops.identity(p) for p in _parts(sp))
    if new_shape is None:
        least = math_ops.reduce_max(indices, axis=0)
        made = _op("Maximum", [constant_op.constant(0, dtypes.int64), least + array_ops.ones_like(shape)], {})
    else:
        made = array_ops.identity(math_ops.cast(_convert(new_shape), dtypes.int64))
        made.shape.with_rank(1)[0:1].assert_is_compatible_with(shape.shape[0:1])
        least, wanted = (p.numpy() if hasattr(p, "numpy") else ops.constant_value(p) for p in (sp.dense_shape, made))
        if least is not None and wanted is not None and (least > wanted).any():
            raise ValueError(
                f"Requested new_shape should have dimension sizes >= sp_input.shape.  Found new_shape ({least}), sp_input.shape ({wanted})."
            )
    return SparseTensor(indices, values, made)


def sparse_to_indicator(sp_input: Any, vocab_size: Any, name: str | None = None) -> Any:
    """For each row which of `vocab_size` ids it holds."""
    sp = _sparse(sp_input)
    with name_scope(name, "SparseToIndicator", [sp.indices, sp.values]) as scope:
        ids = array_ops.expand_dims(math_ops.cast(sp.values, dtypes.int64), 1)
        indices = array_ops.concat([sp.indices[:, :-1], ids], 1)
        size = math_ops.cast(_convert(vocab_size), dtypes.int64)
        shape = array_ops.concat([sp.dense_shape[:-1], array_ops.reshape(size, [1])], 0)
        return sparse_to_dense(indices, shape, True, False, validate_indices=False, name=scope)


def sparse_mask(a: Any, mask_indices: Any, name: str | None = None) -> Any:
    """Slices without the rows whose indices are in `mask_indices`."""
    with name_scope(name, "sparse_mask", [a.values, mask_indices]):
        kept, places = _call("ListDiff", a.indices, mask_indices)
        return ops.IndexedSlices(array_ops.gather(a.values, places), kept, a.dense_shape)


def eye(num_rows: Any, num_columns: Any = None, dtype: Any = dtypes.float32, name: str | None = None) -> SparseTensor:
    """A sparse matrix with ones on its diagonal."""
    with name_scope(name, "eye"):
        rows = math_ops.cast(_convert(num_rows), dtypes.int64)
        columns = rows if num_columns is None else math_ops.cast(_convert(num_columns), dtypes.int64)
        count = _op("Minimum", [rows, columns], {})
        places = math_ops.range(count, dtype=dtypes.int64)
        return SparseTensor(array_ops.stack([places, places], 1), array_ops.fill(array_ops.reshape(count, [1]), _convert(1, dtype=dtype)), array_ops.stack([rows, columns]))


def expand_dims(sp_input: Any, axis: Any = None, name: str | None = None) -> SparseTensor:
    """With a dimension of 1 inserted at `axis`, by default at the end."""
    sp = _sparse(sp_input)
    with name_scope(name, "expand_dims", [sp.indices]):
        rank = sp.shape.rank
        at = index_values.axis(-1 if axis is None else axis, rank + 1)
        zeros = array_ops.zeros_like(sp.indices[:, :1])
        indices = array_ops.concat([sp.indices[:, :at], zeros, sp.indices[:, at:]], 1)
        return SparseTensor(indices, sp.values, array_ops.concat([sp.dense_shape[:at], constant_op.constant([1], dtypes.int64), sp.dense_shape[at:]], 0))


def embedding_lookup_sparse(
    params: Any, sp_ids: Any, sp_weights: Any, partition_strategy: str = "mod", name: str | None = None, combiner: Any = None,
    max_norm: Any = None, allow_fast_lookup: bool = False,
) -> Any:
    """Rows of a table, combined for each row of ids."""
    from emplace.framework import composed_ops, nn_ops
    from emplace.framework.partitioned_variables import PartitionedVariable

    combiner = "mean" if combiner is None else combiner
    if combiner not in ("mean", "sqrtn", "sum"):
        raise ValueError(f"combiner must be one of 'mean', 'sqrtn' or 'sum', got {combiner}")
    ragged = hasattr(sp_ids, "row_splits")
    if not ragged and (not _is_sparse(sp_ids) or isinstance(sp_ids, SparseTensorValue)):
        raise TypeError(f"sp_ids must be SparseTensor, got {type(sp_ids)}")
    params = list(params) if isinstance(params, (list, tuple, PartitionedVariable)) else [params]
    with name_scope(name, "embedding_lookup_sparse", [*params, sp_ids.values]) as scope:
        segments = sp_ids.value_rowids() if ragged else sp_ids.indices[:, 0]
        ids, places = array_ops.unique(sp_ids.values)
        rows = nn_ops.embedding_lookup(params, ids, partition_strategy=partition_strategy, max_norm=max_norm)
        if sp_weights is None:
            combine = {"sum": composed_ops.sparse_segment_sum, "mean": composed_ops.sparse_segment_mean, "sqrtn": composed_ops.sparse_segment_sqrt_n}[combiner]
            return combine(rows, places, segments, name=scope)
        segments = math_ops.cast(segments, dtypes.int32)
        rows = array_ops.gather(rows, places)
        weights = math_ops.cast(sp_weights.values, rows.dtype)
        spread = array_ops.reshape(weights, array_ops.concat([array_ops.shape(weights), array_ops.ones([array_ops.rank(rows) - 1], dtypes.int32)], 0))
        total = _call("SegmentSum", rows * spread, segments)
        if combiner == "sum":
            return array_ops.identity(total, name=scope)
        weight = _call("SegmentSum", math_ops.pow(spread, 2) if combiner == "sqrtn" else spread, segments)
        return _op("DivNoNan", [total, math_ops.sqrt(weight) if combiner == "sqrtn" else weight], {}, scope)


def safe_embedding_lookup_sparse(
    embedding_weights: Any, sparse_ids: Any, sparse_weights: Any = None, combiner: Any = None, default_id: Any = None, name: str | None = None,
    partition_strategy: str = "div", max_norm: Any = None, allow_fast_lookup: bool = False,
) -> Any:
    """Rows of a table combined for each row of ids; ids below zero are left out, a row without ids is that of `default_id`, or zeros."""
    if embedding_weights is None:
        raise ValueError(f"Missing embedding_weights {embedding_weights}.")
    combiner = "mean" if combiner is None else combiner
    with name_scope(name, "embedding_lookup") as scope:
        lead = array_ops.slice(sparse_ids.dense_shape, [0], [array_ops.size(sparse_ids.dense_shape) - 1])
        ids = sparse_reshape(sparse_ids, array_ops.stack([math_ops.reduce_prod(lead), sparse_ids.dense_shape[-1]]))
        weights = None if sparse_weights is None else SparseTensor(ids.indices, sparse_weights.values, ids.dense_shape)
        valid = ids.values >= 0
        if weights is not None and combiner != "sum":
            valid = valid & (weights.values > 0)
        ids = sparse_retain(ids, valid)
        ids, empty = sparse_fill_empty_rows(ids, default_id or 0)
        if weights is not None:
            weights, _ = sparse_fill_empty_rows(sparse_retain(weights, valid), 1.0)
        made = embedding_lookup_sparse(embedding_weights, ids, weights, partition_strategy, None, combiner, max_norm)
        if default_id is None:
            shaped = array_ops.reshape(empty, array_ops.concat([array_ops.shape(empty), array_ops.ones([array_ops.rank(made) - 1], dtypes.int32)], 0))
            made = array_ops.where_v2(shaped, array_ops.zeros_like(made), made)
        return array_ops.reshape(made, array_ops.concat([math_ops.cast(lead, dtypes.int32), array_ops.shape(made)[1:]], 0), name=scope)


placeholder = sparse_placeholder
add, concat, from_value = sparse_add, sparse_concat, SparseTensor.from_value
fill_empty_rows, mask, matmul = sparse_fill_empty_rows, sparse_mask, sparse_tensor_dense_matmul
maximum, minimum, reduce_max, reduce_max_sparse = sparse_maximum, sparse_minimum, sparse_reduce_max, sparse_reduce_max_sparse
reduce_sum, reduce_sum_sparse, reorder, reset_shape = sparse_reduce_sum, sparse_reduce_sum_sparse, sparse_reorder, sparse_reset_shape
reshape, retain, slice, softmax = sparse_reshape, sparse_retain, sparse_slice, sparse_softmax  # noqa: A001
sparse_dense_matmul, split, to_dense = sparse_tensor_dense_matmul, sparse_split, sparse_tensor_to_dense
to_indicator, transpose = sparse_to_indicator, sparse_transpose
