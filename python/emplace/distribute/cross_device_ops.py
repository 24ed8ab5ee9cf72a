"""How values that lie on several devices become one: `ReduceOp` and the ways of reducing."""

from __future__ import annotations

import contextlib
import enum
from typing import Any

from emplace.distribute import values as distributed
from emplace.eager import context
from emplace.framework import array_ops, math_ops, ops


class ReduceOp(enum.Enum):
    """How the values of replicas become one: their sum or their mean."""

    SUM = "SUM"
    MEAN = "MEAN"

    @staticmethod
    def from_variable_aggregation(aggregation: Any) -> "ReduceOp":
        """The way in which copies of a variable are brought together."""
        from emplace.framework.variables import VariableAggregation

        if aggregation.value in (VariableAggregation.SUM.value, VariableAggregation.MEAN.value):
            return ReduceOp[aggregation.name]
        raise ValueError(f"Could not convert from `tf.VariableAggregation` {type(aggregation).__name__}.{aggregation.name} to`tf.distribute.ReduceOp` type")


def as_reduce_op(given: Any) -> ReduceOp:
    """The member that a caller means by it or its name."""
    if isinstance(given, str):
        return ReduceOp(given.upper())
    assert isinstance(given, ReduceOp)
    return given


def devices_of(destinations: Any) -> tuple[str, ...]:
    """Where the result is wanted: on the devices of a variable or a value, or on one that is named."""
    if isinstance(destinations, str):
        return (resolved(destinations),)
    if isinstance(destinations, distributed.DistributedValues):
        return tuple(v.device for v in destinations.values)
    return destinations.devices if hasattr(destinations, "devices") else (destinations.device,)


def resolved(device: str) -> str:
    return context.engine().resolve(context._text(device)) if device else ""


def on(device: str) -> Any:
    """A block of this device, where it is known."""
    return context.device(device) if device else contextlib.nullcontext()


def copied(value: Any, device: str) -> Any:
    """The value on a device."""
    if isinstance(value, ops.IndexedSlices):
        return ops.IndexedSlices(copied(value.values, device), copied(value.indices, device), value.dense_shape)
    if value.device == device:
        return value
    with on(device):
        return context.v2(array_ops.identity)(value)


def _sum(parts: list[Any]) -> Any:
    """Of two or more, where the caller is; rows of larger tensors are put one behind the other."""
    if any(isinstance(p, ops.IndexedSlices) for p in parts):
        joined = [context.v2(array_ops.concat)([getattr(p, what) for p in parts], 0) for what in ("values", "indices")]
        return ops.IndexedSlices(*joined, parts[0].dense_shape)
    return context.v2(math_ops.add_n)(parts)


def _divided(total: Any, count: int) -> Any:
    if isinstance(total, ops.IndexedSlices):
        return ops.IndexedSlices(_divided(total.values, count), total.indices, total.dense_shape)
    by = context.v2(math_ops.cast)(count, total.dtype)
    return context.v2(math_ops.divide)(total, by) if total.dtype.is_floating or total.dtype.is_complex else total // by


def _tensor(value: Any) -> Any:
    if isinstance(value, (ops.Tensor, ops.IndexedSlices)):
        return value
    return context.v2(ops.convert_to_tensor)(value)


class CrossDeviceOps:
    """Reduces values of replicas and copies what is made to where it is wanted. Subclasses say how a sum is formed
    (`_total`: of tensors, wanted on these devices)."""

    def reduce(self, reduce_op: Any, per_replica_value: Any, destinations: Any, options: Any = None) -> Any:
        """The sum or mean of a value's parts on the destinations: a tensor, or one for each of several devices."""
        parts = per_replica_value.values if isinstance(per_replica_value, distributed.DistributedValues) else (per_replica_value,)
        devices = devices_of(destinations)
        _tell(self._told(len(parts), devices))
        return _spread(self._everywhere(as_reduce_op(reduce_op), [_tensor(p) for p in parts], devices), devices)

    def batch_reduce(self, reduce_op: Any, value_destination_pairs: Any, options: Any = None) -> list[Any]:
        """`reduce` of each pair of a value and where it is wanted."""
        return [self.reduce(reduce_op, v, d, options) for v, d in value_destination_pairs]

    def broadcast(self, tensor: Any, destinations: Any) -> Any:
        """The tensor on each of the destinations."""
        return _spread([_tensor(tensor)] * len(devices_of(destinations)), devices_of(destinations))

    def _told(self, parts: int, devices: tuple[str, ...]) -> str:
        return f"Reduce to {devices[0]} then broadcast to {devices}."

    def _everywhere(self, kind: ReduceOp, parts: list[Any], devices: tuple[str, ...]) -> list[Any]:
        """For each device the tensor that it copies."""
        with on(devices[0]):
            total = self._total(parts)
            whole = _divided(total, len(parts)) if kind == ReduceOp.MEAN else total
        return [whole] * len(devices)

    def _total(self, parts: list[Any]) -> Any:
        return parts[0] if len(parts) == 1 else _sum(parts)


_tellings = 0


def _tell(what: str) -> None:
    """The first ten reductions are written to the log."""
    global _tellings
    _tellings += 1
    if _tellings <= 10:
        from emplace.compat.v1 import logging

        logging.info(what)


def _spread(tensors: list[Any], devices: tuple[str, ...]) -> Any:
    made = [copied(t, d) for t, d in zip(tensors, devices)]
    return made[0] if len(made) == 1 else distributed.Mirrored(made)


class ReductionToOneDevice(CrossDeviceOps):
    """Copies all parts to one device, adds them there, and copies the sum to where it is wanted."""

    def __init__(self, reduce_to_device: str | None = None, accumulation_fn: Any = None) -> None:
        self._device = reduce_to_device
        self._add = accumulation_fn

    def _everywhere(self, kind: ReduceOp, parts: list[Any], devices: tuple[str, ...]) -> list[Any]:
        at = resolved(self._device) if self._device else devices[0]
        return super()._everywhere(kind, parts, (at,)) * len(devices)

    def _total(self, parts: list[Any]) -> Any:
        return super()._total(parts) if self._add is None or len(parts) == 1 else self._add(parts)


class Tree(CrossDeviceOps):
    """Adds neighbours, then sums of neighbours, each on the device of the left one: the order of the additions depends on
    nothing but how many parts there are."""

    def _total(self, parts: list[Any]) -> Any:
        while len(parts) > 1:
            pairs = [parts[i : i + 2] for i in range(0, len(parts), 2)]
            parts = [p[0] if len(p) == 1 else self._pair(*p) for p in pairs]
        return parts[0]

    @staticmethod
    def _pair(left: Any, right: Any) -> Any:
        with on(left.device):
            return _sum([left, right])


class _AllReduce(CrossDeviceOps):
    """Where each device holds a part and wants the sum: by a tree, or round a ring where the parts are large."""

    _called = _algorithm = ""

    def __init__(self, num_packs: int = 1) -> None:
        if num_packs < 0:
            raise ValueError(f"{self._called} requires num_packs >= 0, but {num_packs} is specified")
        self._num_packs = num_packs

    def _told(self, parts: int, devices: tuple[str, ...]) -> str:
        if len(devices) != parts:
            return super()._told(parts, devices)
        return f"batch_all_reduce: 1 all-reduces with algorithm = {self._algorithm}, num_packs = {self._num_packs}"

    def _everywhere(self, kind: ReduceOp, parts: list[Any], devices: tuple[str, ...]) -> list[Any]:
        if len(parts) == len(devices) > 2 and ring_is_cheaper(parts, devices):
            return [_divided(t, len(parts)) if kind == ReduceOp.MEAN else t for t in _ring(parts, devices)]
        return Tree()._everywhere(kind, parts, devices)


class NcclAllReduce(_AllReduce):
    """The name for NVIDIA's library; without distinct cards the same sums by copies and adds."""

    _called, _algorithm = "NCCL all-reduce", "nccl"


class HierarchicalCopyAllReduce(_AllReduce):
    """Sums along a tree of copies between devices, and copies the sum back along it."""

    _called, _algorithm = "HierarchicalCopy all-reduce", "hierarchical_copy"


_LATENCY, _BYTES_A_SECOND = 10e-6, 8e9  # of a copy between devices, where nothing was measured


def ring_is_cheaper(parts: list[Any], devices: tuple[str, ...]) -> bool:
    """Whether 2(n-1) copies of an nth each, all links at once, take less time than copies of whole tensors along a tree and
    back. Devices that share their memory have one link."""
    first, n = parts[0], len(parts)
    if isinstance(first, ops.IndexedSlices) or any(p.shape != first.shape for p in parts) or not first.shape.is_fully_defined():
        return False
    if not first.dtype.is_floating or first.shape.num_elements() < n or not _are_cards(devices):
        return False
    whole = first.shape.num_elements() * first.dtype.size / _BYTES_A_SECOND
    depth = (n - 1).bit_length()
    return 2 * (n - 1) * (_LATENCY + whole / n) < 2 * depth * (_LATENCY + whole)


def _are_cards(devices: tuple[str, ...]) -> bool:
    """Whether each is a card of its own: no virtual GPU, no part of one that another is a part of too."""
    told = {row[0]: row[4] for row in context.engine().list_devices()}
    buses = {told.get(d, "").partition("pci bus id: ")[2].partition(",")[0] for d in devices if "Virtual GPU" not in told.get(d, "")}
    return "" not in buses and len(buses) == len(devices)


def _ring(parts: list[Any], devices: tuple[str, ...]) -> list[Any]:
    """Chunk k is summed once round the ring, beginning behind device k, then handed round."""
    n, shape = len(parts), parts[0].shape
    size = shape.num_elements()
    sizes = [size // n + (k < size % n) for k in range(n)]
    chunks = []
    for part, device in zip(parts, devices):
        with on(device):
            chunks.append(context.v2(array_ops.split)(context.v2(array_ops.reshape)(part, [-1]), sizes, num=n))
    sums = []
    for k in range(n):
        total = chunks[(k + 1) % n][k]
        for step in range(2, n + 1):
            at = (k + step) % n
            with on(devices[at]):
                total = _sum([total, chunks[at][k]])
        sums.append(total)
    made = []
    for device in devices:
        with on(device):
            made.append(context.v2(array_ops.reshape)(context.v2(array_ops.concat)(sums, 0), shape))
    return made


def gather(parts: list[Any], axis: int, device: str) -> Any:
    """The parts one behind the other."""
    with on(device):
        return context.v2(array_ops.concat)([_tensor(p) for p in parts], axis)


