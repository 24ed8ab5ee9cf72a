"""Graphs as protobuf messages."""

from __future__ import annotations

from typing import Any

import numpy as np

from emplace import _core
from emplace.framework import constant_op, dtypes, ops, tensor_shape

# TensorFlow's producer number for graphs of today.
PRODUCER = 2000


def make_tensor_proto(values: Any, dtype: Any = None, shape: Any = None, verify_shape: bool = False, allow_broadcast: bool = False) -> Any:
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


def node_def(op: Any) -> Any:
    from emplace.proto import graph_pb2

    node = graph_pb2.NodeDef(name=op.name, op=op.type, device=op.device)
    node.input.extend(t._as_node_def_input() for t in op.inputs)
    node.input.extend("^" + c.name for c in op.control_inputs)
    definition = {a.name: a for a in _core.find_op(op.type).attrs}
    for name in op._node.attr_names():
        _fill(node.attr[name], op._node.attr(name), op._node.attr_kind(name), definition.get(name))
    return node


# Positions in the engine's attribute variant: scalars 1 to 8, lists 9 to 16.
_STRING, _INT, _FLOAT, _BOOL, _TYPE, _SHAPE, _TENSOR, _FUNC = range(1, 9)


def _fill(proto: Any, value: Any, kind: int, definition: Any) -> None:
    if kind > 8:
        target = proto.list
        target.SetInParent()
        items, kind = value, kind - 8
        if kind == _STRING:
            target.s.extend(items)
        elif kind == _INT:
            target.i.extend(items)
        elif kind == _FLOAT:
            target.f.extend(items)
        elif kind == _BOOL:
            target.b.extend(items)
        elif kind == _TYPE:
            target.type.extend(items)
        elif kind == _SHAPE:
            target.shape.extend(tensor_shape.TensorShape._of(i).as_proto() for i in items)
        elif kind == _TENSOR:
            target.tensor.extend(make_tensor_proto(i) for i in items)
        elif kind == _FUNC:
            for i in items:
                target.func.add(name=i)
    elif kind == _STRING:
        proto.s = value
    elif kind == _INT:
        proto.i = value
    elif kind == _FLOAT:
        proto.f = value
    elif kind == _BOOL:
        proto.b = value
    elif kind == _TYPE:
        proto.type = value
    elif kind == _SHAPE:
        proto.shape.CopyFrom(tensor_shape.TensorShape._of(value).as_proto())
    elif kind == _TENSOR:
        proto.tensor.CopyFrom(make_tensor_proto(value))
    elif kind == _FUNC:
        proto.func.name = value


def graph_def(graph: Any, from_version: Any = None, add_shapes: bool = False) -> Any:
    from emplace.proto import graph_pb2

    out = graph_pb2.GraphDef()
    out.versions.producer = PRODUCER
    for i, op in enumerate(graph.get_operations()):
        if from_version is not None and i < from_version:
            continue
        node = out.node.add()
        node.CopyFrom(op.node_def)
        if add_shapes and op.outputs:
            node.attr["_output_shapes"].list.shape.extend(t.shape.as_proto() for t in op.outputs)
    return out


def _attr_value(proto: Any, is_list: bool) -> Any:
    which = proto.WhichOneof("value")
    if which == "list":
        for field in ("s", "i", "f", "b", "type", "shape", "tensor", "func"):
            items = getattr(proto.list, field)
            if len(items):
                return [_plain(field, i) for i in items]
        return []
    return _plain(which, getattr(proto, which)) if which else None


def _plain(field: str, value: Any) -> Any:
    if field == "shape":
        return tensor_shape.TensorShape(value)
    if field == "tensor":
        return make_ndarray(value)
    if field == "func":
        return value.name
    return value


def import_graph_def(
    graph_def: Any, input_map: Any = None, return_elements: Any = None, name: str | None = None, op_dict: Any = None,
    producer_op_list: Any = None,
) -> Any:
    """Adds the nodes of a GraphDef to the default graph, below the scope `name` ("import")."""
    graph = ops.get_default_graph()
    input_map = {str(k): v for k, v in (input_map or {}).items()}
    with graph.name_scope(name if name is not None else "import") as scope:
        made: dict[str, Any] = {}
        pending = list(graph_def.node)
        while pending:
            left = []
            for node in pending:
                if all(_source(i)[0] in made or i in input_map or _source(i)[0] + ":" + str(_source(i)[1]) in input_map for i in node.input):
                    made[node.name] = _import_node(graph, node, made, input_map, scope)
                else:
                    left.append(node)
            if len(left) == len(pending):
                raise ValueError(f"graph_def is invalid at node {left[0].name!r}: an input does not exist, or the graph has a cycle")
            pending = left
    if return_elements is None:
        return None
    return [made[n] if ":" not in n else made[n.split(":")[0]].outputs[int(n.split(":")[1])] for n in return_elements]


def _source(text: str) -> tuple[str, int]:
    text = text.lstrip("^")
    name, _, index = text.partition(":")
    return name, int(index or 0)


def _import_node(graph: Any, node: Any, made: dict[str, Any], input_map: dict[str, Any], scope: str) -> Any:
    inputs, controls = [], []
    for text in node.input:
        name, index = _source(text)
        if text.startswith("^"):
            controls.append(made[name]._node)
        elif text in input_map or f"{name}:{index}" in input_map:
            inputs.append(input_map.get(text, input_map.get(f"{name}:{index}"))._out)
        else:
            inputs.append(made[name].outputs[index]._out)
    op_type = {"VariableV2": "Variable"}.get(node.op, node.op)
    if _core.find_op(op_type) is None:
        raise ValueError(f"No op named {node.op} in defined operations.")
    attrs = {k: _attr_value(v, False) for k, v in node.attr.items() if k not in ("_output_shapes",)}
    if "_class" in attrs and scope:
        prefix = b"loc:@"
        attrs["_class"] = [prefix + scope.encode() + c[len(prefix) :] for c in attrs["_class"]]
    core_node = graph._core.add(op_type, inputs, attrs, scope + node.name, controls, "", True)
    op = graph._op_of(core_node)
    if node.device:
        op._set_device(node.device)
    return op
