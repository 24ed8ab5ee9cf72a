"""What code in a replica knows of itself and of the others."""

from __future__ import annotations

from typing import Any

from emplace.distribute import contexts, cross_device_ops, replicas
from emplace.eager import context, nest, tape
from emplace.framework import ops


class ReplicaContext:
    """The replica that `strategy.run` calls a function in."""

    def __init__(self, strategy: Any, replica_id_in_sync_group: int) -> None:
        self._strategy, self._index = strategy, replica_id_in_sync_group
        self._thread: Any = None  # where several replicas take turns
        self._graph: Any = None  # that was being built when it began
        self._parts: Any = None  # where replicas get unlike parts: how many like its own a batch has

    @property
    def strategy(self) -> Any:
        return self._strategy

    @property
    def num_replicas_in_sync(self) -> int:
        return self._strategy.num_replicas_in_sync

    @property
    def replica_id_in_sync_group(self) -> Any:
        extended = self._strategy.extended
        return context.v2(ops.convert_to_tensor)(extended._first_replica + self._index) if extended._several else self._index

    @property
    def devices(self) -> list[Any]:
        return [[self._strategy.extended.worker_devices[self._index]]]

    def merge_call(self, merge_fn: Any, args: Any = (), kwargs: Any = None) -> Any:
        """Calls `merge_fn(strategy, …)` once for all replicas, with their arguments put together; returns the replica's part
        of what it gives."""
        if self._thread is None:
            with contexts.across(self._strategy):
                return merge_fn(self._strategy, *args, **(kwargs or {}))
        replicas.check_merge_graph(self._graph)
        return self._thread.merge((merge_fn, tuple(args), dict(kwargs or {})))

    def all_reduce(self, reduce_op: Any, value: Any, options: Any = None) -> Any:
        """The sum or mean of a value over all replicas, for a structure of each of its tensors. Gradients flow through it."""
        kind = cross_device_ops.as_reduce_op(reduce_op)
        if any(isinstance(v, ops.IndexedSlices) for v in nest.flatten(value)):
            return self._reduced(kind, value)
        flat = [context.v2(ops.convert_to_tensor)(v) for v in nest.flatten(value)]

        @tape.custom_gradient
        def reduced(*xs: Any) -> Any:
            return self._reduced(kind, list(xs)), lambda *grads: self._reduced(kind, list(grads))

        made = reduced(*flat)
        return nest.pack_sequence_as(value, list(made) if isinstance(made, (list, tuple)) else [made])

    def _reduced(self, kind: Any, value: Any) -> Any:
        def merge(strategy: Any, *flat: Any) -> Any:
            return strategy.extended.batch_reduce_to(kind, [(strategy.extended._of_each(v), strategy.extended._everywhere()) for v in flat])

        return nest.pack_sequence_as(value, self.merge_call(merge, args=nest.flatten(value)))

    def all_gather(self, value: Any, axis: int, options: Any = None) -> Any:
        """The replicas' values one behind the other along an axis, for a structure of each of its tensors."""
        def merge(strategy: Any, *flat: Any) -> Any:
            return [strategy.extended._gathered_everywhere(v, axis) for v in flat]

        for v in nest.flatten(value):
            if isinstance(v, ops.IndexedSlices):
                raise NotImplementedError("all_gather does not support IndexedSlices")
        flat = [context.v2(ops.convert_to_tensor)(v) for v in nest.flatten(value)]
        return nest.pack_sequence_as(value, list(self.merge_call(merge, args=flat)))

    def _update(self, var: Any, fn: Any, args: Any = (), kwargs: Any = None, group: bool = True) -> Any:
        return self._strategy.extended._replica_update(var, fn, args, kwargs or {}, group)

    def __enter__(self) -> "ReplicaContext":
        self._entered = contexts.entered(contexts.Context(self._strategy, self, self._index))
        self._entered.__enter__()
        return self

    def __exit__(self, *error: Any) -> None:
        self._entered.__exit__(*error)


class ValueContext:
    """For which replica `experimental_distribute_values_from_function` wants a value."""

    def __init__(self, replica_id_in_sync_group: int = 0, num_replicas_in_sync: int = 1) -> None:
        self._index, self._count = replica_id_in_sync_group, num_replicas_in_sync

    @property
    def replica_id_in_sync_group(self) -> int:
        return self._index

    @property
    def num_replicas_in_sync(self) -> int:
        return self._count

    def __str__(self) -> str:
        return f"tf.distribute.ValueContext(replica id {self._index},  total replicas in sync: {self._count})"


