"""`tf.io.parse_example` and its relatives: tensors out of training examples."""

from __future__ import annotations

import collections
from typing import Any

import numpy as np

from emplace.eager import op_errors
from emplace.eager.sparse.tensor import SparseTensor
from emplace.framework import dtypes, errors, tensor_shape
from emplace.framework.ops import convert_to_tensor as _convert

FixedLenFeature = collections.namedtuple("FixedLenFeature", ["shape", "dtype", "default_value"], defaults=[None])
FixedLenSequenceFeature = collections.namedtuple(
    "FixedLenSequenceFeature", ["shape", "dtype", "allow_missing", "default_value"], defaults=[False, None]
)
VarLenFeature = collections.namedtuple("VarLenFeature", ["dtype"])
_Ragged = collections.namedtuple(
    "RaggedFeature", ["dtype", "value_key", "partitions", "row_splits_dtype", "validate"], defaults=[None, (), dtypes.int32, False]
)


class RaggedFeature(_Ragged):
    """Values of one key, split into rows by what other keys say."""

    RowSplits = collections.namedtuple("RowSplits", ["key"])
    RowLengths = collections.namedtuple("RowLengths", ["key"])
    RowStarts = collections.namedtuple("RowStarts", ["key"])
    RowLimits = collections.namedtuple("RowLimits", ["key"])
    ValueRowIds = collections.namedtuple("ValueRowIds", ["key"])
    UniformRowLength = collections.namedtuple("UniformRowLength", ["length"])


_KINDS = {dtypes.int64: "int64_list", dtypes.float32: "float_list", dtypes.string: "bytes_list"}


def _examples(serialized: Any) -> list[Any]:
    from emplace.proto import example_pb2

    made = []
    for text in serialized:
        message = example_pb2.Example()
        try:
            message.ParseFromString(text)
        except Exception:
            raise errors.InvalidArgumentError(None, None, "Could not parse example input, value: " + repr(text)[:100]) from None
        made.append(message)
    return made


def _values(example: Any, key: str, dtype: Any) -> list[Any] | None:
    """None when the example does not have the key."""
    feature = example.features.feature.get(key)
    kind = feature.WhichOneof("kind") if feature is not None else None
    if kind is None:
        return None
    if kind != _KINDS[dtypes.as_dtype(dtype)]:
        raise errors.InvalidArgumentError(None, None, f"Key: {key}.  Data types don't match. Data type: {kind} but expected type: {dtypes.as_dtype(dtype).name}")
    return list(getattr(feature, kind).value)


def _array(values: Any, dtype: Any) -> np.ndarray:
    kind = dtypes.as_dtype(dtype)
    made = np.empty(len(values), object) if kind is dtypes.string else None
    if made is None:
        return np.asarray(values, kind.as_numpy_dtype)
    made[:] = values
    return made


def _fixed(examples: list[Any], key: str, feature: Any) -> Any:
    shape = tensor_shape.as_shape(feature.shape).as_list()
    n = int(np.prod(shape))
    rows = []
    for i, example in enumerate(examples):
        found = _values(example, key, feature.dtype)
        if found is None:
            if feature.default_value is None:
                raise op_errors.refused("ParseExampleV2", f"Name: <unknown>, Feature: {key} (data type: {dtypes.as_dtype(feature.dtype).name}) is required but could not be found.")
            given = [v.encode() if isinstance(v, str) else v for v in np.asarray(feature.default_value, object).reshape(-1)]
            found = given * (n // max(len(given), 1)) if len(given) != n else given
        if len(found) != n:
            raise op_errors.refused("ParseExampleV2", f"Name: <unknown>, Key: {key}, Index: {i}.  Number of {dtypes.as_dtype(feature.dtype).name} values != expected.  Values size: {len(found)} but output shape: {tensor_shape.as_shape(shape)}")
        rows.append(_array(found, feature.dtype).reshape(shape))
    return _convert(np.stack(rows), dtypes.as_dtype(feature.dtype))


def _sequence(examples: list[Any], key: str, feature: Any) -> Any:
    shape = tensor_shape.as_shape(feature.shape).as_list()
    rows = []
    for example in examples:
        found = _values(example, key, feature.dtype)
        if found is None and not feature.allow_missing:
            raise errors.InvalidArgumentError(None, None, f"Feature: {key} is required but could not be found.")
        rows.append(_array(found or [], feature.dtype).reshape([-1, *shape]))
    most = max(len(r) for r in rows)
    fill = feature.default_value if feature.default_value is not None else b"" if dtypes.as_dtype(feature.dtype) is dtypes.string else 0
    out = np.full([len(rows), most, *shape], fill, rows[0].dtype)
    for i, r in enumerate(rows):
        out[i, : len(r)] = r
    return _convert(out)


def _variable(examples: list[Any], key: str, feature: Any) -> SparseTensor:
    rows = [_values(e, key, feature.dtype) or [] for e in examples]
    places = [[i, j] for i, r in enumerate(rows) for j in range(len(r))]
    flat = _convert(_array([v for r in rows for v in r], feature.dtype), dtypes.as_dtype(feature.dtype))
    return SparseTensor(np.array(places, np.int64).reshape(-1, 2), flat, [len(rows), max((len(r) for r in rows), default=0)])


def _ragged(examples: list[Any], key: str, feature: Any) -> Any:
    from emplace.eager.ragged import joining
    from emplace.eager.ragged.tensor import RaggedTensor

    made = []
    for example in examples:
        values: Any = _convert(_array(_values(example, feature.value_key or key, feature.dtype) or [], feature.dtype), dtypes.as_dtype(feature.dtype))
        for part in reversed(list(feature.partitions)):
            values = _split(RaggedTensor, values, part, example, feature.row_splits_dtype)
        made.append(values)
    whole = joining.stack(made)
    return whole.with_row_splits_dtype(feature.row_splits_dtype) if isinstance(whole, RaggedTensor) else whole


def _split(kind: Any, values: Any, part: Any, example: Any, dtype: Any) -> Any:
    if isinstance(part, RaggedFeature.UniformRowLength):
        return kind.from_uniform_row_length(values, part.length)
    make = {"RowSplits": kind.from_row_splits, "RowLengths": kind.from_row_lengths, "RowStarts": kind.from_row_starts,
            "RowLimits": kind.from_row_limits, "ValueRowIds": kind.from_value_rowids}[type(part).__name__]  # fmt: skip
    return make(values, np.asarray(_values(example, part.key, dtypes.int64) or [], dtypes.as_dtype(dtype).as_numpy_dtype))


_PARSERS = {FixedLenFeature: _fixed, FixedLenSequenceFeature: _sequence, VarLenFeature: _variable, RaggedFeature: _ragged}


def parse_example(serialized: Any, features: Any, example_names: Any = None, name: str | None = None) -> dict[str, Any]:
    if not features:
        raise ValueError("Argument `features` cannot be None or empty.")
    texts = _convert(serialized, dtypes.string).numpy()
    if np.ndim(texts) == 0:
        return parse_single_example(serialized, features)
    examples = _examples(texts.reshape(-1))
    for key, feature in features.items():
        if type(feature) not in _PARSERS:
            raise ValueError(f"Unsupported {type(feature).__name__} {feature} for key '{key}')")
    return {key: _PARSERS[type(f)](examples, key, f) for key, f in sorted(features.items())}


def parse_single_example(serialized: Any, features: Any, example_names: Any = None, name: str | None = None) -> dict[str, Any]:
    from emplace.eager.sparse import functions

    found = parse_example([_convert(serialized, dtypes.string).numpy()], features)
    return {k: functions.reshape(v, v.dense_shape.numpy()[1:]) if isinstance(v, SparseTensor) else v[0] for k, v in found.items()}




def decode_json_example(json_examples: Any, name: str | None = None) -> Any:
    from google.protobuf import json_format

    from emplace.proto import example_pb2

    given = _convert(json_examples, dtypes.string)
    texts = np.asarray(given.numpy(), object)
    made = np.empty(texts.size, object)
    for i, text in enumerate(texts.reshape(-1)):
        try:
            made[i] = json_format.Parse(text, example_pb2.Example()).SerializeToString(deterministic=True)
        except json_format.ParseError as e:
            raise errors.InvalidArgumentError(None, None, f"Error while parsing JSON: {e}") from None
    return _convert(made.reshape(texts.shape), dtypes.string)
