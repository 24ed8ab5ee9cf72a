"""Sparse tensors: three tensors that are fed and fetched as one."""

from __future__ import annotations

import collections
from typing import Any

import numpy as np

from emplace.framework import array_ops, constant_op, dispatch, dtypes, math_ops, ops, tensor_shape
from emplace.framework.dispatch import execute as _op
from emplace.framework.fetches import register_session_run_conversion_functions

SparseTensorValue = collections.namedtuple("SparseTensorValue", ["indices", "values", "dense_shape"])
SparseTensorValue.__doc__ = "The value of a sparse tensor as arrays, as a session gives and takes it."


class SparseTensor:
    """`values[i]` stands at `indices[i]` of a tensor of `dense_shape`; the rest is zero."""

    __array_priority__ = 2000.0  # a tensor's operators leave the work to ours

    def __new__(cls, *args: Any, **kwargs: Any) -> Any:
        """In an eager program it is that program's, in its functions too."""
        if not dispatch.executing_eagerly() and not (ops._default_graphs.stack and ops._default_graphs.stack[-1]._captures):
            return super().__new__(cls)
        from emplace.eager.sparse import tensor

        return tensor.SparseTensor(*args, **kwargs)

    def __init__(self, indices: Any, values: Any, dense_shape: Any) -> None:
        with ops.name_scope(None, "SparseTensor", [indices, values, dense_shape]):
            self._indices = ops.convert_to_tensor(indices, name="indices", dtype=dtypes.int64)
            self._values = ops.convert_to_tensor(values, name="values")
            self._dense_shape = ops.convert_to_tensor(dense_shape, name="dense_shape", dtype=dtypes.int64)
        places, count = self._indices.shape.with_rank(2), self._values.shape.with_rank(1)
        rank = self._dense_shape.shape.with_rank(1)
        self._told: tensor_shape.TensorShape | None = None  # by set_shape
        tensor_shape.as_dimension(places[0]).merge_with(count[0])
        tensor_shape.as_dimension(places[1]).merge_with(rank[0])

    @classmethod
    def from_value(cls, value: Any) -> "SparseTensor":
        """A sparse tensor from a sparse tensor or its value."""
        if not isinstance(value, (SparseTensor, SparseTensorValue)):
            raise TypeError(f"Argument sparse_tensor_value={value} is neither a SparseTensor nor SparseTensorValue.")
        return cls(value.indices, value.values, value.dense_shape)

    @property
    def indices(self) -> Any:
        return self._indices

    @property
    def values(self) -> Any:
        return self._values

    @property
    def dense_shape(self) -> Any:
        return self._dense_shape

    @property
    def dtype(self) -> dtypes.DType:
        return self._values.dtype

    @property
    def op(self) -> Any:
        return self._values.op

    @property
    def graph(self) -> Any:
        return self._indices.graph

    @property
    def shape(self) -> tensor_shape.TensorShape:
        if self._told is not None:
            return self._told
        dense = self._dense_shape
        if dense.op.type == "PlaceholderWithDefault":  # what is known of a fed shape
            dense = dense.op.inputs[0]
        known = constant_op.constant_value(dense)
        if known is None:
            return tensor_shape.TensorShape([None] * self._rank()) if self._rank() is not None else tensor_shape.TensorShape(None)
        return tensor_shape.TensorShape([None if d == -1 else int(d) for d in np.asarray(known)])

    def _rank(self) -> Any:
        return self._dense_shape.shape.as_list()[0] if self._dense_shape.shape.rank is not None else None

    def get_shape(self) -> tensor_shape.TensorShape:
        """The static shape."""
        return self.shape

    def set_shape(self, shape: Any) -> None:
        """Narrows what is known of the shape; ValueError if it does not fit."""
        self._told = self.shape.merge_with(shape)

    def with_values(self, new_values: Any) -> "SparseTensor":
        """The same indices with other values."""
        return SparseTensor(self._indices, new_values, self._dense_shape)

    def consumers(self) -> list[Any]:
        """The ops that read the indices, values or shape."""
        return list(dict.fromkeys(op for part in _parts(self) for op in part.consumers()))

    def __mul__(self, y: Any) -> "SparseTensor":
        return self._with_dense("SparseDenseCwiseMul", y, "mul")

    def __rmul__(self, y: Any) -> "SparseTensor":
        return self * y if isinstance(y, ops.Tensor) else NotImplemented

    def __truediv__(self, y: Any) -> "SparseTensor":
        return self._with_dense("SparseDenseCwiseDiv", y, "truediv")

    def _with_dense(self, op: str, y: Any, word: str) -> "SparseTensor":
        """By a tensor that spreads to our shape: only where we have values."""
        with ops.name_scope(None, word, [*_parts(self), y]) as scope:
            values, y = self._values, ops.convert_to_tensor(y, dtype=self.dtype.base_dtype, name="y")
            wide = math_ops._DTYPE_OF_QUOTIENT.get(self.dtype.base_dtype) if word == "truediv" else None
            if wide is not None:
                values, y = math_ops.cast(values, wide), math_ops.cast(y, wide)
            return SparseTensor(self._indices, _op(op, [self._indices, values, self._dense_shape, y], {}, scope), self._dense_shape)

    def eval(self, feed_dict: Any = None, session: Any = None) -> Any:
        """The value, a SparseTensorValue, from a session, by default the current one."""
        session = session or ops.get_default_session()
        if session is None:
            raise ValueError("Cannot evaluate tensor using `eval()`: No default session is registered. Use `with sess.as_default()` or pass an explicit session to `eval(session=sess)`")
        return session.run(self, feed_dict)

    def __repr__(self) -> str:
        return f"SparseTensor(indices={self._indices}, values={self._values}, dense_shape={self._dense_shape})"


def _parts(sparse: Any) -> list[Any]:
    return [sparse.indices, sparse.values, sparse.dense_shape]


register_session_run_conversion_functions(
    SparseTensor,
    lambda fetch: (_parts(fetch), lambda values: SparseTensorValue(*values)),
    lambda feed, value: list(zip(_parts(feed), value)),
)


def sparse_placeholder(dtype: Any, shape: Any = None, name: str | None = None) -> SparseTensor:
    """Fed as a SparseTensorValue, or as a tuple of indices, values and shape."""
    prefix = name + "/" if name is not None else None
    named = lambda part: None if prefix is None else prefix + part  # noqa: E731
    rank, sizes = None, None
    if shape is not None and not isinstance(shape, ops.Tensor):
        sizes = [-1 if d is None else int(d) for d in tensor_shape.as_shape(shape).as_list()]
        rank = len(sizes)
    if shape is None:
        dense: Any = array_ops.placeholder(dtypes.int64, shape=[rank], name=named("shape"))
    elif sizes is not None and -1 in sizes:
        default = constant_op.constant(sizes, dtypes.int64)
        dense = array_ops.placeholder_with_default(default, shape=[rank], name=named("shape"))
    else:
        dense = ops.convert_to_tensor(shape if sizes is None else sizes, dtype=dtypes.int64, name=named("shape"))
    values = array_ops.placeholder(dtype, shape=[None], name=named("values"))
    return SparseTensor(array_ops.placeholder(dtypes.int64, shape=[None, rank], name=named("indices")), values, dense)


def convert_to_tensor_or_sparse_tensor(value: Any, dtype: Any = None, name: str | None = None) -> Any:
    """Sparse tensors and their values as a sparse tensor, anything else as a tensor."""
    if isinstance(value, SparseTensorValue):
        value = SparseTensor.from_value(value)
    if isinstance(value, SparseTensor):
        if dtype is not None and not dtypes.as_dtype(dtype).is_compatible_with(value.dtype):
            raise RuntimeError(f"Sparse dtype mismatch. Requested: {dtypes.as_dtype(dtype).name},  Actual: {value.dtype.name}")
        return value
    return ops.convert_to_tensor(value, dtype=dtype, name=name)


def string_split(source: Any = None, sep: Any = None, skip_empty: bool = True, delimiter: Any = " ", result_type: str = "SparseTensor", input: Any = None, name: str | None = None) -> SparseTensor:  # noqa: A002
    """Each string cut at the delimiters (an empty one: into bytes), as a sparse tensor with a row each."""
    given = source if input is None else input
    with ops.name_scope(name, "StringSplit", [given]):
        by = ops.convert_to_tensor(" " if sep is None and delimiter is None else sep if sep is not None else delimiter, dtype=dtypes.string)
        source = ops.convert_to_tensor(given, dtype=dtypes.string)
        return SparseTensor(*_op("StringSplit", [source, by], {"skip_empty": skip_empty}))


def split(input: Any = None, sep: Any = None, maxsplit: int = -1, result_type: str = "SparseTensor", source: Any = None, name: str | None = None) -> Any:  # noqa: A002
    """Words as a sparse matrix of strings, or, asked for, as rows of different lengths."""
    given = source if input is None else input
    with ops.name_scope(name, "StringSplit", [given]):
        text = ops.convert_to_tensor(given, dtype=dtypes.string, name="input")
        if result_type == "RaggedTensor":
            from emplace.eager.functions import strings

            return strings.split(text, sep, maxsplit)
        if result_type != "SparseTensor":
            raise ValueError("result_type must be 'RaggedTensor' or 'SparseTensor'.")
        text = array_ops.expand_dims(text, 0) if text.shape.rank == 0 else text
        by = ops.convert_to_tensor("" if sep is None else sep, dtype=dtypes.string)
        return SparseTensor(*_op("StringSplitV2", [text, by], {"maxsplit": maxsplit}))
