"""Slicing: `t[1:, ..., None, ::2]`."""

from __future__ import annotations

from typing import Any

import numpy as np

from emplace.framework import dtypes, index_values, ops
from emplace.framework.dispatch import execute as _op

_INDEX_WORDS = "Only integers, slices (`:`), ellipsis (`...`), tf.newaxis (`None`) and scalar tf.int32/tf.int64 tensors are valid indices, got {}"


_SMALL = 2**31 - 1
_ONE = {"begin_mask": 0, "end_mask": 0, "shrink_axis_mask": 1, "new_axis_mask": 0, "ellipsis_mask": 0}  # of `t[i]`


def _check_index(index: Any) -> None:
    if isinstance(index, (int, np.integer)) and not isinstance(index, bool):
        return
    if ops.is_tensor(index) or hasattr(index, "_dense_var_to_tensor"):
        if index.dtype.base_dtype in (dtypes.int16, dtypes.int32, dtypes.int64) and index.shape.rank in (0, None):
            return
    elif hasattr(index, "__index__") and not isinstance(index, bool):
        return
    raise TypeError(_INDEX_WORDS.format(repr(index)))


class _Spec:
    def __init__(self) -> None:
        self.begin: list[Any] = []
        self.end: list[Any] = []
        self.strides: list[Any] = []
        self.begin_mask = self.end_mask = self.ellipsis_mask = self.new_axis_mask = self.shrink_axis_mask = 0

    def masks(self) -> dict[str, int]:
        return {
            "begin_mask": self.begin_mask,
            "end_mask": self.end_mask,
            "shrink_axis_mask": self.shrink_axis_mask,
            "new_axis_mask": self.new_axis_mask,
            "ellipsis_mask": self.ellipsis_mask,
        }


def _slice_of(spec: _Spec, s: slice, bit: int) -> None:
    symbolic = next((b for b in (s.start, s.stop, s.step) if _is_symbolic(b)), None)

    def bound(given: Any, default: int) -> Any:
        if given is not None:
            _check_index(given)
            return given
        return default if symbolic is None else ops.convert_to_tensor(default, dtype=symbolic.dtype.base_dtype)

    spec.begin.append(bound(s.start, 0))
    spec.end.append(bound(s.stop, 0))
    spec.strides.append(bound(s.step, 1))
    spec.begin_mask |= bit if s.start is None else 0
    spec.end_mask |= bit if s.stop is None else 0


def _is_symbolic(x: Any) -> bool:
    return ops.is_tensor(x) and not hasattr(x, "_numpy_of_eager")


def parse(items: Any) -> _Spec:
    if not isinstance(items, (list, tuple)):
        items = [items]
    spec = _Spec()
    for i, s in enumerate(items):
        bit = 1 << i
        if isinstance(s, slice):
            _slice_of(spec, s, bit)
        elif s is Ellipsis:
            spec.begin.append(0)
            spec.end.append(0)
            spec.strides.append(1)
            spec.ellipsis_mask |= bit
        elif s is None:
            spec.begin.append(0)
            spec.end.append(0)
            spec.strides.append(1)
            spec.new_axis_mask |= bit
        else:
            _check_index(s)
            spec.begin.append(s)
            spec.end.append(s + 1)
            wide = _is_symbolic(s) and s.dtype.base_dtype != dtypes.int32
            spec.strides.append(ops.convert_to_tensor(1, dtype=s.dtype.base_dtype) if wide else 1)
            spec.shrink_axis_mask |= bit
    return spec


def _are_numbers(spec: _Spec) -> bool:
    for part in (spec.begin, spec.end, spec.strides):
        for i in part:
            if type(i) is not int or not -_SMALL <= i <= _SMALL:
                return False
    return bool(spec.begin)


def getitem(tensor: Any, slice_spec: Any, var: Any = None) -> Any:
    if type(slice_spec) is int and hasattr(tensor, "_numpy_of_eager") and not ops._default_graphs.stack and -_SMALL < slice_spec < _SMALL:
        return _op("StridedSlice", [tensor, [slice_spec], [slice_spec + 1], [1]], _ONE)
    from emplace.framework import array_ops

    if not isinstance(slice_spec, (list, tuple, slice)) and slice_spec is not None and ops.is_tensor(slice_spec):
        if slice_spec.dtype == dtypes.bool:
            return array_ops.boolean_mask(tensor=tensor, mask=slice_spec)
    elif isinstance(slice_spec, (list, np.ndarray)) and np.asarray(slice_spec).dtype == np.bool_:
        return array_ops.boolean_mask(tensor=tensor, mask=slice_spec)
    spec = parse(slice_spec)
    if hasattr(tensor, "_numpy_of_eager") and not ops._default_graphs.stack and _are_numbers(spec):
        return _op("StridedSlice", [tensor, spec.begin, spec.end, spec.strides], spec.masks())
    with ops.name_scope(None, "strided_slice", [tensor, *spec.begin, *spec.end, *spec.strides]) as scope:
        if spec.begin:
            begin, end, strides = (array_ops.stack(p) for p in (spec.begin, spec.end, spec.strides))
            kinds = {p.dtype.base_dtype for p in (begin, end, strides)}
            if dtypes.int64 in kinds and len(kinds) > 1:
                from emplace.framework import math_ops

                begin, end, strides = (math_ops.cast(p, dtypes.int64) for p in (begin, end, strides))
        else:
            var = None
            empty = ops.convert_to_tensor([], dtype=dtypes.int32)
            begin = end = strides = empty
        return strided_slice(tensor, begin, end, strides, var=var, name=scope, **spec.masks())


def strided_slice(
    input_: Any, begin: Any, end: Any, strides: Any = None, begin_mask: int = 0, end_mask: int = 0,
    ellipsis_mask: int = 0, new_axis_mask: int = 0, shrink_axis_mask: int = 0, var: Any = None,
    name: str | None = None,
) -> Any:
    """What `input_[begin:end:strides]` gives, with masks for omitted bounds, ellipsis, new and dropped dimensions."""
    from emplace.framework import array_ops

    if strides is None:
        strides = array_ops.ones_like(begin)
        if not isinstance(begin, ops.Tensor) and not isinstance(end, ops.Tensor) and index_values.beyond([begin, end], dtypes.int32):
            strides = array_ops.ones_like(begin, dtypes.int64)
    masks = {
        "begin_mask": begin_mask,
        "end_mask": end_mask,
        "ellipsis_mask": ellipsis_mask,
        "new_axis_mask": new_axis_mask,
        "shrink_axis_mask": shrink_axis_mask,
    }
    out = _op("StridedSlice", [input_, begin, end, strides], masks, name)
    if var is not None:
        scope_name = name or "strided_slice"

        def assign(value: Any, name: str | None = None) -> Any:
            return var._assign_slice(begin, end, strides, value, masks, name or (scope_name + "_assign"))

        out.assign = assign
    return out
