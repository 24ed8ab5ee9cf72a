"""Numbers of few bits, and what they stand for."""

from __future__ import annotations

from typing import Any, TYPE_CHECKING

from emplace.framework import dtypes
from emplace.framework.dispatch import execute as _op
from emplace.framework.ops import convert_to_tensor as _convert

if TYPE_CHECKING:
    from emplace.framework.gen import Outputs
    from emplace.framework.tensor import Tensor


def quantize(
    input: Any, min_range: Any, max_range: Any, T: Any, mode: str = "MIN_COMBINED", round_mode: str = "HALF_AWAY_FROM_ZERO", name: str | None = None,
    narrow_range: bool = False, axis: int | None = None, ensure_minimum_range: float = 0.01,
) -> Outputs["QuantizeV2"]:
    """Reals as numbers of few bits: (numbers, range from, range to)."""
    inputs = [input, min_range, max_range]
    attrs = {
        "T": dtypes.as_dtype(T), "mode": mode, "round_mode": round_mode, "narrow_range": narrow_range, "axis": -1 if axis is None else axis,
        "ensure_minimum_range": ensure_minimum_range,
    }
    return _op("QuantizeV2", inputs, attrs, name)


def quantize_v2(
    input: Any, min_range: Any, max_range: Any, T: Any, mode: str = "MIN_COMBINED", name: str | None = None, round_mode: str = "HALF_AWAY_FROM_ZERO",
    narrow_range: bool = False, axis: int | None = None, ensure_minimum_range: float = 0.01,
) -> Any:
    """`input` in a quantized dtype over a range, and the range used."""
    return quantize(input, min_range, max_range, T, mode, round_mode, name, narrow_range, axis, ensure_minimum_range)


def dequantize(
    input: Any, min_range: Any, max_range: Any, mode: str = "MIN_COMBINED", name: str | None = None, axis: int | None = None,
    narrow_range: bool = False, dtype: Any = dtypes.float32,
) -> Tensor:
    """What numbers of few bits stand for."""
    inputs = [input, min_range, max_range]
    attrs = {"mode": mode, "axis": -1 if axis is None else axis, "narrow_range": narrow_range, "dtype": dtypes.as_dtype(dtype)}
    return _op("Dequantize", inputs, attrs, name)


def quantize_and_dequantize(
    input: Any, input_min: Any, input_max: Any, signed_input: bool = True, num_bits: int = 8, range_given: bool = False,
    round_mode: str = "HALF_TO_EVEN", name: str | None = None, narrow_range: bool = False, axis: int | None = None,
) -> Tensor:
    """Numbers rounded to those that few bits can tell apart."""
    x = _convert(input)
    attrs = {
        "signed_input": signed_input, "num_bits": num_bits, "range_given": range_given, "round_mode": round_mode,
        "narrow_range": narrow_range, "axis": -1 if axis is None else axis,
    }
    return _op("QuantizeAndDequantizeV4", [x, _convert(input_min, dtype=x.dtype), _convert(input_max, dtype=x.dtype)], attrs, name)
