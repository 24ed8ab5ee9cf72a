"""Placing by what a step costs: config.placer, tf.config.set_placer, EMPLACE_PLACER."""

import os
import subprocess
import sys

import pytest

import emplace as tf2
import emplace.compat.v1 as tf


def run(program, **env):
    done = subprocess.run([sys.executable, "-c", program], env={**os.environ, **env}, capture_output=True, text=True, timeout=600)
    return done.stdout.splitlines(), done.stderr


# Eight matrices of 3 MiB on four GPUs of 16 MiB.
LARGE = """
import sys
import numpy as np
import emplace.compat.v1 as tf
h = x = tf.placeholder(tf.float32, [4, 768])
tf.device("/gpu:*").__enter__()  # the host's cores, which virtual GPUs run on, would do it sooner
for i in range(8):
    w = tf.get_variable(f"w{i}", initializer=np.eye(768, 1024 if i % 2 == 0 else 768, dtype="f")[:, :1024] if i % 2 == 0 else np.eye(1024, 768, dtype="f"))
    h = tf.matmul(h, w, name=f"h{i}")
config = tf.ConfigProto()
if len(sys.argv) > 1:
    config.placer = sys.argv[1]
with tf.Session(config=config) as sess:
    sess.run(tf.global_variables_initializer())
    value = np.arange(4 * 768, dtype="f").reshape(4, 768)
    print(bool((sess.run(h, {x: value}) == value).all()))
    rows = sess.placement(h)
    print(sorted({rows[f"w{i}"].device[-5:] for i in range(8)}))
    print(rows["h3"].reason)
"""


@pytest.mark.parametrize("said", ["environment", "config"])
def test_a_network_that_no_gpu_holds_runs_over_all(said):
    env = {"EMPLACE_VIRTUAL_GPUS": "4:16M", **({"EMPLACE_PLACER": "dynamic"} if said == "environment" else {})}
    program = LARGE.replace("config = tf.ConfigProto()", "config = tf.ConfigProto(placer='dynamic')") if said == "config" else LARGE
    out, err = run(program, **env)
    assert out[0] == "True", err
    assert out[1] == "['GPU:0', 'GPU:1', 'GPU:2', 'GPU:3']"
    assert out[2].startswith("finishes ") and " ms on GPU:" in out[2]


# Twelve matrices of 3 MiB: three a GPU, and room for first values beside them.
TWELVE = """
import sys
import numpy as np
import emplace.compat.v1 as tf
h = x = tf.placeholder(tf.float32, [4, 880])
with tf.device(sys.argv[1]):
    for i in range(12):
        h = tf.nn.relu(tf.matmul(h, tf.get_variable(f"w{i}", [880, 880])))
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    print(sess.run(h, {x: np.ones((4, 880))}).shape)
"""


@pytest.mark.parametrize("device", ["", "/gpu:*"])
def test_variables_leave_room_for_their_first_values(device):
    program = TWELVE.replace("sys.argv[1]", repr(device))
    out, err = run(program, EMPLACE_VIRTUAL_GPUS="4:16M", EMPLACE_PLACER="dynamic")
    assert out == ["(4, 880)"], err


def test_the_simple_placer_has_no_room_for_it():
    out, err = run(LARGE, EMPLACE_VIRTUAL_GPUS="4:16M", EMPLACE_PLACER="simple")
    assert not out
    assert "ResourceExhaustedError" in err


def test_a_config_says_who_places():
    config = tf.ConfigProto(placer="dynamic", placer_evaluations=100, placer_seed=3)
    again = tf.ConfigProto.FromString(config.SerializeToString())
    assert (again.placer, again.placer_evaluations, again.placer_seed) == ("dynamic", 100, 3)
    with tf.Graph().as_default():
        a = tf.constant(2.0) * 3.0
        with tf.Session(config=again) as sess:
            assert sess.run(a) == 6.0


def test_an_unknown_placer_is_an_error():
    with tf.Graph().as_default(), pytest.raises(tf.errors.InvalidArgumentError, match="There is no placer 'clever': known are simple, dynamic"):
        tf.Session(config=tf.ConfigProto(placer="clever"))
    with pytest.raises(tf.errors.InvalidArgumentError, match="There is no placer 'clever'"):
        tf2.config.set_placer("clever")


FUNCTION = """
import emplace as tf
tf.config.set_placer("dynamic", evaluations=500)
assert tf.config.get_placer() == "dynamic"

v = tf.Variable([[1.0, 2.0]])

@tf.function
def step(x):
    v.assign_add(x)
    return tf.matmul(v, x, transpose_b=True) + tf.reduce_sum(tf.exp(x))

x = tf.constant([[1.0, 1.0]])
print(step(x).numpy().tolist(), v.numpy().tolist())
print(step(x).numpy().tolist(), v.numpy().tolist())
"""


def test_functions_go_by_it():
    out, err = run(FUNCTION, EMPLACE_VIRTUAL_GPUS="2")
    plain, _ = run(FUNCTION.replace('"dynamic", evaluations=500', '"simple"').replace('== "dynamic"', '== "simple"'), EMPLACE_VIRTUAL_GPUS="2")
    assert len(out) == 2, err
    assert out == plain


HINTS = """
import emplace.compat.v1 as tf
x = tf.placeholder(tf.float32, [64, 64])
a = tf.matmul(x, x, name="a")
b = tf.nn.relu(x, name="b")
tf.placement.hint(a, cost={"GPU": 1.0, "CPU": 1e-6})
tf.placement.keep_together([a, b])
with tf.Session(config=tf.ConfigProto(placer="dynamic")) as sess:
    rows = sess.placement([a, b])
    print(rows["a"].device[-5:], rows["b"].device[-5:])
    print(rows["a"].rejected[0])
"""


def test_hints_count():
    out, err = run(HINTS, EMPLACE_VIRTUAL_GPUS="1")
    assert out[0] == "CPU:0 CPU:0", err
    assert "finishes 1e+03 ms on GPU:0" in out[1]


def test_hints_are_checked():
    with tf.Graph().as_default():
        a = tf.constant(1.0)
        with pytest.raises(ValueError, match="a cost is a number of seconds"):
            tf.placement.hint(a, -1)
        with pytest.raises(TypeError, match="a tensor or operation of a graph is needed"):
            tf.placement.hint(3, 1.0)
