"""`tf.TensorArray`: outside graphs a Python list of tensors, inside functions a TensorList."""

from __future__ import annotations

import contextlib
from typing import Any, Iterator

from emplace.eager import context
from emplace.framework import array_ops, constant_op, dtypes, errors, gen, index_values, ops, tensor_shape


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
        self._flow: Any = flow
        self._infer = infer_shape
        if flow is None and ops._default_graphs.stack and ops._default_graphs.stack[-1]._captures:
            self._dynamic, self._known = bool(dynamic_size), [tensor_shape.as_shape(element_shape)]
            self._items = []
            self._reserve(0 if size is None else size)
            return
        self._dynamic = bool(dynamic_size)
        self._clear = clear_after_read is not False and context.outside_graph()
        self._items: list[Any] = [None] * (0 if size is None else index_values.whole(size))
        self._known = [element_shape]  # shared by all that go on from this one

    dtype = property(lambda self: self._dtype)
    dynamic_size = property(lambda self: self._dynamic)
    element_shape = property(lambda self: tensor_shape.as_shape(self._shape))
    _shape = property(lambda self: self._known[0])

    # ---- Inside a function: a tensor that stands for the list.

    @property
    def flow(self) -> Any:
        if self._flow is None:
            raise NotImplementedError("a TensorArray that was made outside of the function: make it inside")
        return self._flow

    def _with_flow(self, flow: Any) -> "TensorArray":
        other = TensorArray.__new__(TensorArray)
        other.__dict__.update(self.__dict__)
        other._flow = flow
        return other

    def _run(self, op: str, inputs: list[Any], attrs: dict[str, Any] | None = None) -> Any:
        with _here():
            return gen.apply(op, inputs, attrs or {})

    def _element_shape(self) -> Any:
        known = -1 if self._shape.rank is None else [-1 if d is None else d for d in self._shape.as_list()]
        return index_values.tensor(known, "Const", wide=True)

    def _reserve(self, size: Any) -> None:
        size = index_values.tensor(size)
        self._flow = self._run("TensorListReserve", [self._element_shape(), size], {"element_dtype": self._dtype})

    def _learn(self, shape: Any) -> None:
        if self._infer:
            if not self._shape.is_compatible_with(shape):
                raise ValueError(f"Inconsistent shapes: saw {shape} but expected {self._shape}")
            self._known[0] = self._shape.merge_with(shape)

    def _value(self, value: Any) -> Any:
        with _here():
            value = ops.convert_to_tensor(value, None if isinstance(value, ops.Tensor) else self._dtype)
            value = ops.get_default_graph().inside(value)
        if value.dtype.base_dtype != self._dtype:
            raise errors.InvalidArgumentError(None, None, f"TensorArray dtype is {self._dtype.name} but Op is trying to write dtype {value.dtype.name} ")
        return value

    def _of_element(self, t: Any, front: Any = ()) -> Any:
        if self._shape.rank is not None:
            t.set_shape([*front, *self._shape.as_list()])
        return t

    def _graph_write(self, index: Any, value: Any) -> "TensorArray":
        value = self._value(value)
        self._learn(value.shape)
        attrs = {"resize_if_index_out_of_bounds": True} if self._dynamic else {}
        return self._with_flow(self._run("TensorListSetItem", [self._flow, index, value], attrs))

    def _graph_read(self, index: Any) -> Any:
        return self._of_element(self._run("TensorListGetItem", [self._flow, index, self._element_shape()], {"element_dtype": self._dtype}))

    def _graph_stack(self) -> Any:
        t = self._run("TensorListStack", [self._flow, self._element_shape()], {"element_dtype": self._dtype})
        return self._of_element(t, [None])

    def _graph_gather(self, indices: Any) -> Any:
        indices = index_values.tensor(indices)
        return self._of_element(self._run("TensorListGather", [self._flow, indices, self._element_shape()], {"element_dtype": self._dtype}), indices.shape.as_list())

    def _graph_concat(self) -> Any:
        shape = [None, *self._shape.as_list()[1:]] if self._shape.rank else None
        known = -1 if shape is None else [-1 if d is None else d for d in shape]
        lead = constant_op.constant([], dtypes.int64)
        return self._run("TensorListConcatV2", [self._flow, index_values.tensor(known, "Const", wide=True), lead], {"element_dtype": self._dtype})[0]

    def _graph_unstack(self, value: Any) -> "TensorArray":
        value = self._value(value)
        self._learn(tensor_shape.TensorShape(value.shape.as_list()[1:]) if value.shape.rank is not None else value.shape)
        return self._with_flow(self._run("TensorListFromTensor", [value, self._element_shape()]))

    def _graph_scatter(self, indices: Any, value: Any) -> "TensorArray":
        value = self._value(value)
        self._learn(value.shape[1:])
        indices = index_values.tensor(indices)
        return self._with_flow(self._run("TensorListScatterIntoExistingList", [self._flow, value, indices]))

    def _graph_split(self, value: Any, lengths: Any) -> "TensorArray":
        value = self._value(value)
        known = -1 if value.shape.rank is None else [-1, *(-1 if d is None else d for d in value.shape.as_list()[1:])]
        shape, lengths = index_values.tensor(known, "Const", wide=True), ops.convert_to_tensor(lengths, dtypes.int64)
        return self._with_flow(self._run("TensorListSplit", [value, shape, lengths]))

    # ---- What it does.

    def write(self, index: Any, value: Any, name: str | None = None) -> "TensorArray":
        """The array with a value at an index; use what is returned from then on."""
        if self._flow is not None:
            return self._graph_write(index, value)
        i = int(index)
        if i < 0:
            raise errors.OutOfRangeError(None, None, f"Writing to negative indices (index {i}) is not allowed.")
        if i >= len(self._items):
            if not self._dynamic:
                raise errors.OutOfRangeError(None, None, f"Tried to write to index {i} but array is not resizeable and size is: {len(self._items)} ")
            self._items.extend([None] * (i + 1 - len(self._items)))
        with _here():
            value = ops.convert_to_tensor(value, preferred_dtype=self._dtype)
        if value.dtype != self._dtype:
            raise errors.InvalidArgumentError(None, None, f"TensorArray dtype is {self._dtype.name} but Op is trying to write dtype {value.dtype.name} ")
        if not self.element_shape.is_compatible_with(value.shape):
            raise ValueError(f"Incompatible shape for value ({value.shape}), expected ({self.element_shape})")
        if self._infer:
            self._known[0] = self.element_shape.merge_with(value.shape)
        self._items[i] = value
        return self

    def _filled(self) -> list[Any]:
        like = next((t for t in self._items if t is not None), None)
        if like is None and self._items:
            return [array_ops.zeros([], self._dtype) for _ in self._items]
        return [array_ops.zeros_like(like) if t is None else t for t in self._items]

    def read(self, index: Any, name: str | None = None) -> Any:
        """The value at an index; once only unless `clear_after_read` is False."""
        if self._flow is not None:
            return self._graph_read(index)
        i = int(index)
        if not 0 <= i < len(self._items):
            raise errors.OutOfRangeError(None, None, f"Tried to read from index {i} but array size is: {len(self._items)} ")
        value = self._items[i]
        if value is None:
            raise errors.InvalidArgumentError(None, None, f"Could not read index {i} twice because it was cleared after a previous read (perhaps try setting clear_after_read = false?)")
        if self._clear:
            self._items[i] = None
        return value

    def stack(self, name: str | None = None) -> Any:
        """All values along a new first dimension."""
        if self._flow is not None:
            return self._graph_stack()
        with _here():
            if not self._items:
                return array_ops.zeros([0], self._dtype)
            return array_ops.stack(self._filled())

    def concat(self, name: str | None = None) -> Any:
        """All values one after another along their first dimension."""
        if self._flow is not None:
            return self._graph_concat()
        with _here():
            return array_ops.concat(self._filled(), 0)

    def gather(self, indices: Any, name: str | None = None) -> Any:
        """The values at indices along a new first dimension."""
        if self._flow is not None:
            return self._graph_gather(indices)
        with _here():
            items = self._filled()
            return array_ops.stack([items[int(i)] for i in ops.convert_to_tensor(indices).numpy()])

    def unstack(self, value: Any, name: str | None = None) -> "TensorArray":
        """The array with the rows of a tensor as its values."""
        if self._flow is not None:
            return self._graph_unstack(value)
        with _here():
            self._items = list(array_ops.unstack(ops.convert_to_tensor(value, self._dtype)))
        if self._infer and self._items:
            self._known[0] = self.element_shape.merge_with(self._items[0].shape)
        return self

    def scatter(self, indices: Any, value: Any, name: str | None = None) -> "TensorArray":
        """The array with the rows of a tensor at indices."""
        if self._flow is not None:
            return self._graph_scatter(indices, value)
        with _here():
            rows = array_ops.unstack(ops.convert_to_tensor(value, self._dtype))
            places = ops.convert_to_tensor(indices).numpy()
        for at, row in zip(places, rows):
            self.write(at, row)
        return self

    def split(self, value: Any, lengths: Any, name: str | None = None) -> "TensorArray":
        """The array with parts of a tensor, of these lengths along the first dimension."""
        if self._flow is not None:
            return self._graph_split(value, lengths)
        with _here():
            value = ops.convert_to_tensor(value, self._dtype)
            sizes = [int(n) for n in ops.convert_to_tensor(lengths).numpy()]
            parts = array_ops.split(value, sizes)
        if len(parts) > len(self._items) and not self._dynamic:
            raise errors.InvalidArgumentError(None, None, f"TensorArray's size is not equal to the size of lengths ({len(self._items)} vs. {len(parts)}), and the TensorArray is not marked as dynamically resizeable.")
        self._items = list(parts)
        return self

    handle = property(lambda self: None)

    def close(self, name: str | None = None) -> None:
        """Nothing is held that the last reference does not give back."""

    def grad(self, source: Any, flow: Any = None, name: str | None = None) -> Any:
        """The array of gradients of this one, for graphs of TensorFlow 1's kind."""
        raise NotImplementedError("TensorArray.grad is not supported when executing eagerly; eager's gradient implementation does not use/need this function to compute gradients of operations that use TensorArrays.")

    def size(self, name: str | None = None) -> Any:
        """The number of values, as a scalar."""
        if self._flow is not None:
            return self._run("TensorListLength", [self._flow])
        with _here():
            return ops.convert_to_tensor(len(self._items))

    def identity(self) -> "TensorArray":
        """The array itself."""
        return self
