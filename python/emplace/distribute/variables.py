"""Variables with a copy for each replica, and those that only take in what replicas assign."""

from __future__ import annotations

import contextlib
import inspect
from typing import Any, Callable, Iterator

from emplace.distribute import contexts, cross_device_ops, values
from emplace.eager import context, tape, variables
from emplace.framework import ops
from emplace.framework.variables import VariableAggregation, VariableSynchronization, trained

_UNTOLD = (
    "You must specify an aggregation method to update a {0} in Replica Context. You can do so by passing an explicit value for argument "
    "`aggregation` to tf.Variable(..).e.g. `tf.Variable(..., aggregation=tf.VariableAggregation.SUM)``tf.VariableAggregation` lists the "
    "possible aggregation methods.This is required because {0} should always be kept in sync. When updating them or assigning to them in a "
    "replica context, we automatically try to aggregate the values before updating the variable. For this aggregation, we need to know the "
    "aggregation method. Another alternative is to not try to update such {0} in replica context, but in cross replica context. You can enter "
    "cross replica context by calling `tf.distribute.get_replica_context().merge_call(merge_fn, ..)`.Inside `merge_fn`, you can then update the "
    "{0} using `tf.distribute.StrategyExtended.update()`."
)
_SCATTERS = {"ResourceScatterUpdate": "scatter_update", "ResourceScatterMax": "scatter_max", "ResourceScatterMin": "scatter_min"}


def _is(aggregation: Any, kind: VariableAggregation) -> bool:
    return bool(aggregation.value == kind.value)


def aggregated(strategy: Any, aggregation: Any, value: Any, destinations: Any) -> Any:
    """What the replicas' values come to, on the destinations; a value that is the same everywhere stays."""
    if _is(aggregation, VariableAggregation.ONLY_FIRST_REPLICA):
        first = value.values[0] if isinstance(value, values.DistributedValues) else value
        return strategy.extended.broadcast_to(first, destinations)
    alone = not strategy.extended._in_multi_worker_mode()
    if alone and not isinstance(value, values.DistributedValues) and _is(aggregation, VariableAggregation.MEAN):
        return value
    return strategy.extended.reduce_to(cross_device_ops.ReduceOp.from_variable_aggregation(aggregation), value, destinations)


def read_of(changed: Any) -> Any:
    """A variable after it was changed, as a tensor that comes after the change."""
    return changed.read_value() if hasattr(changed, "read_value") else changed


def _spread_out(strategy: Any, aggregation: Any, given: Any, change: Callable[[Any, Any], Any], variable: Any) -> Any:
    """In a replica: what all replicas give comes together, then each copy changes by it."""
    def merge(across: Any, value: Any) -> Any:
        changed = across.extended.update(variable, change, (aggregated(across, aggregation, value, variable),))
        return values.Mirrored(map(read_of, changed.values)) if isinstance(changed, values.Mirrored) else changed

    return contexts.get_replica_context().merge_call(merge, args=(given,))


class DistributedVariable(values.DistributedValues, variables.Variable):
    """A copy on the device of each replica. In a replica it stands for the copy there, elsewhere for the first one."""

    __hash__ = variables.Variable.__hash__

    def __new__(cls, *_: Any) -> Any:
        return object.__new__(cls)

    def __init__(self, strategy: Any, copies: Any, aggregation: Any) -> None:
        values.DistributedValues.__init__(self, copies)
        self._strategy, self._aggregation_kind = strategy, aggregation
        for v in self._values:
            v._copy_of = self
            v._distributed_container = lambda: self  # Keras asks copies so

    # What a variable is made of, its first copy knows; which buffer is meant depends on who asks.
    _handle = property(lambda self: self._get()._handle)
    _device = property(lambda self: self._get().device)
    _dtype = property(lambda self: self._primary._dtype)
    _shape = property(lambda self: self._primary._shape)
    _name = property(lambda self: self._primary._name)
    _owner = property(lambda self: self._primary._owner)
    _trainable = property(lambda self: self._primary._trainable)
    _constraint = property(lambda self: self._primary._constraint)
    _synchronization = property(lambda self: self._primary._synchronization)
    _aggregation = property(lambda self: self._aggregation_kind)
    distribute_strategy = property(lambda self: self._strategy)

    def set_shape(self, shape: Any) -> None:
        for v in self._values:
            v.set_shape(shape)

    def _in_replica(self) -> bool:
        return contexts.in_replica_of(self._strategy) and contexts.replica_index() is not None

    def _on_all(self, change: Callable[[Any, Any], Any], given: Any) -> Any:
        return self._strategy.extended.update(self, change, (given,))

    def _assigned(self, op: str, value: Any, read_value: bool) -> Any:
        def change(copy: Any, given: Any) -> Any:
            return variables.Variable._assigned(copy, op, given, read_value)

        return self._changed(op, change, value)

    def _scatter(self, op: str, indices: Any, updates: Any) -> Any:
        def change(copy: Any, given: Any) -> Any:
            return variables.Variable._scatter(copy, op, given.indices, given.values)

        return self._changed(op, change, ops.IndexedSlices(*(context.v2(ops.convert_to_tensor)(x) for x in (updates, indices))))

    def _changed(self, op: str, change: Callable[[Any, Any], Any], value: Any) -> Any:
        raise NotImplementedError


class MirroredVariable(DistributedVariable):
    """Copies that are kept alike: whatever changes one changes all."""

    def _changed(self, op: str, change: Callable[[Any, Any], Any], value: Any) -> Any:
        index = contexts.replica_index()
        if not self._in_replica():
            return self._on_all(change, value) if index is None else change(self._values[index], value)
        if _is(self._aggregation, VariableAggregation.NONE):
            return change(self._of_this_replica_alone(), value)  # as TensorFlow has it
        if op in _SCATTERS and not _is(self._aggregation, VariableAggregation.ONLY_FIRST_REPLICA):
            raise NotImplementedError(f"{_SCATTERS[op]} does not support VariableAggregation.{self._aggregation.name}; it can only be used with ONLY_FIRST_REPLICA or NONE in a replica context")
        return _spread_out(self._strategy, self._aggregation, value, change, self)


    def _of_this_replica_alone(self) -> Any:
        copy = self._get()
        if sum(v is copy for v in self._values) > 1:
            raise ValueError(
                f"Replicas of a deterministic strategy share '{self.name}': one of them can't change it for itself. Give it an `aggregation`, "
                "or make it with trainable=False for a copy in each replica."
            )
        return copy


class SyncOnReadVariable(DistributedVariable):
    """Copies that each replica changes for itself; who reads it across replicas gets what they come to."""

    def _changed(self, op: str, change: Callable[[Any, Any], Any], value: Any) -> Any:
        if self._in_replica():
            return change(self._get(), value)
        if op.startswith("ResourceScatter"):
            raise NotImplementedError(f"{type(self).__name__} does not support `scatter` operations in cross-replica context")
        if _is(self._aggregation, VariableAggregation.SUM):
            return self._assigned_sum(op, change, value)
        self._on_all(change, value)
        return self.read_value()

    def _assigned_sum(self, op: str, change: Callable[[Any, Any], Any], value: Any) -> Any:
        if op != "AssignVariableOp":
            name = {"AssignAddVariableOp": "assign_add", "AssignSubVariableOp": "assign_sub"}.get(op, op)
            raise ValueError(f"SyncOnReadVariable does not support `{name}` in cross-replica context when aggregation is set to `tf.VariableAggregation.SUM`.")
        whole = context.v2(ops.convert_to_tensor)(value, dtype=self.dtype)
        self._on_all(change, cross_device_ops._divided(whole, self._strategy.num_replicas_in_sync))
        return self.read_value()

    def read_value(self) -> Any:
        """In a replica its own copy; elsewhere what all copies come to."""
        if self._in_replica() or contexts.replica_index() is not None:
            return super().read_value()
        if _is(self._aggregation, VariableAggregation.ONLY_FIRST_REPLICA):
            return self._primary.read_value()
        kind = cross_device_ops.ReduceOp.from_variable_aggregation(self._aggregation)
        parts = [v.read_value() for v in self._values]
        return self._strategy.extended._cross_device_ops.reduce(kind, values.PerReplica(parts), self._primary)

    def _outside(self) -> Any:
        with context.eager_mode():
            return self.read_value()


class AggregatingVariable(variables.Variable):
    """One variable of a strategy whose replicas share it: what they assign comes together first."""

    def __new__(cls, *_: Any, **__: Any) -> Any:
        return object.__new__(cls)

    def __init__(self, strategy: Any, variable: Any, aggregation: Any) -> None:
        self.__dict__.update(variable.__dict__)
        self._strategy, self._aggregation = strategy, aggregation
        self._plain = variable

    def _assigned(self, op: str, value: Any, read_value: bool) -> Any:
        def change(_: Any, given: Any) -> Any:
            return variables.Variable._assigned(self._plain, op, given, read_value)

        if not contexts.in_replica_of(self._strategy):
            return change(None, value)
        if _is(self._aggregation, VariableAggregation.NONE):
            raise ValueError(_UNTOLD.format(type(self).__name__))
        return _spread_out(self._strategy, self._aggregation, value, change, self)


_POSITIONS = tuple(inspect.signature(variables.Variable.__init__).parameters)[2:]  # after `initial_value`


def made_in(where: contexts.Context, args: Any, kwargs: dict[str, Any]) -> Any:
    """The variable of a strategy's scope or replica. Replicas share what the first of them makes."""
    given = dict(zip(("initial_value", *_POSITIONS), args)) | kwargs
    if contexts.in_session_graph():
        return made_in_graph(where, given)
    initial_value = given.pop("initial_value", None)
    thread = getattr(where.replica, "_thread", None)
    if thread is None:
        return where.strategy.extended._make_variable(initial_value, given)
    return thread.shared_variable(lambda: where.strategy.extended._make_variable(initial_value, given))


def made_in_graph(where: contexts.Context, given: dict[str, Any]) -> Any:
    """The same in a graph that a session runs; None without a strategy."""
    from emplace.distribute import graph_variables

    if not where.strategy.extended._several or not contexts.in_session_graph():
        return None
    thread = getattr(where.replica, "_thread", None)
    if thread is None:
        return graph_variables.create(where.strategy, given)
    return thread.shared_variable(lambda: graph_variables.create(where.strategy, given))


def create(strategy: Any, initial_value: Any, kwargs: dict[str, Any]) -> Any:
    """A mirrored variable, or one that is brought together when it is read, as `synchronization` says."""
    aggregation = kwargs.get("aggregation") or VariableAggregation.NONE
    on_read = kwargs.get("synchronization", VariableSynchronization.AUTO) == VariableSynchronization.ON_READ
    kwargs["trainable"] = trained(kwargs.get("trainable"), kwargs.get("synchronization"))
    if not on_read:
        kwargs["synchronization"] = VariableSynchronization.ON_WRITE
    copies = _copies(strategy.extended.worker_devices, initial_value, kwargs, strategy.extended._shares(on_read, kwargs["trainable"], aggregation))
    return (SyncOnReadVariable if on_read else MirroredVariable)(strategy, copies, aggregation)


def _copies(devices: tuple[str, ...], initial_value: Any, kwargs: dict[str, Any], shared: bool) -> list[Any]:
    """One for each device in turn, or for each of those that are different; all begin with the first one's value."""
    made: list[Any] = []
    on: dict[str, Any] = {}
    for i, device in enumerate(devices):
        if shared and device in on:
            made.append(on[device])
            continue
        with _on(device):
            made.append(_copy(made[0], i, kwargs) if made else plain(initial_value, kwargs))
        on[device] = made[-1]
    return made


@contextlib.contextmanager
def _on(device: str) -> Iterator[None]:
    """What is made at once is made there, whatever graph is being built."""
    devices = context._state.devices
    devices.append(device)
    try:
        yield
    finally:
        devices.pop()


def plain(initial_value: Any, kwargs: dict[str, Any]) -> Any:
    """An ordinary variable, where the caller is."""
    return variables.ResourceVariable(initial_value, **kwargs)


def _copy(first: Any, index: int, kwargs: dict[str, Any]) -> Any:
    name = f"{first._shared_name}/replica_{index}"
    with tape.not_recording():
        made = plain(first._outside(), {**kwargs, "name": "Variable", "dtype": None})
    made._name = f"{name}:0"
    return made


