"""The parts of bench/run sweep: what is called, with what."""

from __future__ import annotations

import pathlib
import sys
from collections.abc import Callable, Iterator
from typing import NamedTuple

import golden_calls
from calls import CALLS, L, M, S

SNIPPETS = pathlib.Path(__file__).parents[2] / "tests" / "differential"


class Row(NamedTuple):
    name: str
    size: str
    call: str
    ways: Callable[[], Iterator[tuple[str, str]]]  # (what is made once, the call): the first that runs is measured
    needs_all: bool = False  # left out unless all libraries run it


def everyday() -> Iterator[Row]:
    for name, size, made, call in CALLS:
        yield Row(name, size, call, lambda made=made, call=call: iter([(made, call)]))


def operations() -> Iterator[Row]:
    from emplace import _core

    for call in golden_calls.chosen():
        definition = _core.find_op(call.op)
        if definition is None:
            continue
        try:
            text = golden_calls.call_source(call, definition)
        except ValueError:  # lists whose lengths only the golden file's reader knows
            continue
        dtype = call.inputs[0].dtype
        for size in (S, M, L):
            def ways(call=call, size=size, text=text) -> Iterator[tuple[str, str]]:
                for reps in golden_calls.ways(call, size):
                    yield golden_calls.made_source(call, reps), text
            yield Row(f"{call.op} {dtype}", size, text, ways, needs_all=True)
            if dtype == "float32" and size != S:
                def gradients(call=call, size=size, text=text) -> Iterator[tuple[str, str]]:
                    for reps in golden_calls.ways(call, size):
                        yield golden_calls.gradient_source(call, golden_calls.made_source(call, reps), text)
                yield Row(f"gradient of {call.op} {dtype}", size, text, gradients, needs_all=True)


def functions() -> Iterator[Row]:
    sys.path.insert(0, str(SNIPPETS))
    from eager_snippets import SNIPPETS as snippets

    made = f"import sys\nsys.path.append({str(SNIPPETS)!r})\nfrom eager_snippets import SNIPPETS\ns = SNIPPETS[%r]"
    for name in snippets:
        if name.startswith(("refused", "threads")):
            continue
        eager, traced = made % name, made % name + "\nf = tf.function(lambda: s.build(tf))"
        yield Row(name, S, "s.build(tf)", lambda m=eager: iter([(m, "s.build(tf)")]), needs_all=True)
        yield Row(f"{name} in a function", S, "f()", lambda m=traced: iter([(m, "f()")]), needs_all=True)


PARTS: dict[str, Callable[[], Iterator[Row]]] = {"everyday": everyday, "operations": operations, "functions": functions}
