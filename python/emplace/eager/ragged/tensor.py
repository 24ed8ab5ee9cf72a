"""`tf.RaggedTensor`."""

from __future__ import annotations

from typing import Any

import numpy as np

from emplace.eager import composite, context
from emplace.eager.ragged import rows
from emplace.framework import array_ops, dtypes, math_ops, ops, tensor_shape
from emplace.framework.ops import convert_to_tensor as _convert


def _values(given: Any) -> Any:
    return given if isinstance(given, RaggedTensor) else _convert(given, name="values")


@composite.at_once
class RaggedTensor(composite.Composite):
    _is_tensor = True
    """Row `i` is `values[row_splits[i]:row_splits[i + 1]]`; the values may be ragged themselves.
    Made by the `from_…` methods."""

    def __init__(self, values: Any, row_splits: Any, uniform: Any = None, nrows: int | None = None) -> None:
        self._values, self._splits = values, row_splits
        self._uniform = uniform  # the length of every row, where it was said
        self._nrows = nrows  # known though no splits tell: rows of length 0

    # ---- Making.

    @classmethod
    def from_row_splits(cls, values: Any, row_splits: Any, name: str | None = None, validate: bool = True) -> "RaggedTensor":
        """Rows of `values` from where each begins, and the end of the last."""
        if isinstance(row_splits, (list, tuple)) and not row_splits:
            raise ValueError("row_splits tensor may not be empty.")
        values, splits = _values(values), rows.of_splits(row_splits)
        if splits.shape.rank not in (1, None):
            raise ValueError(f"Shape {splits.shape} must have rank 1")
        if validate:
            splits = rows.check(splits, rows.length(values))
        return cls(values, splits)

    @classmethod
    def from_row_lengths(cls, values: Any, row_lengths: Any, name: str | None = None, validate: bool = True) -> "RaggedTensor":
        """Rows of `values` from their lengths."""
        return cls.from_row_splits(values, rows.ends(rows.of_splits(row_lengths)), validate=validate)

    @classmethod
    def from_row_starts(cls, values: Any, row_starts: Any, name: str | None = None, validate: bool = True) -> "RaggedTensor":
        """Rows of `values` from where each begins."""
        values, starts = _values(values), rows.of_splits(row_starts)
        end = array_ops.reshape(math_ops.cast(rows.length(values), starts.dtype), [1])
        return cls.from_row_splits(values, array_ops.concat([starts, end], 0), validate=validate)

    @classmethod
    def from_row_limits(cls, values: Any, row_limits: Any, name: str | None = None, validate: bool = True) -> "RaggedTensor":
        """Rows of `values` from where each ends."""
        limits = rows.of_splits(row_limits)
        return cls.from_row_splits(values, array_ops.concat([_convert([0], limits.dtype), limits], 0), validate=validate)

    @classmethod
    def from_value_rowids(
        cls, values: Any, value_rowids: Any, nrows: Any = None, name: str | None = None, validate: bool = True
    ) -> "RaggedTensor":
        """Rows of `values` from the row of each, in ascending order; `nrows` allows for empty ones at the end."""
        ids = rows.of_splits(value_rowids)
        if isinstance(nrows, int) and nrows < 0:
            raise ValueError(f"Expected nrows >= 0; got {nrows}")
        return cls.from_row_splits(values, rows.of_ids(ids, nrows), validate=validate)

    @classmethod
    def from_uniform_row_length(
        cls, values: Any, uniform_row_length: Any, nrows: Any = None, validate: bool = True, name: str | None = None
    ) -> "RaggedTensor":
        """Rows of `values` that are all of one length."""
        values = _values(values)
        n, size = int(rows.length(values)), int(uniform_row_length)
        if nrows is None:
            nrows = n // size if size else 0
        if validate and size * int(nrows) != n:
            raise ValueError(f"uniform_row_length must evenly divide the number of values: {n} values, {size} a row")
        splits = math_ops.range(int(nrows) + 1, dtype=dtypes.int64) * _convert(size, dtypes.int64)
        return cls(values, splits, size, int(nrows))

    @classmethod
    def from_nested_row_splits(cls, flat_values: Any, nested_row_splits: Any, name: str | None = None, validate: bool = True) -> Any:
        """Rows of rows, from a list of row splits, the outermost first."""
        return cls._nested(cls.from_row_splits, flat_values, nested_row_splits, validate)

    @classmethod
    def from_nested_row_lengths(cls, flat_values: Any, nested_row_lengths: Any, name: str | None = None, validate: bool = True) -> Any:
        """Rows of rows, from a list of row lengths, the outermost first."""
        return cls._nested(cls.from_row_lengths, flat_values, nested_row_lengths, validate)

    @classmethod
    def from_nested_value_rowids(
        cls, flat_values: Any, nested_value_rowids: Any, nested_nrows: Any = None, name: str | None = None, validate: bool = True
    ) -> Any:
        """Rows of rows, from a list of row numbers, the outermost first."""
        counts = list(nested_nrows) if nested_nrows is not None else [None] * len(nested_value_rowids)
        result = _values(flat_values)
        for ids, n in reversed(list(zip(nested_value_rowids, counts))):
            result = cls.from_value_rowids(result, ids, n, validate=validate)
        return result

    @classmethod
    def _nested(cls, make: Any, flat_values: Any, levels: Any, validate: bool) -> Any:
        if isinstance(levels, ops.Tensor):
            raise TypeError(f"Argument `nested_row_splits` must be a list of Tensors. Received {levels}")
        result = _values(flat_values)
        for level in reversed(list(levels)):
            result = make(result, level, validate=validate)
        return result

    @classmethod
    def from_tensor(
        cls, tensor: Any, lengths: Any = None, padding: Any = None, ragged_rank: int = 1, name: str | None = None,
        row_splits_dtype: Any = dtypes.int64,
    ) -> "RaggedTensor":
        """The rows of a dense tensor cut to `lengths`, or without the values `padding` at their ends."""
        if lengths is not None and padding is not None:
            raise ValueError("Specify argument `lengths` or `padding`, but not both.")
        from emplace.eager.ragged import padded

        return padded.ragged_of(_convert(tensor), lengths, padding, ragged_rank, dtypes.as_dtype(row_splits_dtype))

    @classmethod
    def from_sparse(cls, st_input: Any, name: str | None = None, row_splits_dtype: Any = dtypes.int64) -> "RaggedTensor":
        """The values of a sparse matrix, which must stand at the front of their rows."""
        if not hasattr(st_input, "dense_shape"):
            raise TypeError(f"Argument `st_input` must be of type SparseTensor, but is of type {type(st_input).__name__}.")
        ids = math_ops.cast(st_input.indices[:, 0], row_splits_dtype)
        return cls.from_value_rowids(st_input.values, ids, int(st_input.dense_shape[0]), validate=False)

    # ---- What it is made of.

    @property
    def values(self) -> Any:
        return self._values

    @property
    def flat_values(self) -> Any:
        inner = self._values
        while isinstance(inner, RaggedTensor):
            inner = inner._values
        return inner

    @property
    def row_splits(self) -> Any:
        return self._splits

    @property
    def nested_row_splits(self) -> tuple[Any, ...]:
        return (self._splits, *(self._values.nested_row_splits if isinstance(self._values, RaggedTensor) else ()))

    @property
    def dtype(self) -> dtypes.DType:
        return self._values.dtype

    @property
    def ragged_rank(self) -> int:
        return 1 + (self._values.ragged_rank if isinstance(self._values, RaggedTensor) else 0)

    @property
    def uniform_row_length(self) -> Any:
        return None if self._uniform is None else _convert(self._uniform, self._splits.dtype)

    @property
    def shape(self) -> tensor_shape.TensorShape:
        n = self._splits.shape[0]
        first = None if n is None else n - 1
        inner = self._values.shape
        return tensor_shape.TensorShape(None) if inner.rank is None else tensor_shape.TensorShape([first, self._uniform, *inner.as_list()[1:]])

    def get_shape(self) -> tensor_shape.TensorShape:
        """The static shape, None where rows differ in length."""
        return self.shape

    def row_starts(self, name: str | None = None) -> Any:
        """Where each row begins in `values`."""
        return self._splits[:-1]

    def row_limits(self, name: str | None = None) -> Any:
        """Where each row ends in `values`."""
        return self._splits[1:]

    def row_lengths(self, axis: int = 1, name: str | None = None) -> Any:
        """The number of values in each row, or of deeper rows for a greater `axis`."""
        if axis == 0:
            return self.nrows()
        if axis == 1:
            return self._splits[1:] - self._splits[:-1]
        if isinstance(self._values, RaggedTensor):
            return self.with_values(self._values.row_lengths(axis - 1))
        shape = array_ops.shape(self._values, out_type=self._splits.dtype)
        ones = array_ops.ones(shape[: axis - 1], self._splits.dtype)
        return self.with_values(ones * shape[axis - 1])

    def nested_row_lengths(self, name: str | None = None) -> tuple[Any, ...]:
        """The row lengths of each ragged dimension, the outermost first."""
        inner = self._values.nested_row_lengths() if isinstance(self._values, RaggedTensor) else ()
        return (self.row_lengths(), *inner)

    def value_rowids(self, name: str | None = None) -> Any:
        """The row of each of `values`."""
        return rows.ids(self._splits)

    def nested_value_rowids(self, name: str | None = None) -> tuple[Any, ...]:
        """The row numbers of each ragged dimension, the outermost first."""
        inner = self._values.nested_value_rowids() if isinstance(self._values, RaggedTensor) else ()
        return (self.value_rowids(), *inner)

    def nrows(self, out_type: Any = None, name: str | None = None) -> Any:
        """The number of rows, as a scalar."""
        n = array_ops.shape(self._splits, out_type=self._splits.dtype)[0] - 1
        return n if out_type is None else math_ops.cast(n, out_type)

    def bounding_shape(self, axis: Any = None, name: str | None = None, out_type: Any = None) -> Any:
        """The shape of the smallest dense tensor that holds all rows."""
        out_type = dtypes.as_dtype(out_type) if out_type is not None else self._splits.dtype
        widest = rows.longest(self.row_lengths(), out_type)
        if isinstance(self._values, RaggedTensor):
            inner = self._values.bounding_shape(out_type=out_type)[1:]
        else:
            inner = array_ops.shape(self._values, out_type=out_type)[1:]
        whole = array_ops.concat([array_ops.stack([self.nrows(out_type), widest]), inner], 0)
        return whole if axis is None else array_ops.gather(whole, axis)

    # ---- Another one like it.

    def with_values(self, new_values: Any) -> "RaggedTensor":
        """The same rows of other values."""
        return RaggedTensor(_values(new_values), self._splits, self._uniform, self._nrows)

    def with_flat_values(self, new_values: Any) -> "RaggedTensor":
        """The same rows, at every level, of other innermost values."""
        inner = self._values
        return self.with_values(inner.with_flat_values(new_values) if isinstance(inner, RaggedTensor) else new_values)

    def with_row_splits_dtype(self, dtype: Any) -> "RaggedTensor":
        """The same with row splits of int32 or int64."""
        inner = self._values.with_row_splits_dtype(dtype) if isinstance(self._values, RaggedTensor) else self._values
        return RaggedTensor(inner, math_ops.cast(self._splits, dtype), self._uniform, self._nrows)

    def merge_dims(self, outer_axis: int, inner_axis: int) -> Any:
        """The dimensions from `outer_axis` to `inner_axis` made one."""
        rank = self.shape.rank
        outer = outer_axis + rank if outer_axis < 0 else outer_axis
        inner = inner_axis + rank if inner_axis < 0 else inner_axis
        if outer > inner:
            raise ValueError(f"Expected outer_axis ({outer_axis}) to be less than or equal to inner_axis ({inner_axis})")
        result = self
        for _ in range(inner - outer):
            result = rows.merged(result, outer)
        return result

    def consumers(self) -> Any:
        """The ops of the graph that read the innermost values."""
        return self.flat_values.consumers()

    # ---- As something else.

    def to_tensor(self, default_value: Any = None, name: str | None = None, shape: Any = None) -> Any:
        """A dense tensor with shorter rows filled up by `default_value` (zero), cut or padded to `shape` if given."""
        from emplace.eager.ragged import padded

        return padded.tensor_of(self, default_value, shape)

    def to_sparse(self, name: str | None = None) -> Any:
        """A sparse tensor of the same values."""
        from emplace.eager.ragged import padded
        from emplace.eager.sparse.tensor import SparseTensor

        return SparseTensor(padded.indices(self), self.flat_values, self.bounding_shape(out_type=dtypes.int64))

    def numpy(self) -> np.ndarray:
        """An array; of objects, a row each, where lengths differ."""
        values, ends = self._values.numpy(), self._splits.numpy()
        parts = np.split(values, ends[1:-1])
        if all(len(p) == len(parts[0]) for p in parts):
            return np.stack(parts) if len(ends) > 1 else values
        made = np.empty(len(parts), object)
        made[:] = parts
        return made

    def to_list(self) -> list[Any]:
        """The values as nested lists."""
        values = self._values.to_list() if isinstance(self._values, RaggedTensor) else self._values.numpy().tolist()
        ends = self._splits.numpy()
        return [values[a:b] for a, b in zip(ends[:-1], ends[1:])]

    def __getitem__(self, key: Any) -> Any:
        from emplace.eager.ragged import index

        return index.getitem(self, key)

    def __iter__(self) -> Any:
        if self.shape[0] is None:
            raise TypeError("Cannot iterate over a ragged tensor with an unknown number of rows")
        return (self[i] for i in range(self.shape[0]))

    def __len__(self) -> int:
        raise TypeError("object of type 'RaggedTensor' has no len()")

    def __hash__(self) -> int:
        if hasattr(self._splits, "_numpy_of_eager"):
            raise TypeError("RaggedTensor is unhashable.")
        return id(self)  # a feed of a graph program

    def __bool__(self) -> bool:
        raise TypeError("RaggedTensor may not be used as a boolean.")

    def __repr__(self) -> str:
        if not hasattr(self._splits, "_numpy_of_eager"):
            return f"tf.RaggedTensor(values={self._values}, row_splits={self._splits})"
        with np.printoptions(formatter={"all": _shown}):
            return f"<tf.RaggedTensor {_shown(self.numpy())}>"

    # ---- As a composite.

    @property
    def _type_spec(self) -> Any:
        from emplace.eager.ragged import spec

        return spec.RaggedTensorSpec.from_value(self)

    def _parts(self) -> list[Any]:
        return [self.flat_values, *self.nested_row_splits]

    def _rebuilt(self, parts: list[Any]) -> Any:
        inner = self._values._rebuilt([parts[0], *parts[2:]]) if isinstance(self._values, RaggedTensor) else parts[0]
        return RaggedTensor(inner, parts[1], self._uniform, self._nrows)

    @staticmethod
    def _function(name: str, plain: Any) -> Any:
        from emplace.eager.ragged import elementwise

        return elementwise.function(name, plain)


def _shown(value: Any) -> str:
    if not isinstance(value, np.ndarray):
        return str(value)
    return np.array2string(value, separator=", ") if value.size else repr(value.tolist())


def install_operators(functions: dict[str, Any]) -> None:
    for name, function in functions.items():
        setattr(RaggedTensor, name, context.v2(function))


