"""Unlike devices: how fast each is, and what a replica's part of a batch weighs."""

from __future__ import annotations

import functools
import time
from typing import Any

from emplace.eager import context, nest
from emplace.framework import array_ops, dtypes, math_ops, ops, tensor_shape

_SIZE, _REPEATS, _ROUNDS = 256, 4, 5  # of the work that is timed: some milliseconds on a core


@functools.cache
def measured(devices: tuple[str, ...]) -> tuple[float, ...]:
    """The share of the work that each device can do in the same time, by the best of a few rounds in turns."""
    from emplace.eager import function

    def work(x: Any) -> Any:
        for _ in range(_REPEATS):
            x = math_ops.abs(math_ops.matmul(x, x)) * (1.0 / _SIZE)
        return math_ops.reduce_sum(x)

    best = dict.fromkeys(devices, float("inf"))
    steps = {d: function.function(lambda x: work(x), autograph=False) for d in best}
    for _ in range(_ROUNDS):
        for device, step in steps.items():
            with context.eager_mode(), context.device(device):
                x = array_ops.ones([_SIZE, _SIZE])
                start = time.perf_counter()
                float(step(x))
            best[device] = min(best[device], time.perf_counter() - start)
    speeds = [1.0 / best[d] for d in devices]
    return tuple(s / sum(speeds) for s in speeds)


def shares_of(batch: int, shares: tuple[float, ...]) -> list[int]:
    """Whole rows nearest to the shares, in all as many as the batch has."""
    exact = [batch * s for s in shares]
    rows = [int(e) for e in exact]
    by_rest = sorted(range(len(rows)), key=lambda i: rows[i] - exact[i])
    for i in by_rest[: batch - sum(rows)]:
        rows[i] += 1
    return rows


class Parts:
    """How many parts like a replica's the batch has: its rows over the replica's. A number to who divides or multiplies."""

    __array_priority__ = 100
    dtype, shape = dtypes.float32, tensor_shape.TensorShape([])

    def __init__(self, rows: Any, own: Any) -> None:
        self._rows, self._own = rows, own

    def _as(self, dtype: Any, inverse: bool) -> Any:
        above, below = (math_ops.cast(n, dtype) for n in ((self._own, self._rows) if inverse else (self._rows, self._own)))
        return math_ops.div_no_nan(above, below)

    def _dense_var_to_tensor(self, dtype: Any = None, name: str | None = None, as_ref: bool = False) -> Any:
        return context.v2(self._as)(dtype or dtypes.float32, False)

    def __rtruediv__(self, other: Any) -> Any:
        kind = other.dtype if isinstance(other, ops.Tensor) else dtypes.float32
        return other * context.v2(self._as)(kind, True)

    def __mul__(self, other: Any) -> Any:
        kind = other.dtype if isinstance(other, ops.Tensor) else dtypes.float32
        return context.v2(self._as)(dtypes.float32 if getattr(kind, "is_integer", False) else kind, False) * _float(other)

    __rmul__ = __mul__

    def __gt__(self, other: Any) -> bool:
        return True  # there are several replicas

    __ge__ = __gt__

    def __eq__(self, other: object) -> bool:
        return False

    __hash__ = object.__hash__


def _float(value: Any) -> Any:
    return math_ops.cast(value, dtypes.float32) if isinstance(value, ops.Tensor) and value.dtype.is_integer else value


def parts(args: Any, kwargs: Any) -> list[Parts] | None:
    """For each replica, by the first batch among the arguments; None without one."""
    for leaf in nest.flatten([list(args), dict(kwargs)]):
        if getattr(leaf, "of_batch", False):
            rows = [_rows(v) for v in leaf.values]
            total = sum(rows) if all(isinstance(r, int) for r in rows) else context.v2(math_ops.add_n)([ops.convert_to_tensor(r) for r in rows])
            return [Parts(total, r) for r in rows]
    return None


def _rows(tensor: Any) -> Any:
    known = tensor.shape.as_list()[0]
    return context.v2(array_ops.shape)(tensor)[0] if known is None else int(known)


