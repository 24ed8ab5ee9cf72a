"""Cosine transforms along the last dimension, by the Fourier transform of as many values (or half as many)."""

from __future__ import annotations

import functools
import math
from typing import Any, TYPE_CHECKING

import numpy as np

from emplace.eager.functions import signal as _signal, spectra
from emplace.framework import array_ops, dtypes, index_values, math_ops
from emplace.framework.dispatch import execute as _op
from emplace.framework.ops import convert_to_tensor as _convert

if TYPE_CHECKING:
    from emplace.framework.tensor import Tensor


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
    if n is not None:
        size = x.shape[-1]
        x = x[..., : index_values.whole(n)] if size >= index_values.whole(n) else array_ops.pad(x, [[0, 0]] * (x.shape.rank - 1) + [[0, index_values.whole(n) - size]])
    if type == 1 and x.shape[-1] is not None and x.shape[-1] < 2:
        raise ValueError("Type-I DCT requires the dimension to be greater than one.")
    return _transform(x, type, _signal.size(x, x.shape.rank - 1), norm == "ortho")


def idct(input: Any, type: int = 2, n: Any = None, axis: int = -1, norm: Any = None, name: str | None = None) -> Tensor:  # noqa: A002
    """Inverse of the discrete cosine transform of this type, up to a factor unless `norm` is "ortho"."""
    return dct(input, {2: 3, 3: 2}.get(type, type), n, axis, norm, name)


def mdct(signals: Any, frame_length: Any, window_fn: Any = _signal.vorbis_window, pad_end: bool = False, norm: Any = None, name: str | None = None) -> Tensor:
    """Modified discrete cosine transform of half-overlapping frames; the frame length is a multiple of 4."""
    signals = _convert(signals)
    length = index_values.whole(frame_length)
    if length % 4:
        raise ValueError(f"The frame length must be a multiple of 4. Received: frame_length={length}.")
    frames = _signal.frame(signals, length, length // 2, pad_end)
    frames = frames * (window_fn(length, dtype=signals.dtype) if window_fn is not None else _convert(math.sqrt(0.5), signals.dtype))
    a, b, c, d = array_ops.split(frames, 4, -1)
    folded = array_ops.concat([-_backwards(c) - d, a - _backwards(b)], -1)
    return dct(folded, 4, norm=norm)


def inverse_mdct(mdcts: Any, window_fn: Any = _signal.vorbis_window, norm: Any = None, name: str | None = None) -> Tensor:
    """The signal from its modified discrete cosine transform, by adding overlapping frames."""
    mdcts = _convert(mdcts)
    half = mdcts.shape[-1]
    parts = dct(mdcts, 4, norm=norm)
    if norm is None:
        parts = parts * _convert(0.5 / half, mdcts.dtype)
    left, right = parts[..., : half // 2], parts[..., half // 2 :]
    frames = array_ops.concat([right, -_backwards(right), -_backwards(left), -left], -1)
    frames = frames * (window_fn(2 * half, dtype=mdcts.dtype) if window_fn is not None else _convert(math.sqrt(0.5), mdcts.dtype))
    return _signal.overlap_and_add(frames, half)


def mfccs_from_log_mel_spectrograms(log_mel_spectrograms: Any, name: str | None = None) -> Tensor:
    """Mel frequency cepstral coefficients, all of them: the scaled cosine transform of the last dimension."""
    log_mel = _convert(log_mel_spectrograms)
    bins = log_mel.shape.as_list()[-1]
    if bins is None:
        return dct(log_mel, 2) * math_ops.rsqrt(math_ops.cast(array_ops.shape(log_mel)[-1], log_mel.dtype) * 2.0)
    if bins == 0:
        raise ValueError(f"num_mel_bins must be positive. Got: {log_mel}")
    return dct(log_mel, 2) * _convert(1.0 / math.sqrt(bins * 2.0), log_mel.dtype)


def _transform(x: Any, kind: int, n: Any, ortho: bool) -> Any:
    """Of type `kind`, of rows of `n` values: a number, or a tensor where that is not known."""
    if kind == 1:
        return math_ops.real(spectra.rfft(array_ops.concat([x, x[..., -2:0:-1]], -1)))
    if kind == 2:
        return _second(x, n, ortho)
    if kind == 3:
        return _third(x, n, ortho)
    if isinstance(n, int) and n % 2 == 0:
        return _fourth(x, n, ortho)
    paddings = [[0, 0]] * (x.shape.rank - 1) + [[0, n]]
    wide = _second(array_ops.pad(x, paddings), 2 * n, False)[..., 1::2]
    return wide * _power(2.0 * n if isinstance(n, int) else 2.0 * math_ops.cast(n, x.dtype), -0.5, x.dtype) if ortho else wide


def _second(x: Any, n: Any, ortho: bool) -> Any:
    """Of the even values and then the odd ones backwards: the real part of the turned spectrum begins the result, the imaginary
    one ends it, backwards."""
    shuffled = array_ops.concat([x[..., ::2], _backwards(x[..., 1::2])], -1)
    turned = spectra.rfft(shuffled) * _factors(n, x.dtype, -1, ortho)
    return array_ops.concat([math_ops.real(turned), -_backwards(math_ops.imag(turned)[..., 1 : (n + 1) // 2])], -1)


def _third(x: Any, n: Any, ortho: bool) -> Any:
    paddings = [[0, 0]] * (x.shape.rank - 1) + [[1, 0]]
    mirrored = array_ops.pad(_backwards(x[..., (n + 1) // 2 :]), paddings)
    if not isinstance(n, int) or n % 2:
        mirrored = mirrored[..., : n // 2 + 1]
    turned = math_ops.complex(x[..., : n // 2 + 1], -mirrored) * _factors(n, x.dtype, 1, ortho)
    shuffled = spectra.irfft(turned, [n])
    evens, odds = shuffled[..., : (n + 1) // 2], _backwards(shuffled[..., (n + 1) // 2 :])
    return _in_turns(evens, odds, n)


def _fourth(x: Any, n: int, ortho: bool) -> Any:
    """Of n / 2 complex values: the even ones, and the odd ones backwards beside them."""
    turns = _convert(_quarter_turns(n, x.dtype.as_numpy_dtype))
    values = math_ops.complex(x[..., ::2], _backwards(x)[..., ::2]) * turns
    turned = _op("FFT", [values], {}) * (turns * _convert(math.sqrt(2 / n) if ortho else 2.0, turns.dtype))
    return _in_turns(math_ops.real(turned), -_backwards(math_ops.imag(turned)), n)


def _in_turns(evens: Any, odds: Any, n: Any) -> Any:
    if not isinstance(n, int) or n % 2:
        missing = [[0, 0]] * (evens.shape.rank - 1) + [[0, n % 2]]
        odds = array_ops.pad(odds, missing)
    both = array_ops.stack([evens, odds], -1)
    lead = array_ops.shape(evens)[:-1]
    return array_ops.reshape(both, array_ops.concat([lead, [-1]], 0))[..., :n]


def _backwards(x: Any) -> Any:
    return _op("ReverseV2", [x, [-1]], {})


def _power(x: Any, exponent: float, dtype: Any) -> Any:
    return _convert(x**exponent, dtype) if isinstance(x, float) else math_ops.pow(x, _convert(exponent, dtype))


@functools.lru_cache(maxsize=64)
def _known_factors(n: int, dtype: Any, sign: int, ortho: bool) -> np.ndarray:
    turns = np.exp(sign * 0.5j * math.pi / n * np.arange(n // 2 + 1)) * (2.0 if sign < 0 else n)
    if ortho:
        turns *= math.sqrt(0.5 / n)
        turns[0] *= math.sqrt(0.5) if sign < 0 else math.sqrt(2.0)
    return turns.astype(np.complex128 if dtype == np.float64 else np.complex64)


def _factors(n: Any, dtype: Any, sign: int, ortho: bool) -> Any:
    """Of the first half of the spectrum."""
    if isinstance(n, int):
        return _convert(_known_factors(n, dtype.as_numpy_dtype, sign, ortho))
    size = math_ops.cast(n, dtypes.float64)
    k = math_ops.cast(math_ops.range(n // 2 + 1), dtypes.float64)
    angle = sign * 0.5 * math.pi / size * k
    weight = 2.0 * array_ops.ones_like(k) if sign < 0 else size * array_ops.ones_like(k)
    if ortho:
        first = math_ops.cast(math_ops.equal(k, 0.0), dtypes.float64)
        weight *= math_ops.sqrt(0.5 / size) * (1.0 + ((math.sqrt(0.5) if sign < 0 else math.sqrt(2.0)) - 1.0) * first)
    turns = math_ops.complex(weight * _op("Cos", [angle], {}), weight * _op("Sin", [angle], {}))
    return math_ops.cast(turns, dtypes.complex128 if dtype == dtypes.float64 else dtypes.complex64)


@functools.lru_cache(maxsize=64)
def _quarter_turns(n: int, dtype: Any) -> np.ndarray:
    turns = np.exp(-0.25j * math.pi / n * (4 * np.arange(n // 2) + 0.5))
    return turns.astype(np.complex128 if dtype == np.float64 else np.complex64)
