"""examples/dynamic_placer.py runs, and lays its network over all GPUs."""

import os
import re
import subprocess
import sys
from pathlib import Path

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "dynamic_placer.py"


def placed(folder: Path) -> list[tuple[str, str]]:
    """Where each layer's weights and product are, by rates that are measured anew."""
    env = {**os.environ, "EMPLACE_VIRTUAL_GPUS": "4:16M", "XDG_CACHE_HOME": str(folder)}
    done = subprocess.run([sys.executable, EXAMPLE], env=env, capture_output=True, text=True, timeout=600)
    pairs = re.findall(r"^w\d and product\d: (\S+) and (\S+)$", done.stdout, re.MULTILINE)
    assert len(pairs) == 8, done.stderr
    assert all(weights == product for weights, product in pairs)
    return pairs


def test_the_example_uses_every_gpu(tmp_path):
    found = set()
    for i in range(5):
        devices = [weights for weights, _ in placed(tmp_path / str(i))]
        assert all(devices.count(f"GPU:{n}") <= 5 for n in range(4))  # 3 MiB each, of 16
        found = set(devices)
        if found == {"GPU:0", "GPU:1", "GPU:2", "GPU:3"}:
            return
    # While others are at work the GPUs' threads may look slower than the cores, each time.
    assert "CPU:0" in found
