"""Variables: state that a session keeps between runs."""

from __future__ import annotations

import enum
from typing import Any, TYPE_CHECKING

from emplace.framework import array_ops, constant_op, control_flow_ops, dispatch, dtypes, initial_values, ops, settings, tensor_shape
from emplace.framework.dispatch import execute as _op
from emplace.framework.ops import GraphKeys, name_scope
from emplace.framework.thread_state import own

if TYPE_CHECKING:
    from emplace.framework.tensor import Tensor


class VariableSynchronization(enum.Enum):
    """When copies of a variable on several devices are brought together."""

    AUTO = 0
    NONE = 1
    ON_WRITE = 2
    ON_READ = 3


class VariableAggregation(enum.Enum):
    """How updates of copies of a variable are brought together."""

    NONE = 0
    SUM = 1
    MEAN = 2
    ONLY_FIRST_REPLICA = 3
    ONLY_FIRST_TOWER = 3


class VariableAggregationV2(enum.Enum):
    """How updates of copies of a variable are brought together."""

    NONE = 0
    SUM = 1
    MEAN = 2
    ONLY_FIRST_REPLICA = 3

    __eq__ = lambda self, other: isinstance(other, (VariableAggregation, VariableAggregationV2)) and self.value == other.value
    __hash__ = lambda self: hash(self.value)


def trained(trainable: Any, synchronization: Any) -> bool:
    """Where nothing is said of it, a variable is trained unless its copies are only brought together when read."""
    return synchronization != VariableSynchronization.ON_READ if trainable is None else bool(trainable)


_ORDER = (
    "initial_value", "trainable", "collections", "validate_shape", "caching_device", "name", "variable_def", "dtype", "expected_shape",
    "import_scope", "constraint", "use_resource", "synchronization", "aggregation", "shape",
)  # fmt: skip


def _of_eager_program(args: Any, how: dict[str, Any]) -> Any:
    """`tf.compat.v1.Variable` where nothing builds a graph."""
    from emplace.eager import variables

    given = {**dict(zip(_ORDER, args)), **how}
    kept = ("initial_value", "trainable", "validate_shape", "name", "dtype", "constraint", "synchronization", "aggregation", "shape")
    return variables.Variable(**{k: v for k, v in given.items() if k in kept})


class _Making(type):
    def __call__(cls, *args: Any, **how: Any) -> Any:
        """In a strategy's scope or replica the strategy makes it."""
        if own.distribution and cls is Variable:
            made = own.distribution[-1].graph_variable({**dict(zip(_ORDER, args)), **how})
            if made is not None:
                return made
        return super().__call__(*args, **how)


class Variable(metaclass=_Making):
    """A tensor that keeps its value; assigned by operations. Nodes: NAME, NAME/initial_value (or
    NAME/Initializer/…), NAME/Assign, NAME/read."""

    __array_priority__ = 100

    def __new__(cls, *args: Any, **how: Any) -> Any:
        if cls is Variable and dispatch.executing_eagerly():
            return _of_eager_program(args, how)
        if cls is Variable and _wants_resource(args[11] if len(args) > 11 else how.get("use_resource")):
            from emplace.framework import resource_variables

            cls = resource_variables.ResourceVariable
        return object.__new__(cls)

    def __init__(
        self, initial_value: Any = None, trainable: Any = None, collections: Any = None, validate_shape: bool = True,
        caching_device: Any = None, name: str | None = None, variable_def: Any = None, dtype: Any = None,
        expected_shape: Any = None, import_scope: Any = None, constraint: Any = None, use_resource: Any = None,
        synchronization: Any = VariableSynchronization.AUTO, aggregation: Any = VariableAggregation.NONE, shape: Any = None,
    ) -> None:
        if variable_def is not None:
            raise ValueError("variable_def is not taken: import the graph and look the variable up by name")
        if initial_value is None:
            raise ValueError("initial_value must be specified.")
        if collections is None:
            collections = [GraphKeys.GLOBAL_VARIABLES]
        if not isinstance(collections, (list, tuple, set)):
            raise ValueError(f"collections argument to Variable constructor must be a list, tuple, or set. Got {collections} of type {type(collections)}")
        if constraint is not None and not callable(constraint):
            raise ValueError("The `constraint` argument must be a callable.")
        self._trainable = trained(trainable, synchronization)
        if self._trainable and GraphKeys.TRAINABLE_VARIABLES not in collections:
            collections = [*collections, GraphKeys.TRAINABLE_VARIABLES]
        self._constraint = constraint
        self._save_slice_info: Any = None  # set where it is a part of a larger one
        self._synchronization, self._aggregation = synchronization, aggregation
        self._graph = ops.get_default_graph()
        with self._graph.control_dependencies(None):
            self._build(initial_value, name, dtype, validate_shape, caching_device)
        ops.add_to_collections(collections, self)

    def _build(self, initial_value: Any, name: str | None, dtype: Any, validate_shape: bool, caching_device: Any) -> None:
        from_function = callable(initial_value)
        with name_scope(name, "Variable", [] if from_function else [initial_value]) as scope:
            if from_function:
                with self._graph._attr_scope({"_class": [b"loc:@" + scope.rstrip("/").encode()]}):
                    with name_scope("Initializer"), ops.device(None):
                        self._initial_value = ops.convert_to_tensor(initial_value(), name="initial_value", dtype=dtype)
                    self._make_node(validate_shape, scope)
            else:
                self._initial_value = ops.convert_to_tensor(initial_value, name="initial_value", dtype=dtype)
                self._make_node(validate_shape, scope)
            if validate_shape and not self._initial_value.shape.is_fully_defined():
                raise ValueError(f"initial_value must have a shape specified: {self._initial_value}")
            self._initializer_op = assign(self._variable, initial_values.guarded(scope, self._initial_value), validate_shape=validate_shape).op
            if caching_device is not None:
                with ops.device(caching_device):
                    self._snapshot = array_ops.identity(self._variable, name="read")
            else:
                with ops.colocate_with(self._variable.op):
                    self._snapshot = array_ops.identity(self._variable, name="read")

    def _make_node(self, validate_shape: bool, name: str) -> None:
        value = self._initial_value
        shape = value.shape if validate_shape else tensor_shape.unknown_shape()
        self._variable = _op("Variable", [], {"shape": shape, "dtype": value.dtype.base_dtype}, name)
        if shape.rank == 0:  # the op itself takes an empty shape for an unknown one
            self._variable.set_shape(shape)

    # ---- What it is.

    @property
    def name(self) -> str:
        return self._variable.name

    @property
    def _shared_name(self) -> str:
        return self.name[: self.name.index(":")]

    @property
    def op(self) -> Any:
        return self._variable.op

    @property
    def graph(self) -> Any:
        return self._graph

    @property
    def device(self) -> str:
        return self._variable.device

    @property
    def dtype(self) -> dtypes.DType:
        return self._variable.dtype

    @property
    def shape(self) -> tensor_shape.TensorShape:
        return self._variable.shape

    def get_shape(self) -> tensor_shape.TensorShape:
        """The static shape."""
        return self.shape

    def set_shape(self, shape: Any) -> None:
        """Narrows what is known of the shape; ValueError if it does not fit."""
        self._variable.set_shape(shape)
        self._snapshot.set_shape(shape)

    @property
    def trainable(self) -> bool:
        return self._trainable

    @property
    def constraint(self) -> Any:
        return self._constraint

    @property
    def synchronization(self) -> Any:
        return self._synchronization

    @property
    def aggregation(self) -> Any:
        return self._aggregation

    @property
    def initializer(self) -> Any:
        return self._initializer_op

    @property
    def initial_value(self) -> Any:
        return self._initial_value

    # ---- Its value.

    def value(self) -> Any:
        """The value as a tensor, which other ops may share."""
        return self._snapshot

    def read_value(self) -> Any:
        """A read of the value here: after the control dependencies in force."""
        return array_ops.identity(self._variable, name="read")

    def initialized_value(self) -> Any:
        """The value, or the initial one where it is not initialized yet."""
        from emplace.framework import cond

        with self._graph.control_dependencies(None):
            return cond.cond(is_variable_initialized(self), self.read_value, lambda: self.initial_value)

    def _ref(self) -> Any:
        return self._variable

    def ref(self) -> Any:
        """Something hashable that stands for this variable."""
        from emplace.eager.tensor import Reference

        return Reference(self)

    def _as_graph_element(self) -> Any:
        return self._variable

    def _dense_var_to_tensor(self, dtype: Any = None, name: Any = None, as_ref: bool = False) -> Any:
        if dtype is not None and not dtype.is_compatible_with(self.dtype):
            raise ValueError(f"Incompatible type conversion requested to type '{dtype.name}' for variable of type '{self.dtype.name}' ({self})")
        return self._variable if as_ref else self._snapshot

    def eval(self, session: Any = None) -> Any:
        """The value as an array, from a session, by default the current one."""
        return self._variable.eval(session=session)

    def load(self, value: Any, session: Any = None) -> None:
        """Gives it a new value in a session, by default the current one."""
        session = session or ops.get_default_session()
        if session is None:
            raise ValueError("Either session argument should be provided or default session should be established")
        session.run(self.initializer, {self.initializer.inputs[1]: value})

    def is_initialized(self, name: str | None = None) -> Any:
        """Whether it has a value in the session, as a bool tensor."""
        return is_variable_initialized(self, name)

    # ---- Changing it.

    def assign(self, value: Any, use_locking: bool = False, name: str | None = None, read_value: bool = True) -> Any:
        """An op that gives it a new value; its result is the new value."""
        made = assign(self._variable, value, use_locking=use_locking, name=name)
        return made if read_value else made.op

    def assign_add(self, delta: Any, use_locking: bool = False, name: str | None = None, read_value: bool = True) -> Any:
        """An op that adds to the value; its result is the new value."""
        made = assign_add(self._variable, delta, use_locking=use_locking, name=name)
        return made if read_value else made.op

    def assign_sub(self, delta: Any, use_locking: bool = False, name: str | None = None, read_value: bool = True) -> Any:
        """An op that subtracts from the value; its result is the new value."""
        made = assign_sub(self._variable, delta, use_locking=use_locking, name=name)
        return made if read_value else made.op

    def _get_save_slice_info(self) -> Any:
        return self._save_slice_info

    def _scatter(self, op: str, slices: Any, use_locking: bool, name: str | None) -> Any:
        if not isinstance(slices, ops.IndexedSlices):
            raise TypeError(f"sparse_delta is not IndexedSlices: {slices}")
        return _op(op, [self._variable, slices.indices, slices.values], {"use_locking": use_locking}, name)

    def scatter_add(self, sparse_delta: Any, use_locking: bool = False, name: str | None = None) -> Any:
        """An op that adds the values of IndexedSlices to its rows."""
        return self._scatter("ScatterAdd", sparse_delta, use_locking, name)

    def scatter_sub(self, sparse_delta: Any, use_locking: bool = False, name: str | None = None) -> Any:
        """An op that subtracts the values of IndexedSlices from its rows."""
        return self._scatter("ScatterSub", sparse_delta, use_locking, name)

    def scatter_update(self, sparse_delta: Any, use_locking: bool = False, name: str | None = None) -> Any:
        """An op that puts the values of IndexedSlices in the place of its rows."""
        return self._scatter("ScatterUpdate", sparse_delta, use_locking, name)

    def scatter_max(self, sparse_delta: Any, use_locking: bool = False, name: str | None = None) -> Any:
        """An op that takes the greater of its rows and the values of IndexedSlices."""
        return self._scatter("ScatterMax", sparse_delta, use_locking, name)

    def scatter_min(self, sparse_delta: Any, use_locking: bool = False, name: str | None = None) -> Any:
        """An op that takes the lesser of its rows and the values of IndexedSlices."""
        return self._scatter("ScatterMin", sparse_delta, use_locking, name)

    def scatter_mul(self, sparse_delta: Any, use_locking: bool = False, name: str | None = None) -> Any:
        """An op that multiplies its rows by the values of IndexedSlices."""
        return self._scatter("ScatterMul", sparse_delta, use_locking, name)

    def scatter_div(self, sparse_delta: Any, use_locking: bool = False, name: str | None = None) -> Any:
        """An op that divides its rows by the values of IndexedSlices."""
        return self._scatter("ScatterDiv", sparse_delta, use_locking, name)

    def _scattered_nd(self, op: str, indices: Any, updates: Any, name: str | None) -> Any:
        return _op(op, [self._variable, indices, updates], {"use_locking": True}, name)

    def scatter_nd_add(self, indices: Any, updates: Any, name: str | None = None) -> Any:
        """An op that adds `updates` at index vectors, the last dimension of `indices`."""
        return self._scattered_nd("ScatterNdAdd", indices, updates, name)

    def scatter_nd_sub(self, indices: Any, updates: Any, name: str | None = None) -> Any:
        """An op that subtracts `updates` at index vectors, the last dimension of `indices`."""
        return self._scattered_nd("ScatterNdSub", indices, updates, name)

    def scatter_nd_update(self, indices: Any, updates: Any, name: str | None = None) -> Any:
        """An op that puts `updates` at index vectors, the last dimension of `indices`."""
        return self._scattered_nd("ScatterNdUpdate", indices, updates, name)

    def _assign_slice(self, begin: Any, end: Any, strides: Any, value: Any, masks: dict[str, int], name: str | None) -> Any:
        return _op("StridedSliceAssign", [self._ref(), begin, end, strides, value], masks, name)

    def count_up_to(self, limit: int) -> Any:
        """An op that adds 1 and gives the value before; OutOfRangeError from `limit` on."""
        return count_up_to(self, limit)

    def __getitem__(self, key: Any) -> Any:
        from emplace.framework import strided

        return strided.getitem(self.value(), key, var=self)

    def __iter__(self) -> Any:
        return iter(self.value())  # which refuses

    def __hash__(self) -> int:
        return id(self)

    def __reduce__(self) -> Any:
        raise TypeError(f"{self!r} lives in a graph and can't be pickled; fetch its value and pickle that")

    def __repr__(self) -> str:
        return f"<tf.Variable '{self.name}' shape={self.shape} dtype={self.dtype.name}>"

    @staticmethod
    def from_proto(variable_def: Any, import_scope: str | None = None) -> Any:
        """The variable whose ops are in the graph already, from its VariableDef."""
        from emplace.framework import meta_graph

        return meta_graph._make_variable(ops.get_default_graph(), variable_def, f"{import_scope}/" if import_scope else "")

    def to_proto(self, export_scope: Any = None) -> Any:
        """A VariableDef message that names the variable's ops."""
        from emplace.proto import saved_model_pb2

        return saved_model_pb2.VariableDef(
            variable_name=self.name,
            initial_value_name=self.initial_value.name,
            initializer_name=self.initializer.name,
            snapshot_name=self._snapshot.name,
            trainable=self.trainable,
        )


RefVariable = Variable


def _wants_resource(use_resource: Any) -> bool:
    if use_resource is None:
        from emplace.framework import variable_scope

        use_resource = variable_scope.get_variable_scope().use_resource
    return settings.resource_variables if use_resource is None else bool(use_resource)


def is_variable(value: Any) -> bool:
    return isinstance(value, Variable) or hasattr(value, "_should_act_as_resource_variable")


# ---- Operations on variables.


def _on_ref(ref: Any) -> bool:
    return ref.dtype._is_ref_dtype


def assign(ref: Any, value: Any, validate_shape: Any = None, use_locking: Any = None, name: str | None = None) -> Any:
    """An op that gives a variable a new value; with `validate_shape` False of another shape too."""
    if not _on_ref(ref):
        return ref.assign(value, name=name)
    attrs = {"validate_shape": validate_shape, "use_locking": use_locking}
    return _op("Assign", [ref, value], {k: v for k, v in attrs.items() if v is not None}, name)


def _updating(op: str, method: str) -> Any:
    def function(ref: Any, value: Any, use_locking: Any = None, name: str | None = None) -> Any:
        if not _on_ref(ref):
            return getattr(ref, method)(value)
        return _op(op, [ref, value], {} if use_locking is None else {"use_locking": use_locking}, name)

    function.__name__ = function.__qualname__ = method
    function.__doc__ = f"An op that {'adds to' if op == 'AssignAdd' else 'subtracts from'} a variable; its result is the new value."
    return function


assign_add = _updating("AssignAdd", "assign_add")
assign_sub = _updating("AssignSub", "assign_sub")


def _scattering(op: str, python_name: str, locking: bool = False) -> Any:
    def function(ref: Any, indices: Any, updates: Any, use_locking: bool = locking, name: str | None = None) -> Any:
        if hasattr(ref, "_scattered"):
            return ref._scattered(op, indices, updates, name)
        if getattr(ref, "_is_eager", False):
            method = getattr(ref, python_name)
            return method(indices, updates) if "_nd_" in python_name else method(ops.IndexedSlices(ops.convert_to_tensor(updates, ref.dtype), ops.convert_to_tensor(indices)))
        return _op(op, [ref, indices, updates], {"use_locking": use_locking}, name)

    function.__name__ = function.__qualname__ = python_name
    where = "index vectors, the last dimension of" if "_nd_" in python_name else "rows"
    function.__doc__ = f"An op that changes a variable at {where} `indices` as `Variable.{python_name}` does; its result is the variable."
    return function


scatter_update = _scattering("ScatterUpdate", "scatter_update", True)
scatter_add = _scattering("ScatterAdd", "scatter_add")
scatter_sub = _scattering("ScatterSub", "scatter_sub")
scatter_mul = _scattering("ScatterMul", "scatter_mul")
scatter_div = _scattering("ScatterDiv", "scatter_div")
scatter_min = _scattering("ScatterMin", "scatter_min")
scatter_max = _scattering("ScatterMax", "scatter_max")
scatter_nd_update = _scattering("ScatterNdUpdate", "scatter_nd_update", True)
scatter_nd_add = _scattering("ScatterNdAdd", "scatter_nd_add")
scatter_nd_sub = _scattering("ScatterNdSub", "scatter_nd_sub")


def count_up_to(ref: Any, limit: int, name: str | None = None) -> Tensor:
    """An op that adds 1 and gives the value before; OutOfRangeError from `limit` on."""
    return _op("CountUpTo", [ref], {"limit": limit}, name)


def is_variable_initialized(variable: Any, name: str | None = None) -> Tensor:
    """Whether a variable has a value in the session, as a bool tensor."""
    if not _on_ref(variable):
        return variable.is_initialized(name=name)
    return _op("IsVariableInitialized", [variable], {}, name)


# ---- Collections of variables.


def global_variables(scope: Any = None) -> list[Any]:
    """The graph's variables that are shared and saved, those of a scope if one is given."""
    return ops.get_collection(GraphKeys.GLOBAL_VARIABLES, scope)


def local_variables(scope: Any = None) -> list[Any]:
    """The graph's local variables, those of a scope if one is given."""
    return ops.get_collection(GraphKeys.LOCAL_VARIABLES, scope)


def trainable_variables(scope: Any = None) -> list[Any]:
    """The graph's variables that optimizers change, those of a scope if one is given."""
    return ops.get_collection(GraphKeys.TRAINABLE_VARIABLES, scope)


def model_variables(scope: Any = None) -> list[Any]:
    """The graph's variables in the collection MODEL_VARIABLES, those of a scope if one is given."""
    return ops.get_collection(GraphKeys.MODEL_VARIABLES, scope)


def moving_average_variables(scope: Any = None) -> list[Any]:
    """The graph's variables that have moving averages, those of a scope if one is given."""
    return ops.get_collection(GraphKeys.MOVING_AVERAGE_VARIABLES, scope)


def variables_initializer(var_list: Any, name: str = "init") -> Any:
    """An op that initializes these variables."""
    if var_list:
        return control_flow_ops.group(*[v.initializer for v in var_list], name=name)
    return control_flow_ops.group(name=name)


def global_variables_initializer() -> Any:
    """An op that initializes all global variables of the graph."""
    return variables_initializer(global_variables())


def local_variables_initializer() -> Any:
    """An op that initializes all local variables of the graph."""
    return variables_initializer(local_variables())


def report_uninitialized_variables(var_list: Any = None, name: str = "report_uninitialized_variables") -> Any:
    """The names of variables without a value, as a vector of strings."""
    if var_list is None:
        var_list = global_variables() + local_variables()
    with name_scope(name):
        masks = [is_variable_initialized(v) for v in var_list]
        with ops.device("/cpu:0"):
            if not var_list:
                return constant_op.constant([], dtype=dtypes.string)
            missing = _op("LogicalNot", [array_ops.stack(masks)], {})
            names = constant_op.constant([v.op.name for v in var_list])
            return array_ops.boolean_mask(names, missing)


def assert_variables_initialized(var_list: Any = None) -> Any:
    """An op that fails if a variable has no value; None if there are no variables."""
    var_list = global_variables() + local_variables() if var_list is None else var_list
    if not var_list:
        return None
    ranks = [_op("Rank", [v._ref()], {}) for v in var_list]
    return array_ops.stack(ranks)
