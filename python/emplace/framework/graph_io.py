"""Graphs as protobuf messages."""

from __future__ import annotations

import contextlib
import os
import threading
from typing import Any

import numpy as np

from emplace import _core
from emplace.framework import constant_op, dtypes, errors, ops, tensor_shape
from emplace.framework.device_scope import canonical_device

# TensorFlow's number for graphs of op definitions like ours.
PRODUCER = 2474


def make_tensor_proto(values: Any, dtype: Any = None, shape: Any = None, verify_shape: bool = False, allow_broadcast: bool = False) -> Any:
    """A value as a TensorProto; `dtype` and `shape` convert it, `verify_shape` refuses another shape."""
    from emplace.proto import tensor_pb2

    if isinstance(values, tensor_pb2.TensorProto):
        return values
    array = constant_op.make_array(values, dtype, shape)
    kind = dtypes.as_dtype(array.dtype) if dtype is None else dtypes.as_dtype(dtype).base_dtype
    proto = tensor_pb2.TensorProto(dtype=kind.as_datatype_enum, tensor_shape=tensor_shape.TensorShape(array.shape).as_proto())
    if kind == dtypes.string:
        proto.string_val.extend(array.reshape(-1).tolist())
    elif array.size == 1 and kind in _SCALAR_FIELDS:
        getattr(proto, _SCALAR_FIELDS[kind]).append(array.reshape(-1)[0].item())
    else:
        proto.tensor_content = np.ascontiguousarray(array).tobytes()
    return proto


_SCALAR_FIELDS = {
    dtypes.float32: "float_val",
    dtypes.float64: "double_val",
    dtypes.int32: "int_val",
    dtypes.int64: "int64_val",
    dtypes.bool: "bool_val",
    dtypes.uint8: "int_val",
    dtypes.int8: "int_val",
    dtypes.int16: "int_val",
    dtypes.uint16: "int_val",
}
_FIELDS = {
    **{d: f for d, f in _SCALAR_FIELDS.items()},
    dtypes.float16: "half_val",
    dtypes.bfloat16: "half_val",
    dtypes.uint32: "uint32_val",
    dtypes.uint64: "uint64_val",
    dtypes.complex64: "scomplex_val",
    dtypes.complex128: "dcomplex_val",
}


def make_ndarray(proto: Any) -> np.ndarray:
    """The NumPy array of a TensorProto."""
    kind = dtypes.as_dtype(proto.dtype)
    shape = [d.size for d in proto.tensor_shape.dim]
    count = int(np.prod(shape, dtype=np.int64))
    if kind == dtypes.string:
        values = list(proto.string_val)
        values += [values[-1] if values else b""] * (count - len(values))
        out = np.empty(count, dtype=object)
        out[:] = values
        return out.reshape(shape)
    if proto.tensor_content:
        return np.frombuffer(proto.tensor_content, dtype=kind.as_numpy_dtype).copy().reshape(shape)
    values = list(getattr(proto, _FIELDS[kind]))
    if kind in (dtypes.float16, dtypes.bfloat16):
        array = np.array(values, dtype=np.uint16).view(kind.as_numpy_dtype)
    elif kind.is_complex:
        array = np.array(values[::2]) + 1j * np.array(values[1::2])
    else:
        array = np.array(values)
    array = array.astype(kind.as_numpy_dtype)
    if array.size < count:
        fill = array[-1] if array.size else np.zeros((), kind.as_numpy_dtype)
        array = np.concatenate([array, np.full(count - array.size, fill, dtype=array.dtype)])
    return array.reshape(shape)


# ---- Out.


def node_def(op: Any) -> Any:
    from emplace.proto import graph_pb2

    return graph_pb2.NodeDef.FromString(_core.node_def(op._node))


def graph_def(graph: Any, from_version: Any = None, add_shapes: bool = False, strip_default_attrs: bool = False) -> Any:
    from emplace.proto import graph_pb2

    out = graph_pb2.GraphDef.FromString(_core.graph_def(graph._core, add_shapes, strip_default_attrs, True, False))
    if from_version is not None:
        del out.node[:from_version]
    return out


def write_graph(graph_or_graph_def: Any, logdir: Any, name: str, as_text: bool = True) -> str:
    """Writes a graph below `logdir`, as text or as bytes; returns the file's path."""
    from google.protobuf import text_format

    message = graph_or_graph_def.as_graph_def() if isinstance(graph_or_graph_def, ops.Graph) else graph_or_graph_def
    logdir = os.fspath(logdir)
    os.makedirs(logdir, exist_ok=True)
    path = os.path.join(logdir, name)
    content = text_format.MessageToString(message).encode() if as_text else message.SerializeToString()
    write_atomically(path, content)
    return path


def write_atomically(path: str, content: bytes) -> None:
    """The file has its old content or the new one, whatever happens; a link stays a link, a pipe or a device is written to."""
    if os.path.exists(path) and not os.path.isfile(path):
        with open(path, "wb") as f:
            f.write(content)
        return
    path = os.path.realpath(path)
    temporary = f"{path}.tmp{os.getpid()}.{threading.get_ident()}"
    try:
        with open(temporary, "wb") as f:
            f.write(content)
            f.flush()
            os.fsync(f.fileno())
        os.replace(temporary, path)
    except BaseException:
        with contextlib.suppress(OSError):
            os.remove(temporary)
        raise


# ---- In.


def import_graph_def(
    graph_def: Any, input_map: Any = None, return_elements: Any = None, name: str | None = None, op_dict: Any = None,
    producer_op_list: Any = None,
) -> Any:
    """Adds the nodes and functions of a GraphDef to the default graph, below the scope `name` ("import")."""
    return import_internal(graph_def, input_map, return_elements, name, producer_op_list=producer_op_list)


def import_internal(
    graph_def: Any, input_map: Any = None, return_elements: Any = None, name: str | None = None, validate_colocation: bool = True,
    producer_op_list: Any = None,
) -> Any:
    graph_def = _as_graph_def(graph_def)
    input_map = _checked_input_map(input_map)
    return_elements = _checked_return_elements(return_elements)
    if producer_op_list is not None:
        graph_def = _without_newer_defaults(graph_def, producer_op_list)
    graph_def = _with_canonical_devices(graph_def)
    graph = ops.get_default_graph()
    with ops.name_scope(name, "import", [v for v in input_map.values() if isinstance(v, ops.Tensor)]) as scope:
        mapped = _mapped_outputs(name, input_map)
    tensors = [e for e in return_elements or () if ":" in e]
    nodes = [e for e in return_elements or () if ":" not in e]
    try:
        _, outputs, returned, missing = _core.import_graph_def(
            graph._core, graph_def.SerializeToString(), (scope or "").rstrip("/"), mapped, [_checked_tensor_name(t) for t in tensors], nodes,
            validate_colocation, True,
        )
    except errors.InvalidArgumentError as e:
        raise ValueError(e.message) from None
    if missing:
        named = [m if ":" in m or m.startswith("^") else f"{m}:0" for m in missing]
        raise ValueError(f"Attempted to map inputs that were not found in graph_def: [{', '.join(named)}]")
    if return_elements is None:
        return None
    outputs, returned = iter(outputs), iter(returned)
    return [_tensor(graph, next(outputs)) if ":" in e else graph._op_of(next(returned)) for e in return_elements]


def _tensor(graph: Any, output: Any) -> Any:
    return graph._op_of(output.node).outputs[output.index]


def _as_graph_def(given: Any) -> Any:
    from emplace.proto import graph_pb2

    if isinstance(given, graph_pb2.GraphDef):
        return given
    # A message of another generation of the same form, TensorFlow's own among them.
    if getattr(getattr(given, "DESCRIPTOR", None), "name", "") == "GraphDef":
        return graph_pb2.GraphDef.FromString(given.SerializeToString())
    raise TypeError("Argument `graph_def` must be a GraphDef proto.")


def _checked_input_map(input_map: Any) -> dict[str, Any]:
    if input_map is None:
        return {}
    if not isinstance(input_map, dict):
        raise TypeError(f"Argument `input_map` must be a dictionary. Obtained {type(input_map).__name__}")
    if not all(isinstance(k, (str, bytes)) for k in input_map):
        raise TypeError(f"All keys for argument `input_map` must be strings. Obtained keys: {list(input_map.keys())}")
    return {k.decode() if isinstance(k, bytes) else k: v for k, v in input_map.items()}


def _checked_return_elements(elements: Any) -> tuple[str, ...] | None:
    if elements is None:
        return None
    if not all(isinstance(e, (str, bytes)) for e in elements):
        raise TypeError(f"Argument `return_elements` must be a list of strings. Obtained {elements}.")
    return tuple(e.decode() if isinstance(e, bytes) else e for e in elements)


def _checked_tensor_name(name: str) -> str:
    parts = name.split(":")
    if len(parts) > 2:
        raise ValueError(f"Cannot convert '{name}' to a tensor name. Tensor names should not contain more than 1 `:`. Obtained {len(parts) - 1}")
    if not parts[-1].lstrip("-").isdigit():
        raise ValueError(f"Cannot convert {name!r} to a tensor name. Second component of the name following the `:` should be an int. Got {parts[1]}.")
    return name


def _mapped_outputs(name: str | None, input_map: dict[str, Any]) -> list[tuple[str, Any]]:
    if any(not isinstance(v, (ops.Tensor, ops.Operation)) for v in input_map.values()):
        if name == "":
            raise ValueError(
                "tf.import_graph_def() requires a non-empty `name` if `input_map` contains non-Tensor values. Try calling "
                "tf.convert_to_tensor() on `input_map` values before calling tf.import_graph_def()."
            )
        with ops.name_scope("_inputs"):
            input_map = {k: v if isinstance(v, ops.Operation) else ops.convert_to_tensor(v) for k, v in input_map.items()}
    return [(k, _core.Output(v._node, -1) if isinstance(v, ops.Operation) else v._out) for k, v in input_map.items()]


def _without_newer_defaults(graph_def: Any, producer_op_list: Any) -> Any:
    """Attributes that we do not know and that have the value which their maker takes for granted."""
    from emplace.proto import graph_pb2

    out = graph_pb2.GraphDef()
    out.CopyFrom(graph_def)
    theirs = {op.name: op for op in producer_op_list.op}
    for node in [*out.node, *(n for f in out.library.function for n in f.node_def)]:
        ours = _core.find_op(node.op)
        if ours is None or node.op not in theirs:
            continue
        known = {a.name for a in ours.attrs}
        for attr in theirs[node.op].attr:
            if attr.name in node.attr and attr.name not in known and attr.HasField("default_value"):
                if node.attr[attr.name].SerializeToString() == attr.default_value.SerializeToString():
                    del node.attr[attr.name]
    return out


def _with_canonical_devices(graph_def: Any) -> Any:
    """Devices named as `with tf.device(…)` does, which takes spellings that the engine refuses."""
    from emplace.proto import graph_pb2

    odd = {i: name for i, n in enumerate(graph_def.node) if (name := canonical_device(n.device)) != n.device}
    if not odd:
        return graph_def
    out = graph_pb2.GraphDef()
    out.CopyFrom(graph_def)
    for i, name in odd.items():
        out.node[i].device = name
    return out


def read_to_parse(path: str) -> bytes:
    """A whole file, within EMPLACE_PARSE_MB as whatever the engine parses."""
    given = os.environ.get("EMPLACE_PARSE_MB", "")
    most = int(given) << 20 if given.isdecimal() else 0
    with open(path, "rb") as f:
        content = f.read(most + 1 if most else -1)
    if most and len(content) > most:
        raise ValueError(f"{path}: more than {most} bytes")
    return content
