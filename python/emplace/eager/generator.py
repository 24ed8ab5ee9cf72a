"""`tf.random.Generator`: random numbers whose state is a variable that the program holds.

State: the 128 bits of a Philox counter and its key. A call takes its numbers from the counter on and
moves it by 256 for every element.
"""

from __future__ import annotations

import secrets
from typing import Any, TYPE_CHECKING

import numpy as np

from emplace.eager import context, variables
from emplace.framework import array_ops, dtypes, gen, index_values, math_ops, ops, random_ops
from emplace.framework.thread_state import own

if TYPE_CHECKING:
    from emplace.framework.tensor import Tensor

_PHILOX = 1
_PER_ELEMENT = 256
_ALGORITHMS = {"philox": 1, "auto_select": 1, 1: 1, 3: 1, None: 1}


def _algorithm(alg: Any) -> int:
    key = alg.lower() if isinstance(alg, str) else getattr(alg, "value", alg)
    if key not in _ALGORITHMS:
        raise ValueError(f"Unsupported algorithm: {alg!r}; only 'philox' is there.")
    return _ALGORITHMS[key]


def _state_of(seed: Any) -> np.ndarray:
    """The three words of a state: of one number its 192 lowest bits, of a list what it holds, at the end."""
    given = np.asarray(seed.numpy() if hasattr(seed, "numpy") else seed)
    if given.ndim == 0:
        return _words([int(given) >> bits for bits in (0, 64, 128)])
    flat = _words(given.reshape(-1).tolist()[:3])
    return np.concatenate([np.zeros(3 - len(flat), np.int64), flat])


def _words(numbers: list[int]) -> np.ndarray:
    return np.array([int(n) & (2**64 - 1) for n in numbers], np.uint64).view(np.int64)


def create_rng_state(seed: Any, alg: Any) -> Tensor:
    """The state vector of a generator with this seed and algorithm."""
    if isinstance(alg, str) and alg.lower() == "threefry":  # a key and no counter; others may draw from it
        with context.eager_mode():
            state = _state_of(seed)
            return ops.convert_to_tensor(state[:2] if np.ndim(seed) == 0 else state[1:])
    _algorithm(alg)
    with context.eager_mode():
        return ops.convert_to_tensor(_state_of(seed))


def _uint64(values: Any) -> Any:
    return gen.apply("Bitcast", [values], {"type": dtypes.uint64})


class Generator:
    """Independent random numbers."""

    def __init__(self, copy_from: Any = None, state: Any = None, alg: Any = None) -> None:
        if copy_from is not None:
            state, alg = copy_from.state.numpy(), copy_from.algorithm
        elif state is None or alg is None:
            raise ValueError("Either `copy_from` or both `state` and `alg` must be given.")
        self._alg = _algorithm(alg)
        value = np.asarray(getattr(state, "numpy", lambda: state)()).astype(np.int64)
        if value.shape != (3,):
            raise ValueError(f"For the Philox algorithm, the size of state must be 3, got {value.size}")
        self._state = variables.Variable(value, trainable=False, name="StateVar", dtype=dtypes.int64)

    @classmethod
    def from_state(cls, state: Any, alg: Any) -> "Generator":
        """A generator that goes on from a state, of another generator or `create_rng_state`."""
        return cls(state=state, alg=alg)

    @classmethod
    def from_seed(cls, seed: Any, alg: Any = None) -> "Generator":
        """A generator whose numbers depend on an integer, or a vector of them, alone."""
        return cls(state=_state_of(seed), alg=_algorithm(alg))

    @classmethod
    def from_key_counter(cls, key: Any, counter: Any, alg: Any) -> "Generator":
        """A generator with this key of its stream and this place within it."""
        return cls(state=_joined(key, counter), alg=_algorithm(alg))

    @classmethod
    def from_non_deterministic_state(cls, alg: Any = None) -> "Generator":
        """A generator that gives other numbers in each run of the program."""
        return cls(state=np.array([secrets.randbits(63) for _ in range(3)], np.int64), alg=_algorithm(alg))

    algorithm = property(lambda self: self._alg)
    state = property(lambda self: self._state)
    state_var = property(lambda self: self._state)

    @property
    def key(self) -> Any:
        with context.eager_mode() if context.outside_graph() else _Nothing():
            return self._state.read_value()[2]

    # ---- Moving.

    def reset(self, state: Any) -> None:
        """Goes on from this state."""
        self._state.assign(np.asarray(getattr(state, "numpy", lambda: state)()).astype(np.int64))

    def reset_from_seed(self, seed: Any) -> None:
        """Begins anew as `from_seed` does."""
        self.reset(_state_of(seed))

    def reset_from_key_counter(self, key: Any, counter: Any) -> None:
        """Begins anew as `from_key_counter` does."""
        self.reset(_joined(key, counter))

    def skip(self, delta: Any) -> None:
        """Passes over `delta` blocks of numbers."""
        context._state.eager += 1
        try:
            self._advance(delta)
        finally:
            context._state.eager -= 1

    def _advance(self, elements: Any) -> Any:
        """The state as it was; the next call begins behind these elements."""
        before = self._state.read_value()
        count = math_ops.cast(elements, dtypes.int64) * _PER_ELEMENT
        zero = array_ops.zeros([], dtypes.int64)
        self._state.assign_add(array_ops.stack([count, zero, zero]), read_value=False)
        return before

    # ---- Drawing.

    def _draw(self, op: str, shape: Any, inputs: Any = (), **attrs: Any) -> Any:
        context._state.eager += 1
        try:
            shape = index_values.tensor(shape, wide=True) if isinstance(shape, (list, tuple)) else ops.convert_to_tensor(shape)
            before = self._advance(math_ops.reduce_prod(shape))
            key, counter = self._of_replica(_uint64(before[2:3])), _uint64(before[0:2])
            return gen.apply(op, [shape, key, counter, ops.convert_to_tensor(_PHILOX, dtypes.int32), *inputs], attrs)
        finally:
            context._state.eager -= 1

    def _of_replica(self, key: Any) -> Any:
        """In a replica another key than in its neighbours, whose copies of the state are alike."""
        replica = own.distribution[-1].replica if own.distribution else None
        if replica is None or getattr(self._state, "_strategy", None) is not replica.strategy:
            return key
        number = _uint64(math_ops.cast(array_ops.stack([replica.replica_id_in_sync_group, 0]), dtypes.int64))
        return gen.apply("StatelessRandomUniformFullIntV2", [ops.convert_to_tensor([1]), key, number, ops.convert_to_tensor(_PHILOX, dtypes.int32)], {"dtype": dtypes.uint64})

    def _scaled(self, value: Any, scale: Any, shift: Any) -> Any:
        context._state.eager += 1
        try:
            return value * ops.convert_to_tensor(scale, dtype=value.dtype) + ops.convert_to_tensor(shift, dtype=value.dtype)
        finally:
            context._state.eager -= 1

    def normal(self, shape: Any, mean: Any = 0.0, stddev: Any = 1.0, dtype: Any = dtypes.float32, name: str | None = None) -> Any:
        """Draws from the normal distribution."""
        drawn = self._draw("StatelessRandomNormalV2", shape, dtype=dtypes.as_dtype(dtype))
        return self._scaled(drawn, stddev, mean)

    def truncated_normal(self, shape: Any, mean: Any = 0.0, stddev: Any = 1.0, dtype: Any = dtypes.float32, name: str | None = None) -> Any:
        """Draws from the normal distribution, nothing more than two deviations from the mean."""
        drawn = self._draw("StatelessTruncatedNormalV2", shape, dtype=dtypes.as_dtype(dtype))
        return self._scaled(drawn, stddev, mean)

    def uniform(self, shape: Any, minval: Any = 0, maxval: Any = None, dtype: Any = dtypes.float32, name: str | None = None) -> Any:
        """Draws evenly from [`minval`, `maxval`); integers need a `maxval`, floats default to [0, 1)."""
        dtype = dtypes.as_dtype(dtype)
        if dtype.is_integer:
            if maxval is None:
                raise ValueError("Must specify maxval for integer dtype")
            limits = [_limit(minval, dtype), _limit(maxval, dtype)]
            return self._draw("StatelessRandomUniformIntV2", shape, limits)
        maxval = 1.0 if maxval is None else maxval
        drawn = self._draw("StatelessRandomUniformV2", shape, dtype=dtype)
        return self._scaled(drawn, maxval - minval, minval)

    def uniform_full_int(self, shape: Any, dtype: Any = dtypes.uint64, name: str | None = None) -> Any:
        """Draws evenly from all numbers of an integer dtype."""
        return self._draw("StatelessRandomUniformFullIntV2", shape, dtype=dtypes.as_dtype(dtype))

    def binomial(self, shape: Any, counts: Any, probs: Any, dtype: Any = dtypes.int32, name: str | None = None) -> Any:
        """Draws numbers of successes among `counts` trials of chance `probs`."""
        context._state.eager += 1
        try:
            counts, probs = ops.convert_to_tensor(counts), ops.convert_to_tensor(probs)
            shape = index_values.tensor(shape, wide=True) if isinstance(shape, (list, tuple)) else ops.convert_to_tensor(shape)
            given = [self._state.handle, ops.convert_to_tensor(_PHILOX, dtypes.int64), shape, counts, probs]
            return gen.apply("StatefulRandomBinomial", given, {"dtype": dtypes.as_dtype(dtype)})
        finally:
            context._state.eager -= 1

    def make_seeds(self, count: int = 1) -> Any:
        """Seeds for stateless ops, a column [2] each."""
        keys = self.uniform_full_int([count], dtype=dtypes.int64)
        context._state.eager += 1
        try:
            return array_ops.stack([keys, array_ops.zeros_like(keys)])
        finally:
            context._state.eager -= 1

    def split(self, count: int = 1) -> list["Generator"]:
        """Generators of streams of their own, drawn from this one."""
        keys = self.uniform_full_int([count], dtype=dtypes.int64).numpy()
        return [Generator.from_key_counter(int(k), [0, 0], self._alg) for k in keys]


class _Nothing:
    def __enter__(self) -> None:
        pass

    def __exit__(self, *_: Any) -> None:
        pass


def _limit(value: Any, dtype: Any) -> Any:
    index_values.check(value, dtype)
    context._state.eager += 1
    try:
        return ops.convert_to_tensor(value, dtype=dtype)
    finally:
        context._state.eager -= 1


def _joined(key: Any, counter: Any) -> np.ndarray:
    numbers = [*np.asarray(counter).reshape(-1).tolist(), np.asarray(key).item()]
    if len(numbers) != 3:
        raise ValueError("A counter of two numbers and a key of one are wanted.")
    return _words(numbers)


_global: Generator | None = None


def get_global_generator() -> Generator:
    """The program's generator, made without a seed when first asked for."""
    global _global
    if _global is None:
        with context.eager_mode():
            _global = Generator.from_non_deterministic_state()
    return _global


def set_global_generator(generator: Generator) -> None:
    """Makes a generator the program's own."""
    global _global
    _global = generator


def _full_int(shape: list[int], seed: Any, dtype: Any) -> Any:
    key, counter, algorithm = random_ops._stateless_key(seed)
    shape = index_values.tensor(shape, wide=True)
    return gen.apply("StatelessRandomUniformFullIntV2", [shape, key, counter, algorithm], {"dtype": dtype})


def split(seed: Any, num: int = 2, alg: Any = "auto_select") -> Tensor:
    """`num` seeds from one."""
    seed = ops.convert_to_tensor(seed)
    return _full_int([num, 2], seed, seed.dtype)


def fold_in(seed: Any, data: Any, alg: Any = "auto_select") -> Tensor:
    """A seed made of a seed and a number."""
    data = ops.convert_to_tensor(data)
    return array_ops.stack([_full_int([], seed, data.dtype), data])
