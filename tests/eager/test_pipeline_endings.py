"""Pipelines end well: threads, descriptors and memory of 1,000 iterators; closing; several threads; forks. Each in a process of its
own, whose threads are counted."""

import os
import subprocess
import sys
import textwrap

import pytest

pytest.importorskip("emplace")

_HEAD = """
import gc, os, resource, tempfile, threading, time
import emplace as tf
import numpy as np

def threads():
    return sorted(open(f"/proc/self/task/{t}/comm").read().strip() for t in os.listdir("/proc/self/task"))

def of_pipelines():
    return [t for t in threads() if t.startswith("data_")]

def none_left():
    while of_pipelines():  # the test's own limit of time ends it
        time.sleep(0.01)
    return True

"""


def _run(program: str) -> list[str]:
    env = {**os.environ, "CUDA_VISIBLE_DEVICES": "-1"}
    done = subprocess.run([sys.executable, "-c", _HEAD + textwrap.dedent(program)], env=env, capture_output=True, text=True, timeout=240)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def test_a_thousand_iterators_leave_nothing() -> None:
    out = _run(
        """
        with tempfile.NamedTemporaryFile("w", delete=False) as file:
            file.write("a line\\n" * 20)

        def made():
            lines = tf.data.TextLineDataset(file.name)
            d = tf.data.Dataset.range(4).interleave(lambda x: lines.map(tf.strings.length), cycle_length=2, num_parallel_calls=2)
            return d.map(lambda n: tf.zeros([25_000]) + tf.cast(n, tf.float32), num_parallel_calls=2).shuffle(3).batch(2).prefetch(2)

        d = made()

        def rounds(n):
            for i in range(n):
                it = iter(d)
                next(it)
                if i % 2:
                    state = it.save()
                if i % 50 == 0:
                    made()
            del it
            gc.collect()

        rounds(100)
        assert none_left()
        handles, before = len(os.listdir("/proc/self/fd")), len(threads())
        size = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        rounds(1000)
        assert none_left()
        grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - size
        print(len(os.listdir("/proc/self/fd")) - handles, len(threads()) - before, grown < 60_000 or grown)
        os.remove(file.name)
        """
    )
    assert out == ["0 0 True"]


def test_whoever_drops_an_iterator_ends_its_threads() -> None:
    out = _run(
        """
        hold = threading.Event()

        def wait(v):
            hold.wait()
            return v

        d = tf.data.Dataset.range(100).map(lambda x: tf.py_function(wait, [x], tf.int64), num_parallel_calls=3).prefetch(1)
        for stage in (d, d.apply(tf.data.experimental.copy_to_device("/cpu:0"))):
            options = tf.data.Options()
            options.experimental_warm_start = True
            it = iter(stage.with_options(options))
            while "data_parallel" not in of_pipelines():
                time.sleep(0.01)
            threading.Timer(0.2, hold.set).start()
            del it
            print(none_left())
            hold.clear()
        """
    )
    assert out == ["True", "True"]


def test_a_session_that_is_closed_ends_them() -> None:
    out = _run(
        """
        v1 = tf.compat.v1
        with v1.Graph().as_default():
            d = v1.data.Dataset.range(10**9).map(lambda x: x + 1, num_parallel_calls=3).batch(10).prefetch(4)
            it = v1.data.make_initializable_iterator(d)
            once = v1.data.make_one_shot_iterator(d).get_next()
            element = it.get_next()
            sess = v1.Session()
            sess.run(it.initializer)
            print(sess.run([element, once])[0][:2].tolist(), len(of_pipelines()) >= 4)
            sess.close()
            del sess
            gc.collect()
            print(none_left())
        """
    )
    assert out == ["[1, 2] True", "True"]


def test_threads_that_share_an_iterator_get_each_element_once() -> None:
    out = _run(
        """
        it, found, lock = iter(tf.data.Dataset.range(2000).map(lambda x: x * 2, num_parallel_calls=2).prefetch(4)), [], threading.Lock()

        def take():
            for x in it:
                with lock:
                    found.append(int(x))

        takers = [threading.Thread(target=take) for _ in range(6)]
        for t in takers:
            t.start()
        for t in takers:
            t.join()
        print(sorted(found) == list(range(0, 4000, 2)))
        """
    )
    assert out == ["True"]


def test_a_fork_goes_on_in_the_parent() -> None:
    out = _run(
        """
        it = iter(tf.data.Dataset.range(1000).map(lambda x: x + 1, num_parallel_calls=2).prefetch(4))
        first = int(next(it))
        child = os.fork()
        if child == 0:
            os._exit(7)
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), first + sum(int(x) for x in it) == 500_500)
        del it
        print(none_left())
        """
    )
    assert out == ["7 True", "True"]


def test_pictures_from_records(tmp_path_factory: pytest.TempPathFactory) -> None:
    folder = tmp_path_factory.mktemp("pictures")
    out = _run(
        f"""
        random, names = np.random.default_rng(1), []
        for k in range(3):
            names.append("{folder}/%d.records" % k)
            with tf.io.TFRecordWriter(names[-1]) as file:
                for i in range(7):
                    picture = tf.io.encode_jpeg(random.integers(0, 256, [30 + i, 40, 3], np.uint8), quality=95).numpy()
                    feature = {{"image": tf.train.Feature(bytes_list=tf.train.BytesList(value=[picture])),
                               "label": tf.train.Feature(int64_list=tf.train.Int64List(value=[10 * k + i]))}}
                    file.write(tf.train.Example(features=tf.train.Features(feature=feature)).SerializeToString())

        def decoded(text):
            row = tf.io.parse_single_example(text, {{"image": tf.io.FixedLenFeature([], tf.string), "label": tf.io.FixedLenFeature([], tf.int64)}})
            picture = tf.image.resize(tf.io.decode_jpeg(row["image"], channels=3), [24, 24])
            return tf.image.flip_left_right(tf.image.central_crop(picture, 0.5)), row["label"]

        def labels(order, calls):
            d = tf.data.Dataset.from_tensor_slices(names).interleave(tf.data.TFRecordDataset, cycle_length=3, num_parallel_calls=calls)
            d = d.map(decoded, num_parallel_calls=calls, deterministic=order).batch(4).prefetch(1)
            made = [(x.shape, y.numpy().tolist(), float(tf.reduce_sum(x))) for x, y in d]
            return made

        alone, threaded = labels(True, None), labels(True, 3)
        print(alone == threaded, alone[0][0], sorted(sum((y for _, y, _ in labels(False, 3)), [])) == sorted(sum((y for _, y, _ in alone), [])))
        """
    )
    assert out == ["True (4, 12, 12, 3) True"]
