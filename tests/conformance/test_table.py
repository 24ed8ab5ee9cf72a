"""Operations × dtypes × shapes × devices against NumPy and SciPy, and against TensorFlow where it is."""

from __future__ import annotations

import importlib.util
import os
import warnings
import zlib
from typing import Any, Callable

import numpy as np
import pytest

import cases
import table

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
if importlib.util.find_spec("emplace") is None:
    pytest.skip("emplace is not installed", allow_module_level=True)
if "EMPLACE_VIRTUAL_GPUS" not in os.environ:
    os.environ["EMPLACE_VIRTUAL_GPUS"] = "1"

import emplace as tf  # noqa: E402

DEVICES = ["/cpu:0", "/gpu:0"]


@pytest.fixture(scope="module")
def theirs() -> Any:
    """TensorFlow, or None."""
    if importlib.util.find_spec("tensorflow") is None:
        return None
    tensorflow = importlib.import_module("tensorflow")
    return tensorflow if tensorflow.executing_eagerly() else None


@pytest.fixture(autouse=True, scope="module")
def where_a_kernel_is() -> Any:
    """What a GPU has no kernel for runs on the CPU."""
    before = tf.config.get_soft_device_placement()
    tf.config.set_soft_device_placement(True)
    yield
    tf.config.set_soft_device_placement(before)


def _rng(row: Any, dtype: str) -> np.random.Generator:
    return np.random.default_rng(zlib.crc32(f"{row.op} {dtype}".encode()))


def _given(lib: Any, value: Any, dtype: str) -> Any:
    drawn = np.asarray(value)
    cast = dtype == "bfloat16" and drawn.dtype == np.float32
    return lib.cast(lib.constant(drawn), lib.bfloat16) if cast else lib.constant(drawn)


def _array(lib: Any, t: Any) -> np.ndarray:
    return lib.cast(t, lib.float32).numpy() if t.dtype == lib.bfloat16 else t.numpy()


def _call(lib: Any, op: str, arrays: dict[str, Any], attrs: dict[str, Any], dtype: str) -> np.ndarray:
    return _array(lib, getattr(lib.raw_ops, op)(**{k: _given(lib, v, dtype) for k, v in arrays.items()}, **attrs))


def _exact(value: Any, dtype: str) -> np.ndarray:
    """What the operation got, in the widest type of its kind."""
    value = np.asarray(value)
    if dtype == "bfloat16" and value.dtype == np.float32:
        value = _array(tf, _given(tf, value, dtype))
    return value.astype({"f": np.float64, "c": np.complex128}.get(value.dtype.kind, value.dtype))


def _differs(got: np.ndarray, wanted: np.ndarray, dtype: str, slack: float) -> str:
    if got.shape != np.shape(wanted):
        return f"shape {got.shape}, not {np.shape(wanted)}"
    if got.dtype.kind not in "fc":
        return "" if np.array_equal(got, np.asarray(wanted).astype(got.dtype)) else f"{got} is not {wanted}"
    tolerance = cases.TOLERANCE[dtype] * slack
    with np.errstate(all="ignore"):
        wanted = np.asarray(wanted).astype(got.dtype)  # what overflows there overflows here
        near = np.isclose(got, wanted, rtol=tolerance, atol=tolerance, equal_nan=True)
    if near.all():
        return ""
    at = tuple(np.argwhere(~near)[0])
    return f"{got[at]!r} is not {wanted[at]!r} at {at}, {np.sum(~near)} of {near.size}"


def _check(theirs: Any, device: str, row: Any, dtype: str, case: str, arrays: dict[str, Any], attrs: dict[str, Any], reference: Callable[..., Any]) -> None:
    __tracebackhide__ = True
    with tf.device(device):
        got = _call(tf, row.op, arrays, attrs, dtype)
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        wanted = reference(*(_exact(a, dtype) for a in arrays.values()))
    told = _differs(got, wanted, dtype, row.slack)
    assert not told, f"{row.op} of {dtype}, {case}, on {device}: {told} (NumPy)"
    if theirs is not None and device == DEVICES[0]:
        said = _call(theirs, row.op, arrays, attrs, dtype)
        told = _differs(got, said, dtype, row.slack)
        assert not told and got.dtype == said.dtype, f"{row.op} of {dtype}, {case}: {told or got.dtype} (TensorFlow)"


def _each(rows: list[Any]) -> Any:
    named = [(r, d) for r in rows for d in r.dtypes]
    return pytest.mark.parametrize(("row", "dtype"), named, ids=[f"{r.op}-{d}-{i}" for i, (r, d) in enumerate(named)])


@pytest.mark.parametrize("device", DEVICES)
@_each(table.UNARY)
def test_one_argument(row: table.Row, dtype: str, device: str, theirs: Any) -> None:
    for case, x in cases.one_argument(_rng(row, dtype), dtype, row.domain, row.specials):
        _check(theirs, device, row, dtype, case, {row.arguments[0]: x}, {}, row.reference)


@pytest.mark.parametrize("device", DEVICES)
@_each(table.BINARY)
def test_two_arguments(row: table.Row, dtype: str, device: str, theirs: Any) -> None:
    for case, x, y in cases.two_arguments(_rng(row, dtype), dtype, row.domain, row.specials):
        _check(theirs, device, row, dtype, case, dict(zip(row.arguments, (x, y))), {}, row.reference)


@pytest.mark.parametrize("device", DEVICES)
@_each(table.REDUCTIONS)
def test_reductions(row: table.Reduction, dtype: str, device: str, theirs: Any) -> None:
    rng = _rng(row, dtype)
    for shape, axes in cases.REDUCED:
        if row.op in ("Max", "Min") and 0 in shape:
            continue  # NumPy has no largest of none
        for keep in (False, True):
            arrays = {"input": cases.draw(rng, shape, dtype, row.domain), "axis": np.array(axes, np.int32)}
            _check(theirs, device, row, dtype, f"{shape} over {axes}", arrays, {"keep_dims": keep},
                   lambda x, _, keep=keep, axes=axes: row.reference(x, axis=axes, keepdims=keep))


@pytest.mark.parametrize("device", DEVICES)
@_each(table.FIXED)
def test_calls(row: table.Fixed, dtype: str, device: str, theirs: Any) -> None:
    rng = _rng(row, dtype)
    arrays = {}
    for name, given in row.arrays.items():
        fixed = not isinstance(given, tuple)
        arrays[name] = given if fixed else cases.draw(rng, given, dtype, (-2.0, 3.0))
    _check(theirs, device, row, dtype, "the call", arrays, row.attrs, lambda *values: row.reference(**dict(zip(arrays, values))))
