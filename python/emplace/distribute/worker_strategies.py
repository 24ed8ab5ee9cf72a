"""`tf.distribute.MultiWorkerMirroredStrategy`: a copy of the variables on each device of each worker, kept alike."""

from __future__ import annotations

import enum
from typing import Any, NamedTuple

from emplace.distribute import across_workers, cluster_resolver as resolvers, cross_device_ops, inputs, mirrored_strategy, strategy as strategies
from emplace.distribute import values, worker_inputs
from emplace.distribute.cross_device_ops import ReduceOp
from emplace.distribute.strategy import Strategy
from emplace.eager import config, context, func_graph, remote
from emplace.framework import ops


class CommunicationImplementation(enum.Enum):
    """How workers are to talk to each other."""

    AUTO = "AUTO"
    RING = "RING"
    NCCL = "NCCL"


class CommunicationOptions:
    """How values of several workers become one: `bytes_per_pack` limits what goes as one message (0: all), and after
    `timeout_seconds` a wait for other workers ends. Which way they take is a hint; there is one."""

    def __init__(self, bytes_per_pack: int = 0, timeout_seconds: float | None = None, implementation: Any = CommunicationImplementation.AUTO) -> None:
        if bytes_per_pack < 0:
            raise ValueError(f"Argument `bytes_per_pack` must be >=0, Received {bytes_per_pack}.")
        self.bytes_per_pack, self.timeout_seconds = bytes_per_pack, timeout_seconds
        self.implementation = CommunicationImplementation(implementation.upper()) if isinstance(implementation, str) else implementation


class RunOptions(NamedTuple):
    """Hints for `Strategy.run`, which it has no use for: they are about TPUs."""

    experimental_enable_dynamic_batch_size: bool = True
    experimental_bucketizing_dynamic_shape: bool = False
    experimental_xla_options: Any = None


class _Place(NamedTuple):
    """Which of the workers this process is."""

    spec: Any
    job: str
    task: int

    @property
    def workers(self) -> int:
        return 1 if self.job == "evaluator" else sum(len(self.spec.task_indices(j)) for j in ("chief", "worker") if j in self.spec.jobs)

    @property
    def number(self) -> int:
        return self.task + (len(self.spec.task_indices("chief")) if self.job == "worker" and "chief" in self.spec.jobs else 0)

    @property
    def is_chief(self) -> bool:
        return self.number == 0 or self.job == "evaluator"


def _place(resolver: Any) -> _Place | None:
    """Where the cluster has more to it than this process alone."""
    spec = resolver.cluster_spec()
    if not spec.as_dict():
        return None
    job, task = resolver.task_type, resolver.task_id
    if job is None or task is None:
        raise ValueError("When `cluster_spec` is given, you must also specify `task_type` and `task_id`.")
    if job not in spec.jobs or task not in spec.task_indices(job):
        raise ValueError(f"`task_type` {job!r} with `task_id` {task} is not in cluster_spec {spec.as_dict()}.")
    place = _Place(spec, "chief" if job == "master" else job, task)
    if not place.workers or place.job not in ("chief", "worker", "evaluator"):
        raise ValueError("No `worker`, `chief` or `evaluator` tasks can be found in `cluster_spec`.")
    return place


class MultiWorkerExtended(mirrored_strategy.MirroredExtended):
    """The replicas of one worker of several."""

    def __init__(self, strategy: Any, place: _Place, devices: tuple[str, ...], options: CommunicationOptions) -> None:
        self._place = place
        self._workers = across_workers.Workers(place.workers, f"{context.here()}/device:CPU:0", options.timeout_seconds)
        self._across = across_workers.CollectiveAllReduce(self._workers, devices, options)
        super().__init__(strategy, devices, self._across)
        self._first_replica = place.number * len(devices)

    experimental_between_graph = property(lambda self: True)
    should_checkpoint = property(lambda self: self._place.is_chief)
    should_save_summary = property(lambda self: self._place.is_chief)

    @property
    def _num_replicas_in_sync(self) -> int:
        return len(self._devices) * self._place.workers

    def _in_multi_worker_mode(self) -> bool:
        return self._place.workers > 1

    # ---- Variables.

    def _make_variable(self, initial_value: Any, kwargs: dict[str, Any]) -> Any:
        """All workers' begin with the chief's value."""
        if isinstance(initial_value, ops.SymbolicTensor):
            initial_value = func_graph.lifted(initial_value)

        def of_chief() -> Any:
            value = initial_value() if callable(initial_value) else initial_value
            dtype = None if isinstance(value, ops.Tensor) else kwargs.get("dtype")
            value = context.v2(ops.convert_to_tensor)(value, dtype)
            return context.v2(self._workers.from_first)(value, self._place.is_chief)

        return super()._make_variable(initial_value if initial_value is None else of_chief, kwargs)

    # ---- Reducing.

    def _of_each(self, value: Any) -> Any:
        return value if isinstance(value, values.DistributedValues) or not context.outside_graph() else super()._of_each(value)

    def reduce_to(self, reduce_op: Any, value: Any, destinations: Any, options: Any = None) -> Any:
        """The sum or mean of all workers' replicas' values; what is no replica's is each worker's own."""
        return self.batch_reduce_to(reduce_op, [(value, destinations)], options)[0]

    def batch_reduce_to(self, reduce_op: Any, value_destination_pairs: Any, options: Any = None) -> list[Any]:
        """`reduce_to` of each pair of a value and its destinations, as few operations."""
        kind = cross_device_ops.as_reduce_op(reduce_op)
        alike = [isinstance(v, values.Mirrored) and kind == ReduceOp.MEAN for v, _ in value_destination_pairs]
        made = iter(self._cross_device_ops.batch_reduce(kind, [p for p, same in zip(value_destination_pairs, alike) if not same]))
        return [p[0] if same else next(made) for p, same in zip(value_destination_pairs, alike)]

    def _gathered(self, parts: list[Any], axis: int, device: str) -> Any:
        return self._across.gather([cross_device_ops._tensor(p) for p in parts], axis)

    # ---- Data.

    def _input_context(self) -> Any:
        return inputs.InputContext(self._place.workers, self._place.number, self._num_replicas_in_sync)

    def _divided(self, dataset: Any, options: Any) -> Any:
        return worker_inputs.divided(self, dataset)

    def _distributed_from(self, made: Any) -> Any:
        return worker_inputs.in_turn(self, made)


class MultiWorkerMirroredStrategy(Strategy):
    """Training on several devices of several workers: each runs the same program, on its part of each batch.

    Which worker a process is, and where the others are, `cluster_resolver` says, or TF_CONFIG; without either there is one worker.
    """

    _known_as = "CollectiveAllReduceStrategy"

    def __init__(self, cluster_resolver: Any = None, communication_options: Any = None) -> None:
        options = communication_options or CommunicationOptions()
        if not isinstance(options, CommunicationOptions):
            raise ValueError("communication_options must be an instance of tf.distribute.experimental.CommunicationOptions")
        self._resolver = cluster_resolver or resolvers.TFConfigClusterResolver()
        if not isinstance(self._resolver, resolvers.ClusterResolver):
            raise ValueError("cluster_resolver must be an instance of tf.distribute.cluster_resolver.ClusterResolver")
        place = _place(self._resolver)
        say = strategies.log().info
        if place is None:
            devices = mirrored_strategy.default_devices()
            super().__init__(mirrored_strategy.MirroredExtended(self, devices, cross_device_ops.HierarchicalCopyAllReduce()))
            say(f"Using MirroredStrategy with devices {devices}")
            say(f"Single-worker MultiWorkerMirroredStrategy with local_devices = {devices}, communication = {options.implementation}")
            return
        remote.join_cluster(place.spec, place.job, place.task)
        say(f"Enabled multi-worker collective ops with available devices: {[d.name for d in config.list_logical_devices()]}")
        devices = mirrored_strategy.default_devices()
        super().__init__(MultiWorkerExtended(self, place, devices, options))
        told = tuple(d.replace("/replica:0", "") for d in devices)
        say(f"Using MirroredStrategy with devices {told}")
        say("Check health not enabled.")
        say(
            f"MultiWorkerMirroredStrategy with cluster_spec = {place.spec.as_dict()}, task_type = {place.job!r}, task_id = {place.task}, "
            f"num_workers = {place.workers}, local_devices = {told}, communication = {options.implementation}"
        )

    cluster_resolver = property(lambda self: self._resolver)


class TPUStrategy(Strategy):
    """Replicas on TPUs, which Emplace does not run on: it can't be made."""

    def __init__(self, tpu_cluster_resolver: Any = None, experimental_device_assignment: Any = None) -> None:
        raise NotImplementedError("TPUStrategy: TPUs are not part of Emplace")
