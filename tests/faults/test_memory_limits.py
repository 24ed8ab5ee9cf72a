"""Memory that is kept to: limits that change while a program runs, of the host and of a GPU; memory given back. In
children, since a limit is the process's."""

import os
import subprocess
import sys

import pytest

HOST = """
import numpy as np
import emplace.compat.v1 as tf
MB = 1 << 20
v = tf.get_variable("weights", [4 * MB], tf.float32, initializer=tf.zeros_initializer())
x = tf.placeholder(tf.float32, [None])
y = tf.reduce_sum(tf.exp(x))
s = tf.Session()
s.run(v.initializer)
small = np.zeros(1000, np.float32)
assert s.run(y, {x: small}) == 1000
s.limit(48 * MB)
try:
    s.run(tf.fill([64 * MB], 1.0) + 1.0)
    raise SystemExit("64 MiB of floats in 48 MiB")
except tf.errors.ResourceExhaustedError as e:
    assert "variable 'weights'" in str(e) and "Limit 48" in str(e), e
assert s.run(y, {x: small}) == 1000  # it goes on
s.limit(0)
assert s.run(tf.reduce_sum(tf.fill([64 * MB], 1.0))) == 64 * MB
assert s.trim() >= 0
try:
    s.limit(-1)
    raise SystemExit("a negative limit")
except tf.errors.InvalidArgumentError:
    pass
try:
    s.limit(MB, "/gpu:7")
    raise SystemExit("a device that is not there")
except tf.errors.InvalidArgumentError:
    pass
s.close()
"""
GPU = """
import numpy as np
import emplace.compat.v1 as tf
MB = 1 << 20
with tf.device("/gpu:0"):
    kept = tf.get_variable("kept", [MB], tf.float32, initializer=tf.zeros_initializer())
    x = tf.placeholder(tf.float32, [None])
    y = tf.reduce_sum(tf.tanh(x) + 1.0)
s = tf.Session()
s.run(kept.initializer)
big, small = np.zeros(4 * MB, np.float32), np.zeros(1000, np.float32)
assert s.run(y, {x: big}) == 4 * MB
s.limit(8 * MB, "/gpu:0")
try:
    s.run(y, {x: big})
    raise SystemExit("16 MiB in 8")
except tf.errors.ResourceExhaustedError as e:
    assert "kept" in str(e) or "Limit" in str(e), e
assert s.run(y, {x: small}) == 1000
s.limit(0, "/gpu:0")
assert s.run(y, {x: big}) == 4 * MB
"""
EAGER = """
import emplace as tf
MB = 1 << 20
weights = tf.Variable(tf.zeros([MB]), name="weights")
tf.config.set_memory_limit("CPU:0", 32 * MB)
try:
    tf.ones([32 * MB])
    raise SystemExit("128 MiB in 32")
except tf.errors.ResourceExhaustedError as e:
    assert "Limit 32" in str(e), e
assert float(tf.reduce_sum(tf.ones([1000]))) == 1000
tf.config.set_memory_limit("CPU:0", 0)
assert tf.ones([32 * MB]).shape == [32 * MB]
"""
TRIM = """
import numpy as np, os
import emplace.compat.v1 as tf
MB = 1 << 20
def held():
    return int(open("/proc/self/statm").read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
x = tf.placeholder(tf.float32, [None])
y = tf.reduce_sum(tf.exp(x) * tf.tanh(x + 1.0))
s = tf.Session()
s.run(y, {x: np.zeros(32 * MB, np.float32)})
before = held()
freed = s.trim()
assert freed > 64 * MB, freed
assert before - held() > freed // 2, (before, held(), freed)
s.run(y, {x: np.zeros(32, np.float32)})
"""


@pytest.mark.parametrize("program", [HOST, GPU, EAGER, TRIM], ids=["host", "gpu", "eager", "trim"])
def test_memory_is_kept_to(program: str) -> None:
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True,
                         env=dict(os.environ, EMPLACE_VIRTUAL_GPUS="1:256M" if program == GPU else "0"))  # fmt: skip
    assert ran.returncode == 0, ran.stderr[-3000:]
