"""tf.data.experimental.service for graph programs, which start no servers."""

from emplace.eager.datasets.service import (
    CrossTrainerCache as CrossTrainerCache, DispatcherConfig as DispatcherConfig, ShardingPolicy as ShardingPolicy, WorkerConfig as WorkerConfig,
    distribute as distribute, from_dataset_id as from_dataset_id, register_dataset as register_dataset,
)
from emplace.framework import listing as _listing

__dir__ = _listing.of_module(globals())
