"""tf.train's small input pipeline: producers, batches."""

from __future__ import annotations

from typing import Any

from emplace.framework import array_ops, constant_op, control_flow_ops, dispatch, dtypes, math_ops, ops, queue_runner, queues, random_ops, summaries, variables
from emplace.framework.dispatch import execute as _op
from emplace.framework.ops import GraphKeys, name_scope


def _checked_shapes(tensors: list[Any], shapes: Any, enqueue_many: bool) -> list[Any]:
    if shapes is not None:
        return [s for s in shapes]
    found = [t.shape[1:] if enqueue_many else t.shape for t in tensors]
    if not all(s.is_fully_defined() for s in found):
        raise ValueError(f"All shapes must be fully defined: {found}")
    return found


def input_producer(
    input_tensor: Any, element_shape: Any = None, num_epochs: int | None = None, shuffle: bool = True, seed: Any = None, capacity: int = 32,
    shared_name: str | None = None, summary_name: str | None = None, name: str | None = None, cancel_op: Any = None,
) -> Any:
    """A queue of the rows, over and over (or `num_epochs` times)."""
    if dispatch.executing_eagerly():
        raise RuntimeError("Input pipelines based on Queues are not supported when eager execution is enabled. Please use tf.data to ingest data into your model instead.")
    with name_scope(name, "input_producer", [input_tensor]):
        rows = ops.convert_to_tensor(input_tensor, name="input_tensor")
        shape = rows.shape[1:] if element_shape is None else element_shape
        if shuffle:
            rows = random_ops.random_shuffle(rows, seed=seed)
        rows = limit_epochs(rows, num_epochs)
        queue = queues.FIFOQueue(capacity=capacity, dtypes=[rows.dtype.base_dtype], shapes=[shape], shared_name=shared_name, name=name or "input_producer")
        queue_runner.add_queue_runner(queue_runner.QueueRunner(queue, [queue.enqueue_many([rows])], cancel_op=cancel_op))
        if summary_name is not None:
            _how_full(queue, summary_name, capacity)
        return queue


def _how_full(queue: Any, name: str, capacity: int, spare: int = 0) -> None:
    """A summary of how much of the queue is filled, beyond what it holds back."""
    size = queue.size()
    if spare:
        size = _op("Maximum", [0, size - spare], {})
    summaries.scalar(name, math_ops.cast(size, dtypes.float32) * (1.0 / (capacity - spare)))


def limit_epochs(tensor: Any, num_epochs: int | None = None, name: str | None = None) -> Any:
    """The tensor, `num_epochs` times; then OutOfRangeError. The count is a local variable."""
    if num_epochs is None:
        return tensor
    if num_epochs <= 0:
        raise ValueError(f"num_epochs must be > 0 not {num_epochs}.")
    with name_scope(name, "limit_epochs", [tensor]) as scope:
        zero = constant_op.constant(0, dtype=dtypes.int64)
        epochs = variables.Variable(zero, name="epochs", trainable=False, collections=[GraphKeys.LOCAL_VARIABLES])
        counted = variables.count_up_to(epochs._ref(), num_epochs)
        with ops.control_dependencies([counted]):
            return array_ops.identity(tensor, name=scope)


_NO_STRINGS = "string_input_producer requires a non-null input tensor"


def string_input_producer(
    string_tensor: Any, num_epochs: int | None = None, shuffle: bool = True, seed: Any = None, capacity: int = 32,
    shared_name: str | None = None, name: str | None = None, cancel_op: Any = None,
) -> Any:
    """A queue of the strings, shuffled anew in each of `num_epochs` rounds (or without end), filled by a queue runner."""
    if not ops.is_tensor(string_tensor) and not string_tensor:
        raise ValueError(_NO_STRINGS)
    with name_scope(name, "input_producer", [string_tensor]) as scope:
        strings = ops.convert_to_tensor(string_tensor, dtype=dtypes.string)
        some = control_flow_ops.Assert(array_ops.size(strings) > 0, [_NO_STRINGS])
        with ops.control_dependencies([some]):
            strings = array_ops.identity(strings)
        return input_producer(strings, [], num_epochs, shuffle, seed, capacity, shared_name, f"fraction_of_{capacity}_full", scope, cancel_op)


def range_input_producer(limit: Any, num_epochs: int | None = None, shuffle: bool = True, seed: Any = None, capacity: int = 32, shared_name: str | None = None, name: str | None = None) -> Any:
    """A queue of the numbers below `limit`, shuffled anew in each of `num_epochs` rounds (or without end)."""
    with name_scope(name, "input_producer", [limit]) as scope:
        return input_producer(math_ops.range(limit), [], num_epochs, shuffle, seed, capacity, shared_name, f"fraction_of_{capacity}_full", scope)


def slice_input_producer(tensor_list: Any, num_epochs: int | None = None, shuffle: bool = True, seed: Any = None, capacity: int = 32, shared_name: str | None = None, name: str | None = None) -> list[Any]:
    """One row of each tensor, the same row of all."""
    with name_scope(name, "input_producer", tensor_list):
        tensors = [ops.convert_to_tensor(t) for t in tensor_list]
        if not tensors:
            raise ValueError("Expected at least one tensor in slice_input_producer().")
        count = array_ops.shape(tensors[0])[0]
        queue = range_input_producer(count, num_epochs, shuffle, seed, capacity, shared_name)
        index = queue.dequeue()
        return [array_ops.gather(t, index) for t in tensors]


def _joined(tensors_list: Any, make_queue: Any, note_full: Any, batch_size: Any, enqueue_many: bool, shapes: Any, smaller: bool, name: str | None, default: str) -> Any:
    """Batches of what several readers give, each with a thread of its own."""
    if not tensors_list:
        raise ValueError("Expected at least one set of tensors")
    named = isinstance(tensors_list[0], dict)
    keys = sorted(tensors_list[0]) if named else None
    rows = [[t[k] for k in keys] if named else list(t) if isinstance(t, (list, tuple)) else [t] for t in tensors_list]
    with name_scope(name, default, [t for row in rows for t in row]) as scope:
        values = [[ops.convert_to_tensor(t) for t in row] for row in rows]
        constant_op.constant(True)  # as above
        queue = make_queue([v.dtype.base_dtype for v in values[0]], _checked_shapes(values[0], shapes, enqueue_many))
        enqueues = [queue.enqueue_many(v) if enqueue_many else queue.enqueue(v) for v in values]
        queue_runner.add_queue_runner(queue_runner.QueueRunner(queue, enqueues))
        note_full(queue)
        out = queue.dequeue_up_to(batch_size, name=scope) if smaller else queue.dequeue_many(batch_size, name=scope)
        out = list(out) if isinstance(out, (list, tuple)) else [out]
        return dict(zip(keys, out)) if named else out if len(out) > 1 else out[0]


def batch_join(
    tensors_list: Any, batch_size: Any, capacity: int = 32, enqueue_many: bool = False, shapes: Any = None, dynamic_pad: bool = False,
    allow_smaller_final_batch: bool = False, shared_name: str | None = None, name: str | None = None,
) -> Any:
    """Batches of elements from several sources, a thread each; otherwise as `batch`."""
    kind = queues.PaddingFIFOQueue if dynamic_pad else queues.FIFOQueue
    make = lambda kinds, sizes: kind(capacity=capacity, dtypes=kinds, shapes=sizes, shared_name=shared_name)  # noqa: E731
    full = lambda queue: _how_full(queue, f"fraction_of_{capacity}_full", capacity)  # noqa: E731
    return _joined(tensors_list, make, full, batch_size, enqueue_many, shapes, allow_smaller_final_batch, name, "batch_join")


def shuffle_batch_join(
    tensors_list: Any, batch_size: Any, capacity: int, min_after_dequeue: int, seed: Any = None, enqueue_many: bool = False, shapes: Any = None,
    allow_smaller_final_batch: bool = False, shared_name: str | None = None, name: str | None = None,
) -> Any:
    """Shuffled batches of elements from several sources, a thread each; otherwise as `shuffle_batch`."""
    make = lambda kinds, sizes: queues.RandomShuffleQueue(  # noqa: E731
        capacity=capacity, min_after_dequeue=min_after_dequeue, seed=seed, dtypes=kinds, shapes=sizes, shared_name=shared_name
    )
    left = capacity - min_after_dequeue
    full = lambda queue: _how_full(queue, f"fraction_over_{min_after_dequeue}_of_{left}_full", capacity, min_after_dequeue)  # noqa: E731
    return _joined(tensors_list, make, full, batch_size, enqueue_many, shapes, allow_smaller_final_batch, name, "shuffle_batch_join")


def _batched(tensors: Any, make_queue: Any, note_full: Any, batch_size: Any, num_threads: int, enqueue_many: bool, shapes: Any, smaller: bool, name: str | None, default: str) -> Any:
    named = isinstance(tensors, dict)
    keys = sorted(tensors) if named else None
    plain = [tensors[k] for k in keys] if named else list(tensors) if isinstance(tensors, (list, tuple)) else [tensors]
    with name_scope(name, default, plain) as scope:
        values = [ops.convert_to_tensor(t) for t in plain]
        constant_op.constant(True)  # TensorFlow asks it whether to keep the input; names stay the same
        queue = make_queue([v.dtype.base_dtype for v in values], _checked_shapes(values, shapes, enqueue_many))
        enqueue = queue.enqueue_many(values) if enqueue_many else queue.enqueue(values)
        queue_runner.add_queue_runner(queue_runner.QueueRunner(queue, [enqueue] * num_threads))
        note_full(queue)
        out = queue.dequeue_up_to(batch_size, name=scope) if smaller else queue.dequeue_many(batch_size, name=scope)
        out = list(out) if isinstance(out, (list, tuple)) else [out]
        if named:
            return dict(zip(keys, out))
        return out if isinstance(tensors, (list, tuple)) and len(out) > 1 else out[0]


def batch(
    tensors: Any, batch_size: Any, num_threads: int = 1, capacity: int = 32, enqueue_many: bool = False, shapes: Any = None,
    dynamic_pad: bool = False, allow_smaller_final_batch: bool = False, shared_name: str | None = None, name: str | None = None,
) -> Any:
    """Batches of elements by way of a queue that `num_threads` threads fill; `enqueue_many` takes the first dimension as
    elements."""
    kind = queues.PaddingFIFOQueue if dynamic_pad else queues.FIFOQueue
    if dynamic_pad and shapes is None:
        values = list(tensors.values()) if isinstance(tensors, dict) else list(tensors) if isinstance(tensors, (list, tuple)) else [tensors]
        shapes = [v.shape[1:] if enqueue_many else v.shape for v in (ops.convert_to_tensor(t) for t in values)]
    make = lambda kinds, sizes: kind(capacity=capacity, dtypes=kinds, shapes=sizes, shared_name=shared_name)  # noqa: E731
    full = lambda queue: _how_full(queue, f"fraction_of_{capacity}_full", capacity)  # noqa: E731
    return _batched(tensors, make, full, batch_size, num_threads, enqueue_many, shapes, allow_smaller_final_batch, name, "batch")


def shuffle_batch(
    tensors: Any, batch_size: Any, capacity: int, min_after_dequeue: int, num_threads: int = 1, seed: Any = None, enqueue_many: bool = False,
    shapes: Any = None, allow_smaller_final_batch: bool = False, shared_name: str | None = None, name: str | None = None,
) -> Any:
    """Batches of elements drawn at random from a queue that keeps at least `min_after_dequeue` of them."""
    make = lambda kinds, sizes: queues.RandomShuffleQueue(  # noqa: E731
        capacity=capacity, min_after_dequeue=min_after_dequeue, seed=seed, dtypes=kinds, shapes=sizes, shared_name=shared_name
    )
    left = capacity - min_after_dequeue
    full = lambda queue: _how_full(queue, f"fraction_over_{min_after_dequeue}_of_{left}_full", capacity, min_after_dequeue)  # noqa: E731
    return _batched(tensors, make, full, batch_size, num_threads, enqueue_many, shapes, allow_smaller_final_batch, name, "shuffle_batch")
