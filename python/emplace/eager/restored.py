"""The objects of a SavedModel: variables, tables, functions, under the names they had when they were saved."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from emplace.eager import context, function_defs, restored_functions, variables
from emplace.framework import checkpoints, gen, graph_io

_GRAPH_KEY, _VALUE = "_CHECKPOINTABLE_OBJECT_GRAPH", "VARIABLE_VALUE"


class _UserObject:
    """An object of a class that is not known here: what it held, and whether it could be called."""

    def _trackable_children(self, save_type: str = "checkpoint", **kwargs: Any) -> dict[str, Any]:
        return {k: v for k, v in vars(self).items() if isinstance(v, (variables.Variable, _UserObject, list, dict)) and k != "signatures"}

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        call = vars(self).get("__call__")
        if call is None:
            raise TypeError(f"'{type(self).__name__}' object is not callable")
        return call(*args, **kwargs)


class Resource:
    """A table, or something else that lives in the runtime: made by a function of the model."""

    def __init__(self) -> None:
        self._handle: Any = None

    @property
    def resource_handle(self) -> Any:
        if self._handle is None:
            with context.eager_mode():
                self._handle = self._create_resource()  # type: ignore[attr-defined]
        return self._handle


    def _fill(self, keys: Any, values: Any) -> None:
        """With what a table that can be changed held when it was saved."""
        from emplace.eager import tensor

        gen.apply("LookupTableImportV2", [self._handle, tensor.constant(keys), tensor.constant(values)], {})


class Asset:
    """A file that came along with the model."""

    def __init__(self, path: str) -> None:
        self.path = path

    @property
    def asset_path(self) -> Any:
        from emplace.eager import tensor

        return tensor.constant(self.path)


class _Signatures(dict[str, Any]):
    def __repr__(self) -> str:
        return f"_SignatureMap({dict.__repr__(self)})"


class Loader:
    """Makes the objects of one MetaGraphDef; `root` is the one that was saved."""

    def __init__(self, meta: Any, export_dir: str) -> None:
        self._meta, self._dir = meta, export_dir
        self._saved = meta.object_graph_def
        self._library = function_defs.Library(meta.graph_def)
        self._concrete: dict[str, Any] = {}
        self._values = _checkpoint_values(self._saved, os.path.join(export_dir, "variables", "variables"))
        self.objects = [self._made(i, node) for i, node in enumerate(self._saved.nodes)]
        for node, obj in zip(self._saved.nodes, self.objects):
            self._connect(node, obj)
        for i, obj in enumerate(self.objects):
            if isinstance(obj, Resource) and hasattr(obj, "_initialize"):
                obj.resource_handle
                obj._initialize()
                if i in self._values:
                    obj._fill(*self._values[i])
        self.root = self.objects[0]

    def _made(self, i: int, node: Any) -> Any:
        kind = node.WhichOneof("kind")
        if kind == "variable":
            return self._variable(i, node.variable)
        if kind == "function":
            return restored_functions.Function(self, node.function)
        if kind == "bare_concrete_function":
            return restored_functions.Signature(self, node.bare_concrete_function)
        if kind == "constant":
            return self._constant(node.constant.operation)
        if kind == "asset":
            return Asset(os.path.join(self._dir, "assets", self._meta.asset_file_def[node.asset.asset_file_def_index].filename))
        if kind == "resource":
            return Resource()
        return _container(node.user_object.identifier)

    def _variable(self, i: int, saved: Any) -> Any:
        from emplace.framework import dtypes, tensor_shape

        dtype, shape = dtypes.as_dtype(saved.dtype), tensor_shape.TensorShape(saved.shape)
        value = self._values.get(i)
        if value is None:  # never saved: what is not restored has no value worth keeping
            value = np.zeros([d or 0 for d in shape.as_list()], object if dtype == dtypes.string else dtype.as_numpy_dtype)
        return variables.Variable(value, trainable=saved.trainable, name=saved.name or None, dtype=dtype, shape=shape)

    def _constant(self, operation: str) -> Any:
        from emplace.eager import tensor

        node = next(n for n in self._meta.graph_def.node if n.name == operation)
        proto = node.attr["value"].tensor
        return tensor.constant(graph_io.make_ndarray(proto), proto.dtype)

    def _connect(self, node: Any, obj: Any) -> None:
        for child in node.children:
            value = self.objects[child.node_id]
            if isinstance(obj, list):
                while len(obj) <= int(child.local_name):
                    obj.append(None)
                obj[int(child.local_name)] = value
            elif isinstance(obj, dict):
                obj[child.local_name] = value
            elif isinstance(obj, (_UserObject, Resource)):
                vars(obj)[child.local_name] = value

    # ---- For the functions.

    def concrete(self, name: str) -> Any:
        if name not in self._concrete:
            self._concrete[name] = restored_functions.concrete(self, name)
        return self._concrete[name]

    def saved_concrete(self, name: str) -> Any:
        return self._saved.concrete_functions[name]

    @property
    def library(self) -> function_defs.Library:
        return self._library

    def captured(self, i: int) -> Any:
        """The tensor that stands for object i in a call."""
        obj = self.objects[i]
        if isinstance(obj, variables.Variable):
            return obj.handle
        if isinstance(obj, Resource):
            return obj.resource_handle
        if isinstance(obj, Asset):
            return obj.asset_path
        if hasattr(obj, "_numpy_of_eager"):
            return obj
        raise NotImplementedError(f"a function that takes object {i} of the SavedModel ({self._saved.nodes[i].WhichOneof('kind')}) along")


def _container(identifier: str) -> Any:
    if identifier in ("trackable_list_wrapper", "trackable_tuple_wrapper"):
        return []
    if identifier == "trackable_dict_wrapper":
        return {}
    return _Signatures() if identifier == "signature_map" else _UserObject()


def _checkpoint_values(saved: Any, prefix: str) -> dict[int, Any]:
    """The values of variables, and the keys and values of tables, by the number of the object: both graphs of objects
    are walked by name."""
    from emplace.proto import saved_model_pb2

    if not os.path.exists(prefix + ".index"):
        return {}
    reader = checkpoints.CheckpointReader(prefix)
    message = reader.get_tensor(_GRAPH_KEY)
    there = saved_model_pb2.TrackableObjectGraph.FromString(message if isinstance(message, bytes) else message.item())
    values: dict[int, Any] = {}
    stack, seen = [(0, 0)], {0}
    while stack:
        here, other = stack.pop()
        for attribute in there.nodes[other].attributes:
            key = attribute.checkpoint_key
            if attribute.name == _VALUE:
                values[here] = reader.get_tensor(key)
            elif attribute.name == "table" and reader.has_tensor(f"{key}-keys"):
                values[here] = (reader.get_tensor(f"{key}-keys"), reader.get_tensor(f"{key}-values"))
        by_name = {c.local_name: c.node_id for c in there.nodes[other].children}
        for child in [*saved.nodes[here].children, *saved.nodes[here].dependencies]:
            if child.local_name in by_name and child.node_id not in seen:
                seen.add(child.node_id)
                stack.append((child.node_id, by_name[child.local_name]))
    return values


def load(meta: Any, export_dir: str) -> Any:
    """The object that was saved; like TensorFlow's it knows its signatures and who wrote it."""
    root = Loader(meta, export_dir).root
    if isinstance(root, _UserObject):
        vars(root).setdefault("signatures", _Signatures())
        root.tensorflow_version = meta.meta_info_def.tensorflow_version
        root.tensorflow_git_version = meta.meta_info_def.tensorflow_git_version
    return root

