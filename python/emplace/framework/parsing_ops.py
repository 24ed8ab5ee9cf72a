"""Tensors out of serialized examples and lines of text, in graph programs."""

from __future__ import annotations

import collections
from typing import Any, TYPE_CHECKING

from emplace.framework import array_ops, constant_op, dtypes, gen, ops, tensor_shape
from emplace.framework.ops import convert_to_tensor as _convert
from emplace.framework.ops import name_scope
from emplace.framework.sparse_tensor import SparseTensor

if TYPE_CHECKING:
    from emplace.framework.tensor import Tensor

FixedLenFeature = collections.namedtuple("FixedLenFeature", ["shape", "dtype", "default_value"], defaults=[None])
FixedLenSequenceFeature = collections.namedtuple(
    "FixedLenSequenceFeature", ["shape", "dtype", "allow_missing", "default_value"], defaults=[False, None]
)
VarLenFeature = collections.namedtuple("VarLenFeature", ["dtype"])
SparseFeature = collections.namedtuple("SparseFeature", ["index_key", "value_key", "dtype", "size", "already_sorted"], defaults=[False])
FixedLenFeature.__doc__ = "A feature of the same shape in every example; without `default_value` it must be there."
FixedLenSequenceFeature.__doc__ = "A feature of any number of pieces of one shape; shorter ones are padded to the longest of a batch."
VarLenFeature.__doc__ = "A feature of any number of values, as a sparse tensor."
SparseFeature.__doc__ = "A sparse tensor from two features: indices under `index_key` (or several), values under `value_key`."


class _Wanted:
    """What is asked for, in the order of the keys."""

    def __init__(self, features: dict[str, Any]) -> None:
        if not features:
            raise ValueError("Argument `features` cannot be None.")
        self.sparse: dict[str, Any] = {}
        self.dense: dict[str, Any] = {}
        self.joined: dict[str, SparseFeature] = {}
        for key in sorted(features):
            feature = features[key]
            if isinstance(feature, VarLenFeature):
                if feature.dtype is None:
                    raise ValueError(f"Missing type for feature {key}. Received feature={feature}.")
                self.sparse[key] = dtypes.as_dtype(feature.dtype)
            elif isinstance(feature, SparseFeature):
                self._take_sparse(key, feature)
            elif isinstance(feature, (FixedLenFeature, FixedLenSequenceFeature)):
                if feature.dtype is None:
                    raise ValueError(f"Missing type for feature {key}. Received feature={feature}.")
                self.dense[key] = feature
            else:
                raise ValueError(f"Invalid feature {key}:{feature}.")

    def _take_sparse(self, key: str, feature: SparseFeature) -> None:
        for index in [feature.index_key] if isinstance(feature.index_key, str) else feature.index_key:
            self.sparse[index] = dtypes.int64
        self.sparse[feature.value_key] = dtypes.as_dtype(feature.dtype)
        self.joined[key] = feature


def _default(key: str, feature: Any) -> tuple[Any, Any]:
    """The default value of a dense feature as the operation takes it, and its shape."""
    dtype, shape = dtypes.as_dtype(feature.dtype), tensor_shape.as_shape(feature.shape)
    if isinstance(feature, FixedLenSequenceFeature):
        if not feature.allow_missing:
            raise ValueError("Unsupported: FixedLenSequenceFeature requires allow_missing to be True.")
        fill = feature.default_value
        if fill is None:
            fill = "" if dtype is dtypes.string else 0
        return constant_op.constant(fill, dtype), tensor_shape.TensorShape([None, *shape.as_list()])
    if feature.default_value is None:
        return constant_op.constant([], dtype), shape
    value = _convert(feature.default_value, dtype=dtype, name=f"key_{key}")
    return array_ops.reshape(value, shape), shape


def _parsed(serialized: Any, features: dict[str, Any], names: Any, name: str | None) -> dict[str, Any]:
    wanted = _Wanted(features)
    with name_scope(name, "ParseExample", [serialized, names]):
        defaults, shapes = [], []
        for key, feature in wanted.dense.items():
            value, shape = _default(key, feature)
            defaults.append(value)
            shapes.append(shape)
        parse = gen.make_function("ParseExampleV2")
        found = parse(
            serialized, [] if names is None else names, list(wanted.sparse), list(wanted.dense), [], defaults, num_sparse=len(wanted.sparse),
            sparse_types=list(wanted.sparse.values()), ragged_value_types=[], ragged_split_types=[], dense_shapes=shapes,
        )
    _note_shapes(serialized.shape, found, shapes)
    results: dict[str, Any] = {k: SparseTensor(*parts) for k, *parts in zip(wanted.sparse, found[0], found[1], found[2])}
    results.update(zip(wanted.dense, found[3]))
    for key, feature in wanted.joined.items():
        results[key] = _joined(feature, results)
    kept = set(features)
    return {k: v for k, v in results.items() if k in kept}


def _note_shapes(batch: Any, found: Any, shapes: list[Any]) -> None:
    if batch.rank is None:
        return
    for indices, values, dense_shape in zip(*found[:3]):
        indices.set_shape([None, batch.rank + 1])
        values.set_shape([None])
        dense_shape.set_shape([batch.rank + 1])
    for value, shape in zip(found[3], shapes):
        value.set_shape(batch.concatenate(shape))


def _joined(feature: SparseFeature, found: dict[str, Any]) -> SparseTensor:
    """One sparse tensor of the values of a key at the places that other keys give."""
    from emplace.framework import sparse_ops

    keys = [feature.index_key] if isinstance(feature.index_key, str) else list(feature.index_key)
    sizes = [feature.size] if isinstance(feature.size, int) else list(feature.size)
    values = found[feature.value_key]
    columns = [values.indices[:, :-1], *(array_ops.expand_dims(found[k].values, 1) for k in keys)]
    shape = array_ops.concat([values.dense_shape[:-1], constant_op.constant(sizes, dtypes.int64)], 0)
    made = SparseTensor(array_ops.concat(columns, 1), values.values, shape)
    return made if feature.already_sorted else sparse_ops.sparse_reorder(made)


def parse_example(serialized: Any, features: Any, name: str | None = None, example_names: Any = None) -> dict[str, Any]:
    """Serialized Example messages as a dict of tensors, a row each; `features` says by name what to expect."""
    return _parsed(_convert(serialized, dtype=dtypes.string, name="serialized") if not isinstance(serialized, ops.Tensor) else serialized, features, example_names, name)


def parse_single_example(serialized: Any, features: Any, name: str | None = None, example_names: Any = None) -> dict[str, Any]:
    """One serialized Example message as a dict of tensors without a batch dimension."""
    with name_scope(name, "ParseSingleExample", [serialized, example_names]):
        serialized = _convert(serialized, name="serialized")
        if serialized.shape.rank not in (0, None):
            raise ValueError(f"Input serialized must be a scalar. Got shape {serialized.shape}.")
        return _parsed(serialized, features, example_names, None)


def decode_csv(
    records: Any, record_defaults: Any, field_delim: str = ",", use_quote_delim: bool = True, name: str | None = None, na_value: str = "",
    select_cols: Any = None,
) -> list[Tensor]:
    """Columns of lines of CSV as tensors; `record_defaults` gives their dtypes and what an empty field means."""
    if select_cols is not None and any(b <= a for a, b in zip(select_cols, list(select_cols)[1:])):
        raise ValueError("select_cols is not strictly increasing.")
    if select_cols is not None and len(select_cols) != len(record_defaults):
        raise ValueError("Length of select_cols and record_defaults do not match.")
    decode = gen.make_function("DecodeCSV")
    made = decode(
        records, record_defaults, field_delim=field_delim, use_quote_delim=use_quote_delim, na_value=na_value, select_cols=list(select_cols or []), name=name
    )
    return list(made)
