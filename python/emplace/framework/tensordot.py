"""tensordot: a product over chosen axes, by reshaping to matrices."""

from __future__ import annotations

from typing import Any, TYPE_CHECKING

import numpy as np

from emplace.framework import array_ops, dtypes, index_values, math_ops
from emplace.framework.ops import convert_to_tensor as _convert
from emplace.framework.ops import name_scope

if TYPE_CHECKING:
    from emplace.framework.tensor import Tensor


def _axes(a: Any, axes: Any) -> tuple[Any, Any]:
    shape = a.shape
    if isinstance(axes, (int, np.integer)):
        if axes < 0:
            raise ValueError(f"`axes` must be at least 0. Received: {axes}.")
        if shape.rank is not None and axes > shape.rank:
            raise ValueError(f"`axes` must not be larger than the number of dimensions of tensor {a}.  Received {axes}, vs tensor dimensions {shape.rank}.")
        n = shape.rank if shape.rank is not None else 0
        return list(range(n - axes, n)), list(range(axes))
    if len(axes) != 2:
        raise ValueError(f"`axes` must be an integer or have length 2. Received {axes}.")
    first, second = axes
    if isinstance(first, (int, np.integer)) and isinstance(second, (int, np.integer)):
        return [first], [second]
    if len(first) != len(second):
        raise ValueError(f"Different number of contraction axes `a` and `b`, {len(first)} != {len(second)}.")
    return list(first), list(second)


def _matrix(a: Any, axes: list[int], flipped: bool) -> tuple[Any, Any, list[int]]:
    dims = a.shape.as_list()
    axes = [i if i >= 0 else i + len(dims) for i in axes]
    free = [i for i in range(len(dims)) if i not in axes]
    perm = axes + free if flipped else free + axes
    if a.shape.is_fully_defined():
        inner = int(np.prod([dims[i] for i in axes], dtype=np.int64))
        outer = int(np.prod([dims[i] for i in free], dtype=np.int64))
        new = [inner, outer] if flipped else [outer, inner]
        moved = array_ops.transpose(a, perm) if perm != list(range(len(dims))) else a
        if moved.shape.as_list() != new:
            moved = array_ops.reshape(moved, new)
        return moved, [dims[i] for i in free], [dims[i] for i in free]
    static = [dims[i] for i in free]
    along, rest = _convert(axes, dtype=dtypes.int32, name="axes"), _convert(free, dtype=dtypes.int32, name="free")
    shape = array_ops.shape(a)
    free_dims, axes_dims = array_ops.gather(shape, rest), array_ops.gather(shape, along)
    outer, inner = math_ops.reduce_prod(free_dims), math_ops.reduce_prod(axes_dims)
    order = array_ops.concat([along, rest] if flipped else [rest, along], 0)
    new = array_ops.stack([inner, outer] if flipped else [outer, inner])
    return array_ops.reshape(array_ops.transpose(a, order), new), free_dims, static


def tensordot(a: Any, b: Any, axes: Any, name: str | None = None) -> Tensor:
    with name_scope(name, "Tensordot", [a, b, axes]) as scope:
        a, b = _convert(a, name="a"), _convert(b, name="b")
        if a.shape.rank is None or b.shape.rank is None:
            raise ValueError("tensordot needs tensors of known rank")
        of_a, of_b = _axes(a, axes)
        left, left_free, left_static = _matrix(a, of_a, False)
        right, right_free, right_static = _matrix(b, of_b, True)
        product = math_ops.matmul(left, right)
        if isinstance(left_free, list) and isinstance(right_free, list):
            sizes = left_free + right_free
            if product.shape.is_fully_defined() and product.shape.as_list() == sizes:
                return product
            return array_ops.reshape(product, sizes, name=scope)
        left_free = index_values.tensor(left_free)
        right_free = index_values.tensor(right_free)
        out = array_ops.reshape(product, array_ops.concat([left_free, right_free], 0), name=scope)
        out.set_shape(left_static + right_static)
        return out


