"""Programs as users write them for clusters print here what they print on TensorFlow.

`programs/NAME.expected` is what TensorFlow's own servers and client gave; EMPLACE_TEST_RECORD=1 writes it anew.
"""

from __future__ import annotations

import json
import os
import pathlib
import subprocess
import sys
from typing import Iterator

import pytest

import emplace.compat.v1 as tf
from processes import LIMIT, MODULES, Cluster, environment

try:
    tf.train.Server.create_local_server()
except tf.errors.UnimplementedError as error:  # a build without clusters
    pytest.skip(str(error), allow_module_level=True)

PROGRAMS = pathlib.Path(__file__).parent / "programs"
NAMES = sorted(p.stem for p in PROGRAMS.glob("*.py") if not p.stem.startswith("_"))
RECORD = os.environ.get("EMPLACE_TEST_RECORD") == "1"


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    with Cluster("tensorflow" if RECORD else "emplace", {"ps": 2, "worker": 2}) as made:
        yield made


@pytest.mark.parametrize("name", NAMES)
def test_prints_what_tensorflow_prints(cluster: Cluster, name: str) -> None:
    client = MODULES["tensorflow" if RECORD else "emplace"]
    command = [sys.executable, str(PROGRAMS / "_cluster.py"), client, json.dumps(cluster.spec), name]
    done = subprocess.run(command, capture_output=True, text=True, env=environment(), timeout=LIMIT)
    assert done.returncode == 0, done.stderr[-3000:]
    expected = PROGRAMS / f"{name}.expected"
    if RECORD:
        expected.write_text(done.stdout)
    assert done.stdout == expected.read_text(), done.stderr[-3000:]
