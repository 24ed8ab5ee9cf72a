"""`tf.experimental.StructuredTensor`: a tensor of records, kept field by field.

A field is a tensor, a ragged tensor or another structured tensor whose outer axes are the record's.
"""

from __future__ import annotations

import typing
from typing import Any, Callable

import numpy as np

from emplace.eager import composite, extension_type
from emplace.eager.ragged import functions as ragged_functions
from emplace.eager.ragged.row_partition import RowPartition
from emplace.eager.ragged.tensor import RaggedTensor
from emplace.framework import array_ops, dtypes, ops
from emplace.framework.tensor import Tensor
from emplace.framework.tensor_shape import TensorShape, as_shape

_WRONG_INDEX = "Only integers, slices (`:`), ellipsis (`...`), tf.newaxis (`None`) and scalar tf.int32/tf.int64 tensors are valid indices, got "


@composite.at_once
class StructuredTensor(extension_type.ExtensionType):
    """Made by its class methods; `st[i, j, "field"]`."""

    _members: typing.Mapping[str, typing.Union[RaggedTensor, StructuredTensor, Tensor]]
    _static: TensorShape
    _splits: typing.Tuple[Tensor, ...]

    # ---- How it is made.

    @classmethod
    def from_fields(cls, fields: Any, shape: Any = (), nrows: Any = None, row_partitions: Any = None, validate: bool = False) -> Any:
        """Structures of this shape from a tensor for each field, whose outer dimensions are the shape."""
        static = as_shape(shape)
        if static.rank is None:
            raise ValueError("StructuredTensor's shape must have known rank.")
        members = {}
        for name, value in fields.items():
            if not isinstance(name, str):
                raise TypeError(f"Unexpected type for key in `fields`: {name}")
            members[name] = value = value if isinstance(value, (Tensor, composite.Composite)) else ops.convert_to_tensor(value)
            if value.shape.rank is not None and value.shape.rank < static.rank:
                raise ValueError(f"Shapes {static} and {value.shape} are not compatible")
            if not static.is_compatible_with(value.shape[: static.rank]):
                raise ValueError(f"Error in shape of {name}")
            static = static.merge_with(value.shape[: static.rank])
        if row_partitions is not None:
            splits = [p.row_splits() for p in row_partitions]
        else:
            splits = next((s for s in (_splits_of(m, static.rank) for m in members.values()) if s is not None), [])
        return cls(members, static, splits)

    @classmethod
    def from_fields_and_rank(cls, fields: Any, rank: int, validate: bool = False, dtype: Any = None) -> Any:
        """Structures from a tensor for each field, of which the first `rank` dimensions are the shape."""
        if not fields:
            raise ValueError("Must provide at least one field")
        if not isinstance(rank, int):
            raise ValueError("rank must be an integer")
        if rank < 0:
            raise ValueError("rank must be nonnegative")
        first = next(iter(fields.values()))
        first = first if isinstance(first, (Tensor, composite.Composite)) else ops.convert_to_tensor(first)
        return cls.from_fields(fields, first.shape[:rank])

    @classmethod
    def from_pyval(cls, pyval: Any, typespec: Any = None) -> Any:
        """Structures from dicts, or nested lists of them."""
        return _from_python(cls, pyval)

    # ---- What it is.

    @property
    def shape(self) -> TensorShape:
        return self._static

    @property
    def rank(self) -> int:
        return self._static.rank  # type: ignore[return-value]

    @property
    def row_partitions(self) -> tuple[Any, ...]:
        return tuple(RowPartition.from_row_splits(s) for s in self._splits)

    def nrows(self) -> Any:
        """The size of the first dimension, or None for a single structure."""
        if not self.rank:
            return None
        known = self._static[0]
        if known is None:
            first = next(iter(self._members.values()))
            return first.nrows() if isinstance(first, composite.Composite) else array_ops.shape(first, out_type=dtypes.int64)[0]
        return ops.convert_to_tensor(np.int64(known))

    def field_names(self) -> tuple[str, ...]:
        """The names of the fields."""
        return tuple(self._members)

    def field_value(self, field_name: Any) -> Any:
        """A field's tensor by its name, or by a path of names."""
        path = (field_name,) if isinstance(field_name, str) else tuple(field_name)
        value: Any = self
        for name in path:
            if not isinstance(value, StructuredTensor) or name not in value._members:
                raise KeyError(name if len(path) == 1 else f"Field path {path} not found in {self}")
            value = value._members[name]
        return value

    def __getitem__(self, key: Any) -> Any:
        keys = key if isinstance(key, tuple) else (key,)
        if Ellipsis in [k for k in keys if not isinstance(k, Tensor)]:
            raise NotImplementedError("Ellipsis in an index of a StructuredTensor")
        index, path = keys[: self.rank], keys[self.rank :]
        for k in index:
            if isinstance(k, str):
                raise TypeError(f"{_WRONG_INDEX}{k!r}")
        value: Any = self
        if index:
            left = self.rank - sum(not isinstance(k, slice) for k in index)
            rows = {n: m[index if len(index) > 1 else index[0]] for n, m in self._members.items()}
            value = type(self).from_fields_and_rank(rows, left)
        if not path:
            return value
        inner = value.field_value(path[0])
        return inner[path[1:] if len(path) > 2 else path[1]] if path[1:] else inner

    def __iter__(self) -> Any:
        if not self.rank:
            raise TypeError("Cannot iterate over a scalar StructuredTensor.")
        return (self[i] for i in range(int(self.nrows())))

    def to_pyval(self) -> Any:
        """The same as dicts, or nested lists of them."""
        return _zipped(self.rank, {n: _python(m) for n, m in self._members.items()})

    def __repr__(self) -> str:
        def text(m: Any) -> str:
            said = repr(m) if isinstance(m, composite.Composite) else str(m)
            return said.replace("\n", "\n" + " " * 12)

        inside = ",\n".join(f'        "{n}": {text(self._members[n])}' for n in sorted(self._members)) or "        "
        return f"<StructuredTensor(\n    fields={{\n{inside}}},\n    shape={self._static})>"

    # ---- Another one.

    def with_updates(self, updates: Any, validate: bool = False) -> Any:
        """Fields by name or path: another value, a function of the one that is there, or None to leave it out."""
        made = self
        for key, change in updates.items():
            path = (key,) if isinstance(key, str) else tuple(key)
            if not path:
                raise ValueError("`StructuredTensor.with_updates` does not allow empty names () in updates")
            made = made._updated(path, change, key)
        return made

    def _updated(self, path: tuple[str, ...], change: Any, key: Any) -> Any:
        members = dict(self._members)
        name, rest = path[0], path[1:]
        if rest:
            if not isinstance(members.get(name), StructuredTensor):
                raise ValueError(
                    f"`StructuredTensor.with_updates` cannot create new sub-field {key} if parent field {path[:1]} is not set or not a StructuredTensor."
                )
            members[name] = members[name]._updated(rest, change, key)
        elif change is None:
            if name not in members:
                raise ValueError(f"`StructuredTensor.with_updates` cannot delete the field {key} because it does not exist.")
            del members[name]
        elif callable(change):
            if name not in members:
                raise ValueError(
                    f"`StructuredTensor.with_updates` cannot update the field {key} because a transforming function was given, but that field "
                    "does not already exist."
                )
            members[name] = change(members[name])
        else:
            members[name] = change
        try:
            made = type(self).from_fields(members, self._static)
        except ValueError as e:
            raise ValueError("`StructuredTensor.with_updates` failed") from e
        return made if made._splits or not self._splits else type(self)(made._members, self._static, self._splits)

    def promote(self, source_path: Any, new_name: str) -> Any:
        """A field of a field, a level further out: its rows one behind the other."""
        path = tuple(source_path)
        if len(path) < 2:
            raise ValueError("source_path must have length at least two")
        outer = self.field_value(path[:-2]) if path[:-2] else self
        inner = outer.field_value(path[-2])
        value = inner.field_value(path[-1])
        if inner.rank > outer.rank:
            value = _merged(value, outer.rank, inner.rank)
        return self.with_updates({(*path[:-2], new_name): value})

    def merge_dims(self, outer_axis: int, inner_axis: int) -> Any:
        """The dimensions from `outer_axis` to `inner_axis` made one."""
        first, last = (self._axis(a, w) for a, w in ((outer_axis, "outer_axis"), (inner_axis, "inner_axis")))
        if not first < last:
            raise ValueError(f"Expected outer_axis={outer_axis} to be less than inner_axis={inner_axis}")
        return type(self).from_fields_and_rank({n: _merged(m, first, last) for n, m in self._members.items()}, self.rank - (last - first))

    def _axis(self, axis: int, word: str) -> int:
        if not -self.rank <= axis < self.rank:
            raise ValueError(f"{word}={axis} out of bounds: expected {-self.rank}<={word}<{self.rank}")
        return axis % self.rank

    def partition_outer_dimension(self, row_partition: Any) -> Any:
        """The first dimension cut into rows, which become a new first dimension."""
        if not self.rank:
            raise ValueError("Shape () must have rank at least 1")

        def cut(m: Any) -> Any:
            if isinstance(m, StructuredTensor):
                return m.partition_outer_dimension(row_partition)
            return RaggedTensor.from_row_splits(m, row_partition.row_splits())

        return type(self).from_fields_and_rank({n: cut(m) for n, m in self._members.items()}, self.rank + 1)


def _splits_of(member: Any, rank: int) -> list[Any] | None:
    """How the first `rank` axes are cut into rows; None where the member does not say."""
    if rank < 2:
        return []
    if isinstance(member, StructuredTensor):
        return list(member._splits[: rank - 1])
    if isinstance(member, RaggedTensor):
        known = list(member.nested_row_splits)[: rank - 1]
        return known if len(known) == rank - 1 else None
    sizes = member.shape.as_list()[:rank]
    if None in sizes:
        return None
    cuts = [np.arange(int(np.prod(sizes[:i])) + 1, dtype=np.int64) * sizes[i] for i in range(1, rank)]
    return [ops.convert_to_tensor(c) for c in cuts]


def _merged(member: Any, first: int, last: int) -> Any:
    if isinstance(member, composite.Composite):
        return member.merge_dims(first, last)
    sizes = array_ops.shape(member)
    return array_ops.reshape(member, array_ops.concat([sizes[:first], [-1], sizes[last + 1 :]], 0))


# ---- To Python's values and back.


def _records(value: Any) -> list[Any]:
    """The dictionaries in nested lists."""
    if isinstance(value, (list, tuple)):
        return [r for v in value for r in _records(v)]
    return [value] if isinstance(value, dict) else []


def _depth(value: Any) -> int:
    return 1 + max((_depth(v) for v in value), default=0) if isinstance(value, (list, tuple)) else 0


def _mapped(function: Callable[[Any], Any], value: Any) -> Any:
    return [_mapped(function, v) for v in value] if isinstance(value, (list, tuple)) else function(value)


def _from_python(cls: Any, value: Any) -> Any:
    if isinstance(value, dict):
        return cls.from_fields({k: _from_python(cls, v) for k, v in value.items()}, ())
    records = _records(value)
    if not records:
        if _depth(value) < 2:
            return ops.convert_to_tensor(value)
        return ragged_functions.constant(value)
    names = list(dict.fromkeys(name for record in records for name in record))
    rank = _depth(value)
    members = {n: _from_python(cls, _mapped(lambda record, n=n: record[n], value)) for n in names}
    cuts, level = [], value
    for _ in range(rank - 1):
        cuts.append(np.cumsum([0, *(len(row) for row in level)], dtype=np.int64))
        level = [v for row in level for v in row]
    partitions = [RowPartition.from_row_splits(c) for c in cuts]
    return cls.from_fields(members, [len(value), *[None] * (rank - 1)], row_partitions=partitions)


def _python(member: Any) -> Any:
    if isinstance(member, StructuredTensor):
        return member.to_pyval()
    if isinstance(member, RaggedTensor):
        return member.to_list()
    array = member.numpy()
    return array.tolist() if np.ndim(array) else array


def _zipped(rank: int, columns: dict[str, Any]) -> Any:
    if not rank:
        return columns
    count = len(next(iter(columns.values()), ()))
    return [_zipped(rank - 1, {n: c[i] for n, c in columns.items()}) for i in range(count)]
