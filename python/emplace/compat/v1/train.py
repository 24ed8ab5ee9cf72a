"""tf.train: the global step, where variables go, and what trains."""

from __future__ import annotations

from typing import Any

from emplace.framework import clip_ops, dtypes, init_ops, ops, variable_scope
from emplace.framework.ops import GraphKeys
from emplace.framework.replica_device_setter import replica_device_setter as replica_device_setter

global_norm, clip_by_global_norm = clip_ops.global_norm, clip_ops.clip_by_global_norm


def get_global_step(graph: Any = None) -> Any:
    graph = graph or ops.get_default_graph()
    found = graph.get_collection(GraphKeys.GLOBAL_STEP)
    if len(found) > 1:
        raise RuntimeError(f"Multiple items found in collection {GraphKeys.GLOBAL_STEP}.")
    if found:
        return found[0]
    try:
        return graph.get_tensor_by_name("global_step:0")
    except (KeyError, ValueError):
        return None


def create_global_step(graph: Any = None) -> Any:
    graph = graph or ops.get_default_graph()
    if get_global_step(graph) is not None:
        raise ValueError("\"global_step\" already exists.")
    with graph.as_default(), ops.name_scope(None):
        return variable_scope.get_variable(
            GraphKeys.GLOBAL_STEP, shape=[], dtype=dtypes.int64, initializer=init_ops.Zeros(), trainable=False,
            collections=[GraphKeys.GLOBAL_VARIABLES, GraphKeys.GLOBAL_STEP],
        )


def get_or_create_global_step(graph: Any = None) -> Any:
    found = get_global_step(graph)
    return create_global_step(graph) if found is None else found


def global_step(sess: Any, global_step_tensor: Any) -> int:
    return int(sess.run(global_step_tensor))


def assert_global_step(global_step_tensor: Any) -> None:
    if not global_step_tensor.dtype.base_dtype.is_integer:
        raise TypeError(f"Existing \"global_step\" does not have integer type: {global_step_tensor.dtype}")
    if global_step_tensor.shape.rank not in (0, None):
        raise TypeError(f"Existing \"global_step\" is not scalar: {global_step_tensor.shape}")


class ClusterSpec:
    """Jobs and the addresses of their tasks."""

    def __init__(self, cluster: Any) -> None:
        if isinstance(cluster, ClusterSpec):
            cluster = cluster.as_dict()
        if not isinstance(cluster, dict):
            raise TypeError("`cluster` must be a dictionary mapping one or more job names to lists of network addresses, or a `ClusterDef` protocol buffer")
        self._jobs: dict[str, dict[int, str]] = {}
        for job, tasks in cluster.items():
            if isinstance(tasks, (list, tuple)):
                self._jobs[job] = dict(enumerate(tasks))
            elif isinstance(tasks, dict):
                self._jobs[job] = {int(k): v for k, v in tasks.items()}
            else:
                raise TypeError(f"The tasks for job {job!r} must be a list or a dictionary from integers to strings.")

    @property
    def jobs(self) -> list[str]:
        return list(self._jobs)

    def num_tasks(self, job_name: str) -> int:
        return len(self._of(job_name))

    def task_indices(self, job_name: str) -> list[int]:
        return sorted(self._of(job_name))

    def task_address(self, job_name: str, task_index: int) -> str:
        tasks = self._of(job_name)
        if task_index not in tasks:
            raise ValueError(f"No task with index {task_index!r} in job {job_name!r}")
        return tasks[task_index]

    def job_tasks(self, job_name: str) -> list[Any]:
        tasks = self._of(job_name)
        return [tasks.get(i) for i in range(max(tasks, default=-1) + 1)]

    def _of(self, job_name: str) -> dict[int, str]:
        if job_name not in self._jobs:
            raise ValueError(f"No such job in cluster: {job_name!r}")
        return self._jobs[job_name]

    def as_dict(self) -> dict[str, Any]:
        return {j: self.job_tasks(j) if list(sorted(t)) == list(range(len(t))) else dict(t) for j, t in self._jobs.items()}

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ClusterSpec) and self.as_dict() == other.as_dict()

    def __bool__(self) -> bool:
        return bool(self._jobs)

    def __repr__(self) -> str:
        return f"ClusterSpec({self.as_dict()!r})"


def __getattr__(name: str) -> Any:
    import importlib

    for module in ("optimizers", "slot_optimizers", "decays", "moving_averages", "coordinator", "queue_runner", "input_queues", "monitored_session", "hooks", "saver", "server"):
        try:
            found = getattr(importlib.import_module(f"emplace.framework.{module}"), name, None)
        except ModuleNotFoundError:
            continue
        if found is not None:
            return found
    raise AttributeError(f"module 'emplace.compat.v1.train' has no attribute {name!r}")
