"""Numbers that a dtype asked for does not hold are refused, whichever way they come: TensorFlow keeps their lower bits."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import emplace as tf
from emplace.compat import v1

REFUSED = (ValueError, TypeError, OverflowError, tf.errors.InvalidArgumentError)


def a_variable(dtype: Any = "uint8") -> Any:
    return tf.Variable([1, 2], dtype=dtype)


EAGER: dict[str, Callable[[], Any]] = {
    "constant": lambda: tf.constant(300, tf.uint8),
    "negative": lambda: tf.constant(-1, tf.uint8),
    "list": lambda: tf.constant([1, 300], tf.uint8),
    "nested": lambda: tf.constant([[1, 2], [3, -129]], tf.int8),
    "filled": lambda: tf.constant(-1, tf.uint16, shape=[3]),
    "32 bits": lambda: tf.constant(2**31, tf.int32),
    "64 bits": lambda: tf.constant(2**63, tf.int64),
    "unsigned 64 bits": lambda: tf.constant([-1], tf.uint64),
    "quantized": lambda: tf.constant(300, tf.qint8),
    "array": lambda: tf.constant(np.array([300]), tf.uint8),
    "NumPy's number": lambda: tf.constant(np.int64(2**40), tf.int32),
    "NumPy's number in a list": lambda: tf.constant([1, np.int64(300)], tf.uint8),
    "floats in an array": lambda: tf.constant(np.array([256.5]), tf.uint8),
    "not a number": lambda: tf.constant(np.array([np.nan]), tf.int32),
    "convert": lambda: tf.convert_to_tensor(np.array([-1]), tf.uint8),
    "variable": lambda: tf.Variable([-1], dtype=tf.uint8),
    "assign": lambda: a_variable().assign([300, 1]),
    "assign an array": lambda: a_variable().assign(np.array([300, 1])),
    "assign_add": lambda: a_variable("int8").assign_add([300, 0]),
    "scatter": lambda: a_variable().scatter_nd_update([[0]], [300]),
    "sum": lambda: tf.constant([1], tf.uint8) + 300,
    "sum from the left": lambda: -1 + tf.constant([1], tf.uint8),
    "comparison": lambda: tf.constant([44], tf.uint8) == 300,
    "clip_by_value": lambda: tf.clip_by_value(tf.constant([1], tf.uint8), 0, 300),
    "where": lambda: tf.where([False], tf.constant([1], tf.uint8), 300),
    "pad": lambda: tf.pad(tf.constant([1], tf.uint8), [[1, 1]], constant_values=300),
    "range": lambda: tf.range(0, 300, 100, dtype=tf.uint8),
    "one_hot": lambda: tf.one_hot([0], 2, on_value=300, dtype=tf.uint8),
    "linspace": lambda: tf.linspace(0, 2**40, 3),
    "ragged": lambda: tf.ragged.constant([[300], [1, 2]], dtype=tf.uint8),
    "initializer": lambda: tf.constant_initializer(300)([2], tf.uint8),
    "raw": lambda: tf.raw_ops.AddV2(x=tf.constant([1], tf.uint8), y=300),
    "function": lambda: tf.function(lambda: tf.constant([300], tf.uint8))(),
    "function's argument": lambda: tf.function(lambda x: x, input_signature=[tf.TensorSpec([], tf.uint8)])(300),
    "function's sum": lambda: tf.function(lambda x: x + 300)(tf.constant([1], tf.uint8)),
    "generator": lambda: list(tf.data.Dataset.from_generator(lambda: iter([300]), output_signature=tf.TensorSpec([], tf.uint8))),
    "py_function": lambda: tf.py_function(lambda: 300, [], tf.uint8),
    "tensor array": lambda: tf.TensorArray(tf.uint8, 1).write(0, 300).stack(),
    "NumPy's face": lambda: tf.experimental.numpy.full([2], 300, dtype=np.uint8),
    "map_fn": lambda: tf.map_fn(lambda x: 300, tf.constant([1]), fn_output_signature=tf.uint8),
    "proto": lambda: tf.make_tensor_proto([-1], tf.uint8),
}


@pytest.mark.parametrize("way", EAGER)
def test_numbers_beyond_their_dtype_are_refused(way: str) -> None:
    with pytest.raises(REFUSED):
        EAGER[way]()


IN_A_GRAPH: dict[str, Callable[[Any, Any], Any]] = {
    "constant": lambda s, x: s.run(v1.constant(300, tf.uint8)),
    "list": lambda s, x: s.run(v1.constant([2**40], tf.int32)),
    "array": lambda s, x: s.run(v1.constant(np.array([-1]), tf.uint8)),
    "sum": lambda s, x: s.run(x + 300),
    "fed": lambda s, x: s.run(x, {x: [300]}),
    "fed array": lambda s, x: s.run(x, {x: np.array([300])}),
    "fed number": lambda s, x: s.run(x[0], {x[0]: -1}),
    "fed NumPy's number": lambda s, x: s.run(x[0], {x[0]: np.int64(300)}),
    "variable": lambda s, x: v1.get_variable("v", [1], tf.uint8, v1.constant_initializer(300)),
}


@pytest.mark.parametrize("way", IN_A_GRAPH)
def test_graphs_refuse_them_too(way: str) -> None:
    with v1.Graph().as_default(), v1.Session() as session:
        with pytest.raises(REFUSED):
            IN_A_GRAPH[way](session, v1.placeholder(tf.uint8, [None]))


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64"])
def test_the_outermost_numbers_are_held(dtype: str) -> None:
    wanted = tf.as_dtype(dtype)
    ends = [wanted.min, wanted.max]
    for values in (ends, np.array(ends, dtype), np.array(ends, object), [np.array(v, dtype)[()] for v in ends]):
        assert tf.constant(values, dtype).numpy().tolist() == ends
    assert [tf.constant(v, dtype).numpy() for v in ends] == ends


def test_a_cast_keeps_the_lower_bits() -> None:
    assert tf.cast([300, -1], tf.uint8).numpy().tolist() == [44, 255]
    assert tf.saturate_cast([300, -1], tf.uint8).numpy().tolist() == [255, 0]
