"""Random numbers of eager programs: the global seed and what follows from it."""

from __future__ import annotations

import enum
import random as _random
from typing import Any, TYPE_CHECKING

from emplace.eager import context
from emplace.framework import array_ops, dtypes, index_values, math_ops, ops, random_ops
from emplace.framework.dispatch import execute as _op
from emplace.framework.ops import convert_to_tensor as _convert

if TYPE_CHECKING:
    from emplace.framework.tensor import Tensor

_MAX_SEED = 2**31 - 1
_global_seed: int | None = None
_operation_seeds = _random.Random()


def set_seed(seed: int) -> None:
    """Makes random ops repeatable: their sequences start anew and depend on this seed, their own seeds and their order."""
    global _global_seed, _operation_seeds
    _global_seed = int(seed)
    _operation_seeds = _random.Random(_global_seed)
    if context.started():
        context.engine().restart_random()
    if not context.outside_graph():
        ops.get_default_graph().seed = seed


def global_seed() -> int | None:
    """What `set_seed` was given."""
    return _global_seed


def _eager_seed(op_seed: Any) -> tuple[Any, Any]:
    if _global_seed is not None:
        if op_seed is None:
            op_seed = _operation_seeds.randint(0, _MAX_SEED)
        seeds = _global_seed % _MAX_SEED, op_seed % _MAX_SEED
    elif op_seed is not None:
        seeds = random_ops.DEFAULT_GRAPH_SEED, op_seed % _MAX_SEED
    else:
        return None, None
    return (0, _MAX_SEED) if seeds == (0, 0) else seeds


random_ops.eager_seed = _eager_seed


def stateless_categorical(logits: Any, num_samples: Any, seed: Any, dtype: Any = dtypes.int64, name: str | None = None) -> Tensor:
    """Draws `num_samples` class numbers for each row of log-odds; the same seed (two integers), the same draws."""
    return _op("StatelessMultinomial", [logits, num_samples, seed], {"output_dtype": dtype}, name)


def stateless_shuffle(value: Any, seed: Any, alg: Any = "auto_select", name: str | None = None) -> Tensor:
    """The rows in an order that depends on the seed (two integers) alone."""
    return _op("StatelessShuffle", [_convert(value), *random_ops._stateless_key(seed)], {}, name)


def stateless_gamma(shape: Any, seed: Any, alpha: Any, beta: Any = None, dtype: Any = dtypes.float32, name: str | None = None) -> Tensor:
    """Draws from Gamma distributions of shape `alpha` and rate `beta`; the same seed, the same draws."""
    shape = shape if hasattr(shape, "dtype") else _convert(shape, dtype_hint=dtypes.int32)
    alpha = _convert(alpha, dtype=dtype)
    beta = _convert(1 if beta is None else beta, dtype=dtype)
    spread = _op("BroadcastTo", [alpha, _op("BroadcastArgs", [array_ops.shape(alpha), array_ops.shape(beta)], {})], {})
    return _op("StatelessRandomGammaV2", [shape, seed, spread], {}) / beta


_PAD = 498247692  # what a seed of two numbers is completed with


class Algorithm(enum.Enum):
    """How numbers are drawn from a seed; what is there draws with Philox."""

    PHILOX = 1
    THREEFRY = 2
    AUTO_SELECT = 3


def stateless_poisson(shape: Any, seed: Any, lam: Any, dtype: Any = dtypes.int32, name: str | None = None) -> Tensor:
    """Draws from Poisson distributions of means `lam`; the same seed, the same draws."""
    lam = _convert(lam)
    shape = index_values.tensor(shape, wide=True)
    spread = _op("BroadcastTo", [lam, shape], {})
    return _op("StatelessRandomPoisson", [shape, _convert(seed), spread], {"dtype": dtype}, name)


def stateless_binomial(shape: Any, seed: Any, counts: Any, probs: Any, output_dtype: Any = dtypes.int32, name: str | None = None) -> Tensor:
    """Draws numbers of successes among `counts` trials of chance `probs`; the same seed, the same draws."""
    probs = _convert(probs, dtype_hint=dtypes.float32)
    counts = _convert(counts, dtype_hint=probs.dtype)
    return _op("StatelessRandomBinomial", [index_values.tensor(shape, wide=True), _convert(seed), counts, probs], {"dtype": output_dtype}, name)


def index_shuffle(index: Any, seed: Any, max_index: Any) -> Tensor:
    """Where a place gets to when 0 … max_index are put in the order that the seed decides."""
    seed = _convert(seed)
    first = array_ops.fill(array_ops.concat([[1], array_ops.shape(seed)[1:]], 0), _convert(_PAD, seed.dtype))
    index = _convert(index)
    return _op("RandomIndexShuffle", [index, array_ops.concat([first, seed], 0), _convert(max_index, index.dtype)], {"rounds": 4})


def poisson(shape: Any, lam: Any, dtype: Any = dtypes.float32, seed: Any = None, name: str | None = None) -> Tensor:
    """Draws from Poisson distributions: `shape` of them for each of the means `lam`."""
    return random_ops.random_poisson_v2(shape, lam, dtype, seed, name)


def stateless_parameterized_truncated_normal(
    shape: Any, seed: Any, means: Any = 0.0, stddevs: Any = 1.0, minvals: Any = -2.0, maxvals: Any = 2.0, name: str | None = None
) -> Tensor:
    """Normal numbers between two limits."""
    given = [_convert(v, dtype_hint=dtypes.float32) for v in (means, stddevs, minvals, maxvals)]
    return _op("StatelessParameterizedTruncatedNormal", [index_values.tensor(shape, wide=True), _convert(seed), *given], {}, name)
