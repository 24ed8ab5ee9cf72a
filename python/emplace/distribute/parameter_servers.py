"""`ParameterServerStrategy`: variables on servers of their own, steps on workers, handed out by a coordinator."""

from __future__ import annotations

import itertools
from typing import Any

from emplace.distribute import cross_device_ops, strategy as strategies, variables
from emplace.distribute.strategy import Strategy, StrategyExtended
from emplace.eager import context, remote


class ParameterServerExtended(StrategyExtended):
    """One replica a step, on whichever worker it is handed to; variables on the servers in turn."""

    _copies_variables = False
    parameter_devices = property(lambda self: self._servers)

    def __init__(self, strategy: Any, spec: Any) -> None:
        super().__init__(strategy, ("",), cross_device_ops.ReductionToOneDevice())
        self._servers = tuple(f"/job:ps/replica:0/task:{i}/device:CPU:0" for i in spec.task_indices("ps"))
        self._turns = itertools.count()
        self._coordinated = False

    def _devices_of_variable(self) -> tuple[str, ...]:
        return (self._servers[next(self._turns) % len(self._servers)],)

    def _make_variable(self, initial_value: Any, kwargs: dict[str, Any]) -> Any:
        with variables._on(self._devices_of_variable()[0]):
            made = variables.plain(initial_value, kwargs)
        made._strategy = self._strategy
        return made

    def reduce_to(self, reduce_op: Any, value: Any, destinations: Any, options: Any = None) -> Any:
        """The value: a step has one replica."""
        return value


class ParameterServerStrategy(Strategy):
    """Training by many workers that need not wait for each other, with the variables on servers.

    One process, the coordinator, runs the program: it hands steps to workers by a `tf.distribute.coordinator.ClusterCoordinator`.
    The others are `tf.distribute.Server`s of the jobs "worker" and "ps".
    """

    def __init__(self, cluster_resolver: Any, variable_partitioner: Any = None) -> None:
        if variable_partitioner is not None:
            raise NotImplementedError("variable_partitioner: variables in several parts are not part of Emplace")
        spec = cluster_resolver.cluster_spec()
        if not spec:
            raise ValueError("Cluster spec must be non-empty in `tf.distribute.cluster_resolver.ClusterResolver`.")
        _check(spec, cluster_resolver.task_type, cluster_resolver.task_id)
        say = strategies.log().info
        say(f"`tf.distribute.experimental.ParameterServerStrategy` is initialized with cluster_spec: {spec}")
        say(f"{type(self).__name__}V2 is now connecting to cluster with cluster_spec: {spec!r}")
        remote.join_cluster(spec, "chief", 0)
        self._resolver, self._coordinator = cluster_resolver, None
        super().__init__(ParameterServerExtended(self, spec))
        say("Number of GPUs on workers: 0")

    cluster_resolver = property(lambda self: self._resolver)

    def _slow_eagerly(self) -> None:
        if context.outside_graph():
            strategies._warn_slow("ParameterServerStrategyV2")


def _check(spec: Any, job: Any, task: Any) -> None:
    known = ("chief", "worker", "evaluator", "ps")
    for name in spec.jobs:
        if name not in known:
            raise ValueError(f"Disallowed task type found in cluster spec. Allowed types are {list(known)} and the cluster spec is {spec}.")
    if job and job not in known:
        raise ValueError(f"Unrecognized task_type: {job}, valid task types are: {', '.join(known)}")
    for name in ("ps", "worker"):
        if name not in spec.jobs or not spec.num_tasks(name):
            raise ValueError(f"There must be at least one {name}.")


class ParameterServersInGraphs(StrategyExtended):
    """Version 1's: each worker builds the graph of its own step, which reads and changes variables on the servers."""

    _copies_variables = False
    parameter_devices = property(lambda self: self._servers)
    experimental_between_graph = property(lambda self: True)
    experimental_should_init = property(lambda self: self._is_chief)
    should_checkpoint = property(lambda self: self._is_chief)
    should_save_summary = property(lambda self: self._is_chief)

    def __init__(self, strategy: Any, spec: Any, job: str, task: int) -> None:
        super().__init__(strategy, (f"/job:{job}/replica:0/task:{task}/device:CPU:0",), cross_device_ops.ReductionToOneDevice())
        self._is_chief = job == "chief" or (job == "worker" and task == 0 and "chief" not in spec.jobs)
        self._servers = tuple(f"/job:ps/task:{i}" for i in spec.task_indices("ps"))
        self._turns = itertools.count()

    def _devices_of_variable(self) -> tuple[str, ...]:
        return (self._servers[next(self._turns) % len(self._servers)],)

    def reduce_to(self, reduce_op: Any, value: Any, destinations: Any, options: Any = None) -> Any:
        """The value: a worker has one replica."""
        return value
