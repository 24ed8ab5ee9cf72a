"""What would be silently another value is refused; what stands for a tensor keeps its gradient."""

import collections
import subprocess
import sys
from typing import Any

import numpy as np
import pytest

import emplace as tf


class Mutable:
    __hash__ = None  # type: ignore[assignment]


@pytest.mark.parametrize("value", [{1}, bytearray(b"a"), collections.deque([1]), Mutable()], ids=["set", "bytearray", "deque", "object"])
@pytest.mark.parametrize("wrap", [lambda v: v, lambda v: {"a": [v]}], ids=["alone", "nested"])
def test_functions_refuse_python_values_that_may_change_unseen(value: Any, wrap: Any) -> None:
    f = tf.function(lambda s, x: x + 1)
    with pytest.raises(TypeError, match="Could not generate a generic TraceType for .*hashable"):
        f(wrap(value), tf.constant(1))


def test_functions_take_python_values_that_cannot_change() -> None:
    f = tf.function(lambda s, x: x + len(s))
    assert f(frozenset({1, 2}), tf.constant(1)).numpy() == 3
    assert f(tf.Variable([1, 2, 3]), tf.constant(1)).numpy() == 4 if hasattr(tf.Variable, "__len__") else True


def test_functions_take_dictionaries_with_defaults() -> None:
    given = collections.defaultdict(int, {"a": 1})
    f = tf.function(lambda d: tf.constant(sum(d.values()) + d["none"]))
    assert f(given).numpy() == 1
    given["a"] = 7
    assert f(given).numpy() == 7


@pytest.mark.parametrize("sign", ["+", "-", "*", "/", "**"])
@pytest.mark.parametrize("graph", [False, True], ids=["eager", "graph"])
def test_variables_have_no_operators_in_place(sign: str, graph: bool) -> None:
    with tf.Graph().as_default() if graph else tf.device(None):
        names = {"v": tf.Variable(2.0)}
        with pytest.raises(RuntimeError, match=f"`var.* \\{sign[0]}.*= value` with `tf.Variable`s is not supported"):
            exec(f"v {sign}= 1.0", names)
        exec(f"w = v {sign} 1.0", names)
        assert isinstance(names["w"], tf.Tensor)


class Doubled:
    """What TensorFlow knows as a tensor by its method."""

    def __init__(self, x: Any) -> None:
        self.x = x

    def __tf_tensor__(self, dtype: Any = None, name: Any = None) -> Any:
        return tf.convert_to_tensor(self.x * 2.0, dtype=dtype)

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        return np.asarray(self.x * 2.0, dtype)


USES = {
    "convert": (lambda w, x: tf.convert_to_tensor(w) * x, 12.0),
    "square": (lambda w, x: tf.square(w), 24.0),
    "add": (lambda w, x: tf.add(w, w), 4.0),
    "stack": (lambda w, x: tf.reduce_sum(tf.stack([w, x])), 3.0),
    "operator": (lambda w, x: x * w, 12.0),
    "cast": (lambda w, x: tf.cast(w, tf.float64), 2.0),
}


@pytest.mark.parametrize("use", USES)
@pytest.mark.parametrize("traced", [False, True], ids=["eager", "function"])
def test_objects_that_make_themselves_tensors_keep_the_gradient(use: str, traced: bool) -> None:
    def slope(x: Any) -> Any:
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = USES[use][0](Doubled(x), x)
        return tape.gradient(y, x)

    assert float((tf.function(slope) if traced else slope)(tf.constant(3.0))) == USES[use][1]


WITHOUT_ML_DTYPES = """
import sys
sys.modules["ml_dtypes"] = None
import emplace as tf
print(tf.constant([1.0, 2.5]).numpy())
for use in (lambda: tf.constant([1.5], tf.bfloat16), lambda: tf.cast([1.5], tf.bfloat16).numpy(), lambda: tf.bfloat16.as_numpy_dtype):
    try:
        print(use())
    except ImportError as e:
        print("refused", "ml_dtypes" in str(e))
"""


def test_bfloat16_is_refused_where_numpy_does_not_have_it() -> None:
    done = subprocess.run([sys.executable, "-c", WITHOUT_ML_DTYPES], capture_output=True, text=True, timeout=600)
    assert done.stdout.splitlines() == ["[1.  2.5]"] + ["refused True"] * 3, done.stderr


BOTH_IMPORTS = """
import emplace.compat.v1 as tf1
import emplace as tf
tf1.enable_eager_execution() if {enable} else None
x = tf.zeros([2, 3])
print(type(x.shape[0]).__name__, x.shape[0] * 2, [type(d).__name__ for d in x.shape])
with tf1.Graph().as_default():
    print(tf1.placeholder(tf1.float32, [None, 3]).shape[1] == 3)
"""


@pytest.mark.parametrize("first", ["emplace", "emplace.compat.v1"])
def test_dimensions_of_eager_tensors_are_numbers_beside_version_1(first: str) -> None:
    program = f"import {first}" + BOTH_IMPORTS.format(enable=False)
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=600)
    assert done.stdout.splitlines() == ["int 4 ['int', 'int']", "True"], done.stderr
