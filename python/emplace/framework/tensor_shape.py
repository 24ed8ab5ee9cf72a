"""Shapes with unknown dimensions and unknown rank."""

from __future__ import annotations

from typing import Any, Iterator

# TF 1 programs see Dimension objects, TF 2 programs plain ints and None.
_v2_dims = True
_chosen = False  # by the program, not by what it imports


def _choose(v2: bool) -> None:
    global _v2_dims, _chosen
    _v2_dims, _chosen = v2, True


def disable_v2_tensorshape() -> None:
    """Makes the dimensions of shapes `Dimension` objects, as in TensorFlow 1."""
    _choose(False)


def enable_v2_tensorshape() -> None:
    _choose(True)


def assume_v2_tensorshape(v2: bool) -> None:
    """What the imports of a program speak for."""
    global _v2_dims
    _v2_dims = _v2_dims if _chosen else v2


def dimension_value(d: Any) -> int | None:
    """The number of a Dimension, or the number (or None) itself."""
    return d.value if isinstance(d, Dimension) else d


class Dimension:
    """One dimension of a shape, known or not."""

    __slots__ = ("_value",)

    def __init__(self, value: Any) -> None:
        if isinstance(value, Dimension):
            value = value._value
        if value is not None:
            try:
                number = value.__index__()
            except AttributeError:
                raise TypeError(f"Dimension value must be integer or None or have an __index__ method, got value '{value!r}' with type '{type(value)!r}'") from None
            if number < 0:
                raise ValueError(f"Dimension {number} must be >= 0")
            value = number
        self._value: int | None = value

    @property
    def value(self) -> int | None:
        return self._value

    def __repr__(self) -> str:
        return f"Dimension({self._value!r})"

    def __str__(self) -> str:
        return "?" if self._value is None else str(self._value)

    def __eq__(self, other: object) -> Any:
        try:
            other = as_dimension(other)
        except (TypeError, ValueError):
            return NotImplemented
        if self._value is None or other._value is None:
            return None
        return self._value == other._value

    def __ne__(self, other: object) -> Any:
        equal = self.__eq__(other)
        return equal if equal is None or equal is NotImplemented else not equal

    def __hash__(self) -> int:
        return hash(self._value)

    def __bool__(self) -> bool:
        return bool(self._value)

    def __int__(self) -> int:
        return self._value  # type: ignore[return-value]

    def __index__(self) -> int:
        return self._value  # type: ignore[return-value]

    def is_compatible_with(self, other: Any) -> bool:
        """Whether both can be the same size: equal, or one unknown."""
        other = as_dimension(other)
        return self._value is None or other._value is None or self._value == other._value

    def assert_is_compatible_with(self, other: Any) -> None:
        """ValueError unless both can be the same size."""
        if not self.is_compatible_with(other):
            raise ValueError(f"Dimensions {self} and {other} are not compatible")

    def merge_with(self, other: Any) -> "Dimension":
        """The size that both are, known if either is; ValueError if they differ."""
        other = as_dimension(other)
        self.assert_is_compatible_with(other)
        return Dimension(other._value if self._value is None else self._value)

    def _arith(self, other: Any, f: Any) -> Any:
        try:
            other = as_dimension(other)
        except (TypeError, ValueError):
            return NotImplemented
        if self._value is None or other._value is None:
            return Dimension(None)
        return Dimension(f(self._value, other._value))

    def __add__(self, o: Any) -> Any:
        return self._arith(o, lambda a, b: a + b)

    __radd__ = __add__

    def __sub__(self, o: Any) -> Any:
        return self._arith(o, lambda a, b: a - b)

    def __rsub__(self, o: Any) -> Any:
        return self._arith(o, lambda a, b: b - a)

    def __mul__(self, o: Any) -> Any:
        return self._arith(o, lambda a, b: a * b)

    __rmul__ = __mul__

    def __floordiv__(self, o: Any) -> Any:
        return self._arith(o, lambda a, b: a // b)

    def __rfloordiv__(self, o: Any) -> Any:
        return self._arith(o, lambda a, b: b // a)

    def __truediv__(self, o: Any) -> Any:
        raise TypeError(f"unsupported operand type(s) for /: 'Dimension' and '{type(o).__name__}', please use // instead")

    def __rtruediv__(self, o: Any) -> Any:
        raise TypeError(f"unsupported operand type(s) for /: '{type(o).__name__}' and 'Dimension', please use // instead")

    def __mod__(self, o: Any) -> Any:
        return self._arith(o, lambda a, b: a % b)

    def __rmod__(self, o: Any) -> Any:
        return self._arith(o, lambda a, b: b % a)

    def _compare(self, other: Any, f: Any) -> Any:
        other = as_dimension(other)
        if self._value is None or other._value is None:
            return None
        return f(self._value, other._value)

    def __lt__(self, o: Any) -> Any:
        return self._compare(o, lambda a, b: a < b)

    def __le__(self, o: Any) -> Any:
        return self._compare(o, lambda a, b: a <= b)

    def __gt__(self, o: Any) -> Any:
        return self._compare(o, lambda a, b: a > b)

    def __ge__(self, o: Any) -> Any:
        return self._compare(o, lambda a, b: a >= b)


def as_dimension(value: Any) -> Dimension:
    return value if isinstance(value, Dimension) else Dimension(value)


class TensorShape:
    """A shape: a list of sizes, each known or None, or of unknown rank."""

    __slots__ = ("_dims",)

    def __init__(self, dims: Any) -> None:
        if isinstance(dims, TensorShape):
            self._dims: tuple[int | None, ...] | None = dims._dims
        elif dims is None:
            self._dims = None
        elif hasattr(dims, "dim") and hasattr(dims, "unknown_rank"):  # a TensorShapeProto
            self._dims = None if dims.unknown_rank else tuple(None if d.size == -1 else d.size for d in dims.dim)
        else:
            try:
                items = list(dims)
            except TypeError:
                items = [dims]
            self._dims = tuple(None if d is None else Dimension(d).value for d in items)

    @classmethod
    def _of(cls, dims: Any) -> "TensorShape":
        """From what the engine gives: None or a list."""
        s = cls.__new__(cls)
        s._dims = None if dims is None else tuple(dims)
        return s

    @property
    def dims(self) -> Any:
        return None if self._dims is None else [Dimension(d) for d in self._dims]

    @property
    def rank(self) -> int | None:
        return None if self._dims is None else len(self._dims)

    @property
    def ndims(self) -> int | None:
        return self.rank

    def as_list(self) -> list[int | None]:
        """The sizes as a list, None where unknown; ValueError if the rank is unknown."""
        if self._dims is None:
            raise ValueError("as_list() is not defined on an unknown TensorShape.")
        return list(self._dims)

    def as_proto(self) -> Any:
        """The shape as a TensorShapeProto."""
        from emplace.proto import tensor_pb2

        if self._dims is None:
            return tensor_pb2.TensorShapeProto(unknown_rank=True)
        return tensor_pb2.TensorShapeProto(
            dim=[tensor_pb2.TensorShapeProto.Dim(size=-1 if d is None else d) for d in self._dims]
        )

    def num_elements(self) -> int | None:
        """The product of the sizes, None if one is unknown."""
        if not self.is_fully_defined():
            return None
        n = 1
        for d in self._dims or ():
            n *= d  # type: ignore[operator]
        return n

    def is_fully_defined(self) -> bool:
        """Whether rank and all sizes are known."""
        return self._dims is not None and None not in self._dims

    def assert_is_fully_defined(self) -> None:
        """ValueError unless rank and all sizes are known."""
        if not self.is_fully_defined():
            raise ValueError(f"Shape {self} is not fully defined")

    def is_compatible_with(self, other: Any) -> bool:
        """Whether a tensor can have both shapes: sizes are equal, or one is unknown."""
        other = as_shape(other)
        if self._dims is None or other._dims is None:
            return True
        return len(self._dims) == len(other._dims) and all(
            a is None or b is None or a == b for a, b in zip(self._dims, other._dims)
        )

    def assert_is_compatible_with(self, other: Any) -> None:
        """ValueError unless a tensor can have both shapes."""
        if not self.is_compatible_with(other):
            raise ValueError(f"Shapes {self} and {other} are incompatible")

    def assert_same_rank(self, other: Any) -> None:
        """ValueError if both ranks are known and differ."""
        other = as_shape(other)
        if self.rank is not None and other.rank is not None and self.rank != other.rank:
            raise ValueError(f"Shapes {self} and {other} must have the same rank")

    def assert_has_rank(self, rank: int) -> None:
        """ValueError unless the rank is this one or unknown."""
        if self.rank not in (None, rank):
            raise ValueError(f"Shape {self} must have rank {rank}")

    def merge_with(self, other: Any) -> "TensorShape":
        """The shape that both are, each size known if either is; ValueError if they differ."""
        other = as_shape(other)
        if self._dims is None:
            return other
        if other._dims is None:
            return self
        if not self.is_compatible_with(other):
            raise ValueError(f"Shapes {self} and {other} are not compatible")
        return TensorShape([b if a is None else a for a, b in zip(self._dims, other._dims)])

    def most_specific_compatible_shape(self, other: Any) -> "TensorShape":
        """What is known of both: sizes that differ are left open."""
        other = as_shape(other)
        if self._dims is None or other._dims is None or len(self._dims) != len(other._dims):
            return unknown_shape()
        return TensorShape([a if a == b else None for a, b in zip(self._dims, other._dims)])

    def concatenate(self, other: Any) -> "TensorShape":
        """The sizes of this shape, then those of the other."""
        other = as_shape(other)
        if self._dims is None or other._dims is None:
            return unknown_shape()
        return TensorShape(self._dims + other._dims)

    def with_rank(self, rank: int) -> "TensorShape":
        """The shape with this rank; ValueError if it has another."""
        try:
            return self.merge_with(unknown_shape(rank))
        except ValueError:
            raise ValueError(f"Shape {self} must have rank {rank}") from None

    def with_rank_at_least(self, rank: int) -> "TensorShape":
        """The shape itself; ValueError if its rank is less."""
        if self.rank is not None and self.rank < rank:
            raise ValueError(f"Shape {self} must have rank at least {rank}")
        return self

    def with_rank_at_most(self, rank: int) -> "TensorShape":
        """The shape itself; ValueError if its rank is greater."""
        if self.rank is not None and self.rank > rank:
            raise ValueError(f"Shape {self} must have rank at most {rank}")
        return self

    def _wrap(self, d: int | None) -> Any:
        return d if _v2_dims else Dimension(d)

    def __len__(self) -> int:
        if self._dims is None:
            raise ValueError("Cannot take the length of shape with unknown rank.")
        return len(self._dims)

    def __bool__(self) -> bool:
        return self._dims is not None

    def __iter__(self) -> Iterator[Any]:
        if self._dims is None:
            raise ValueError("Cannot iterate over a shape with unknown rank.")
        return iter([self._wrap(d) for d in self._dims])

    def __getitem__(self, key: Any) -> Any:
        if self._dims is not None:
            if isinstance(key, slice):
                return TensorShape(self._dims[key])
            return self._wrap((tuple if _v2_dims else list)(self._dims)[key])  # each has its error's words
        if isinstance(key, slice):
            start = key.start or 0
            if key.stop is None or start < 0 or key.stop < 0 or key.step not in (None, 1):
                return unknown_shape()
            return unknown_shape(max(0, key.stop - start))
        return self._wrap(None)

    def __add__(self, other: Any) -> "TensorShape":
        return self.concatenate(other)

    def __radd__(self, other: Any) -> "TensorShape":
        return as_shape(other).concatenate(self)

    def __eq__(self, other: object) -> bool:
        try:
            return self._dims == as_shape(other)._dims
        except (TypeError, ValueError):
            return NotImplemented

    def __hash__(self) -> int:
        return hash(self._dims)

    def __repr__(self) -> str:
        if self._dims is None:
            return "TensorShape(None)"
        if _v2_dims:
            return f"TensorShape({list(self._dims)})"
        return f"TensorShape({self.dims})"

    def __str__(self) -> str:
        if self._dims is None:
            return "<unknown>"
        unknown = "None" if _v2_dims else "?"
        inner = ", ".join(unknown if d is None else str(d) for d in self._dims)
        return f"({inner},)" if len(self._dims) == 1 else f"({inner})"

    def __reduce__(self) -> Any:
        return TensorShape, (None if self._dims is None else list(self._dims),)


def as_shape(shape: Any) -> TensorShape:
    return shape if isinstance(shape, TensorShape) else TensorShape(shape)


def unknown_shape(rank: int | None = None) -> TensorShape:
    return TensorShape(None) if rank is None else TensorShape([None] * rank)


def scalar() -> TensorShape:
    return TensorShape([])
