"""What Keras exports on Emplace, TensorFlow serves, and the other way round: with the same values."""

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import pytest

_PROGRAM = Path(__file__).parent / "export_models.py"
_NAMES = ("convolutions", "sequences", "attention", "texts", "module")


def _run(what: str, folder: Path, ours: bool) -> str:
    env = {**os.environ, "TF_USE_LEGACY_KERAS": "0", "CUDA_VISIBLE_DEVICES": "-1", "TF_CPP_MIN_LOG_LEVEL": "3", "TF_ENABLE_ONEDNN_OPTS": "0", "KERAS_BACKEND": "tensorflow"}
    done = subprocess.run(
        [sys.executable, *(["-m", "emplace"] if ours else []), str(_PROGRAM), what, str(folder)], env=env, capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.skipif(not all(map(importlib.util.find_spec, ("tensorflow", "keras"))), reason="TensorFlow or Keras is not installed")
@pytest.mark.parametrize("ours", (True, False), ids=("ours_to_theirs", "theirs_to_ours"))
def test_exported_models_serve_the_same(ours: bool, tmp_path: Path) -> None:
    _run("write", tmp_path, ours)
    assert _run("read", tmp_path, not ours).splitlines() == [f"{name} True True" for name in _NAMES]
