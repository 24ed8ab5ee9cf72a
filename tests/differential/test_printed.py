"""Programs as a stranger would write them, on TensorFlow 1's API and on ours: what they print, and
what they are refused with, must agree line by line."""

import inspect
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import printed_arrays
import printed_basics
import printed_both_worlds
import printed_datasets
import printed_distributions
import printed_errors
import printed_extra
import printed_flows
import printed_habits
import printed_helpers
import printed_more
import printed_names
import printed_nets
import printed_pipelines
import printed_scopes
import printed_steps
import printed_strangers
import printed_surface
import printed_towers
import printed_training
import printed_unseen
import printed_unseen_more
import printed_values
from graph_outcome import first_words
from test_graph import ours, theirs  # noqa: F401  (fixtures)

PROGRAMS = {
    name: program
    for module in (
        printed_basics, printed_training, printed_helpers, printed_errors, printed_values, printed_arrays, printed_nets,
        printed_habits, printed_pipelines, printed_surface, printed_more, printed_towers, printed_scopes, printed_steps, printed_flows,
        printed_names, printed_extra, printed_unseen, printed_unseen_more, printed_strangers, printed_datasets,
        printed_distributions, printed_both_worlds,
    )
    for name, program in vars(module).items()
    if callable(program) and getattr(program, "__module__", "") == module.__name__
}


def clean(text: str) -> str:
    text = re.sub(r"'_\d+_", "'_N_", text)  # queues are numbered over the process
    return re.sub(r"0x[0-9a-f]+", "0x", text).replace("VariableV2", "Variable")


class Page:
    """What a program says."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    def say(self, *values: Any) -> None:
        self.lines.append(clean(" ".join(map(str, values))))

    def fails(self, function: Callable[..., Any], *args: Any, **kwargs: Any) -> None:
        try:
            function(*args, **kwargs)
        except Exception as e:  # whatever it is, the other side must raise the same
            kind = next(c.__name__ for c in type(e).__mro__ if not c.__module__.startswith("emplace.framework.constant"))
            self.say(f"{kind}: {first_words(e)}")
        else:
            self.say("no error")


def printed(tf: Any, program: Callable[..., None]) -> list[str]:
    page = Page()
    with tf.Graph().as_default():
        program(tf, np, page.say, page.fails)
    return page.lines


@pytest.mark.parametrize("name", PROGRAMS)
def test_prints_what_tensorflow_prints(name: str, ours: Any, theirs: Any) -> None:  # noqa: F811
    if any(word in inspect.getsource(PROGRAMS[name]) for word in ("tf.layers.", "rnn_cell")):
        pytest.importorskip("tf_keras")
    assert printed(ours, PROGRAMS[name]) == printed(theirs, PROGRAMS[name])


def test_there_are_many() -> None:
    assert len(PROGRAMS) >= 220
