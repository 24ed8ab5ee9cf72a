"""Functions of TensorFlow 1 that newer names replace, and helpers around embeddings and labels."""

from __future__ import annotations

from typing import Any

from emplace.framework import array_ops, dtypes, gen, math_ops, ops, partitioned_variables, sparse_ops, variable_scope
from emplace.framework.sparse_tensor import SparseTensor


def convert_to_tensor_or_indexed_slices(value: Any, dtype: Any = None, name: str | None = None) -> Any:
    """IndexedSlices as they are, anything else as a tensor."""
    if isinstance(value, ops.IndexedSlices):
        if dtype is not None and not dtypes.as_dtype(dtype).is_compatible_with(value.dtype):
            raise ValueError(f"Incompatible tensor conversion requested to `dtype` {dtypes.as_dtype(dtype).name} for `value` ({value}) with dtype {value.dtype.name}")
        return value
    return ops.convert_to_tensor(value, dtype, name)


def create_partitioned_variables(
    shape: Any, slicing: list[int], initializer: Any, dtype: Any = dtypes.float32, trainable: bool = True, collections: Any = None,
    name: str | None = None, reuse: Any = None,
) -> list[Any]:
    """Variables that together have the shape, cut as `slicing` says."""
    if len(shape) != len(slicing):
        raise ValueError(f"The 'shape' and 'slicing' of a partitioned Variable must have the length: shape: {shape}, slicing: {slicing}")
    if len(shape) < 1:
        raise ValueError(f"A partitioned Variable must have rank at least 1: shape: {shape}")
    around = variable_scope.get_variable_scope()
    with variable_scope.variable_scope(name, "PartitionedVariable", reuse=reuse) as scope:
        again = scope.reuse
    with variable_scope.variable_scope(around, reuse=again, auxiliary_name_scope=False):
        made = variable_scope.get_variable(
            scope.name[len(around.name) + 1 if around.name else 0 :], shape, dtype, initializer, trainable=trainable,
            partitioner=lambda **_: list(slicing), collections=collections,
        )
    return list(made) if isinstance(made, partitioned_variables.PartitionedVariable) else [made]


def safe_embedding_lookup_sparse(
    embedding_weights: Any, sparse_ids: Any, sparse_weights: Any = None, combiner: Any = None, default_id: Any = None, name: str | None = None,
    partition_strategy: str = "div", max_norm: Any = None, allow_fast_lookup: bool = False,
) -> Any:
    """Rows of a table combined for each row of ids; ids below zero are left out, a row without ids is that of `default_id`, or zeros."""
    if embedding_weights is None:
        raise ValueError(f"Missing embedding_weights {embedding_weights}.")
    combiner = "mean" if combiner is None else combiner
    with ops.name_scope(name, "embedding_lookup") as scope:
        lead = array_ops.slice(sparse_ids.dense_shape, [0], [array_ops.size(sparse_ids.dense_shape) - 1])
        ids = sparse_ops.sparse_reshape(sparse_ids, array_ops.stack([math_ops.reduce_prod(lead), sparse_ids.dense_shape[-1]]))
        weights = None if sparse_weights is None else SparseTensor(ids.indices, sparse_weights.values, ids.dense_shape)
        valid = ids.values >= 0
        if weights is not None and combiner != "sum":
            valid = valid & (weights.values > 0)
        ids = sparse_ops.sparse_retain(ids, valid)
        ids, empty = sparse_ops.sparse_fill_empty_rows(ids, default_id or 0)
        if weights is not None:
            weights, _ = sparse_ops.sparse_fill_empty_rows(sparse_ops.sparse_retain(weights, valid), 1.0)
        made = sparse_ops.embedding_lookup_sparse(embedding_weights, ids, weights, partition_strategy, None, combiner, max_norm)
        if default_id is None:
            shaped = array_ops.reshape(empty, array_ops.concat([array_ops.shape(empty), array_ops.ones([array_ops.rank(made) - 1], dtypes.int32)], 0))
            made = array_ops.where_v2(shaped, array_ops.zeros_like(made), made)
        return array_ops.reshape(made, array_ops.concat([math_ops.cast(lead, dtypes.int32), array_ops.shape(made)[1:]], 0), name=scope)


def collapse_repeated(labels: Any, seq_length: Any, name: str | None = None) -> tuple[Any, Any]:
    """Labels without those that repeat the one before, and their numbers."""
    with ops.name_scope(name, "collapse_repeated_labels"):
        labels, lengths = ops.convert_to_tensor(labels, name="labels"), ops.convert_to_tensor(seq_length, name="seq_length")
        new = array_ops.concat([array_ops.ones_like(labels[:, :1], dtypes.bool), math_ops.not_equal(labels[:, 1:], labels[:, :-1])], 1)
        new = new & array_ops.sequence_mask(lengths, array_ops.shape(labels)[1])
        kept = math_ops.reduce_sum(math_ops.cast(new, lengths.dtype), 1)
        places = array_ops.where(array_ops.sequence_mask(kept))
        flat = array_ops.boolean_mask(labels, new)
        size = array_ops.stack([array_ops.shape(labels)[0], math_ops.cast(math_ops.reduce_max(kept), dtypes.int32)])
        return gen.make_function("ScatterNd", "scatter_nd")(math_ops.cast(places, dtypes.int32), flat, size), kept


def ctc_unique_labels(labels: Any, name: str | None = None) -> list[Any]:
    """Each row's different labels in their order, filled up with zeros, and where each label stands among them."""
    from emplace.framework import functional

    with ops.name_scope(name, "ctc_unique_labels"):
        labels = math_ops.cast(ops.convert_to_tensor(labels, name="labels"), dtypes.int64)

        def one(row: Any) -> list[Any]:
            found = array_ops.unique(row)
            left = array_ops.shape(row)[0] - array_ops.shape(found.y)[0]
            filled = array_ops.pad(found.y, [[0, left]])
            filled.set_shape(row.shape)
            found.idx.set_shape(row.shape)
            return [filled, found.idx]

        return functional.map_fn(one, labels, dtype=[labels.dtype, dtypes.int32])
