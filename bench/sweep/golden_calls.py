"""Rows of bench/run sweep out of the golden calls: every operation of the catalogue, at three sizes.

A call is Python source, as in calls.py. Sizes come from repeating the inputs of a golden call along some axis: which way an
operation bears is found by trying, so a row has several candidates, best first.
"""

from __future__ import annotations

import dataclasses
import pathlib
import urllib.parse
from collections.abc import Iterator
from typing import Any

import numpy as np

GOLDEN = pathlib.Path(__file__).parents[2] / "tests" / "golden"
DTYPES = ("float32", "float64", "float16", "bfloat16", "int32", "int64", "complex64", "string", "bool", "uint8")
ELEMENTS = {"small": 0, "medium": 1 << 15, "large": 1 << 21}  # of the first input


@dataclasses.dataclass
class Value:
    dtype: str
    shape: tuple[int, ...]
    words: list[str]

    def source(self, reps: tuple[int, ...]) -> str:
        """`reps`: how often along each axis; one more than there are axes puts a new one before them."""
        if self.dtype == "string":
            values: list[Any] = [urllib.parse.unquote_to_bytes(w[1:]) for w in self.words]
            array = f"np.array({values!r}, object)"
        elif self.dtype.startswith("complex"):
            array = f"np.array({[complex(*map(float, w.split(','))) for w in self.words]!r})"
        else:
            numbers = [int(w) if w.lstrip('-').isdigit() else float(w) for w in self.words]
            array = f"np.array({numbers!r})"
        array += f".reshape({self.shape!r})"
        if any(n > 1 for n in reps):
            array = f"np.tile({array}, {reps!r})"
        return f"tf.constant({array}, tf.{self.dtype})" if self.dtype != "bool" else f"tf.constant({array}.astype(bool))"


@dataclasses.dataclass
class Call:
    op: str
    attrs: dict[str, str]
    inputs: list[Value]


def parsed() -> Iterator[Call]:
    """The golden calls that succeed and touch no variable."""
    for path in sorted(GOLDEN.glob("*_kernels*.txt")):
        for block in path.read_text().split("\n\n"):
            call, plain = Call("", {}, []), True
            for line in block.splitlines():
                kind, _, rest = line.partition(" ")
                if kind == "op":
                    call.op = rest
                elif kind == "attr":
                    name, _, value = rest.partition(" ")
                    call.attrs[name] = attr_source(value)
                elif kind == "in":
                    dtype, dims, *words = rest.split(" ")
                    call.inputs.append(Value(dtype, () if dims == "-" else tuple(map(int, dims.split(","))), words))
                elif kind in ("var", "error", "after"):
                    plain = False
            if call.op and plain and call.inputs:
                yield call


def attr_source(text: str) -> str:
    kind, _, rest = text.partition(" ")
    words = rest.split()
    if kind == "bool":
        return repr(bool(int(rest)))
    if kind in ("int", "float"):
        return f"float({rest!r})" if kind == "float" else rest
    if kind in ("ints", "floats"):
        return repr([int(w) if kind == "ints" else float(w) for w in words])
    if kind == "type":
        return f"tf.{rest}"
    if kind == "types":
        return "[" + ", ".join(f"tf.{w}" for w in words) + "]"
    if kind == "shape":
        return repr([] if rest in ("-", "") else [int(d) for d in rest.split(",")])
    if kind == "string":
        return repr(rest)
    if kind == "text":
        return repr(urllib.parse.unquote(rest[1:]))
    if kind == "texts":
        return repr([urllib.parse.unquote(w[1:]) for w in words])
    raise ValueError(f"an attribute of a kind unknown here: {text}")


def chosen() -> list[Call]:
    """The largest golden call of each operation and dtype in common use."""
    found: dict[tuple[str, str], Call] = {}
    for call in parsed():
        key = call.op, call.inputs[0].dtype
        if key[1] in DTYPES and (key not in found or size_of(call) > size_of(found[key])):
            found[key] = call
    return [found[key] for key in sorted(found)]


def size_of(call: Call) -> int:
    return sum(len(v.words) for v in call.inputs)


def ways(call: Call, size: str) -> Iterator[list[tuple[int, ...]]]:
    """How often each input is repeated, along which axes."""
    once = [(1,) * len(v.shape) for v in call.inputs]
    first = call.inputs[0]
    count = max(1, len(first.words))
    times = ELEMENTS[size] // count
    if times < 2:
        yield once
        return
    alike = [v.shape == first.shape for v in call.inputs]
    is_array = [len(v.shape) > 0 for v in call.inputs]
    only = [i == 0 for i in range(len(call.inputs))]
    high = [len(v.shape) >= 2 for v in call.inputs]

    def along(which: list[bool], axis: int) -> list[tuple[int, ...]]:
        return [
            tuple(times if a == axis % len(reps) else 1 for a in range(len(reps))) if pick and reps else reps
            for pick, reps in zip(which, once)
        ]

    for which in (alike, is_array, only):
        if first.shape:
            yield along(which, 0)
            yield along(which, -1)
    for which in (high, only):
        yield [(times, *reps) if pick and reps else reps for pick, reps in zip(which, once)]
    if not first.shape:
        yield [(times,) if a else reps for a, reps in zip(alike, once)]
        yield [(times,) if o else reps for o, reps in zip(only, once)]


def call_source(call: Call, definition: Any) -> str:
    """`definition`: of the operation, as the engine tells it. Inputs are x0, x1, …"""
    given, at, parts = set(), 0, []
    for argument in definition.inputs:
        given |= {argument.type_attr, argument.number_attr, argument.type_list_attr}
        count = None
        rest = len(call.inputs) - at - (len(definition.inputs) - len(parts) - 1)  # should the others take one each
        if argument.number_attr:
            count = int(call.attrs.get(argument.number_attr, rest))
        elif argument.type_list_attr:
            types = call.attrs.get(argument.type_list_attr)
            count = rest if types is None else types.count("tf.")
        names = [f"x{i}" for i in range(at, at + (1 if count is None else count))]
        at += len(names)
        parts.append(f"{argument.name}={names[0] if count is None else '[' + ', '.join(names) + ']'}")
    if at != len(call.inputs):
        raise ValueError(f"{call.op} takes {at} inputs, not {len(call.inputs)}")
    parts += [f"{name}={value}" for name, value in call.attrs.items() if name not in given]
    return f"tf.raw_ops.{call.op}({', '.join(parts)})"


def made_source(call: Call, reps: list[tuple[int, ...]]) -> str:
    return "from math import inf, nan\n" + "\n".join(f"x{i} = {v.source(r)}" for i, (v, r) in enumerate(zip(call.inputs, reps)))


def gradient_source(call: Call, made: str, made_call: str) -> tuple[str, str]:
    watched = ", ".join(f"x{i}" for i, v in enumerate(call.inputs) if np.dtype("f4").name == v.dtype)
    body = f"def f():\n  with tf.GradientTape() as g:\n    g.watch([{watched}])\n    y = {made_call}\n  return g.gradient(y, [{watched}])"
    check = "assert any(g is not None for g in f())"
    return f"{made}\n{body}\n{check}", "f()"
