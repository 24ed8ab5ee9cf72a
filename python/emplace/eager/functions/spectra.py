"""Fourier transforms of real signals and of several axes, short-time spectra, mel scales."""

from __future__ import annotations

import math
from typing import Any, Callable, TYPE_CHECKING

import numpy as np

from emplace.eager.functions import signal as _signal
from emplace.framework import array_ops, dtypes, index_values, math_ops
from emplace.framework.dispatch import execute as _op
from emplace.framework.ops import convert_to_tensor as _convert, name_scope
from emplace.gradients.common import known as _known

if TYPE_CHECKING:
    from emplace.framework.tensor import Tensor


def _complex_of(dtype: Any) -> Any:
    return dtypes.complex128 if dtype == dtypes.float64 else dtypes.complex64


def _lengths(fft_length: Any) -> list[int]:
    return [int(n) for n in np.reshape(np.asarray(fft_length), -1)]


def _transform(op: str, rank: int, x: Any, fft_length: Any, name: str | None) -> Any:
    """Of a real signal, or of the half spectrum of one back to it."""
    inverse = op.startswith("I")
    with name_scope(name, op.lower(), [x, fft_length]) as scope:
        x = _convert(x, preferred_dtype=dtypes.complex64 if inverse else dtypes.float32)
        if not inverse and not x.dtype.is_floating:
            raise ValueError(f"RFFT requires tf.float32 or tf.float64 inputs, got: {x.dtype}")
        if fft_length is None:
            lengths = _natural_lengths(x, rank, inverse)
        else:
            lengths = index_values.tensor(fft_length)
        x = _padded(x, rank, lengths, inverse)
        static = _known(lengths)
        if inverse:
            kinds = {"Treal": dtypes.float64 if x.dtype == dtypes.complex128 else dtypes.float32}
        else:
            kinds = {"Tcomplex": _complex_of(x.dtype)}
        return _op(op, [x, lengths if static is None else static], kinds, scope)


def _natural_lengths(x: Any, rank: int, inverse: bool) -> Any:
    """Those of the signal, which has one more than twice as many numbers as its half spectrum."""
    sizes = x.shape[-rank:]
    if sizes.rank is not None and sizes.is_fully_defined():
        known = sizes.as_list()
        return index_values.tensor([*known[:-1], max(0, 2 * (known[-1] - 1))] if inverse and known else known)
    lengths = array_ops.shape(x)[-rank:]
    if not inverse:
        return lengths
    parts = array_ops.unstack(lengths)
    return array_ops.stack([*parts[:-1], _op("Maximum", [0, 2 * (parts[-1] - 1)], {})])


def _padded(x: Any, rank: int, lengths: Any, inverse: bool) -> Any:
    """The last axes at least as long as what is transformed, with zeros behind what there is."""
    sizes, static = x.shape[-rank:], _known(lengths)
    if x.shape.rank is not None and 0 in x.shape.as_list():
        return x
    if static is not None and sizes.rank == rank and sizes.is_fully_defined():
        wanted = np.reshape(static, -1).tolist()
        wanted = [*wanted[:-1], wanted[-1] // 2 + 1] if inverse else wanted
        missing = [max(0, n - have) for n, have in zip(wanted, sizes.as_list())]
        return array_ops.pad(x, [[0, 0]] * (x.shape.rank - rank) + [[0, m] for m in missing]) if any(missing) else x
    all_axes = array_ops.rank(x)
    have = array_ops.shape(x)[-rank:]
    others = array_ops.zeros([_op("Maximum", [0, all_axes - rank], {})], dtype=dtypes.int32)
    if inverse:
        lengths = array_ops.concat([lengths[:-1], lengths[-1:] // 2 + 1], 0)
    missing = array_ops.concat([others, _op("Maximum", [0, lengths - have], {})], 0)
    return array_ops.pad(x, array_ops.stack([array_ops.zeros_like(missing), missing], 1))


def rfft(input_tensor: Any, fft_length: Any = None, name: str | None = None) -> Tensor:
    """Fourier transform of real values along the last dimension: `n // 2 + 1` complex values, `n` the length or `fft_length`."""
    return _transform("RFFT", 1, input_tensor, fft_length, name)


def rfft2d(input_tensor: Any, fft_length: Any = None, name: str | None = None) -> Tensor:
    """Fourier transform of real values over the last two dimensions; the last one keeps `n // 2 + 1` values."""
    return _transform("RFFT2D", 2, input_tensor, fft_length, name)


def rfft3d(input_tensor: Any, fft_length: Any = None, name: str | None = None) -> Tensor:
    """Fourier transform of real values over the last three dimensions; the last one keeps `n // 2 + 1` values."""
    return _transform("RFFT3D", 3, input_tensor, fft_length, name)


def irfft(input_tensor: Any, fft_length: Any = None, name: str | None = None) -> Tensor:
    """The real values whose `rfft` is given; `fft_length` tells an odd length."""
    return _transform("IRFFT", 1, input_tensor, fft_length, name)


def irfft2d(input_tensor: Any, fft_length: Any = None, name: str | None = None) -> Tensor:
    """The real values whose `rfft2d` is given; `fft_length` tells odd lengths."""
    return _transform("IRFFT2D", 2, input_tensor, fft_length, name)


def irfft3d(input_tensor: Any, fft_length: Any = None, name: str | None = None) -> Tensor:
    """The real values whose `rfft3d` is given; `fft_length` tells odd lengths."""
    return _transform("IRFFT3D", 3, input_tensor, fft_length, name)


# ---- Any axes.


def _along(x: Any, axis: int, change: Callable[[Any], Any]) -> Any:
    """`change` of the last axis, done to another one."""
    last = x.shape.rank - 1
    order = list(range(last + 1))
    order[axis], order[last] = last, axis
    return array_ops.transpose(change(array_ops.transpose(x, order)), order)


def _fitted(x: Any, n: int) -> Any:
    return _padded(x, 1, [n], False)[..., :n]


def _axes(x: Any, fft_length: Any, axes: Any) -> list[tuple[int, int]]:
    """(axis, length) of each."""
    if axes is None:
        count = x.shape.rank if fft_length is None else len(_lengths(fft_length))
        axes = range(-count, 0)
    axes = [index_values.axis(a, x.shape.rank) for a in _lengths(list(axes))]
    lengths = [x.shape[a] for a in axes] if fft_length is None else _lengths(fft_length)
    return list(zip(axes, lengths))


def _each(op: str, x: Any, axes: list[tuple[int, int]]) -> Any:
    for axis, n in axes:
        x = _along(x, axis, lambda t, n=n: _op(op, [_fitted(t, n)], {}))
    return x


def fftnd(input_tensor: Any, fft_length: Any = None, axes: Any = None, norm: Any = None, name: str | None = None) -> Tensor:
    """Fourier transform over any `axes`, each cut or padded to its `fft_length`."""
    x = _convert(input_tensor, preferred_dtype=dtypes.complex64)
    return _each("FFT", x, _axes(x, fft_length, axes))


def ifftnd(input_tensor: Any, fft_length: Any = None, axes: Any = None, norm: Any = None, name: str | None = None) -> Tensor:
    """Inverse Fourier transform over any `axes`, each cut or padded to its `fft_length`."""
    x = _convert(input_tensor, preferred_dtype=dtypes.complex64)
    return _each("IFFT", x, _axes(x, fft_length, axes))


def rfftnd(input_tensor: Any, fft_length: Any = None, axes: Any = None, norm: Any = None, name: str | None = None) -> Tensor:
    """Fourier transform of real values over any `axes`; the last of them keeps `n // 2 + 1` values."""
    x = _convert(input_tensor, preferred_dtype=dtypes.float32)
    *rest, (axis, n) = _axes(x, fft_length, axes)
    return _each("FFT", _along(x, axis, lambda t: rfft(t, [n])[..., : n // 2 + 1]), rest)


def irfftnd(input_tensor: Any, fft_length: Any = None, axes: Any = None, norm: Any = None, name: str | None = None) -> Tensor:
    """The real values whose `rfftnd` is given."""
    x = _convert(input_tensor, preferred_dtype=dtypes.complex64)
    *rest, (axis, n) = _axes(x, fft_length, axes)
    n = 2 * (x.shape[axis] - 1) if fft_length is None else n
    return _along(_each("IFFT", x, rest), axis, lambda t: irfft(t, [n]))


def _rolled(x: Any, axes: Any, shift_of: Callable[[int], int], name: str | None) -> Any:
    x = _convert(x)
    axes = list(range(x.shape.rank)) if axes is None else _lengths(axes)
    return array_ops.roll(x, [shift_of(_signal.size(x, a)) for a in axes], axes, name)


def fftshift(x: Any, axes: Any = None, name: str | None = None) -> Tensor:
    """Moves frequency 0 to the middle of each of the `axes`."""
    return _rolled(x, axes, lambda n: n // 2, name)


def ifftshift(x: Any, axes: Any = None, name: str | None = None) -> Tensor:
    """Moves frequency 0 from the middle back to the front: undoes `fftshift`."""
    return _rolled(x, axes, lambda n: -(n // 2), name)


# ---- Short-time spectra.


def _power_of_two(n: int) -> int:
    return 1 << max(0, n - 1).bit_length()


def stft(
    signals: Any, frame_length: Any, frame_step: Any, fft_length: Any = None, window_fn: Any = _signal.hann_window, pad_end: bool = False, name: str | None = None
) -> Tensor:
    """Spectra of frames of `frame_length` samples that begin `frame_step` apart, each times a window."""
    length = int(frame_length)
    size = _power_of_two(length) if fft_length is None else int(fft_length)
    frames = _signal.frame(_convert(signals), length, int(frame_step), pad_end)
    if window_fn is not None:
        frames = frames * window_fn(length, dtype=frames.dtype)
    return rfft(frames, [size])


def inverse_stft(stfts: Any, frame_length: Any, frame_step: Any, fft_length: Any = None, window_fn: Any = _signal.hann_window, name: str | None = None) -> Tensor:
    """The signal from its spectra, by adding overlapping frames; give the window of `inverse_stft_window_fn`."""
    stfts = _convert(stfts)
    length = int(frame_length)
    size = _power_of_two(length) if fft_length is None else int(fft_length)
    frames = irfft(stfts, [size])[..., :length]
    if length > size:
        frames = _padded(frames, 1, [length], False)
    if window_fn is not None:
        frames = frames * window_fn(length, dtype=frames.dtype)
    return _signal.overlap_and_add(frames, int(frame_step))


def inverse_stft_window_fn(frame_step: Any, forward_window_fn: Any = _signal.hann_window, name: str | None = None) -> Any:
    """The window with which `inverse_stft` gives back what went into `stft`."""

    def inverse_window(frame_length: Any, dtype: Any) -> Any:
        length, step = int(frame_length), int(frame_step)
        window = forward_window_fn(length, dtype=dtype)
        overlaps = -(-length // step)
        squares = array_ops.pad(_op("Square", [window], {}), [[0, overlaps * step - length]])
        total = math_ops.reduce_sum(array_ops.reshape(squares, [overlaps, step]), 0, keepdims=True)
        total = array_ops.reshape(_op("Tile", [total, [overlaps, 1]], {}), [overlaps * step])
        return window / total[:length]

    return inverse_window


def kaiser_bessel_derived_window(window_length: Any, beta: Any = 12.0, dtype: Any = dtypes.float32, name: str | None = None) -> Tensor:
    """A window from sums of Kaiser's, whose squares half a window apart add up to 1."""
    half = int(window_length) // 2
    sums = np.cumsum(np.kaiser(half + 1, float(beta)))
    rising = np.sqrt(sums[:-1] / sums[-1])
    return math_ops.cast(_convert(np.concatenate([rising, rising[::-1]])), dtype)


# ---- Mel scales.


def _mel(hertz: Any) -> Any:
    return 1127.0 * np.log(1.0 + hertz / 700.0)


def linear_to_mel_weight_matrix(
    num_mel_bins: Any = 20, num_spectrogram_bins: Any = 129, sample_rate: Any = 8000, lower_edge_hertz: float = 125.0,
    upper_edge_hertz: float = 3800.0, dtype: Any = dtypes.float32, name: str | None = None,
) -> Tensor:
    """[num_spectrogram_bins, num_mel_bins]: triangles, equally wide in mels. The constant bin counts nowhere."""
    bins, rows = int(num_mel_bins), int(num_spectrogram_bins)
    _check_mel(bins, sample_rate, lower_edge_hertz, upper_edge_hertz, dtypes.as_dtype(dtype))
    mels = _mel(np.linspace(0.0, float(sample_rate) / 2.0, rows)[1:])[:, None]
    edges = np.linspace(_mel(lower_edge_hertz), _mel(upper_edge_hertz), bins + 2)
    low, middle, high = edges[None, :-2], edges[None, 1:-1], edges[None, 2:]
    weights = np.maximum(0.0, np.minimum((mels - low) / (middle - low), (high - mels) / (high - middle)))
    return math_ops.cast(_convert(np.pad(weights, [[1, 0], [0, 0]])), dtype)


def _check_mel(bins: int, rate: Any, lower: float, upper: float, dtype: Any) -> None:
    if bins <= 0:
        raise ValueError(f"num_mel_bins must be positive. Got: {bins}")
    if lower < 0.0:
        raise ValueError(f"lower_edge_hertz must be non-negative. Got: {lower}")
    if lower >= upper:
        raise ValueError(f"lower_edge_hertz {lower:.1f} >= upper_edge_hertz {upper:.1f}")
    if float(rate) <= 0.0:
        raise ValueError(f"sample_rate must be positive. Got: {rate}")
    if upper > float(rate) / 2:
        raise ValueError(f"upper_edge_hertz must not be larger than the Nyquist frequency (sample_rate / 2). Got {upper} for sample_rate: {rate}")
    if not dtype.is_floating:
        raise ValueError(f"dtype must be a floating point type. Got: {dtype}")
