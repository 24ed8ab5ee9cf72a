"""Queues of graph programs."""

from __future__ import annotations

import hashlib
import itertools
from typing import Any

from emplace.framework import array_ops, dispatch, dtypes, ops, random_ops, tensor_shape
from emplace.framework.dispatch import execute as _op
from emplace.framework.ops import convert_to_tensor as _convert


def _listed(value: Any) -> list[Any]:
    return list(value) if isinstance(value, (list, tuple)) else [value]


_unnamed = itertools.count()


def _shared(name: str | None) -> str:
    """A queue made outside graphs is its own; in a graph the name of the node stands for it."""
    if name or not dispatch.executing_eagerly():
        return name or ""
    return f"queue_{next(_unnamed)}"


class QueueBase:
    """Elements are tuples of tensors, by name if the queue has names."""

    def __init__(self, dtypes: Any, shapes: Any, names: Any, queue_ref: Any) -> None:
        self._dtypes, self._names, self._queue_ref = dtypes, names, queue_ref
        self._shapes = [tensor_shape.unknown_shape() for _ in dtypes] if shapes is None else [tensor_shape.as_shape(s) for s in shapes]
        self._in_graph = not dispatch.executing_eagerly()
        self._name = queue_ref.op.name.split("/")[-1] if self._in_graph else "Empty"

    @staticmethod
    def from_list(index: Any, queues: Any) -> "QueueBase":
        """The one of several queues of one kind that `index`, perhaps a tensor, picks."""
        queues = list(queues)
        if not queues or not all(isinstance(q, QueueBase) for q in queues):
            raise TypeError("A list of queues expected")
        first = queues[0]
        if any(q.dtypes != first.dtypes for q in queues):
            raise TypeError("Queues do not have matching component dtypes.")
        if any(q.names != first.names for q in queues):
            raise TypeError("Queues do not have matching component names.")
        chosen = array_ops.gather(array_ops.stack([q.queue_ref for q in queues]), index)
        return QueueBase(first.dtypes, first.shapes, first.names, chosen)

    @property
    def queue_ref(self) -> Any:
        return self._queue_ref

    @property
    def name(self) -> str:
        return self._queue_ref.op.name if self._in_graph else self._name

    @property
    def dtypes(self) -> list[Any]:
        return self._dtypes

    @property
    def shapes(self) -> list[Any]:
        return self._shapes

    @property
    def names(self) -> Any:
        return self._names

    # ---- In.

    def _check_values(self, vals: Any) -> list[Any]:
        if isinstance(vals, dict):
            if not self._names:
                raise ValueError("Queue must have names to enqueue a dictionary")
            if sorted(self._names) != sorted(vals):
                raise ValueError(f"Keys in dictionary to enqueue do not match names of Queue.  Dictionary: {sorted(vals)}, Queue: {sorted(self._names)}")
            vals = [vals[n] for n in self._names]
        else:
            if self._names:
                raise ValueError("You must enqueue a dictionary in a Queue with names")
            vals = _listed(vals)
        if len(vals) != len(self._dtypes):
            raise ValueError(f"the queue's elements have {len(self._dtypes)} components, not {len(vals)}")
        return [_convert(v, dtype=d, name=f"component_{i}") for i, (v, d) in enumerate(zip(vals, self._dtypes))]

    def enqueue(self, vals: Any, name: str | None = None) -> Any:
        """Puts one element in, waiting while the queue is full; CancelledError if it is closed."""
        with ops.name_scope(name, f"{self._name}_enqueue", _listed(vals) if not isinstance(vals, dict) else list(vals.values())) as scope:
            values = self._check_values(vals)
            for v, s in zip(values, self._shapes):
                v.shape.assert_is_compatible_with(s)
            return _op("QueueEnqueueV2", [self._queue_ref, values], {}, scope)

    def enqueue_many(self, vals: Any, name: str | None = None) -> Any:
        """Puts the rows of tensors in as elements, waiting while the queue is full."""
        with ops.name_scope(name, f"{self._name}_EnqueueMany", _listed(vals) if not isinstance(vals, dict) else list(vals.values())) as scope:
            values = self._check_values(vals)
            for v, s in zip(values, self._shapes):
                if v.shape.rank is not None:
                    v.shape[1:].assert_is_compatible_with(s)
            return _op("QueueEnqueueManyV2", [self._queue_ref, values], {}, scope)

    # ---- Out.

    def _result(self, tensors: Any) -> Any:
        tensors = _listed(tensors)
        if self._names:
            return dict(zip(self._names, tensors))
        return tensors[0] if len(tensors) == 1 else tensors

    def dequeue(self, name: str | None = None) -> Any:
        """Takes one element out, waiting while there is none; OutOfRangeError if it is closed and empty."""
        found = _listed(_op("QueueDequeueV2", [self._queue_ref], {"component_types": self._dtypes}, name or f"{self._name}_Dequeue"))
        for t, s in zip(found, self._shapes):
            t.set_shape(s)
        return self._result(found)

    def _many(self, op: str, n: Any, name: str, known: Any) -> Any:
        found = _listed(_op(op, [self._queue_ref, n], {"component_types": self._dtypes}, name))
        for t, s in zip(found, self._shapes):
            t.set_shape(tensor_shape.TensorShape([known]).concatenate(s))
        return self._result(found)

    def dequeue_many(self, n: Any, name: str | None = None) -> Any:
        """Takes `n` elements out, stacked; OutOfRangeError if fewer are left in a closed queue."""
        count = ops.constant_value(n) if isinstance(n, ops.Tensor) else n
        return self._many("QueueDequeueManyV2", n, name or f"{self._name}_DequeueMany", None if count is None else int(count))

    def dequeue_up_to(self, n: Any, name: str | None = None) -> Any:
        """Takes `n` elements out, stacked; fewer if the queue is closed."""
        return self._many("QueueDequeueUpToV2", n, name or f"{self._name}_DequeueUpTo", None)

    # ---- State.

    def close(self, cancel_pending_enqueues: bool = False, name: str | None = None) -> Any:
        """Takes no more elements; those inside can still be had. Pending ones wait, or fail if they are cancelled."""
        return _op("QueueCloseV2", [self._queue_ref], {"cancel_pending_enqueues": cancel_pending_enqueues}, name or f"{self._name}_Close")

    def is_closed(self, name: str | None = None) -> Any:
        """Whether the queue is closed, as a bool tensor."""
        return _op("QueueIsClosedV2", [self._queue_ref], {}, name or f"{self._name}_Is_Closed")

    def size(self, name: str | None = None) -> Any:
        """The number of elements inside."""
        return _op("QueueSizeV2", [self._queue_ref], {}, name or f"{self._name}_Size")


def _types(values: Any) -> list[Any]:
    return [dtypes.as_dtype(t).base_dtype for t in _listed(values)]


def _shapes(shapes: Any, kinds: list[Any]) -> Any:
    if shapes is None:
        return None
    if isinstance(shapes, tensor_shape.TensorShape) or not isinstance(shapes, (list, tuple)) or (len(kinds) == 1 and all(isinstance(s, int) or s is None for s in shapes)):
        shapes = [shapes]
    shapes = [tensor_shape.as_shape(s) for s in shapes]
    if len(shapes) != len(kinds):
        raise ValueError(f"Queue shapes must have the same length as dtypes, received len(shapes)={len(shapes)}, len(dtypes)={len(kinds)}")
    return shapes


def _names(names: Any, kinds: list[Any]) -> Any:
    if names is None:
        return None
    names = _listed(names)
    if len(names) != len(kinds):
        raise ValueError(f"List of names must have the same length as the list of dtypes, received len(names)={len(names)},len(dtypes)={len(kinds)}")
    return names


def _on_cpu() -> Any:
    if not dispatch.executing_eagerly():
        return ops.device("CPU")
    from emplace.eager import context

    return context.device("CPU")


class FIFOQueue(QueueBase):
    """A queue that gives elements out in the order in which they came."""

    def __init__(self, capacity: int, dtypes: Any, shapes: Any = None, names: Any = None, shared_name: str | None = None, name: str = "fifo_queue") -> None:
        kinds = _types(dtypes)
        sizes = _shapes(shapes, kinds)
        attrs = {"component_types": kinds, "shapes": sizes or [], "capacity": capacity, "shared_name": _shared(shared_name)}
        with ops.control_dependencies(None), _on_cpu():
            ref = _op("FIFOQueueV2", [], attrs, name)
        super().__init__(kinds, sizes, _names(names, kinds), ref)


class RandomShuffleQueue(QueueBase):
    """A queue that gives elements out at random and keeps at least `min_after_dequeue` as long as it is open."""

    def __init__(
        self, capacity: int, min_after_dequeue: int, dtypes: Any, shapes: Any = None, names: Any = None, seed: Any = None,
        shared_name: str | None = None, name: str = "random_shuffle_queue",
    ) -> None:
        kinds = _types(dtypes)
        sizes = _shapes(shapes, kinds)
        first, second = random_ops.get_seed(seed)
        if seed is None and first is not None and shared_name is not None:  # one order for all who share it
            second = int(hashlib.md5(f"{first}{shared_name}".encode()).hexdigest()[:8], 16) & 0x7FFFFFFF
        attrs = {
            "component_types": kinds, "shapes": sizes or [], "capacity": capacity, "min_after_dequeue": min_after_dequeue,
            "seed": first or 0, "seed2": second or 0, "shared_name": _shared(shared_name),
        }
        super().__init__(kinds, sizes, _names(names, kinds), _op("RandomShuffleQueueV2", [], attrs, name))


class PaddingFIFOQueue(QueueBase):
    """A FIFO queue whose elements may differ in the unknown dimensions of `shapes`; batches are padded."""

    def __init__(self, capacity: int, dtypes: Any, shapes: Any, names: Any = None, shared_name: str | None = None, name: str = "padding_fifo_queue") -> None:
        kinds = _types(dtypes)
        sizes = _shapes(shapes, kinds)
        if sizes is None:
            raise ValueError("Shapes must be provided for all components of a PaddingFIFOQueue")
        attrs = {"component_types": kinds, "shapes": sizes, "capacity": capacity, "shared_name": _shared(shared_name)}
        super().__init__(kinds, sizes, _names(names, kinds), _op("PaddingFIFOQueueV2", [], attrs, name))


class PriorityQueue(QueueBase):
    """A queue that gives out the element with the smallest int64 priority, its first component."""

    def __init__(self, capacity: int, types: Any, shapes: Any = None, names: Any = None, shared_name: str | None = None, name: str = "priority_queue") -> None:
        kinds = _types(types)
        sizes = _shapes(shapes, kinds)
        attrs = {"component_types": kinds, "shapes": sizes or [], "capacity": capacity, "shared_name": _shared(shared_name)}
        ref = _op("PriorityQueueV2", [], attrs, name)
        all_sizes = None if sizes is None else [tensor_shape.TensorShape([]), *sizes]
        super().__init__([dtypes.int64, *kinds], all_sizes, _names(names, [dtypes.int64, *kinds]), ref)


