"""Counts and crosses that come out sparse, and rows that they name."""

from __future__ import annotations

from typing import Any

from emplace.eager.sparse.tensor import SparseTensor
from emplace.framework import array_ops, constant_op, dtypes, math_ops
from emplace.framework.dispatch import execute as _op
from emplace.framework.ops import convert_to_tensor as _convert


def bincount(
    values: Any, weights: Any = None, axis: Any = 0, minlength: Any = None, maxlength: Any = None, binary_output: bool = False,
    name: str | None = None,
) -> SparseTensor:
    """How often each integer occurs (or the sum of its weights) as a sparse tensor, in all or, for `axis` -1, row by row."""
    if weights is not None and binary_output:
        raise ValueError("Arguments `binary_output` and `weights` are mutually exclusive. Please specify only one.")
    if axis not in (None, 0, -1):
        raise ValueError(f"Unsupported value for argument axis={axis}. Only 0 and -1 are currently supported.")
    kind, places, flat = _places_and_values(values)
    beside = constant_op.constant([], flat.dtype) if weights is None else _places_and_values(weights)[2]
    if axis != -1:
        kind, places, flat, beside = "Dense", [], array_ops.reshape(flat, [-1]), array_ops.reshape(beside, [-1])
    attrs = {
        "minlength": -1 if minlength is None else minlength, "maxlength": -1 if maxlength is None else maxlength, "binary_output": binary_output,
    }
    before, after = (places, []) if kind == "Ragged" else (places[:1], places[1:])
    return SparseTensor(*_op(f"{kind}CountSparseOutput", [*before, flat, *after, beside], attrs, name))


def _places_and_values(given: Any) -> tuple[str, list[Any], Any]:
    """How a tensor keeps its elements, what else it is made of, and them."""
    if isinstance(given, SparseTensor):
        return "Sparse", [given.indices, given.dense_shape], given.values
    if hasattr(given, "row_splits"):
        return "Ragged", [given.row_splits], given.values
    return "Dense", [], _convert(given)


def cross(inputs: Any, name: str | None = None, separator: Any = None) -> SparseTensor:
    """Each row's values, one of every input, joined in all ways."""
    _, sparse, dense, _ = _by_kind(inputs)
    given = [*([p[i] for p in sparse] for i in range(3)), dense, _convert("_X_" if separator is None else separator, dtypes.string)]
    return SparseTensor(*_op("SparseCrossV2", given, _types_of_cross(sparse, dense), name))


def _types_of_cross(sparse: list[Any], dense: list[Any]) -> dict[str, Any]:
    return {"N": len(sparse), "sparse_types": [v.dtype for _, v, _ in sparse], "dense_types": [d.dtype for d in dense]}


def _by_kind(inputs: Any) -> tuple[list[Any], list[Any], list[Any], str]:
    """Ragged, sparse and dense inputs, their values as int64 or text, and which came where."""
    def plain(values: Any) -> Any:
        return values if values.dtype == dtypes.string else math_ops.cast(values, dtypes.int64)

    ragged, sparse, dense, came = [], [], [], ""
    for given in inputs:
        if hasattr(given, "row_splits"):
            ragged.append((plain(given.values), given.row_splits))
            came += "R"
        elif isinstance(given, SparseTensor):
            sparse.append((given.indices, plain(given.values), given.dense_shape))
            came += "S"
        else:
            dense.append(plain(_convert(given)))
            came += "D"
    return ragged, sparse, dense, came


def hashed(num_buckets: Any, hash_key: Any) -> dict[str, Any]:
    key = 0xDECAFCAFFE if hash_key is None else hash_key
    return {"hashed_output": True, "num_buckets": num_buckets, "hash_key": key}


def ragged_cross(inputs: Any, buckets: dict[str, Any] | None, name: str | None) -> Any:
    """The crosses as texts, or as numbers of `buckets`: (values, row splits)."""
    ragged, sparse, dense, came = _by_kind(inputs)
    attrs = {
        **(buckets or {"hashed_output": False, "num_buckets": 0, "hash_key": 0}), "input_order": came,
        "out_values_type": dtypes.string if buckets is None else dtypes.int64, "out_row_splits_type": dtypes.int64,
        "Nsparse": len(sparse), "ragged_values_types": [v.dtype for v, _ in ragged], "ragged_splits_types": [s.dtype for _, s in ragged],
        "sparse_values_types": [v.dtype for _, v, _ in sparse], "dense_types": [d.dtype for d in dense],
    }
    given = [[v for v, _ in ragged], [s for _, s in ragged], *([p[i] for p in sparse] for i in range(3)), dense]
    return _op("RaggedCross", given, attrs, name)


def cross_hashed(inputs: Any, num_buckets: Any = 0, hash_key: Any = None, name: str | None = None) -> SparseTensor:
    """The crosses of `cross`, as numbers of buckets."""
    _, sparse, dense, _ = _by_kind(inputs)
    types = _types_of_cross(sparse, dense)
    attrs = {
        **hashed(num_buckets, hash_key), **types, "out_type": dtypes.int64,
        "internal_type": dtypes.int64 if dtypes.int64 in types["sparse_types"] + types["dense_types"] else dtypes.string,
    }
    return SparseTensor(*_op("SparseCross", [*([p[i] for p in sparse] for i in range(3)), dense], attrs, name))


def deserialize_many_sparse(serialized_sparse: Any, dtype: Any, rank: Any = None, name: str | None = None) -> SparseTensor:
    """A sparse tensor out of serialized ones, a row each."""
    return SparseTensor(*_op("DeserializeManySparse", [_convert(serialized_sparse)], {"dtype": dtype}, name))


def _segments(kind: str) -> Any:
    def function(data: Any, indices: Any, segment_ids: Any, num_segments: Any = None, sparse_gradient: bool = False, name: str | None = None) -> Any:
        if num_segments is None:
            return _op(f"SparseSegment{kind}", [data, indices, segment_ids], {}, name)
        return _op(f"SparseSegment{kind}WithNumSegments", [data, indices, segment_ids, num_segments], {}, name)

    what = {"Sum": "Sum", "Mean": "Mean", "SqrtN": "Sum over the root of the number"}[kind]
    function.__doc__ = f"{what} of the rows of `data` at `indices`, segment by segment; `segment_ids` in ascending order."
    function.__name__ = function.__qualname__ = "segment_" + {"SqrtN": "sqrt_n"}.get(kind, kind.lower())
    return function


segment_sum, segment_mean, segment_sqrt_n = _segments("Sum"), _segments("Mean"), _segments("SqrtN")
