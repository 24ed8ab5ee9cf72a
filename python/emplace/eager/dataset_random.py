"""Random order in datasets: for given seeds the same as TensorFlow's."""

from __future__ import annotations

import secrets
from typing import Any, Iterator

import numpy as np

from emplace.eager import context
from emplace.framework import random_ops

_LOW = np.uint64(0xFFFFFFFF)
_HALF = np.uint64(32)
_FACTORS = np.uint64(0xD2511F53), np.uint64(0xCD9E8D57)
_STEPS = 0x9E3779B9, 0xBB67AE85


def _blocks(seed: int, seed2: int, first: int, count: int) -> np.ndarray:
    """Words of Philox 4x32-10: `seed` is the key, `seed2` the upper half of the counter, blocks are its lower."""
    number = np.arange(first, first + count, dtype=np.uint64)
    upper = np.full(count, seed2 & (2**64 - 1), np.uint64)
    c = [number & _LOW, number >> _HALF, upper & _LOW, upper >> _HALF]
    key = [seed & 0xFFFFFFFF, seed >> 32 & 0xFFFFFFFF]
    for _ in range(10):
        a, b = c[0] * _FACTORS[0], c[2] * _FACTORS[1]
        c = [(b >> _HALF) ^ c[1] ^ np.uint64(key[0]), b & _LOW, (a >> _HALF) ^ c[3] ^ np.uint64(key[1]), a & _LOW]
        key = [(k + step) & 0xFFFFFFFF for k, step in zip(key, _STEPS)]
    return np.stack(c, axis=1).reshape(-1)


def words(seed: int, seed2: int) -> Iterator[int]:
    """Random numbers of 32 bits."""
    first, count = 0, 16
    while True:
        yield from _blocks(seed, seed2, first, count).tolist()
        first += count
        count = min(2 * count, 4096)


def seeds_of(seed: Any) -> tuple[int, int]:
    """The pair a dataset is made with: of the program's seed and its own, or by chance."""
    if seed is not None and not isinstance(seed, int):
        seed = int(seed)
    with context.eager_mode():
        pair = random_ops.get_seed(seed)
    return pair if pair[0] is not None else (secrets.randbits(63), secrets.randbits(63))


class Rounds:
    """A pair of seeds for each round through a dataset: others each time, or the same."""

    def __init__(self, seed: Any, again: bool) -> None:
        self._pair, self._again = seeds_of(seed), again
        self._words = words(*self._pair)

    def next(self) -> Iterator[int]:
        return words(next(self._words), next(self._words)) if self._again else words(*self._pair)


def shuffled(items: Any, size: int, drawn: Iterator[int]) -> Iterator[Any]:
    """Each time one of the at most `size` items that wait, in a ring."""
    ring: list[Any] = []
    start = end = 0
    source, more = iter(items), True
    while True:
        while more and end - start < size:
            try:
                item = next(source)
            except StopIteration:
                more = False
                break
            if len(ring) < size and end == len(ring):
                ring.append(item)
            else:
                ring[end % size] = item
            end += 1
        if start == end:
            return
        at, front = (start + next(drawn) % (end - start)) % size, start % size
        chosen, ring[at] = ring[at], ring[front]
        ring[front] = None
        start += 1
        yield chosen
