"""`tf.io.parse_example` and its relatives: tensors out of training examples."""

from __future__ import annotations

import collections
import functools
import json
from typing import Any, TYPE_CHECKING

import numpy as np

from emplace.eager.ragged_examples import Parts
from emplace.framework import dtypes, errors, gen, math_ops, parsing_ops
from emplace.framework.ops import convert_to_tensor as _convert

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


def _split(kind: Any, values: Any, part: Any, of_key: Any, dtype: Any) -> Any:
    if isinstance(part, RaggedFeature.UniformRowLength):
        return kind.from_uniform_row_length(values, part.length)
    make = {"RowSplits": kind.from_row_splits, "RowLengths": kind.from_row_lengths, "RowStarts": kind.from_row_starts,
            "RowLimits": kind.from_row_limits, "ValueRowIds": kind.from_value_rowids}[type(part).__name__]  # fmt: skip
    return make(values, math_ops.cast(of_key(part.key), dtype))


def parse_example(serialized: Any, features: Any, example_names: Any = None, name: str | None = None) -> dict[str, Any]:
    """Serialized Example messages as a dict of tensors, a row each; `features` says by name what to expect."""
    return _parsed(parsing_ops.parse_example, serialized, features, example_names, name)


def parse_single_example(serialized: Any, features: Any, example_names: Any = None, name: str | None = None) -> dict[str, Any]:
    """One serialized Example message as a dict of tensors without a batch dimension."""
    return _parsed(parsing_ops.parse_single_example, serialized, features, example_names, name)


def _parsed(parse: Any, serialized: Any, features: dict[str, Any], names: Any, name: str | None) -> dict[str, Any]:
    """Ragged features come last."""
    if not features:
        raise ValueError("Argument `features` cannot be None or empty.")
    serialized = _convert(serialized, dtypes.string)
    ragged = {k: f for k, f in features.items() if isinstance(f, RaggedFeature)}
    others = {k: f for k, f in features.items() if k not in ragged}
    found = parse(serialized, others, name, names) if others else {}
    return found | _ragged(serialized, ragged) if ragged else found


def _ragged(serialized: Any, features: dict[str, Any]) -> dict[str, Any]:
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
