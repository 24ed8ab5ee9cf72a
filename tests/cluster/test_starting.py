"""Tasks that the command line, Open MPI and Ray start, and what resolvers make of the environment."""

from __future__ import annotations

import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import time
from typing import Any

import pytest

import emplace
import emplace.compat.v1 as tf
from processes import HERE, LIMIT, environment, free_ports, free_ports_in_a_row

COMMAND = shutil.which("emplace", path=str(HERE.parents[1] / "build" / "release" / "bin"))
needs_command = pytest.mark.skipif(COMMAND is None, reason="the command line is not built")


def run(*words: str, **options: Any) -> subprocess.CompletedProcess[str]:
    return subprocess.run([str(COMMAND), *words], capture_output=True, text=True, timeout=LIMIT, **options)


def launch(program: str, *words: str) -> subprocess.CompletedProcess[str]:
    return run("launch", *words, "--", sys.executable, "-u", "-c", program)


@needs_command
def test_launch_tells_each_process_which_task_it_is() -> None:
    done = launch("import os, json; c = json.loads(os.environ['TF_CONFIG']); print(c['task'], sorted(len(v) for v in c['cluster'].values()))", "-n", "2", "--ps", "1")
    assert done.returncode == 0, done.stderr
    assert sorted(done.stdout.splitlines()) == [
        "[ps 0] {'type': 'ps', 'index': 0} [1, 2]",
        "[worker 0] {'type': 'worker', 'index': 0} [1, 2]",
        "[worker 1] {'type': 'worker', 'index': 1} [1, 2]",
    ]


@needs_command
def test_launch_ends_all_when_one_fails() -> None:
    done = launch("import os, sys, time; '\"index\":1' in os.environ['TF_CONFIG'] and sys.exit(7); time.sleep(600)", "-n", "3")
    assert done.returncode == 7
    assert "worker 1 ended with status 7; the others are ended" in done.stderr


@needs_command
def test_launch_starts_again_what_fails(tmp_path: pathlib.Path) -> None:
    program = f"import os, sys; p = {str(tmp_path)!r} + '/there'; again = os.path.exists(p); open(p, 'w'); print(again); sys.exit(0 if again else 3)"
    done = launch(program, "-n", "1", "--restarts", "2")
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == ["[worker 0] False", "[worker 0] True"]


@needs_command
def test_ctrl_c_ends_what_was_launched() -> None:
    words = [str(COMMAND), "launch", "-n", "2", "--", sys.executable, "-u", "-c", "import os, time; print(os.getpid()); time.sleep(600)"]
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as process:
        assert process.stdout is not None
        pids = [int(process.stdout.readline().split()[-1]) for _ in range(2)]
        process.send_signal(signal.SIGINT)
        assert process.wait(LIMIT) == 128 + signal.SIGINT
    for pid in pids:
        with pytest.raises(ProcessLookupError):
            os.kill(pid, 0)


@needs_command
def test_servers_of_the_command_line_are_found_and_looked_at(tmp_path: pathlib.Path) -> None:
    spec = {"worker": [f"localhost:{p}" for p in free_ports(2)]}
    servers = []
    try:
        for index in range(2):
            config = {"cluster": spec, "task": {"type": "worker", "index": index}}
            servers.append(
                subprocess.Popen(
                    [str(COMMAND), "serve"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env={**os.environ, "TF_CONFIG": json.dumps(config)}
                )
            )
            line = servers[-1].stdout.readline()  # type: ignore[union-attr]
            assert line == f"/job:worker/task:{index} serves at grpc://{spec['worker'][index]}\n"
        devices = run("devices", "--cluster", spec["worker"][0])
        assert "/job:worker/replica:0/task:1/device:CPU:0" in devices.stdout, devices.stderr
        with tf.Graph().as_default(), tf.Session("grpc://" + spec["worker"][0]) as sess:
            with tf.device("/job:worker/task:1"):
                x = tf.constant(2.0) * 3.0
            assert sess.run(x) == 6
        looked = run("cluster", "status", spec["worker"][0], "--json")
        tasks = json.loads(looked.stdout)["tasks"]
        assert [t["task"] for t in tasks] == [f"/job:worker/replica:0/task:{i}" for i in range(2)]
        assert looked.returncode == 0 and tasks[1]["steps"] >= 1 and tasks[1]["memory_bytes"] > 0
        servers[1].send_signal(signal.SIGTERM)
        assert servers[1].wait(LIMIT) == 0
        looked = run("cluster", "status", spec["worker"][0], "--json")
        assert looked.returncode == 1 and json.loads(looked.stdout)["tasks"][1]["problem"]
    finally:
        for server in servers:
            server.kill()
            server.communicate()
    assert run("serve", "--cluster", "worker=192.0.2.1:2222").returncode == 1
    assert run("serve", env={k: v for k, v in os.environ.items() if k != "TF_CONFIG"}).returncode == 2


@needs_command
def test_init_makes_keys_for_a_cluster_and_its_clients(tmp_path: pathlib.Path) -> None:
    folder = str(tmp_path / "keys")
    done = run("cluster", "init", folder, "--jobs", "worker=1", "--clients", "alice")
    assert done.returncode == 0, done.stderr
    token = run("cluster", "token", folder, "bob").stdout.strip()
    assert token.startswith("emplace1.bob.")
    [port] = free_ports(1)
    (tmp_path / "given").mkdir()
    (tmp_path / "given" / "a").write_text("words")
    words = [str(COMMAND), "serve", "--tls", folder, "--files", str(tmp_path / "given"), "--cluster", f"worker=127.0.0.1:{port}"]
    program = """
import sys, emplace.compat.v1 as tf
path = tf.placeholder(tf.string, [])
text = tf.io.read_file(path)
with tf.Session(sys.argv[1]) as sess:
    print(sess.run(text, {path: sys.argv[2]}))
    for bad in (lambda: sess.run(text, {path: "/etc/passwd"}), lambda: sess.run(tf.py_func(lambda: 1, [], tf.int64))):
        try:
            bad()
        except tf.errors.PermissionDeniedError as e:
            print("refused")
"""
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as server:
        try:
            assert server.stdout is not None and server.stdout.readline()
            for shown in ({"EMPLACE_TLS": f"{folder}/client-alice"}, {"EMPLACE_TLS": folder, "EMPLACE_TOKEN": token}):
                client = subprocess.run(
                    [sys.executable, "-c", program, f"grpc://127.0.0.1:{port}", str(tmp_path / "given" / "a")],
                    capture_output=True, text=True, timeout=LIMIT, env={**environment(), **shown, "EMPLACE_CLUSTER_LOCAL": "0"},
                )  # fmt: skip
                assert client.stdout == "b'words'\nrefused\nrefused\n", client.stderr
        finally:
            server.kill()


def test_resolvers_say_what_tensorflows_say() -> None:
    pytest.importorskip("tensorflow")
    said = []
    for module in ("emplace", "tensorflow"):
        done = subprocess.run([sys.executable, str(HERE / "resolvers.py"), module], capture_output=True, text=True, env=environment(), timeout=LIMIT)
        assert done.returncode == 0, done.stderr[-3000:]
        said.append(done.stdout.splitlines())
    assert said[0] == said[1]


@pytest.mark.skipif(shutil.which("mpirun") is None, reason="no mpirun here")
def test_processes_of_mpirun_find_their_cluster(tmp_path: pathlib.Path) -> None:
    program = """
import os, time
import emplace, emplace.compat.v1 as tf
me = emplace.cluster.find_task(PORT)
print(me, flush=True)
server = tf.train.Server(me.cluster, me.job, me.index)
q = lambda i: tf.FIFOQueue(9, tf.float32, [[]], shared_name=f"q{i}")
with tf.device("/job:worker/task:0"):
    done = q(0)
with tf.Session(server.target) as sess:
    if me.index:
        sess.run(done.enqueue(float(me.index)))
        with tf.device("/job:worker/task:0"):
            sess.run(q(me.index).dequeue())
        open(f"ENDED/{me.index}", "w").close()
    else:
        print("sum", sess.run(tf.add_n([done.dequeue() for _ in range(2)])), flush=True)
        for i in (1, 2):
            with tf.device("/job:worker/task:0"):
                sess.run(q(i).enqueue(0.0))
        while not all(os.path.exists(f"ENDED/{i}") for i in (1, 2)):
            time.sleep(0.01)
""".replace("PORT", str(free_ports_in_a_row(3)[0])).replace("ENDED", str(tmp_path))
    env = {**environment(), "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    words = ["mpirun", "--oversubscribe", "-n", "3", sys.executable, "-c", program]
    done = subprocess.run(words, capture_output=True, text=True, env=env, timeout=LIMIT)
    assert done.returncode == 0, done.stderr[-3000:]
    assert "sum 3.0" in done.stdout
    assert done.stdout.count("Open MPI: /job:worker/task:") == 3  # in lines or across them


def test_ray_starts_a_cluster_and_starts_again_what_dies() -> None:
    ray = pytest.importorskip("ray")
    ray.init(num_cpus=3, num_gpus=0, log_to_driver=False, include_dashboard=False)
    try:
        with emplace.cluster.on_ray({"ps": 1, "worker": 1}, restarts=2) as cluster:
            assert cluster.cluster_spec.jobs == ["ps", "worker"]
            with tf.Graph().as_default() as graph, tf.device("/job:ps/task:0"):
                v = tf.Variable(3.0)
            with graph.as_default(), tf.device("/job:worker/task:0"):
                y = v * 2.0

            def run_all() -> float:
                with tf.Session(cluster.target(), graph=graph) as sess:
                    sess.run(v.initializer)
                    return float(sess.run(y))

            assert run_all() == 6
            os.kill(ray.get(cluster.actor("ps").pid.remote()), signal.SIGKILL)
            for _ in range(200):  # Ray takes its time
                try:
                    assert run_all() == 6
                    break
                except (tf.errors.UnavailableError, tf.errors.AbortedError):
                    time.sleep(0.1)
            else:
                pytest.fail("the task is not back")
    finally:
        ray.shutdown()
