"""Where the time of a pipeline goes: what its iterator counted, stage by stage."""

from __future__ import annotations

from typing import Any, NamedTuple

from emplace.framework import gen


class Stage(NamedTuple):
    """What one stage did. Those with threads of their own have buffers and are waited for."""

    op: str
    node: str
    elements: int
    elements_per_second: float
    seconds: float  # of its own, on all of its threads
    waiting: float  # seconds that who asked waited for its threads
    threads: int
    buffered: int
    buffered_bytes: int
    room: int  # elements that may be buffered
    adapts: bool  # by itself, to where the time goes
    inputs: tuple[int, ...]  # which stages of the report it takes elements from


class Report:
    """The stages of a pipeline, the last one first; printed as a table."""

    def __init__(self, model: bytes) -> None:
        from emplace.proto import pipeline_model_pb2

        message = pipeline_model_pb2.ModelProto.FromString(model)
        self.name, self.seconds = message.dataset_name, message.age / 1e9
        self.ram_budget, self.cpu_budget = message.optimization_params.ram_budget, message.optimization_params.cpu_budget
        self.stages = [_stage(message.nodes[i], self.seconds) for i in sorted(message.nodes)]

    def __getitem__(self, op: str) -> Stage:
        """The first stage that this operation made."""
        return next(s for s in self.stages if s.op == op)

    def __repr__(self) -> str:
        words = ["stage", "elements", "a second", "own s", "waited s", "threads", "buffered"]
        rows = [words] + [
            [s.op, str(s.elements), f"{s.elements_per_second:.0f}", f"{s.seconds:.3f}", f"{s.waiting:.3f}", str(s.threads or ""),
             f"{s.buffered}/{s.room}" if s.threads else ""] for s in self.stages
        ]  # fmt: skip
        widths = [max(len(r[i]) for r in rows) for i in range(len(words))]
        return "\n".join("  ".join(c.ljust(w) if i == 0 else c.rjust(w) for i, (c, w) in enumerate(zip(r, widths))).rstrip() for r in rows)


def _stage(node: Any, seconds: float) -> Stage:
    sizes = {p.name: int(p.value) for p in node.parameters}
    return Stage(
        node.name, node.node, node.num_elements, node.num_elements / seconds if seconds else 0.0, node.processing_time / 1e9, node.wait_time / 1e9,
        sizes.get("parallelism", 0), node.buffered_elements, node.buffered_bytes, sizes.get("buffer_size", 0), node.autotune, tuple(node.inputs),
    )


def model_of_iterator(iterator: Any) -> bytes:
    return gen.apply("IteratorGetModelProto", [iterator._resource], {}).numpy()


def model_of_dataset(dataset: Any) -> bytes:
    return gen.apply("_DatasetGetModelProto", [dataset._variant_tensor], {}).numpy()


def get_model_proto(iterator: Any) -> Any:
    """What an iterator counted of its pipeline, as a ModelProto message."""
    from emplace.eager import context
    from emplace.eager.datasets import iterators
    from emplace.proto import pipeline_model_pb2

    if isinstance(iterator, iterators.NumpyIterator):
        iterator = iterator._items
    if not isinstance(iterator, iterators.OwnedIterator):
        raise ValueError("Only supports `tf.data.Iterator`-typed `iterator`.")
    if not context.executing_eagerly():
        raise ValueError("get_model_proto is not supported in graph mode.")
    return pipeline_model_pb2.ModelProto.FromString(model_of_iterator(iterator))
