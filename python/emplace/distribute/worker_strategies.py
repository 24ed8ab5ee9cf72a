"""Strategies of several workers: with one worker they are mirrored; with more they wait for Emplace's cluster."""

from __future__ import annotations

import enum
import json
import os
from typing import Any, NamedTuple

from emplace.distribute import mirrored_strategy, strategy as strategies
from emplace.distribute.strategy import Strategy


class CommunicationImplementation(enum.Enum):
    """How workers are to talk to each other."""

    AUTO = "AUTO"
    RING = "RING"
    NCCL = "NCCL"


class CommunicationOptions:
    """Hints for reductions between workers. One worker has no use for them."""

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


def _workers() -> int:
    """How many take part in training, `TF_CONFIG` says."""
    cluster = json.loads(os.environ.get("TF_CONFIG") or "{}").get("cluster", {})
    return sum(len(tasks) for job, tasks in cluster.items() if job in ("chief", "master", "worker"))


class MultiWorkerMirroredStrategy(mirrored_strategy.MirroredStrategy):
    """A copy of the variables on each device of each worker; there may be one worker."""

    def __init__(self, cluster_resolver: Any = None, communication_options: Any = None) -> None:
        if cluster_resolver is not None or _workers() > 1:
            raise NotImplementedError("MultiWorkerMirroredStrategy of several workers needs collective operations between servers, which Emplace does not have yet")
        super().__init__()
        options = communication_options or CommunicationOptions()
        strategies.log().info(f"Single-worker MultiWorkerMirroredStrategy with local_devices = {self._distinct}, communication = {options.implementation}")


class ParameterServerStrategy(Strategy):
    """Variables on servers of their own. It can't be made yet."""

    def __init__(self, cluster_resolver: Any = None, variable_partitioner: Any = None) -> None:
        raise NotImplementedError("ParameterServerStrategy needs servers, which Emplace does not have yet")


class TPUStrategy(Strategy):
    """Replicas on TPUs, which Emplace does not run on: it can't be made."""

    def __init__(self, tpu_cluster_resolver: Any = None, experimental_device_assignment: Any = None) -> None:
        raise NotImplementedError("TPUStrategy: TPUs are not part of Emplace")
