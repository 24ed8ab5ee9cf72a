"""`tf.data.experimental.service`: pipelines run by servers. There are none yet: whoever asks is told so."""

from __future__ import annotations

from typing import Any

from emplace.framework import errors


def _not_there(what: str) -> errors.UnimplementedError:
    return errors.UnimplementedError(None, None, f"{what}: pipelines do not run on the cluster's servers yet; run this one in the process that reads it.")


class ShardingPolicy:
    """How a dataset is divided among the workers of a service."""

    OFF, DYNAMIC, FILE, DATA, FILE_OR_DATA, HINT = range(6)


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
