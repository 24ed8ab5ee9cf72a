"""Values of several workers made one: each brings what its own replicas come to, and gets the whole.

All operations of a worker's use the same keys: the first of one worker meets the first of the others, whichever function it is
in, so functions may be traced anew at different times. That wants one order everywhere, which a token, a variable, sees to.
"""

from __future__ import annotations

from typing import Any

from emplace.distribute import cross_device_ops, values as distributed
from emplace.distribute.cross_device_ops import ReduceOp
from emplace.eager import context, variables
from emplace.framework import array_ops, dtypes, gen, math_ops, ops

_GROUP, _INSTANCE = 1, 100  # where TensorFlow's begin, too
_BROADCAST, _BESIDE = 99, 1000
_SENT = ("bool", "float32", "float16", "float64", "int32", "int64")  # what a broadcast takes
_told_gathers = 0


class Workers:
    """The collective operations of a group with one member on each worker."""

    def __init__(self, count: int, device: str, timeout: float | None) -> None:
        self.count, self._device = count, device
        self._attrs = {"communication_hint": "auto", "timeout_seconds": timeout or 0.0, "is_stateless": False}
        self._token: Any = None
        self._reductions = 0

    def _made_together(self, op: str, value: Any, **attrs: Any) -> Any:
        if self._token is None:
            with context.eager_mode(), cross_device_ops.on(self._device):
                self._token = variables.ResourceVariable(0.0)
        with cross_device_ops.on(self._device), context.device(self._device):
            made = context.v2(gen.apply)(op, [value, self.count, _GROUP, _INSTANCE, [self._token.handle]], {**self._attrs, **attrs})
        return made if isinstance(made, ops.Tensor) else made[0]

    def sum(self, value: Any, merge: str = "Add") -> Any:
        """Of what each worker gives."""
        return self._made_together("CollectiveReduceV2", value, merge_op=merge, final_op="Id", max_subdivs_per_device=-1)

    def reduction(self) -> Any:
        """A sum of its own, for what goes on beside steps: `reduce(value)`. Workers make the same ones in the same order."""
        self._reductions += 1
        keys = [self.count, _GROUP, _BESIDE + self._reductions, []]
        how = {**self._attrs, "merge_op": "Add", "final_op": "Id", "max_subdivs_per_device": -1}
        return lambda value: gen.apply("CollectiveReduceV2", [value, *keys], how)

    def gather(self, value: Any) -> Any:
        """One behind the other along the first axis, where they may have unlike lengths."""
        with context.device(self._device):
            return context.v2(self._gathered)(value)

    def _gathered(self, value: Any) -> Any:
        own = array_ops.shape(value)[:1]
        lengths = self._made_together("CollectiveGatherV2", own)
        most: Any = math_ops.reduce_max(lengths)
        behind = array_ops.concat([[[0, most - own[0]]], array_ops.zeros([array_ops.rank(value) - 1, 2], "int32")], 0)
        rows = self._made_together("CollectiveGatherV2", array_ops.pad(value, behind))
        parts = [rows[i * most : i * most + lengths[i]] for i in range(self.count)]
        return array_ops.concat(parts, 0)

    def from_first(self, value: Any, first: bool) -> Any:
        """The first worker's value; outside of graphs."""
        wire = _wire(value.dtype)
        if wire is None:
            return value
        keys = [self.count, _GROUP, _BROADCAST]
        how = {k: v for k, v in self._attrs.items() if k != "is_stateless"}
        with context.device(self._device):
            if first:
                gen.apply("CollectiveBcastSendV2", [math_ops.cast(value, wire), *keys], how)
                return value
            made = gen.apply("CollectiveBcastRecvV2", [*keys, array_ops.shape(value)], {**how, "T": wire})
            return math_ops.cast(made if isinstance(made, ops.Tensor) else made[0], value.dtype)


def _wire(dtype: Any) -> Any:
    """As what values of a dtype are sent; None: they are not."""
    if dtype.name in _SENT:
        return dtype
    if dtype.is_floating:
        return dtypes.float32
    return dtypes.int64 if dtype.is_integer else None


class CollectiveAllReduce(cross_device_ops.CrossDeviceOps):
    """Adds the parts of a worker's replicas, then those of all workers; many values go as few."""

    def __init__(self, workers: Workers, devices: tuple[str, ...], options: Any) -> None:
        self._workers, self._devices, self._options = workers, devices, options

    def reduce(self, reduce_op: Any, per_replica_value: Any, destinations: Any, options: Any = None) -> Any:
        """The sum or mean over all workers' replicas, on the destinations."""
        return self.batch_reduce(reduce_op, [(per_replica_value, destinations)], options)[0]

    def batch_reduce(self, reduce_op: Any, value_destination_pairs: Any, options: Any = None) -> list[Any]:
        """`reduce` of each pair of a value and where it is wanted."""
        kind = cross_device_ops.as_reduce_op(reduce_op)
        given = [_parts(v) for v, _ in value_destination_pairs]
        totals = [self._here(parts) for parts in given]
        dense = [i for i, t in enumerate(totals) if not isinstance(t, ops.IndexedSlices)]
        packs = self._packs([totals[i] for i in dense])
        self._tell(len(dense), len(packs), len(totals) - len(dense))
        summed = {dense[i]: whole for pack in packs for i, whole in zip(pack, self._summed([totals[dense[i]] for i in pack]))}
        made = []
        for i, ((_, destinations), parts) in enumerate(zip(value_destination_pairs, given)):
            whole = summed[i] if i in summed else self._slices(totals[i])
            if kind == ReduceOp.MEAN:
                whole = cross_device_ops._divided(whole, len(parts) * self._workers.count)
            devices = cross_device_ops.devices_of(destinations)
            made.append(cross_device_ops._spread([whole] * len(devices), devices))
        return made

    def gather(self, parts: list[Any], axis: int) -> Any:
        """All workers' parts one behind the other."""
        self._tell_of_gather()
        whole: Any = cross_device_ops.gather(parts, axis, self._devices[0])
        if axis == 0:
            return self._workers.gather(whole)
        order = [axis, *(i for i in range(whole.shape.rank) if i != axis)]
        back = sorted(range(whole.shape.rank), key=order.__getitem__)
        turned = context.v2(array_ops.transpose)
        return turned(self._workers.gather(turned(whole, order)), back)

    def _here(self, parts: Any) -> Any:
        with cross_device_ops.on(self._devices[0]):
            return self._total([cross_device_ops._tensor(p) for p in parts])

    def _packs(self, tensors: list[Any]) -> list[list[int]]:
        """Which of them go as one: those of a dtype, the last first, up to `bytes_per_pack`."""
        packs: dict[Any, list[list[int]]] = {}
        sizes: dict[Any, float] = {}
        for i in reversed(range(len(tensors))):
            t = tensors[i]
            known = t.shape.is_fully_defined()
            size = t.shape.num_elements() * t.dtype.size if known else 0
            full = self._options.bytes_per_pack and sizes.get(t.dtype, 0) + size > self._options.bytes_per_pack
            if t.dtype not in packs or full:
                packs.setdefault(t.dtype, []).append([])
                sizes[t.dtype] = 0
            packs[t.dtype][-1].append(i)
            sizes[t.dtype] += size
        return [pack for of_dtype in packs.values() for pack in of_dtype]

    def _summed(self, tensors: list[Any]) -> list[Any]:
        if len(tensors) == 1:
            return [self._workers.sum(tensors[0])]
        with cross_device_ops.on(self._devices[0]):
            return context.v2(self._summed_as_one)(tensors)

    def _summed_as_one(self, tensors: list[Any]) -> list[Any]:
        flat = [array_ops.reshape(t, [-1]) for t in tensors]
        sizes = [f.shape.num_elements() if f.shape.is_fully_defined() else array_ops.shape(f)[0] for f in flat]
        parts = array_ops.split(self._workers.sum(array_ops.concat(flat, 0)), sizes, num=len(flat))
        shapes = [t.shape.as_list() if t.shape.is_fully_defined() else array_ops.shape(t) for t in tensors]
        return [array_ops.reshape(p, s) for p, s in zip(parts, shapes)]

    def _slices(self, total: Any) -> Any:
        gather = self._workers.gather
        return ops.IndexedSlices(gather(total.values), gather(total.indices), total.dense_shape)

    def _tell(self, dense: int, packs: int, sparse: int) -> None:
        if context.outside_graph():
            return
        from emplace.compat.v1 import logging

        common = f"num_devices = {len(self._devices)}, group_size = {len(self._devices) * self._workers.count}, implementation = {self._options.implementation}"
        if dense:
            logging.info(f"Collective all_reduce tensors: {dense} all_reduces, {common}, num_packs = {packs}")
        if sparse:
            logging.info(f"Collective all_reduce IndexedSlices: {sparse} all_reduces, {common.replace(' =', '=', 1)}")

    def _tell_of_gather(self) -> None:
        global _told_gathers
        _told_gathers += 1
        if _told_gathers <= 10:
            from emplace.compat.v1 import logging

            count = len(self._devices)
            logging.info(f"Collective batch_all_gather: 1 all-gathers, num_devices = {count}, group_size = {count * self._workers.count}, implementation = {self._options.implementation}, ")


def _parts(value: Any) -> tuple[Any, ...]:
    return value.values if isinstance(value, distributed.DistributedValues) else (value,)
