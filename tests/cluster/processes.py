"""Clusters of real processes on this machine: servers of Emplace's or of TensorFlow's, and clients."""

from __future__ import annotations

import json
import os
import pathlib
import signal
import socket
import subprocess
import sys
from typing import Any

HERE = pathlib.Path(__file__).parent
LIMIT = 600  # seconds: whoever takes longer hangs

MODULES = {"emplace": "emplace.compat.v1", "tensorflow": "tensorflow.compat.v1"}

_SERVE = """
import importlib, json, sys
tf = importlib.import_module(sys.argv[1])
server = tf.train.Server(json.loads(sys.argv[2]), job_name=sys.argv[3], task_index=int(sys.argv[4]))
print("serving", flush=True)
server.join()
"""


_reserved: list[socket.socket] = []


def _reserve(port: int) -> int:
    """Linux gives it to nobody who asks for any, and lets a server listen at it."""
    taken = socket.socket()
    taken.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    taken.bind(("127.0.0.1", port))
    _reserved.append(taken)
    return taken.getsockname()[1]


def free_ports(count: int) -> list[int]:
    """Ports for servers of ours, until this process ends."""
    return [_reserve(0) for _ in range(count)]


def free_ports_in_a_row(count: int) -> list[int]:
    while True:
        first = _reserve(0)
        try:
            return [first, *(_reserve(first + i) for i in range(1, count))]
        except (OSError, OverflowError):  # another's, or beyond the last
            pass


def environment() -> dict[str, str]:
    return {**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3", "TF_ENABLE_ONEDNN_OPTS": "0", "CUDA_VISIBLE_DEVICES": ""}


class Cluster:
    """Tasks of jobs, each a process; ended, whatever happens, at the end of the `with`."""

    def __init__(self, engine: str, jobs: dict[str, int], more_environment: dict[str, str] | None = None) -> None:
        self._environment = {**environment(), **(more_environment or {})}
        ports = iter(free_ports(sum(jobs.values())))
        self.spec = {job: [f"localhost:{next(ports)}" for _ in range(n)] for job, n in jobs.items()}
        self._engine = engine
        self._processes: dict[tuple[str, int], subprocess.Popen[str]] = {}

    def __enter__(self) -> "Cluster":
        for job, tasks in self.spec.items():
            for task in range(len(tasks)):
                self.start(job, task)
        return self

    def __exit__(self, *_: Any) -> None:
        for process in self._processes.values():
            process.kill()
            process.wait()

    def start(self, job: str, task: int) -> None:
        """Starts a task, and waits until it serves."""
        command = [sys.executable, "-c", _SERVE, MODULES[self._engine], json.dumps(self.spec), job, str(task)]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=self._environment)
        self._processes[job, task] = process
        assert process.stdout is not None and process.stdout.readline() == "serving\n"

    def kill(self, job: str, task: int) -> None:
        process = self._processes.pop((job, task))
        process.send_signal(signal.SIGKILL)
        process.wait()

    def target(self, job: str, task: int) -> str:
        return "grpc://" + self.spec[job][task]


def run_client(program: str, engine: str, target: str) -> str:
    """What a program of this folder prints as a client of either engine."""
    command = [sys.executable, str(HERE / program), MODULES[engine], target]
    done = subprocess.run(command, capture_output=True, text=True, env=environment(), timeout=LIMIT)
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout
