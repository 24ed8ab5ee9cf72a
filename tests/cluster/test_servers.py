"""Servers and clients as processes. Either side may be TensorFlow's: both speak one protocol."""

from __future__ import annotations

import functools
import os
import pathlib
import signal
import subprocess
import sys
import threading
import time

import pytest

import emplace.compat.v1 as tf
from processes import Cluster, run_client

try:
    tf.train.Server.create_local_server()
except tf.errors.UnimplementedError as error:  # a build without gRPC
    pytest.skip(str(error), allow_module_level=True)

JOBS = {"ps": 1, "worker": 2}


@functools.cache
def printed(servers: str, client: str) -> str:
    with Cluster(servers, JOBS) as cluster:
        return run_client("client_values.py", client, cluster.target("worker", 0))


@pytest.mark.parametrize(("servers", "client"), [("emplace", "emplace"), ("emplace", "tensorflow"), ("tensorflow", "emplace")])
def test_prints_what_tensorflow_prints(servers: str, client: str) -> None:
    pytest.importorskip("tensorflow")
    assert printed(servers, client) == printed("tensorflow", "tensorflow")


def _waiting_graph() -> tuple[tf.Graph, tf.Tensor, tf.Tensor]:
    graph = tf.Graph()
    with graph.as_default():
        with tf.device("/job:worker/task:1"):
            waits = tf.FIFOQueue(1, tf.float32, shapes=[[]]).dequeue()
        with tf.device("/job:worker/task:0"):
            return graph, -waits, tf.constant(2.0) * 3.0


def test_a_killed_task_is_named_and_the_session_goes_on_without_it() -> None:
    graph, waits, here = _waiting_graph()
    with Cluster("emplace", {"worker": 2}) as cluster:
        with tf.Session(cluster.target("worker", 0), graph=graph) as sess:
            assert sess.run(here) == 6
            threading.Timer(0.5, cluster.kill, ("worker", 1)).start()
            with pytest.raises(tf.errors.UnavailableError, match="/job:worker/replica:0/task:1"):
                sess.run(waits)
            with pytest.raises(tf.errors.UnavailableError, match="/job:worker/replica:0/task:1"):
                sess.run(waits)
            assert sess.run(here) == 6


def test_a_restarted_task_aborts_old_sessions_and_serves_new_ones() -> None:
    graph = tf.Graph()
    with graph.as_default():
        with tf.device("/job:worker/task:0"):
            kept = tf.Variable(1.0)
        with tf.device("/job:worker/task:1"):
            lost = tf.Variable(2.0)
        init, total = tf.global_variables_initializer(), kept + lost
    with Cluster("emplace", {"worker": 2}) as cluster:
        with tf.Session(cluster.target("worker", 0), graph=graph) as sess:
            sess.run(init)
            assert sess.run(total) == 3
            cluster.kill("worker", 1)
            cluster.start("worker", 1)
            for _ in range(1000):  # it may take some looks until it is found again
                with pytest.raises((tf.errors.AbortedError, tf.errors.UnavailableError)) as failure:
                    sess.run(total)
                if isinstance(failure.value, tf.errors.AbortedError):
                    break
                time.sleep(0.05)
            assert isinstance(failure.value, tf.errors.AbortedError), failure.value
            assert "restarted" in failure.value.message
        with tf.Session(cluster.target("worker", 0), graph=graph) as sess:
            assert sess.run(kept) == 1
            with pytest.raises(tf.errors.FailedPreconditionError):
                sess.run(total)


def test_a_dead_master_ends_the_waiting_run() -> None:
    graph, waits, _ = _waiting_graph()
    with Cluster("emplace", {"worker": 2}) as cluster:
        sess = tf.Session(cluster.target("worker", 0), graph=graph)
        threading.Timer(0.5, cluster.kill, ("worker", 0)).start()
        with pytest.raises(tf.errors.UnavailableError):
            sess.run(waits)
        sess.close()


def test_ctrl_c_ends_a_waiting_run_and_leaves_the_session() -> None:
    graph, waits, here = _waiting_graph()
    with Cluster("emplace", {"worker": 2}) as cluster:
        with tf.Session(cluster.target("worker", 0), graph=graph) as sess:
            sess.run(here)
            with pytest.raises(KeyboardInterrupt):
                threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT)).start()
                sess.run(waits)
            assert sess.run(here) == 6


def test_a_client_that_is_killed_leaves_servers_and_state() -> None:
    program = """
import sys, emplace.compat.v1 as tf
with tf.device("/job:worker/task:1"):
    q = tf.FIFOQueue(1, tf.float32, shapes=[[]], shared_name="q")
    v = tf.Variable(5.0, name="v")
with tf.Session(sys.argv[1]) as sess:
    sess.run(v.initializer)
    print("waiting", flush=True)
    sess.run(q.dequeue())
"""
    with Cluster("emplace", {"worker": 2}) as cluster:
        target = cluster.target("worker", 0)
        with subprocess.Popen([sys.executable, "-c", program, target], stdout=subprocess.PIPE, text=True) as client:
            assert client.stdout is not None and client.stdout.readline() == "waiting\n"
            client.kill()
        with tf.Graph().as_default(), tf.device("/job:worker/task:1"), tf.Session(target) as sess:
            q = tf.FIFOQueue(1, tf.float32, shapes=[[]], shared_name="q")
            v = tf.Variable(5.0, name="v")
            assert sess.run(v) == 5
            sess.run(q.enqueue(7.0))  # the dead client's dequeue does not take it
            assert sess.run(q.dequeue()) == 7


def test_device_filters_leave_tasks_out_that_are_not_up() -> None:
    cluster = Cluster("emplace", {"ps": 1, "worker": 2})
    with tf.Graph().as_default() as graph:
        with tf.device("/job:ps/task:0"):
            v = tf.Variable(1.0)
        y = v + 1.0
    try:
        cluster.start("ps", 0)
        cluster.start("worker", 0)
        config = tf.ConfigProto(device_filters=["/job:ps", "/job:worker/task:0"])
        with tf.Session(cluster.target("worker", 0), graph=graph, config=config) as sess:
            sess.run(v.initializer)
            assert sess.run(y) == 2
        config = tf.ConfigProto(operation_timeout_in_ms=300)
        with tf.Session(cluster.target("worker", 0), graph=graph, config=config) as sess:
            with pytest.raises(tf.errors.DeadlineExceededError):
                sess.run(y)
    finally:
        cluster.__exit__()


def test_the_example_of_a_parameter_server_trains() -> None:
    example = pathlib.Path(__file__).parents[2] / "examples" / "parameter_server.py"
    done = subprocess.run([sys.executable, str(example)], capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr
    assert sorted(done.stdout.splitlines()) == ["worker 0: [ 2. -1.]", "worker 1: [ 2. -1.]"]


def test_a_local_session_loads_no_grpc() -> None:
    program = "import emplace.compat.v1 as tf; print(tf.Session().run(tf.constant(1) + 1)); print('libgrpc' in open('/proc/self/maps').read())"
    assert subprocess.run([sys.executable, "-c", program], capture_output=True, text=True).stdout == "2\nFalse\n"
