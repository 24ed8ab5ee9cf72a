"""`tf.io.parse_example` and its relatives: tensors out of training examples."""

from __future__ import annotations

import collections
import functools
import json
from typing import Any, TYPE_CHECKING

import numpy as np

from emplace.eager import function_types, op_errors
from emplace.eager.ragged_examples import Parts
from emplace.eager.sparse.tensor import SparseTensor
from emplace.framework import dtypes, errors, gen, math_ops, ops, parsing_ops, tensor_shape
from emplace.framework.ops import convert_to_tensor as _convert
from emplace.framework.parsing_ops import FixedLenFeature, FixedLenSequenceFeature, VarLenFeature

if TYPE_CHECKING:
    from emplace.framework.tensor import Tensor

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


class _Batch(list):  # type: ignore[type-arg]
    """Examples, and what is asked of them."""

    def __init__(self, serialized: Any, features: dict[str, Any], single: bool) -> None:
        super().__init__()
        self._single = single
        dense, sparse, ragged = (sum(isinstance(f, k) for f in features.values()) for k in ((FixedLenFeature, FixedLenSequenceFeature), VarLenFeature, RaggedFeature))
        self._counts = f"_Tdense_{dense}_num_sparse_{sparse}_ragged_split_types_{ragged}_ragged_value_types_{ragged}_sparse_types_{sparse}"
        from emplace.proto import example_pb2

        for text in serialized:
            message = example_pb2.Example()
            try:
                message.ParseFromString(text)
            except Exception:
                raise self.refused(f"Could not parse example input, value: '{text.decode(errors='replace')}'") from None
            self.append(message)

    def refused(self, said: str, one_of_many: bool = False) -> errors.OpError:
        named = "Name: <unknown>, " if one_of_many and not self._single else ""
        return op_errors.refused("ParseExampleV2", named + said, self._counts, "")

    def wrong(self, key: str, i: int, said: str) -> errors.OpError:
        return self.refused(f"Key: {key}{'' if self._single else f', Index: {i}'}.  {said}", one_of_many=True)

    def values(self, i: int, key: str, dtype: Any, sparse: bool = False) -> list[Any] | None:
        """None when the example does not have the key."""
        feature = self[i].features.feature.get(key)
        kind = feature.WhichOneof("kind") if feature is not None else None
        if kind is None:
            return None
        if kind != _KINDS[dtypes.as_dtype(dtype)]:
            had, wanted = _plain(next(d for d, k in _KINDS.items() if k == kind)), _plain(dtype)
            types = f"Expected type: {wanted}, Actual type: {had}" if sparse else f"Data type: {had} but expected type: {wanted}"
            raise self.wrong(key, i, f"Data types don't match. {types}")
        return list(getattr(feature, kind).value)

    def miscounted(self, key: str, i: int, dtype: Any, found: int, shape: list[int]) -> errors.OpError:
        kind = _KINDS[dtypes.as_dtype(dtype)]
        if self._single:
            return self.wrong(key, i, f"Can't parse serialized Example: Some {kind} slice was not parsed.")
        word = kind.removesuffix("_list")
        return self.wrong(key, i, f"Number of {word} values != expected.  Values size: {found} but output shape: [{','.join(map(str, shape))}]")


def _plain(dtype: Any) -> str:
    return dtypes.engine_name(dtypes.as_dtype(dtype))


def _array(values: Any, dtype: Any) -> np.ndarray:
    kind = dtypes.as_dtype(dtype)
    made = np.empty(len(values), object) if kind is dtypes.string else None
    if made is None:
        return np.asarray(values, kind.as_numpy_dtype)
    made[:] = values
    return made


def _fixed(examples: _Batch, key: str, feature: Any) -> Any:
    shape = tensor_shape.as_shape(feature.shape).as_list()
    n = int(np.prod(shape))
    rows = []
    for i in range(len(examples)):
        found = examples.values(i, key, feature.dtype)
        if found is None:
            if feature.default_value is None:
                raise examples.refused(f"Feature: {key} (data type: {_plain(feature.dtype)}) is required but could not be found.", one_of_many=True)
            given = [v.encode() if isinstance(v, str) else v for v in np.asarray(feature.default_value, object).reshape(-1)]
            found = given * (n // max(len(given), 1)) if len(given) != n else given
        if len(found) != n:
            raise examples.miscounted(key, i, feature.dtype, len(found), shape)
        rows.append(_array(found, feature.dtype).reshape(shape))
    return _convert(np.stack(rows), dtypes.as_dtype(feature.dtype))


def _sequence(examples: _Batch, key: str, feature: Any) -> Any:
    shape = tensor_shape.as_shape(feature.shape).as_list()
    rows = []
    for i in range(len(examples)):
        found = examples.values(i, key, feature.dtype)
        if found is None and not feature.allow_missing:
            raise examples.refused(f"Feature: {key} is required but could not be found.", one_of_many=True)
        rows.append(_array(found or [], feature.dtype).reshape([-1, *shape]))
    most = max(len(r) for r in rows)
    fill = feature.default_value if feature.default_value is not None else b"" if dtypes.as_dtype(feature.dtype) is dtypes.string else 0
    out = np.full([len(rows), most, *shape], fill, rows[0].dtype)
    for i, r in enumerate(rows):
        out[i, : len(r)] = r
    return _convert(out)


def _variable(examples: _Batch, key: str, feature: Any) -> SparseTensor:
    rows = [examples.values(i, key, feature.dtype, True) or [] for i in range(len(examples))]
    places = [[i, j] for i, r in enumerate(rows) for j in range(len(r))]
    flat = _convert(_array([v for r in rows for v in r], feature.dtype), dtypes.as_dtype(feature.dtype))
    return SparseTensor(np.array(places, np.int64).reshape(-1, 2), flat, [len(rows), max((len(r) for r in rows), default=0)])


def _ragged(examples: _Batch, key: str, feature: Any) -> Any:
    from emplace.eager.ragged import joining
    from emplace.eager.ragged.tensor import RaggedTensor

    made = []
    for i in range(len(examples)):
        values: Any = _convert(_array(examples.values(i, feature.value_key or key, feature.dtype) or [], feature.dtype), dtypes.as_dtype(feature.dtype))
        for part in reversed(list(feature.partitions)):
            values = _split(RaggedTensor, values, part, lambda k, i=i: examples.values(i, k, dtypes.int64), feature.row_splits_dtype)
        made.append(values)
    whole = joining.stack(made)
    return whole.with_row_splits_dtype(feature.row_splits_dtype) if isinstance(whole, RaggedTensor) else whole


def _split(kind: Any, values: Any, part: Any, of_key: Any, dtype: Any) -> Any:
    if isinstance(part, RaggedFeature.UniformRowLength):
        return kind.from_uniform_row_length(values, part.length)
    make = {"RowSplits": kind.from_row_splits, "RowLengths": kind.from_row_lengths, "RowStarts": kind.from_row_starts,
            "RowLimits": kind.from_row_limits, "ValueRowIds": kind.from_value_rowids}[type(part).__name__]  # fmt: skip
    rows = of_key(part.key)
    if isinstance(rows, ops.Tensor):
        return make(values, math_ops.cast(rows, dtype))
    return make(values, np.asarray(rows or [], dtypes.as_dtype(dtype).as_numpy_dtype))


_PARSERS = {FixedLenFeature: _fixed, FixedLenSequenceFeature: _sequence, VarLenFeature: _variable, RaggedFeature: _ragged}


def parse_example(serialized: Any, features: Any, example_names: Any = None, name: str | None = None) -> dict[str, Any]:
    """Serialized Example messages as a dict of tensors, a row each; `features` says by name what to expect."""
    if not features:
        raise ValueError("Argument `features` cannot be None or empty.")
    if ops._default_graphs.stack:
        return _in_graph(parsing_ops.parse_example, serialized, features)
    texts = _convert(serialized, dtypes.string).numpy()
    if np.ndim(texts) == 0:
        return parse_single_example(serialized, features)
    return _parsed(texts.reshape(-1), features, False)


def _in_graph(parse: Any, serialized: Any, features: dict[str, Any]) -> dict[str, Any]:
    """By the graph's operations, in a function that is being traced."""
    ragged = {k: f for k, f in features.items() if isinstance(f, RaggedFeature)}
    others = {k: f for k, f in features.items() if k not in ragged}
    found = parse(serialized, others) if others else {}
    made = {k: SparseTensor(v.indices, v.values, v.dense_shape) if hasattr(v, "dense_shape") else v for k, v in found.items()}
    return made | _ragged_in_graph(_convert(serialized, dtypes.string), ragged) if ragged else made


def _ragged_in_graph(serialized: Any, features: dict[str, Any]) -> dict[str, Any]:
    from emplace.eager.ragged.tensor import RaggedTensor

    wanted: dict[str, Any] = {}  # by key: dtype of the values, of the splits
    for key, feature in features.items():
        wanted[feature.value_key or key] = (feature.dtype, feature.row_splits_dtype)
        wanted.update({part.key: (dtypes.int64, feature.row_splits_dtype) for part in feature.partitions if hasattr(part, "key")})
    found = gen.make_function("ParseExampleV2")(
        serialized, [], [], [], list(wanted), [], num_sparse=0, sparse_types=[], dense_shapes=[],
        ragged_value_types=[t for t, _ in wanted.values()], ragged_split_types=[t for _, t in wanted.values()],
    )
    for values in (*found[4], *found[5]):
        values.set_shape([None])
    flat, splits = dict(zip(wanted, found[4])), dict(zip(wanted, found[5]))
    made: dict[str, Any] = {}
    for key, feature in sorted(features.items()):
        of_key, parts = feature.value_key or key, reversed(list(feature.partitions))
        if serialized.shape.rank == 0:
            values = flat[of_key]
            for part in parts:
                values = _split(RaggedTensor, values, part, flat.__getitem__, feature.row_splits_dtype)
            made[key] = values
            continue
        batch = Parts(flat[of_key], splits[of_key])
        for part in parts:
            said = Parts(flat[part.key], splits[part.key]) if hasattr(part, "key") else None
            batch = batch.split(RaggedTensor, part, said, feature.row_splits_dtype)
        made[key] = batch.joined(RaggedTensor)
    return made


def _parsed(texts: Any, features: dict[str, Any], single: bool) -> dict[str, Any]:
    """Sparse ones first, ragged ones last."""
    for key, feature in features.items():
        if type(feature) not in _PARSERS:
            raise ValueError(f"Unsupported {type(feature).__name__} {feature} for key '{key}')")
    examples = _Batch(texts, features, single)
    order = {VarLenFeature: 0, RaggedFeature: 2}
    return {key: _PARSERS[type(f)](examples, key, f) for key, f in sorted(features.items(), key=lambda item: (order.get(type(item[1]), 1), item[0]))}


def parse_single_example(serialized: Any, features: Any, example_names: Any = None, name: str | None = None) -> dict[str, Any]:
    """One serialized Example message as a dict of tensors without a batch dimension."""
    from emplace.eager.sparse import functions

    if not features:
        raise ValueError("Argument `features` cannot be None or empty.")
    if ops._default_graphs.stack:
        return _in_graph(parsing_ops.parse_single_example, serialized, features)
    found = _parsed([_convert(serialized, dtypes.string).numpy()], features, True)
    return {k: functions.reshape(v, v.dense_shape.numpy()[1:]) if isinstance(v, SparseTensor) else v[0] for k, v in found.items()}


@functools.cache
def _one_by_one() -> Any:
    """The class of examples, as TensorFlow writes them here: numbers one by one, each with the field's number before it."""
    from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

    from emplace.proto import example_pb2

    pool = descriptor_pool.DescriptorPool()
    needed = [*example_pb2.DESCRIPTOR.dependencies, example_pb2.DESCRIPTOR]
    for file in needed:
        described = descriptor_pb2.FileDescriptorProto()
        file.CopyToProto(described)
        for message in described.message_type:
            for field in message.field:
                if field.label == field.LABEL_REPEATED and field.type in (field.TYPE_INT64, field.TYPE_FLOAT):
                    field.options.packed = False
        pool.Add(described)
    return message_factory.GetMessageClass(pool.FindMessageTypeByName(example_pb2.Example.DESCRIPTOR.full_name))


def _written(example: Any, given: dict[str, Any]) -> bytes:
    """The features in the order they were given in, which a map does not keep."""
    from emplace.proto import example_pb2

    if not example.HasField("features"):
        return b""
    kind, found = type(example.features), example.features.feature
    order = given["features"].get("feature", {})
    # A list of one text is laid out as an example is: field 1, its length, the bytes.
    return example_pb2.BytesList(value=[b"".join(kind(feature={key: found[key]}).SerializeToString() for key in order)]).SerializeToString()


def decode_json_example(json_examples: Any, name: str | None = None) -> Tensor:
    """Example messages in JSON as serialized ones, element by element."""
    from google.protobuf import json_format

    kind = _one_by_one()
    given = _convert(json_examples, dtypes.string)
    texts = np.asarray(given.numpy(), object)
    made = np.empty(texts.size, object)
    for i, text in enumerate(texts.reshape(-1)):
        try:
            made[i] = _written(json_format.Parse(text, kind()), json.loads(text))
        except json_format.ParseError as e:
            raise errors.InvalidArgumentError(None, None, f"Error while parsing JSON: {e}") from None
    return _convert(made.reshape(texts.shape), dtypes.string)
