"""get_variable and the scopes that share variables by name."""

from __future__ import annotations

import contextlib
import enum
import inspect
from typing import Any, Iterator

import numpy as np

from emplace.framework import array_ops, dispatch, dtypes, init_ops, ops, partitioned_variables, tensor_shape, tracebacks, variables
from emplace.framework.thread_state import own


class _ReuseMode(enum.Enum):
    AUTO_REUSE = 1


AUTO_REUSE = _ReuseMode.AUTO_REUSE
_STORE = "variable_store"
_INHERITED = ("initializer", "regularizer", "caching_device", "partitioner", "custom_getter", "dtype", "use_resource", "constraint")


class VariableScope:
    """What get_variable inherits: a name prefix, reuse, defaults."""

    def __init__(self, reuse: Any, name: str = "", name_scope: str = "", **settings: Any) -> None:
        self._name, self._reuse, self._name_scope = name, reuse, name_scope
        self._settings: dict[str, Any] = {k: settings.get(k) for k in _INHERITED}
        if self._settings["dtype"] is None:
            self._settings["dtype"] = dtypes.float32

    @property
    def name(self) -> str:
        return self._name

    @property
    def original_name_scope(self) -> str:
        return self._name_scope

    @property
    def reuse(self) -> Any:
        return self._reuse

    def __getattr__(self, name: str) -> Any:
        if name in _INHERITED:
            return self._settings[name]
        if name.startswith("set_") and name[4:] in _INHERITED:
            return lambda value: self._settings.__setitem__(name[4:], value)
        raise AttributeError(name)

    def reuse_variables(self) -> None:
        """From now on `get_variable` in this scope finds variables and makes none."""
        self._reuse = True

    def global_variables(self) -> list[Any]:
        """The global variables of this scope."""
        return self.get_collection(ops.GraphKeys.GLOBAL_VARIABLES)

    def trainable_variables(self) -> list[Any]:
        """The trainable variables of this scope."""
        return self.get_collection(ops.GraphKeys.TRAINABLE_VARIABLES)

    def local_variables(self) -> list[Any]:
        """The local variables of this scope."""
        return self.get_collection(ops.GraphKeys.LOCAL_VARIABLES)

    def get_collection(self, name: str) -> list[Any]:
        """What a collection holds of this scope."""
        return ops.get_collection(name, (self._name + "/") if self._name else "")

    def get_variable(self, name: str, shape: Any = None, **how: Any) -> Any:
        """Makes or finds a variable in this scope, as the function `get_variable` does."""
        return _get(self, name, shape, **how)


def get_variable_scope() -> VariableScope:
    """The variable scope in force."""
    thread = ops.get_default_graph()._thread
    if thread.variable_scope is None:
        thread.variable_scope = VariableScope(False)
    return thread.variable_scope


def begin_reuse() -> None:
    """The scope in force becomes a copy of itself that finds variables and makes none."""
    scope = get_variable_scope()
    ops.get_default_graph()._thread.variable_scope = VariableScope(True, scope.name, scope.original_name_scope, **scope._settings)


def _store() -> dict[str, Any]:
    return ops.get_default_graph()._extra.setdefault(_STORE, {"vars": {}, "parts": {}})


def get_variable(
    name: str, shape: Any = None, dtype: Any = None, initializer: Any = None, regularizer: Any = None, trainable: Any = None,
    collections: Any = None, caching_device: Any = None, partitioner: Any = None, validate_shape: bool = True,
    use_resource: Any = None, custom_getter: Any = None, constraint: Any = None,
    synchronization: Any = variables.VariableSynchronization.AUTO, aggregation: Any = variables.VariableAggregation.NONE,
) -> Any:
    """Makes a variable of this name in the scope in force, or finds it where the scope reuses variables. The initializer is a
    function of the shape or a value; Glorot-uniform for floats by default."""
    return _get(
        get_variable_scope(), name, shape, dtype=dtype, initializer=initializer, regularizer=regularizer, trainable=trainable,
        collections=collections, caching_device=caching_device, partitioner=partitioner, validate_shape=validate_shape,
        use_resource=use_resource, custom_getter=custom_getter, constraint=constraint, synchronization=synchronization,
        aggregation=aggregation,
    )


def get_local_variable(name: str, shape: Any = None, dtype: Any = None, initializer: Any = None, regularizer: Any = None, trainable: bool = False, collections: Any = None, **how: Any) -> Any:
    """As `get_variable`, but a local variable: neither trained nor saved."""
    local = ops.GraphKeys.LOCAL_VARIABLES
    collections = [local] if not collections else [*collections, local]
    return get_variable(name, shape, dtype, initializer, regularizer, False, collections, **how)


def _dtype_of(value: Any) -> Any:
    """Of what an initial value becomes."""
    if ops.is_tensor(value) or isinstance(value, (np.ndarray, np.generic)):
        return dtypes.as_dtype(value.dtype).base_dtype
    found = dtypes.as_dtype(np.asarray(value).dtype)
    return {dtypes.float64: dtypes.float32, dtypes.int64: dtypes.int32}.get(found, found)


def _get(scope: VariableScope, name: str, shape: Any, **how: Any) -> Any:
    for key in ("regularizer", "caching_device", "partitioner", "constraint", "custom_getter", "use_resource"):
        if how.get(key) is None:
            how[key] = scope._settings[key]
    initializer = how.get("initializer")
    if initializer is None:
        how["initializer"] = initializer = scope._settings["initializer"]
    if how.get("dtype") is None:
        fixed = initializer is not None and not callable(initializer)
        how["dtype"] = _dtype_of(initializer) if fixed else scope._settings["dtype"]
    full = f"{scope.name}/{name}" if scope.name else name
    reuse = how.pop("reuse", None)
    reuse = scope.reuse if reuse is None else reuse
    getter = how.pop("custom_getter")
    with ops.name_scope(None):
        if getter is not None:
            def true_getter(name: str, *args: Any, **kwargs: Any) -> Any:
                kwargs.pop("reuse", None)
                return _get_or_make(name, reuse, *args, **kwargs)

            how["trainable"] = variables.trained(how.get("trainable"), how.get("synchronization"))
            return getter(getter=true_getter, name=full, shape=shape, reuse=reuse, **how)
        return _get_or_make(full, reuse, shape, **how)


def _get_or_make(name: str, reuse: Any, shape: Any = None, **how: Any) -> Any:
    partitioner = how.pop("partitioner", None)
    if partitioner is not None:
        return _get_or_make_parts(name, reuse, shape, partitioner, **how)
    found = _store()["vars"].get(name)
    dtype = dtypes.as_dtype(how.pop("dtype"))
    initializer = how.get("initializer")
    if initializer is not None and not callable(initializer) and shape is not None:
        raise ValueError("If initializer is a constant, do not specify shape.")
    if found is not None:
        _check_reuse(name, found, reuse, shape, dtype)
        if own.distribution:
            own.distribution[-1].found_variable(found)
        return found
    if reuse is True:
        raise ValueError(f"Variable {name} does not exist, or was not created with tf.get_variable(). Did you mean to set reuse=tf.AUTO_REUSE in VarScope?")
    return _make(name, shape, dtype, **how)


def _get_or_make_parts(name: str, reuse: Any, shape: Any, partitioner: Any, dtype: Any = None, initializer: Any = None, **how: Any) -> Any:
    """A variable in as many parts as `partitioner` says: name/part_0 …"""
    found = _store()["parts"].get(name)
    known = tensor_shape.as_shape(shape)
    fixed = initializer is not None and not callable(initializer)
    if fixed:
        initializer = ops.convert_to_tensor(initializer, dtype=dtype)
        known = known.merge_with(initializer.shape)
    if found is not None:
        _check_reuse(name, found, reuse, shape, dtypes.as_dtype(dtype))
        return found
    if reuse is True:
        raise ValueError(f"PartitionedVariable {name} does not exist, or was not created with tf.get_variable(). Did you mean to set reuse=False or reuse=tf.AUTO_REUSE in VarScope?")
    if not known.is_fully_defined():
        raise ValueError(f"Shape of a new partitioned variable ({name}) must be fully defined, but instead was {known}.")
    sizes: Any = known.as_list()
    counts = partitioned_variables.ask(partitioner, known, dtypes.as_dtype(dtype))
    if not sizes:
        return _get_or_make(name, reuse, shape, dtype=dtype, initializer=initializer, **how)
    parts = []
    for i, (offset, size) in enumerate(partitioned_variables.parts_of(sizes, counts)):
        part_name, init, part_shape = f"{name}/part_{i}", initializer, size
        if fixed:
            with ops.name_scope(part_name + "/PartitionedInitializer"):
                init, part_shape = array_ops.slice(initializer, offset, size), None  # type: ignore[assignment]
        part = _get_or_make(part_name, reuse, part_shape, dtype=dtype, initializer=init, partition_info=_PartitionInfo(sizes, offset), **how)
        part._save_slice_info = partitioned_variables.SliceInfo(name, sizes, offset, size)
        parts.append(part)
    made = partitioned_variables.PartitionedVariable(name, known, dtype, parts, counts)
    _store()["parts"][name] = made
    return made


class _PartitionInfo:
    """Told to an initializer of one part: of what whole, and where."""

    def __init__(self, full_shape: list[int], var_offset: list[int]) -> None:
        self.full_shape, self.var_offset = full_shape, var_offset

    def single_slice_dim(self, shape: Any) -> int | None:
        """The axis that is cut, for a part of this shape; None where the part is the whole."""
        sizes = tensor_shape.as_shape(shape).as_list()
        if len(sizes) != len(self.full_shape):
            raise ValueError(f"Expected equal length, but received shape={sizes} of length {len(sizes)} while self.full_shape={self.full_shape} is of length {len(self.full_shape)}.")
        cut = [i for i, (size, full) in enumerate(zip(sizes, self.full_shape)) if size != full]
        if len(cut) > 1:
            raise ValueError(f"Cannot use single_slice_dim() with shape={sizes} and self.full_shape={self.full_shape} since slice dim could be either dimension {cut[1]} or {cut[0]}.")
        return cut[0] if cut else None

    def single_offset(self, shape: Any) -> int:
        axis = self.single_slice_dim(shape)
        return 0 if axis is None else self.var_offset[axis]


def _check_reuse(name: str, found: Any, reuse: Any, shape: Any, dtype: Any) -> None:
    if reuse is False or reuse is None:
        raise ValueError(
            f"Variable {name} already exists, disallowed. Did you mean to set reuse=True or reuse=tf.AUTO_REUSE in VarScope? "
            f"Originally defined at:\n\n{tracebacks.shown(found.op._node.source) if getattr(found, 'op', None) else None}"
        )
    if shape is not None and not tensor_shape.as_shape(shape).is_compatible_with(found.shape):
        raise ValueError(f"Trying to share variable {name}, but specified shape {tensor_shape.as_shape(shape)} and found shape {found.shape}.")
    if not dtype.is_compatible_with(found.dtype.base_dtype):
        raise ValueError(f"Trying to share variable {name}, but specified dtype {dtype.name} and found dtype {found.dtype.name}.")


def _default_initializer(name: str, dtype: dtypes.DType) -> Any:
    if dtype.is_floating:
        return init_ops.GlorotUniform()
    if dtype.is_integer or dtype.is_unsigned or dtype.is_bool or dtype == dtypes.string:
        return init_ops.Zeros()
    raise ValueError(f"An initializer for variable {name} of {dtype.base_dtype} is required")


def _make(
    name: str, shape: Any, dtype: dtypes.DType, initializer: Any = None, regularizer: Any = None, trainable: Any = None,
    collections: Any = None, caching_device: Any = None, validate_shape: bool = True, constraint: Any = None,
    use_resource: Any = None, synchronization: Any = variables.VariableSynchronization.AUTO,
    aggregation: Any = variables.VariableAggregation.NONE, partition_info: Any = None, **_: Any,
) -> Any:
    known = tensor_shape.as_shape(shape)
    from_initializer = False
    if initializer is None:
        if shape is None:
            raise ValueError(f"Variable {name} did not get an initializer, so its `shape` argument must be specified.")
        initializer = _default_initializer(name, dtype)
    elif not callable(initializer):
        from_initializer = True
    if isinstance(initializer, type):
        initializer = initializer()
    if from_initializer:
        value: Any = initializer
        given: Any = None
    elif not known.is_fully_defined():
        if not _needs_no_arguments(initializer):
            raise ValueError("The initializer passed is not valid. It should be a callable with no arguments and the shape should not be provided or an instance of `tf.keras.initializers.*' and `shape` should be fully defined.")
        value, given = initializer, None
    else:
        sizes = known.as_list()
        value, given = (lambda: _call(initializer, sizes, dtype, partition_info)), dtype.base_dtype
    variable = variables.Variable(
        value, trainable=trainable, collections=collections, caching_device=caching_device, dtype=given if given is not None else dtype,
        validate_shape=validate_shape, constraint=constraint, name=name, use_resource=use_resource,
        synchronization=synchronization, aggregation=aggregation,
    )
    if not dispatch.executing_eagerly():  # there each call makes one
        _store()["vars"][name] = variable
    if regularizer is not None:
        _regularize(variable, name, regularizer)
    return variable


def _regularize(variable: Any, name: str, regularizer: Any) -> None:
    """As TensorFlow asks: once for whether there is a loss, and again wherever it is used."""

    def loss() -> Any:
        with ops.colocate_with(variable), ops.name_scope(name + "/Regularizer/"):
            return regularizer(variable)

    if regularizer(variable) is not None:
        ops.add_to_collection(ops.GraphKeys.REGULARIZATION_LOSSES, _LazyLoss(loss))


class _LazyLoss:
    """Made anew where it is used as a tensor; what is asked of it is said by the first."""

    def __init__(self, make: Any) -> None:
        self._make, self._first = make, make()

    def _dense_var_to_tensor(self, dtype: Any = None, name: Any = None, as_ref: bool = False) -> Any:
        return self._make()

    def _as_graph_element(self) -> Any:
        return self._first

    def __getattr__(self, name: str) -> Any:
        if name == "_first":  # of a copy under way
            raise AttributeError(name)
        return getattr(self._first, name)

    def __repr__(self) -> str:
        return repr(self._first)


def _operator(name: str) -> Any:
    return lambda self, *args: getattr(self._make(), name)(*args)


for _name in ("__add__", "__radd__", "__sub__", "__rsub__", "__mul__", "__rmul__", "__truediv__", "__rtruediv__", "__neg__", "__getitem__"):
    setattr(_LazyLoss, _name, _operator(_name))


def _call(initializer: Any, shape: list[int], dtype: Any, part: Any) -> Any:
    """`part` is told to those that have a word for it."""
    more = {"partition_info": part} if "partition_info" in _arguments(initializer) else {}
    return initializer(shape, dtype=dtype, **more)


def _arguments(function: Any) -> Any:
    try:
        return inspect.signature(function).parameters
    except (TypeError, ValueError):  # a builtin without one
        return ()


def _needs_no_arguments(function: Any) -> bool:
    try:
        inspect.signature(function).bind()
    except (TypeError, ValueError):
        return False
    return True


# ---- Scopes.


class variable_scope:
    """`with tf.variable_scope(name_or_scope, default_name, values, reuse=…) as scope`."""

    def __init__(
        self, name_or_scope: Any, default_name: str | None = None, values: Any = None, initializer: Any = None, regularizer: Any = None,
        caching_device: Any = None, partitioner: Any = None, custom_getter: Any = None, reuse: Any = None, dtype: Any = None,
        use_resource: Any = None, constraint: Any = None, auxiliary_name_scope: bool = True,
    ) -> None:
        if default_name is None and name_or_scope is None:
            raise TypeError("If default_name is None then name_or_scope is required")
        if name_or_scope is not None and not isinstance(name_or_scope, (VariableScope, str)):
            raise TypeError("VariableScope: name_or_scope must be a string or VariableScope.")
        self._target, self._default, self._values = name_or_scope, default_name, values
        if not any(reuse is r for r in (None, True, False, AUTO_REUSE)):
            raise ValueError("The reuse parameter must be True or False or None.")
        self._reuse = None if reuse is False else reuse
        self._settings = {
            "initializer": initializer, "regularizer": regularizer, "caching_device": caching_device, "partitioner": partitioner,
            "custom_getter": custom_getter, "dtype": dtype, "use_resource": use_resource, "constraint": constraint,
        }
        self._auxiliary = auxiliary_name_scope
        self._contexts: list[Any] = []

    def __enter__(self) -> VariableScope:
        context = self._enter()
        self._contexts.append(context)
        return context.__enter__()

    def __exit__(self, *e: Any) -> Any:
        return self._contexts.pop().__exit__(*e)

    @contextlib.contextmanager
    def _enter(self) -> Iterator[VariableScope]:
        eagerly = dispatch.executing_eagerly()
        graph = ops.graph_of(self._values) if self._values and not eagerly else ops.get_default_graph()
        with contextlib.nullcontext() if eagerly else graph.as_default():
            outer = get_variable_scope()
            target = self._target
            if target is None:
                target = _unique(outer, self._default)  # type: ignore[arg-type]
                if self._reuse:
                    raise ValueError("reuse=True cannot be used without a name_or_scope")
                tail = self._default
            elif isinstance(target, VariableScope):
                tail = target.name.split("/")[-1]
            else:
                tail = target
            with contextlib.ExitStack() as stack:
                name_scope = ""
                if self._auxiliary:
                    if tail or not isinstance(target, VariableScope):
                        name_scope = stack.enter_context(ops.name_scope(tail))
                    else:
                        name_scope = stack.enter_context(ops.name_scope(tail))
                else:
                    name_scope = graph._core.current_name_scope()
                stack.enter_context(_activate(graph, self._scope(outer, target, name_scope), target))
                yield get_variable_scope()

    def _scope(self, outer: VariableScope, target: Any, name_scope: str) -> VariableScope:
        if isinstance(target, VariableScope):
            settings = dict(target._settings)
            reuse = target.reuse if self._reuse is None else self._reuse
            made = VariableScope(reuse, target.name, target.original_name_scope, **settings)
        else:
            reuse = outer.reuse if self._reuse is None else self._reuse
            full = f"{outer.name}/{target}" if outer.name else target
            made = VariableScope(reuse, full, name_scope, **outer._settings)
        for key, value in self._settings.items():
            if value is not None:
                made._settings[key] = value
        return made


@contextlib.contextmanager
def _activate(graph: ops.Graph, scope: VariableScope, target: Any) -> Iterator[None]:
    thread = graph._thread
    counts = thread.variable_scope_counts
    saved_scope, saved_counts = thread.variable_scope, dict(counts)
    counts[scope.name] = counts.get(scope.name, 0) + 1
    thread.variable_scope = scope
    try:
        yield
    finally:
        thread.variable_scope = saved_scope
        for key in [k for k in counts if scope.name == "" or k.startswith(scope.name + "/")]:
            if not isinstance(target, VariableScope):
                counts.pop(key)
        if isinstance(target, VariableScope):
            counts.clear()
            counts.update(saved_counts)


def _unique(outer: VariableScope, prefix: str) -> str:
    counts = ops.get_default_graph()._thread.variable_scope_counts
    full = f"{outer.name}/{prefix}" if outer.name else prefix
    if counts.get(full, 0) == 0:
        return prefix
    i = 1
    while counts.get(f"{full}_{i}", 0) > 0:
        i += 1
    return f"{prefix}_{i}"


@contextlib.contextmanager
def variable_op_scope(values: Any, name_or_scope: Any, default_name: Any = None, **how: Any) -> Iterator[VariableScope]:
    """The older form of `variable_scope`, `values` first."""
    with variable_scope(name_or_scope, default_name, values, **how) as scope:
        yield scope


def no_regularizer(_: Any) -> None:
    """Stands for no regularizer, where None would mean the scope's."""
    return None


def get_absolute(name: str, shape: Any, dtype: Any, initializer: Any, **how: Any) -> Any:
    """A new variable of exactly this name, whatever the scopes are."""
    with ops.name_scope(None):
        made = _make(name, shape, dtype or initializer.dtype.base_dtype, initializer, **how)
    return made
