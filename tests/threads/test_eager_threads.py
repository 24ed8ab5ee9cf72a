"""What a thread is in the middle of is its own business: scopes, tapes, traces, default graphs."""

import threading
from typing import Any

import numpy as np
import pytest

import emplace as tf
import emplace.compat.v1 as tf1
from in_threads import PATIENCE, at_once, beside


def test_name_scope_stays_in_its_thread() -> None:
    with tf.name_scope("outer"):
        assert beside(lambda: tf.get_current_name_scope()) == ""
        assert beside(lambda: tf.Variable(1.0).name) == "Variable:0"
        assert tf.Variable(1.0).name == "outer/Variable:0"


def test_scopes_may_be_left_in_any_order() -> None:
    inside, done = threading.Event(), threading.Event()

    def other() -> str:
        with tf.name_scope("b"):
            inside.set()
            assert done.wait(PATIENCE)
            return str(tf.get_current_name_scope())

    found: list[str] = []
    thread = threading.Thread(target=lambda: found.append(other()), daemon=True)
    with tf.name_scope("a"):
        thread.start()
        assert inside.wait(PATIENCE)
        assert tf.get_current_name_scope() == "a"
    done.set()
    thread.join(PATIENCE)
    assert found == ["b"]


def test_device_block_stays_in_its_thread() -> None:
    with tf.device("/device:GPU:7"):
        assert float(beside(lambda: tf.constant(1.0) + 1.0)) == 2.0


def test_tape_hears_of_its_own_thread_only() -> None:
    mine, other = tf.Variable(3.0, name="mine"), tf.Variable(5.0, name="other")
    with tf.GradientTape() as tape:
        y = mine * mine
        z = beside(lambda: other * other)
    assert [v.name for v in tape.watched_variables()] == ["mine:0"]
    assert tape.gradient([y, z], [mine, other])[1] is None


def test_accumulator_hears_of_its_own_thread_only() -> None:
    v = tf.Variable(3.0)
    with tf.autodiff.ForwardAccumulator(v, tf.constant(1.0)) as around:
        z = beside(lambda: v * v)
        y = v * v
    assert float(around.jvp(y)) == 6.0
    assert around.jvp(z) is None


def test_gradient_may_be_asked_for_in_another_thread() -> None:
    v = tf.Variable(3.0)
    with tf.GradientTape() as tape:
        y = v * v
    assert float(beside(lambda: tape.gradient(y, v))) == 6.0


def test_variables_are_made_beside_a_trace() -> None:
    made: list[Any] = []

    @tf.function
    def traced(x: Any) -> Any:
        made.append(beside(lambda: (tf.Variable(2.0) + 1.0).numpy()))
        return x + 1.0

    traced(tf.constant(1.0))
    traced(tf.constant([1.0]))  # no variable may be made in a second trace
    assert made == [3.0, 3.0]


def test_default_graph_is_the_threads_own() -> None:
    with tf.Graph().as_default() as graph:
        assert beside(tf.executing_eagerly)
        assert beside(tf1.get_default_graph) is not graph
    mine = tf1.get_default_graph()
    assert beside(tf1.get_default_graph) is not mine
    assert beside(lambda: tf1.get_default_graph() is tf1.get_default_graph())
    beside(tf1.reset_default_graph)
    assert tf1.get_default_graph() is mine


def test_summary_writer_and_step_stay_in_their_thread(tmp_path: Any) -> None:
    with tf.summary.create_file_writer(str(tmp_path)).as_default(step=3):
        assert tf.summary.experimental.get_step() == 3
        assert beside(tf.summary.experimental.get_step) is None
        assert not beside(tf.summary.should_record_summaries)


@pytest.mark.parametrize("first", ["tensor", "number"])
def test_first_calls_at_once_trace_once(first: str, capfd: pytest.CaptureFixture[str]) -> None:
    traces: list[int] = []

    @tf.function
    def slow(x: Any) -> Any:
        traces.append(threading.get_ident())
        threading.Event().wait(0.05)  # the others come meanwhile
        return x + 1.0

    given = tf.constant(1.0) if first == "tensor" else 1.0
    assert [float(y) for y in at_once(8, lambda _: slow(given))] == [2.0] * 8
    assert len(traces) == 1
    assert slow.experimental_get_tracing_count() == 1
    assert "retracing" not in capfd.readouterr().err


def test_first_gradients_at_once_agree() -> None:
    v = tf.Variable(2.0)

    @tf.function
    def cube(x: Any) -> Any:
        return x * x * x * v

    def slope(i: int) -> float:
        x = tf.constant(float(i))
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = cube(x)
        return float(tape.gradient(y, x))

    assert at_once(8, slope) == [6.0 * i * i for i in range(8)]


def test_functions_that_call_each_other_are_traced_at_once() -> None:
    @tf.function
    def ping(x: Any, depth: int) -> Any:
        threading.Event().wait(0.01)
        return x if depth == 0 else pong(x, depth - 1) + 1.0

    @tf.function
    def pong(x: Any, depth: int) -> Any:
        threading.Event().wait(0.01)
        return x if depth == 0 else ping(x, depth - 1) + 1.0

    calls = (ping, pong, ping, pong)
    assert [float(y) for y in at_once(4, lambda i: calls[i](tf.constant(0.0), 3))] == [3.0] * 4


def test_shared_generator_gives_one_element_at_a_time() -> None:
    def numbers() -> Any:
        for i in range(200):
            yield i

    elements = iter(tf.data.Dataset.from_generator(numbers, output_signature=tf.TensorSpec([], tf.int64)))
    taken = at_once(4, lambda _: [int(x) for x in elements])
    assert sorted(x for part in taken for x in part) == list(range(200))


def test_shared_iterator_of_arrays_gives_one_element_at_a_time() -> None:
    elements = tf.data.Dataset.range(200).as_numpy_iterator()
    taken = at_once(4, lambda _: [int(x) for x in elements])
    assert sorted(x for part in taken for x in part) == list(range(200))


def test_operations_are_logged_by_threads_at_once(capfd: pytest.CaptureFixture[str]) -> None:
    tf.debugging.set_log_device_placement(True)
    try:
        at_once(4, lambda i: [tf.constant(float(i)) + float(n) for n in range(50)])
    finally:
        tf.debugging.set_log_device_placement(False)
    assert capfd.readouterr().out.count("Executing op AddV2") == 200


def test_a_function_that_waits_lets_others_in() -> None:
    queue = tf.queue.FIFOQueue(1, [tf.float32])

    @tf.function
    def taken() -> Any:
        return queue.dequeue() + 1.0

    @tf.function
    def put(x: Any) -> None:
        queue.enqueue(x)

    def work(i: int) -> Any:
        if i == 0:
            return float(taken())
        threading.Event().wait(0.05)
        put(tf.constant(4.0))
        return None

    assert at_once(2, work)[0] == 5.0


def _ordinary(seed: int) -> list[Any]:
    """A bit of everything that eager programs do."""
    rng = np.random.default_rng(seed)
    x = tf.constant(rng.normal(size=(16, 4)).astype(np.float32))
    w, b = tf.Variable(tf.ones([4, 1]), name="w"), tf.Variable(0.0, name="b")

    @tf.function
    def loss(x: Any) -> Any:
        y = tf.matmul(x, w) + b
        if tf.reduce_sum(y) > 0.0:
            y = y * 2.0
        for _ in tf.range(3):
            y = tf.tanh(y)
        return tf.reduce_mean(y * y)

    values = []
    with tf.name_scope(f"part{seed}"):
        for data in tf.data.Dataset.from_tensor_slices(x).batch(4).map(lambda row: row * 0.5):
            with tf.GradientTape() as tape:
                value = loss(data)
            slopes = tape.gradient(value, [w, b])
            w.assign_sub(0.1 * slopes[0])
            b.assign_sub(0.1 * slopes[1])
            values.append(float(value))
        made = tf.Variable(tf.random.stateless_normal([2], seed=[1, seed]))
        ragged = tf.ragged.constant([[1, 2], [3]]).to_tensor().numpy().tolist()
        text = tf.strings.join(["a", tf.strings.as_string(tf.constant(seed))]).numpy()
    top = tf.math.top_k(tf.sort(x[0], direction="DESCENDING"), 2).values.numpy().tolist()
    return [values, w.numpy().tolist(), made.name, made.numpy().tolist(), ragged, text, top, tf.linalg.norm(x).numpy()]


def test_ordinary_code_in_eight_threads() -> None:
    together = at_once(8, _ordinary)
    assert together == [_ordinary(i) for i in range(8)]
