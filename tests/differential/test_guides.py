"""Programs like those of TensorFlow's guides: what they print on TensorFlow and on ours must agree.

Each file of `guides/` is a program. Floats are compared by value, addresses and the numbers of
functions not at all; of an error the class and the message count.
"""

import contextlib
import io
import linecache
import pathlib
import re
import sys
from typing import Any

import pytest
from test_eager import ours, theirs  # noqa: F401  (fixtures)

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "docstrings"))
from checker import agrees  # noqa: E402

_GUIDES = sorted((pathlib.Path(__file__).parent / "guides").glob("*.py"))
_LOOSE = (
    (r"0x[0-9a-fA-F]+", "0x"),
    (r"\b(tensorflow|emplace)(\.\w+)*\b", "tf"),
    (r"(__inference_\w+?_)\d+", r"\1n"),
    (r"\b\d{15}\b", "id"),
    (r"(?<!_)node \w+/", "node "),
)


def clean(text: str) -> list[str]:
    for pattern, said in _LOOSE:
        text = re.sub(pattern, said, text)
    return [line.rstrip() for line in text.splitlines()]


def printed(tf: Any, guide: pathlib.Path) -> list[str]:
    source = guide.read_text().replace("import tensorflow as tf\n", "\n")
    file = str(guide)
    linecache.cache[file] = (len(source), None, source.splitlines(keepends=True), file)  # for AutoGraph
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        try:
            exec(compile(source, file, "exec"), {"tf": tf, "__name__": guide.stem})
        except Exception as e:  # the other side must end the same way
            print(f"ended by {type(e).__name__}: {e}")
    return clean(out.getvalue())


def unlike(want: list[str], got: list[str]) -> list[str]:
    rows = [f"want {w}\n got {g}" for w, g in zip(want, got) if w != g and not agrees(w, g)]
    rows += [f"want {w}" for w in want[len(got) :]] + [f" got {g}" for g in got[len(want) :]]
    return rows


@pytest.mark.parametrize("guide", _GUIDES, ids=lambda g: g.stem)
def test_prints_what_tensorflow_prints(guide: pathlib.Path, ours: Any, theirs: Any) -> None:  # noqa: F811
    wrong = unlike(printed(theirs, guide), printed(ours, guide))
    assert not wrong, "\n".join(wrong[:20])
