"""Whatever an operation's wrapper is called with: an exception of the right kind, never a crash."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

CALLS = 20_000 if os.environ.get("EMPLACE_TEST_FULL") else 600


def drive(calls: int, seed: int, folder: Path) -> dict:
    last = folder / "last_call.txt"
    ran = subprocess.run(
        [sys.executable, Path(__file__).with_name("robustness.py"), str(calls), str(seed), str(last)],
        capture_output=True, text=True, timeout=3000, cwd=folder,  # where files that a call writes go
    )
    assert ran.returncode == 0, f"ended with {ran.returncode} in {last.read_text() if last.exists() else '?'}\n{ran.stderr[-3000:]}"
    return json.loads(ran.stdout.splitlines()[-1])


@pytest.fixture(scope="module")
def tally(tmp_path_factory):
    folder = tmp_path_factory.mktemp("robustness")
    parts = [drive(min(CALLS, 5000), seed, folder) for seed in range(max(1, CALLS // 5000))]
    total = {k: sum((p[k] for p in parts), [] if k == "wrong" else 0) for k in parts[0]}
    return total


def test_every_call_ends_in_a_result_or_an_exception_of_the_right_kind(tally):
    assert tally["calls"] >= CALLS * 0.9
    assert not tally["wrong"], "\n".join(sorted(tally["wrong"])[:40])


def test_half_of_the_calls_come_as_far_as_a_shape_rule_or_a_kernel(tally):
    assert tally["reached"] >= tally["calls"] / 2, tally


def test_some_of_them_run(tally):
    assert tally["ran"] >= tally["calls"] / 10, tally
