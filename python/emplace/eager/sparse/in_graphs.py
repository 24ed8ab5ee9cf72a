"""`tf.sparse.*` where a function is traced: the values are not known yet, so operations of the graph do the work."""

from __future__ import annotations

import functools
from typing import Any

from emplace.eager import nest
from emplace.eager.sparse.tensor import SparseTensor
from emplace.framework import ops, sparse_ops, sparse_tensor


def _unknown(value: Any) -> bool:
    parts = (value.indices, value.values, value.dense_shape) if isinstance(value, SparseTensor) else (value,)
    return any(isinstance(p, ops.SymbolicTensor) for p in parts)


def _of_graph(value: Any) -> Any:
    if isinstance(value, SparseTensor):
        return sparse_tensor.SparseTensor(value.indices, value.values, value.dense_shape)
    return type(value)(_of_graph(v) for v in value) if type(value) in (list, tuple) else value


def _of_eager(value: Any) -> Any:
    if isinstance(value, sparse_tensor.SparseTensor):
        return SparseTensor(value.indices, value.values, value.dense_shape)
    return type(value)(_of_eager(v) for v in value) if type(value) in (list, tuple) else value


def _reduction(how: str) -> Any:
    def reduced(sp_input: Any, axis: Any = None, keepdims: Any = None, output_is_sparse: bool = False, name: str | None = None) -> Any:
        return getattr(sparse_ops, f"sparse_{how}_sparse" if output_is_sparse else f"sparse_{how}")(sp_input, axis, keepdims)

    return reduced


_ALIKE = (
    "reorder transpose reshape expand_dims retain slice maximum minimum eye softmax sparse_dense_matmul fill_empty_rows reset_shape to_indicator"
    " add"
).split()
_GRAPH: dict[str, Any] = {
    **{n: getattr(sparse_ops, n) for n in _ALIKE},
    "reduce_sum": _reduction("reduce_sum"), "reduce_max": _reduction("reduce_max"),
    "split": lambda sp_input=None, num_split=None, axis=None, name=None: sparse_ops.sparse_split(sp_input=sp_input, num_split=num_split, axis=axis, name=name),
    "concat": lambda axis, sp_inputs, expand_nonconcat_dims=False, name=None: sparse_ops.sparse_concat(
        axis, sp_inputs, name, expand_nonconcat_dims=expand_nonconcat_dims
    ),
    "mask": sparse_ops.sparse_mask,
}


def install(space: dict[str, Any]) -> None:
    """Functions of a module that know values also take what is not known yet."""
    for name, in_graph in _GRAPH.items():
        space[name] = _either(space[name], in_graph)


def _either(eager: Any, in_graph: Any) -> Any:
    @functools.wraps(eager)
    def call(*args: Any, **kwargs: Any) -> Any:
        if any(_unknown(v) for v in nest.flatten([*args, *kwargs.values()])):
            return _of_eager(in_graph(*map(_of_graph, args), **{k: _of_graph(v) for k, v in kwargs.items()}))
        return eager(*args, **kwargs)

    return call
