"""Graphs, operations and tensors of graph programs."""

from __future__ import annotations

import contextlib
import functools
import re
import sys
import threading
from typing import Any, Callable, Iterator

from emplace import _core
from emplace.framework import dtypes, errors, tensor_shape

_core.set_exception_factory(errors.from_core)

_PACKAGE = __name__.rsplit(".", 2)[0] + "."
_SCOPE_NAME = re.compile(r"^[A-Za-z0-9_.\\/>-]*$")
_OP_NAME = re.compile(r"^[A-Za-z0-9.][A-Za-z0-9_.\\/>-]*$")


def _user_line() -> str:
    """`file:line` of the nearest caller outside this package."""
    frame = sys._getframe(2)
    while frame is not None:
        if not frame.f_globals.get("__name__", "").startswith(_PACKAGE):
            return f"{frame.f_code.co_filename}:{frame.f_lineno}"
        frame = frame.f_back  # type: ignore[assignment]
    return ""


def _building_error(e: errors.OpError) -> Exception:
    """What TensorFlow raises where the engine refuses a node."""
    if isinstance(e, errors.InvalidArgumentError) or isinstance(e, errors.AlreadyExistsError):
        return ValueError(e.message)
    if isinstance(e, errors.FailedPreconditionError) and "finalized" in e.message:
        return RuntimeError(e.message)
    return e


class Operation:
    """A node of a graph."""

    __slots__ = ("_graph", "_node", "_outputs", "_extra", "__weakref__")

    def __init__(self, graph: "Graph", node: Any) -> None:
        self._graph = graph
        self._node = node
        self._outputs: list[Tensor] | None = None
        self._extra: dict[str, Any] | None = None

    @property
    def graph(self) -> "Graph":
        return self._graph

    @property
    def name(self) -> str:
        return self._node.name

    @property
    def type(self) -> str:
        return self._node.type

    @property
    def device(self) -> str:
        return self._node.device

    @property
    def _id(self) -> int:
        return self._node.id

    @property
    def outputs(self) -> list["Tensor"]:
        if self._outputs is None:
            node = self._node
            self._outputs = [Tensor._make(self, i, t) for i, t in enumerate(node.output_types())]
        return self._outputs

    @property
    def inputs(self) -> tuple["Tensor", ...]:
        g = self._graph
        return tuple(g._tensor_of(o) for o in self._node.inputs)

    @property
    def control_inputs(self) -> list["Operation"]:
        return [self._graph._op_of(n) for n in self._node.control_inputs]

    @property
    def _control_outputs(self) -> list["Operation"]:
        return [op for op in self._graph.get_operations() if self in op.control_inputs]

    @property
    def node_def(self) -> Any:
        from emplace.framework import graph_io

        return graph_io.node_def(self)

    @property
    def op_def(self) -> Any:
        return _core.find_op(self.type)

    @property
    def traceback(self) -> list[str]:
        return [self._node.source]

    def colocation_groups(self) -> list[bytes]:
        return [g.encode() for g in self._node.colocation_groups]

    def get_attr(self, name: str) -> Any:
        try:
            value = self._node.attr(name)
        except KeyError:
            raise ValueError(f"Operation '{self.name}' has no attr named '{name}'.") from None
        kind = self._node.attr_kind(name)
        if kind == _KIND_TYPE:
            return dtypes.as_dtype(value)
        if kind == _KIND_TYPE_LIST:
            return [dtypes.as_dtype(v) for v in value]
        if kind == _KIND_SHAPE:
            return tensor_shape.TensorShape._of(value).as_proto()
        if kind == _KIND_TENSOR:
            from emplace.framework import graph_io

            return graph_io.make_tensor_proto(value)
        return value

    def values(self) -> tuple["Tensor", ...]:
        return tuple(self.outputs)

    def run(self, feed_dict: Any = None, session: Any = None) -> None:
        _evaluate(self, feed_dict, self._graph, session)

    def _set_device(self, device: Any) -> None:
        self._graph._core.set_device(self._node, _device_text(device))

    def _set_attr(self, name: str, value: Any) -> None:
        core = self._graph._core
        if isinstance(value, bool):
            core.set_bool_attr(self._node, name, value)
        elif isinstance(value, int):
            core.set_int_attr(self._node, name, value)
        elif isinstance(value, (list, tuple)):
            core.set_string_list_attr(self._node, name, list(value))
        else:
            core.set_string_attr(self._node, name, value.encode() if isinstance(value, str) else value)

    def _add_control_input(self, op: "Operation") -> None:
        self._graph._core.add_control_input(self._node, op._node)

    def _add_control_inputs(self, ops: Any) -> None:
        for op in ops:
            self._add_control_input(op)

    def _update_input(self, index: int, tensor: "Tensor") -> None:
        self._graph._core.update_input(self._node, index, tensor._out)

    def __repr__(self) -> str:
        return f"<tf.Operation '{self.name}' type={self.type}>"

    def __str__(self) -> str:
        return str(self.node_def)


# Positions in the engine's attribute variant.
_KIND_TYPE, _KIND_SHAPE, _KIND_TENSOR, _KIND_TYPE_LIST = 5, 6, 7, 13


class Tensor:
    """One output of an operation: a value that a session will compute."""

    __slots__ = ("_op", "_index", "_dtype", "_cached_out", "_extra", "assign", "__weakref__")
    __array_priority__ = 100
    OVERLOADABLE_OPERATORS: set[str] = set()

    def __init__(self, op: Operation, value_index: int, dtype: Any) -> None:
        if not isinstance(op, Operation):
            raise TypeError(f"op needs to be an Operation: {op!r}")
        self._op = op
        self._index = value_index
        self._dtype = dtypes.as_dtype(dtype)
        self._cached_out: Any = None
        self._extra: dict[str, Any] | None = None

    @classmethod
    def _make(cls, op: Operation, index: int, type_enum: int) -> "Tensor":
        t = cls.__new__(cls)
        t._op = op
        t._index = index
        t._dtype = dtypes._BY_NUMBER[type_enum]
        t._cached_out = None
        t._extra = None
        return t

    @property
    def _out(self) -> Any:
        if self._cached_out is None:
            self._cached_out = self._op._node.output(self._index)
        return self._cached_out

    @property
    def op(self) -> Operation:
        return self._op

    @property
    def graph(self) -> "Graph":
        return self._op._graph

    @property
    def name(self) -> str:
        return f"{self._op.name}:{self._index}"

    @property
    def dtype(self) -> dtypes.DType:
        return self._dtype

    @property
    def value_index(self) -> int:
        return self._index

    @property
    def device(self) -> str:
        return self._op.device

    @property
    def shape(self) -> tensor_shape.TensorShape:
        return tensor_shape.TensorShape._of(self._out.shape)

    def get_shape(self) -> tensor_shape.TensorShape:
        return self.shape

    def set_shape(self, shape: Any) -> None:
        s = tensor_shape.as_shape(shape)
        if not self.shape.is_compatible_with(s):
            mine, given = self.shape, s
            if mine.rank != given.rank:
                raise ValueError(f"Shapes must be equal rank, but are {mine.rank} and {given.rank}")
            for i, (a, b) in enumerate(zip(mine.as_list(), given.as_list())):
                if a is not None and b is not None and a != b:
                    raise ValueError(
                        f"Dimension {i} in both shapes must be equal, but are {a} and {b}. "
                        f"Shapes are {_brackets(mine)} and {_brackets(given)}."
                    )
        self.graph._core.set_shape(self._out, None if s.rank is None else s.as_list())

    @property
    def ndim(self) -> int | None:
        return self.shape.rank

    def _shape_tuple(self) -> tuple[int | None, ...] | None:
        return self.shape._dims

    def consumers(self) -> list[Operation]:
        found = []
        for op in self.graph.get_operations():
            for o in op._node.inputs:
                if o.index == self._index and o.node.id == self._op._node.id:
                    found.append(op)
        return found

    def eval(self, feed_dict: Any = None, session: Any = None) -> Any:
        return _evaluate(self, feed_dict, self.graph, session)

    def _as_node_def_input(self) -> str:
        return self._op.name if self._index == 0 else self.name

    def __iter__(self) -> Iterator["Tensor"]:
        raise errors.OperatorNotAllowedInGraphError(
            "Iterating over a symbolic `tf.Tensor` is not allowed. You can attempt the following "
            "resolutions to the problem: If you are running in Graph mode, use Eager execution mode "
            "or decorate this function with @tf.function."
        )

    def __bool__(self) -> bool:
        raise errors.OperatorNotAllowedInGraphError(
            "Using a symbolic `tf.Tensor` as a Python `bool` is not allowed. You can attempt the "
            "following resolutions to the problem: If you are running in Graph mode, use Eager "
            "execution mode or decorate this function with @tf.function."
        )

    def __len__(self) -> int:
        raise TypeError(
            f"len is not well defined for a symbolic Tensor ({self.name}). "
            "Please call `x.shape` rather than `len(x)` for shape information."
        )

    def __array__(self, *_: Any, **__: Any) -> Any:
        raise NotImplementedError(
            f"Cannot convert a symbolic tf.Tensor ({self.name}) to a numpy array. This error may "
            "indicate that you're trying to pass a Tensor to a NumPy call, which is not supported."
        )

    def __copy__(self) -> "Tensor":
        return self

    def __deepcopy__(self, _: Any) -> "Tensor":
        return self

    def __reduce__(self) -> Any:
        raise TypeError(f"{self!r} is a handle into a graph and can't be pickled; fetch its value and pickle that")

    def __hash__(self) -> int:
        return id(self)

    def __repr__(self) -> str:
        return f"<tf.Tensor '{self.name}' shape={self.shape} dtype={self._dtype.name}>"

    def __str__(self) -> str:
        shape = self.shape
        text = f', shape={shape}' if shape.rank is not None else ""
        device = f", device={self.device}" if self.device else ""
        return f'Tensor("{self.name}"{text}, dtype={self._dtype.name}{device})'


def _brackets(s: tensor_shape.TensorShape) -> str:
    return "[" + ",".join("?" if d is None else str(d) for d in s.as_list()) + "]"


class IndexedSlices:
    """Rows of a larger tensor: `values[i]` stands at `indices[i]`."""

    def __init__(self, values: Any, indices: Any, dense_shape: Any = None) -> None:
        self._values, self._indices, self._dense_shape = values, indices, dense_shape

    @property
    def values(self) -> Any:
        return self._values

    @property
    def indices(self) -> Any:
        return self._indices

    @property
    def dense_shape(self) -> Any:
        return self._dense_shape

    @property
    def name(self) -> str:
        return self._values.name

    @property
    def op(self) -> Operation:
        return self._values.op

    @property
    def graph(self) -> "Graph":
        return self._values.graph

    @property
    def device(self) -> str:
        return self._values.device

    @property
    def dtype(self) -> dtypes.DType:
        return self._values.dtype

    @property
    def shape(self) -> tensor_shape.TensorShape:
        if self._dense_shape is None:
            return tensor_shape.TensorShape(None)
        return tensor_shape.as_shape(constant_value(self._dense_shape))

    def __str__(self) -> str:
        extra = f", dense_shape={self._dense_shape}" if self._dense_shape is not None else ""
        return f"IndexedSlices(indices={self._indices}, values={self._values}{extra})"

    __repr__ = __str__


class GraphKeys:
    GLOBAL_VARIABLES = "variables"
    LOCAL_VARIABLES = "local_variables"
    METRIC_VARIABLES = "metric_variables"
    MODEL_VARIABLES = "model_variables"
    TRAINABLE_VARIABLES = "trainable_variables"
    MOVING_AVERAGE_VARIABLES = "moving_average_variables"
    SUMMARIES = "summaries"
    QUEUE_RUNNERS = "queue_runners"
    TABLE_INITIALIZERS = "table_initializer"
    ASSET_FILEPATHS = "asset_filepaths"
    BIASES = "biases"
    WEIGHTS = "weights"
    ACTIVATIONS = "activations"
    UPDATE_OPS = "update_ops"
    LOSSES = "losses"
    SAVEABLE_OBJECTS = "saveable_objects"
    SAVERS = "savers"
    REGULARIZATION_LOSSES = "regularization_losses"
    CONCATENATED_VARIABLES = "concatenated_variables"
    RESOURCES = "resources"
    LOCAL_RESOURCES = "local_resources"
    INIT_OP = "init_op"
    LOCAL_INIT_OP = "local_init_op"
    READY_OP = "ready_op"
    READY_FOR_LOCAL_INIT_OP = "ready_for_local_init_op"
    SUMMARY_OP = "summary_op"
    GLOBAL_STEP = "global_step"
    EVAL_STEP = "eval_step"
    TRAIN_OP = "train_op"
    COND_CONTEXT = "cond_context"
    WHILE_CONTEXT = "while_context"
    _SUMMARY_COLLECTION = "_SUMMARY_V2"


class Graph:
    """A graph of operations; building, looking up, scopes, collections."""

    def __init__(self) -> None:
        self._core = _core.Graph()
        self._ops: dict[int, Operation] = {}
        self._collections: dict[Any, list[Any]] = {}
        self._lock = threading.RLock()
        self._seed: int | None = None
        self._device_depth = threading.local()
        self._gradient_overrides: dict[str, str] = {}
        self._attr_scopes: dict[str, Any] = {}
        self._extra: dict[Any, Any] = {}
        self._unfeedable: set[Any] = set()
        self._functions: dict[str, Any] = {}

    # ---- Building.

    def _op_of(self, node: Any) -> Operation:
        op = self._ops.get(node.id)
        if op is None:
            op = self._ops.setdefault(node.id, Operation(self, node))
        return op

    def _tensor_of(self, out: Any) -> Tensor:
        return self._op_of(out.node).outputs[out.index]

    def _add(self, op_type: str, inputs: list[Any], attrs: dict[str, Any], name: str | None) -> Operation:
        """`inputs`: engine outputs, flattened. A name that ends in `/` is taken as it is."""
        exact = False
        if name is None:
            name = op_type
        elif name.endswith("/"):
            name, exact = name[:-1], True
        else:
            self._check_name(name)
        if self._attr_scopes:
            attrs = {**self._attr_scopes, **attrs}
        if op_type in self._gradient_overrides:
            attrs = {**attrs, "_gradient_op_type": self._gradient_overrides[op_type]}
        try:
            node = self._core.add(op_type, inputs, attrs, name, [], _user_line(), exact)
        except errors.OpError as e:
            raise _building_error(e) from None
        op = Operation(self, node)
        self._ops[node.id] = op
        return op

    def create_op(self, op_type: str, inputs: Any, dtypes: Any = None, input_types: Any = None, name: str | None = None, attrs: Any = None, op_def: Any = None, compute_shapes: bool = True, compute_device: bool = True) -> Operation:
        values = {k: getattr(v, "_plain", lambda v=v: v)() for k, v in (attrs or {}).items()}
        return self._add(op_type, [t._out for t in inputs], values, name)

    # ---- Scopes.

    def as_default(self) -> Any:
        return _default_graphs.scope(self)

    @contextlib.contextmanager
    def name_scope(self, name: Any) -> Iterator[str]:
        if name:
            if not isinstance(name, str):
                raise ValueError("name for name_scope must be a string.")
            self._check_name(name)
        scope = self._core.name_scope(name or "")
        try:
            yield self._core.current_name_scope()
        finally:
            scope.close()

    def _check_name(self, name: str) -> None:
        if self._core.current_name_scope():
            if not _SCOPE_NAME.match(name):
                raise ValueError(f"'{name}' is not a valid scope name. A scope name has to match the following pattern: {_SCOPE_NAME.pattern}")
        elif not _OP_NAME.match(name):
            raise ValueError(f"'{name}' is not a valid root scope name. A root scope name has to match the following pattern: {_OP_NAME.pattern}")

    def get_name_scope(self) -> str:
        return self._core.current_name_scope().rstrip("/")

    def device(self, device_name_or_function: Any) -> Any:
        return _DeviceScope(self, device_name_or_function)

    @contextlib.contextmanager
    def control_dependencies(self, control_inputs: Any) -> Iterator[None]:
        if control_inputs is None:
            scope = self._core.clear_control_dependencies()
        else:
            scope = self._core.control_dependencies(list(self._control_nodes(control_inputs)))
        try:
            yield
        finally:
            scope.close()

    def _control_nodes(self, control_inputs: Any) -> Iterator[Any]:
        for c in control_inputs:
            if isinstance(c, IndexedSlices):
                c = c.op
            elif not isinstance(c, (Operation, Tensor)) and hasattr(c, "_as_graph_element"):
                c = c._as_graph_element()
            c = self.as_graph_element(c)
            yield (c.op if isinstance(c, Tensor) else c)._node

    @contextlib.contextmanager
    def colocate_with(self, op: Any, ignore_existing: bool = False) -> Iterator[None]:
        if op is None and not ignore_existing:
            raise ValueError("Trying to reset colocation (op is None) but ignore_existing is not True")
        node = None if op is None else _op_of(op, self)._node
        scope = self._core.colocate_with(node, ignore_existing)
        try:
            yield
        finally:
            scope.close()

    @contextlib.contextmanager
    def gradient_override_map(self, op_type_map: Any) -> Iterator[None]:
        if not isinstance(op_type_map, dict):
            raise TypeError("op_type_map must be a dictionary mapping strings to strings")
        saved = dict(self._gradient_overrides)
        self._gradient_overrides.update(op_type_map)
        try:
            yield
        finally:
            self._gradient_overrides = saved

    @contextlib.contextmanager
    def _attr_scope(self, attrs: dict[str, Any]) -> Iterator[None]:
        saved = self._attr_scopes
        self._attr_scopes = {**saved, **attrs}
        try:
            yield
        finally:
            self._attr_scopes = saved

    @contextlib.contextmanager
    def container(self, container_name: str) -> Iterator[str]:
        saved = self._extra.get("container", "")
        self._extra["container"] = container_name
        try:
            yield container_name
        finally:
            self._extra["container"] = saved

    def unique_name(self, name: str, mark_as_used: bool = True) -> str:
        return self._core.unique_name(name, mark_as_used)

    # ---- Looking up.

    def get_operations(self) -> list[Operation]:
        return [self._op_of(n) for n in self._core.nodes()]

    def get_operation_by_name(self, name: str) -> Operation:
        if not isinstance(name, str):
            raise TypeError(f"Operation names are strings (or similar), not {type(name).__name__}.")
        return self.as_graph_element(name, allow_tensor=False)

    def get_tensor_by_name(self, name: str) -> Tensor:
        if not isinstance(name, str):
            raise TypeError(f"Tensor names are strings (or similar), not {type(name).__name__}.")
        return self.as_graph_element(name, allow_operation=False)

    def as_graph_element(self, obj: Any, allow_tensor: bool = True, allow_operation: bool = True) -> Any:
        if allow_tensor and allow_operation:
            types = "Tensor or Operation"
        elif allow_tensor:
            types = "Tensor"
        else:
            types = "Operation"
        if not isinstance(obj, (Tensor, Operation)) and hasattr(obj, "_as_graph_element"):
            obj = obj._as_graph_element()
        if isinstance(obj, bytes):
            obj = obj.decode()
        if isinstance(obj, str):
            return self._element_by_name(obj, allow_tensor, allow_operation)
        if isinstance(obj, Tensor) and allow_tensor:
            if obj.graph is not self:
                raise ValueError(f"Tensor {obj} is not an element of this graph.")
            return obj
        if isinstance(obj, Operation) and allow_operation:
            if obj.graph is not self:
                raise ValueError(f"Operation {obj.name!r} is not an element of this graph.")
            return obj
        raise TypeError(f"Can not convert a {type(obj).__name__} into a {types}.")

    def _element_by_name(self, name: str, allow_tensor: bool, allow_operation: bool) -> Any:
        if ":" in name and allow_tensor:
            op_name, _, index = name.partition(":")
            try:
                n = int(index)
            except ValueError:
                raise ValueError(f"The name {name!r} looks a like a Tensor name, but is not a valid one. Tensor names must be of the form \"<op_name>:<output_index>\".") from None
            node = self._core.find(op_name)
            if node is None:
                raise KeyError(f"The name {name!r} refers to a Tensor which does not exist. The operation, {op_name!r}, does not exist in the graph.")
            outputs = self._op_of(node).outputs
            if n >= len(outputs):
                raise KeyError(f"The name {name!r} refers to a Tensor which does not exist. The operation, {op_name!r}, exists but only has {len(outputs)} outputs.")
            return outputs[n]
        if ":" in name:
            raise ValueError(f"Name {name!r} appears to refer to a Tensor, not a Operation.")
        if not allow_operation:
            if self._core.find(name) is not None:
                raise ValueError(f"The name {name!r} refers to an Operation, not a Tensor. Tensor names must be of the form \"<op_name>:<output_index>\".")
            raise ValueError(f"The name {name!r} looks like an (invalid) Operation name, not a Tensor. Tensor names must be of the form \"<op_name>:<output_index>\".")
        node = self._core.find(name)
        if node is None:
            raise KeyError(f"The name {name!r} refers to an Operation not in the graph.")
        return self._op_of(node)

    def is_feedable(self, tensor: Any) -> bool:
        return tensor not in self._unfeedable

    def prevent_feeding(self, tensor: Any) -> None:
        self._unfeedable.add(tensor)

    def is_fetchable(self, _: Any) -> bool:
        return True

    # ---- State.

    def finalize(self) -> None:
        self._core.finalize()

    @property
    def finalized(self) -> bool:
        return self._core.finalized()

    def _check_not_finalized(self) -> None:
        if self.finalized:
            raise RuntimeError("Graph is finalized and cannot be modified.")

    @property
    def seed(self) -> int | None:
        return self._seed

    @seed.setter
    def seed(self, value: int | None) -> None:
        self._seed = value

    @property
    def version(self) -> int:
        return self._core.num_nodes()

    @property
    def _last_id(self) -> int:
        return self._core.num_nodes()

    @property
    def building_function(self) -> bool:
        return False

    def as_graph_def(self, from_version: Any = None, add_shapes: bool = False, **_: Any) -> Any:
        from emplace.framework import graph_io

        return graph_io.graph_def(self, from_version, add_shapes)

    # ---- Collections.

    def add_to_collection(self, name: Any, value: Any) -> None:
        self._check_not_finalized()
        self._collections.setdefault(name, []).append(value)

    def add_to_collections(self, names: Any, value: Any) -> None:
        names = (names,) if isinstance(names, str) else sorted(set(names), key=str)
        for name in names:
            self.add_to_collection(name, value)

    def get_collection_ref(self, name: Any) -> list[Any]:
        return self._collections.setdefault(name, [])

    def get_collection(self, name: Any, scope: str | None = None) -> list[Any]:
        items = self._collections.get(name, [])
        if scope is None:
            return list(items)
        regex = re.compile(scope)
        return [i for i in items if hasattr(i, "name") and i.name and regex.match(i.name)]

    @property
    def collections(self) -> list[Any]:
        return list(self._collections)

    def get_all_collection_keys(self) -> list[Any]:
        return [k for k in self._collections if isinstance(k, str)]

    def clear_collection(self, name: Any) -> None:
        self._collections.pop(name, None)

    def _repr_html_(self) -> str:
        from emplace.framework import pictures

        return pictures.graph_html(self)


def _op_of(value: Any, graph: Graph | None = None) -> Operation:
    if isinstance(value, Operation):
        return value
    if isinstance(value, (Tensor, IndexedSlices)):
        return value.op
    if hasattr(value, "op") and isinstance(value.op, Operation):
        return value.op
    return convert_to_tensor(value).op


# ---- Devices.


def _device_text(device: Any) -> str:
    if device is None:
        return ""
    if hasattr(device, "to_string"):
        return device.to_string()
    return device


@functools.lru_cache(maxsize=1024)
def _canonical_device(name: str) -> str:
    from emplace.framework import device_spec

    return device_spec.DeviceSpec.from_string(name).to_string()


class _DeviceScope:
    """`with tf.device(…)`: a name, a DeviceSpec, a function of the operation, or None."""

    def __init__(self, graph: Graph, spec: Any) -> None:
        self._graph = graph
        if spec is not None and not callable(spec) and not isinstance(spec, str) and not hasattr(spec, "to_string"):
            raise TypeError(f"Device must be a name, a DeviceSpec, a function or None, not {spec!r}")
        self._spec = spec
        self._scope: Any = None

    def __enter__(self) -> None:
        spec: Any = self._spec
        if hasattr(spec, "to_string"):
            spec = spec.to_string()
        elif callable(spec):
            function, graph = spec, self._graph
            spec = lambda node: _device_text(function(Operation(graph, node)))  # noqa: E731
        elif isinstance(spec, str):
            spec = _canonical_device(spec)
        try:
            self._scope = self._graph._core.device(spec)
        except errors.InvalidArgumentError as e:
            raise ValueError(e.message) from None
        stack = self._stack()
        stack.append(self)

    def _stack(self) -> list[Any]:
        depth = self._graph._device_depth
        if not hasattr(depth, "stack"):
            depth.stack = []
        return depth.stack

    def __exit__(self, *_: Any) -> None:
        stack = self._stack()
        if not stack or stack[-1] is not self:
            raise RuntimeError("Exiting device scope without proper scope nesting.")
        stack.pop()
        self._scope.close()


# ---- Default graph and session.


class _DefaultStack(threading.local):
    def __init__(self) -> None:
        super().__init__()
        self.stack: list[Any] = []

    def scope(self, item: Any) -> "_StackScope":
        return _StackScope(self, item)


class _StackScope:
    __slots__ = ("_owner", "_item")

    def __init__(self, owner: _DefaultStack, item: Any) -> None:
        self._owner, self._item = owner, item

    def __enter__(self) -> Any:
        self._owner.stack.append(self._item)
        return self._item

    def __exit__(self, *_: Any) -> None:
        stack = self._owner.stack
        if not stack or stack[-1] is not self._item:
            raise AssertionError(f"Nesting violated for default stack of {type(self._item)} objects")
        stack.pop()


_default_graphs = _DefaultStack()
_default_sessions = _DefaultStack()
_global_graph: Graph | None = None


def get_default_graph() -> Graph:
    global _global_graph
    if _default_graphs.stack:
        return _default_graphs.stack[-1]
    if _global_graph is None:
        _global_graph = Graph()
    return _global_graph


def has_default_graph() -> bool:
    return bool(_default_graphs.stack) or _global_graph is not None


def reset_default_graph() -> None:
    global _global_graph
    if _default_graphs.stack:
        raise AssertionError("Do not use tf.reset_default_graph() to clear nested graphs. If you need a cleared graph, exit the nesting and create a new graph.")
    _global_graph = Graph()


def get_default_session() -> Any:
    return _default_sessions.stack[-1] if _default_sessions.stack else None


def _evaluate(fetch: Any, feed_dict: Any, graph: Graph, session: Any) -> Any:
    if session is None:
        session = get_default_session()
        if session is None:
            what = "evaluate tensor using `eval()`" if isinstance(fetch, Tensor) else "execute operation using `run()`"
            raise ValueError(f"Cannot {what}: No default session is registered. Use `with sess.as_default(){'' if isinstance(fetch, Tensor) else ':'}` or pass an explicit session to `{'eval' if isinstance(fetch, Tensor) else 'run'}(session=sess)`")
        if session.graph is not graph:
            raise ValueError("Cannot use the default session to evaluate tensor: the tensor's graph is different from the session's graph. Pass an explicit session to `eval(session=sess)`.")
    elif session.graph is not graph:
        raise ValueError("Cannot use the given session to evaluate tensor: the tensor's graph is different from the session's graph.")
    return session.run(fetch, feed_dict)


# ---- Converting values; the rest is in constant_op and gen.


def convert_to_tensor(value: Any, dtype: Any = None, name: str | None = None, preferred_dtype: Any = None, dtype_hint: Any = None, as_ref: bool = False) -> Any:
    from emplace.framework import constant_op

    return constant_op.convert_to_tensor(value, dtype, name, preferred_dtype or dtype_hint, as_ref)


def constant_value(tensor: Any) -> Any:
    """The value of a tensor known while building (a constant, or what follows from constants)."""
    from emplace.framework import constant_op

    return constant_op.constant_value(tensor)


def device(device_name_or_function: Any) -> Any:
    return get_default_graph().device(device_name_or_function)


def control_dependencies(control_inputs: Any) -> Any:
    return get_default_graph().control_dependencies(control_inputs)


def colocate_with(op: Any, ignore_existing: bool = False) -> Any:
    if hasattr(op, "_numpy_of_eager") or getattr(op, "_is_eager", False):
        return contextlib.nullcontext()
    return get_default_graph().colocate_with(op, ignore_existing)


def add_to_collection(name: Any, value: Any) -> None:
    get_default_graph().add_to_collection(name, value)


def add_to_collections(names: Any, value: Any) -> None:
    get_default_graph().add_to_collections(names, value)


def get_collection(key: Any, scope: str | None = None) -> list[Any]:
    return get_default_graph().get_collection(key, scope)


def get_collection_ref(key: Any) -> list[Any]:
    return get_default_graph().get_collection_ref(key)


class name_scope:
    """`with tf.name_scope(name, default_name, values) as scope`."""

    def __init__(self, name: Any, default_name: str | None = None, values: Any = None) -> None:
        if not (name is None or isinstance(name, str)):
            raise TypeError(f"`name` for name_scope must be a string, got {name!r}")
        self._name = default_name if name is None else name
        self._values = values
        if name is None and values is not None and self._name is None:
            raise ValueError(f"At least one of name ({name}) and default_name ({default_name}) must be provided.")

    @property
    def name(self) -> Any:
        return self._name

    def __enter__(self) -> str:
        from emplace.framework import dispatch

        self._graph_scope: Any = None
        if dispatch.runs_eagerly is not None and dispatch.runs_eagerly(self._values or ()):
            return f"{self._name}/"
        graph = graph_of(self._values) if self._values else get_default_graph()
        self._graph_scope = graph.as_default()
        self._graph_scope.__enter__()
        self._scope = graph.name_scope(self._name)
        try:
            return self._scope.__enter__()
        except BaseException:
            self._graph_scope.__exit__(*sys.exc_info())
            raise

    def __exit__(self, *e: Any) -> None:
        if self._graph_scope is not None:
            self._scope.__exit__(*e)
            self._graph_scope.__exit__(*e)


def graph_of(values: Any) -> Graph:
    for v in values:
        if isinstance(v, (Tensor, Operation, IndexedSlices)):
            return v.graph
        if hasattr(v, "_as_graph_element"):
            return v.graph
    return get_default_graph()


def is_tensor(value: Any) -> bool:
    """A tensor, of a graph or of eager execution, or something that stands for one."""
    return isinstance(value, Tensor) or hasattr(value, "_dense_var_to_tensor") or hasattr(value, "_numpy_of_eager") or isinstance(value, IndexedSlices)
