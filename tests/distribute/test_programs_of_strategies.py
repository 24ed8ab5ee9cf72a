"""Programs of `tf.distribute`: they print what TensorFlow printed (`NAME.expected`).

`python tests/distribute/test_programs_of_strategies.py [NAME…]` runs them on TensorFlow and writes those files anew. Addresses and
modules don't count, nor do the names of private classes.
"""

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

PROGRAMS = Path(__file__).parent / "programs"
STAND_IN = "import sys, tensorflow as tf\nsys.modules[__name__] = tf\n"
_LOOSE = (
    (r"0x[0-9a-fA-F]+", "0x"),
    (r"\b(tensorflow|emplace)(\.\w+)*\.(\w+)", r"tf.\3"),
    (r"\b_\w*?(ReplicaContext|DefaultDistributionStrategy)\b", r"\1"),
    (r"\b(Default)(Distribution)?(Strategy|ReplicaContext)\b", r"\3"),
    (r"\b_(OptionalImpl)\b", "Optional"),
)


def names() -> list[str]:
    return sorted(p.stem for p in PROGRAMS.glob("*.py") if p.stem != "two_replicas")


def clean(text: str) -> list[str]:
    for pattern, said in _LOOSE:
        text = re.sub(pattern, said, text)
    return [line.rstrip() for line in text.splitlines()]


def run(name: str, stand_in: str = "") -> subprocess.CompletedProcess[str]:
    env = {k: v for k, v in os.environ.items() if not k.startswith("EMPLACE_VIRTUAL")}
    env |= {"CUDA_VISIBLE_DEVICES": "-1", "PYTHONDONTWRITEBYTECODE": "1", "TF_CPP_MIN_LOG_LEVEL": "3", "TF_ENABLE_ONEDNN_OPTS": "0"}
    env |= {"PYTHONPATH": stand_in} if stand_in else {}
    program = PROGRAMS / f"{name}.py"
    posing = ["-m", "emplace"] if not stand_in and "import tensorflow" in program.read_text() else []
    return subprocess.run([sys.executable, *posing, str(program)], env=env, capture_output=True, text=True, timeout=600)


@pytest.mark.parametrize("name", names())
def test_prints_what_tensorflow_printed(name: str) -> None:
    done = run(name)
    assert done.returncode == 0 and not done.stderr, done.stderr
    want, got = (PROGRAMS / f"{name}.expected").read_text().splitlines(), clean(done.stdout)
    unlike = [f"want {w}\n got {g}" for w, g in zip(want, got) if w != g] + [f"want {w}" for w in want[len(got) :]] + got[len(want) :]
    assert not unlike, "\n".join(unlike[:20])


def record() -> None:
    asked = sys.argv[1:]
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "emplace.py").write_text(STAND_IN)
        for name in asked or names():
            done = run(name, folder)
            for _ in range(9):  # TensorFlow ends now and then in a fault of its own
                done = done if done.returncode >= 0 else run(name, folder)
            assert done.returncode == 0, done.stderr
            (PROGRAMS / f"{name}.expected").write_text("\n".join(clean(done.stdout)) + "\n")


if __name__ == "__main__":
    record()
