"""Functions of rarer operations: quantized numbers, searches over sequences, pools, glimpses, files."""

from __future__ import annotations

from typing import Any, TYPE_CHECKING

from emplace.framework import dispatch, dtypes, index_values
from emplace.framework.dispatch import execute as _op
from emplace.framework.ops import convert_to_tensor as _convert
from emplace.framework.ops import name_scope

if TYPE_CHECKING:
    from emplace.framework.gen import Outputs
    from emplace.framework.tensor import Tensor


def sparse_of(indices: Any, values: Any, shape: Any) -> Any:
    if dispatch.executing_eagerly():
        from emplace.eager.sparse.tensor import SparseTensor
    else:
        from emplace.framework.sparse_tensor import SparseTensor
    return SparseTensor(indices, values, shape)


def flat_outputs(found: Any) -> list[Any]:
    """An operation's outputs, those of its lists too."""
    return [t for part in (found if isinstance(found, (list, tuple)) else [found]) for t in (part if isinstance(part, (list, tuple)) else [part])]


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


def ctc_beam_search_decoder(inputs: Any, sequence_length: Any, beam_width: int = 100, top_paths: int = 1, merge_repeated: bool = True) -> Any:
    """The likeliest labellings, and the logarithms of how likely they are."""
    attrs = {"beam_width": beam_width, "top_paths": top_paths, "merge_repeated": merge_repeated}
    found = _op("CTCBeamSearchDecoder", [_convert(inputs), index_values.tensor(sequence_length)], attrs, None)
    flat = flat_outputs(found)
    decoded = [sparse_of(*flat[k : 3 * top_paths : top_paths]) for k in range(top_paths)]
    return decoded, flat[-1]


def ctc_beam_search_decoder_v2(inputs: Any, sequence_length: Any, beam_width: int = 100, top_paths: int = 1) -> Any:
    """The best `top_paths` label sequences of CTC logits by beam search, and their log probabilities."""
    return ctc_beam_search_decoder(inputs, sequence_length, beam_width, top_paths, merge_repeated=False)


def _ratios(value: Any) -> list[float]:
    """Of all four dimensions."""
    ratio = [value] if isinstance(value, (int, float)) else list(value)
    if len(ratio) not in (1, 2, 4):
        raise ValueError(f"`pooling_ratio` should be of length 1, 2 or 4. Received: {value}")
    return ratio if len(ratio) == 4 else [1.0, ratio[0], ratio[-1], 1.0]


def _pool(op: str, value: Any, pooling_ratio: Any, pseudo_random: bool, overlapping: bool, seed: int, seed2: int, deterministic: bool, name: str | None) -> Any:
    if not isinstance(pooling_ratio, (list, tuple)):
        name = {"FractionalMaxPool": "fractional_max_pool", "FractionalAvgPool": "fractional_avg_pool"}[op]
        raise TypeError(f"Expected list for 'pooling_ratio' argument to '{name}' Op, not {pooling_ratio}.")
    attrs = {
        "pooling_ratio": [float(r) for r in pooling_ratio], "pseudo_random": pseudo_random, "overlapping": overlapping, "deterministic": deterministic,
        "seed": seed, "seed2": seed2,
    }
    return _op(op, [_convert(value)], attrs, name)


def fractional_max_pool(
    value: Any, pooling_ratio: Any, pseudo_random: bool = False, overlapping: bool = False, deterministic: bool = False, seed: int = 0, seed2: int = 0,
    name: str | None = None,
) -> Any:
    """Max pooling by a ratio that need not be whole; also gives the window borders."""
    return _pool("FractionalMaxPool", value, pooling_ratio, pseudo_random, overlapping, seed, seed2, deterministic, name)


def fractional_avg_pool(
    value: Any, pooling_ratio: Any, pseudo_random: bool = False, overlapping: bool = False, deterministic: bool = False, seed: int = 0, seed2: int = 0,
    name: str | None = None,
) -> Any:
    """Average pooling by a ratio that need not be whole; also gives the window borders."""
    return _pool("FractionalAvgPool", value, pooling_ratio, pseudo_random, overlapping, seed, seed2, deterministic, name)


def _fractional_v2(op: str) -> Any:
    def pool(value: Any, pooling_ratio: Any, pseudo_random: bool = False, overlapping: bool = False, seed: int = 0, name: str | None = None) -> Any:
        if op == "FractionalMaxPool":
            pooling_ratio = _ratios(pooling_ratio)
        if seed == 0:
            return _pool(op, value, pooling_ratio, pseudo_random, overlapping, 0, 0, False, name)
        from emplace.framework import random_ops

        first, second = random_ops.get_seed(seed)
        return _pool(op, value, pooling_ratio, pseudo_random, overlapping, first or 0, second or 0, True, name)

    what = "Largest value" if op == "FractionalMaxPool" else "Mean"
    pool.__doc__ = f"{what} of windows of uneven size, so that an image shrinks by a ratio that need not be whole; also where windows begin."
    pool.__name__ = pool.__qualname__ = "fractional_max_pool" if op == "FractionalMaxPool" else "fractional_avg_pool"
    return pool


fractional_max_pool_v2 = _fractional_v2("FractionalMaxPool")
fractional_avg_pool_v2 = _fractional_v2("FractionalAvgPool")


def extract_glimpse(
    input: Any, size: Any, offsets: Any, centered: bool = True, normalized: bool = True, uniform_noise: bool = True, name: str | None = None,
) -> Any:
    """Windows of pictures around places."""
    return extract_glimpse_v2(input, size, offsets, centered, normalized, "uniform" if uniform_noise else "gaussian", name, op="ExtractGlimpse")


def extract_glimpse_v2(
    input: Any, size: Any, offsets: Any, centered: bool = True, normalized: bool = True, noise: str = "uniform", name: str | None = None,
    op: str = "ExtractGlimpseV2",
) -> Any:
    inputs = [_convert(input, dtype=dtypes.float32), index_values.tensor(size), _convert(offsets, dtype=dtypes.float32)]
    attrs = {"centered": centered, "normalized": normalized, "uniform_noise": noise == "uniform", "noise": "zero" if noise == "zero" else noise}
    return _op(op, inputs, attrs, name)


def matching_files(pattern: Any, name: str | None = None) -> Tensor:
    """Files whose names fit a pattern."""
    return _op("MatchingFiles", [pattern], {}, name)


def match_filenames_once(pattern: Any, name: str | None = None) -> Any:
    """A variable that holds them, filled when it is initialized."""
    from emplace.framework import variables
    from emplace.framework.graph_collections import GraphKeys

    with name_scope(name, "matching_filenames", [pattern]) as scope:
        return variables.Variable(matching_files(pattern), trainable=False, name=scope, validate_shape=False, collections=[GraphKeys.LOCAL_VARIABLES])


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


def fingerprint(data: Any, method: str = "farmhash64", name: str | None = None) -> Tensor:
    """A hash of each row."""
    return _op("Fingerprint", [data, _convert(method, dtype=dtypes.string)], {}, name)
