"""Random numbers: TensorFlow's seeds, streams and node names."""

from __future__ import annotations

from typing import Any, TYPE_CHECKING

import numpy as np

from emplace.framework import constant_op, dtypes, index_values, math_ops, ops
from emplace.framework.dispatch import execute as _op
from emplace.framework.ops import convert_to_tensor as _convert
from emplace.framework.ops import name_scope

if TYPE_CHECKING:
    from emplace.framework.tensor import Tensor

DEFAULT_GRAPH_SEED = 87654321
_MAX_SEED = 2**31 - 1
# Set by the eager package: (op seed) -> (seed, seed2) outside graphs.
eager_seed: Any = None


def get_seed(op_seed: Any) -> tuple[Any, Any]:
    """The pair of seeds of an operation, from the graph's seed and its own."""
    from emplace.framework import dispatch

    if dispatch.execute_eagerly is not None and dispatch.executing_eagerly() and eager_seed is not None:
        return eager_seed(op_seed)
    graph = ops.get_default_graph()
    if graph.seed is not None:
        if op_seed is None:  # one after the other in each graph
            op_seed = graph._extra.setdefault("op_seed", 0)
            graph._extra["op_seed"] += 1
        seeds = graph.seed % _MAX_SEED, op_seed % _MAX_SEED
    elif op_seed is not None:
        seeds = DEFAULT_GRAPH_SEED, op_seed % _MAX_SEED
    else:
        return None, None
    return (0, _MAX_SEED) if seeds == (0, 0) else seeds


def set_random_seed(seed: Any) -> None:
    """Sets the graph's seed, which the random ops made from now on share."""
    ops.get_default_graph().seed = seed


def _seeds(seed: Any) -> dict[str, int]:
    a, b = get_seed(seed)
    return {"seed": a or 0, "seed2": b or 0}


def _shape(shape: Any) -> Any:
    return constant_op.shape_tensor(shape)


def _number(value: Any, wanted: int) -> bool:
    return isinstance(value, (int, np.integer)) and not isinstance(value, bool) and value == wanted


def random_uniform(shape: Any, minval: Any = 0, maxval: Any = None, dtype: Any = dtypes.float32, seed: Any = None, name: str | None = None) -> Tensor:
    """Draws evenly from [`minval`, `maxval`); integers need a `maxval`, floats default to [0, 1)."""
    dtype = dtypes.as_dtype(dtype)
    accepted = (dtypes.float16, dtypes.bfloat16, dtypes.float32, dtypes.float64, dtypes.int32, dtypes.int64)
    if dtype not in accepted:
        raise ValueError(f"Argument `dtype` got invalid value {dtype}. Accepted dtypes are {accepted}.")
    if maxval is None:
        if dtype.is_integer:
            raise ValueError(f"Must specify maxval for integer dtype {dtype!r}")
        maxval = 1
    with name_scope(name, "random_uniform", [shape, minval, maxval]) as scope:
        shape = _shape(shape)
        from_zero, to_one = _number(minval, 0), _number(maxval, 1)
        if not from_zero or not to_one or dtype.is_integer:
            index_values.check([minval, maxval], dtype)
            minval = _convert(minval, dtype=dtype, name="min")
            maxval = _convert(maxval, dtype=dtype, name="max")
        seeds = _seeds(seed)
        if dtype.is_integer:
            return _op("RandomUniformInt", [shape, minval, maxval], seeds, scope)
        values = _op("RandomUniform", [shape], {"dtype": dtype, **seeds})
        if from_zero:
            return values if to_one else math_ops.multiply(values, maxval)
        return math_ops.add(values * (maxval - minval), minval, name=scope)


def random_normal(shape: Any, mean: Any = 0.0, stddev: Any = 1.0, dtype: Any = dtypes.float32, seed: Any = None, name: str | None = None) -> Tensor:
    """Draws from the normal distribution."""
    with name_scope(name, "random_normal", [shape, mean, stddev]) as scope:
        shape = _shape(shape)
        mean = _convert(mean, dtype=dtype, name="mean")
        stddev = _convert(stddev, dtype=dtype, name="stddev")
        values = _op("RandomStandardNormal", [shape], {"dtype": dtype, **_seeds(seed)})
        return math_ops.add(values * stddev, mean, name=scope)


def truncated_normal(shape: Any, mean: Any = 0.0, stddev: Any = 1.0, dtype: Any = dtypes.float32, seed: Any = None, name: str | None = None) -> Tensor:
    """Draws from the normal distribution, nothing more than two deviations from the mean."""
    with name_scope(name, "truncated_normal", [shape, mean, stddev]) as scope:
        shape = _shape(shape)
        mean = _convert(mean, dtype=dtype, name="mean")
        stddev = _convert(stddev, dtype=dtype, name="stddev")
        values = _op("TruncatedNormal", [shape], {"dtype": dtype, **_seeds(seed)})
        return math_ops.add(values * stddev, mean, name=scope)


def random_shuffle(value: Any, seed: Any = None, name: str | None = None) -> Tensor:
    """The rows in a random order."""
    return _op("RandomShuffle", [value], _seeds(seed), name)


def multinomial(logits: Any, num_samples: Any, seed: Any = None, name: str | None = None, output_dtype: Any = None) -> Tensor:
    """Draws `num_samples` class numbers for each row of log-odds."""
    with name_scope(name, "multinomial", [logits]):
        logits = _convert(logits, name="logits")
        return _op("Multinomial", [logits, num_samples], {"output_dtype": output_dtype or dtypes.int64, **_seeds(seed)})


def categorical(logits: Any, num_samples: Any, dtype: Any = None, seed: Any = None, name: str | None = None) -> Tensor:
    """Draws `num_samples` class numbers for each row of log-odds."""
    with name_scope(name, "categorical", [logits]):
        logits = _convert(logits, name="logits")
        return _op("Multinomial", [logits, num_samples], {"output_dtype": dtypes.as_dtype(dtype or dtypes.int64), **_seeds(seed)})


def random_gamma(shape: Any, alpha: Any, beta: Any = None, dtype: Any = dtypes.float32, seed: Any = None, name: str | None = None) -> Tensor:
    """Draws from Gamma distributions of shape `alpha` and rate `beta`, `shape` of them for each."""
    from emplace.framework import array_ops

    with name_scope(name, "random_gamma", [shape, alpha, beta]):
        shape = index_values.tensor(shape, "shape", wide=True)
        alpha = _convert(alpha, name="alpha", dtype=dtype)
        beta = _convert(1 if beta is None else beta, name="beta", dtype=dtype)
        broadcast = _op("BroadcastArgs", [array_ops.shape(alpha), array_ops.shape(beta)], {})
        spread = _op("BroadcastTo", [alpha, broadcast], {})
        values = _op("RandomGamma", [shape, spread], _seeds(seed))
        return _op("Maximum", [np.finfo(alpha.dtype.as_numpy_dtype).tiny, values / beta], {})


def random_poisson_v2(shape: Any, lam: Any, dtype: Any = dtypes.float32, seed: Any = None, name: str | None = None) -> Tensor:
    with name_scope(name, "random_poisson", [lam, shape]):
        shape = index_values.tensor(shape, "shape", wide=True)
        return _op("RandomPoissonV2", [shape, lam], {"dtype": dtype, **_seeds(seed)})


def random_poisson(lam: Any, shape: Any, dtype: Any = dtypes.float32, seed: Any = None, name: str | None = None) -> Tensor:
    """Draws from Poisson distributions: `shape` of them for each of the means `lam`."""
    return random_poisson_v2(shape, lam, dtype, seed, name)


def stateless_uniform(shape: Any, seed: Any, minval: Any = 0, maxval: Any = None, dtype: Any = dtypes.float32, name: str | None = None, alg: Any = "auto_select") -> Tensor:
    """Draws evenly from [`minval`, `maxval`); the same seed (two integers), the same draws."""
    dtype = dtypes.as_dtype(dtype)
    if maxval is None:
        if dtype.is_integer and minval is not None:
            raise ValueError(f"Must specify maxval for integer type {dtype!r} when minval is not None")
        maxval = 1
    with name_scope(name, "stateless_random_uniform", [shape, seed, minval, maxval]) as scope:
        shape = _shape(shape)
        if dtype.is_integer and minval is None:  # any number of the dtype
            key, counter, algorithm = _stateless_key(seed)
            return _op("StatelessRandomUniformFullIntV2", [shape, key, counter, algorithm], {"dtype": dtype}, scope)
        if dtype.is_integer:
            index_values.check([minval, maxval], dtype)
            minval = _convert(minval, dtype=dtype, name="min")
            maxval = _convert(maxval, dtype=dtype, name="max")
            key, counter, algorithm = _stateless_key(seed)
            return _op("StatelessRandomUniformIntV2", [shape, key, counter, algorithm, minval, maxval], {}, scope)
        minval = _convert(minval, dtype=dtype, name="min")
        maxval = _convert(maxval, dtype=dtype, name="max")
        key, counter, algorithm = _stateless_key(seed)
        values = _op("StatelessRandomUniformV2", [shape, key, counter, algorithm], {"dtype": dtype})
        return math_ops.add(values * (maxval - minval), minval, name=scope)


def _stateless_key(seed: Any) -> tuple[Any, Any, Any]:
    key, counter = _op("StatelessRandomGetKeyCounter", [seed], {})
    return key, counter, 1  # Philox


def _stateless_scaled(op: str, default: str) -> Any:
    def function(shape: Any, seed: Any, mean: Any = 0.0, stddev: Any = 1.0, dtype: Any = dtypes.float32, name: str | None = None, alg: Any = "auto_select") -> Any:
        with name_scope(name, default, [shape, seed, mean, stddev]) as scope:
            shape = _shape(shape)
            mean = _convert(mean, dtype=dtype, name="mean")
            stddev = _convert(stddev, dtype=dtype, name="stddev")
            key, counter, algorithm = _stateless_key(seed)
            values = _op(op, [shape, key, counter, algorithm], {"dtype": dtype})
            return math_ops.add(values * stddev, mean, name=scope)

    cut = ", nothing more than two deviations from the mean" if "Truncated" in op else ""
    function.__doc__ = f"Draws from the normal distribution{cut}; the same seed (two integers), the same draws."
    function.__name__ = function.__qualname__ = "stateless_truncated_normal" if cut else "stateless_normal"
    return function


stateless_normal = _stateless_scaled("StatelessRandomNormalV2", "stateless_random_normal")
stateless_truncated_normal = _stateless_scaled("StatelessTruncatedNormalV2", "stateless_truncated_normal")


def stateless_multinomial(logits: Any, num_samples: Any, seed: Any, output_dtype: Any = dtypes.int64, name: str | None = None) -> Tensor:
    """Draws `num_samples` class numbers for each row of log-odds; the same seed, the same draws."""
    return _op("StatelessMultinomial", [logits, num_samples, seed], {"output_dtype": output_dtype}, name)
