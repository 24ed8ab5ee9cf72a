"""`tf.sparse.*` where TensorFlow 2 takes other arguments than version 1, and what only TensorFlow 2 has."""

from __future__ import annotations

from typing import Any, TYPE_CHECKING

from emplace.eager import nest
from emplace.eager.functions import debugging
from emplace.eager.sparse.tensor import SparseTensor
from emplace.framework import array_ops, dtypes, math_ops, ops, sparse_ops
from emplace.framework.ops import convert_to_tensor as _convert

if TYPE_CHECKING:
    from emplace.framework.tensor import Tensor


def add(a: Any, b: Any, threshold: Any = 0) -> Any:
    """The sum, sparse if both are; values below `threshold` in size are then left out."""
    return sparse_ops.sparse_add(a, b, threshold)


def concat(axis: Any, sp_inputs: Any, expand_nonconcat_dims: bool = False, name: str | None = None) -> SparseTensor:
    """Sparse tensors one after another along `axis`; `expand_nonconcat_dims` lets other dimensions differ."""
    return sparse_ops.sparse_concat(axis, sp_inputs, name, expand_nonconcat_dims=expand_nonconcat_dims)


def split(sp_input: Any = None, num_split: Any = None, axis: Any = None, name: str | None = None) -> list[SparseTensor]:
    """`num_split` parts along `axis`, the first ones longer where it does not divide."""
    return sparse_ops.sparse_split(sp_input=sp_input, num_split=num_split, axis=axis, name=name)


def reduce_sum(sp_input: Any, axis: Any = None, keepdims: Any = None, output_is_sparse: bool = False, name: str | None = None) -> Any:
    """The sum over `axis`, dense unless `output_is_sparse`."""
    return (sparse_ops.sparse_reduce_sum_sparse if output_is_sparse else sparse_ops.sparse_reduce_sum)(sp_input, axis, keepdims)


def reduce_max(sp_input: Any, axis: Any = None, keepdims: Any = None, output_is_sparse: bool = False, name: str | None = None) -> Any:
    """The greatest value that is there over `axis`, dense unless `output_is_sparse`."""
    return (sparse_ops.sparse_reduce_max_sparse if output_is_sparse else sparse_ops.sparse_reduce_max)(sp_input, axis, keepdims)


def map_values(op: Any, *args: Any, **kwargs: Any) -> Any:
    """`op` applied to the values of sparse tensors with the same indices, which the result has too."""
    given = [a for a in nest.flatten([*args, *kwargs.values()]) if isinstance(a, SparseTensor)]
    if not given:
        raise ValueError("No SparseTensor in argument list of map_values")
    first = given[0]
    alike = [
        check
        for other in given[1:]
        for check in (
            debugging.assert_equal(first.dense_shape, other.dense_shape, message="Mismatched shapes!"),
            debugging.assert_equal(first.indices, other.indices, message="Mismatched indices!"),
        )
    ]
    bare = nest.map_structure(lambda a: a.values if isinstance(a, SparseTensor) else a, (args, kwargs))
    with ops.control_dependencies([check for check in alike if check is not None]):
        return first.with_values(op(*bare[0], **bare[1]))


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


def of_tensors(name: str, plain: Any) -> Any:
    """What functions of tensors do with sparse ones."""
    return {
        "cast": lambda x, dtype, name=None: x.with_values(math_ops.cast(x.values, dtype)),
        "shape": lambda input, out_type=dtypes.int32, name=None: math_ops.cast(input.dense_shape, out_type or dtypes.int32),  # noqa: A002
        "size": lambda input, out_type=dtypes.int32, name=None: math_ops.cast(math_ops.reduce_prod(input.dense_shape), out_type or dtypes.int32),  # noqa: A002
        "rank": lambda input, name=None: array_ops.size(input.dense_shape),  # noqa: A002
        **{n: lambda x, name=None: x.with_values(plain(x.values)) for n in ("abs", "negative", "sign", "square", "sqrt", "tanh", "round", "floor", "identity", "zeros_like", "ones_like")},
    }.get(name)
