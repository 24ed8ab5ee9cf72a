"""The comparisons themselves: that they notice what they should."""

import numpy as np

from eager_outcome import Value, differences, without_numbers
from graph_outcome import first_words, same


def test_same_wants_types_dtypes_and_shapes() -> None:
    assert same([np.float32(1.0)], [np.float32(1.0)], exact=False)
    assert not same(np.float32(1.0), np.float64(1.0), exact=False)
    assert not same(np.float32(1.0), np.array(1.0, np.float32), exact=False)
    assert not same(np.zeros([2, 1]), np.zeros([2]), exact=False)
    assert not same({"a": 1}, {"b": 1}, exact=False)
    assert not same([1], [1, 2], exact=False)
    assert not same(np.int32([1, 2]), np.int32([1, 3]), exact=False)


def test_same_allows_rounding_unless_exact() -> None:
    one, near = np.float32([1.0]), np.nextafter(np.float32([1.0]), np.float32(2.0))
    assert same(one, near, exact=False)
    assert not same(one, near, exact=True)
    assert not same(one, np.float32([1.001]), exact=False)
    assert same(np.float32([np.nan]), np.float32([np.nan]), exact=False)


def test_first_words_drop_tensorflows_decoration() -> None:
    class RunError(Exception):
        message = (
            "Graph execution error:\n\nDetected at node 'x'\nNode: 'x'\n"
            "Too large\n\t [[{{node x}}]]\n\nOriginal stack"
        )

    assert first_words(RunError()) == "Too large"
    assert (
        first_words(ValueError("Bad shape for '{{node a}} = Add[]' with input shapes: []."))
        == "Bad shape"
    )
    assert first_words(KeyError("no 'a'")) == "no 'a'"


def value(array: np.ndarray, text: str) -> Value:
    return Value(array, str(array.dtype), str(array.shape), (text, text))


def test_differences_name_what_differs() -> None:
    one = value(np.float32([1.0]), "tf.Tensor([1.], shape=(1,), dtype=float32)")
    assert differences([one], [one]) == []
    assert "dtype" in differences(one, value(np.float64([1.0]), one.texts[0]))[0]
    assert "shape" in differences(one, value(np.float32(1.0), one.texts[0]))[0]
    assert "became" in differences(one, value(np.float32([2.0]), one.texts[0]))[0]
    assert (
        "prints"
        in differences(
            one, value(np.float32([1.0]), "tf.Tensor([1.0], shape=(1,), dtype=float32)")
        )[0]
    )
    assert (
        differences([1], [1, 2]) != []
        and differences(None, one) != []
        and differences({"a": 1}, {"b": 1}) != []
    )


def test_text_around_a_rounded_array_still_counts() -> None:
    near = np.nextafter(np.float32([1.0]), np.float32(2.0))
    one = value(
        np.float32([1.0]),
        "<tf.Tensor: shape=(1,), dtype=float32, numpy=array([1.], dtype=float32)>",
    )
    assert (
        differences(
            one,
            value(
                near,
                "<tf.Tensor: shape=(1,), dtype=float32, numpy=array([1.0000001], dtype=float32)>",
            ),
        )
        == []
    )
    assert (
        differences(
            one,
            value(
                near, "<Tensor: shape=(1,), dtype=float32, numpy=array([1.0000001], dtype=float32)>"
            ),
        )
        != []
    )
    assert (
        without_numbers("tf.Tensor(1.5, shape=(), dtype=float32)")
        == "tf.Tensor(#, shape=(), dtype=float32)"
    )
