"""A sample of Keras's own tests, those of the installed package, with Emplace in TensorFlow's place.

`known_gaps.txt` lists what fails of it and may only shrink. `tools/keras_suite` runs them all, on TensorFlow too.
"""

import importlib.util
import os
import pathlib
import subprocess
import sys
import xml.etree.ElementTree as ElementTree

import pytest

_FILES = (
    "export/saved_model_test.py", "layers/core/dense_test.py", "layers/normalization/batch_normalization_test.py",
    "losses/loss_test.py", "models/sequential_test.py", "optimizers/adam_test.py", "optimizers/sgd_test.py",
)  # fmt: skip
_HERE = pathlib.Path(__file__).parent


def _tests() -> list[pathlib.Path]:
    keras = importlib.util.find_spec("keras")
    source = pathlib.Path(keras.origin).parent / "src" if keras and keras.origin else _HERE
    return [source / f for f in _FILES if (source / f).exists()]


@pytest.mark.skipif(not _tests(), reason="Keras is not installed with its tests")
def test_sample_fails_where_it_is_known_to(tmp_path: pathlib.Path) -> None:
    report = tmp_path / "report.xml"
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "in_tensorflows_place", "-p", "no:cacheprovider", "--junitxml", report, "--rootdir",
         tmp_path, *_tests()],
        capture_output=True, text=True, cwd=tmp_path, timeout=600,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(_HERE), os.environ.get("PYTHONPATH", "")]), "KERAS_HOME": str(tmp_path)},
    )  # fmt: skip
    assert report.exists(), done.stdout + done.stderr
    cases = list(ElementTree.parse(report).iter("testcase"))
    failed = {f"{c.get('classname', '').rpartition('.')[2]}::{c.get('name')}" for c in cases if {e.tag for e in c} & {"failure", "error"}}
    assert len(cases) > 150, done.stdout
    known = set((_HERE / "known_gaps.txt").read_text().split())
    assert sorted(failed - known) == [], done.stdout
    assert sorted(known - failed) == [], "these pass by now: take them out of known_gaps.txt"
