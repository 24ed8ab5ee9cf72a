"""The same small graphs on TensorFlow 1's API and on ours: nodes, values and errors must agree.

Both run in this process. `--self` puts TensorFlow on both sides, which checks the table itself.
"""

import importlib
import importlib.util
import os
from collections.abc import Iterator
from typing import Any

import pytest

from graph_outcome import Outcome, as_far_as_known, outcome, same
from graph_snippets import SNIPPETS

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("TF_USE_LEGACY_KERAS", "1")  # tf.layers comes from it
FAILING = ("refused", "fetch_refused", "feed_refused", "run_fails", "placement_refused")


@pytest.fixture(scope="module")
def theirs() -> Iterator[Any]:
    """TensorFlow behaving as version 1 while these tests run, and as it was afterwards."""
    if importlib.util.find_spec("tensorflow") is None:
        pytest.skip("TensorFlow is not installed")
    import tensorflow.compat.v1 as tf
    from tensorflow.python import tf2  # what layers and cells go by

    tf.logging.set_verbosity(tf.logging.ERROR)
    tf2.disable()
    tf.disable_v2_tensorshape()
    tf.disable_resource_variables()
    tf.disable_control_flow_v2()
    tf.disable_tensor_equality()
    yield tf
    tf2.enable()
    tf.enable_v2_tensorshape()
    tf.enable_resource_variables()
    tf.enable_control_flow_v2()
    tf.enable_tensor_equality()


@pytest.fixture(scope="module")
def ours(request: pytest.FixtureRequest) -> Iterator[Any]:
    """Ours with version 1's shapes while these tests run, and as it was afterwards."""
    if request.config.getoption("oracle_self"):
        yield request.getfixturevalue("theirs")
        return
    if importlib.util.find_spec("emplace") is None:
        pytest.skip("emplace is not installed")
    tf = importlib.import_module("emplace.compat.v1")
    from emplace.framework import tensor_shape

    before = tensor_shape._v2_dims, tensor_shape._chosen
    tf.disable_v2_tensorshape()  # something else may have brought TensorFlow 2's shapes
    yield tf
    tensor_shape._v2_dims, tensor_shape._chosen = before


def assert_same_nodes(theirs: Outcome, ours: Outcome) -> None:
    assert [n["name"] for n in ours.nodes] == [n["name"] for n in theirs.nodes]
    for expected, actual in zip(theirs.nodes, ours.nodes):
        assert actual | {"shapes": as_far_as_known(expected["shapes"], actual["shapes"])} == expected


def assert_same_error(theirs: Outcome, ours: Outcome, words: bool) -> None:
    said = f"{ours.error}: {ours.message}"
    assert theirs.error == ours.error or theirs.error in ours.bases, said
    if theirs.error == "OperatorNotAllowedInGraphError":
        assert "TypeError" in ours.bases
    if words:
        assert theirs.message in ours.message


@pytest.mark.parametrize("name", SNIPPETS)
def test_same_as_tensorflow(name: str, ours: Any, theirs: Any) -> None:
    snippet = SNIPPETS[name]
    if name.startswith("layer_"):
        pytest.importorskip("tf_keras")
    expected, actual = outcome(theirs, snippet), outcome(ours, snippet)
    assert (expected.error is not None) == name.startswith(FAILING), "the table is wrong"
    if expected.error:
        assert actual.error, f"TensorFlow raises {expected.error}: {expected.message}"
        assert_same_error(expected, actual, snippet.words)
    else:
        assert actual.error is None, f"{actual.error}: {actual.message}"
        assert same(expected.result, actual.result, snippet.exact), (
            f"\n{expected.result}\n{actual.result}"
        )
    if snippet.nodes:
        assert_same_nodes(expected, actual)


def test_table_is_large() -> None:
    assert len(SNIPPETS) >= 150
