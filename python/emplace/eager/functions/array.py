"""Arrays: making, joining, cutting, picking."""

from __future__ import annotations

from typing import Any, TYPE_CHECKING

import numpy as np

from emplace.eager import op_errors
from emplace.framework import array_ops, constant_op, dispatch, dtypes, index_values, math_ops, ops
from emplace.framework import linspace as _linspace
from emplace.framework.dispatch import execute as _op
from emplace.framework.ops import convert_to_tensor as _convert
from emplace.gradients.common import is_eager

if TYPE_CHECKING:
    from emplace.framework.tensor import Tensor


def constant(value: Any, dtype: Any = None, shape: Any = None, name: str = "Const") -> Tensor:
    """A tensor of a Python value or array; `dtype` and `shape` convert it, a single value fills the shape."""
    return constant_op.constant(value, dtype, shape, name)


def convert_to_tensor(value: Any, dtype: Any = None, dtype_hint: Any = None, name: str | None = None) -> Tensor:
    """`value` as a tensor: numbers, lists, arrays and objects with a conversion of their own. `dtype` is demanded, `dtype_hint` only
    preferred."""
    return _convert(value, dtype, name, dtype_hint)


def boolean_mask(tensor: Any, mask: Any, axis: Any = None, name: str = "boolean_mask") -> Tensor:
    """The elements of `tensor` where `mask` is true; the mask covers dimensions from `axis` on."""
    return array_ops.boolean_mask(tensor, mask, name, axis)


def expand_dims(input: Any, axis: Any, name: str | None = None) -> Tensor:  # noqa: A002
    """`input` with a dimension of 1 inserted at `axis`."""
    return array_ops.expand_dims(input, axis, name)


def squeeze(input: Any, axis: Any = None, name: str | None = None) -> Tensor:  # noqa: A002
    """`input` without its dimensions of 1, or without those of `axis`."""
    return array_ops.squeeze(input, axis, name)


def shape(input: Any, out_type: Any = None, name: str | None = None) -> Tensor:  # noqa: A002
    """The shape of `input` as a 1-D integer tensor."""
    return array_ops.shape(input, name, dtypes.int32 if out_type is None else out_type)


def size(input: Any, out_type: Any = None, name: str | None = None) -> Tensor:  # noqa: A002
    """The number of elements as a scalar."""
    return array_ops.size(input, name, dtypes.int32 if out_type is None else out_type)


def zeros_like(input: Any, dtype: Any = None, name: str | None = None, layout: Any = None) -> Tensor:  # noqa: A002
    """A tensor of zeros with the shape of `input`, and its dtype unless another is given."""
    return array_ops.zeros_like(input, dtype, name)


def ones_like(input: Any, dtype: Any = None, name: str | None = None, layout: Any = None) -> Tensor:  # noqa: A002
    """A tensor of ones with the shape of `input`, and its dtype unless another is given."""
    return array_ops.ones_like(input, dtype, name)


def pad(tensor: Any, paddings: Any, mode: str = "CONSTANT", constant_values: Any = 0, name: str | None = None) -> Tensor:
    """`tensor` with margins of the widths `paddings` ([before, after] a dimension), filled by a constant, by reflection or
    symmetrically."""
    return array_ops.pad(tensor, paddings, mode, name, constant_values)


_REVERSED = [list(range(n))[::-1] for n in range(9)]


def transpose(a: Any, perm: Any = None, conjugate: bool = False, name: str = "transpose") -> Tensor:
    """`a` with its dimensions in the order `perm` (reversed by default); `conjugate` also conjugates."""
    if type(a) is ops.EagerTensor and not conjugate and not ops._default_graphs.stack and a.ndim <= 8:
        return _op("Transpose", [a, perm if perm is not None else _REVERSED[a.ndim]], {}) if a.ndim else a
    return array_ops.transpose(a, perm, name, conjugate)


def where(condition: Any, x: Any = None, y: Any = None, name: str | None = None) -> Tensor:
    """Elements of `x` where the condition holds, else of `y`; without both, the indices of the true elements."""
    return array_ops.where_v2(condition, x, y, name)


def gather(
    params: Any, indices: Any, validate_indices: Any = None, axis: Any = None, batch_dims: int = 0, name: str | None = None
) -> Tensor:
    """Slices of `params` at `indices` along `axis`; `batch_dims` leading dimensions run in parallel."""
    return array_ops.gather(params, indices, validate_indices, name, axis, batch_dims)


def gather_nd(params: Any, indices: Any, batch_dims: int = 0, name: str | None = None, bad_indices_policy: str = "") -> Tensor:
    """Elements or slices of `params` at index vectors, the last dimension of `indices`."""
    if hasattr(params, "gather_nd") and not batch_dims:
        return params.gather_nd(indices, name)
    if not batch_dims:
        return array_ops.gather_nd(params, indices, name)
    params, indices = _convert(params), _convert(indices)
    return array_ops.gather_nd(params, _with_batch(indices, int(batch_dims)), name)


def _with_batch(indices: Any, batch_dims: int) -> Any:
    """Indices into the whole: each is preceded by the numbers of the batch it stands in."""
    sizes = array_ops.shape(indices)
    rank = indices.shape.rank
    if rank is None or batch_dims >= rank:
        raise ValueError(f"batch_dims ({batch_dims}) must be less than the rank of indices ({rank}).")
    parts = []
    for d in range(batch_dims):
        numbers = math_ops.cast(math_ops.range(sizes[d]), indices.dtype)
        numbers = array_ops.reshape(numbers, [-1 if i == d else 1 for i in range(rank)])
        like = array_ops.zeros_like(indices[..., :1])
        parts.append(like + numbers)
    return array_ops.concat([*parts, indices], -1)


def reverse_sequence(input: Any, seq_lengths: Any, seq_axis: Any = None, batch_axis: Any = None, name: str | None = None) -> Tensor:  # noqa: A002
    """Reverses the first `seq_lengths[i]` steps of each sequence of a batch."""
    return array_ops.reverse_sequence(input, seq_lengths, seq_axis, batch_axis, name)


def batch_to_space(input: Any, block_shape: Any, crops: Any, name: str | None = None) -> Tensor:  # noqa: A002
    """Moves blocks of the batch dimension back into the spatial ones, then cuts `crops` off the edges."""
    block = np.array([block_shape] * 2) if isinstance(block_shape, int) else block_shape
    return _op("BatchToSpaceND", [input, block, crops], {}, name)


def space_to_batch(input: Any, block_shape: Any, paddings: Any, name: str | None = None) -> Tensor:  # noqa: A002
    """Pads the spatial dimensions and moves blocks of them into the batch dimension."""
    return _op("SpaceToBatchND", [input, block_shape, paddings], {}, name)


def linspace(start: Any, stop: Any, num: Any, name: str | None = None, axis: int = 0) -> Tensor:
    """`num` evenly spaced values from `start` to `stop`, both included, along a new dimension `axis`."""
    if not dispatch.executing_eagerly():
        return _linspace.linspace(start, stop, num, name, axis)
    start = _convert(start, name="start")
    stop = _convert(stop, dtype=start.dtype, name="stop")
    if start.dtype.is_integer:  # as their quotient is
        wide = dtypes.float32 if start.dtype.size < 4 else dtypes.float64
        start, stop = math_ops.cast(start, wide), math_ops.cast(stop, wide)
    if isinstance(num, int) and num == 0:
        return _linspace.linspace(start, stop, num, name, axis)
    if start.shape.rank == 0 and stop.shape.rank == 0:
        return _op("LinSpace", [start, stop, num], {}, name)
    steps = array_ops.reshape(_op("LinSpace", [_convert(0.0, start.dtype), _convert(1.0, start.dtype), num], {}), [-1])
    rank = len(np.broadcast_shapes(start.shape, stop.shape)) + 1
    at = index_values.axis(axis, rank)
    view = [1] * rank
    view[at] = -1
    first, last = array_ops.expand_dims(start, at), array_ops.expand_dims(stop, at)
    return first + (last - first) * array_ops.reshape(steps, view)


def repeat(input: Any, repeats: Any, axis: Any = None, name: str | None = None) -> Tensor:  # noqa: A002
    """Repeats elements `repeats` times along `axis`; without it the tensor is flattened first."""
    data = _convert(input, name="data")
    if axis is None:
        data, axis = array_ops.reshape(data, [-1]), 0
    axis = index_values.axis(axis, max(data.shape.rank, 1))
    counts = _convert(repeats, name="repeats")
    if not counts.dtype.is_integer:
        raise TypeError(f"Argument `tensor` (name: repeats) must be of type integer. Received `tensor` = {repeats} of dtype: {counts.dtype!r}")
    counts = math_ops.cast(counts, dtypes.int64 if counts.dtype.max > dtypes.int32.max else dtypes.int32)
    length = array_ops.shape(data, out_type=counts.dtype)[axis]
    if counts.shape.rank == 0 or counts.shape.num_elements() == 1:
        if data.shape.rank is not None:
            return _tiled(data, array_ops.reshape(counts, [1]), axis)
        counts = array_ops.fill([length], array_ops.reshape(counts, []))
    biggest = math_ops.reduce_max(counts)
    mask = array_ops.sequence_mask(counts, biggest)
    rows = array_ops.expand_dims(math_ops.range(length), 1)
    wide = _op("Tile", [rows, array_ops.stack([_convert(1, counts.dtype), biggest])], {})
    picked = array_ops.boolean_mask(wide, mask)
    return array_ops.gather(data, picked, axis=axis)


def _tiled(data: Any, count: Any, axis: int) -> Any:
    """Each part along `axis`, [count] times."""
    rank, shape = data.shape.rank, array_ops.shape(data, out_type=count.dtype)
    before, after = (array_ops.ones([n], count.dtype) for n in (axis + 1, rank - axis - 1))
    multiples = array_ops.concat([before, count, after], 0)
    wide = _op("Tile", [array_ops.expand_dims(data, axis + 1), multiples], {})
    return array_ops.reshape(wide, array_ops.concat([shape[:axis], shape[axis : axis + 1] * count, shape[axis + 1 :]], 0))


def argsort(values: Any, axis: int = -1, direction: str = "ASCENDING", stable: bool = False, name: str | None = None) -> Tensor:
    """Indices that sort `values` along `axis`; `direction` is ASCENDING or DESCENDING."""
    return _sorted(values, axis, direction, True)


def sort(values: Any, axis: int = -1, direction: str = "ASCENDING", name: str | None = None) -> Tensor:
    """`values` sorted along `axis`; `direction` is ASCENDING or DESCENDING."""
    return _sorted(values, axis, direction, False)


def _turned(values: Any) -> Any:
    """The largest first, and back."""
    if values.dtype.is_unsigned:
        return values.dtype.max - values
    return -1 - values if values.dtype.is_integer else -values


def _sorted(values: Any, axis: int, direction: str, indices: bool) -> Any:
    """TopKV2 along the last axis; ascending order is the descending order of the negated values."""
    values = _convert(values, name="values")
    if not isinstance(axis, int):
        raise ValueError("axis must be a constant scalar")
    if direction not in ("ASCENDING", "DESCENDING"):
        raise ValueError(f"Argument `direction` should be one of 'ASCENDING' or 'DESCENDING'. Received: direction={direction}")
    symbolic = not is_eager(values)
    if symbolic:
        constant_op.constant(axis, name="axis")  # TensorFlow makes a node of it, and of the rank below
    rank = values.shape.rank
    last = axis in (-1, rank - 1)
    order = list(range(rank))
    if not last and not -rank <= axis < rank:
        raise op_errors.refused("StridedSlice", f"slice index {axis} of dimension 0 out of bounds.", name=" name: strided_slice/")
    if not last:
        order[axis], order[-1] = order[-1], order[axis]
        values = array_ops.transpose(values, order)
    turn = _turned if direction == "ASCENDING" else lambda v: v
    keys = turn(values)
    k = array_ops.shape(values)[-1]
    if symbolic:
        array_ops.rank(values)
    top, at = _op("TopKV2", [keys, k], {})
    result = at if indices else turn(top)
    return result if last else array_ops.transpose(result, order)


def histogram_fixed_width(values: Any, value_range: Any, nbins: Any = 100, dtype: Any = dtypes.int32, name: str | None = None) -> Tensor:
    """How many values fall in each of `nbins` equal bins of `value_range`; outer bins take what lies beyond."""
    bins = histogram_fixed_width_bins(array_ops.reshape(_convert(values), [-1]), value_range, nbins)
    ones = array_ops.ones_like(bins, dtype=dtype)
    return _op("UnsortedSegmentSum", [ones, bins, nbins], {}, name)


def histogram_fixed_width_bins(values: Any, value_range: Any, nbins: Any = 100, dtype: Any = dtypes.int32, name: str | None = None) -> Tensor:
    """The number of the bin that each value falls into; values beyond the range go to the outer bins."""
    values = _convert(values)
    index_values.check(nbins, dtypes.int32)
    limits = _convert(value_range, dtype=values.dtype)
    low, high = limits[0], limits[1]
    scaled = math_ops.truediv(values - low, high - low)
    bins = math_ops.floor(math_ops.cast(nbins, scaled.dtype) * scaled)
    bins = _op("Minimum", [_op("Maximum", [math_ops.cast(bins, dtypes.int32), 0], {}), nbins - 1], {})
    return bins if dtypes.as_dtype(dtype) is dtypes.int32 else math_ops.cast(bins, dtype)


def is_tensor(x: Any) -> bool:
    """Whether it is a tensor, a variable or another type that the package treats as one."""
    return ops.is_tensor(x) and not isinstance(x, np.ndarray)


def is_symbolic_tensor(tensor: Any) -> bool:
    """Whether it is a tensor of a graph, without a value yet."""
    return isinstance(tensor, ops.Tensor) and not hasattr(tensor, "_numpy_of_eager")


def get_static_value(tensor: Any, partial: bool = False) -> Any:
    """The value of a tensor as an array where it is known without running anything, else None."""
    if hasattr(tensor, "_numpy_of_eager"):
        return tensor.numpy()
    if hasattr(tensor, "_dense_var_to_tensor"):  # a variable may change
        return None
    return constant_op.constant_value(tensor)


def unstack(value: Any, num: int | None = None, axis: int = 0, name: str = "unstack") -> list[Tensor]:
    """The slices of `value` along `axis`, as a list."""
    return array_ops.unstack(value, num, axis, name)


def split(value: Any, num_or_size_splits: Any, axis: Any = 0, num: int | None = None, name: str = "split") -> list[Tensor]:
    """Parts of `value` along `axis`: equal ones for a number, else of the listed sizes (-1: the rest)."""
    return array_ops.split(value, num_or_size_splits, axis, num, name)


def required_space_to_batch_paddings(input_shape: Any, block_shape: Any, base_paddings: Any = None, name: str | None = None) -> Any:
    """(paddings, crops), both [N, 2]: what makes each of the sizes a multiple of its block, beyond `base_paddings`, and what takes
    that away again."""
    sizes, blocks = _convert(input_shape, dtypes.int32), _convert(block_shape, dtypes.int32)
    base = array_ops.zeros([array_ops.size(sizes), 2], dtypes.int32) if base_paddings is None else _convert(base_paddings, dtypes.int32)
    before, after = base[:, 0], base[:, 1]
    extra = math_ops.floormod(blocks - math_ops.floormod(sizes + before + after, blocks), blocks)
    zero = array_ops.zeros_like(extra)
    return array_ops.stack([before, after + extra], 1), array_ops.stack([zero, extra], 1)
