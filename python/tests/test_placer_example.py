"""examples/dynamic_placer.py runs, and lays its network over all GPUs."""

import os
import re
import subprocess
import sys
from pathlib import Path

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "dynamic_placer.py"


def test_the_example_uses_every_gpu():
    env = {**os.environ, "EMPLACE_VIRTUAL_GPUS": "4:16M"}
    done = subprocess.run([sys.executable, EXAMPLE], env=env, capture_output=True, text=True, timeout=600)
    pairs = re.findall(r"^w\d and product\d: (\S+) and (\S+)$", done.stdout, re.MULTILINE)
    assert len(pairs) == 8, done.stderr
    assert all(weights == product for weights, product in pairs)
    assert {weights for weights, _ in pairs} == {"GPU:0", "GPU:1", "GPU:2", "GPU:3"}
