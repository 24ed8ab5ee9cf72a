"""tf.contrib was a collection of other people's code. Of it the one thing is here that the authors' programs on several GPUs use, where
Emplace stands in TensorFlow 1's place."""

from __future__ import annotations

import types as _types
from typing import Any

from emplace.framework import listing as _listing


def _prefetch_queue(
    tensors: Any, capacity: int = 8, num_threads: int = 1, dynamic_pad: bool = False, shared_name: str | None = None, name: str | None = None,
) -> Any:
    """A queue that a thread of the session keeps filled with `tensors`, a list or a dict."""
    from emplace.framework import math_ops, ops, queue_runner, queues, summaries

    names = sorted(tensors) if isinstance(tensors, dict) else None
    flat = [ops.convert_to_tensor(t) for t in (tensors if names is None else [tensors[n] for n in names])]
    with ops.name_scope(name, "prefetch_queue", flat) as scope:
        kind = queues.PaddingFIFOQueue if dynamic_pad else queues.FIFOQueue
        queue = kind(capacity, [t.dtype for t in flat], [t.shape for t in flat], names=names, shared_name=shared_name)
        enqueue = queue.enqueue(flat if names is None else dict(zip(names, flat)))
        queue_runner.add_queue_runner(queue_runner.QueueRunner(queue, [enqueue] * num_threads))
        fraction = math_ops.cast(queue.size(), "float32") * (1.0 / capacity)
        summaries.scalar(f"fraction_of_{capacity}_full", fraction)
    return queue


class _Missing(_types.ModuleType):
    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        raise AttributeError(f"tf.{self.__name__.partition('compat.v1.')[2]}.{name} is not part of Emplace")


slim = _Missing("emplace.compat.v1.contrib.slim", "Of slim there is the queue of tensors made ahead.")
slim.prefetch_queue = _Missing("emplace.compat.v1.contrib.slim.prefetch_queue", "A queue of tensors made ahead.")
slim.prefetch_queue.prefetch_queue = _prefetch_queue


def __getattr__(name: str) -> Any:
    if name.startswith("__"):
        raise AttributeError(name)
    raise AttributeError(f"tf.contrib.{name} is not part of Emplace")


__dir__ = _listing.of_module(globals())
