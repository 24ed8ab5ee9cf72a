"""Eager work on other tasks: `tf.config.experimental_connect_to_host` and `…_to_cluster`."""

from __future__ import annotations

import socket
from typing import Any

from emplace import _core
from emplace.eager import context, modes
from emplace.framework import settings
from emplace.framework.cluster_spec import ClusterSpec
from emplace.framework.server import Server

_server: Server | None = None  # this process's own, where the cluster counts it among its tasks
_scheme = "grpc://"


def experimental_connect_to_host(remote_host: Any = None, job_name: str = "worker") -> None:
    """Lets operations, variables and functions run on a server: `with tf.device("/job:worker/task:0")`.

    Args:
      remote_host: Its address, "host:port" or "grpc://host:port", or a list of them.
      job_name: The job that it is to be; of several addresses each is a task of it.
    """
    if not remote_host:
        raise ValueError("Must provide at least one remote_host")
    hosts = [remote_host] if isinstance(remote_host, str) else list(remote_host)
    experimental_connect_to_cluster(ClusterSpec({job_name: [host.removeprefix(_scheme) for host in hosts]}))


def experimental_connect_to_cluster(
    cluster_spec_or_resolver: Any, job_name: str = "localhost", task_index: int = 0, protocol: Any = None,
    make_master_device_default: bool = True, cluster_device_filters: Any = None,
) -> None:
    """Lets operations, variables and functions run on the tasks of a cluster, and waits until they are up.

    Values stay in the task that made them until they are read here, or used elsewhere.

    Args:
      cluster_spec_or_resolver: The cluster, or a resolver that knows it.
      job_name: The job of this process. If the cluster has it, this process serves the others at its address.
      task_index: Its number there.
      protocol: "grpc", or None for the same.
      make_master_device_default: Whether operations go to a resolver's master unless they ask for a device.
      cluster_device_filters: Must be None.
    """
    if not modes.executing_eagerly():
        raise ValueError("`tf.config.experimental_connect_to_cluster` can only be called in eager mode.")
    if protocol not in (None, "grpc"):
        raise ValueError(f"`protocol` must be \"grpc\", not {protocol!r}")
    if cluster_device_filters is not None:
        raise NotImplementedError("Every task sees all others: `cluster_device_filters` must be None.")
    resolver = None if isinstance(cluster_spec_or_resolver, ClusterSpec) else cluster_spec_or_resolver
    if resolver is not None and not (hasattr(resolver, "cluster_spec") and hasattr(resolver, "master")):
        raise ValueError("`cluster_spec_or_resolver` must be a `ClusterSpec` or a `ClusterResolver`.")
    if resolver is not None and resolver.master() in ("", "local"):
        return  # there is nobody else
    spec = cluster_spec_or_resolver if resolver is None else resolver.cluster_spec()
    jobs = {job: {i: spec.task_address(job, i) for i in spec.task_indices(job)} for job in spec.jobs}
    _begin_as(job_name, task_index)
    if task_index in jobs.get(job_name, {}):
        _serve(spec, job_name, task_index)
    _connect(jobs, job_name, task_index)
    if resolver is not None and make_master_device_default:
        context.device(_device_of(resolver.master(), jobs)).__enter__()


def _connect(jobs: dict[str, dict[int, str]], own_job: str, own_index: int) -> None:
    _core.connect_tasks(jobs, own_job, own_index)
    context.connections += 1


def _begin_as(job: str, index: int) -> None:
    """The engine's devices are the task's, unless it runs already."""
    if not context.started():
        settings.task = f"/job:{job}/replica:0/task:{index}"
    context.engine()


def join_cluster(spec: ClusterSpec, job: str, index: int) -> None:
    """Makes this process one of the cluster's tasks, and waits until the others are up."""
    experimental_connect_to_cluster(spec, job, index)


def connect_again(spec: ClusterSpec, gone: set[tuple[str, int]]) -> None:
    """Connects to those of the tasks that have come back; `gone` are not waited for. Others keep what they hold."""
    jobs = {job: {i: spec.task_address(job, i) for i in spec.task_indices(job) if (job, i) not in gone} for job in spec.jobs}
    job, _, index = settings.task.removeprefix("/job:").partition("/replica:0/task:")
    _connect(jobs, job, int(index or 0))


def listens(address: str) -> bool:
    """Whether somebody is at an address, "host:port"."""
    host, _, port = address.rpartition(":")
    try:
        socket.create_connection((host, int(port)), timeout=1.0).close()
    except OSError:
        return False
    return True


def _serve(spec: ClusterSpec, job: str, index: int) -> None:
    """This process as one of the cluster's tasks; collective operations are made with the others."""
    global _server
    if _server is None or _server.server_def.cluster != spec.as_cluster_def():
        _server = None  # its port may be wanted
        _server = Server(spec, job_name=job, task_index=index)
    _server._core.lend_collectives()


def _device_of(master: str, jobs: dict[str, dict[int, str]]) -> str:
    for job, tasks in jobs.items():
        for index, address in tasks.items():
            if master.removeprefix(_scheme) == address:
                return f"/job:{job}/replica:0/task:{index}"
    raise ValueError(f"`make_master_device_default` is set to True but cannot find master {master} in the cluster")
