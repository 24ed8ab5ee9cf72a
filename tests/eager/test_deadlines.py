"""A deadline ends whatever waits or works for ever, input pipelines too; all stays usable."""

import subprocess
import sys

PIPELINES = """
import time
import numpy as np
import emplace as tf

endless = tf.data.Dataset.range(2**60)
nothing = endless.filter(lambda x: x < 0)
three = tf.data.Dataset.range(3)

def for_ever(x):
    return tf.while_loop(lambda i: i < 1 << 60, lambda i: (i + 1,), [tf.constant(0, tf.int64)])[0]

def elements():
    yield 1.0
    while tf.config.get_operation_timeout():
        time.sleep(0.01)
    yield 2.0

generated = tf.data.Dataset.from_generator(elements, output_signature=tf.TensorSpec([], tf.float32))
made = [
    three.map(for_ever), three.map(for_ever, num_parallel_calls=4), three.map(for_ever).prefetch(2), nothing, nothing.prefetch(1), nothing.batch(4),
    nothing.shuffle(4), nothing.enumerate(), nothing.take_while(lambda x: True), three.interleave(lambda x: nothing, cycle_length=2, num_parallel_calls=2),
    endless.interleave(lambda x: tf.data.Dataset.range(0), cycle_length=4, num_parallel_calls=4), endless.flat_map(lambda x: tf.data.Dataset.range(0)),
    endless.map(lambda x: x).skip(2**50), endless.window(2**50), endless.map(lambda x: x * 0).unique().skip(1), generated.skip(1).prefetch(1),
    endless.group_by_window(lambda x: x * 0, lambda _, d: d.batch(1), window_size=2**40), tf.data.Dataset.zip((endless, nothing)),
    endless.scan(np.int64(0), lambda s, x: (s + x, s + x)).filter(lambda x: x < 0), tf.data.Dataset.sample_from_datasets([nothing]),
]
works = [lambda d=d: next(iter(d)) for d in made]
works += [lambda: next(nothing.as_numpy_iterator()), nothing.get_single_element, tf.function(lambda: next(iter(nothing)))]
works += [lambda: endless.reduce(np.int64(0), lambda a, b: a + b), lambda: tf.function(lambda d: d.reduce(np.int64(0), lambda a, b: a + b))(endless)]
for i, work in enumerate(works):
    tf.config.set_operation_timeout(50)
    try:
        print(i, work())
    except tf.errors.DeadlineExceededError:
        pass
    tf.config.set_operation_timeout(0)
    assert [int(x) for x in three.map(lambda x: x + 1)] == [1, 2, 3]
print(len(works))
"""


def test_elements_that_never_come_are_late() -> None:
    done = subprocess.run([sys.executable, "-c", PIPELINES], capture_output=True, text=True, timeout=600)
    assert (done.stdout, done.stderr) == ("25\n", "")
