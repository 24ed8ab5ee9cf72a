"""Functions and Keras models of TensorFlow 2, frozen to one GraphDef: run here and compared with what
TensorFlow answered when it made them. A sample in the gate, all with EMPLACE_TEST_FULL=1."""

from __future__ import annotations

import json
import os
import pathlib
import subprocess
import sys
from typing import Any

import numpy as np
import pytest

import case
import cli
import frozen  # noqa: F401  (fills the table)
from frozen_cases import FROZEN

pytest.importorskip("tensorflow")
NAMES = [n for n in sorted(FROZEN) if not n.startswith("application_")]
APPLICATIONS = [n for n in sorted(FROZEN) if n.startswith("application_")]
NAMES = NAMES + APPLICATIONS if os.environ.get("EMPLACE_TEST_FULL") else NAMES[::12] + ["application_mobilenetv2"]


@pytest.fixture(scope="session")
def made(tmp_path_factory: Any) -> pathlib.Path:
    folder = tmp_path_factory.mktemp("frozen")
    here = pathlib.Path(__file__).parent
    env = {k: v for k, v in os.environ.items() if k != "TF_USE_LEGACY_KERAS"}  # other tests ask for it
    done = subprocess.run([sys.executable, here / "make_frozen.py", folder, *NAMES], capture_output=True, text=True, cwd=here, env=env)
    assert done.returncode == 0, done.stderr[-2000:]
    return folder


@pytest.mark.parametrize("name", NAMES)
def test_frozen(name: str, made: pathlib.Path) -> None:
    folder = made / name
    if not (folder / "case.json").exists():
        pytest.skip("TensorFlow cannot make it")
    names = json.loads((folder / "case.json").read_text())
    feeds = [f"--feed={n}={folder / f'in{i}.npy'}" for i, n in enumerate(names["feeds"])]
    fetches = [f"--fetch={n}" for n in dict.fromkeys(names["fetches"])]
    done = cli.emplace("run", folder / "graph.pb", *feeds, *fetches, "--out", folder / "ours.npz")
    assert done.returncode == 0, done.stderr
    theirs = case.Outcome([np.load(folder / f"out{i}.npy") for i in range(len(names["fetches"]))])
    with np.load(folder / "ours.npz") as arrays:
        ours = case.Outcome([arrays[n] for n in names["fetches"]])
    tolerance = 1e-4 if name.startswith(("application_", "linalg_")) else 1e-5
    built = case.Built(None, names["fetches"], {}, [], 1, 1, False, tolerance)
    found = case.differences(theirs, ours, built)
    assert not found, "\n".join(found)
