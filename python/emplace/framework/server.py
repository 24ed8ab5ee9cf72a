"""Servers: one task of a cluster in this process."""

from __future__ import annotations

import atexit
import weakref
from typing import Any

from emplace import _core
from emplace.framework import errors
from emplace.framework.cluster_spec import ClusterSpec

_servers: "weakref.WeakSet[Server]" = weakref.WeakSet()


def _server_def(server_or_cluster_def: Any, job_name: Any, task_index: Any, protocol: Any, config: Any) -> Any:
    from emplace.proto import server_pb2

    made = server_pb2.ServerDef()
    if isinstance(server_or_cluster_def, server_pb2.ServerDef):
        made.CopyFrom(server_or_cluster_def)
        if job_name is not None:
            made.job_name = job_name
        if task_index is not None:
            made.task_index = task_index
        if protocol is not None:
            made.protocol = protocol
        if config is not None:
            made.default_session_config.MergeFrom(config)
        return made
    try:
        spec = ClusterSpec(server_or_cluster_def)
    except TypeError:
        raise TypeError("Could not convert `server_or_cluster_def` to a `tf.train.ServerDef` or `tf.train.ClusterSpec`.") from None
    made.cluster.CopyFrom(spec.as_cluster_def())
    if job_name is None:
        if len(spec.jobs) != 1:
            raise ValueError("Must specify an explicit `job_name`.")
        job_name = spec.jobs[0]
    if task_index is None:
        indices = spec.task_indices(job_name)
        if len(indices) != 1:
            raise ValueError("Must specify an explicit `task_index`.")
        task_index = indices[0]
    made.job_name, made.task_index, made.protocol = job_name, task_index, protocol or "grpc"
    if config is not None:
        made.default_session_config.MergeFrom(config)
    return made


class Server:
    """One task of a cluster, in this process: it runs its part of what sessions on any task ask for, and
    sessions opened at its `target` have it as their master.

    It listens on this machine's loopback only, to programs of the same user. At any other address it does
    not start unless EMPLACE_INSECURE_FOR_EVERYONE=1 says that whoever reaches it may run programs.

    >>> server = tf.compat.v1.train.Server.create_local_server()
    >>> with tf.compat.v1.Session(server.target, graph=tf.Graph()) as sess:
    ...     print(sess.run(tf.constant(2) + 3))
    5
    """

    def __init__(self, server_or_cluster_def: Any, job_name: Any = None, task_index: Any = None, protocol: Any = None, config: Any = None, start: bool = True) -> None:
        self._server_def = _server_def(server_or_cluster_def, job_name, task_index, protocol, config)
        self._core: Any = None
        if start:
            self.start()

    def start(self) -> None:
        """Starts the server; one that runs already goes on."""
        from emplace.framework import settings
        from emplace.framework.session import _options

        if self._core is not None:
            return
        made = self._server_def
        jobs = {job.name: dict(job.tasks) for job in made.cluster.job}
        options = settings.with_globals(_options(made.default_session_config))
        self._core = _core.Server(jobs, made.job_name, made.task_index, made.protocol, made.port, options)
        _servers.add(self)

    def join(self) -> None:
        """Waits for ever: the server's threads do the work. Ctrl-C ends it."""
        while not self._started().join_for(200):
            pass

    def _started(self) -> Any:
        if self._core is None:
            raise errors.FailedPreconditionError(None, None, "The server has not been started: call start().")
        return self._core

    @property
    def server_def(self) -> Any:
        return self._server_def

    @property
    def target(self) -> str:
        """What sessions on this server are opened with: "grpc://localhost:2222"."""
        address = ClusterSpec(self._server_def.cluster).task_address(self._server_def.job_name, self._server_def.task_index)
        if self._core is None and not address.endswith(":0"):
            return "grpc://" + address
        self.start()  # the system chooses the port
        return self._core.target

    @staticmethod
    def create_local_server(config: Any = None, start: bool = True) -> "Server":
        """A cluster of one task, on a port that the system chooses."""
        return Server({"localhost": ["localhost:0"]}, protocol="grpc", config=config, start=start)


@atexit.register
def _stop_all() -> None:
    for server in list(_servers):
        server._core.stop()
