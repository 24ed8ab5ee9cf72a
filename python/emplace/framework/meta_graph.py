"""MetaGraphDefs: a graph with its collections and what is needed to use it."""

from __future__ import annotations

import os
from typing import Any

from emplace.framework import graph_io, ops
from emplace.framework import variables as _variables
from emplace.framework.ops import GraphKeys

VERSION = "1.15.0"  # the generation whose form is written

_VARIABLES = (
    GraphKeys.GLOBAL_VARIABLES, GraphKeys.LOCAL_VARIABLES, GraphKeys.TRAINABLE_VARIABLES, GraphKeys.MODEL_VARIABLES,
    GraphKeys.MOVING_AVERAGE_VARIABLES, GraphKeys.METRIC_VARIABLES, GraphKeys.CONCATENATED_VARIABLES, GraphKeys.GLOBAL_STEP,
)


# ---- Out.


def create_meta_graph_def(
    graph: Any = None, saver_def: Any = None, collection_list: Any = None, clear_devices: bool = False, strip_default_attrs: bool = False,
    tags: Any = (),
) -> Any:
    from emplace.proto import saved_model_pb2

    graph = graph or ops.get_default_graph()
    meta = saved_model_pb2.MetaGraphDef()
    meta.meta_info_def.tensorflow_version = VERSION
    meta.meta_info_def.stripped_default_attrs = strip_default_attrs
    meta.meta_info_def.tags.extend(tags)
    meta.graph_def.CopyFrom(graph_io.graph_def(graph, add_shapes=True, strip_default_attrs=strip_default_attrs))
    if clear_devices:
        for node in meta.graph_def.node:
            node.device = ""
    if saver_def is not None:
        meta.saver_def.CopyFrom(saver_def)
    for key in graph.get_all_collection_keys() if collection_list is None else collection_list:
        add_collection_def(meta, key, graph)
    return meta


def add_collection_def(meta: Any, key: str, graph: Any) -> None:
    """A collection in the form that its values allow; what has none is left out."""
    values = graph.get_collection(key)
    if not values or not isinstance(key, str):
        return
    out = meta.collection_def[key]
    try:
        if all(hasattr(v, "to_proto") for v in values):
            out.bytes_list.value.extend(v.to_proto().SerializeToString() for v in values)
        elif all(isinstance(v, (ops.Tensor, ops.Operation)) or hasattr(v, "_as_graph_element") for v in values):
            out.node_list.value.extend(graph.as_graph_element(v).name for v in values)
        elif all(isinstance(v, (str, bytes)) for v in values):
            out.bytes_list.value.extend(v.encode() if isinstance(v, str) else v for v in values)
        elif all(isinstance(v, int) for v in values):
            out.int64_list.value.extend(values)
        else:
            out.float_list.value.extend(values)
    except (AttributeError, TypeError, ValueError):
        del meta.collection_def[key]


def export_meta_graph(
    filename: Any = None, meta_info_def: Any = None, graph_def: Any = None, saver_def: Any = None, collection_list: Any = None,
    as_text: bool = False, graph: Any = None, export_scope: str | None = None, clear_devices: bool = False,
    clear_extraneous_savers: bool = False, strip_default_attrs: bool = False, save_debug_info: bool = False, **_: Any,
) -> Any:
    """The graph, its collections and saver as a MetaGraphDef, also written to `filename` if one is given."""
    if export_scope:
        raise NotImplementedError("export_scope is not supported: export the whole graph")
    meta = create_meta_graph_def(graph, saver_def, collection_list, clear_devices, strip_default_attrs)
    if meta_info_def is not None:
        meta.meta_info_def.MergeFrom(meta_info_def)
    if graph_def is not None:
        meta.graph_def.CopyFrom(graph_io._as_graph_def(graph_def))
    if filename:
        write(meta, filename, as_text)
    return meta


def write(message: Any, filename: Any, as_text: bool) -> None:
    from google.protobuf import text_format

    filename = os.fspath(filename)
    os.makedirs(os.path.dirname(filename) or ".", exist_ok=True)
    graph_io.write_atomically(filename, text_format.MessageToString(message).encode() if as_text else message.SerializeToString())


# ---- In.


def read_meta_graph_file(filename: Any) -> Any:
    from google.protobuf import message as _message
    from google.protobuf import text_format

    from emplace.proto import saved_model_pb2

    filename = os.fspath(filename)
    if not os.path.exists(filename):
        raise OSError(f"File does not exist. Received: {filename}.")
    content = graph_io.read_to_parse(filename)
    meta = saved_model_pb2.MetaGraphDef()
    try:
        meta.ParseFromString(content)
        return meta
    except _message.DecodeError:
        pass
    try:
        return text_format.Merge(content.decode("utf-8"), saved_model_pb2.MetaGraphDef())
    except (text_format.ParseError, UnicodeDecodeError) as e:
        raise OSError(f"Cannot parse file {filename}: {e}.") from None


def scope_of(meta: Any, import_scope: str | None) -> str:
    return import_scope or ""


def import_meta_graph(
    meta_graph_or_file: Any, clear_devices: bool = False, import_scope: str | None = None, input_map: Any = None, unbound_inputs_col_name: str = "unbound_inputs",
    restore_collections_predicate: Any = lambda key: True, return_elements: Any = None, **_: Any,
) -> Any:
    """Adds the graph and the collections of a MetaGraphDef to the default graph; returns the message."""
    from emplace.proto import saved_model_pb2

    if isinstance(meta_graph_or_file, (str, bytes)) or hasattr(meta_graph_or_file, "__fspath__"):
        meta = read_meta_graph_file(meta_graph_or_file)
    else:
        meta = saved_model_pb2.MetaGraphDef.FromString(meta_graph_or_file.SerializeToString())
    graph_def = meta.graph_def
    if clear_devices:
        graph_def = type(graph_def)()
        graph_def.CopyFrom(meta.graph_def)
        for node in graph_def.node:
            node.device = ""
    producer_ops = meta.meta_info_def.stripped_op_list if meta.meta_info_def.HasField("stripped_op_list") else None
    graph_io.import_internal(graph_def, input_map, return_elements, import_scope or "", producer_op_list=producer_ops)
    graph = ops.get_default_graph()
    for key, collection in sorted(meta.collection_def.items()):
        if restore_collections_predicate(key):
            _restore_collection(graph, key, collection, f"{import_scope}/" if import_scope else "")
    return meta


def _restore_collection(graph: Any, key: str, collection: Any, prefix: str) -> None:
    kind = collection.WhichOneof("kind")
    if kind is None:
        return
    values = list(getattr(collection, kind).value)
    if kind == "node_list":
        for name in values:
            try:
                graph.add_to_collection(key, graph.as_graph_element(_below(prefix, name)))
            except (KeyError, ValueError):
                continue
    elif kind == "bytes_list" and key in _VARIABLES:
        for content in values:
            variable = variable_from_bytes(graph, content, prefix)
            if variable is not None:
                graph.add_to_collection(key, variable)
    elif kind == "any_list":
        return
    else:
        for value in values:
            graph.add_to_collection(key, value)


def _below(prefix: str, name: str) -> str:
    return f"^{prefix}{name[1:]}" if name.startswith("^") else prefix + name


def variable_from_bytes(graph: Any, content: bytes, prefix: str = "") -> Any:
    """The variable that a VariableDef speaks of; the same one for every collection it is in."""
    from emplace.proto import saved_model_pb2

    definition = saved_model_pb2.VariableDef.FromString(content)
    seen = graph._extra.setdefault("imported_variables", {})
    name = prefix + definition.variable_name
    if name not in seen:
        seen[name] = _make_variable(graph, definition, prefix)
    return seen[name]


def _make_variable(graph: Any, definition: Any, prefix: str) -> Any:
    element = graph.as_graph_element
    variable: Any = _ImportedResource.__new__(_ImportedResource) if definition.is_resource else _variables.Variable.__new__(_variables.Variable)
    variable._graph = graph
    variable._trainable = definition.trainable
    variable._constraint = None
    variable._save_slice_info = _SliceInfo(definition.save_slice_info_def) if definition.HasField("save_slice_info_def") else None
    variable._synchronization = _variables.VariableSynchronization(definition.synchronization)
    variable._aggregation = _variables.VariableAggregation(definition.aggregation)
    variable._variable = element(prefix + definition.variable_name)
    variable._initializer_op = element(prefix + definition.initializer_name)
    variable._snapshot = element(prefix + definition.snapshot_name)
    variable._initial_value = element(prefix + definition.initial_value_name) if definition.initial_value_name else None
    return variable


class _SliceInfo:
    """Which part of a larger variable this one is."""

    def __init__(self, proto: Any) -> None:
        self.full_name = proto.full_name
        self.full_shape, self.var_offset, self.var_shape = list(proto.full_shape), list(proto.var_offset), list(proto.var_shape)

    @property
    def spec(self) -> str:
        whole = " ".join(str(d) for d in self.full_shape)
        return whole.replace(" ", ",") + " " + ":".join(f"{o},{s}" for o, s in zip(self.var_offset, self.var_shape))


class _ImportedResource(_variables.Variable):
    """A resource variable of an imported graph."""

    @property
    def handle(self) -> Any:
        return self._variable

    @property
    def dtype(self) -> Any:
        return self._snapshot.dtype

    @property
    def shape(self) -> Any:
        return self._snapshot.shape

    def read_value(self) -> Any:
        from emplace.framework.dispatch import execute

        return execute("ReadVariableOp", [self._variable], {"dtype": self.dtype}, None)

    def _as_graph_element(self) -> Any:
        return self._snapshot

    def _dense_var_to_tensor(self, dtype: Any = None, name: Any = None, as_ref: bool = False) -> Any:
        return self._snapshot

    def eval(self, session: Any = None) -> Any:
        return self._snapshot.eval(session=session)

    def to_proto(self, export_scope: Any = None) -> Any:
        message = super().to_proto(export_scope)
        message.is_resource = True
        return message
