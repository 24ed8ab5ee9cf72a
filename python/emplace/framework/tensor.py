"""Tensors of a graph, and rows of one."""

from __future__ import annotations

from typing import Any, Iterator

from emplace import _core
from emplace.framework import default_stacks, dtypes, errors, tensor_shape
from emplace.framework.operation import Operation


_HINT = (
    "If you are running in Graph mode, use Eager execution mode or decorate this function with "
    "@tf.function. If you are using AutoGraph, you can try decorating this function with "
    "@tf.function. If that does not work, then you may be using an unsupported feature or your "
    "source code may not be visible to AutoGraph. See https://github.com/tensorflow/tensorflow/blob/master/tensorflow/python/"
    "autograph/g3doc/reference/limitations.md#access-to-source-code for more information."
)


class TensorLike:
    """What stands for one tensor: `tf.Tensor`, `tf.Variable` and classes of others that derive from this one."""

    __slots__ = ()


class CompositeTensor:
    """What is made of several tensors."""

    __slots__ = ()


class Tensor(TensorLike):
    """What operations take and give: a symbol in a graph, a value in an eager program."""

    __slots__ = ()
    __array_priority__ = 100
    OVERLOADABLE_OPERATORS: set[str] = set()

    def __new__(cls, *_: Any, **__: Any) -> "Tensor":
        return _core.TensorBase.__new__(SymbolicTensor)


class SymbolicTensor(_core.TensorBase, Tensor):
    """One output of an operation: a value that a session will compute."""

    # op, graph, name, dtype, value_index, device are the base's.
    __slots__ = ("assign", "__dict__", "__weakref__")

    def __init__(self, op: Operation, value_index: int, dtype: Any) -> None:
        if not isinstance(op, Operation):
            raise TypeError(f"op needs to be an Operation: {op!r}")
        self._bind(op, value_index)
        self._dtype = dtypes.as_dtype(dtype)

    @property
    def shape(self) -> tensor_shape.TensorShape:
        return tensor_shape.TensorShape._of(self._dims)

    def get_shape(self) -> tensor_shape.TensorShape:
        return self.shape

    def set_shape(self, shape: Any) -> None:
        s = tensor_shape.as_shape(shape)
        if not self.shape.is_compatible_with(s):
            mine, given = self.shape, s
            if mine.rank != given.rank:
                raise ValueError(f"Shapes must be equal rank, but are {mine.rank} and {given.rank}")
            for i, (a, b) in enumerate(zip(mine.as_list(), given.as_list())):
                if a is not None and b is not None and a != b:
                    raise ValueError(
                        f"Dimension {i} in both shapes must be equal, but are {a} and {b}. "
                        f"Shapes are {_brackets(mine)} and {_brackets(given)}."
                    )
        self.graph._core.set_shape(self._out, None if s.rank is None else s.as_list())

    @property
    def ndim(self) -> int | None:
        return self.shape.rank

    def _shape_tuple(self) -> tuple[int | None, ...] | None:
        return self._dims

    def consumers(self) -> list[Operation]:
        return [op for op in self.graph.get_operations() for t in op.inputs if t is self]

    def eval(self, feed_dict: Any = None, session: Any = None) -> Any:
        return default_stacks._evaluate(self, feed_dict, self.graph, session)

    def ref(self) -> Any:
        """Something hashable that stands for this tensor."""
        from emplace.eager.tensor import Reference

        return Reference(self)

    def _as_node_def_input(self) -> str:
        return self.op.name if self._index == 0 else self.name

    def __iter__(self) -> Iterator["Tensor"]:
        raise errors.OperatorNotAllowedInGraphError(
            "Iterating over a symbolic `tf.Tensor` is not allowed. You can attempt the following "
            "resolutions to the problem: " + _HINT
        )

    def __bool__(self) -> bool:
        raise errors.OperatorNotAllowedInGraphError(
            "Using a symbolic `tf.Tensor` as a Python `bool` is not allowed. You can attempt the "
            "following resolutions to the problem: " + _HINT
        )

    def __len__(self) -> int:
        raise TypeError(
            f"len is not well defined for a symbolic Tensor ({self.name}). "
            "Please call `x.shape` rather than `len(x)` for shape information."
        )

    def __array__(self, *_: Any, **__: Any) -> Any:
        raise NotImplementedError(
            f"Cannot convert a symbolic tf.Tensor ({self.name}) to a numpy array. This error may "
            "indicate that you're trying to pass a Tensor to a NumPy call, which is not supported."
        )

    def __copy__(self) -> "Tensor":
        return self

    def __deepcopy__(self, _: Any) -> "Tensor":
        return self

    def __reduce__(self) -> Any:
        raise TypeError(f"{self!r} is a handle into a graph and can't be pickled; fetch its value and pickle that")

    def __hash__(self) -> int:
        return id(self)

    def __repr__(self) -> str:
        return f"<tf.Tensor '{self.name}' shape={self.shape} dtype={self._dtype.name}>"

    def __str__(self) -> str:
        shape = self.shape
        text = f', shape={shape}' if shape.rank is not None else ""
        device = f", device={self.device}" if self.device else ""
        return f'Tensor("{self.name}"{text}, dtype={self._dtype.name}{device})'


def _brackets(s: tensor_shape.TensorShape) -> str:
    return "[" + ",".join("?" if d is None else str(d) for d in s.as_list()) + "]"


class IndexedSlices(CompositeTensor):
    """Rows of a larger tensor: `values[i]` stands at `indices[i]`."""

    def __init__(self, values: Any, indices: Any, dense_shape: Any = None) -> None:
        self._values, self._indices, self._dense_shape = values, indices, dense_shape

    @property
    def values(self) -> Any:
        return self._values

    @property
    def indices(self) -> Any:
        return self._indices

    @property
    def dense_shape(self) -> Any:
        return self._dense_shape

    def _parts(self) -> list[Any]:
        """Its tensors, for functions that take or give it."""
        parts = [self._values, self._indices, self._dense_shape]
        return parts if self._dense_shape is not None else parts[:2]

    def _rebuilt(self, parts: list[Any]) -> "IndexedSlices":
        return IndexedSlices(*parts)

    @property
    def _type_spec(self) -> Any:
        from emplace.eager.tensor_spec import IndexedSlicesSpec

        shape = self._dense_shape
        return IndexedSlicesSpec(self.shape, self.dtype, self._indices.dtype, None if shape is None else shape.dtype, self._indices.shape)

    @property
    def name(self) -> str:
        return self._values.name

    @property
    def op(self) -> Operation:
        return self._values.op

    @property
    def graph(self) -> Any:
        return self._values.graph

    @property
    def device(self) -> str:
        return self._values.device

    @property
    def dtype(self) -> dtypes.DType:
        return self._values.dtype

    @property
    def shape(self) -> tensor_shape.TensorShape:
        if self._dense_shape is None:
            return tensor_shape.TensorShape(None)
        from emplace.framework import constant_op

        return tensor_shape.as_shape(constant_op.constant_value(self._dense_shape))

    def __neg__(self) -> "IndexedSlices":
        return IndexedSlices(-self._values, self._indices, self._dense_shape)

    def __str__(self) -> str:
        extra = f", dense_shape={self._dense_shape!s}" if self._dense_shape is not None else ""
        return f"IndexedSlices(indices={self._indices!s}, values={self._values!s}{extra})"
