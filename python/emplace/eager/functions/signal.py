"""Frames of signals, windows, cosine transforms."""

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
    n = _size(signal, axis)
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


def _size(x: Any, axis: int) -> Any:
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
    count, length = _size(signal, -2), _size(signal, -1)
    outer = [_size(signal, i) for i in range(signal.shape.rank - 2)]
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


def _cosines(kind: int, n: int) -> np.ndarray:
    """[n, n]: the transform of a row is the row times this."""
    j, k = np.arange(n)[:, None], np.arange(n)[None, :]
    if kind == 1:
        return np.where((j == 0) | (j == n - 1), 1.0, 2.0) * np.cos(math.pi / (n - 1) * j * k)
    if kind == 2:
        return 2 * np.cos(math.pi / n * (j + 0.5) * k)
    if kind == 3:
        return np.where(j == 0, 1.0, 2 * np.cos(math.pi / n * j * (k + 0.5)))
    if kind == 4:
        return 2 * np.cos(math.pi / n * (j + 0.5) * (k + 0.5))
    raise AssertionError(kind)


def _unknown_cosines(kind: int, n: Any, dtype: Any) -> Any:
    """The same where n is a tensor."""
    j, k = (math_ops.cast(math_ops.range(n), dtypes.float64)[i] for i in ((slice(None), None), (None, slice(None))))
    size = math_ops.cast(n, dtypes.float64)
    if kind == 1:
        edge = math_ops.cast(math_ops.equal(j, 0.0), dtypes.float64) + math_ops.cast(math_ops.equal(j, size - 1.0), dtypes.float64)
        return (2.0 - edge) * _op("Cos", [math.pi / (size - 1.0) * j * k], {})
    turned = _op("Cos", [math.pi / size * (j + (0.0 if kind == 3 else 0.5)) * (k + (0.0 if kind == 2 else 0.5))], {})
    return array_ops.where_v2(math_ops.equal(j, 0.0), array_ops.ones_like(turned), 2.0 * turned) if kind == 3 else 2.0 * turned


def dct(input: Any, type: int = 2, n: Any = None, axis: int = -1, norm: Any = None, name: str | None = None) -> Tensor:  # noqa: A002
    """Discrete cosine transform of type 1 to 4 along the last dimension, cut or padded to `n`; "ortho" as `norm` makes it
    orthonormal."""
    if axis != -1:
        raise NotImplementedError(f"axis must be -1. Received: {axis}")
    if norm not in (None, "ortho"):
        raise ValueError(f"Unknown normalization. Expected None or 'ortho', got: {norm}")
    if type not in (1, 2, 3, 4):
        raise ValueError("Types I, II, III and IV (I)DCT are supported.")
    if type == 1 and norm == "ortho":
        raise ValueError("Normalization is not supported for the Type-I DCT.")
    x = _convert(input)
    if x.shape.as_list()[-1] is None and n is None:
        return _unknown_dct(x, type, norm)
    if n is not None:
        size = x.shape[-1]
        x = x[..., : index_values.whole(n)] if size >= index_values.whole(n) else array_ops.pad(x, [[0, 0]] * (x.shape.rank - 1) + [[0, index_values.whole(n) - size]])
    size = x.shape[-1]
    table = _cosines(type, size)
    if norm == "ortho":
        table = table * math.sqrt(0.5 / size)
        if type in (2, 3):
            table[:, 0] *= math.sqrt(0.5) if type == 2 else 1.0
            table[0, :] *= math.sqrt(2.0) if type == 3 else 1.0
    return math_ops.tensordot(x, _convert(table.astype(x.dtype.as_numpy_dtype)), 1)


def _unknown_dct(x: Any, kind: int, norm: Any) -> Any:
    n = array_ops.shape(x)[-1]
    table = _unknown_cosines(kind, n, x.dtype)
    if norm == "ortho":
        table = table * math_ops.sqrt(0.5 / math_ops.cast(n, dtypes.float64))
        first = math_ops.cast(math_ops.equal(math_ops.range(n), 0), dtypes.float64)
        if kind == 2:
            table = table * (1.0 - (1.0 - math.sqrt(0.5)) * first)[None, :]
        elif kind == 3:
            table = table * (1.0 + (math.sqrt(2.0) - 1.0) * first)[:, None]
    return math_ops.tensordot(x, math_ops.cast(table, x.dtype), 1)


def idct(input: Any, type: int = 2, n: Any = None, axis: int = -1, norm: Any = None, name: str | None = None) -> Tensor:  # noqa: A002
    """Inverse of the discrete cosine transform of this type, up to a factor unless `norm` is "ortho"."""
    return dct(input, {2: 3, 3: 2}.get(type, type), n, axis, norm, name)


def mdct(signals: Any, frame_length: Any, window_fn: Any = vorbis_window, pad_end: bool = False, norm: Any = None, name: str | None = None) -> Tensor:
    """Modified discrete cosine transform of half-overlapping frames; the frame length is a multiple of 4."""
    signals = _convert(signals)
    length = index_values.whole(frame_length)
    if length % 4:
        raise ValueError(f"The frame length must be a multiple of 4. Received: frame_length={length}.")
    frames = frame(signals, length, length // 2, pad_end)
    frames = frames * (window_fn(length, dtype=signals.dtype) if window_fn is not None else _convert(math.sqrt(0.5), signals.dtype))
    a, b, c, d = array_ops.split(frames, 4, -1)
    folded = array_ops.concat([-_turned(c) - d, a - _turned(b)], -1)
    return dct(folded, 4, norm=norm)


def _turned(x: Any) -> Any:
    return _op("ReverseV2", [x, [-1]], {})


def inverse_mdct(mdcts: Any, window_fn: Any = vorbis_window, norm: Any = None, name: str | None = None) -> Tensor:
    """The signal from its modified discrete cosine transform, by adding overlapping frames."""
    mdcts = _convert(mdcts)
    half = mdcts.shape[-1]
    parts = dct(mdcts, 4, norm=norm)
    if norm is None:
        parts = parts * _convert(0.5 / half, mdcts.dtype)
    left, right = parts[..., : half // 2], parts[..., half // 2 :]
    frames = array_ops.concat([right, -_turned(right), -_turned(left), -left], -1)
    frames = frames * (window_fn(2 * half, dtype=mdcts.dtype) if window_fn is not None else _convert(math.sqrt(0.5), mdcts.dtype))
    return overlap_and_add(frames, half)
