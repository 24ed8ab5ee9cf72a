"""Variables of eager programs: a handle whose buffer the engine keeps."""

from __future__ import annotations

import itertools
from typing import Any, Iterator

import numpy as np

from emplace import _core
from emplace.eager import context, func_graph, op_errors
from emplace.eager import tensor as eager_tensor
from emplace.framework import array_ops, dtypes, gen, operators, ops, strided, tensor, tensor_shape, trackable
from emplace.framework.thread_state import own
from emplace.framework.variables import VariableAggregation, VariableSynchronization

_count = itertools.count()


class _Owner:
    """Gives the engine's buffer back when the last object that stands for the variable is gone."""

    __slots__ = ("_handle",)

    def __init__(self, handle: Any) -> None:
        self._handle = handle

    def __del__(self) -> None:
        try:
            _core.execute_call("DestroyResourceOp", [self._handle], {"ignore_lookup_error": True}, "")
            context._engine.forget(self._handle)
        except Exception:  # noqa: S110  (the engine, or these modules, may be gone already)
            pass


class _Making(type):
    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        """In a strategy's scope or replica the strategy makes it."""
        if own.distribution and cls is Variable:
            made = own.distribution[-1].variable(args, kwargs)
            if made is not None:
                return made
        return super().__call__(*args, **kwargs)


class Variable(trackable.Trackable, tensor.TensorLike, metaclass=_Making):
    """A value that can be assigned. Operators read it."""

    __array_priority__ = 100
    _is_eager = True

    def __new__(cls, initial_value: Any = None, trainable: Any = None, *_: Any, **kwargs: Any) -> Any:
        """In a graph that is no function's it is that graph's, initialized by a session."""
        stack = ops._default_graphs.stack
        if cls is not Variable or not stack or stack[-1]._captures or initial_value is None:
            return super().__new__(ResourceVariable if cls is Variable else cls)
        from emplace.framework import resource_variables

        kept = {k: v for k, v in kwargs.items() if k in ("validate_shape", "name", "dtype", "constraint", "shape", "synchronization", "aggregation")}
        return resource_variables.ResourceVariable(initial_value, trainable=trainable is None or bool(trainable), **kept)

    def __init__(
        self, initial_value: Any = None, trainable: Any = None, validate_shape: bool = True, caching_device: Any = None,
        name: str | None = None, variable_def: Any = None, dtype: Any = None, import_scope: Any = None, constraint: Any = None,
        synchronization: Any = VariableSynchronization.AUTO, aggregation: Any = VariableAggregation.NONE, shape: Any = None,
        experimental_enable_variable_lifting: bool = True,
    ) -> None:
        if initial_value is None:
            raise ValueError("The `initial_value` arg to `tf.Variable` must be specified except when you are not providing a `variable_def`. You provided neither.")
        if isinstance(initial_value, ops.SymbolicTensor):
            initial_value = func_graph.lifted(initial_value)
        saved, ops._default_graphs.stack = ops._default_graphs.stack, []
        context._state.eager += 1
        try:
            if callable(initial_value):
                initial_value = initial_value()
            value = eager_tensor.convert_to_tensor(initial_value, None if isinstance(initial_value, ops.Tensor) else dtype, name)
            if dtype is not None and value.dtype != dtypes.as_dtype(dtype):
                raise ValueError(f"initial_value: Tensor conversion requested dtype {dtypes.as_dtype(dtype).name} for Tensor with dtype {value.dtype.name}: {value!r}")
            self._dtype = value.dtype
            self._shape = value.shape if shape is None else tensor_shape.as_shape(shape)
            if not self._shape.is_compatible_with(value.shape):
                raise ValueError(f"In this `tf.Variable` creation, the initial value's shape ({value.shape}) is not compatible with the explicitly supplied `shape` argument ({shape}).")
            self._trainable = trainable is None or bool(trainable)
            base = name or "Variable"
            self._name = "".join(own.name_scopes[-1:]) + base + ":0"
            self._constraint = constraint
            self._synchronization, self._aggregation = synchronization, aggregation
            self._handle = gen.apply(
                "VarHandleOp", [],
                {"dtype": self._dtype, "shape": self._shape, "shared_name": f"eager_{next(_count)}", "container": ""},
            )
            self._owner = _Owner(self._handle)
            self._device: str | None = None
            gen.apply("AssignVariableOp", [self._handle, value], {})
            for made in own.made_variables[-1:]:
                made.append(self)
        finally:
            context._state.eager -= 1
            ops._default_graphs.stack = saved

    # ---- What it is.

    dtype = property(lambda self: self._dtype)
    shape = property(lambda self: self._shape)
    name = property(lambda self: self._name)
    trainable = property(lambda self: self._trainable)
    handle = property(lambda self: self._handle)
    constraint = property(lambda self: self._constraint)
    synchronization = property(lambda self: self._synchronization)
    aggregation = property(lambda self: self._aggregation)
    ndim = property(lambda self: self._shape.rank)

    @property
    def device(self) -> str:
        """Where the buffer is; the handle itself lies in host memory."""
        if self._device is None:
            self._device = self._outside().device
        return self._device

    def get_shape(self) -> tensor_shape.TensorShape:
        """The static shape."""
        return self._shape

    @property
    def _shared_name(self) -> str:
        return self._name.partition(":")[0]

    def is_initialized(self, name: str | None = None) -> Any:
        """Whether it has a value, as a bool tensor."""
        return self._run("VarIsInitializedOp", [self._handle], {})

    @property
    def _unique_id(self) -> str:
        """Tells it apart from all others of the process."""
        return f"{self._shared_name}_{id(self)}"

    # ---- Reading.

    def _run(self, op: str, inputs: list[Any], attrs: dict[str, Any]) -> Any:
        context._state.eager += 1
        try:
            return gen.apply(op, inputs, attrs)
        finally:
            context._state.eager -= 1

    def _captured(self) -> Any:
        """The handle, inside a function that is being traced its stand-in."""
        if ops._default_graphs.stack:
            capture = getattr(ops._default_graphs.stack[-1], "_capture", None)
            if capture is not None:
                ops._default_graphs.stack[-1].variables[id(self)] = self
                return capture(self._handle)
        return self._handle

    def read_value(self) -> Any:
        """The value now, as a tensor that later assignments do not change."""
        for watcher in own.watchers:
            watcher._variable_read(self)
        value = self._run("ReadVariableOp", [self._captured()], {"dtype": self._dtype})
        if not hasattr(value, "_numpy_of_eager"):
            value.set_shape(self._shape)
        return value

    def value(self) -> Any:
        """The value as a tensor."""
        return self.read_value()

    def _dense_var_to_tensor(self, dtype: Any = None, name: str | None = None, as_ref: bool = False) -> Any:
        if dtype is not None and not dtypes.as_dtype(dtype).is_compatible_with(self._dtype):
            raise ValueError(f"Incompatible type conversion requested to type {dtypes.as_dtype(dtype).name!r} for variable of type {self._dtype.name!r}")
        return self.read_value()

    def numpy(self) -> Any:
        """The value as an array."""
        return self.read_value().numpy()

    def sparse_read(self, indices: Any, name: str | None = None) -> Any:
        """The rows at `indices`."""
        for watcher in own.watchers:
            watcher._variable_read(self)
        return self._run("ResourceGather", [self._captured(), indices], {"dtype": self._dtype})

    def gather_nd(self, indices: Any, name: str | None = None) -> Any:
        """Elements or slices at index vectors, the last dimension of `indices`."""
        return array_ops.gather_nd(self.read_value(), indices)

    def __array__(self, dtype: Any = None, copy: Any = None) -> np.ndarray:
        return self.read_value().__array__(dtype, copy)

    def __int__(self) -> int:
        return int(self.read_value())

    def __float__(self) -> float:
        return float(self.read_value())

    def __complex__(self) -> complex:
        return complex(self.read_value())

    def __bool__(self) -> bool:
        return bool(self.read_value())

    def __index__(self) -> int:
        return self.read_value().__index__()

    def __iter__(self) -> Iterator[Any]:
        return iter(self.read_value())

    def __hash__(self) -> int:
        raise TypeError("Variable is unhashable. Instead, use variable.ref() as the key. (Variable: " + repr(self) + ")")

    def ref(self) -> Any:
        """A hashable stand-in, for sets and keys of dicts; `deref()` gives the variable back."""
        return eager_tensor.Reference(self)

    def experimental_ref(self) -> Any:
        """The older name of `ref`."""
        return eager_tensor.Reference(self)

    def __copy__(self) -> "Variable":
        return self

    def __deepcopy__(self, memo: Any) -> "Variable":
        copied = Variable(self.numpy(), trainable=self._trainable, name=self._shared_name, dtype=self._dtype)
        memo[id(self)] = copied
        return copied

    def __reduce__(self) -> Any:
        return _unpickle, (self.numpy(), self._trainable, self._shared_name)

    def __getitem__(self, slice_spec: Any) -> Any:
        context._state.eager += 1
        try:
            return _sliced(self, slice_spec)
        finally:
            context._state.eager -= 1

    # ---- Assigning.

    def _checked(self, op: str, value: Any) -> Any:
        context._state.eager += 1
        try:
            value = ops.convert_to_tensor(value, dtype=self._dtype)
        finally:
            context._state.eager -= 1
        if not self._shape.is_compatible_with(value.shape):
            if op != "AssignVariableOp" and context.outside_graph():
                shapes = [f"[{','.join(map(str, s.as_list()))}]" for s in (self._shape, value.shape)]
                raise op_errors.refused(op, f"Cannot update variable with shape {shapes[0]} using a Tensor with shape {shapes[1]}, shapes must be equal.")
            raise ValueError(f"Cannot assign value to variable ' {self._name}': Shape mismatch.The variable shape {self._shape}, and the assigned value shape {value.shape} are incompatible.")
        return value

    def _assigned(self, op: str, value: Any, read_value: bool) -> Any:
        done = self._run(op, [self._captured(), self._checked(op, value)], {})
        if read_value:
            return _Assigned(self) if context.outside_graph() else _UnreadVariable(self, done)
        return None if context.outside_graph() else done

    assign_hook: Any = None  # told of new values: what the variable stands for lies elsewhere

    def assign(self, value: Any, use_locking: bool = False, name: str | None = None, read_value: bool = True, hooked: bool = True) -> Any:
        """Gives it a new value of its dtype and shape; returns the variable, with `read_value` False the op or None."""
        done = self._assigned("AssignVariableOp", value, read_value)
        if self.assign_hook is not None and hooked:
            self.assign_hook(int(value))
        return done

    def assign_add(self, delta: Any, use_locking: bool = False, name: str | None = None, read_value: bool = True) -> Any:
        """Adds to the value; returns as `assign` does."""
        return self._assigned("AssignAddVariableOp", delta, read_value)

    def assign_sub(self, delta: Any, use_locking: bool = False, name: str | None = None, read_value: bool = True) -> Any:
        """Subtracts from the value; returns as `assign` does."""
        return self._assigned("AssignSubVariableOp", delta, read_value)

    def _scatter(self, op: str, indices: Any, updates: Any) -> "Variable":
        context._state.eager += 1
        try:
            updates = ops.convert_to_tensor(updates, dtype=self._dtype)
            indices = ops.convert_to_tensor(indices)
        finally:
            context._state.eager -= 1
        self._run(op, [self._captured(), indices, updates], {})
        return _Assigned(self) if context.outside_graph() else self

    def scatter_update(self, sparse_delta: Any, use_locking: bool = False, name: str | None = None) -> "Variable":
        """Puts the values of IndexedSlices in the place of its rows; returns the variable."""
        return self._scatter("ResourceScatterUpdate", sparse_delta.indices, sparse_delta.values)

    def scatter_add(self, sparse_delta: Any, use_locking: bool = False, name: str | None = None) -> "Variable":
        """Adds the values of IndexedSlices to its rows; returns the variable."""
        return self._scatter("ResourceScatterAdd", sparse_delta.indices, sparse_delta.values)

    def scatter_sub(self, sparse_delta: Any, use_locking: bool = False, name: str | None = None) -> "Variable":
        """Subtracts the values of IndexedSlices from its rows; returns the variable."""
        return self._scatter("ResourceScatterSub", sparse_delta.indices, sparse_delta.values)

    def scatter_max(self, sparse_delta: Any, use_locking: bool = False, name: str | None = None) -> "Variable":
        """The greater of its rows and the values of IndexedSlices; returns the variable."""
        return self._scatter("ResourceScatterMax", sparse_delta.indices, sparse_delta.values)

    def scatter_min(self, sparse_delta: Any, use_locking: bool = False, name: str | None = None) -> "Variable":
        """The lesser of its rows and the values of IndexedSlices; returns the variable."""
        return self._scatter("ResourceScatterMin", sparse_delta.indices, sparse_delta.values)

    def scatter_mul(self, sparse_delta: Any, use_locking: bool = False, name: str | None = None) -> "Variable":
        """Multiplies its rows by the values of IndexedSlices; returns the variable."""
        return self._scatter("ResourceScatterMul", sparse_delta.indices, sparse_delta.values)

    def scatter_div(self, sparse_delta: Any, use_locking: bool = False, name: str | None = None) -> "Variable":
        """Divides its rows by the values of IndexedSlices; returns the variable."""
        return self._scatter("ResourceScatterDiv", sparse_delta.indices, sparse_delta.values)

    def scatter_nd_update(self, indices: Any, updates: Any, name: str | None = None) -> "Variable":
        """Puts `updates` at index vectors, the last dimension of `indices`; returns the variable."""
        return self._scatter("ResourceScatterNdUpdate", indices, updates)

    def scatter_nd_add(self, indices: Any, updates: Any, name: str | None = None) -> "Variable":
        """Adds `updates` at index vectors; returns the variable."""
        return self._scatter("ResourceScatterNdAdd", indices, updates)

    def scatter_nd_sub(self, indices: Any, updates: Any, name: str | None = None) -> "Variable":
        """Subtracts `updates` at index vectors; returns the variable."""
        return self._scatter("ResourceScatterNdSub", indices, updates)

    def batch_scatter_update(self, sparse_delta: Any, use_locking: bool = False, name: str | None = None) -> "Variable":
        """Row by row of the leading dimensions of the indices."""
        indices = np.asarray(sparse_delta.indices)
        outer = np.indices(indices.shape)[:-1]
        places = np.stack([*outer, indices], -1).reshape(-1, indices.ndim)
        rows = array_ops.reshape(sparse_delta.values, [len(places), *sparse_delta.values.shape.as_list()[indices.ndim :]])
        return self.scatter_nd_update(places, rows)

    def count_up_to(self, limit: int) -> Any:
        """Adds 1 and returns the value before; OutOfRangeError from `limit` on."""
        return self._run("ResourceCountUpTo", [self._captured()], {"limit": limit, "T": self._dtype})

    def set_shape(self, shape: Any) -> None:
        """Narrows what is known of the shape; ValueError if it does not fit."""
        self._shape = self._shape.merge_with(shape)

    # Names of graph programs, which ask for a graph.
    graph = property(lambda self: self._only_in_graphs("Tensor.graph is undefined when eager execution is enabled."))
    op = property(lambda self: self._only_in_graphs("Tensor.op is undefined when eager execution is enabled."))
    initializer = property(lambda self: None)

    @property
    def initial_value(self) -> Any:
        raise RuntimeError("This property is not supported when eager execution is enabled.")

    def _only_in_graphs(self, words: str) -> Any:
        raise AttributeError(words)

    def initialized_value(self) -> Any:
        """The value to begin with, for other variables' initial values."""
        return self.read_value()

    def eval(self, session: Any = None) -> Any:  # noqa: A003
        """The value as an array."""
        raise RuntimeError("This operation is not supported when eager execution is enabled.")

    def load(self, value: Any, session: Any = None) -> None:
        """Gives it a new value; the older form of `assign`."""
        self.assign(value)

    # ---- Printing.

    def __repr__(self) -> str:
        if not context.outside_graph():
            return f"<tf.Variable '{self._name}' shape={self._shape} dtype={self._dtype.name}>"
        value = eager_tensor._numpy_text(self._outside())
        return f"<tf.Variable '{self._name}' shape={self._shape} dtype={self._dtype.name}, {value}>"

    def _outside(self) -> Any:
        with context.eager_mode():
            return gen.apply("ReadVariableOp", [self._handle], {"dtype": self._dtype})


class ResourceVariable(Variable):
    """What `tf.Variable(…)` makes."""


class _Assigned(Variable):
    """What an assignment gives: the same variable under another name."""

    def __init__(self, variable: Variable) -> None:
        self.__dict__.update(variable.__dict__)
        self._name = "UnreadVariable"


class _UnreadVariable:
    """What an assignment inside a traced function gives: reading it comes after the assignment."""

    def __init__(self, variable: Variable, done: Any) -> None:
        self._variable, self._done = variable, done

    def _dense_var_to_tensor(self, dtype: Any = None, name: str | None = None, as_ref: bool = False) -> Any:
        with ops.control_dependencies([self._done]):
            return self._variable._dense_var_to_tensor(dtype, name, as_ref)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._variable, name)


def _unpickle(value: Any, trainable: bool, name: str) -> Variable:
    return Variable(value, trainable=trainable, name=name)


def _sliced(variable: Variable, slice_spec: Any) -> Any:
    out = strided.getitem(variable.read_value(), slice_spec)
    if isinstance(slice_spec, ops.Tensor) and slice_spec.dtype == dtypes.bool:
        return out
    spec = strided.parse(slice_spec)

    def assign(value: Any, name: str | None = None, read_value: bool = True) -> Any:
        context._state.eager += 1
        try:
            parts = [array_ops.stack(p) for p in (spec.begin, spec.end, spec.strides)]
            value = ops.convert_to_tensor(value, dtype=variable._dtype)
            gen.apply("ResourceStridedSliceAssign", [variable._captured(), *parts, value], spec.masks())
        finally:
            context._state.eager -= 1
        return _Assigned(variable) if context.outside_graph() else variable

    out.assign = assign
    return out


def _operator(name: str) -> Any:
    def operator(v: Any, *args: Any) -> Any:
        if args and args[0] is None and name in ("__eq__", "__ne__"):
            return name == "__ne__"
        value = v.read_value()
        if name in ("__eq__", "__ne__") and eager_tensor.in_function(value):
            return eager_tensor.compared("Equal" if name == "__eq__" else "NotEqual", value, args[0])
        return getattr(type(value), name)(value, *args)

    operator.__name__ = name
    return operator


def _install_operators() -> None:
    for name in (*eager_tensor.OPERATORS, "__eq__", "__ne__"):
        if name != "__getitem__":
            setattr(Variable, name, _operator(name))
    for name, refuse in operators.IN_PLACE.items():
        setattr(Variable, name, refuse)


_install_operators()
