"""`pip install .` in a fresh environment. Takes minutes: only in full counts."""

import os
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.mark.skipif(not os.environ.get("EMPLACE_TEST_FULL"), reason="only in full counts: builds everything")
def test_the_wheel_stands_alone():
    made = subprocess.run([ROOT / "tests" / "install" / "wheel"], capture_output=True, text=True, timeout=7200)
    assert made.returncode == 0, made.stdout + made.stderr
