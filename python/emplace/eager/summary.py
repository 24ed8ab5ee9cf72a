"""`tf.summary` of eager programs: what TensorBoard shows, written as it is said."""

from __future__ import annotations

import contextlib
from typing import Any, Iterator

import numpy as np

from emplace.eager import context
from emplace.framework import event_writer, graph_io, ops
from emplace.framework.thread_state import own


class SummaryWriter:
    """A file of events; `with writer.as_default(step):` makes it the one that is written to."""

    def __init__(self, file: Any) -> None:
        self._file = file

    @contextlib.contextmanager
    def as_default(self, step: Any = None) -> Iterator["SummaryWriter"]:
        """Summaries within it go to this writer, with `step` where none is given."""
        saved = dict(own.summary)
        own.summary["writer"] = self
        if step is not None:
            own.summary["step"] = step
        try:
            yield self
        finally:
            self.flush()
            own.summary.update(saved)

    def set_as_default(self, step: Any = None) -> None:
        """Summaries go to this writer from now on, with `step` where none is given."""
        own.summary["writer"] = self
        if step is not None:
            own.summary["step"] = step

    def init(self) -> None:
        """It is ready once it is made."""

    def flush(self) -> None:
        """Writes out what is waiting."""
        if self._file is not None:
            self._file.flush()

    def close(self) -> None:
        """Ends the file; later summaries to it are dropped."""
        if self._file is not None:
            self._file.close()
            self._file = None


def create_file_writer(logdir: Any, max_queue: Any = None, flush_millis: Any = None, filename_suffix: Any = None, name: Any = None, experimental_trackable: bool = False) -> SummaryWriter:
    """A writer of an event file in the folder `logdir`, for TensorBoard; of nothing if it is None."""
    if logdir is None:
        return create_noop_writer()
    seconds = 120 if flush_millis is None else max(1, int(flush_millis) // 1000)
    suffix = ".v2" if filename_suffix is None else filename_suffix
    return SummaryWriter(event_writer.FileWriter(str(logdir), max_queue=10 if max_queue is None else int(max_queue), flush_secs=seconds, filename_suffix=suffix))


def create_noop_writer() -> SummaryWriter:
    """A writer that drops what it is given."""
    return SummaryWriter(None)


def flush(writer: Any = None, name: Any = None) -> None:
    """Writes out what is waiting in a writer, by default in the current one."""
    chosen = writer or own.summary["writer"]
    if chosen is not None:
        chosen.flush()


def should_record_summaries() -> bool:
    """Whether a summary made here would be written."""
    record = own.summary["record"]
    return own.summary["writer"] is not None and bool(record() if callable(record) else record)


@contextlib.contextmanager
def record_if(condition: Any) -> Iterator[None]:
    """Within it summaries are written only where the condition, a bool or a function, holds."""
    saved, own.summary["record"] = own.summary["record"], condition
    try:
        yield
    finally:
        own.summary["record"] = saved


class _Experimental:
    """`tf.summary.experimental`."""

    @staticmethod
    def get_step() -> Any:
        return own.summary["step"]

    @staticmethod
    def set_step(step: Any) -> None:
        own.summary["step"] = step

    @staticmethod
    @contextlib.contextmanager
    def summary_scope(name: str, default_name: str = "summary", values: Any = None) -> Iterator[tuple[str, str]]:
        yield name or default_name, f"{name or default_name}/"


experimental = _Experimental()


def write(tag: str, tensor: Any, step: Any = None, metadata: Any = None, name: Any = None) -> Any:
    """One value; whether it was written. Inside a function whenever that runs."""
    if not context.outside_graph():
        from emplace.eager.functions import flow

        chosen = (own.summary["writer"], own.summary["step"] if step is None else step)
        given = [tensor, *([chosen[1]] if isinstance(chosen[1], ops.Tensor) or hasattr(chosen[1], "_handle") else [])]

        def later(value: Any, at: Any = chosen[1]) -> list[Any]:
            _written(chosen[0], tag, value, at, metadata)
            return []

        flow.py_function(later, given, [])
        return True
    with context.eager_mode():
        return ops.convert_to_tensor(_written(own.summary["writer"], tag, tensor, own.summary["step"] if step is None else step, metadata))


def _written(writer: Any, tag: str, tensor: Any, step: Any, metadata: Any) -> bool:
    from emplace.proto import event_pb2

    if writer is None or writer._file is None or not (own.summary["record"]() if callable(own.summary["record"]) else own.summary["record"]):
        return False
    if step is None:
        raise ValueError("No step set. Please specify one either through the `step` argument or through tf.summary.experimental.set_step()")
    value = tensor() if callable(tensor) and not hasattr(tensor, "numpy") else tensor
    array = np.asarray(value.numpy() if hasattr(value, "numpy") else value)
    row = event_pb2.Summary.Value(tag=tag)
    row.tensor.MergeFromString(graph_io.make_tensor_proto(array).SerializeToString())
    if metadata is not None:
        row.metadata.MergeFromString(metadata.SerializeToString())
    summary = event_pb2.Summary()
    summary.value.append(row)
    writer._file.add_summary(summary, int(step))
    return True


def _metadata(plugin: str, description: Any, content: bytes = b"") -> Any:
    from emplace.proto import event_pb2

    made = event_pb2.SummaryMetadata()
    made.plugin_data.plugin_name = plugin
    if content:
        made.plugin_data.content = content
    if description is not None:
        made.summary_description = description
    return made


def scalar(name: str, data: Any, step: Any = None, description: Any = None) -> Any:
    """Writes a number at a step; true if it was written."""
    with context.eager_mode() if context.outside_graph() else contextlib.nullcontext():
        data = ops.convert_to_tensor(data)
        if data.shape.rank not in (0, None):
            raise AssertionError(f"Expected scalar shape, saw shape: {data.shape}.")
        from emplace.framework import math_ops

        data = math_ops.cast(data, "float32")
    return write(name, data, step, _metadata("scalars", description))


def histogram(name: str, data: Any, step: Any = None, buckets: Any = None, description: Any = None) -> Any:
    """Writes how values are spread over `buckets` (30) equal ranges."""
    count = 30 if buckets is None else int(buckets)
    array = np.asarray(data.numpy() if hasattr(data, "numpy") else data, np.float64).reshape(-1)
    if not array.size:
        rows = np.zeros([count, 3])
    elif array.min() == array.max():
        rows = np.array([[array[0] - 0.5, array[0] + 0.5, 0.0]] * count)
        rows[-1, 2] = array.size
    else:
        counts, edges = np.histogram(array, count)
        rows = np.stack([edges[:-1], edges[1:], counts], 1)
    return write(name, rows, step, _metadata("histograms", description))


def text(name: str, data: Any, step: Any = None, description: Any = None) -> Any:
    """Writes text: a string, or a tensor of them as a table."""
    with context.eager_mode():
        data = ops.convert_to_tensor(data)
    return write(name, data, step, _metadata("text", description))


def image(name: str, data: Any, step: Any = None, max_outputs: int = 3, description: Any = None) -> Any:
    """[k, height, width, channels], as PNG files behind their width and height."""
    from emplace.eager import namespace

    array = data.numpy() if hasattr(data, "numpy") else np.asarray(data)
    if array.ndim != 4:
        raise ValueError(f"Shape must be rank 4 but is rank {array.ndim}")
    if array.dtype.kind == "f":
        array = np.clip(array * 255.0 + 0.5, 0, 255).astype(np.uint8)
    encode = namespace.lookup("image.encode_png")
    parts = [encode(a).numpy() for a in array[:max_outputs]]
    texts = np.array([str(array.shape[2]).encode(), str(array.shape[1]).encode(), *parts], object)
    return write(name, texts, step, _metadata("images", description))


def graph(graph_data: Any) -> bool:
    """Writes a graph; true if there was a writer."""
    writer = own.summary["writer"]
    if writer is None or writer._file is None:
        return False
    given = graph_data.as_graph_def() if hasattr(graph_data, "as_graph_def") else graph_data
    writer._file.add_graph(graph_def=given)
    return True


def trace_on(graph: bool = True, profiler: bool = False, profiler_outdir: Any = None) -> None:  # noqa: A002
    """Does nothing: traces of functions are kept with them in any case."""


def trace_off() -> None:
    """Does nothing: traces of functions are kept with them in any case."""


def trace_export(name: str, step: Any = None, profiler_outdir: Any = None) -> None:
    """Writes nothing: there is no trace of its own. ValueError where no writer is set."""
    if own.summary["writer"] is None:
        raise ValueError("Must enable trace before export through tf.summary.trace_on.")
