"""tools/card_stale tells which commits a card has not seen."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

TOOL = Path(__file__).resolve().parents[1] / "card_stale"


@pytest.fixture
def checkout(tmp_path):
    def git(*words):
        who = ["-c", "user.name=n", "-c", "user.email=n@example.com"]
        return subprocess.run(["git", *who, *words], cwd=tmp_path, check=True, capture_output=True, text=True).stdout.strip()

    def commit(path, message):
        file = tmp_path / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(message)
        git("add", "-A")
        git("commit", "-qm", message)
        return git("rev-parse", "HEAD")

    def stale(seen):
        last = tmp_path / "card.json"
        last.write_text(json.dumps({"commit": seen, "ran": ["tests"]}))
        done = subprocess.run([sys.executable, TOOL, "--root", tmp_path, "--last", last], capture_output=True, text=True)
        return done.returncode, done.stdout + done.stderr

    git("init", "-q")
    return commit, stale


def test_what_a_card_runs_is_named(checkout):
    commit, stale = checkout
    seen = commit("README", "start")
    assert stale(seen) == (0, f"0 commits since a card ran {seen[:7]} (tests) touch what it runs\n")
    for path in ("src/exec/islands.cc", "include/emplace/graph.h", "python/src/eager.cc"):
        commit(path, f"change {path}")
    code, said = stale(seen)
    assert code == 1
    assert "change src/exec/islands.cc (src/exec)" in said
    assert "3 commits since" in said


def test_what_it_does_not_run_is_not(checkout):
    commit, stale = checkout
    seen = commit("README", "start")
    for path in ("src/format/npy.cc", "src/cluster/server.cc", "src/trace/chrome.cc", "src/exec/islands_test.cc",
                 "src/all/session_testutil.h", "python/emplace/math_ops.py", "docs/cuda.md"):
        commit(path, f"change {path}")
    assert stale(seen)[0] == 0


def test_a_run_of_no_known_commit_is_an_error(checkout):
    commit, stale = checkout
    commit("README", "start")
    code, said = stale("0" * 40)
    assert code == 2
    assert said.startswith("card_stale: ")
