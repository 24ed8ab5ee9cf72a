"""Programs like those of TensorFlow's guides: what they print on TensorFlow and on ours must agree.

Each file of `guides/` is a program. Floats are compared by value, addresses and the numbers of
functions not at all; of an error the class and the message count.
"""

import json
import pathlib
import re
import subprocess
import sys
from typing import Any, Iterator

import pytest
from printed_guide import printed
from test_eager import ours, theirs  # noqa: F401  (fixtures)

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "docstrings"))
from checker import agrees  # noqa: E402

_GUIDES = sorted((pathlib.Path(__file__).parent / "guides").glob("*.py"))
_OF_KERAS = re.compile(r"\btf\.(keras|optimizers|losses|metrics|initializers)\b")


@pytest.fixture(scope="module")
def alone() -> Iterator[Any]:
    """Runs guides on ours in a process of their own: Keras is there for one of the two in a process."""
    program = pathlib.Path(__file__).with_name("printed_guide.py")
    with subprocess.Popen([sys.executable, program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as worker:

        def run(guide: pathlib.Path) -> list[str]:
            worker.stdin.write(f"{guide}\n")  # type: ignore[union-attr]
            worker.stdin.flush()  # type: ignore[union-attr]
            return json.loads(worker.stdout.readline())  # type: ignore[union-attr,no-any-return]

        yield run
        worker.stdin.close()  # type: ignore[union-attr]


def unlike(want: list[str], got: list[str]) -> list[str]:
    rows = [f"want {w}\n got {g}" for w, g in zip(want, got) if w != g and not agrees(w, g)]
    rows += [f"want {w}" for w in want[len(got) :]] + [f" got {g}" for g in got[len(want) :]]
    return rows


@pytest.mark.parametrize("guide", _GUIDES, ids=lambda g: g.stem)
def test_prints_what_tensorflow_prints(guide: pathlib.Path, ours: Any, theirs: Any, alone: Any) -> None:  # noqa: F811
    apart = ours is not theirs and _OF_KERAS.search(guide.read_text())
    wrong = unlike(printed(theirs, guide), alone(guide) if apart else printed(ours, guide))
    assert not wrong, "\n".join(wrong[:20])
