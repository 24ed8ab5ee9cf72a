"""Datasets of strategies of several workers: each takes its part of each batch, and all end together."""

from __future__ import annotations

from typing import Any

from emplace.distribute import inputs
from emplace.eager import nest, tensor_spec
from emplace.eager.datasets import dataset as datasets
from emplace.eager.datasets.building import INFINITE
from emplace.eager.datasets.options import AutoShardPolicy
from emplace.framework import array_ops


def divided(extended: Any, source: Any) -> Any:
    """Of global batches: this worker's parts of each, or of each that it reads where nothing is sharded."""
    inputs.check_batches(source)
    policy = source.options().experimental_distribute.auto_shard_policy
    if policy in (AutoShardPolicy.FILE, AutoShardPolicy.HINT):
        raise NotImplementedError(
            f"AutoShardPolicy.{policy.name} is not supported: give each worker its files in `distribute_datasets_from_function`, by "
            "`dataset.shard(context.num_input_pipelines, context.input_pipeline_id)`"
        )
    place, local = extended._place, len(extended.worker_devices)
    everyone = place.workers * local
    if policy == AutoShardPolicy.OFF:
        made = together(extended, _whole(source, everyone, place.number * local, local))
    else:
        parts = inputs._cut(source, lambda batch: inputs.equal_sizes(batch, everyone), everyone)
        made = _chosen(parts, lambda each: each[place.number :: place.workers])
    return inputs.DistributedDataset(made if local > 1 else _chosen(made, lambda each: each[0]), extended.worker_devices, extended._in_multi_worker_mode())


def in_turn(extended: Any, source: Any) -> Any:
    """Of the worker's own batches, which go to its replicas in turn."""
    local = len(extended.worker_devices)
    made = together(extended, source if local == 1 else inputs._in_turn(source, local))
    return inputs.DistributedDatasetsFromFunction(made, extended.worker_devices, extended._in_multi_worker_mode())


def _chosen(parts: Any, choose: Any) -> Any:
    made = parts.map(lambda *each: choose(each))
    made._spec = choose(parts.element_spec)  # what is known of rows
    return made


def _whole(source: Any, count: int, first: int, local: int) -> Any:
    """All rows, in parts of which each step takes one batch's over all workers; the larger ones are others' for other workers."""
    batch = _batch_size(source)
    if batch is None:
        raise ValueError("AutoShardPolicy.OFF wants to know the size of batches: call `dataset.batch` before it is distributed.")
    sizes = inputs.even_sizes(batch, count)
    made = source.rebatch(sizes[first:] + sizes[:first])
    return inputs._in_turn(made, local) if local > 1 else made.map(lambda *x: (_element(made, x),))


def _batch_size(source: Any) -> int | None:
    """What the pipeline's last `batch` was told."""
    while not hasattr(source, "_batch_size"):
        if len(source._inputs) != 1:
            return None
        source = source._inputs[0]
    return int(source._batch_size)


def together(extended: Any, source: Any) -> Any:
    """The dataset with empty elements behind it, as long as another worker's has some."""
    if not extended._in_multi_worker_mode() or int(source.cardinality()) == INFINITE:
        return source
    reduce = extended._workers.reduction()
    nothing = datasets.Dataset.from_tensors(nest.map_structure(_empty, source.element_spec)).repeat()
    mine = source.map(lambda *x: (True, _element(source, x)))
    others = nothing.map(lambda *x: (False, _element(source, x)))
    both = mine.concatenate(others).take_while(lambda there, _: reduce(array_ops.where(there, 1, 0)) > 0)
    return both.map(lambda _, x: x)


def _element(source: Any, x: Any) -> Any:
    return x if isinstance(source.element_spec, tuple) else x[0]


def _empty(spec: Any) -> Any:
    if not isinstance(spec, tensor_spec.TensorSpec):
        raise NotImplementedError(f"Elements of {spec} can't be distributed over workers whose datasets are not sharded by the strategy.")
    dims = [d or 0 for d in spec.shape.as_list()]
    return array_ops.zeros([0, *dims[1:]] if dims else [], spec.dtype)
