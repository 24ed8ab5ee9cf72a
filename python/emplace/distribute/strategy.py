"""What all strategies share: replicas on devices, and what is reduced, gathered and updated across them."""

from __future__ import annotations

import contextlib
from typing import Any

from emplace.distribute import contexts, cross_device_ops, inputs, replica_context, replicas, speeds, values, variables
from emplace.distribute.cross_device_ops import ReduceOp, as_reduce_op
from emplace.eager import autograph, config, context, func_graph, nest
from emplace.eager.functions import maths
from emplace.framework import array_ops, control_flow_ops, device_spec, math_ops, ops, settings
from emplace.framework.thread_state import own


def host() -> str:
    """This process's first CPU."""
    return f"{context.here()}/device:CPU:0"


def full_name(device: Any) -> str:
    """A device's name with its job and task."""
    text = context._text(device)
    return device_spec.DeviceSpecV2.from_string(context.here()).make_merged_spec(device_spec.DeviceSpecV2.from_string(text)).to_string()


def placed_softly(devices: tuple[str, ...]) -> None:
    """What a replica's device has no kernel for runs on the host, unless the program has decided about that; a device that
    is not there is told of."""
    if settings.soft_device_placement is None:
        context.set_soft_device_placement(True)
    there = {full_name(d.name) for d in config.list_logical_devices()}
    for device in devices:
        if device.startswith(context.here()) and device not in there:
            log().warning(f"There is no device {device}: what is placed there softly goes to another one, or fails.")


def log() -> Any:
    from emplace.compat.v1 import logging

    return logging


class StrategyExtended:
    """The part of a strategy that libraries use: its devices, and operations across replicas."""

    _unlike = False  # replicas get parts of a batch that are not as large
    _copies_variables = True  # each replica's device has a copy of its own
    _mirrors = False  # … kept alike, even where there is one
    _several = True  # replicas are apart from the code around them, even where there is one
    _first_replica = 0  # the number of the first one here, where other workers have some too

    def __init__(self, strategy: Any, devices: tuple[str, ...], ops_across: Any = None) -> None:
        self._strategy, self._devices = strategy, devices
        self._cross_device_ops = ops_across or cross_device_ops.ReductionToOneDevice()
        self._functions: dict[int, Any] = {}  # of `run`, by the function that it was given
        if self._several:
            placed_softly(devices)

    # ---- What there is.

    worker_devices = property(lambda self: self._devices)
    parameter_devices = property(lambda self: self._devices)
    experimental_require_static_shapes = property(lambda self: False)
    experimental_between_graph = property(lambda self: False)
    experimental_should_init = property(lambda self: True)
    should_checkpoint = property(lambda self: True)
    should_save_summary = property(lambda self: True)

    @property
    def _num_replicas_in_sync(self) -> int:
        return len(self._devices)

    def _replica_context(self, index: int = 0) -> Any:
        return replica_context.ReplicaContext(self._strategy, index)

    def _in_multi_worker_mode(self) -> bool:
        return False

    def _use_merge_call(self) -> bool:
        return True

    # ---- Variables.

    def _make_variable(self, initial_value: Any, kwargs: dict[str, Any]) -> Any:
        raise NotImplementedError

    def _devices_of_variable(self) -> tuple[str, ...]:
        """Where the next variable of a session's graph has its copies."""
        return self._devices if self._copies_variables else self.parameter_devices

    def _shares(self, on_read: bool, trainable: bool, aggregation: Any) -> bool:
        """Do replicas on one device share their copy of such a variable?"""
        return not on_read and (trainable or aggregation.value != 0)

    def variable_created_in_scope(self, v: Any) -> bool:
        """Whether the variable was made in the strategy's scope."""
        return getattr(v, "_strategy", None) is self._strategy

    def value_container(self, value: Any) -> Any:
        """The variable that a copy belongs to; anything else is its own."""
        return getattr(value, "_copy_of", value)

    def colocate_vars_with(self, colocate_with_variable: Any) -> Any:
        """Variables made within it go to the devices of another."""
        return contextlib.nullcontext()

    def read_var(self, v: Any) -> Any:
        """The value of a variable, of the first copy or of what the copies come to."""
        return v.read_value()

    # ---- Running.

    def call_for_each_replica(self, fn: Any, args: Any = (), kwargs: Any = None) -> Any:
        """Calls a function in each replica; returns the replicas' results put together."""
        contexts.require_cross(self._strategy)
        made = [self._replica_context(i) for i in range(len(self._devices))]
        if self._unlike:
            for replica, parts in zip(made, speeds.parts(args, kwargs or {}) or ()):
                replica._parts = parts
        return replicas.call_each(self._strategy, made, self._devices, fn, args, kwargs or {})

    def experimental_make_numpy_dataset(self, numpy_input: Any, session: Any = None) -> Any:
        """A dataset of the rows of arrays."""
        return inputs.dataset.Dataset.from_tensor_slices(numpy_input)

    # ---- Data.

    def _input_context(self) -> Any:
        return inputs.InputContext(1, 0, self._num_replicas_in_sync)

    def _divided(self, dataset: Any, options: Any) -> Any:
        return inputs.divided(self, dataset)

    def _distributed_from(self, dataset: Any) -> Any:
        return inputs.in_turn(self, dataset)

    # ---- Reducing.

    def _everywhere(self) -> Any:
        """What stands for all devices of the replicas."""
        return _Places(self._devices)

    def _of_each(self, value: Any) -> Any:
        if isinstance(value, values.DistributedValues) or len(self._devices) == 1:
            return value
        # One tensor that eager replicas share counts once, as in TensorFlow.
        return values.PerReplica([value] * (1 if context.outside_graph() else len(self._devices)))

    def _gathered_everywhere(self, value: Any, axis: int) -> Any:
        parts = self._of_each(value)
        parts = parts.values if isinstance(parts, values.DistributedValues) else (parts,)
        return self._cross_device_ops.broadcast(self._gathered(list(parts), axis, self._devices[0]), self._everywhere())

    def _gathered(self, parts: list[Any], axis: int, device: str) -> Any:
        """The replicas' parts one behind the other."""
        return cross_device_ops.gather(parts, axis, device)

    def reduce_to(self, reduce_op: Any, value: Any, destinations: Any, options: Any = None) -> Any:
        """The sum or mean of the replicas' values, on the devices of the destinations."""
        kind = as_reduce_op(reduce_op)
        if isinstance(value, values.DistributedValues):
            return self._cross_device_ops.reduce(kind, value, destinations, options)
        return self._reduced_alike(kind, value, destinations)

    def _reduced_alike(self, kind: ReduceOp, value: Any, destinations: Any) -> Any:
        """Of a value that is one for all replicas."""
        if isinstance(value, (int, float)) and value == 0:
            return 0
        if kind == ReduceOp.SUM and len(self._devices) > 1:
            raise ValueError(f"A non-DistributedValues value {value!s} cannot be reduced with the given reduce op {kind}.")
        return value if len(self._devices) == 1 else self.broadcast_to(value, destinations)

    def batch_reduce_to(self, reduce_op: Any, value_destination_pairs: Any, options: Any = None) -> list[Any]:
        """`reduce_to` of each pair of a value and its destinations."""
        return [self.reduce_to(reduce_op, v, d, options) for v, d in value_destination_pairs]

    def broadcast_to(self, tensor: Any, destinations: Any) -> Any:
        """The tensor on each device of the destinations."""
        return self._cross_device_ops.broadcast(tensor, destinations)

    # ---- Updating.

    def update(self, var: Any, fn: Any, args: Any = (), kwargs: Any = None, group: bool = True) -> Any:
        """Calls `fn(copy, …)` for each copy of a variable, on its device, with the replica's part of the arguments."""
        if contexts.in_replica_of(self._strategy) and self._several:
            return self._replica_update(var, fn, args, kwargs or {}, group)
        copies = var.values if isinstance(var, values.DistributedValues) else (var,)
        made: dict[int, Any] = {}
        for i, copy in enumerate(copies):  # replicas on one device may share theirs
            if id(copy) not in made:
                made[id(copy)] = self._updated(i, copy, fn, args, kwargs or {})
        if not isinstance(var, values.DistributedValues):
            return made[id(var)]
        if not group:
            return tuple(made.values())
        if contexts.in_session_graph():
            return _grouped([made[id(c)] for c in copies], copies)
        read = variables.read_of if context.outside_graph() else lambda changed: changed  # in a graph only who asks reads it again
        return values.regroup([read(made[id(c)]) for c in copies], values.Mirrored)

    def _updated(self, index: int, copy: Any, fn: Any, args: Any, kwargs: Any) -> Any:
        given, named = values.select(index, (tuple(args), dict(kwargs)))
        with contexts.updating(self._strategy, index), _beside_nothing(), context.device(copy.device or None):
            return fn(copy, *given, **named)

    def _replica_update(self, var: Any, fn: Any, args: Any, kwargs: Any, group: bool) -> Any:
        def merge(strategy: Any, var: Any, *args: Any, **kwargs: Any) -> Any:
            return strategy.extended.update(var, fn, args, kwargs, group)

        return contexts.get_replica_context().merge_call(merge, (var, *args), kwargs)

    def update_non_slot(self, colocate_with: Any, fn: Any, args: Any = (), kwargs: Any = None, group: bool = True) -> Any:
        """Calls `fn` once, where variables that belong to no other one are."""
        with contexts.across(self._strategy):
            return fn(*args, **(kwargs or {}))

    def non_slot_devices(self, var_list: Any) -> Any:
        """Where variables that belong to no other one are."""
        return self._devices

    def _local_results(self, value: Any) -> tuple[Any, ...]:
        return tuple(value.values) if isinstance(value, values.DistributedValues) else (value,)


def _beside_nothing() -> Any:
    """In a session's graph: without the colocation of the scopes around, which may be with another copy."""
    if not contexts.in_session_graph():
        return contextlib.nullcontext()
    return ops.get_default_graph().colocate_with(None, ignore_existing=True)


def _grouped(changed: list[Any], copies: Any) -> Any:
    """Of updates in a session's graph: the values as they are once all copies have changed."""
    done = control_flow_ops.group(*changed)
    if any(isinstance(c, ops.Operation) for c in changed):
        return done
    after = []
    for value, copy in zip(changed, copies):
        with context.device(copy.device or None), ops.control_dependencies([done]):
            after.append(array_ops.identity(value))
    return after[0] if len(after) == 1 else values.Mirrored(after)


class _Places:
    """Destinations that are nothing but devices."""

    def __init__(self, devices: tuple[str, ...]) -> None:
        self.devices = devices


class Strategy:
    """How one program is run by several replicas. Made by its subclasses."""

    _of_version1 = False
    _known_as = ""  # in TensorFlow's messages, where that is not the class's name

    def __init__(self, extended: Any) -> None:
        self._extended = extended

    extended = property(lambda self: self._extended)
    cluster_resolver = property(lambda self: None)

    @property
    def num_replicas_in_sync(self) -> int:
        replica = own.distribution[-1].replica if own.distribution else None
        if replica is not None and replica.strategy is self and replica._parts is not None:
            return replica._parts
        return self._extended._num_replicas_in_sync

    def __deepcopy__(self, memo: Any) -> "Strategy":
        return self

    def scope(self) -> Any:
        """Within it variables are the strategy's, and code runs across its replicas."""
        return _Scope(self)

    # ---- Running.

    def run(self, fn: Any, args: Any = (), kwargs: Any = None, options: Any = None) -> Any:
        """Calls `fn` in each replica with its part of the arguments; returns the replicas' results put together. Traced, all
        replicas are one graph."""
        contexts.require_cross(self)
        with contexts.across(self):
            if hasattr(fn, "_python_function"):
                return self._as_function(fn)(*args, **(kwargs or {}))
            self._slow_eagerly()
            return self._extended.call_for_each_replica(_converted(fn), args, kwargs)

    def _as_function(self, fn: Any) -> Any:
        """A tf.function of `fn` in all replicas."""
        from emplace.eager import function

        made = self._extended._functions.get(id(fn))
        if made is None or made[0] is not fn:
            inner = fn._python_function
            called = (lambda *args, **kwargs: autograph.call(inner, args, kwargs)) if fn._autograph else inner

            def in_replicas(*args: Any, **kwargs: Any) -> Any:
                return self._extended.call_for_each_replica(called, args, kwargs)

            made = self._extended._functions[id(fn)] = fn, function.Function(in_replicas, None, False, fn._reduce_retracing)
        return made[1]

    def _slow_eagerly(self) -> None:
        extended = self._extended
        if context.outside_graph() and extended._several and (len(extended._devices) > 1 or extended._in_multi_worker_mode()):
            _warn_slow(self._known_as or type(self).__name__)

    # ---- Across replicas.

    def reduce(self, reduce_op: Any, value: Any, axis: Any) -> Any:
        """The sum or mean of what the replicas gave; with an axis over its elements along that axis, too."""
        kind = as_reduce_op(reduce_op)
        contexts.require_cross(self)
        with contexts.across(self):
            return nest.map_structure(lambda v: self._reduced(kind, v, axis), value)

    def _reduced(self, kind: ReduceOp, value: Any, axis: Any) -> Any:
        at = context.current_device() if context.outside_graph() else ""
        if axis is None:
            return self._extended.reduce_to(kind, _alike(value) if kind == ReduceOp.MEAN else value, at or host())
        hash(axis)
        parts = [self._along(v, axis) for v in self._extended._local_results(value)]
        totals, counts = zip(*parts)
        total = self._summed(totals, at or host())
        if kind == ReduceOp.SUM:
            return total
        count = self._summed(counts, at or host())
        return context.v2(math_ops.divide)(total, context.v2(math_ops.cast)(count, total.dtype)) if total.dtype.is_floating else total // count

    def _along(self, value: Any, axis: Any) -> tuple[Any, Any]:
        tensor = context.v2(ops.convert_to_tensor)(value)
        if tensor.shape.rank == 0 and axis == 0 and self._extended._in_multi_worker_mode():
            return tensor, context.v2(array_ops.ones_like)(tensor)  # Keras reduces its metrics so, which fails on TensorFlow
        size = context.v2(array_ops.shape)(tensor)[axis]
        return context.v2(maths.reduce_sum)(tensor, axis), context.v2(math_ops.cast)(size, tensor.dtype)

    def _summed(self, parts: Any, destination: str) -> Any:
        if len(parts) == 1 and not self._extended._in_multi_worker_mode():
            return parts[0]
        return self._extended._cross_device_ops.reduce(ReduceOp.SUM, values.PerReplica(parts), destination)

    def gather(self, value: Any, axis: int) -> Any:
        """The replicas' values one behind the other along an axis."""
        if contexts.get_replica_context() is not None and own.distribution:
            raise RuntimeError("tf.distribute.Strategy.gather method requires cross-replica context, use get_replica_context().all_gather() instead")
        return nest.map_structure(lambda v: self._extended._gathered(list(self._extended._local_results(v)), axis, host()), value)

    def experimental_local_results(self, value: Any) -> tuple[Any, ...]:
        """The replicas' values as a tuple; of a structure, one structure for each replica."""
        if not nest.is_nested(value):
            return self._extended._local_results(value)
        return tuple(values.select(i, value) for i in range(len(self._extended._devices)))

    def experimental_distribute_values_from_function(self, value_fn: Any) -> Any:
        """What `value_fn(ValueContext)` gives for each replica, put together."""
        contexts.require_cross(self)
        first, n = self._extended._first_replica, self.num_replicas_in_sync
        made = [value_fn(replica_context.ValueContext(first + i, n)) for i in range(len(self._extended.worker_devices))]
        return _always_apart(made, self._extended.experimental_between_graph)

    # ---- Data.

    def make_dataset_iterator(self, dataset: Any) -> Any:
        """An iterator over a dataset whose batches are divided among the replicas."""
        return iter(self.experimental_distribute_dataset(dataset))

    def make_input_fn_iterator(self, input_fn: Any, replication_mode: Any = inputs.InputReplicationMode.PER_WORKER) -> Any:
        """An iterator over the dataset that `input_fn(InputContext)` gives, whose elements go to replicas in turn."""
        return iter(self.distribute_datasets_from_function(input_fn))

    def experimental_distribute_dataset(self, dataset: Any, options: Any = None) -> Any:
        """A dataset whose elements, batches for all replicas together, are divided among them."""
        if not isinstance(dataset, inputs.dataset.Dataset):
            raise AttributeError(f"'{type(dataset).__name__}' object has no attribute '_variant_tensor'")
        return self._extended._divided(dataset, options)

    def distribute_datasets_from_function(self, dataset_fn: Any, options: Any = None) -> Any:
        """The dataset that `dataset_fn(InputContext)` gives, whose elements in a row go to replicas in turn."""
        made = dataset_fn(self._extended._input_context())
        if not isinstance(made, inputs.dataset.Dataset):
            raise ValueError(f"dataset_fn() must return a tf.data.Dataset when using a tf.distribute.Strategy. Got {type(made)}.")
        return self._extended._distributed_from(made)

    def experimental_distribute_datasets_from_function(self, dataset_fn: Any, options: Any = None) -> Any:
        """The older name of `distribute_datasets_from_function`."""
        return self.distribute_datasets_from_function(dataset_fn, options)


def _alike(value: Any) -> Any:
    """Of a batch whose parts have not as many rows each, the rows that all have which have any: Keras takes the mean of its
    first batch so, to learn of shapes."""
    rows = {v.shape.as_list()[0] for v in value.values} if getattr(value, "of_batch", False) else set()
    if len(rows) < 2 or None in rows:
        return value
    least = min(rows - {0})
    return values.PerReplica([v[:least] for v in value.values if v.shape[0]])


def _always_apart(made: list[Any], one_too: bool) -> Any:
    first = made[0]
    if isinstance(first, (list, tuple)):
        return type(first)(_always_apart(list(row), one_too) for row in zip(*made))
    if isinstance(first, dict):
        return {k: _always_apart([m[k] for m in made], one_too) for k in first}
    return made[0] if len(made) == 1 and not one_too else values.PerReplica(made)


def _converted(fn: Any) -> Any:
    """As the function around it is being converted, so is `fn`."""
    if func_graph.innermost() is None or not own.converting:
        return fn
    return lambda *args, **kwargs: autograph.call(fn, args, kwargs)


_warned = 0


def _warn_slow(kind: str) -> None:
    global _warned
    _warned += 1
    if _warned <= 5:
        log().warning(
            f"Using {kind} eagerly has significant overhead currently. We will be working on improving this in the future, but for now "
            "please wrap `call_for_each_replica` or `experimental_run` or `run` inside a tf.function to get the best performance."
        )


class _Scope:
    """`with strategy.scope()`."""

    def __init__(self, strategy: Strategy) -> None:
        self._strategy = strategy
        self._graphs: list[Any] = []  # open while the scope is

    def __enter__(self) -> Strategy:
        inside = own.distribution[-1] if own.distribution else None
        if inside is not None and inside.strategy is not self._strategy:
            raise RuntimeError(f"Mixing different tf.distribute.Strategy objects: {inside.strategy} is not {self._strategy}")
        if inside is not None and inside.replica is not None:
            raise RuntimeError("Must not be called inside a replica: a scope is of all replicas together.")
        own.distribution.append(contexts.Context(self._strategy))
        self._graphs.append(contexts.building(self._strategy))
        self._graphs[-1].__enter__()
        return self._strategy

    def __exit__(self, *_: Any) -> None:
        if not own.distribution or own.distribution[-1].strategy is not self._strategy:
            raise RuntimeError("Exiting strategy scope without proper scope nesting.")
        self._graphs.pop().__exit__(None, None, None)
        own.distribution.pop()


class DefaultExtended(StrategyExtended):
    """Of the strategy that is none."""

    _several = False

    def _make_variable(self, initial_value: Any, kwargs: dict[str, Any]) -> Any:
        return variables.plain(initial_value, kwargs)

    def reduce_to(self, reduce_op: Any, value: Any, destinations: Any, options: Any = None) -> Any:
        """The value: there is one replica."""
        return value

    def _reduced_alike(self, kind: ReduceOp, value: Any, destinations: Any) -> Any:
        return value


class DefaultStrategy(Strategy):
    """In force where no other is: one replica, wherever the code runs."""

    def __init__(self) -> None:
        super().__init__(DefaultExtended(self, ("",)))

    def scope(self) -> Any:
        """Changes nothing."""
        return contextlib.nullcontext(self)

    def run(self, fn: Any, args: Any = (), kwargs: Any = None, options: Any = None) -> Any:
        """Calls the function."""
        with contexts.entered(contexts.Context(self, self._extended._replica_context())):
            return fn(*args, **(kwargs or {}))

    def experimental_distribute_dataset(self, dataset: Any, options: Any = None) -> Any:
        """The dataset as it is."""
        return dataset

    def distribute_datasets_from_function(self, dataset_fn: Any, options: Any = None) -> Any:
        """The dataset that the function gives."""
        return dataset_fn(inputs.InputContext())
