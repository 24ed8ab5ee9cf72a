"""Variables held as resources: a handle, and operations that read and write behind it."""

from __future__ import annotations

import contextlib
from typing import Any

from emplace.framework import array_ops, dtypes, operators, ops, tensor_shape
from emplace.framework.dispatch import execute as _op
from emplace.framework.ops import name_scope
from emplace.framework.variables import Variable


class ResourceVariable(Variable):
    """Nodes: NAME/Initializer/…, NAME (the handle), NAME/IsInitialized/VarIsInitializedOp,
    NAME/Assign, NAME/Read/ReadVariableOp. Every use reads anew."""

    _should_act_as_resource_variable = True

    def _build(self, initial_value: Any, name: str | None, dtype: Any, validate_shape: bool, caching_device: Any) -> None:
        from_function = callable(initial_value)
        self._caching_device = caching_device
        with name_scope(name, "Variable", [] if from_function else [initial_value]) as scope:
            plain = scope.rstrip("/")
            with self._graph._attr_scope({"_class": [b"loc:@" + plain.encode()]}):
                with name_scope("Initializer"), ops.device(None):
                    value = initial_value() if from_function else initial_value
                    self._initial_value = ops.convert_to_tensor(value, name="initial_value", dtype=dtype)
            value = self._initial_value
            self._dtype = value.dtype.base_dtype
            shape = value.shape if validate_shape else tensor_shape.unknown_shape()
            attrs = {"dtype": self._dtype, "shape": shape, "shared_name": plain}
            self._handle = _op("VarHandleOp", [], attrs, scope)
            self._shape = shape
            with name_scope("IsInitialized"):
                self._is_initialized_op = _op("VarIsInitializedOp", [self._handle], {})
            with name_scope("Assign") as assign_scope, _uncolocated(self._handle):
                self._initializer_op = _op("AssignVariableOp", [self._handle, value], {}, assign_scope)
            with name_scope("Read"):
                self._graph_element = self._read("ReadVariableOp", colocate=True)

    # ---- What it is.

    @property
    def name(self) -> str:
        return self._handle.name

    @property
    def handle(self) -> Any:
        return self._handle

    @property
    def op(self) -> Any:
        return self._handle.op

    @property
    def device(self) -> str:
        return self._handle.device

    @property
    def dtype(self) -> dtypes.DType:
        return self._dtype

    @property
    def shape(self) -> tensor_shape.TensorShape:
        return self._shape

    def set_shape(self, shape: Any) -> None:
        self._shape = self._shape.merge_with(shape)

    @property
    def create(self) -> Any:
        return self._initializer_op

    # ---- Its value.

    def _read(self, name: str | None = None, colocate: bool = False) -> Any:
        with contextlib.nullcontext() if colocate else _uncolocated(self._handle):
            value = _op("ReadVariableOp", [self._handle], {"dtype": self._dtype}, name)
        value.set_shape(self._shape)
        return value

    def value(self) -> Any:
        if self._caching_device is not None:
            with ops.device(self._caching_device):
                return self._read()
        return self._read()

    def read_value(self) -> Any:
        with name_scope("Read"):
            value = self._read()
        return array_ops.identity(value)

    def initialized_value(self) -> Any:
        from emplace.framework import cond

        with self._graph.control_dependencies(None):
            return cond.cond(self.is_initialized(), self.read_value, lambda: self.initial_value)

    def sparse_read(self, indices: Any, name: str | None = None) -> Any:
        with name_scope("Gather" if name is None else name) as scope:
            return _op("ResourceGather", [self._handle, ops.convert_to_tensor(indices, name="indices")], {"dtype": self._dtype}, scope)

    def gather_nd(self, indices: Any, name: str | None = None) -> Any:
        with name_scope("GatherNd" if name is None else name) as scope:
            return _op("ResourceGatherNd", [self._handle, indices], {"dtype": self._dtype}, scope)

    def is_initialized(self, name: str | None = None) -> Any:
        return _op("VarIsInitializedOp", [self._handle], {}, name)

    def _ref(self) -> Any:
        return self._handle

    def _as_graph_element(self) -> Any:
        return self._graph_element

    def _dense_var_to_tensor(self, dtype: Any = None, name: Any = None, as_ref: bool = False) -> Any:
        if dtype is not None and not dtype.is_compatible_with(self.dtype):
            raise ValueError(f"Incompatible type conversion requested to type '{dtype.name}' for variable of type '{self.dtype.name}' ({self})")
        return self._handle if as_ref else self.value()

    def eval(self, session: Any = None) -> Any:
        return self._graph_element.eval(session=session)

    # ---- Changing it.

    def _update(self, op: str, value: Any, name: str | None, read_value: bool) -> Any:
        value = ops.convert_to_tensor(value, dtype=self._dtype)
        if not self._shape.is_compatible_with(value.shape):
            raise ValueError(f"Cannot assign value to variable '{self.name}': Shape mismatch.The variable shape {self._shape}, and the assigned value shape {value.shape} are incompatible.")
        made = _op(op, [self._handle, value], {}, name)
        return _Updated(self, made) if read_value else made

    def assign(self, value: Any, use_locking: Any = None, name: str | None = None, read_value: bool = True) -> Any:
        return self._update("AssignVariableOp", value, name, read_value)

    def assign_add(self, delta: Any, use_locking: Any = None, name: str | None = None, read_value: bool = True) -> Any:
        return self._update("AssignAddVariableOp", delta, name, read_value)

    def assign_sub(self, delta: Any, use_locking: Any = None, name: str | None = None, read_value: bool = True) -> Any:
        return self._update("AssignSubVariableOp", delta, name, read_value)

    def _scatter(self, op: str, slices: Any, use_locking: bool, name: str | None) -> Any:
        if not isinstance(slices, ops.IndexedSlices):
            raise TypeError(f"sparse_delta is not IndexedSlices: {slices}")
        return self._scattered(op, slices.indices, slices.values, name)

    def _scattered(self, op: str, indices: Any, updates: Any, name: str | None) -> Any:
        values = ops.convert_to_tensor(updates, dtype=self._dtype)
        return _Updated(self, _op(f"Resource{op}", [self._handle, indices, values], {}, name))

    def _scattered_nd(self, op: str, indices: Any, updates: Any, name: str | None) -> Any:
        return self._scattered(op, indices, updates, name)

    def _assign_slice(self, begin: Any, end: Any, strides: Any, value: Any, masks: dict[str, int], name: str | None) -> Any:
        value = ops.convert_to_tensor(value, dtype=self._dtype)
        return _Updated(self, _op("ResourceStridedSliceAssign", [self._handle, begin, end, strides, value], masks, name))

    def __bool__(self) -> bool:
        return bool(self.value())

    def __repr__(self) -> str:
        return f"<tf.Variable '{self.name}' shape={self.shape} dtype={self.dtype.name}>"

    def to_proto(self, export_scope: Any = None) -> Any:
        from emplace.proto import saved_model_pb2

        return saved_model_pb2.VariableDef(
            variable_name=self.name, initial_value_name=self.initial_value.name, initializer_name=self.initializer.name,
            snapshot_name=self._graph_element.name, trainable=self.trainable, is_resource=True,
        )


class _Updated(ResourceVariable):
    """A variable as it is after an update: what reads it waits for the update."""

    def __init__(self, variable: ResourceVariable, update: Any) -> None:
        self.__dict__.update(variable.__dict__)
        self._update_op = update
        with ops.control_dependencies([update]):
            self._graph_element = self._read(colocate=True)

    def __new__(cls, *_: Any, **__: Any) -> Any:
        return object.__new__(cls)

    @property
    def op(self) -> Any:
        return self._update_op

    def __repr__(self) -> str:
        return f"<tf.Variable '{self._update_op.name}' shape={self.shape} dtype={self.dtype.name}>"

    @property
    def _control_op(self) -> Any:
        """What a control dependency on this waits for."""
        return self._update_op

    def value(self) -> Any:
        with ops.control_dependencies([self._update_op]):
            return self._read()


@contextlib.contextmanager
def _uncolocated(handle: Any) -> Any:
    """On the handle's device, with no colocation of the scopes around."""
    with ops.get_default_graph().colocate_with(None, ignore_existing=True), ops.device(handle.device):
        yield


def is_resource_variable(v: Any) -> bool:
    """One of a graph, or of an eager program."""
    return isinstance(v, ResourceVariable) or getattr(v, "_is_eager", False)


for _name, _refuse in operators.IN_PLACE.items():
    setattr(ResourceVariable, _name, _refuse)
