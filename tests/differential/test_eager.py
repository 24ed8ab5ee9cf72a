"""The same small eager programs on TensorFlow 2 and on ours: values, text and errors must agree.

Both run in this process. `--self` puts TensorFlow on both sides, which checks the table itself.
"""

import importlib
import importlib.util
import os
from typing import Any

import pytest

from eager_outcome import differences, outcome
from eager_snippets import SNIPPETS

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")


@pytest.fixture(scope="module")
def theirs() -> Any:
    if importlib.util.find_spec("tensorflow") is None:
        pytest.skip("TensorFlow is not installed")
    tf = importlib.import_module("tensorflow")
    if not tf.executing_eagerly():
        pytest.skip("TensorFlow was told to behave as version 1 in this process")
    tf.get_logger().setLevel("ERROR")
    return tf


@pytest.fixture(scope="module")
def ours(request: pytest.FixtureRequest) -> Any:
    if request.config.getoption("oracle_self"):
        return request.getfixturevalue("theirs")
    if importlib.util.find_spec("emplace") is None:
        pytest.skip("emplace is not installed")
    return importlib.import_module("emplace")


@pytest.mark.parametrize("name", SNIPPETS)
def test_same_as_tensorflow(name: str, ours: Any, theirs: Any) -> None:
    expected, actual = outcome(theirs, SNIPPETS[name]), outcome(ours, SNIPPETS[name])
    assert (expected.error is not None) == name.startswith("refused"), (
        f"the table is wrong: {expected.said}"
    )
    if expected.error:
        assert actual.error, f"TensorFlow raises {expected.error}: {expected.said}"
        assert expected.error == actual.error or expected.error in actual.bases, actual.said
    else:
        assert actual.error is None, f"{actual.error}: {actual.said}"
        assert differences(expected.result, actual.result) == []


def test_table_is_large() -> None:
    assert len(SNIPPETS) >= 300
