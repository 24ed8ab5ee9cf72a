"""The eager suites in eight threads at once, each a process of its own."""

import os
import pathlib
import subprocess
import sys

_HERE = pathlib.Path(__file__).parent
_EAGER = _HERE.parent / "eager"
_FILES = "control_flow dataset files generator gradients images numpy_api ragged summaries tensors".split()


def _run(*command: str) -> str:
    path = [str(_HERE), str(_HERE.parent / "differential"), os.environ.get("PYTHONPATH", "")]
    done = subprocess.run(
        [sys.executable, *command], env={**os.environ, "PYTHONPATH": os.pathsep.join(path)},
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=600, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-4000:]
    return done.stdout


def test_snippets_give_what_they_give_alone() -> None:
    assert "snippets" in _run(str(_HERE / "snippets.py"))


def test_each_test_passes_eight_times_at_once() -> None:
    files = [str(_EAGER / f"test_{name}.py") for name in _FILES]
    assert " passed" in _run("-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "eight_threads", *files)
