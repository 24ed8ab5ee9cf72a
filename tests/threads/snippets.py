"""The eager snippets of `tests/differential` in eight threads at once: each gives what it gives alone.

A program of its own: `test_suites.py` runs it.
"""

import os
from typing import Any

from eager_outcome import Outcome, differences, outcome
from eager_snippets import SNIPPETS
from in_threads import at_once

import emplace as tf

# These change what holds for the whole process.
_OF_THE_PROCESS = ("_softly", "_seeded", "run_functions_eagerly")
_NAMES = [n for n, s in SNIPPETS.items() if not {*s.build.__code__.co_names, n} & {*_OF_THE_PROCESS}]
_SHARE = 1 if os.environ.get("EMPLACE_TEST_FULL") else 4  # a snippet is run by eight threads, or by two


def _differs(alone: Outcome, together: Outcome) -> Any:
    if alone.error or together.error:
        return alone.error != together.error and together
    return differences(alone.result, together.result)


def _run(name: str) -> Outcome:
    tf.compat.v1.reset_default_graph()  # some say what an empty one gives
    return outcome(tf, SNIPPETS[name])


def main() -> None:
    alone = {name: _run(name) for name in _NAMES}

    def work(i: int) -> list[str]:
        mine, first = _NAMES[i % _SHARE :: _SHARE], len(_NAMES) // _SHARE * i // 8
        found = {name: _differs(alone[name], _run(name)) for name in mine[first:] + mine[:first]}
        return [f"{name}: {said}" for name, said in found.items() if said]

    wrong = sum(at_once(8, work), [])
    assert not wrong, "\n".join(wrong)
    print(f"{len(_NAMES)} snippets")


main()
