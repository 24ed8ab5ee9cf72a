"""What the functions of tensors do with ragged ones."""

from __future__ import annotations

import functools
from typing import Any

from emplace.eager.ragged import index, joining, padded, reducing
from emplace.eager.ragged.tensor import RaggedTensor, install_operators
from emplace.framework import array_ops, dtypes, errors, math_ops, ops
from emplace.framework.dispatch import execute as _op
from emplace.framework.ops import convert_to_tensor as _convert

# Functions of each value by itself, whatever its neighbours.
_UNARY = frozenset(
    "abs acos acosh angle as_string asin asinh atan atanh bitcast cast ceil check_numerics clip_by_value conj cos cosh digamma"
    " elu erf erfc erfinv exp expm1 floor gelu identity imag invert is_finite is_inf is_nan leaky_relu lgamma log log1p"
    " log_sigmoid logical_not lower ndtri negative nextafter one_hot ones_like real reciprocal regex_full_match regex_replace"
    " relu relu6 rint round rsqrt saturate_cast selu sigmoid sign silu sin sinh softplus softsign sqrt square stop_gradient"
    " strip substr tan tanh to_hash_bucket to_hash_bucket_fast to_hash_bucket_strong to_number upper zeros_like dropout"
    " decode_base64 decode_raw encode_base64 length bessel_i0 bessel_i1 bessel_i0e bessel_i1e unicode_script"
    " unicode_transcode".split()
)
_BINARY = frozenset(
    "add subtract multiply divide truediv floordiv floormod mod pow equal not_equal less less_equal greater greater_equal"
    " maximum minimum logical_and logical_or logical_xor atan2 squared_difference divide_no_nan multiply_no_nan bitwise_and"
    " bitwise_or bitwise_xor left_shift right_shift realdiv truncatediv truncatemod xlogy xdivy igamma igammac zeta".split()
)
_OTHERS: dict[str, Any] = {}


def function(name: str, plain: Any = None) -> Any:
    if name in _UNARY:
        return functools.partial(_unary, plain)
    if name in _BINARY:
        return functools.partial(_binary, plain)
    return _OTHERS.get(name)


def _unary(plain: Any, *args: Any, **kwargs: Any) -> Any:
    from emplace.eager.ragged.functions import map_flat_values

    return map_flat_values(plain, *args, **kwargs)


def check_rows(one: Any, other: Any, depth: int | None = None) -> None:
    pairs = zip(one.nested_row_splits[:depth], other.nested_row_splits[:depth])
    if depth is None and one.ragged_rank != other.ragged_rank or any(not _same(a, b) for a, b in pairs):
        raise errors.InvalidArgumentError(None, None, f"Inputs must have identical ragged splits: {one!r}, {other!r}")


def _same(a: Any, b: Any) -> bool:
    if a is b or not (hasattr(a, "_numpy_of_eager") and hasattr(b, "_numpy_of_eager")):
        return True  # of symbolic ones nothing is known before they run
    x, y = a.numpy(), b.numpy()
    return x.shape == y.shape and bool((x == y).all())


def _binary(plain: Any, x: Any, y: Any, *args: Any, **kwargs: Any) -> Any:
    if isinstance(x, RaggedTensor) and isinstance(y, RaggedTensor):
        check_rows(x, y)
        return x.with_flat_values(plain(x.flat_values, y.flat_values, *args, **kwargs))
    if isinstance(x, RaggedTensor):
        return x.with_flat_values(plain(x.flat_values, _spread(y, x), *args, **kwargs))
    return y.with_flat_values(plain(_spread(x, y), y.flat_values, *args, **kwargs))


def _spread(dense: Any, ragged: Any) -> Any:
    """A dense value beside each of the flat values."""
    dense = _convert(dense, dtype_hint=ragged.dtype) if not isinstance(dense, ops.Tensor) else dense
    if dense.shape.rank == 0:
        return dense
    inner = ragged.flat_values.shape.rank - 1
    rank = ragged.shape.rank
    if dense.shape.rank <= inner:
        return dense
    if dense.shape.rank > rank:
        raise ValueError(f"A tensor of shape {dense.shape} cannot be broadcast to a ragged tensor of shape {ragged.shape}")
    sizes = [1] * (rank - dense.shape.rank) + dense.shape.as_list()
    outer = ragged.with_flat_values(math_ops.range(array_ops.shape(ragged.flat_values)[0]))
    where = padded.indices(outer)
    columns = []
    for axis, size in enumerate(sizes[: rank - inner]):
        column = where[:, axis]
        if size != 1:
            _check_size(ragged, axis, size)
        columns.append(column if size != 1 else array_ops.zeros_like(column))
    return array_ops.gather_nd(array_ops.reshape(dense, sizes), array_ops.stack(columns, 1))


def _check_size(ragged: Any, axis: int, size: int) -> None:
    lengths = ragged.nested_row_lengths()[axis - 1].numpy() if axis else [int(ragged.nrows())]
    if any(int(n) != size for n in lengths):
        raise errors.InvalidArgumentError(None, None, f"Unable to broadcast: dimension size mismatch in dimension {axis}: {size} beside rows of {list(map(int, lengths))}")


def join(inputs: Any, separator: str = "", name: str | None = None) -> Any:
    """Texts side by side; a dense one beside each."""
    like = next(i for i in inputs if isinstance(i, RaggedTensor))
    for other in inputs:
        if isinstance(other, RaggedTensor):
            check_rows(like, other)
    parts = [i.flat_values if isinstance(i, RaggedTensor) else _spread(i, like) for i in inputs]
    return like.with_flat_values(_op("StringJoin", [parts], {"separator": separator}))


def reduce_join(inputs: Any, axis: Any = None, keepdims: Any = None, separator: str = "", name: str | None = None) -> Any:
    """The texts of each row, one after another."""
    if isinstance(inputs.values, RaggedTensor):
        return inputs.with_values(reduce_join(inputs.values, -1 if axis in (-1, None) else axis - 1, keepdims, separator))
    at = inputs.value_rowids()
    joined = _op("UnsortedSegmentJoin", [inputs.flat_values, at, math_ops.cast(inputs.nrows(), dtypes.int32)], {"separator": separator})
    return _op("ReduceJoin", [joined, [0]], {"separator": separator}) if axis is None else joined


def gather(params: Any, indices: Any, validate_indices: Any = None, axis: Any = None, batch_dims: int = 0, name: str | None = None) -> Any:
    if not isinstance(params, RaggedTensor) and axis not in (None, 0) and not batch_dims:
        return _gather_along(_convert(params), indices, axis)
    if axis not in (None, 0) or batch_dims:
        return _gather_in_rows(params, indices, batch_dims if batch_dims >= 0 else 1)
    if isinstance(indices, RaggedTensor):
        return indices.with_values(gather(params, indices.values))
    if not isinstance(params, RaggedTensor):
        return array_ops.gather(params, indices)
    indices = _convert(indices)
    if indices.shape.rank == 0:
        return params[int(indices)]
    if indices.shape.rank > 1:
        return gather(params, RaggedTensor.from_tensor(indices, ragged_rank=indices.shape.rank - 1))
    return index.gather(params, indices)


def _gather_along(params: Any, indices: Any, axis: int) -> Any:
    """Ragged places along an inner dimension: the dimensions before it stand outside of the ragged ones."""
    axis = axis + params.shape.rank if axis < 0 else axis
    lead, sizes = params.shape.as_list()[:axis], array_ops.shape(params)
    values = array_ops.gather(params, indices.flat_values, axis=axis)
    inner = array_ops.shape(values)[axis:]
    value = array_ops.reshape(values, array_ops.concat([[-1], inner[1:]], 0))
    count = math_ops.cast(math_ops.reduce_prod(sizes[:axis]), indices.row_splits.dtype)
    for splits in reversed(indices.nested_row_splits):
        starts = array_ops.reshape(array_ops.expand_dims(math_ops.range(count), 1) * splits[-1] + array_ops.expand_dims(splits[1:], 0), [-1])
        value = RaggedTensor.from_row_splits(value, array_ops.concat([splits[:1], starts], 0), validate=False)
    for size in (indices.nrows(), *reversed(lead[1:])):
        value = RaggedTensor.from_uniform_row_length(value, size)
    return value


def _gather_in_rows(params: Any, indices: Any, batch_dims: int) -> Any:
    if batch_dims != 1:
        raise NotImplementedError("tf.gather of a ragged tensor along an inner axis, but for batch_dims=1")
    params = params if isinstance(params, RaggedTensor) else RaggedTensor.from_tensor(params)
    indices = indices if isinstance(indices, RaggedTensor) else _convert(indices)
    if not isinstance(indices, RaggedTensor):
        indices = RaggedTensor.from_tensor(indices) if indices.shape.rank > 1 else RaggedTensor(indices, math_ops.range(indices.shape[0] + 1, dtype=dtypes.int64), 1)
    starts = array_ops.gather(params.row_splits, indices.value_rowids())
    return indices.with_values(gather(params.values, math_ops.cast(indices.values, starts.dtype) + starts))


def _size(input: Any, out_type: Any = dtypes.int32, name: str | None = None) -> Any:  # noqa: A002
    return array_ops.size(input.flat_values, out_type=out_type or dtypes.int32)


def _rank(input: Any, name: str | None = None) -> Any:  # noqa: A002
    return _convert(input.shape.rank)


def _where(condition: Any, x: Any = None, y: Any = None, name: str | None = None) -> Any:
    if x is None and y is None:
        return array_ops.boolean_mask(padded.indices(condition), condition.flat_values)
    base = next(v for v in (condition, x, y) if isinstance(v, RaggedTensor))
    parts = [v.flat_values if isinstance(v, RaggedTensor) else _spread(v, base) for v in (condition, x, y)]
    return base.with_flat_values(array_ops.where_v2(*parts))


def _embedding_lookup(params: Any, ids: Any, max_norm: Any = None, name: str | None = None) -> Any:
    from emplace.eager.functions import nn

    return ids.with_flat_values(nn.embedding_lookup(params, ids.flat_values, max_norm))


def _add_n(inputs: Any, name: str | None = None) -> Any:
    for other in inputs[1:]:
        check_rows(inputs[0], other)
    return inputs[0].with_flat_values(math_ops.add_n([i.flat_values for i in inputs]))


def _softmax(logits: Any, axis: Any = None, name: str | None = None) -> Any:
    if axis not in (None, -1, 1) or logits.ragged_rank != 1 or logits.flat_values.shape.rank != 1:
        raise NotImplementedError("softmax of a ragged tensor but along the rows of a matrix")
    ids = logits.value_rowids()
    highest = array_ops.gather(reducing.reduction("reduce_max")(logits, 1), ids)
    powers = math_ops.exp(logits.values - highest)
    total = _op("UnsortedSegmentSum", [powers, ids, math_ops.cast(logits.nrows(), dtypes.int32)], {})
    return logits.with_values(powers / array_ops.gather(total, ids))


_OTHERS.update(
    {name: reducing.reduction(name) for name in reducing.NAMES}, concat=joining.concat, stack=joining.stack,
    expand_dims=joining.expand_dims, tile=joining.tile, gather=gather, join=join, reduce_join=reduce_join, size=_size, rank=_rank, where=_where,
    embedding_lookup=_embedding_lookup, add_n=_add_n, softmax=_softmax, reverse=joining.reverse,
)  # fmt: skip


def _operators() -> dict[str, Any]:
    plain = {
        "add": math_ops.add, "sub": math_ops.subtract, "mul": math_ops.multiply, "truediv": math_ops.truediv,
        "floordiv": math_ops.floordiv, "mod": math_ops.floormod, "pow": math_ops.pow,
    }
    made: dict[str, Any] = {}
    for word, one in plain.items():
        made[f"__{word}__"] = functools.partial(_binary, one)
        made[f"__r{word}__"] = lambda y, x, one=one: _binary(one, x, y)
    for word, op in {"lt": "Less", "le": "LessEqual", "gt": "Greater", "ge": "GreaterEqual", "eq": "Equal", "ne": "NotEqual",
                     "and": "LogicalAnd", "or": "LogicalOr"}.items():  # fmt: skip
        made[f"__{word}__"] = functools.partial(_binary, lambda a, b, op=op: _op(op, [a, b], {}))
    made["__neg__"] = lambda x: x.with_flat_values(-x.flat_values)
    made["__abs__"] = lambda x: x.with_flat_values(math_ops.abs(x.flat_values))
    made["__invert__"] = lambda x: x.with_flat_values(_op("LogicalNot", [x.flat_values], {}))
    return {name: _as_method(f, name) for name, f in made.items()}


def _as_method(inner: Any, name: str) -> Any:
    def method(*args: Any) -> Any:
        return inner(*args)

    method.__name__ = name
    return method


install_operators(_operators())
