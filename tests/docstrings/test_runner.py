"""The runner of docstrings: what examples write goes to a place of their own, gone afterwards."""

import os
import pathlib
from typing import Any

import pytest
from runner import outcomes


def example(source: str, want: str = "") -> dict[str, Any]:
    return {"source": source + "\n", "want": want, "error": None, "skip": False, "line": 1}


def test_examples_write_where_nobody_else_does(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fixed = pathlib.Path(f"/tmp/emplace_docstring_{os.getpid()}")
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    examples = [
        example(f"with open('{fixed}', 'w') as f: f.write('a')", "1\n"),
        example(f"open('{fixed}').read()", "'a'\n"),
        example("import tempfile; open(tempfile.gettempdir() + '/saved', 'w').close()"),
        example("open('here', 'w').close()"),
    ]
    try:
        assert list(outcomes({"tf.name": examples}, module="os")) == [("tf.name", [])]
        assert not fixed.exists()
        assert not os.path.exists("here")
        assert not list(tmp_path.iterdir())
    finally:
        fixed.unlink(missing_ok=True)
        pathlib.Path("here").unlink(missing_ok=True)
