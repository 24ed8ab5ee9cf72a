"""Type checkers see the package: stubs that agree with it, and a program that passes `--strict`."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SAMPLE = ROOT / "tests" / "typing" / "sample.py"


def mypy(file: Path, cache: Path) -> subprocess.CompletedProcess:
    pytest.importorskip("mypy")
    return subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--cache-dir", str(cache), str(file)],
        env={**os.environ, "MYPYPATH": str(ROOT / "python")}, capture_output=True, text=True, timeout=600,
    )


def test_stubs_are_those_of_the_package():
    made = subprocess.run([sys.executable, ROOT / "tools" / "make_stubs", "--check"], capture_output=True, text=True, timeout=300)
    assert made.returncode == 0, f"run tools/make_stubs in the project's environment\n{made.stdout}{made.stderr}"


def test_the_package_says_that_it_is_typed():
    assert (ROOT / "python" / "emplace" / "py.typed").is_file()


def test_a_program_passes_strict_checking(tmp_path):
    checked = mypy(SAMPLE, tmp_path)
    assert checked.returncode == 0, checked.stdout + checked.stderr


def test_a_wrong_program_is_refused(tmp_path):
    wrong = tmp_path / "wrong.py"
    wrong.write_text("import emplace.compat.v1 as tf\n\ntf.matmul(1)\ntf.no_such_name\ntf.Session(grap=None)\n")
    said = mypy(wrong, tmp_path).stdout
    assert 'Missing positional argument "b"' in said
    assert 'no attribute "no_such_name"' in said
    assert 'Unexpected keyword argument "grap"' in said


def test_the_sample_runs():
    ran = subprocess.run([sys.executable, SAMPLE], capture_output=True, text=True, timeout=120)
    assert ran.stderr == "" and ran.stdout.splitlines() == [
        "FailedPreconditionError Attempting", "1 2", "/job:worker/task:1 Sum True",
    ]
