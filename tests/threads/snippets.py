"""The eager snippets of `tests/differential` in eight threads at once: each gives what it gives alone.

A program of its own: `test_suites.py` runs it.
"""

import os
from typing import Any

from eager_outcome import Outcome, differences, outcome
from eager_snippets import SNIPPETS
from in_threads import at_once

import emplace as tf

_SHARE = 1 if os.environ.get("EMPLACE_TEST_FULL") else 4  # a snippet is run by eight threads, or by two


def _differs(alone: Outcome, together: Outcome) -> Any:
    if alone.error or together.error:
        return alone.error != together.error and together
    return differences(alone.result, together.result)


def _run(name: str) -> Outcome:
    tf.compat.v1.reset_default_graph()  # some say what an empty one gives
    return outcome(tf, SNIPPETS[name])


def main() -> None:
    alone = {name: _run(name) for name in SNIPPETS}
    names = list(SNIPPETS)

    def work(i: int) -> list[str]:
        mine, first = names[i % _SHARE :: _SHARE], len(names) // _SHARE * i // 8
        found = {name: _differs(alone[name], _run(name)) for name in mine[first:] + mine[:first]}
        return [f"{name}: {said}" for name, said in found.items() if said]

    wrong = sum(at_once(8, work), [])
    assert not wrong, "\n".join(wrong)
    print(f"{len(names)} snippets")


main()
