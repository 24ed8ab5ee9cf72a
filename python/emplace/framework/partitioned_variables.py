"""Variables in parts along one axis, and who decides how many."""

from __future__ import annotations

import math
from typing import Any, Iterator

from emplace.framework import array_ops, dtypes, ops, tensor_shape


class SliceInfo:
    """Which part of a larger variable a variable is: how checkpoints name it."""

    def __init__(self, full_name: str, full_shape: list[int], var_offset: list[int], var_shape: list[int]) -> None:
        self.full_name, self.full_shape = full_name, full_shape
        self.var_offset, self.var_shape = var_offset, var_shape

    @property
    def spec(self) -> str:
        sizes = " ".join(map(str, self.full_shape))
        return f"{sizes} " + ":".join(f"{o},{s}" for o, s in zip(self.var_offset, self.var_shape))


class PartitionedVariable:
    """A variable whose parts are variables; as a tensor, they are put together."""

    def __init__(self, name: str, shape: Any, dtype: Any, variable_list: list[Any], partitions: list[int]) -> None:
        self._name, self._shape, self._dtype = name, tensor_shape.as_shape(shape), dtypes.as_dtype(dtype)
        self._variables, self._partitions = variable_list, partitions

    def __iter__(self) -> Iterator[Any]:
        return iter(self._variables)

    def __len__(self) -> int:
        return len(self._variables)

    @property
    def name(self) -> str:
        return self._name

    @property
    def dtype(self) -> dtypes.DType:
        return self._dtype

    @property
    def shape(self) -> tensor_shape.TensorShape:
        return self._shape

    def get_shape(self) -> tensor_shape.TensorShape:
        return self._shape

    @property
    def initializer(self) -> Any:
        from emplace.framework import control_flow_ops

        return control_flow_ops.group(*[v.initializer for v in self._variables])

    def as_tensor(self) -> Any:
        with ops.control_dependencies(None):
            return self._concat()

    def _concat(self) -> Any:
        if len(self._variables) == 1:
            with ops.name_scope(None):
                return array_ops.identity(self._variables[0], name=self._name)
        axis = next((i for i, n in enumerate(self._partitions) if n > 1), 0)
        with ops.name_scope(self._name + "/ConcatPartitions/"):
            joined = array_ops.concat(self._variables, axis)
        with ops.name_scope(None):
            return array_ops.identity(joined, name=self._name)

    def _dense_var_to_tensor(self, dtype: Any = None, name: Any = None, as_ref: bool = False) -> Any:
        if dtype is not None and not dtype.is_compatible_with(self._dtype):
            raise ValueError(f"Incompatible type conversion requested to type '{dtype.name}' for variable of type '{self._dtype.name}'")
        return self._concat()

    def _assign(self, method: str, value: Any, **how: Any) -> list[Any]:
        parts = self._split(value)
        return [getattr(v, method)(part, **how) for v, part in zip(self._variables, parts)]

    def _split(self, value: Any) -> list[Any]:
        if len(self._variables) == 1:
            return [value]
        axis = next(i for i, n in enumerate(self._partitions) if n > 1)
        value = ops.convert_to_tensor(value, dtype=self._dtype)
        return array_ops.split(value, [v.shape.as_list()[axis] for v in self._variables], axis=axis)

    def assign(self, value: Any, use_locking: bool = False, name: str | None = None, read_value: bool = True) -> list[Any]:
        return self._assign("assign", value, use_locking=use_locking, name=name, read_value=read_value)

    def assign_add(self, value: Any, use_locking: bool = False, name: str | None = None, read_value: bool = True) -> list[Any]:
        return self._assign("assign_add", value, use_locking=use_locking, name=name, read_value=read_value)

    def assign_sub(self, value: Any, use_locking: bool = False, name: str | None = None, read_value: bool = True) -> list[Any]:
        return self._assign("assign_sub", value, use_locking=use_locking, name=name, read_value=read_value)

    def __repr__(self) -> str:
        return f"<tf.PartitionedVariable '{self._name}' shape={self._shape} dtype={self._dtype.name} partitions={len(self)}>"


def parts_of(shape: list[int], partitions: list[int]) -> Iterator[tuple[list[int], list[int]]]:
    """Offset and shape of each part; the first ones are larger by one where it does not divide."""
    axis = next((i for i, n in enumerate(partitions) if n > 1), 0)
    count = partitions[axis]
    size, larger = divmod(shape[axis], count)
    offset = [0] * len(shape)
    for i in range(count):
        part = list(shape)
        part[axis] = size + (1 if i < larger else 0)
        yield list(offset), part
        offset[axis] += part[axis]


def ask(partitioner: Any, shape: Any, dtype: Any) -> list[int]:
    """How many parts along each axis, by a partitioner's answer."""
    if not callable(partitioner):
        raise ValueError(f"Partitioner must be callable, but received: {partitioner}")
    answer = partitioner(shape=shape, dtype=dtype)
    if not isinstance(answer, (list, tuple)):
        raise ValueError(f"Partitioner must return a sequence, but received: {answer}")
    if len(answer) != shape.rank:
        raise ValueError(f"Partitioner returned a partition list that does not match the Variable's rank: {answer} vs. {shape}")
    if any(n < 1 for n in answer):
        raise ValueError(f"Partitioner returned zero partitions for some axes: {answer}")
    if sum(n > 1 for n in answer) > 1:
        raise ValueError(f"Can only slice a variable along one dimension: shape: {shape}, partitioning: {answer}")
    return list(answer)


# ---- Partitioners.


def fixed_size_partitioner(num_shards: int, axis: int = 0) -> Any:
    """A partitioner that cuts a variable into `num_shards` parts along `axis`."""
    def partitioner(shape: Any, **_: Any) -> list[int]:
        parts = [1] * len(shape)
        parts[axis] = min(num_shards, tensor_shape.as_shape(shape).as_list()[axis])  # type: ignore[type-var]
        return parts

    return partitioner


def variable_axis_size_partitioner(max_shard_bytes: int, axis: int = 0, bytes_per_string_element: int = 16, max_shards: int | None = None) -> Any:
    """A partitioner that cuts a variable into parts of at most `max_shard_bytes`."""
    if max_shard_bytes < 1 or bytes_per_string_element < 1:
        raise ValueError(f"Both max_shard_bytes and bytes_per_string_element must be positive. Currently, max_shard_bytes is {max_shard_bytes}  and bytes_per_string_element is {bytes_per_string_element}")
    if max_shards is not None and max_shards < 1:
        raise ValueError(f"max_shards must be positive. Currently, max_shards is {max_shards}")

    def partitioner(shape: Any, dtype: Any) -> list[int]:
        sizes = _known(shape)
        row = math.prod(sizes) / sizes[axis] * _bytes(dtype, bytes_per_string_element)
        shards = math.ceil(sizes[axis] / max(1, math.floor(max_shard_bytes / row)))
        parts = [1] * len(sizes)
        parts[axis] = shards if max_shards is None else min(max_shards, shards)
        return parts

    return partitioner


def min_max_variable_partitioner(max_partitions: int = 1, axis: int = 0, min_slice_size: int = 256 << 10, bytes_per_string_element: int = 16) -> Any:
    """A partitioner that cuts a variable into parts of at least `min_slice_size` bytes, at most `max_partitions`."""
    def partitioner(shape: Any, dtype: Any) -> list[int]:
        sizes = _known(shape)
        if axis >= len(sizes):
            raise ValueError(f"Cannot partition variable along axis {axis} when shape is only {tensor_shape.as_shape(shape)}")
        size = math.prod(sizes) * _bytes(dtype, bytes_per_string_element)
        parts = [1] * len(sizes)
        if size >= min_slice_size:
            parts[axis] = max(1, min(max_partitions, size // min_slice_size, sizes[axis]))
        return parts

    return partitioner


def _bytes(dtype: Any, of_string: int) -> int:
    dtype = dtypes.as_dtype(dtype)
    return of_string if dtype.base_dtype == dtypes.string else dtype.size


def _known(shape: Any) -> list[int]:
    shape = tensor_shape.as_shape(shape)
    if not shape.is_fully_defined():
        raise ValueError(f"shape is not fully defined: {shape}")
    return shape.as_list()  # type: ignore[return-value]


def create_partitioned_variables(
    shape: Any, slicing: list[int], initializer: Any, dtype: Any = dtypes.float32, trainable: bool = True, collections: Any = None,
    name: str | None = None, reuse: Any = None,
) -> list[Any]:
    """Variables that together have the shape, cut as `slicing` says."""
    from emplace.framework import variable_scope

    if len(shape) != len(slicing):
        raise ValueError(f"The 'shape' and 'slicing' of a partitioned Variable must have the length: shape: {shape}, slicing: {slicing}")
    if len(shape) < 1:
        raise ValueError(f"A partitioned Variable must have rank at least 1: shape: {shape}")
    around = variable_scope.get_variable_scope()
    with variable_scope.variable_scope(name, "PartitionedVariable", reuse=reuse) as scope:
        again = scope.reuse
    with variable_scope.variable_scope(around, reuse=again, auxiliary_name_scope=False):
        made = variable_scope.get_variable(
            scope.name[len(around.name) + 1 if around.name else 0 :], shape, dtype, initializer, trainable=trainable,
            partitioner=lambda **_: list(slicing), collections=collections,
        )
    return list(made) if isinstance(made, PartitionedVariable) else [made]
