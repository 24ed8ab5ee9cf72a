"""Gradients of Fourier transforms."""

from __future__ import annotations

from typing import Any

from emplace.framework import array_ops, math_ops
from emplace.framework.dispatch import execute as _op
from emplace.gradients.common import is_eager, known
from emplace.gradients.registry import gradient


def _size(grad: Any, rank: int) -> Any:
    return math_ops.reduce_prod(array_ops.shape(grad)[-rank:])


def _fourier(rank: int, suffix: str) -> None:
    @gradient(f"FFT{suffix}")
    def forward(op: Any, grad: Any) -> Any:
        size = math_ops.cast(_size(grad, rank), grad.dtype)
        return _op(f"IFFT{suffix}", [grad], {}) * size

    @gradient(f"IFFT{suffix}")
    def backward(op: Any, grad: Any) -> Any:
        share = math_ops.cast(1.0 / math_ops.cast(_size(grad, rank), grad.dtype.real_dtype), grad.dtype)
        return _op(f"FFT{suffix}", [grad], {}) * share

    @gradient(f"RFFT{suffix}")
    def real_forward(op: Any, grad: Any) -> Any:
        """What was left out of the spectrum is the conjugate of what stands twice for it."""
        x, lengths = op.inputs
        if rank == 1 and not is_eager(x) and _fits(x, op.inputs[1], 1):
            return _of_whole_signal(x, lengths, grad), None
        real = x.dtype.base_dtype
        found = _op(f"IRFFT{suffix}", [grad * math_ops.cast(_counts(lengths, real, 0.5), grad.dtype), lengths], {"Treal": real})
        return _as_long_as(x, found * math_ops.cast(math_ops.reduce_prod(lengths), real), rank), None

    @gradient(f"IRFFT{suffix}")
    def real_backward(op: Any, grad: Any) -> Any:
        x, lengths = op.inputs
        real = grad.dtype.base_dtype
        if not is_eager(x) and _fits(op.outputs[0], lengths, rank):
            return _of_whole_spectrum(f"RFFT{suffix}", x, lengths, grad, rank), None
        share = _counts(lengths, real, 2.0) / math_ops.cast(math_ops.reduce_prod(lengths), real)
        found = _op(f"RFFT{suffix}", [grad, lengths], {"Tcomplex": x.dtype.base_dtype}) * math_ops.cast(share, x.dtype.base_dtype)
        return _as_long_as(x, found, rank), None


def _fits(signal: Any, lengths: Any, rank: int) -> bool:
    """Unless the lengths of what is transformed are known to be others than the signal's."""
    have, want = signal.shape[-rank:], known(lengths)
    return want is None or have.rank is None or not have.is_fully_defined() or have.as_list() == want.tolist()


def _of_whole_signal(x: Any, lengths: Any, grad: Any) -> Any:
    from emplace.eager.functions import spectra

    shape, kind = array_ops.shape(x), grad.dtype.base_dtype
    even = math_ops.cast(1 - lengths[-1] % 2, kind)
    first = grad[..., 0:1]
    last = even * grad[..., -1:]
    alone = first + last * math_ops.cast(1 - 2 * (math_ops.range(shape[-1]) % 2), kind)
    size = math_ops.cast(_size(x, 1), x.dtype.base_dtype)
    return 0.5 * (spectra.irfft(grad, lengths) * size + math_ops.real(alone))


def _of_whole_spectrum(forward: str, x: Any, lengths: Any, grad: Any, rank: int) -> Any:
    """Each number stands twice in the whole spectrum, but for the first and, of even lengths, the last."""
    from emplace.eager.functions import spectra

    sizes, real = known(lengths), grad.dtype.base_dtype
    lengths = lengths if sizes is None else sizes
    odd = _op("FloorMod", [lengths[-1], 2], {}, "mod")
    inner = 2.0 * array_ops.ones([array_ops.shape(x)[-1] - 2 + odd], dtype=real)
    times = array_ops.concat([[1.0], inner, array_ops.ones([1 - odd], dtype=real)], 0)
    share = _op("Reciprocal", [math_ops.cast(_size(grad, rank), real)], {})
    found = getattr(spectra, forward.lower())(grad, lengths)
    return found * math_ops.cast(share * times, x.dtype.base_dtype)


def _counts(lengths: Any, dtype: Any, otherwise: float) -> Any:
    """Along the last axis of a half spectrum: 1 for what stands for itself, the first and, of even lengths, the last."""
    last = lengths[-1]
    at = math_ops.range(last // 2 + 1)
    itself = math_ops.cast(_op("LogicalOr", [math_ops.equal(at, 0), math_ops.equal(2 * at, last)], {}), dtype)
    return itself + otherwise * (1.0 - itself)


def _as_long_as(x: Any, found: Any, rank: int) -> Any:
    """The transform cut its input, or put zeros behind it: so has the gradient zeros, or less."""
    if x.shape.is_fully_defined() and found.shape.is_fully_defined() and x.shape == found.shape:
        return found
    want, have = array_ops.shape(x), array_ops.shape(found)
    found = array_ops.slice(found, array_ops.zeros_like(want), _op("Minimum", [want, have], {}))
    behind = _op("Maximum", [want - have, array_ops.zeros_like(want)], {})
    return _op("Pad", [found, array_ops.stack([array_ops.zeros_like(want), behind], 1)], {})


for _rank, _suffix in ((1, ""), (2, "2D"), (3, "3D")):
    _fourier(_rank, _suffix)
