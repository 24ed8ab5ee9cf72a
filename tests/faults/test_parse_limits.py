"""What is read from outside is bounded in size and depth by EMPLACE_PARSE_MB and EMPLACE_PARSE_DEPTH."""

import os
import pathlib
import subprocess
import sys

import pytest

PROGRAM = pathlib.Path(__file__).with_name("parse_programs.py")
PARSED = ["graph", "checkpoint", "model", "records", "tensor", "png", "jpeg"]


def ran(folder: pathlib.Path, what: str, how: str, **limits: str) -> str:
    done = subprocess.run([sys.executable, str(PROGRAM), str(folder), what, how], capture_output=True, text=True,
                          env=dict(os.environ, **limits))  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("what", PARSED)
def test_what_is_larger_than_allowed_is_refused(what: str, tmp_path: pathlib.Path) -> None:
    assert ran(tmp_path, what, "make") == "done\n"
    assert ran(tmp_path, what, "read", EMPLACE_PARSE_MB="64") == "done\n"
    said = ran(tmp_path, what, "read", EMPLACE_PARSE_MB="1")
    assert "done" not in said and any(word in said for word in ("bytes", "large")), said


def test_what_nests_deeper_than_allowed_is_refused(tmp_path: pathlib.Path) -> None:
    assert ran(tmp_path, "graph", "make") == "done\n"
    assert ran(tmp_path, "graph", "read", EMPLACE_PARSE_DEPTH="20") == "done\n"
    assert "Cannot parse" in ran(tmp_path, "graph", "read", EMPLACE_PARSE_DEPTH="2")
