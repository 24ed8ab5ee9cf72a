"""`emplace.cluster`: which task this process is, how a cluster's tasks are, certificates, and clusters that Ray starts."""

from __future__ import annotations

import dataclasses
import os
import socket
import sys
import tempfile
import threading
from typing import Any, Mapping

from emplace import _core
from emplace.framework.cluster_spec import ClusterSpec


@dataclasses.dataclass(frozen=True)
class Task:
    """What the environment says of this process: printed, it is one line."""

    cluster: Any
    job: str
    index: int
    by: str
    text: str = dataclasses.field(repr=False, compare=False)

    def __str__(self) -> str:
        return self.text


def find_task(port: int = 0) -> Any:
    """Which task of which cluster this process is, as `TF_CONFIG`, Slurm, Open MPI, torchrun or Kubernetes say it; None where
    none of them does.

    Args:
      port: Where processes that only know their numbers begin to listen; 0: as EMPLACE_PORT says, else 2222.

    >>> import emplace, os
    >>> os.environ["TF_CONFIG"] = '{"cluster": {"worker": ["a:1", "b:1"]}, "task": {"type": "worker", "index": 1}}'
    >>> print(emplace.cluster.find_task())
    TF_CONFIG: /job:worker/task:1 of 2 tasks at b:1
    >>> del os.environ["TF_CONFIG"]
    """
    found = _core.find_task(port)
    if found is None:
        return None
    by, cluster, job, index, text = found
    return Task(ClusterSpec(cluster), job, index, by, text)


def status(target: str) -> Any:
    """How all tasks of the cluster are, as the server at `target` ("grpc://host:port") finds them: a list of dictionaries.

    One that does not answer has a `problem`.

    >>> import emplace
    >>> server = tf.compat.v1.train.Server.create_local_server()
    >>> [task] = emplace.cluster.status(server.target)
    >>> print(task["task"], task["steps"], task["problem"] == "")
    /job:localhost/replica:0/task:0 0 True
    """
    return _core.cluster_status(target)


def make_keys(folder: str, jobs: Mapping[str, int], clients: Any = (), days: int = 365) -> Any:
    """Makes an authority in a folder, and below it a folder with a certificate for each task ("ps-0") and client
    ("client-alice"). What is there stays. Each goes to its own machine, where EMPLACE_TLS names it.

    Args:
      folder: Where. The authority's own key stays there; keep it to yourself.
      jobs: How many tasks each job has.
      clients: Names of clients: letters, digits, "_" and "-".
      days: How long the certificates are good.

    Returns:
      The folders made.
    """
    return _core.make_cluster_keys(os.fspath(folder), dict(jobs), list(clients), days)


def make_token(folder: str, client: str, days: int = 30) -> str:
    """A text by which a client is let in that has only the authority's certificate: its EMPLACE_TOKEN."""
    return str(_core.make_client_token(os.fspath(folder), client, days))


def use_keys(folder: str, token: str = "") -> None:
    """What this process's sessions show to servers from now on, instead of EMPLACE_TLS and EMPLACE_TOKEN."""
    _core.use_cluster_keys(os.fspath(folder), token)


# ---- Ray.


def _free_port() -> int:
    with socket.socket() as s:
        s.bind(("", 0))
        return int(s.getsockname()[1])


def _read_folder(folder: str) -> dict[str, bytes]:
    found = {}
    for name in ("authority.crt", "own.pem"):
        with open(os.path.join(folder, name), "rb") as file:
            found[name] = file.read()
    return found


def _write_folder(files: Mapping[str, bytes]) -> str:
    folder = tempfile.mkdtemp(prefix="emplace_keys_")  # its owner's alone
    for name, text in files.items():
        with open(os.open(os.path.join(folder, name), os.O_WRONLY | os.O_CREAT, 0o600), "wb") as file:
            file.write(text)
    return folder


class _RayTask:
    """A task of the cluster in a process of Ray's. Started anew after its death, it serves at its old address again."""

    def __init__(self) -> None:
        self._server: Any = None

    def place(self) -> tuple[str, int]:
        import ray

        return str(ray.util.get_node_ip_address()), _free_port()

    def serve(self, spec: Mapping[str, list[str]], job: str, index: int, keys: Mapping[str, bytes] | None) -> None:
        """Runs until the process ends."""
        import ray

        import emplace.compat.v1 as tf

        host = spec[job][index].rsplit(":", 1)[0]
        if host not in ("127.0.0.1", str(ray.util.get_node_ip_address())):
            raise RuntimeError(f"/job:{job}/task:{index} was at {host}, but Ray has started it on another machine.")
        if keys is not None:
            os.environ["EMPLACE_TLS"] = _write_folder(keys)
        self._server = tf.train.Server(dict(spec), job_name=job, task_index=index)
        self._server.join()

    def is_up(self) -> bool:
        return self._server is not None

    def pid(self) -> int:
        return os.getpid()


class RayCluster:
    """A cluster whose tasks Ray runs; at the end of a `with`, or by `stop`, they end."""

    def __init__(self, tasks: Mapping[str, int], options: Mapping[str, Any], gpus_per_task: Mapping[str, float], restarts: int) -> None:
        import ray

        self._ray = ray
        self._watch: threading.Thread | None = None
        if not ray.is_initialized():
            ray.init(log_to_driver=False, configure_logging=False)
        remote = ray.remote(_RayTask)
        self._actors = {
            (job, index): remote.options(
                **{"num_cpus": 1, **options}, num_gpus=gpus_per_task.get(job, 0), max_restarts=restarts, max_task_retries=restarts, max_concurrency=4
            ).remote()
            for job, count in tasks.items()
            for index in range(count)
        }
        try:
            self._serve()
        except BaseException:
            self.stop()
            raise

    def _serve(self) -> None:
        ray = self._ray
        placed = dict(zip(self._actors, ray.get([actor.place.remote() for actor in self._actors.values()])))
        hosts = {host for host, _ in placed.values()} | {str(ray.util.get_node_ip_address())}
        alone = len(hosts) == 1  # all on this machine: the kernel says who is who
        jobs: dict[str, list[str]] = {}
        for (job, _), (host, port) in placed.items():
            jobs.setdefault(job, []).append(f"{'127.0.0.1' if alone else host}:{port}")
        self.cluster_spec = ClusterSpec(jobs)
        keys = {} if alone else self._keys({job: len(addresses) for job, addresses in jobs.items()})
        self._serving = {
            actor.serve.remote(jobs, job, index, keys.get(f"{job}-{index}")): (job, index) for (job, index), actor in self._actors.items()
        }
        for task, actor in self._actors.items():
            while not ray.get(actor.is_up.remote()):
                failed, _ = ray.wait(list(self._serving), timeout=0.05)
                if failed:
                    ray.get(failed)
        self._watch = threading.Thread(target=self._tell_failures, daemon=True)
        self._watch.start()

    def _keys(self, jobs: Mapping[str, int]) -> dict[str, dict[str, bytes]]:
        with tempfile.TemporaryDirectory() as folder:
            made = make_keys(folder, jobs, ["driver"])
            files = {os.path.basename(path): _read_folder(path) for path in made if path != folder}
        use_keys(_write_folder(files.pop("client-driver")))
        return files

    def _tell_failures(self) -> None:
        """Ray starts a task again that dies; what it gives up is told."""
        left = dict(self._serving)
        while left and self._actors:
            ended, _ = self._ray.wait(list(left), timeout=1)
            for call in ended:
                job, index = left.pop(call)
                try:
                    self._ray.get(call)
                except Exception as error:
                    if self._actors:
                        print(f"emplace: /job:{job}/task:{index} has ended: {error}", file=sys.stderr)

    def target(self, job: str = "worker", index: int = 0) -> str:
        """What sessions on a task are opened with."""
        return f"grpc://{self.cluster_spec.task_address(job, index)}"

    def actor(self, job: str = "worker", index: int = 0) -> Any:
        """Ray's handle of a task."""
        return self._actors[job, index]

    def stop(self) -> None:
        """Ends all tasks."""
        actors, self._actors = self._actors, {}
        for actor in actors.values():
            self._ray.kill(actor, no_restart=True)
        if self._watch is not None:
            self._watch.join(5)

    def __enter__(self) -> "RayCluster":
        return self

    def __exit__(self, *_: Any) -> None:
        self.stop()


def on_ray(tasks: Mapping[str, int], gpus_per_task: Any = 0, restarts: int = 3, **options: Any) -> Any:
    """A cluster whose tasks are Ray's actors, each with its GPUs reserved; Ray starts again what dies.

    Needs the package `ray` (`pip install emplace[ray]`). Without `ray.init()` Ray is started on this machine. Tasks on several
    machines get certificates, which Ray carries to them.

    Args:
      tasks: How many tasks each job has: `{"ps": 1, "worker": 4}`.
      gpus_per_task: GPUs of each task, or a dictionary by job.
      restarts: How often each task is started again.
      **options: Of the actors, as `ray.remote(...).options` takes them (`num_cpus`, `resources`, `runtime_env`, …).

    Returns:
      The cluster: `cluster_spec`, `target(job, index)`, `stop()`; also a context manager.
    """
    try:
        import ray  # noqa: F401
    except ImportError:
        raise ImportError("on_ray needs the package `ray`: pip install emplace[ray]") from None
    if not tasks or any(count < 1 for count in tasks.values()):
        raise ValueError(f"every job needs a task: {dict(tasks)!r}")
    if not isinstance(gpus_per_task, Mapping):
        gpus_per_task = dict.fromkeys(tasks, gpus_per_task)
    return RayCluster(tasks, options, gpus_per_task, restarts)
