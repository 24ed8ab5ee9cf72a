"""In a locale that writes 1,5 for 1.5, numbers are read and written as everywhere else."""

import os
import pathlib
import shutil
import subprocess
import sys

import pytest

PROGRAM = r"""
import locale
locale.setlocale(locale.LC_ALL, "de_DE.UTF-8")
assert locale.localeconv()["decimal_point"] == ","
import emplace as tf
import emplace.compat.v1 as v1

assert tf.raw_ops.LeakyRelu(features=[-1.0]).numpy() == tf.constant([-0.2])  # a default of the op
assert tf.strings.as_string(1.5, precision=2).numpy() == b"1.50"
assert tf.strings.to_number("1.5").numpy() == 1.5
assert str(tf.constant([0.25, 1.5])) == "tf.Tensor([0.25 1.5 ], shape=(2,), dtype=float32)"
assert tf.strings.format("{}", tf.constant(1.5)).numpy() == b"1.5"
assert tf.io.decode_csv("1.5,2", [0.0, 0.0])[0].numpy() == 1.5
try:
    tf.io.read_file("/no/such/file")
except tf.errors.NotFoundError as e:
    assert "No such file or directory" in e.message, e.message
from google.protobuf import text_format
node = 'node {name: "c" op: "Const" attr {key: "dtype" value {type: DT_FLOAT}} attr {key: "value" value {tensor {dtype: DT_FLOAT tensor_shape {} float_val: 1.5}}}}'
with v1.Graph().as_default() as graph:
    (c,) = v1.import_graph_def(text_format.Parse(node, v1.GraphDef()), return_elements=["c:0"])
    assert v1.Session().run(c) == 1.5
"""


@pytest.fixture
def german(tmp_path: pathlib.Path) -> dict[str, str]:
    if not shutil.which("localedef"):
        pytest.skip("no localedef")
    made = subprocess.run(
        ["localedef", "-c", "-i", "de_DE", "-f", "UTF-8", tmp_path / "de_DE.UTF-8"], capture_output=True, text=True
    )
    if not (tmp_path / "de_DE.UTF-8").exists():
        pytest.skip(f"localedef can't make the locale: {made.stderr}")
    return {**os.environ, "LOCPATH": str(tmp_path)}


def test_numbers_do_not_depend_on_the_locale(german: dict[str, str]) -> None:
    done = subprocess.run([sys.executable, "-c", PROGRAM], env=german, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr
