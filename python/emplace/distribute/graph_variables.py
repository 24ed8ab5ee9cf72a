"""Variables of strategies in graphs that sessions run: a copy on each device, initialized, saved and restored as one."""

from __future__ import annotations

from typing import Any, Callable

from emplace.distribute import contexts, cross_device_ops, values, variables
from emplace.framework import array_ops, control_flow_ops, math_ops, ops
from emplace.framework.ops import GraphKeys
from emplace.framework.resource_variables import ResourceVariable
from emplace.framework.variables import VariableAggregation, VariableSynchronization, trained

_KEPT = ("validate_shape", "caching_device", "name", "dtype", "constraint", "shape", "synchronization", "aggregation")


class GraphVariable(values.DistributedValues, ResourceVariable):
    """In a replica it stands for the copy there, elsewhere for the first one."""

    def __new__(cls, *_: Any) -> Any:
        return object.__new__(cls)

    def __init__(self, strategy: Any, copies: list[Any], aggregation: Any, trainable: bool) -> None:
        values.DistributedValues.__init__(self, copies)
        self._strategy, self._aggregation, self._trainable = strategy, aggregation, trainable
        self._save_slice_info: Any = None
        for v in copies:
            v._trainable, v._copy_of = trainable, self
            v._distributed_container = lambda: self
        self._initializer_op = control_flow_ops.group(*(v.initializer for v in copies), name=f"{copies[0]._shared_name}/group_init/")

    def __getattr__(self, name: str) -> Any:
        """What a variable is made of, its copies know."""
        if name.startswith("__") or name == "_values":
            raise AttributeError(name)
        return getattr(self._get(), name)

    @property
    def name(self) -> str:
        return str(self._primary.name)

    def set_shape(self, shape: Any) -> None:
        for v in self._values:
            v.set_shape(shape)

    def is_initialized(self, name: str | None = None) -> Any:
        return math_ops.reduce_all(array_ops.stack([v.is_initialized() for v in self._values]), name=name)

    def load(self, value: Any, session: Any = None) -> None:
        for v in self._values:
            v.load(value, session)

    def _in_replica(self) -> bool:
        return contexts.in_replica_of(self._strategy) and contexts.replica_index() is not None

    def _update(self, op: str, value: Any, name: str | None, read_value: bool) -> Any:
        return self._changed(op, lambda copy, given: ResourceVariable._update(copy, op, given, name, read_value), value)

    def _scattered(self, op: str, indices: Any, updates: Any, name: str | None) -> Any:
        slices = ops.IndexedSlices(ops.convert_to_tensor(updates, dtype=self.dtype), ops.convert_to_tensor(indices))
        return self._changed(op, lambda copy, given: ResourceVariable._scattered(copy, op, given.indices, given.values, name), slices)

    def _changed(self, op: str, change: Callable[[Any, Any], Any], value: Any) -> Any:
        index = contexts.replica_index()
        if not self._in_replica():
            return self._changed_everywhere(change, value) if index is None else change(self._values[index], value)
        return self._changed_in_replica(change, value)

    def _changed_everywhere(self, change: Callable[[Any, Any], Any], value: Any) -> Any:
        with contexts.across(self._strategy):
            return self._strategy.extended.update(self, change, (value,))

    def _changed_in_replica(self, change: Callable[[Any, Any], Any], value: Any) -> Any:
        raise NotImplementedError

    def _restored(self, value: Any) -> Any:
        """An operation that gives the copies what a checkpoint has of the variable."""
        return control_flow_ops.group(*(v.assign(value, read_value=False) for v in self._values))


class MirroredVariable(GraphVariable):
    """Copies that are kept alike: whatever changes one changes all."""

    def _changed_in_replica(self, change: Callable[[Any, Any], Any], value: Any) -> Any:
        if self._aggregation.value == VariableAggregation.NONE.value:
            return change(self._get(), value)
        return variables._spread_out(self._strategy, self._aggregation, value, change, self)


class SyncOnReadVariable(GraphVariable):
    """Copies that each replica changes for itself; who reads it across replicas gets what they come to."""

    def _changed_in_replica(self, change: Callable[[Any, Any], Any], value: Any) -> Any:
        return change(self._get(), value)

    def _update(self, op: str, value: Any, name: str | None, read_value: bool) -> Any:
        if contexts.replica_index() is None and self._sums() and op != "AssignVariableOp":
            said = {"AssignAddVariableOp": "assign_add", "AssignSubVariableOp": "assign_sub"}.get(op, op)
            raise ValueError(f"SyncOnReadVariable does not support `{said}` in cross-replica context when aggregation is set to `tf.VariableAggregation.SUM`.")
        return super()._update(op, value, name, read_value)

    def _sums(self) -> bool:
        return bool(self._aggregation.value == VariableAggregation.SUM.value)

    def _changed_everywhere(self, change: Callable[[Any, Any], Any], value: Any) -> Any:
        if self._sums():
            value = cross_device_ops._divided(ops.convert_to_tensor(value, dtype=self.dtype), len(self._values))
        with ops.control_dependencies([super()._changed_everywhere(change, value)]):
            return self._read()

    def _restored(self, value: Any) -> Any:
        return super()._restored(cross_device_ops._divided(value, len(self._values)) if self._sums() else value)

    def _read(self, name: str | None = None, colocate: bool = False) -> Any:
        if contexts.replica_index() is not None:
            return self._get()._read(name, colocate)
        if self._aggregation.value == VariableAggregation.ONLY_FIRST_REPLICA.value:
            return self._primary._read(name, colocate)
        kind = cross_device_ops.ReduceOp.from_variable_aggregation(self._aggregation)
        parts = values.PerReplica([v._read() for v in self._values])
        return self._strategy.extended._cross_device_ops.reduce(kind, parts, self._primary)

    def _as_graph_element(self) -> Any:
        if contexts.replica_index() is not None:
            return self._get()._as_graph_element()
        if "_element" not in self.__dict__:
            with self._primary.graph.as_default():
                self._element = self._read()
        return self._element


def create(strategy: Any, given: dict[str, Any]) -> Any:
    """The variable that `tf.Variable` or `tf.get_variable` makes in a strategy's scope or replica."""
    extended = strategy.extended
    devices = extended._devices_of_variable()
    aggregation = given.get("aggregation") or VariableAggregation.NONE
    on_read = given.get("synchronization") == VariableSynchronization.ON_READ
    trainable = trained(given.get("trainable"), given.get("synchronization"))
    copies = _copies(devices, given.get("initial_value"), {k: v for k, v in given.items() if k in _KEPT and v is not None})
    if not extended._mirrors:
        made = copies[0]
        made._trainable, made._strategy = trainable, strategy
    else:
        made = (SyncOnReadVariable if on_read else MirroredVariable)(strategy, copies, aggregation, trainable)
    _collect(made, given.get("collections"), trainable)
    return made


def _copies(devices: tuple[str, ...], initial_value: Any, how: dict[str, Any]) -> list[Any]:
    """All begin with the first one's initial value."""
    made: list[Any] = []
    for i, device in enumerate(devices):
        if made:
            first = made[0].initial_value
            how = {**how, "name": f"{made[0]._shared_name}/replica_{i}/", "dtype": None}
            initial_value = lambda first=first: array_ops.identity(first)  # noqa: E731
        with ops.get_default_graph().colocate_with(None, ignore_existing=True), ops.device(device):
            made.append(ResourceVariable(initial_value, trainable=False, collections=[], **how))
    return made


def _collect(made: Any, collections: Any, trainable: bool) -> None:
    collections = [GraphKeys.GLOBAL_VARIABLES] if collections is None else list(collections)
    if trainable and GraphKeys.TRAINABLE_VARIABLES not in collections:
        collections.append(GraphKeys.TRAINABLE_VARIABLES)
    ops.add_to_collections(collections, made)
