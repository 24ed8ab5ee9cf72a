"""`tf.io.decode_proto` and `tf.io.encode_proto`: protocol buffers as tensors, by the descriptors that a program has."""

from __future__ import annotations

import collections
import struct
from typing import Any

import numpy as np

from emplace.eager import op_errors
from emplace.framework import dtypes, errors, index_values
from emplace.framework.ops import convert_to_tensor as _convert

DecodeProtoV2 = collections.namedtuple("DecodeProtoV2", ["sizes", "values"])
_OURS, _THEIRS = "emplace.proto.", "tensorflow."

# Type of a field -> (its name, how a fixed one is laid out, dtypes it may become).
_KINDS = {
    1: ("double", "<d", (dtypes.float64,)), 2: ("float", "<f", (dtypes.float32, dtypes.float64)), 3: ("int64", "", (dtypes.int64,)),
    4: ("uint64", "", (dtypes.uint64,)), 5: ("int32", "", (dtypes.int32, dtypes.int64)), 6: ("fixed64", "<Q", (dtypes.uint64,)),
    7: ("fixed32", "<I", (dtypes.uint32, dtypes.int64, dtypes.uint64)), 8: ("bool", "", (dtypes.bool,)), 9: ("string", "", (dtypes.string,)),
    10: ("group", "", (dtypes.string,)), 11: ("message", "", (dtypes.string,)), 12: ("bytes", "", (dtypes.string,)),
    13: ("uint32", "", (dtypes.uint32, dtypes.int64, dtypes.uint64)), 14: ("enum", "", (dtypes.int32,)), 15: ("sfixed32", "<i", (dtypes.int32, dtypes.int64)),
    16: ("sfixed64", "<q", (dtypes.int64,)), 17: ("sint32", "", (dtypes.int32, dtypes.int64)), 18: ("sint64", "", (dtypes.int64,)),
}  # fmt: skip
_ZIGZAG, _SIGNED = (17, 18), (3, 5, 14)


def _refused(op: str, n: int, said: str, kind: Any = errors.InvalidArgumentError) -> Exception:
    return op_errors.refused(op, said, f"_output_types_{n}" if op == "DecodeProtoV2" else f"_Tinput_types_{n}", "", kind)


def _descriptor(op: str, name: str, source: Any, n: int) -> Any:
    from google.protobuf import descriptor_pb2, descriptor_pool

    source = source.decode() if isinstance(source, bytes) and not source.startswith(b"bytes://") else source
    if source in ("", "local://"):
        pool = descriptor_pool.Default()
    else:
        given = source if isinstance(source, bytes) else source.encode("latin-1")
        if not given.startswith(b"bytes://"):
            with open(source, "rb") as file:
                given = b"bytes://" + file.read()
        pool = descriptor_pool.DescriptorPool()
        for file in descriptor_pb2.FileDescriptorSet.FromString(given[len(b"bytes://") :]).file:
            pool.Add(file)
    for title in (name, _OURS + name[len(_THEIRS) :] if name.startswith(_THEIRS) else name):  # TensorFlow's own have another name here
        try:
            return pool.FindMessageTypeByName(title)
        except KeyError:
            continue
    raise _refused(op, n, f"No descriptor found for message type {name}")


def _fields(op: str, kind: Any, name: str, names: Any, types: Any) -> list[Any]:
    found = []
    for field, dtype in zip(names, types):
        if field not in kind.fields_by_name:
            raise _refused(op, len(types), f"Unknown field: {field} in message type {name}")
        described = kind.fields_by_name[field]
        title, _, allowed = _KINDS[described.type]
        if dtype not in allowed:
            wanted = {"float32": "float", "float64": "double"}.get(dtype.name, dtype.name).upper()
            raise _refused(op, len(types), f"Unexpected output type for {name}.{field}: {title} to DT_{wanted}")
        found.append(described)
    return found


def _found(data: bytes) -> list[Any]:
    """What stands in a message: (number, wire type, data), in order."""
    from google.protobuf import empty_pb2, unknown_fields

    bare = empty_pb2.Empty()
    bare.ParseFromString(data)
    return list(unknown_fields.UnknownFieldSet(bare))


def _number(kind: int, raw: int) -> Any:
    if kind in _ZIGZAG:
        return raw >> 1 ^ -(raw & 1)
    if kind in _SIGNED and raw >= 1 << 63:
        raw -= 1 << 64
    return bool(raw) if kind == 8 else raw


def _values(field: Any, wire: int, data: Any) -> list[Any]:
    """The values of one occurrence: several where they are packed."""
    layout = _KINDS[field.type][1]
    if wire == 0:
        return [_number(field.type, data)]
    if wire in (1, 5):
        return [struct.unpack(layout, struct.pack("<Q" if wire == 1 else "<I", data))[0]]
    if field.type in (9, 10, 11, 12):
        return [data]
    if layout:
        return [v for (v,) in struct.iter_unpack(layout, data)]
    out, at = [], 0
    while at < len(data):
        raw = shift = 0
        while True:
            raw |= (data[at] & 127) << shift
            shift, at = shift + 7, at + 1
            if not data[at - 1] & 128:
                break
        out.append(_number(field.type, raw))
    return out


def decode_proto(
    bytes: Any, message_type: str, field_names: Any, output_types: Any, descriptor_source: Any = "local://", message_format: str = "binary",  # noqa: A002
    sanitize: bool = False, name: str | None = None,
) -> Any:
    """Fields of serialized messages as tensors padded to equal length, and how many values each has."""
    from google.protobuf import message_factory, text_format

    types = [dtypes.as_dtype(t) for t in output_types]
    if len(types) != len(field_names):
        raise _refused("DecodeProtoV2", len(types), "field_names and output_types attributes must have the same length")
    kind = _descriptor("DecodeProtoV2", message_type, descriptor_source, len(types))
    fields = _fields("DecodeProtoV2", kind, message_type, field_names, types)
    given = np.asarray(_convert(bytes, dtypes.string).numpy(), object)
    rows = []
    for data in given.reshape(-1):
        if message_format == "text":
            data = text_format.Parse(data, message_factory.GetMessageClass(kind)()).SerializeToString()
        try:
            rows.append(_found(data))
        except Exception:  # noqa: BLE001  (protobuf's own, of whichever of its implementations)
            raise _refused("DecodeProtoV2", len(types), "CountFields: Failed to consume entire buffer", errors.DataLossError) from None
    sizes = np.zeros([len(rows), len(fields)], np.int32)
    values = []
    for i, (field, dtype) in enumerate(zip(fields, types)):
        try:
            one = [[v for f in row if f.field_number == field.number for v in _values(field, f.wire_type, f.data)] for row in rows]
        except (struct.error, IndexError):
            raise _refused("DecodeProtoV2", len(types), f"Illegal data for {message_type}.{field.name}", errors.DataLossError) from None
        if not field.is_repeated:
            one = [v[-1:] for v in one]
        sizes[:, i] = [len(v) for v in one]
        values.append(_convert(_padded(one, field, dtype).reshape([*given.shape, -1]), dtype))
    return DecodeProtoV2(_convert(sizes.reshape([*given.shape, len(fields)])), values)


def _padded(rows: list[list[Any]], field: Any, dtype: Any) -> np.ndarray:
    text = dtype == dtypes.string
    fill = b"" if text else 0
    if not field.is_repeated and not text and field.has_default_value:
        fill = field.default_value
    wide = max([len(r) for r in rows] + ([0] if field.is_repeated else [1]))
    out = np.full([len(rows), wide], fill, object if text else dtype.as_numpy_dtype)
    for i, row in enumerate(rows):
        out[i, : len(row)] = row
    return out


def encode_proto(sizes: Any, values: Any, field_names: Any, message_type: str, descriptor_source: Any = "local://", name: str | None = None) -> Any:
    """Serialized messages from tensors of their fields, of which `sizes` says how many values count."""
    from google.protobuf import message_factory

    tensors = [_convert(v) for v in values]
    kind = _descriptor("EncodeProto", message_type, descriptor_source, len(tensors))
    fields = _fields("EncodeProto", kind, message_type, field_names, [t.dtype for t in tensors])
    counts = np.asarray(index_values.tensor(sizes).numpy())
    flat = counts.reshape(-1, len(fields))
    columns = [t.numpy().reshape(len(flat), -1) for t in tensors]
    make, out = message_factory.GetMessageClass(kind), np.empty(len(flat), object)
    for i, row in enumerate(flat):
        made = make()
        for field, n, column in zip(fields, row, columns):
            for value in column[i, :n].tolist():
                _put(made, field, value)
        out[i] = made.SerializeToString()
    return _convert(out.reshape(counts.shape[:-1]), dtypes.string)


def _put(message: Any, field: Any, value: Any) -> None:
    if field.type in (10, 11):
        inner = getattr(message, field.name)
        (inner.add() if field.is_repeated else inner).MergeFromString(value)
        return
    value = value.decode() if field.type == 9 else value
    if field.is_repeated:
        getattr(message, field.name).append(value)
    else:
        setattr(message, field.name, value)
