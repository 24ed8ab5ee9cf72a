"""Eager tensors as objects: operators, memory, threads; functions that were called before."""

import gc
import os
import pickle
import threading
import weakref
from typing import Any

import numpy as np
import pytest

tf = pytest.importorskip("emplace")

FULL = bool(os.environ.get("EMPLACE_TEST_FULL"))


def _resident() -> int:
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def test_memory_stays_flat() -> None:
    a, b, m = tf.ones([8]), tf.ones([8]), tf.ones([4, 4])
    f = tf.function(lambda x: x * 2.0 + 1.0)

    def work(n: int) -> None:
        for _ in range(n):
            a + b
            tf.matmul(m, m)
            tf.reduce_sum(a * 2.0)
            f(a)
            m[1]

    work(2000)
    gc.collect()
    before = _resident()
    work(200_000 if FULL else 10_000)
    gc.collect()
    assert _resident() - before < 4 << 20


def test_tensors_dropped_on_one_thread_while_another_reads() -> None:
    box: list[Any] = [tf.ones([64]) for _ in range(64)]
    stop, errors = threading.Event(), []

    def replace() -> None:
        i = 0
        while not stop.is_set():
            box[i % 64] = tf.ones([64]) * 1.0
            i += 1

    def read() -> None:
        try:
            for i in range(4000):
                t = box[i % 64]
                assert (t + t).numpy()[0] == 2.0
        except BaseException as e:
            errors.append(e)

    writer = threading.Thread(target=replace)
    readers = [threading.Thread(target=read) for _ in range(3)]
    for t in (writer, *readers):
        t.start()
    for t in readers:
        t.join()
    stop.set()
    writer.join()
    assert errors == []


def test_can_be_referred_to_weakly() -> None:
    t = tf.constant([1.0])
    r = weakref.ref(t)
    assert r() is t
    del t
    assert r() is None


def test_pickles() -> None:
    t = pickle.loads(pickle.dumps(tf.constant([1, 2])))
    assert t.numpy().tolist() == [1, 2]


@pytest.mark.parametrize("number", [2, 2.5])
def test_python_numbers_on_either_side(number: float) -> None:
    x = tf.constant([1.0, -4.0])
    n = x.numpy()
    for ours, theirs in (
        (x + number, n + number), (number + x, number + n), (x - number, n - number),
        (number - x, number - n), (x * number, n * number), (x / number, n / number),
        (number / x, number / n), (x // number, n // number), (x % number, n % number),
        (x < number, n < number), (number < x, number < n), (x == number, n == number),
    ):  # fmt: skip
        assert np.array_equal(ours.numpy(), theirs)


def test_number_that_does_not_fit_is_refused() -> None:
    with pytest.raises(tf.errors.InvalidArgumentError, match="expected to be a int32 tensor"):
        tf.constant([1]) + 2.5
    with pytest.raises(ValueError, match="out-of-range integer"):
        tf.constant([1]) + 2**70


def test_a_number_beyond_the_dtype_of_the_tensor_beside_it_is_refused() -> None:  # TensorFlow keeps its lower bits
    with pytest.raises(tf.errors.InvalidArgumentError):
        tf.constant([1]) + 2**40
    with pytest.raises(tf.errors.InvalidArgumentError):
        tf.constant([1], tf.uint8) + 300


def test_kernels_are_kept_apart_by_dtype_and_attribute() -> None:
    for _ in range(3):
        assert (tf.constant([1]) + 1).dtype == tf.int32
        assert (tf.constant([1.0]) + 1).dtype == tf.float32
        m = tf.constant([[1.0, 2.0], [3.0, 4.0]])
        assert tf.matmul(m, m, transpose_a=True).numpy()[0, 0] == 10.0
        assert tf.matmul(m, m).numpy()[0, 0] == 7.0


def test_shapes_that_do_not_fit_name_the_operation() -> None:
    for _ in range(2):  # also when the kernel is known
        with pytest.raises(tf.errors.InvalidArgumentError, match="AddV2"):
            tf.ones([2]) + tf.ones([3])
        assert (tf.ones([2]) + tf.ones([2])).numpy()[0] == 2.0


def test_threads_have_their_own_device_blocks_and_tapes() -> None:
    seen: list[Any] = []

    def other() -> None:
        x = tf.constant(2.0)
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = x * x
        seen.append(tape.gradient(y, x).numpy())

    x = tf.constant(3.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        thread = threading.Thread(target=other)
        thread.start()
        thread.join()
        y = x * x
    assert seen == [4.0]
    assert tape.gradient(y, x).numpy() == 6.0


def test_function_called_before_follows_its_variables() -> None:
    v = tf.Variable(1.0)
    f = tf.function(lambda x: x * v)
    x = tf.constant(2.0)
    assert [float(f(x)) for _ in range(3)] == [2.0] * 3
    v.assign(5.0)
    assert float(f(x)) == 10.0


def test_function_called_before_still_assigns_once_a_call() -> None:
    v = tf.Variable(0.0)

    @tf.function
    def f(x: Any) -> Any:
        v.assign_add(x)
        return v + 0.0, [x]

    for i in range(1, 4):
        total, (same,) = f(tf.constant(1.0))
        assert float(total) == i and float(same) == 1.0


def test_function_called_before_is_traced_anew_for_other_shapes() -> None:
    traces = []

    @tf.function
    def f(x: Any) -> Any:
        traces.append(x.shape)
        return x + x

    for n in (1, 2, 1, 2, 3):
        assert f(tf.ones([n])).shape == [n]
    assert len(traces) == 3


def test_function_called_before_obeys_run_functions_eagerly() -> None:
    calls = []

    @tf.function
    def f(x: Any) -> Any:
        calls.append(1)
        return x

    for _ in range(3):
        f(tf.constant(1))
    assert len(calls) == 1
    tf.config.run_functions_eagerly(True)
    try:
        f(tf.constant(1))
    finally:
        tf.config.run_functions_eagerly(False)
    assert len(calls) == 2


def test_function_called_before_is_seen_by_tapes() -> None:
    f = tf.function(lambda x: x * x * x)
    x = tf.constant(2.0)
    f(x), f(x)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = f(x)
    assert tape.gradient(y, x).numpy() == 12.0


def test_random_numbers_of_a_function_go_on() -> None:
    f = tf.function(lambda x: x + tf.random.uniform([]))
    x = tf.constant(0.0)
    assert len({float(f(x)) for _ in range(8)}) == 8


def test_dlpack_there_and_back() -> None:
    t = tf.constant([[1.0, 2.0], [3.0, 4.0]])
    assert np.array_equal(np.from_dlpack(t), t.numpy())
    back = tf.experimental.dlpack.from_dlpack(tf.experimental.dlpack.to_dlpack(t))
    assert back.dtype == tf.float32 and np.array_equal(back.numpy(), t.numpy())
    assert tf.experimental.dlpack.from_dlpack(np.arange(3)).numpy().tolist() == [0, 1, 2]
    with pytest.raises(TypeError):
        tf.experimental.dlpack.to_dlpack([1.0])


def test_errors_that_quote_bytes_which_are_no_text_are_raised() -> None:
    with pytest.raises(tf.errors.InvalidArgumentError, match="xff"):
        tf.strings.to_number(b"1\xff")


def test_an_empty_list_for_a_tensor_can_be_given_again_and_again() -> None:
    empty = tf.zeros([2, 0])
    for _ in range(3):
        assert tf.minimum(empty, []).shape == [2, 0]
        assert tf.concat([empty, empty], 1).shape == [2, 0]


def test_raw_ops_take_tensorflows_names() -> None:
    raw = tf.raw_ops
    assert raw.Sum(input=tf.constant([[1.0, 2.0]]), axis=tf.constant([1])).numpy().tolist() == [3.0]
    assert raw.Squeeze(input=tf.constant([[1.0]]), axis=[0]).shape == (1,)
    assert raw.Where(condition=tf.constant([False, True])).numpy().tolist() == [[1]]
    assert raw.Select(condition=tf.constant(False), x=tf.constant(1), y=tf.constant(2)).numpy() == 2
    assert [t.numpy().tolist() for t in raw.Split(axis=tf.constant(0), value=tf.constant([1, 2]), num_split=2)] == [[1], [2]]


def test_numbers_among_the_inputs_are_told_apart() -> None:
    x = tf.reshape(tf.range(12), [3, 4])
    for _ in range(3):  # found in the cache from the second round on
        assert tf.reduce_sum(x, 0).numpy().tolist() == [12, 15, 18, 21]
        assert tf.reduce_sum(x, 1).numpy().tolist() == [6, 22, 38]
        assert tf.reduce_sum(x, [0, 1]).numpy() == 66
        assert tf.reshape(x, [2, 6]).shape == (2, 6) and tf.reshape(x, [6, 2]).shape == (6, 2)
        assert tf.maximum(x, 5).dtype == tf.int32 and tf.maximum(tf.cast(x, tf.float32), 5).dtype == tf.float32
        assert tf.maximum(tf.constant([0.5]), 1).numpy() == 1 and tf.maximum(tf.constant([0.5]), 0.25).numpy() == 0.5
        assert [int(x[i, -1]) for i in range(3)] == [3, 7, 11] and [int(v) for v in x[1]] == [4, 5, 6, 7]


def test_more_numbers_than_are_kept_give_right_results() -> None:
    x = tf.range(6000)
    assert [int(x[i]) for i in range(0, 6000, 1)] == list(range(6000))
    assert [int(x[i]) for i in (0, 5999, 17)] == [0, 5999, 17]


def test_numbers_are_constants_for_a_tape() -> None:
    x = tf.Variable([[1.0, 2.0], [3.0, 4.0]])
    for _ in range(3):
        with tf.GradientTape() as tape:
            y = tf.reduce_sum(tf.reshape(x, [4])[1] * 2.0 + tf.reduce_mean(x, 0)[1])
        assert tape.gradient(y, x).numpy().tolist() == [[0.0, 2.5], [0.0, 0.5]]


def test_a_repeated_call_of_a_function_words_its_error_as_the_first() -> None:
    @tf.function
    def f(x):
        return tf.reshape(x, [3]) if False else tf.ensure_shape(tf.unique(x)[0], [2])

    said = []
    for value in ([1, 2, 2], [1, 2, 3], [1, 1, 1]):
        try:
            f(tf.constant(value))
        except tf.errors.InvalidArgumentError as e:
            said.append(str(e))
    assert len(said) == 2 and all(s.startswith("Graph execution error:") and "{{node EnsureShape}}" in s for s in said)


def test_a_list_of_one_stays_a_list_the_second_time() -> None:
    x = tf.constant([[7]])
    for _ in range(2):
        for made in (tf.unstack(x), tf.split(x, 1), tf.split(x, [1]), tf.identity_n([x]), tf.raw_ops.ShapeN(input=[x])):
            assert isinstance(made, list) and len(made) == 1


def test_reshape_beside_zeros_leaves_them_out() -> None:
    assert tf.reshape(tf.zeros([0, 3]), [0, -1]).shape == (0, 3)
    assert tf.reshape(tf.zeros([0]), [-1, 0]).shape == (1, 0)
    with pytest.raises(tf.errors.InvalidArgumentError):
        tf.reshape(tf.zeros([3]), [-1, 0])


def test_shape_of_a_ragged_tensor_says_which_lengths_are_one_number() -> None:
    shape = tf.shape(tf.ragged.constant([[[1, 2]], [[3, 4], [5, 6]]], ragged_rank=1))
    assert (int(shape[0]), int(shape[2]), shape.rank, shape.num_row_partitions) == (2, 2, 3, 1)
    assert repr(shape) == "<DynamicRaggedShape lengths=[2, (1, 2), 2] num_row_partitions=1>"
    with pytest.raises(ValueError, match="Index 1 is not uniform"):
        shape[1]


def test_lists_with_floats_are_shapes() -> None:
    assert tf.reshape(tf.ones([4]), (tf.constant(2.0), tf.constant(2.0), 1)).shape == (2, 2, 1)
    assert tf.random.stateless_gamma((), [1, 2], 1.0).shape == ()


def test_shares_its_memory_with_numpy():
    t = tf.constant(np.arange(1000.0))
    one, other = np.asarray(t), np.asarray(t)
    assert np.shares_memory(one, other) and not one.flags.writeable
    view = memoryview(t)
    assert view.readonly and view.shape == (1000,) and view.format == "d"
    assert not np.shares_memory(one, t.numpy()) and t.numpy().flags.writeable
    assert np.array(t).flags.writeable and np.asarray(t, np.float32).dtype == np.float32


def test_an_array_keeps_what_a_variable_held():
    v = tf.Variable(np.arange(1000.0))
    before = np.asarray(v.read_value())
    v.assign_add(np.ones(1000))
    assert before[1] == 1.0 and np.asarray(v.read_value())[1] == 2.0


def test_a_capsule_can_be_written_to_by_its_taker():
    t = tf.constant(np.arange(1000.0))
    back = tf.experimental.dlpack.from_dlpack(tf.experimental.dlpack.to_dlpack(t))
    np.testing.assert_array_equal(back.numpy(), t.numpy())


@pytest.mark.parametrize(
    "value, dtype, name",
    [
        ([1.5, 2], None, "float32"),
        ([[1, 2], (3, 4)], None, "int32"),
        ([1, 2**31], None, "int64"),
        ([True, False], None, "bool"),
        (["a", b"b"], None, "string"),
        ([1j, 2j], None, "complex128"),
        ([np.float32(1), np.float32(2)], None, "float32"),
        ([np.float64(1), np.float64(2)], None, "float64"),
        ([1, 2.5], "float64", "float64"),
        ([1, 2.0009765625], "float16", "float16"),
        ([1, 255], "uint8", "uint8"),
        ([float(i) for i in range(1000)], None, "float32"),
        ([[[i + j for i in range(5)]] for j in range(7)], "int64", "int64"),
    ],
)
def test_takes_lists_as_numpy_does(value, dtype, name):
    for made in (tf.constant(value, dtype), tf.convert_to_tensor(value, dtype)):
        assert made.dtype.name == name
        expected = np.array([v if isinstance(v, bytes) else v.encode() for v in value], object) if name == "string" else np.array(value, name)
        np.testing.assert_array_equal(made.numpy(), expected)


@pytest.mark.parametrize("value, dtype", [([1, "a"], None), ([[1], [2, 3]], None), ([1.5], "int32"), ([2**70], None), ([1e300], None), ([None], None)])
def test_refuses_lists_that_are_no_tensor(value, dtype):
    with pytest.raises((TypeError, ValueError)):
        tf.constant(value, dtype)


def test_a_list_that_contains_itself_is_refused():
    value: list = [1]
    value[0] = value
    with pytest.raises(ValueError):
        tf.constant(value)
