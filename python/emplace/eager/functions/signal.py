"""Frames of signals, windows."""

from __future__ import annotations

import math
from typing import Any, TYPE_CHECKING

import numpy as np

from emplace.framework import array_ops, dtypes, index_values, math_ops, ops
from emplace.framework.dispatch import execute as _op
from emplace.framework.ops import convert_to_tensor as _convert

if TYPE_CHECKING:
    from emplace.framework.tensor import Tensor


def frame(
    signal: Any, frame_length: Any, frame_step: Any, pad_end: bool = False, pad_value: Any = 0, axis: int = -1, name: str | None = None
) -> Tensor:
    """Pieces of `frame_length`, one every `frame_step`; they take the place of the axis."""
    signal = _convert(signal)
    length, step = index_values.whole(frame_length), index_values.whole(frame_step)
    if not -signal.shape.rank <= axis < signal.shape.rank:
        raise IndexError("list index out of range")
    axis = index_values.axis(axis, signal.shape.rank)
    n = size(signal, axis)
    if isinstance(n, int):
        count: Any = -(-n // step) if pad_end else max(0, 1 + (n - length) // step)
        missing: Any = max(0, (count - 1) * step + length - n) if pad_end else 0
    else:
        count = -(-n // step) if pad_end else _op("Maximum", [0, 1 + (n - length) // step], {})
        missing = _op("Maximum", [0, (count - 1) * step + length - n], {}) if pad_end else 0
    if not isinstance(missing, int) or missing:
        paddings = [[0, missing if a == axis else 0] for a in range(signal.shape.rank)]
        signal = _op("PadV2", [signal, paddings, _convert(pad_value, signal.dtype)], {})
    return array_ops.gather(signal, _places(count, step, length), axis=axis)


def size(x: Any, axis: int) -> Any:
    """How long an axis is: a number, or a tensor where it is not known yet."""
    n = x.shape.as_list()[axis]
    return array_ops.shape(x)[axis] if n is None else n


def _places(count: Any, step: int, length: Any) -> Any:
    """[count, length]: where the elements of each frame stand."""
    if isinstance(count, int) and isinstance(length, int):
        return (np.arange(count)[:, None] * step + np.arange(length)[None, :]).astype(np.int32)
    return math_ops.range(count)[:, None] * step + math_ops.range(length)[None, :]


def overlap_and_add(signal: Any, frame_step: Any, name: str | None = None) -> Tensor:
    """Frames laid over each other, `frame_step` apart, and added."""
    signal = _convert(signal)
    step = index_values.whole(frame_step)
    count, length = size(signal, -2), size(signal, -1)
    outer = [size(signal, i) for i in range(signal.shape.rank - 2)]
    total = (count - 1) * step + length
    at = array_ops.reshape(_convert(_places(count, step, length)), [-1])
    flat = array_ops.reshape(signal, [-1, count * length])
    summed = _op("UnsortedSegmentSum", [array_ops.transpose(flat), at, total], {})
    return array_ops.reshape(array_ops.transpose(summed), [*outer, total])


def _floating(dtype: Any) -> Any:
    dtype = dtypes.as_dtype(dtype)
    if not dtype.is_floating:
        raise ValueError(f"dtype must be a floating point type. Found {dtype!s}")
    return dtype


def _raised_cosine(window_length: Any, periodic: bool, dtype: Any, a: float, b: float) -> Any:
    dtype = _floating(dtype)
    if isinstance(window_length, ops.SymbolicTensor):
        length = math_ops.cast(window_length, dtype)
        size = length + ((1 - length % 2) if periodic else 0.0) - 1.0
        return a - b * _op("Cos", [2 * math.pi * math_ops.cast(math_ops.range(window_length), dtype) / size], {})
    n = index_values.whole(window_length)
    if n == 1:
        return array_ops.ones([1], dtype)
    even = 1 - n % 2
    size = n + (periodic and even) - 1
    values = a - b * np.cos(2 * math.pi * np.arange(n) / size)
    return math_ops.cast(_convert(values), dtype)


def hann_window(window_length: Any, periodic: bool = True, dtype: Any = dtypes.float32, name: str | None = None) -> Tensor:
    """A raised cosine that falls to 0 at its ends; `periodic` ones suit the Fourier transform, others filters."""
    return _raised_cosine(window_length, periodic, dtype, 0.5, 0.5)


def hamming_window(window_length: Any, periodic: bool = True, dtype: Any = dtypes.float32, name: str | None = None) -> Tensor:
    """A raised cosine that falls to 0.08 at its ends; `periodic` as for `hann_window`."""
    return _raised_cosine(window_length, periodic, dtype, 0.54, 0.46)


def vorbis_window(window_length: Any, dtype: Any = dtypes.float32, name: str | None = None) -> Tensor:
    """The window of the Vorbis codec, whose squares half a window apart add up to 1."""
    n = index_values.whole(window_length)
    values = np.sin(math.pi / 2 * np.sin(math.pi / n * (np.arange(n) + 0.5)) ** 2)
    return math_ops.cast(_convert(values), dtype)


def kaiser_window(window_length: Any, beta: Any = 12.0, dtype: Any = dtypes.float32, name: str | None = None) -> Tensor:
    """Kaiser's window; a greater `beta` trades a wider main lobe for lower side lobes."""
    return math_ops.cast(_convert(np.kaiser(index_values.whole(window_length), float(beta))), dtype)
