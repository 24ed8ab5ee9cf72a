"""What the package lists is there."""

import importlib
import inspect
import subprocess
import sys

import public_names
import pytest


@pytest.fixture(scope="module")
def names():
    return list(public_names.all_names())


def test_dir_lists_only_what_exists(names):
    assert len(names) > 4000
    assert [f"{path}: {why}" for path, _, why in names if why] == []


@pytest.mark.parametrize("face", public_names.FACES[:2])
def test_dir_lists_what_is_made_when_asked_for(face, names):
    listed = {path for path, _, _ in names}
    for name in ("raw_ops.MatMul", "errors.OpError", "math.special.expint", "image.decode_png", "io.TFRecordWriter", "train.Coordinator"):
        assert f"{face}.{name}" in listed


def test_dir_lists_no_helpers_of_the_code(names):
    listed = {path for path, _, _ in names}
    helpers = ("Any", "annotations", "importlib", "np", "contextlib", "errors.from_core", "test.unittest", "train.ops", "conv", "image.decode_jxl")
    assert [f"{face}.{h}" for face in public_names.FACES for h in helpers if f"{face}.{h}" in listed] == []


def test_the_import_stays_light():
    heavy = "import sys, emplace; print([m for m in ('numpy', 'emplace._core', 'emplace.framework') if m in sys.modules])"
    said = subprocess.run([sys.executable, "-c", heavy], capture_output=True, text=True, timeout=600)
    assert said.stdout.strip() == "[]", said.stderr


@pytest.mark.parametrize("line", [
    "from emplace.keras import layers; layers.Dense", "import emplace.math; emplace.math.special.expint", "import emplace.math.special as m; m.expint",
    "import emplace.experimental.numpy as tnp; tnp.add", "from emplace.errors import OpError", "from emplace import gradients; gradients.__call__",
    "import emplace.compat.v1.math as m; m.add", "from emplace.compat.v1.nn import relu", "import emplace.compat.v1.train as t; t.Saver",
    "import emplace.compat.v1.nn.rnn_cell as m; m.LSTMCell", "import emplace as tf; tf.keras; from emplace.keras.layers import Dense; tf.keras.layers.Dense is Dense or 1/0",
])  # fmt: skip
def test_namespaces_can_be_imported(line):
    said = subprocess.run([sys.executable, "-c", line], capture_output=True, text=True, timeout=600)
    assert said.returncode == 0, said.stderr


def test_what_is_not_there_is_not_imported():
    said = subprocess.run([sys.executable, "-c", "import emplace.no_such"], capture_output=True, text=True, timeout=600)
    assert "No module named 'emplace.no_such'" in said.stderr


def undocumented(names):
    """Public callables of ours without a docstring, each once; a method may have its base's."""
    found = {}
    for path, value, _ in names:
        if not callable(value) or not public_names.ours(value):
            continue
        own = vars(value).get("__doc__") if isinstance(value, type) else inspect.getdoc(value)
        if not own:
            found.setdefault(value, path)
        if isinstance(value, type):
            for name, method in public_names.methods(value):
                if not inspect.getdoc(method):
                    found.setdefault(getattr(method, "__func__", method), f"{path}.{name}")
    return sorted(found.values())


def test_every_public_callable_says_what_it_does(names):
    assert undocumented(names) == []


def test_docstrings_are_more_than_the_name(names):
    """What Python writes for a named tuple, or a word or two, helps nobody."""
    for path, value, _ in names:
        if callable(value) and public_names.ours(value):
            said = inspect.getdoc(value).partition("\n\n")[0]
            assert len(said.split()) > 2, f"{path}: {said}"
            assert not said.startswith(f"{path.rpartition('.')[2]}("), f"{path}: {said}"


def test_functions_of_operations_name_their_arguments():
    import emplace as tf

    said = inspect.getdoc(tf.raw_ops.MatMul).splitlines()
    assert {line.partition(":")[0] for line in said} >= {"a", "b", "transpose_a"} and said[-1].startswith("Returns product: a tensor")


def test_help_shows_it():
    said = subprocess.run([sys.executable, "-c", "import emplace as tf; help(tf.matmul)"], capture_output=True, text=True, timeout=600)
    assert "matmul(a" in said.stdout and inspect.getdoc(importlib.import_module("emplace").matmul).splitlines()[0] in said.stdout
