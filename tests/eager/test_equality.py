"""In a function `==` compares element by element, wherever the program wrote it and whoever could read that."""

import pytest

import emplace as tf

ONE_TWO = tf.constant([1, 2])
V = tf.Variable([1, 2])
WRITTEN = {
    "number": ("c == 1", [True, False]), "reflected": ("1 == c", [True, False]), "unequal": ("c != 1", [False, True]),
    "tensor": ("c == tf.constant([1, 3])", [True, False]), "list": ("c == [1, 3]", [True, False]),
    "variable": ("V == c", [True, True]), "variables": ("V != V", [False, False]), "to_variable": ("c == V", [True, True]),
    "other_shape": ("c == tf.constant([1, 2, 3])", False), "none": ("c == None", False), "not_none": ("c != None", True),
}  # fmt: skip


@pytest.mark.parametrize("autograph", [True, False])
@pytest.mark.parametrize("name", WRITTEN)
def test_comparing_what_has_no_source(name: str, autograph: bool) -> None:
    text, wanted = WRITTEN[name]
    work = eval(f"lambda c: {text}", {"tf": tf, "V": V})
    assert tf.function(work, autograph=autograph)(ONE_TWO).numpy().tolist() == wanted


def test_comparing_in_datasets() -> None:
    is_one = eval("lambda x: x == 1")
    assert [bool(x) for x in tf.data.Dataset.range(3).map(is_one)] == [False, True, False]
    assert [int(x) for x in tf.data.Dataset.range(3).filter(is_one)] == [1]


def test_other_kinds_are_refused() -> None:
    with pytest.raises(TypeError):
        tf.function(eval("lambda c: c == 1.5"), autograph=False)(ONE_TWO)


def test_graphs_of_sessions_compare_by_identity() -> None:
    with tf.compat.v1.Graph().as_default():
        a, b = tf.constant(1), tf.constant(1)
        assert a == a and (a == b) is False
