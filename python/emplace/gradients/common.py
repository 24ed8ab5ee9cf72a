"""What gradients of many operations share.

In graphs they make the nodes that TensorFlow makes; eagerly, where nobody sees nodes, they take the
shortest way.
"""

from __future__ import annotations

import contextlib
from typing import Any

from emplace.framework import array_ops, constant_op, dtypes, math_ops, ops
from emplace.framework.dispatch import execute as _op


def is_eager(x: Any) -> bool:
    return hasattr(x, "_numpy_of_eager")


def after(*grads: Any) -> Any:
    """Nodes made in this scope wait for the gradients: no forward value is taken up again too early."""
    return contextlib.nullcontext() if is_eager(grads[0]) else ops.control_dependencies(list(grads))


def known(x: Any) -> Any:
    """The value as an array, if it is known while building."""
    return x._numpy_of_eager() if is_eager(x) else constant_op.constant_value(x)


def number(value: Any, x: Any) -> Any:
    """A constant of the type of `x`."""
    if is_eager(x):
        return ops.convert_to_tensor(value, dtype=x.dtype.base_dtype)
    return constant_op.constant(value, dtype=x.dtype.base_dtype)


def conj(x: Any) -> Any:
    return math_ops.conj(x) if x.dtype.is_complex else x


def text(value: Any) -> Any:
    return value.decode() if isinstance(value, bytes) else value


def attributes(op: Any, names: str) -> dict[str, Any]:
    return {n: text(op.get_attr(n)) for n in names.split()}


def dims(x: Any) -> Any:
    """The shape as a tuple with None for what is unknown; None if not even the rank is known."""
    shape = x.shape
    return None if shape.rank is None else tuple(shape.as_list())


def fully_known(*tensors: Any) -> bool:
    return all(t.shape.is_fully_defined() for t in tensors)


def same_known_shape(*tensors: Any) -> bool:
    """Of tensors; slices count as of another shape."""
    return not any(isinstance(t, ops.IndexedSlices) for t in tensors) and fully_known(*tensors) and all(t.shape == tensors[0].shape for t in tensors)


def to_shape(grad: Any, x: Any) -> Any:
    """`grad` summed over the axes along which `x` was broadcast."""
    if grad is None or same_known_shape(grad, x):
        return grad
    if fully_known(grad, x):
        have, want = grad.shape.as_list(), x.shape.as_list()
        extra = len(have) - len(want)
        axes = [*range(extra), *(extra + i for i, d in enumerate(want) if d == 1 and have[extra + i] != 1)]
        return array_ops.reshape(math_ops.reduce_sum(grad, axes) if axes else grad, want)
    target = array_ops.shape(x)
    axes, _ = _op("BroadcastGradientArgs", [target, array_ops.shape(grad)], {})
    return array_ops.reshape(math_ops.reduce_sum(grad, axes), target)


def _reduced_axes(x: Any, y: Any) -> Any:
    """Axes along which x, and y, were broadcast against each other; None where shapes don't tell."""
    left, right = dims(x), dims(y)
    if left is None or right is None:
        return None
    rank = max(len(left), len(right))
    left, right = (1,) * (rank - len(left)) + left, (1,) * (rank - len(right)) + right
    pairs = list(enumerate(zip(left, right)))
    if any((a is None and b != 1) or (b is None and a != 1) for _, (a, b) in pairs):
        return None
    return [i for i, (a, b) in pairs if a == 1 and b != 1], [i for i, (a, b) in pairs if b == 1 and a != 1]


def unbroadcast(x: Any, y: Any, gx: Any, gy: Any) -> tuple[Any, Any]:
    """The gradients of both arguments of an operation that broadcasts them."""
    if gx is None and gy is None:
        return None, None
    if is_eager(x) or is_eager(y):
        return to_shape(gx, x), to_shape(gy, y)
    shapes = array_ops.shape(x), array_ops.shape(y)
    axes = _reduced_axes(x, y)
    if axes is None:
        needed = (True, True)
        axes = _op("BroadcastGradientArgs", list(shapes), {})
    else:
        ranks = x.shape.rank, y.shape.rank
        needed = (bool(axes[0]) or ranks[0] < ranks[1], bool(axes[1]) or ranks[1] < ranks[0])
    out = []
    for g, shape, along, need in zip((gx, gy), shapes, axes, needed):
        if g is not None and need:
            g = array_ops.reshape(math_ops.reduce_sum(g, along, keepdims=True), shape)
        out.append(g)
    return out[0], out[1]


class Broadcast:
    """As `unbroadcast`, for gradients whose axes are asked for before anything else is computed."""

    def __init__(self, x: Any, y: Any) -> None:
        self._args = x, y
        self._eager = is_eager(x) or is_eager(y)
        if not self._eager:
            self._shapes = array_ops.shape(x), array_ops.shape(y)
            self._axes = _op("BroadcastGradientArgs", list(self._shapes), {})

    def reduce(self, which: int, factor: Any, grad: Any) -> Any:
        product = factor * grad
        if self._eager:
            return to_shape(product, self._args[which])
        total = summed_over(product, self._axes[which], *self._args, which)
        return array_ops.reshape(total, self._shapes[which])


def summed_over(value: Any, axes: Any, x: Any, y: Any, which: int) -> Any:
    """`value` summed along the axes by which x and y were broadcast; its shape, where theirs tell."""
    total = math_ops.reduce_sum(value, axes)
    along = _reduced_axes(x, y)
    if along is not None and value.shape.rank is not None:
        total.set_shape([d for i, d in enumerate(value.shape.as_list()) if i not in _all_of_one(along[which], x, y)])
    return total


def _all_of_one(along: list[int], x: Any, y: Any) -> set[int]:
    """Where both are 1 the operation that finds the axes names them, too, unless the shapes are one."""
    left, right = dims(x), dims(y)
    if left == right:
        return set(along)
    rank = max(len(left), len(right))
    left, right = (1,) * (rank - len(left)) + left, (1,) * (rank - len(right)) + right
    return set(along) | {i for i, (a, b) in enumerate(zip(left, right)) if a == b == 1}


def kept_shape(shape: Any, axes: Any) -> Any:
    """The shape a reduction of a tensor of `shape` along `axes` has if it keeps its axes."""
    sizes, along = known(shape), known(axes)
    if sizes is not None and along is not None:
        sizes = sizes.copy()
        sizes[along] = 1
        return sizes
    shape = math_ops.cast(shape, dtypes.int32)
    axes = math_ops.cast(axes, dtypes.int32)
    rank = array_ops.size(shape)
    axes = (axes + rank) % rank
    count = array_ops.shape(axes)
    return _op("DynamicStitch", [[math_ops.range(rank), axes], [shape, array_ops.ones(count, dtype=dtypes.int32)]], {})


def through(function: Any, inputs: list[Any], grads: list[Any]) -> list[Any]:
    """The gradients of `inputs` by way of operations that have rows of their own: `function` writes
    the operation out in them and returns a list."""
    if any(is_eager(x) for x in inputs):
        from emplace.eager import context, tape

        with context.eager_mode(), tape.GradientTape() as recorded:
            recorded.watch(inputs)
            outputs = function(*inputs)
        return recorded.gradient(outputs, inputs, output_gradients=grads)
    from emplace.framework import gradients

    aliases = [array_ops.identity(x) for x in inputs]
    return gradients.gradients(function(*aliases), aliases, grads)
