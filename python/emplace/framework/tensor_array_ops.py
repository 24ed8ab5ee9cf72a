"""tf.TensorArray in graphs: an array of tensors behind a handle, ordered by a flow of values."""

from __future__ import annotations

import contextlib
from typing import Any

from emplace.framework import array_ops, constant_op, dtypes, index_values, math_ops, ops, tensor_shape
from emplace.framework.dispatch import execute as _op
from emplace.framework.ops import convert_to_tensor as _convert
from emplace.framework.ops import name_scope


class TensorArray:
    """Each write gives an array that comes after it; reads are of the array they are asked of."""

    def __init__(
        self, dtype: Any, size: Any = None, dynamic_size: Any = None, clear_after_read: Any = None, tensor_array_name: str | None = None,
        handle: Any = None, flow: Any = None, infer_shape: bool = True, element_shape: Any = None,
        colocate_with_first_write_call: bool = True, name: str | None = None,
    ) -> None:
        if handle is not None and tensor_array_name:
            raise ValueError("Cannot provide both `handle` and `tensor_array_name` arguments at the same time.")
        if handle is not None and size is not None:
            raise ValueError("Cannot provide both a `handle` and `size` arguments at the same time.")
        if handle is None and size is None:
            raise ValueError("Argument `size` must be provided if handle is not provided.")
        self._dtype = dtypes.as_dtype(dtype).base_dtype
        self._dynamic_size = bool(dynamic_size)
        self._size = size
        self._shape = [tensor_shape.as_shape(element_shape)]  # shared by all that follow from it
        self._infer = infer_shape
        # The array is placed where its first value is; so is each operation on it.
        self._colocated: list[Any] | None = [] if colocate_with_first_write_call else None
        with name_scope(name, "TensorArray", [handle, size, flow]) as scope:
            if handle is not None:
                self._handle, self._flow = handle, _convert(flow) if flow is not None else constant_op.constant(0, dtype=dtypes.float32)
                return
            with ops.device(None) if colocate_with_first_write_call else contextlib.nullcontext():
                with ops.get_default_graph().colocate_with(None, ignore_existing=True) if colocate_with_first_write_call else contextlib.nullcontext():
                    attrs = {
                        "dtype": self._dtype, "element_shape": self._shape[0], "identical_element_shapes": infer_shape, "dynamic_size": self._dynamic_size,
                        "clear_after_read": True if clear_after_read is None else clear_after_read, "tensor_array_name": tensor_array_name or "",
                    }
                    self._handle, self._flow = _op("TensorArrayV3", [size], attrs, scope)

    @property
    def dtype(self) -> Any:
        return self._dtype

    @property
    def handle(self) -> Any:
        return self._handle

    @property
    def flow(self) -> Any:
        return self._flow

    @property
    def dynamic_size(self) -> bool:
        return self._dynamic_size

    @property
    def element_shape(self) -> tensor_shape.TensorShape:
        return self._shape[0]

    def _after(self, flow: Any) -> "TensorArray":
        made = object.__new__(TensorArray)
        made.__dict__.update(self.__dict__)
        made._flow = flow
        return made

    def identity(self) -> "TensorArray":
        """The same array, behind the control dependencies in force."""
        return self._after(array_ops.identity(self._flow))

    def grad(self, source: str, flow: Any = None, name: str | None = None) -> "TensorArray":
        """The array that gathers the gradients of this one."""
        flow = self._flow if flow is None else flow
        with name_scope(name, "TensorArrayGrad", [self._handle]):
            with ops.colocate_with(self._handle):
                handle, _ = _op("TensorArrayGradV3", [self._handle, flow], {"source": source}, "TensorArrayGradV3")
                with ops.control_dependencies([handle]):
                    flow = array_ops.identity(flow, name="gradient_flow")
                made = TensorArray(self._dtype, handle=handle, flow=flow, infer_shape=self._infer, colocate_with_first_write_call=False)
                made._shape = self._shape
                return made

    # ---- Shapes.

    def _note_shape(self, shape: Any) -> None:
        if self._infer:
            if not self._shape[0].is_compatible_with(shape):
                raise ValueError(f"Found in TensorArray's element_shape {self._shape[0]} a shape that is not compatible with {shape}")
            self._shape[0] = self._shape[0].merge_with(shape)

    def _beside(self, value: Any) -> Any:
        """Where operations on the array go: with the first value written."""
        if self._colocated is None:
            return contextlib.nullcontext()
        if not self._colocated:
            self._colocated.append(value)
        return ops.colocate_with(self._colocated[0])

    # ---- One element.

    def read(self, index: Any, name: str | None = None) -> Any:
        """The value at an index; once only unless `clear_after_read` is False."""
        value = _op("TensorArrayReadV3", [self._handle, index, self._flow], {"dtype": self._dtype}, name)
        if self._shape[0].rank is not None:
            value.set_shape(self._shape[0])
        return value

    def write(self, index: Any, value: Any, name: str | None = None) -> "TensorArray":
        """The array with a value at an index; use what is returned from then on."""
        with name_scope(name, "TensorArrayWrite", [self._handle, index, value]):
            value = _convert(value, dtype=None if isinstance(value, ops.Tensor) else self._dtype, name="value")
            if value.dtype.base_dtype != self._dtype:
                raise ValueError(f"TensorArray dtype is {self._dtype.name} but Op is trying to write dtype {value.dtype.base_dtype.name}")
            self._note_shape(value.shape)
            with self._beside(value):
                flow = _op("TensorArrayWriteV3", [self._handle, index, value, self._flow], {})
            return self._after(flow)

    # ---- Many.

    def stack(self, name: str | None = None) -> Any:
        """All values along a new first dimension."""
        with ops.colocate_with(self._handle):
            with name_scope(name, "TensorArrayStack", [self._handle]):
                known = constant_op.constant_value(self._size) if isinstance(self._size, ops.Tensor) else self._size
                count: Any = self.size()
                value = self.gather(math_ops.range(0, count))
                if self._shape[0].rank is not None and not self._dynamic_size and known is not None:
                    value.set_shape([int(known), *self._shape[0].as_list()])
                return value

    def gather(self, indices: Any, name: str | None = None) -> Any:
        """The values at indices along a new first dimension."""
        attrs = {"dtype": self._dtype, "element_shape": self._shape[0]}
        value = _op("TensorArrayGatherV3", [self._handle, indices, self._flow], attrs, name)
        if self._shape[0].rank is not None:
            value.set_shape([None, *self._shape[0].as_list()])
        return value

    def concat(self, name: str | None = None) -> Any:
        """All values one after another along their first dimension."""
        rest = self._shape[0]
        attrs = {"dtype": self._dtype, "element_shape_except0": rest[1:] if rest.rank is not None else tensor_shape.unknown_shape()}
        value, _ = _op("TensorArrayConcatV3", [self._handle, self._flow], attrs, name)
        if rest.rank is not None:
            count, sizes = constant_op.constant_value(self.size()), rest.as_list()
            known = count is not None and bool(sizes) and sizes[0] is not None
            value.set_shape([int(count) * sizes[0] if known else None, *sizes[1:]])
        return value

    def unstack(self, value: Any, name: str | None = None) -> "TensorArray":
        """The array with the rows of a tensor as its values."""
        with name_scope(name, "TensorArrayUnstack", [self._handle, value]):
            count = array_ops.shape(value)[0]
            return self.scatter(math_ops.range(0, count), value)

    def scatter(self, indices: Any, value: Any, name: str | None = None) -> "TensorArray":
        """The array with the rows of a tensor at indices."""
        with name_scope(name, "TensorArrayScatter", [self._handle, value, indices]):
            value = _convert(value, dtype=None if isinstance(value, ops.Tensor) else self._dtype, name="value")
            if value.shape.rank is not None:
                self._note_shape(value.shape[1:])
            with self._beside(value):
                flow = _op("TensorArrayScatterV3", [self._handle, indices, value, self._flow], {})
            return self._after(flow)

    def split(self, value: Any, lengths: Any, name: str | None = None) -> "TensorArray":
        """The array with parts of a tensor, of these lengths along the first dimension."""
        with name_scope(name, "TensorArraySplit", [self._handle, value, lengths]):
            value = _convert(value, dtype=None if isinstance(value, ops.Tensor) else self._dtype, name="value")
            with self._beside(value):
                lengths = math_ops.cast(lengths, dtypes.int64)
                flow = _op("TensorArraySplitV3", [self._handle, value, lengths, self._flow], {"T": value.dtype.base_dtype})
            return self._after(flow)

    def size(self, name: str | None = None) -> Any:
        """The number of values, as a scalar."""
        if not self._dynamic_size and self._size is not None:
            if isinstance(self._size, ops.Tensor):
                return self._size
            return index_values.tensor(self._size, "Const")
        return _op("TensorArraySizeV3", [self._handle, self._flow], {}, name)

    def close(self, name: str | None = None) -> Any:
        """An op that frees the array's values."""
        return _op("TensorArrayCloseV3", [self._handle], {}, name)


def with_flow(array: TensorArray, flow: Any) -> TensorArray:
    """The array as it is after `flow`."""
    return array._after(flow)
