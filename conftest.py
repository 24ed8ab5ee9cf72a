"""For all Python tests: what one changes in its process is as before for the next."""

import logging
import os
import signal
from collections.abc import Iterator

import pytest

# A job in the background starts with Ctrl-C ignored; tests of it want it, children of theirs too.
signal.signal(signal.SIGINT, signal.default_int_handler)

_OURS = ("EMPLACE_", "TF_", "KERAS_")  # what libraries note for themselves when they are loaded stays


@pytest.fixture(autouse=True)
def _process_as_before() -> Iterator[None]:
    environment = dict(os.environ)
    loggers = [logging.getLogger(name) for name in (None, "emplace", "tensorflow")]
    levels = [logger.level for logger in loggers]
    yield
    for name in [n for n in os.environ if n.startswith(_OURS) and n not in environment]:
        del os.environ[name]
    os.environ.update({n: v for n, v in environment.items() if os.environ.get(n) != v})
    for logger, level in zip(loggers, levels):
        logger.setLevel(level)
