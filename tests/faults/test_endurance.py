"""Short forms of `./test soak` (soak.py, load.py); EMPLACE_TEST_FULL makes them long."""

import os
import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).parent
FULL = bool(os.environ.get("EMPLACE_TEST_FULL"))


def ran(program: str, *how: str) -> str:
    done = subprocess.run([sys.executable, str(HERE / program), *how], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr[-3000:]
    return done.stdout


def test_mixed_work_keeps_memory_descriptors_and_threads() -> None:
    assert "threads +0.00 %" in ran("soak.py", *(["--seconds", "600"] if FULL else ["--rounds", "120"]))


def test_many_sessions_and_threads_at_once_lose_nothing() -> None:
    assert " 0 wrong, 0 lost" in ran("load.py", *(["--seconds", "120"] if FULL else ["--steps", "60"]))
