"""`tf.TensorArray` outside graphs: a list of tensors."""

from __future__ import annotations

import contextlib
from typing import Any, Iterator

from emplace.eager import context
from emplace.framework import array_ops, dtypes, errors, ops


@contextlib.contextmanager
def _here() -> Iterator[None]:
    """At once outside graphs; inside a function that is being traced, into its graph."""
    if context.outside_graph():
        with context.eager_mode():
            yield
        return
    context._state.eager += 1
    try:
        yield
    finally:
        context._state.eager -= 1


class TensorArray:
    """Written once an index, unless cleared by a read; `stack` and `concat` join the elements."""

    def __init__(
        self, dtype: Any, size: Any = None, dynamic_size: Any = None, clear_after_read: Any = None, tensor_array_name: Any = None,
        handle: Any = None, flow: Any = None, infer_shape: bool = True, element_shape: Any = None, colocate_with_first_write_call: bool = True,
        name: str | None = None,
    ) -> None:
        self._dtype = dtypes.as_dtype(dtype)
        self._dynamic = bool(dynamic_size)
        self._clear = clear_after_read is not False and context.outside_graph()
        self._items: list[Any] = [None] * (0 if size is None else int(size))
        self._shape = element_shape

    dtype = property(lambda self: self._dtype)
    dynamic_size = property(lambda self: self._dynamic)
    element_shape = property(lambda self: self._shape)

    def write(self, index: Any, value: Any, name: str | None = None) -> "TensorArray":
        i = int(index)
        if i < 0:
            raise errors.OutOfRangeError(None, None, f"Writing to negative indices (index {i}) is not allowed.")
        if i >= len(self._items):
            if not self._dynamic:
                raise errors.OutOfRangeError(None, None, f"Tried to write to index {i} but array is not resizeable and size is: {len(self._items)}")
            self._items.extend([None] * (i + 1 - len(self._items)))
        with _here():
            value = ops.convert_to_tensor(value, None if isinstance(value, ops.Tensor) else self._dtype)
        if value.dtype != self._dtype:
            raise errors.InvalidArgumentError(None, None, f"TensorArray dtype is {self._dtype.name} but Op is trying to write dtype {value.dtype.name} ")
        self._items[i] = value
        return self

    def _filled(self) -> list[Any]:
        like = next((t for t in self._items if t is not None), None)
        if like is None and self._items:
            return [array_ops.zeros([], self._dtype) for _ in self._items]
        return [array_ops.zeros_like(like) if t is None else t for t in self._items]

    def read(self, index: Any, name: str | None = None) -> Any:
        i = int(index)
        if not 0 <= i < len(self._items):
            raise errors.OutOfRangeError(None, None, f"Tried to read from index {i} but array size is: {len(self._items)}")
        value = self._items[i]
        if value is None:
            raise errors.InvalidArgumentError(None, None, f"Could not read index {i} twice because it was cleared after a previous read (perhaps try setting clear_after_read = false?)")
        if self._clear:
            self._items[i] = None
        return value

    def stack(self, name: str | None = None) -> Any:
        with _here():
            if not self._items:
                return array_ops.zeros([0], self._dtype)
            return array_ops.stack(self._filled())

    def concat(self, name: str | None = None) -> Any:
        with _here():
            return array_ops.concat(self._filled(), 0)

    def gather(self, indices: Any, name: str | None = None) -> Any:
        with _here():
            return array_ops.stack([self._filled()[int(i)] for i in ops.convert_to_tensor(indices).numpy()])

    def unstack(self, value: Any, name: str | None = None) -> "TensorArray":
        with _here():
            self._items = list(array_ops.unstack(ops.convert_to_tensor(value, self._dtype)))
        return self

    def size(self, name: str | None = None) -> Any:
        with _here():
            return ops.convert_to_tensor(len(self._items))

    def identity(self) -> "TensorArray":
        return self
