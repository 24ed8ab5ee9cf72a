"""Making, shaping, joining and cutting arrays: functions that TensorFlow writes by hand."""

from __future__ import annotations

import math
from typing import Any, TYPE_CHECKING

import numpy as np

from emplace.framework import constant_op, dispatch, dtypes, index_values, ops, tensor_shape
from emplace.framework.dispatch import execute as _op
from emplace.framework.ops import convert_to_tensor as _convert
from emplace.framework.ops import is_tensor, name_scope
from emplace.framework.strided import strided_slice as strided_slice

if TYPE_CHECKING:
    from emplace.framework.gen import Outputs
    from emplace.framework.tensor import Tensor

newaxis = None


def _static(x: Any) -> tensor_shape.TensorShape:
    return x.shape if isinstance(x.shape, tensor_shape.TensorShape) else tensor_shape.as_shape(x.shape)


def _dense_shape(x: Any) -> Any:
    """The shape of a sparse tensor or of its value; None for anything else."""
    if isinstance(x, ops.Tensor):
        return None
    from emplace.framework import sparse_tensor

    return x.dense_shape if isinstance(x, (sparse_tensor.SparseTensor, sparse_tensor.SparseTensorValue)) else None


def identity(input: Any, name: str | None = None) -> Tensor:  # noqa: A002
    """A tensor with the value of `input`."""
    return _op("Identity", [input], {}, name)


def stop_gradient(input: Any, name: str | None = None) -> Tensor:  # noqa: A002
    """`input`, through which no gradient flows."""
    return _op("StopGradient", [input], {}, name)


def placeholder(dtype: Any, shape: Any = None, name: str | None = None) -> Tensor:
    """A tensor whose value is fed to `run`; None in `shape` fits any length."""
    if dispatch.executing_eagerly():
        raise RuntimeError("tf.placeholder() is not compatible with eager execution.")
    try:
        kind = dtypes.as_dtype(dtype).base_dtype
    except TypeError:
        raise TypeError(f"Expected DataType for argument 'dtype' not {dtype!r}.") from None
    try:
        known = tensor_shape.as_shape(shape)
    except (TypeError, ValueError) as e:
        raise type(e)(f"Error converting shape to a TensorShape: {e}.") from None
    return _op("Placeholder", [], {"dtype": kind, "shape": known}, name)


def placeholder_with_default(input: Any, shape: Any, name: str | None = None) -> Tensor:  # noqa: A002
    """A tensor that may be fed to `run`; otherwise it has the value of `input`."""
    return _op("PlaceholderWithDefault", [input], {"shape": tensor_shape.as_shape(shape)}, name)


# ---- Shapes.


def shape(input: Any, name: str | None = None, out_type: Any = None) -> Tensor:  # noqa: A002
    """The shape of `input` as a 1-D integer tensor."""
    return shape_internal(input, name, optimize=True, out_type=out_type or dtypes.int32)


def shape_internal(input: Any, name: str | None = None, optimize: bool = True, out_type: Any = dtypes.int32) -> Any:  # noqa: A002
    out_type = dtypes.as_dtype(out_type)
    with name_scope(name, "Shape", [input]) as scope:
        if (dense := _dense_shape(input)) is not None:
            return _op("Cast", [_convert(dense)], {"DstT": out_type})
        if not isinstance(input, ops.Tensor) and hasattr(input, "nested_row_splits"):
            from emplace.eager.ragged.dynamic_shape import DynamicRaggedShape

            return DynamicRaggedShape(input, out_type)
        input = _convert(input)
        known = _static(input)
        if optimize and known.is_fully_defined() and not index_values.beyond(known, out_type):
            return constant_op.constant(known.as_list(), out_type, name=scope)
        return _op("Shape", [input], {"out_type": out_type}, scope)


def _shape_as_tensor(tensor: Any) -> Any:
    """The shape of a tensor for making another like it."""
    if not _static(tensor).is_fully_defined():
        return shape_internal(tensor)
    with name_scope("Shape"):
        return index_values.tensor(_static(tensor).as_list(), "shape_as_tensor", wide=True)


def shape_v2(input: Any, out_type: Any = dtypes.int32, name: str | None = None) -> Any:  # noqa: A002
    return shape(input, name, out_type)


def shape_n(input: Any, out_type: Any = dtypes.int32, name: str | None = None) -> list[Tensor]:  # noqa: A002
    """The shapes of several tensors."""
    return _op("ShapeN", [input], {"out_type": out_type}, name)


def size(input: Any, name: str | None = None, out_type: Any = dtypes.int32) -> Tensor:  # noqa: A002
    """The number of elements as a scalar."""
    with name_scope(name, "Size", [input]) as scope:
        if (dense := _dense_shape(input)) is not None:
            sizes = _op("Cast", [_convert(dense)], {"DstT": dtypes.as_dtype(out_type)})
            return _op("Prod", [sizes, constant_op.constant([0], name="Const")], {"keep_dims": False}, scope)
        input = _convert(input)
        known = _static(input).num_elements()
        if known is not None and not index_values.beyond(known, dtypes.as_dtype(out_type)):
            return constant_op.constant(known, dtypes.as_dtype(out_type), name=scope)
        return _op("Size", [input], {"out_type": out_type}, scope)


def rank(input: Any, name: str | None = None) -> Tensor:  # noqa: A002
    """The number of dimensions as a scalar."""
    return rank_internal(input, name)


def rank_internal(input: Any, name: str | None = None, optimize: bool = True) -> Any:  # noqa: A002
    with name_scope(name, "Rank", [input]) as scope:
        if (dense := _dense_shape(input)) is not None:
            return _op("Size", [_convert(dense)], {"out_type": dtypes.int32}, scope)
        input = _convert(input)
        known = _static(input).rank
        if optimize and known is not None:
            return constant_op.constant(known, dtypes.int32, name=scope)
        return _op("Rank", [input], {}, scope)


def reshape(tensor: Any, shape: Any, name: str | None = None) -> Tensor:
    """The elements of `tensor`, in their order, in another shape; one -1 is worked out."""
    if isinstance(shape, (list, tuple)) and shape and isinstance(shape[0], ops.Tensor) and shape[0].dtype.is_floating:
        shape = _convert(shape, dtype=dtypes.int32)  # a list is packed, and its tensors cast
    return _op("Reshape", [tensor, shape], {}, name)


def expand_dims(input: Any, axis: Any = None, name: str | None = None, dim: Any = None) -> Tensor:  # noqa: A002
    """`input` with a dimension of 1 inserted at `axis`."""
    if dim is not None:
        axis = dim
    if axis is None:
        raise ValueError("Must specify an axis argument to tf.expand_dims()")
    return _op("ExpandDims", [input, axis], {}, name)


def squeeze(input: Any, axis: Any = None, name: str | None = None, squeeze_dims: Any = None) -> Tensor:  # noqa: A002
    """`input` without its dimensions of 1, or without those of `axis`."""
    axis = squeeze_dims if axis is None else axis
    if axis is None:
        axis = []
    elif np.isscalar(axis) or hasattr(axis, "__index__"):
        axis = [axis]
    return _op("Squeeze", [input], {"squeeze_dims": list(axis)}, name)


def transpose(a: Any, perm: Any = None, name: str = "transpose", conjugate: bool = False) -> Tensor:
    """`a` with its dimensions in the order `perm` (reversed by default); `conjugate` also conjugates."""
    with name_scope(name, "transpose", [a]) as scope:
        if not is_tensor(a):
            a = _convert(a, name="a")
        kind = "ConjugateTranspose" if conjugate and a.dtype.is_complex else "Transpose"
        if perm is not None:
            return _op(kind, [a, perm], {}, scope)
        known = _static(a).rank
        if known is None:
            n = _op("Rank", [a], {})
            perm = _op("Range", [n - 1, -1, -1], {})
        else:
            perm = np.arange(known - 1, -1, -1, dtype=np.int32)
        return _op(kind, [a, perm], {}, scope)


def matrix_transpose(a: Any, name: str = "matrix_transpose", conjugate: bool = False) -> Tensor:
    """The last two dimensions exchanged; `conjugate` also conjugates."""
    with name_scope(name, "matrix_transpose", [a]):
        a = _convert(a, name="a")
        known = _static(a).rank
        if known is not None:
            if known < 2:
                raise ValueError(f"Argument `a` should be a (batch) matrix with rank >= 2.  Received `a` = {a} with shape: {a.shape}")
            perm: Any = [*range(known - 2), known - 1, known - 2]
        else:
            n = rank(a)
            perm = concat((_op("Range", [0, n - 2, 1], {}), [n - 1, n - 2]), 0)
        return transpose(a, perm=perm, conjugate=conjugate)


def ensure_shape(x: Any, shape: Any, name: str | None = None) -> Tensor:
    """`x`, checked when it runs to have a shape compatible with `shape`."""
    return _op("EnsureShape", [x], {"shape": tensor_shape.as_shape(shape)}, name)


def broadcast_dynamic_shape(shape_x: Any, shape_y: Any) -> Tensor:
    """The shape that two shapes broadcast to, as an integer tensor."""
    return _op("BroadcastArgs", [shape_x, shape_y], {})


# ---- Filled arrays.


_LARGE = 1000  # elements that are worth an operation
_EVERYDAY = tuple(t._enum for t in (dtypes.float32, dtypes.float64, dtypes.int32, dtypes.int64))


def _filled(shape: Any, dtype: Any, name: str | None, word: str) -> Any:
    dtype = dtypes.as_dtype(dtype).base_dtype
    one = word == "ones"
    if type(shape) in (list, tuple) and dtype._enum in _EVERYDAY and dispatch.executing_eagerly():
        size = 1
        for n in shape:
            size = size * n if type(n) is int and n >= 0 else _LARGE
        if size < _LARGE:
            return constant_op.constant((np.ones if one else np.zeros)(shape, dtype.as_numpy_dtype))
    with name_scope(name, word, [shape]) as scope:
        value: Any = True if dtype == dtypes.bool and one else False if dtype == dtypes.bool else "" if dtype == dtypes.string else int(one)
        if not is_tensor(shape):
            try:
                alone = isinstance(shape, (int, np.integer))  # a number for a shape is not taken for a small one
                known = [int(shape)] if alone else constant_op.shape_of(shape)
                if known is not None and not alone and (math.prod(known) < 1000 or not known):
                    return constant_op.fill(value, dtype, known, scope)
                shape = index_values.tensor(shape if known is None else known, None if known is None else "shape_as_tensor", wide=True)
            except (TypeError, ValueError, errors_of_shape):
                shape = index_values.tensor(shape, wide=True)
        if _static(shape).rank == 0 or not _static(shape).is_fully_defined() and _static(shape).rank not in (None, 1):
            shape = reshape(shape, [-1])
        output = _op("Fill", [shape, constant_op.constant(value, dtype=dtype)], {"index_type": shape.dtype.base_dtype}, scope)
        return output


errors_of_shape = OverflowError


def zeros(shape: Any, dtype: Any = dtypes.float32, name: str | None = None) -> Tensor:
    """A tensor of zeros."""
    return _filled(shape, dtype, name, "zeros")


def ones(shape: Any, dtype: Any = dtypes.float32, name: str | None = None) -> Tensor:
    """A tensor of ones."""
    return _filled(shape, dtype, name, "ones")


def zeros_like(tensor: Any, dtype: Any = None, name: str | None = None, optimize: bool = True) -> Tensor:
    """A tensor of zeros with the shape of `input`, and its dtype unless another is given."""
    with name_scope(name, "zeros_like", [tensor]) as scope:
        if not is_tensor(tensor):
            tensor = _convert(tensor, name="tensor")
        kind = dtypes.as_dtype(dtype) if dtype is not None else tensor.dtype
        if optimize and _static(tensor).is_fully_defined() and kind != dtypes.variant:
            return zeros(tensor.shape, dtype=kind, name=scope)
        if dtype is not None and kind != tensor.dtype and kind != dtypes.variant:
            return zeros(shape_internal(tensor, optimize=optimize), dtype=kind, name=scope)
        return _op("ZerosLike", [tensor], {}, scope)


def ones_like(tensor: Any, dtype: Any = None, name: str | None = None, optimize: bool = True) -> Tensor:
    """A tensor of ones with the shape of `input`, and its dtype unless another is given."""
    with name_scope(name, "ones_like", [tensor]) as scope:
        tensor = _convert(tensor, name="tensor")
        wanted = _shape_as_tensor(tensor) if optimize else shape_internal(tensor, optimize=False)
        result = ones(wanted, dtype=dtypes.as_dtype(dtype) if dtype is not None else tensor.dtype, name=scope)
        if hasattr(result, "set_shape") and isinstance(result, ops.Tensor):
            result.set_shape(tensor.shape)
        return result


def fill(dims: Any, value: Any, name: str | None = None) -> Tensor:
    """A tensor of shape `dims` with `value` everywhere."""
    return _op("Fill", [dims, value], {}, name)


def eye(num_rows: Any, num_columns: Any = None, batch_shape: Any = None, dtype: Any = dtypes.float32, name: str | None = None) -> Tensor:
    """Identity matrices: `num_rows` by `num_columns`, repeated over `batch_shape`."""
    with name_scope(name, "eye", [num_rows, num_columns, batch_shape]):
        square = num_columns is None
        batch: Any = [] if batch_shape is None else batch_shape
        num_rows = num_rows if is_tensor(num_rows) else index_values.whole(num_rows)
        columns = num_rows if square else num_columns if is_tensor(num_columns) else index_values.whole(num_columns)
        if isinstance(num_rows, int) and isinstance(columns, int):
            length: Any = min(num_rows, columns)
        else:
            length = _op("Minimum", [num_rows, columns], {})
        if not is_tensor(batch) and not is_tensor(length):
            diagonal_shape: Any = list(batch) + [length]
        else:
            diagonal_shape = concat((_sizes(batch), [length]), axis=0)
        diagonal = ones(diagonal_shape, dtype=dtype)
        if square:
            return _diag_v3(diagonal, {}, "diag")
        if is_tensor(batch) or is_tensor(num_rows) or is_tensor(columns):
            matrix_shape: Any = concat((_sizes(batch), [num_rows, columns]), axis=0)
        else:
            matrix_shape = list(batch) + [num_rows, columns]
        return _op("MatrixSetDiagV3", [zeros(matrix_shape, dtype=dtype), diagonal, 0], {"align": "RIGHT_LEFT"}, "set_diag")


def _sizes(batch: Any) -> Any:
    """Of leading dimensions; none of them are an int32 list of nothing."""
    return index_values.tensor(batch, "shape", wide=True) if is_tensor(batch) or len(batch) else constant_op.constant([], dtypes.int32, name="shape")


def _diag_v3(diagonal: Any, _: Any, name: str | None) -> Any:
    return _op("MatrixDiagV3", [diagonal, 0, -1, -1, 0], {"align": "RIGHT_LEFT"}, name)


def one_hot(
    indices: Any, depth: Any, on_value: Any = None, off_value: Any = None, axis: Any = None, dtype: Any = None,
    name: str | None = None,
) -> Tensor:
    """`on_value` at each index of a new dimension of `depth`, `off_value` elsewhere."""
    with name_scope(name, "one_hot", [indices, depth, on_value, off_value]) as scope:
        given = [v for v in (on_value, off_value) if v is not None]
        if given:
            if on_value is not None:
                on_value = _convert(on_value, dtype_hint=dtype)
            if off_value is not None:
                off_value = _convert(off_value, dtype_hint=dtype)
            kinds = [v.dtype.base_dtype for v in (on_value, off_value) if v is not None]
            wanted = dtypes.as_dtype(dtype) if dtype is not None else kinds[0]
            for kind, word in zip(kinds, ("on_value", "off_value")):
                if kind != wanted:
                    raise TypeError(f"dtype {kind.name} of {word} does not match dtype parameter {wanted.name}")
        else:
            wanted = dtypes.as_dtype(dtype) if dtype is not None else dtypes.float32
        if on_value is None:
            on_value = _convert(1, wanted, name="on_value")
        if off_value is None:
            off_value = _convert(0, wanted, name="off_value")
        return _op("OneHot", [indices, depth, on_value, off_value], {"axis": -1 if axis is None else axis}, scope)


# ---- Joining and cutting.


def concat(values: Any, axis: Any, name: str = "concat") -> Tensor:
    """Tensors joined along an existing dimension `axis`."""
    if not isinstance(values, (list, tuple)):
        values = [values]
    if len(values) == 1:
        with name_scope(name):
            index_values.tensor(axis, "concat_dim").shape.assert_has_rank(0)
            return identity(values[0], name=name)
    return _op("ConcatV2", [values, axis], {}, name)


def stack(values: Any, axis: int = 0, name: str = "stack") -> Tensor:
    """Tensors of one shape joined along a new dimension."""
    if axis == 0:
        try:
            value_shape = _convert_if_constant(values, name)
            if value_shape is not None:
                return value_shape
            if not all(is_tensor(v) for v in values) and constant_op._contains_tensor(values):
                return _convert(values, name=name)  # plain numbers among tensors
        except (TypeError, ValueError, NotImplementedError):
            pass
    first = getattr(values[0], "shape", None) if len(values) else None
    known = first if isinstance(first, tensor_shape.TensorShape) else None
    if known is None and len(values):
        known = _convert(values[0], name="value_0").shape if not is_tensor(values[0]) else values[0].shape
    if known is not None and known.rank is not None:
        n = known.rank + 1
        if not -n <= axis < n:
            raise ValueError(f"Argument `axis` = {axis} not in range [{-n}, {n})")
    return _op("Pack", [list(values)], {"axis": axis}, name)


def _convert_if_constant(values: Any, name: str) -> Any:
    if any(is_tensor(v) for v in _leaves(values)):
        return None
    return _convert(values, name=name)


def _leaves(values: Any) -> Any:
    if isinstance(values, (list, tuple)):
        for v in values:
            yield from _leaves(v)
    else:
        yield values


def parallel_stack(values: Any, name: str = "parallel_stack") -> Tensor:
    """Tensors of one shape joined along a new dimension."""
    return stack(values, 0, name)


def unstack(value: Any, num: int | None = None, axis: int = 0, name: str = "unstack") -> list[Tensor]:
    """The slices of `value` along `axis`, as a list."""
    if num is None:
        value = _convert(value)
        known = value.shape
        if known.rank is not None:
            if not -known.rank <= axis < known.rank:
                raise ValueError(f"Argument `axis` = {axis} not in range [{-known.rank}, {known.rank})")
            num = known.as_list()[axis]
        if num is None:
            raise ValueError(f"Cannot infer argument `num` from shape {known}")
    return _op("Unpack", [value], {"num": num, "axis": axis}, name)


def split(value: Any, num_or_size_splits: Any, axis: Any = 0, num: int | None = None, name: str = "split") -> list[Tensor]:
    """Parts of `value` along `axis`: equal ones for a number, else of the listed sizes (-1: the rest)."""
    if isinstance(num_or_size_splits, (int, np.integer, tensor_shape.Dimension)):
        return _op("Split", [axis, value], {"num_split": int(num_or_size_splits)}, name)
    sizes = _convert(num_or_size_splits)
    if sizes.shape.rank == 0:
        raise ValueError("Rank-0 tensors are not supported as the num_or_size_splits argument to split. Argument provided: %s" % (num_or_size_splits,))
    if num is None:
        known = sizes.shape
        num = known.as_list()[0] if known.rank is not None else None
        if num is None:
            raise ValueError(f"Cannot infer argument `num` from shape {num_or_size_splits}")
    return _op("SplitV", [value, sizes, axis], {"num_split": num}, name)


def slice(input_: Any, begin: Any, size: Any, name: str | None = None) -> Tensor:  # noqa: A001
    """The part of `input_` that starts at `begin` and has `size` (-1: up to the end)."""
    return _op("Slice", [input_, begin, size], {}, name)


def pad(tensor: Any, paddings: Any, mode: str = "CONSTANT", name: str | None = None, constant_values: Any = 0) -> Tensor:
    """`tensor` with margins of the widths `paddings` ([before, after] a dimension), filled by a constant, by reflection or
    symmetrically."""
    word = mode.upper()
    if word == "CONSTANT":
        if not is_tensor(constant_values) and np.ndim(constant_values) == 0 and constant_values == 0:
            return _op("Pad", [tensor, paddings], {}, name)
        return _op("PadV2", [tensor, paddings, constant_values], {}, name)
    if word not in ("REFLECT", "SYMMETRIC"):
        raise ValueError(f"Value of argument `mode` expected to be one of \"CONSTANT\", \"REFLECT\", or \"SYMMETRIC\". Received `mode` = {mode}")
    return _op("MirrorPad", [tensor, paddings], {"mode": word}, name)


def roll(input: Any, shift: Any, axis: Any, name: str | None = None) -> Tensor:  # noqa: A002
    """Elements moved by `shift` along `axis`; what leaves one end enters the other."""
    return _op("Roll", [input, shift, axis], {}, name)


def reverse_sequence(
    input: Any, seq_lengths: Any, seq_axis: Any = None, batch_axis: Any = None, name: str | None = None,  # noqa: A002
    seq_dim: Any = None, batch_dim: Any = None,
) -> Tensor:
    """Reverses the first `seq_lengths[i]` steps of each sequence of a batch."""
    seq = seq_dim if seq_axis is None else seq_axis
    batch = batch_dim if batch_axis is None else batch_axis
    return _op("ReverseSequence", [input, seq_lengths], {"seq_dim": seq, "batch_dim": batch or 0}, name)


# ---- Picking.


def gather(params: Any, indices: Any, validate_indices: Any = None, name: str | None = None, axis: Any = None, batch_dims: int = 0) -> Tensor:
    """Slices of `params` at `indices` along `axis`; `batch_dims` leading dimensions run in parallel."""
    if axis is None:
        axis = batch_dims
    if constant_op.constant_value(axis) != 0 if is_tensor(axis) else axis != 0:
        return _op("GatherV2", [params, indices, axis], {"batch_dims": batch_dims}, name)
    if hasattr(params, "sparse_read"):
        return params.sparse_read(indices, name=name)
    return _op("GatherV2", [params, indices, axis], {"batch_dims": batch_dims}, name)


def gather_v2(params: Any, indices: Any, validate_indices: Any = None, axis: Any = None, batch_dims: int = 0, name: str | None = None) -> Any:
    return gather(params, indices, validate_indices, name, axis, batch_dims)


def gather_nd(params: Any, indices: Any, name: str | None = None, batch_dims: int = 0, bad_indices_policy: str = "") -> Tensor:
    """Elements or slices of `params` at index vectors, the last dimension of `indices`."""
    if batch_dims:
        raise NotImplementedError("gather_nd with batch_dims")
    return _op("GatherNd", [params, indices], {}, name)


def where(condition: Any, x: Any = None, y: Any = None, name: str | None = None) -> Tensor:
    """Elements of `x` where the condition holds, else of `y`; without both, the indices of the true elements."""
    if x is None and y is None:
        with name_scope(name, "Where", [condition]) as scope:
            condition = _convert(condition, dtype_hint=dtypes.bool, name="condition")
            return _op("Where", [condition], {}, scope)
    if x is None or y is None:
        raise ValueError("x and y must both be non-None or both be None.")
    return _op("Select", [condition, x, y], {}, name)


def where_v2(condition: Any, x: Any = None, y: Any = None, name: str | None = None) -> Any:
    """Elements of `x` where the condition holds, else of `y`, with broadcasting; without both, the indices of the true elements."""
    if x is None and y is None:
        return where(condition, name=name)
    if x is None or y is None:
        raise ValueError("x and y must both be non-None or both be None.")
    return _op("SelectV2", [condition, x, y], {}, name)


def boolean_mask(tensor: Any, mask: Any, name: str = "boolean_mask", axis: Any = None) -> Tensor:
    """The elements of `tensor` where `mask` is true; the mask covers dimensions from `axis` on."""
    with name_scope(name, values=[tensor, mask]):
        tensor = _convert(tensor, name="tensor")
        mask = _convert(mask, name="mask")
        n = mask.shape.rank
        if n == 0:
            raise ValueError("mask cannot be scalar.")
        if n is None:
            raise ValueError("Number of mask dimensions must be specified, even if some dimensions are None.  E.g. shape=[None] is ok, but shape=None is not.")
        at = 0 if axis is None else axis
        tensor.shape[at : at + n].assert_is_compatible_with(mask.shape)
        from emplace.framework import math_ops

        known = _static(tensor)
        leading = math_ops.reduce_prod(shape(tensor)[at : at + n], [0])
        tensor = reshape(tensor, concat([shape(tensor)[:at], [leading], shape(tensor)[at + n :]], 0))
        if known.rank is not None and isinstance(tensor, ops.Tensor):
            first = known[at : at + n].num_elements()
            tensor.set_shape(known.as_list()[:at] + [first] + known.as_list()[at + n :])
        flat = reshape(mask, [-1])
        picked = squeeze(where(flat), axis=[1])
        return gather(tensor, picked, axis=at)


def sequence_mask(lengths: Any, maxlen: Any = None, dtype: Any = dtypes.bool, name: str | None = None) -> Tensor:
    """True for the first `lengths[i]` positions of each row of `maxlen`."""
    from emplace.framework import math_ops

    with name_scope(name, "SequenceMask", [lengths, maxlen]):
        given, lengths = lengths, _convert(lengths)
        if maxlen is None:
            maxlen = math_ops.reduce_max(lengths, math_ops._dims(lengths, None))
            maxlen = _op("Maximum", [constant_op.constant(0, maxlen.dtype), maxlen], {})
        else:
            maxlen = _convert(maxlen)
            index_values.check(given, maxlen.dtype.base_dtype)
            if lengths.dtype.is_integer and lengths.dtype.max > maxlen.dtype.max:
                lengths = index_values.narrow(lengths)
        rows = _op("Range", [constant_op.constant(0, maxlen.dtype), maxlen, constant_op.constant(1, maxlen.dtype)], {})
        matrix = _op("Cast", [expand_dims(lengths, -1)], {"DstT": maxlen.dtype.base_dtype})
        result = rows < matrix
        if dtype is None or result.dtype.is_compatible_with(dtype):
            return result
        return math_ops.cast(result, dtype)


def meshgrid(*args: Any, **kwargs: Any) -> list[Tensor]:
    """Coordinate grids of vectors; `indexing` is "xy" or "ij"."""
    indexing, name = kwargs.pop("indexing", "xy"), kwargs.pop("name", "meshgrid")
    if kwargs:
        raise TypeError(f"'{next(iter(kwargs))}' is an invalid keyword argument for this function.")
    if indexing not in ("xy", "ij"):
        raise ValueError(f"Argument `indexing` parameter must be either 'xy' or 'ij', got '{indexing}'")
    with name_scope(name, "meshgrid", args):
        n = len(args)
        parts = []
        for i, x in enumerate(args):
            parts.append(reshape(x if ops.is_tensor(x) else stack(x), (1,) * i + (-1,) + (1,) * (n - i - 1)))
        sizes = [size(x) for x in args]
        dtype = _convert(args[0]).dtype.base_dtype
        if indexing == "xy" and n > 1:
            parts[0] = reshape(parts[0], (1, -1) + (1,) * (n - 2))
            parts[1] = reshape(parts[1], (-1, 1) + (1,) * (n - 2))
            sizes[0], sizes[1] = sizes[1], sizes[0]
        ones_ = ones(sizes, dtype)
        return [p * ones_ for p in parts]


def unique(x: Any, out_idx: Any = dtypes.int32, name: str | None = None) -> Outputs["Unique"]:
    """The distinct values in the order of their first appearance, and for each element the index of its value."""
    return _op("Unique", [x], {"out_idx": out_idx}, name)


def unique_with_counts(x: Any, out_idx: Any = dtypes.int32, name: str | None = None) -> Outputs["UniqueWithCounts"]:
    """As `unique`, and how often each value occurs."""
    return _op("UniqueWithCounts", [x], {"out_idx": out_idx}, name)


def setdiff1d(x: Any, y: Any, index_dtype: Any = dtypes.int32, name: str | None = None) -> Outputs["ListDiff"]:
    """The values of `x` that are not in `y`, in order, and their positions."""
    return _op("ListDiff", [x, y], {"out_idx": index_dtype}, name)


def matrix_diag(
    diagonal: Any, name: str = "diag", k: Any = 0, num_rows: Any = -1, num_cols: Any = -1, padding_value: Any = 0,
    align: str = "RIGHT_LEFT",
) -> Tensor:
    """Matrices with `diagonal` on the diagonals `k`, `padding_value` elsewhere."""
    if hasattr(diagonal, "dtype") and diagonal.dtype == dtypes.bool:
        padding_value = bool(padding_value)
    return _op("MatrixDiagV3", [diagonal, k, num_rows, num_cols, padding_value], {"align": align}, name)


def matrix_diag_part(input: Any, name: str = "diag_part", k: Any = 0, padding_value: Any = 0, align: str = "RIGHT_LEFT") -> Tensor:  # noqa: A002
    """The diagonals `k` of each innermost matrix, aligned as `align` says."""
    if hasattr(input, "dtype") and input.dtype == dtypes.bool:
        padding_value = bool(padding_value)
    return _op("MatrixDiagPartV3", [input, k, padding_value], {"align": align}, name)


def matrix_set_diag(input: Any, diagonal: Any, name: str = "set_diag", k: Any = 0, align: str = "RIGHT_LEFT") -> Tensor:  # noqa: A002
    """`input` with the diagonals `k` of its innermost matrices replaced."""
    return _op("MatrixSetDiagV3", [input, diagonal, k], {"align": align}, name)


def tensor_diag_part(input: Any, name: str | None = None) -> Tensor:  # noqa: A002
    """The elements of a tensor of even rank whose two halves of indices agree."""
    return _op("DiagPart", [input], {}, name)


def space_to_depth(input: Any, block_size: int, name: str | None = None, data_format: str = "NHWC") -> Tensor:  # noqa: A002
    """Moves blocks of height and width into the channel dimension."""
    return _op("SpaceToDepth", [input], {"block_size": block_size, "data_format": data_format}, name)


def depth_to_space(input: Any, block_size: int, name: str | None = None, data_format: str = "NHWC") -> Tensor:  # noqa: A002
    """Moves blocks of the channel dimension into height and width."""
    return _op("DepthToSpace", [input], {"block_size": block_size, "data_format": data_format}, name)


def guarantee_const(input: Any, name: str | None = None) -> Tensor:  # noqa: A002
    """`input`; a promise that it does not change."""
    return _op("GuaranteeConst", [input], {}, name)


def tensor_scatter_nd_update(tensor: Any, indices: Any, updates: Any, name: str | None = None) -> Tensor:
    """A copy of `tensor` with `updates` at `indices`."""
    return _op("TensorScatterUpdate", [tensor, indices, updates], {}, name)


def searchsorted(sorted_sequence: Any, values: Any, side: str = "left", out_type: Any = dtypes.int32, name: str | None = None) -> Tensor:
    """Where each value would be inserted in the sorted last dimension, on its left or right `side`."""
    op = "UpperBound" if side == "right" else "LowerBound"
    rows = [_rows_of(_convert(given)) for given in (sorted_sequence, values)]
    return reshape(_op(op, rows, {"out_type": out_type}, name), shape(values))


def _rows_of(value: Any) -> Any:
    """Its last dimension as the rows of a matrix; -1 would not do where that is empty."""
    sizes = shape(value)
    known = value.shape.as_list() if value.shape.is_fully_defined() else None
    rows = _op("Prod", [sizes[:-1], 0], {"keep_dims": False}) if known is None else int(np.prod(known[:-1]))
    return reshape(value, [rows, sizes[-1]])
