"""Counts and crosses that come out sparse, and distances between sparse sequences."""

from __future__ import annotations

from typing import Any, TYPE_CHECKING

import numpy as np

from emplace.eager.sparse.tensor import SparseTensor
from emplace.framework import dtypes, errors, math_ops
from emplace.framework.dispatch import execute as _op
from emplace.framework.ops import convert_to_tensor as _convert

if TYPE_CHECKING:
    from emplace.framework.tensor import Tensor


def _rows_of(values: Any, weights: Any) -> tuple[list[Any], list[Any], Any]:
    """The values of each row, their weights, and the dtype of the values."""
    if not isinstance(values, SparseTensor) and not hasattr(values, "row_splits"):
        values = _convert(values, dtype_hint=dtypes.int64)
    flat = values.values if isinstance(values, SparseTensor) else getattr(values, "flat_values", values)
    if not hasattr(flat, "numpy"):
        raise NotImplementedError("rows that are counted or crossed must be known, as they are not while a function is traced")
    if isinstance(values, SparseTensor):
        n = 1 if values.indices.shape[1] == 1 else int(values.dense_shape[0])
        row = values.indices.numpy()[:, 0] if values.indices.shape[1] > 1 else np.zeros(values.values.shape[0], int)
        flat = flat.numpy()
        given = None if weights is None else (weights.values if isinstance(weights, SparseTensor) else _convert(weights)).numpy().reshape(-1)
        return [flat[row == i] for i in range(n)], [None if given is None else given[row == i] for i in range(n)], values.dtype
    if hasattr(values, "row_splits"):
        given = None if weights is None else weights.to_list()
        parts = [np.array(r) for r in values.to_list()]
        return parts, [None] * len(parts) if given is None else given, values.dtype
    array = values.numpy()
    if np.ndim(array) == 0:
        raise ValueError("what is counted or crossed must have rows: got a scalar")
    given = None if weights is None else _convert(weights).numpy()
    if array.ndim == 1:
        return [array], [given], values.dtype
    return list(array), [None] * len(array) if given is None else list(given), values.dtype


def bincount(
    values: Any, weights: Any = None, axis: Any = 0, minlength: Any = None, maxlength: Any = None, binary_output: bool = False,
    name: str | None = None,
) -> SparseTensor:
    """How often each integer occurs (or the sum of its weights) as a sparse tensor, in all or, for `axis` -1, row by row."""
    if axis not in (None, 0, -1):
        raise ValueError(f"Unsupported value for argument axis={axis}. Only 0 and -1 are currently supported.")
    parts, given, dtype = _rows_of(values, weights)
    if axis != -1:
        parts = [np.concatenate([np.asarray(p).reshape(-1) for p in parts])]
        given = [None if weights is None else np.concatenate([np.asarray(g).reshape(-1) for g in given])]
    limit = None if maxlength is None else int(maxlength)
    places, counts, widest = [], [], 0
    for row, (part, w) in enumerate(zip(parts, given)):
        part = np.asarray(part, np.int64)
        if (part < 0).any():
            raise errors.InvalidArgumentError(None, None, "Input values must all be non-negative")
        keep = part < limit if limit is not None else np.full(part.shape, True)
        found, at = np.unique(part[keep], return_inverse=True)
        n = np.bincount(at.reshape(-1), None if w is None else np.asarray(w)[keep], len(found))
        places += [[row, v] if axis == -1 and (len(parts) > 1 or np.ndim(parts[0])) else [v] for v in found]
        counts += list(np.minimum(n, 1) if binary_output else n)
        widest = max(widest, int(found[-1]) + 1 if len(found) else 0)
    width = max(widest, 0 if minlength is None else int(minlength))
    vector = axis == -1 and not isinstance(values, SparseTensor) and not hasattr(values, "row_splits") and _convert(values).shape.rank == 1
    if axis != -1 or vector:
        places, shape = [[p[-1]] for p in places], [width]
    else:
        shape = [len(parts), width]
    kind = dtype if weights is None or binary_output else (weights.dtype if hasattr(weights, "dtype") else _convert(weights).dtype)
    return SparseTensor(np.array(places, np.int64).reshape(len(places), len(shape)), math_ops.cast(_convert(np.array(counts)), kind), shape)


def crossed(inputs: Any, joint: bytes) -> list[list[bytes]]:
    """The words of each row."""
    made = []
    for row in zip(*(_rows_of(i, None)[0] for i in inputs)):
        words = [b""]
        for k, part in enumerate(row):
            words = [w + (joint if k else b"") + _text(v) for w in words for v in part]
        made.append(words)
    return made


def cross(inputs: Any, name: str | None = None, separator: Any = None) -> SparseTensor:
    """Each row's values, one of every input, joined in all ways."""
    made = crossed(inputs, b"_X_" if separator is None else separator.encode() if isinstance(separator, str) else separator)
    places = [[r, i] for r, words in enumerate(made) for i in range(len(words))]
    flat = np.array([w for words in made for w in words], object)
    shape = [len(made), max((len(w) for w in made), default=0)]
    return SparseTensor(np.array(places, np.int64).reshape(-1, 2), _convert(flat, dtypes.string), shape)


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


def _hashed(num_buckets: Any, hash_key: Any) -> dict[str, Any]:
    key = 0xDECAFCAFFE if hash_key is None else hash_key
    return {"hashed_output": True, "num_buckets": num_buckets, "hash_key": key}


def ragged_cross_hashed(inputs: Any, num_buckets: Any, hash_key: Any, name: str | None) -> Any:
    ragged, sparse, dense, came = _by_kind(inputs)
    attrs = {
        **_hashed(num_buckets, hash_key), "input_order": came, "out_values_type": dtypes.int64, "out_row_splits_type": dtypes.int64,
        "Nsparse": len(sparse), "ragged_values_types": [v.dtype for v, _ in ragged], "ragged_splits_types": [s.dtype for _, s in ragged],
        "sparse_values_types": [v.dtype for _, v, _ in sparse], "dense_types": [d.dtype for d in dense],
    }
    given = [[v for v, _ in ragged], [s for _, s in ragged], *([p[i] for p in sparse] for i in range(3)), dense]
    return _op("RaggedCross", given, attrs, name)


def cross_hashed(inputs: Any, num_buckets: Any = 0, hash_key: Any = None, name: str | None = None) -> SparseTensor:
    """The crosses of `cross`, as numbers of buckets."""
    _, sparse, dense, _ = _by_kind(inputs)
    types = [v.dtype for _, v, _ in sparse], [d.dtype for d in dense]
    attrs = {
        **_hashed(num_buckets, hash_key), "N": len(sparse), "sparse_types": types[0], "dense_types": types[1], "out_type": dtypes.int64,
        "internal_type": dtypes.int64 if dtypes.int64 in types[0] + types[1] else dtypes.string,
    }
    return SparseTensor(*_op("SparseCross", [*([p[i] for p in sparse] for i in range(3)), dense], attrs, name))


def deserialize_many_sparse(serialized_sparse: Any, dtype: Any, rank: Any = None, name: str | None = None) -> SparseTensor:
    """A sparse tensor out of serialized ones, a row each."""
    return SparseTensor(*_op("DeserializeManySparse", [_convert(serialized_sparse)], {"dtype": dtype}, name))


def _text(value: Any) -> bytes:
    return value if isinstance(value, bytes) else str(value).encode()


def edit_distance(hypothesis: Any, truth: Any, normalize: bool = True, name: str = "edit_distance") -> Tensor:
    """Levenshtein's distance between the sequences along the last axis."""
    for given in (hypothesis, truth):
        if not isinstance(given, SparseTensor):
            raise TypeError("Hypothesis and truth must be SparseTensors.")
    shape = np.maximum(hypothesis.dense_shape.numpy()[:-1], truth.dense_shape.numpy()[:-1])
    ours, theirs = _sequences(hypothesis), _sequences(truth)
    made = np.zeros(shape, np.float32)
    for place in np.ndindex(*shape):
        a, b = ours.get(place, []), theirs.get(place, [])
        steps = _levenshtein(a, b)
        made[place] = (steps / len(b) if b else float("inf") if a else 0.0) if normalize else steps
    return _convert(made)


def _sequences(sparse: Any) -> dict[Any, list[Any]]:
    found: dict[Any, list[Any]] = {}
    for place, value in zip(sparse.indices.numpy(), sparse.values.numpy()):
        found.setdefault(tuple(int(p) for p in place[:-1]), []).append(value)
    return found


def _levenshtein(a: list[Any], b: list[Any]) -> int:
    before = list(range(len(b) + 1))
    for i, x in enumerate(a, 1):
        row = [i]
        for j, y in enumerate(b, 1):
            row.append(min(before[j] + 1, row[-1] + 1, before[j - 1] + (x != y)))
        before = row
    return before[-1]


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
