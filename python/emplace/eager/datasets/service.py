"""`tf.data.experimental.service`: pipelines run by servers. There are none yet: whoever asks is told so."""

from __future__ import annotations

import enum
from typing import Any, NamedTuple

from emplace.framework import errors


def _not_there(what: str) -> errors.UnimplementedError:
    return errors.UnimplementedError(None, None, f"{what}: pipelines do not run on the cluster's servers yet; run this one in the process that reads it.")


class ShardingPolicy(enum.IntEnum):
    """How a dataset is divided among the workers of a service."""

    OFF, DYNAMIC, FILE, DATA, FILE_OR_DATA, HINT = range(6)


class DispatcherConfig(NamedTuple):
    """What a DispatchServer is told."""

    port: int = 0
    protocol: str = "grpc"
    work_dir: Any = None
    fault_tolerant_mode: bool = False
    worker_addresses: Any = None
    job_gc_check_interval_ms: Any = None
    job_gc_timeout_ms: Any = None
    worker_timeout_ms: Any = None
    worker_max_concurrent_snapshots: int = 0


class WorkerConfig(NamedTuple):
    """What a WorkerServer is told."""

    dispatcher_address: str
    worker_address: str = "localhost:%port%"
    port: int = 0
    protocol: str = "grpc"
    heartbeat_interval_ms: Any = None
    dispatcher_timeout_ms: Any = None
    data_transfer_protocol: Any = None
    data_transfer_address: str = "localhost:%dts_port%"


class CrossTrainerCache:
    """Elements of a service that several jobs are to share."""

    def __init__(self, trainer_id: Any) -> None:
        if not trainer_id:
            raise ValueError("tf.data service cross-trainer cache requires a non-empty trainer ID.")
        self.trainer_id = trainer_id


class DispatchServer:
    """The server that hands out work; UnimplementedError."""

    def __init__(self, config: Any = None, start: bool = True) -> None:
        raise _not_there("tf.data.experimental.service.DispatchServer")


class WorkerServer:
    """A server that runs pipelines; UnimplementedError."""

    def __init__(self, config: Any, start: bool = True) -> None:
        raise _not_there("tf.data.experimental.service.WorkerServer")


def distribute(processing_mode: Any, service: Any, **kwargs: Any) -> Any:
    """For `Dataset.apply`: the dataset run by a service; UnimplementedError."""
    raise _not_there("tf.data.experimental.service.distribute")


def register_dataset(service: Any, dataset: Any, compression: Any = "AUTO", dataset_id: Any = None) -> Any:
    """Makes a dataset known to a service; UnimplementedError."""
    raise _not_there("tf.data.experimental.service.register_dataset")


def from_dataset_id(processing_mode: Any, service: Any, dataset_id: Any, **kwargs: Any) -> Any:
    """A dataset that a service knows; UnimplementedError."""
    raise _not_there("tf.data.experimental.service.from_dataset_id")


def distributed_save(dataset: Any, path: Any, data_service_address: Any, compression: str = "AUTO") -> Any:
    """Lets a service save a dataset; UnimplementedError."""
    raise _not_there("tf.data.experimental.distributed_save")
