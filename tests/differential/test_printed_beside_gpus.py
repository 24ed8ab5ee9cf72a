"""The programs of test_printed.py that use datasets and Python functions, where there are GPUs."""

import inspect
import os
import pathlib
import subprocess
import sys

import pytest
from test_printed import PROGRAMS

WORDS = ("tf.data.", "py_func", "numpy_function")
SAMPLE = [name for name, program in PROGRAMS.items() if any(word in inspect.getsource(program) for word in WORDS)]


def test_they_print_the_same() -> None:
    pytest.importorskip("tensorflow")
    file = pathlib.Path(__file__).with_name("test_printed.py")
    tests = [f"{file}::test_prints_what_tensorflow_prints[{name}]" for name in SAMPLE]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *tests], capture_output=True, text=True, timeout=600,
        env={**os.environ, "EMPLACE_VIRTUAL_GPUS": "2", "CUDA_VISIBLE_DEVICES": "-1"},
    )  # fmt: skip
    assert done.returncode == 0, done.stdout
