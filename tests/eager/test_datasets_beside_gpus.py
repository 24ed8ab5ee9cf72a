"""Where a GPU is, datasets and Python functions work as without one."""

import os
import pathlib
import subprocess
import sys
import textwrap
from collections.abc import Callable

import pytest


@pytest.fixture
def run(tmp_path: pathlib.Path) -> Callable[[str], list[str]]:
    return lambda program: _run(program, tmp_path / "program.py")


def _run(program: str, file: pathlib.Path) -> list[str]:
    env = {**os.environ, "EMPLACE_VIRTUAL_GPUS": "2", "CUDA_VISIBLE_DEVICES": "-1"}
    file.write_text("import emplace as tf\nimport numpy as np\n" + textwrap.dedent(program))
    done = subprocess.run([sys.executable, file], env=env, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def test_elements_are_on_the_host(run: Callable[[str], list[str]]) -> None:
    out = run(
        """
        d = tf.data.Dataset.from_tensor_slices(np.ones([4, 2], "f"))
        for made in (d, d.map(lambda x: x * 2.0), d.map(lambda x: x * 2.0).batch(2)):
            print(next(iter(made)).device[-5:], [x.numpy().sum() for x in made][0])
        print(d.map(lambda x: x + 1.0).reduce(tf.zeros([2]), lambda a, b: a + b).device[-5:])
        print((next(iter(d)) + 1.0).device[-5:])
        """
    )
    assert out == ["CPU:0 2.0", "CPU:0 4.0", "CPU:0 8.0", "CPU:0", "GPU:0"]


def test_a_function_goes_through_a_dataset(run: Callable[[str], list[str]]) -> None:
    out = run(
        """
        d = tf.data.Dataset.from_tensor_slices(np.ones([4, 2], "f")).map(lambda x: x * 2.0)

        @tf.function
        def total():
            sum = tf.zeros([2])
            for x in d:
                sum += x
            return sum

        @tf.function
        def first(it):
            return next(it)

        print(total().numpy(), first(iter(d)).numpy())
        """
    )
    assert out == ["[8. 8.] [2. 2.]"]


def test_a_function_calls_python(run: Callable[[str], list[str]]) -> None:
    out = run(
        """
        @tf.function
        def twice(a):
            return tf.py_function(lambda a: a * 2.0, [a], tf.float32)

        with tf.GradientTape() as tape:
            a = tf.constant([1.0, 2.0])
            tape.watch(a)
            b = twice(a)
        print(b.numpy(), tape.gradient(b, a).numpy())
        """
    )
    assert out == ["[2. 4.] [2. 2.]"]


def test_graphs_go_through_datasets_and_call_python(run: Callable[[str], list[str]]) -> None:
    out = run(
        """
        tf = tf.compat.v1
        with tf.Graph().as_default(), tf.Session() as sess:
            d = tf.data.Dataset.from_tensor_slices(np.ones([4, 2], "f"))
            x = tf.data.make_one_shot_iterator(d.map(lambda x: x * 2.0).batch(2)).get_next()
            y = tf.py_function(lambda a: a * 2.0, [x], tf.float32)
            print(sess.run(y).tolist(), sess.run(tf.gradients(y, x)[0]).tolist())
            print(sess.run(d.reduce(np.float32([0, 0]), lambda a, b: a + b)).tolist())
        """
    )
    assert out == ["[[4.0, 4.0], [4.0, 4.0]] [[2.0, 2.0], [2.0, 2.0]]", "[4.0, 4.0]"]


def test_an_iterator_stays_with_its_dataset(run: Callable[[str], list[str]]) -> None:
    out = run(
        """
        d = iter(tf.data.Dataset.range(3))
        with tf.device("/gpu:1"):
            print(next(d).device[-5:], d.get_next().device[-5:])
        tf = tf.compat.v1
        with tf.Graph().as_default(), tf.Session() as sess:
            d = tf.data.Dataset.from_tensor_slices(np.ones([4, 2], "f"))
            once = tf.data.make_one_shot_iterator(d)
            with tf.device("/cpu:0"):
                d = d.batch(2)
            with tf.device("/gpu:1"):
                x, again = once.get_next(), tf.data.make_initializable_iterator(d)
                y = again.get_next()
            print([x.device, again.initializer.device, y.device])
            sess.run(again.initializer)
            print(sess.run(x).tolist(), sess.run(y).tolist())
        """
    )
    assert out == ["CPU:0 CPU:0", "['', '/device:CPU:0', '/device:CPU:0']", "[1.0, 1.0] [[1.0, 1.0], [1.0, 1.0]]"]


def test_elements_are_brought_to_a_device_ahead(run: Callable[[str], list[str]]) -> None:
    out = run(
        """
        import threading
        made = threading.Event()

        def number(v):
            if int(v) == 2:
                made.set()
            return v

        d = tf.data.Dataset.range(5).map(lambda x: tf.py_function(number, [x], tf.int64))
        there = iter(d.apply(tf.data.experimental.prefetch_to_device("/gpu:1", 2)))
        first = next(there)
        print(made.wait(60), first.device[-5:], [int(x) for x in there])
        d = tf.data.Dataset.range(4).map(lambda x: (tf.fill([2], x), "text"))
        for numbers, text in d.apply(tf.data.experimental.copy_to_device("/gpu:0")).skip(3):
            print(numbers.device[-5:], numbers.numpy(), text.device[-5:], text.numpy())
        there = tf.data.Dataset.range(4).apply(tf.data.experimental.prefetch_to_device("/gpu:0"))
        print(int(there.reduce(np.int64(0), lambda a, b: a + b)), int(tf.function(lambda it: next(it) + 7)(iter(there))))
        try:
            list(there.batch(2))
        except tf.errors.UnimplementedError as e:
            print("last stage" in str(e))
        it = iter(there)
        next(it)
        state = it.save()
        rest = [int(x) for x in it]
        it.restore(state)
        print(rest == [int(x) for x in it], rest)
        """
    )
    assert out == [
        "True GPU:1 [1, 2, 3, 4]", "GPU:0 [3 3] CPU:0 b'text'", "6 7", "True", "True [1, 2, 3]",
    ]  # fmt: skip


def test_an_iterator_deals_elements_out_to_devices(run: Callable[[str], list[str]]) -> None:
    out = run(
        """
        from emplace.eager.datasets.devices import MultiDeviceIterator, OwnedMultiDeviceIterator
        d = tf.data.Dataset.range(7)
        for elements in OwnedMultiDeviceIterator(d, ["/cpu:0", "/gpu:0", "/gpu:1"]):
            print([(x.device[-5:], int(x)) for x in elements])
        alone = OwnedMultiDeviceIterator(d, ["/gpu:0", "/gpu:1"], max_buffer_size=4, prefetch_buffer_size=0)
        print([int(alone.get_next("/gpu:1")) for _ in range(3)], int(alone.get_next("/gpu:0")))

        def fail(v):
            raise ValueError("no three")

        wrong = d.map(lambda x: tf.cond(x == 3, lambda: tf.py_function(fail, [x], tf.int64), lambda: x))
        it = OwnedMultiDeviceIterator(wrong, ["/gpu:0", "/gpu:1"])
        print([int(x) for x in it.get_next()], int(it.get_next("/gpu:0")))
        try:
            it.get_next("/gpu:1")
        except tf.errors.InvalidArgumentError as e:
            print("no three" in str(e))
        print([int(x) for x in it.get_next()])
        v1 = tf.compat.v1
        with v1.Graph().as_default(), v1.Session() as sess:
            it = MultiDeviceIterator(v1.data.Dataset.range(4), ["/cpu:0", "/gpu:1"])
            elements = it.get_next()
            for _ in range(2):
                sess.run(it.initializer)
                print([[int(x) for x in sess.run(elements)] for _ in range(2)])
        """
    )
    assert out == [
        "[('CPU:0', 0), ('GPU:0', 1), ('GPU:1', 2)]", "[('CPU:0', 3), ('GPU:0', 4), ('GPU:1', 5)]", "[1, 3, 5] 0",
        "[0, 1] 2", "True", "[4, 5]", "[[0, 1], [2, 3]]", "[[0, 1], [2, 3]]",
    ]  # fmt: skip
