"""Variables onto parameter servers in turn, everything else onto the worker."""

from __future__ import annotations

from typing import Any

from emplace.framework.cluster_spec import ClusterSpec
from emplace.framework.device_spec import DeviceSpec

STANDARD_PS_OPS = ("Variable", "VariableV2", "AutoReloadVariable", "MutableHashTable", "MutableHashTableV2", "MutableHashTableOfTensors", "MutableHashTableOfTensorsV2", "MutableDenseHashTable", "MutableDenseHashTableV2", "VarHandleOp", "ResourceConditionalAccumulator")


class _RoundRobin:
    def __init__(self, tasks: int) -> None:
        self._tasks, self._next = tasks, 0

    def __call__(self, op: Any) -> int:
        task, self._next = self._next, (self._next + 1) % self._tasks
        return task


class _Chooser:
    def __init__(self, ps_tasks: int, ps_device: str, worker_device: str, merge_devices: bool, ps_ops: Any, strategy: Any) -> None:
        self._ps_tasks, self._ps_device, self._worker = ps_tasks, ps_device, worker_device
        self._merge, self._ps_ops, self._strategy = merge_devices, ps_ops, strategy

    def __call__(self, op: Any) -> str:
        if not self._merge and op.device:
            return op.device
        current = DeviceSpec.from_string(op.device or "")
        kind = op.node_def.op if not hasattr(op, "type") else op.type
        if self._ps_tasks and self._ps_device and kind in self._ps_ops:
            ps = DeviceSpec.from_string(self._ps_device)
            job = current.job
            if ps.job and (not job or job == ps.job):
                ps = ps.replace(task=self._strategy(op))
            return ps.make_merged_spec(current).to_string()
        return DeviceSpec.from_string(self._worker or "").make_merged_spec(current).to_string()


def replica_device_setter(
    ps_tasks: int = 0, ps_device: str = "/job:ps", worker_device: str = "/job:worker", merge_devices: bool = True, cluster: Any = None,
    ps_ops: Any = None, ps_strategy: Any = None,
) -> Any:
    """A function for `tf.device` that spreads variables over the parameter servers and puts the rest on the worker."""
    if cluster is not None:
        spec = ClusterSpec(cluster).as_dict()
        job = DeviceSpec.from_string(ps_device).job
        if job not in spec or spec[job] is None:
            return None
        ps_tasks = len(spec[job])
    if ps_tasks == 0:
        return None
    if ps_strategy is None:
        ps_strategy = _RoundRobin(ps_tasks)
    if not callable(ps_strategy):
        raise TypeError("ps_strategy must be callable")
    return _Chooser(ps_tasks, ps_device, worker_device, merge_devices, ps_ops or STANDARD_PS_OPS, ps_strategy)
