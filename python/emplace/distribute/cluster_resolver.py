"""`tf.distribute.cluster_resolver`: where a cluster's tasks are, as those who start processes say it."""

from __future__ import annotations

import collections
import enum
import json
import os
from typing import Any, Mapping, Sequence

from emplace.framework import listing
from emplace.framework.cluster_spec import ClusterSpec

__all__ = [
    "ClusterResolver", "SimpleClusterResolver", "UnionResolver", "TFConfigClusterResolver", "SlurmClusterResolver",
    "KubernetesClusterResolver", "KubernetesExecutableLocation",
]  # fmt: skip
__dir__ = listing.of_module(globals(), hidden=("ClusterSpec",))


def _url(address: str, rpc_layer: str | None) -> str:
    return f"{rpc_layer}://{address}" if rpc_layer else address


class ClusterResolver:
    """Says which tasks there are, and which of them this process is. Subclasses say where they know it from.

    `environment` is "" or a name of the platform's; `task_type` and `task_id` are None where this process is no task.
    """

    def cluster_spec(self) -> Any:
        """The jobs and their tasks' addresses, as they are now."""
        raise NotImplementedError()

    def master(self, task_type: Any = None, task_id: Any = None, rpc_layer: Any = None) -> Any:
        """The address of a task (this one, if none is named), to open sessions at."""
        raise NotImplementedError()

    def num_accelerators(self, task_type: Any = None, task_id: Any = None, config_proto: Any = None) -> Any:
        """How many devices of each kind but CPUs a task has: `{"GPU": 2}`."""
        from emplace.eager import config

        kinds: Any = collections.defaultdict(int)
        if self.master(task_type, task_id) is None:
            return kinds
        for device in config.list_logical_devices():
            if device.device_type != "CPU":
                kinds[device.device_type] += 1
        return kinds

    @property
    def environment(self) -> Any:
        return ""

    @property
    def task_type(self) -> Any:
        return getattr(self, "_task_type", None)

    @task_type.setter
    def task_type(self, task_type: Any) -> None:
        self._task_type = task_type

    @property
    def task_id(self) -> Any:
        return getattr(self, "_task_id", None)

    @task_id.setter
    def task_id(self, task_id: Any) -> None:
        self._task_id = task_id

    def _address(self, task_type: Any, task_id: Any, rpc_layer: Any) -> str:
        return _url(self.cluster_spec().task_address(task_type, task_id), rpc_layer)


class SimpleClusterResolver(ClusterResolver):
    """A cluster that the program knows.

    >>> spec = tf.train.ClusterSpec({"worker": ["a:2222", "b:2222"]})
    >>> resolver = tf.distribute.cluster_resolver.SimpleClusterResolver(spec, task_type="worker", task_id=1, rpc_layer="grpc")
    >>> print(resolver.master("worker", 1))
    grpc://b:2222
    """

    def __init__(self, cluster_spec: Any, master: str = "", task_type: Any = None, task_id: Any = None, environment: str = "", num_accelerators: Any = None, rpc_layer: Any = None) -> None:
        if not isinstance(cluster_spec, ClusterSpec):
            raise TypeError("cluster_spec must be a `tf.train.ClusterSpec`.")
        if not isinstance(master, str):
            raise TypeError("master must be a string.")
        self._cluster_spec, self._master = cluster_spec, master
        self._task_type, self._task_id = task_type, task_id
        self._environment, self._num_accelerators = environment, num_accelerators
        self.rpc_layer = rpc_layer

    def cluster_spec(self) -> Any:
        return self._cluster_spec

    def master(self, task_type: Any = None, task_id: Any = None, rpc_layer: Any = None) -> Any:
        if task_type is not None and task_id is not None:
            return self._address(task_type, task_id, rpc_layer or self.rpc_layer)
        return _url(self._master, rpc_layer or self.rpc_layer)

    def num_accelerators(self, task_type: Any = None, task_id: Any = None, config_proto: Any = None) -> Any:
        return {} if self._num_accelerators is None else self._num_accelerators

    @property
    def environment(self) -> Any:
        return self._environment


class UnionResolver(ClusterResolver):
    """Several clusters as one; the first of them says who this process is.

    Jobs of the same name are put together: lists behind each other, numbered tasks by their numbers.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        rpc_layer = kwargs.pop("rpc_layer", None)
        task_type, task_id = kwargs.pop("task_type", None), kwargs.pop("task_id", None)
        if kwargs:
            raise ValueError(f"Unexpected kwargs provided {kwargs!r}")
        if not args:
            raise ValueError("At least one ClusterResolver is required.")
        if not all(isinstance(r, ClusterResolver) for r in args):
            raise TypeError("All arguments must be a sub-class of `ClusterResolver.`")
        first = args[0]
        self._resolvers = args
        self.rpc_layer = rpc_layer or getattr(first, "rpc_layer", None)
        self._task_type = first.task_type if task_type is None else task_type
        self._task_id = first.task_id if task_id is None else task_id

    def cluster_spec(self) -> Any:
        merged: dict[str, Any] = {}
        of_job: dict[str, list[Any]] = {}
        for resolver in self._resolvers:
            for job, tasks in resolver.cluster_spec().as_dict().items():
                of_job.setdefault(job, []).append(tasks)
        for job, parts in of_job.items():
            if all(isinstance(p, list) for p in parts):
                merged[job] = [address for p in parts for address in p]
                continue
            merged[job] = {}
            for part in parts:
                numbered = dict(enumerate(part)) if isinstance(part, list) else part
                twice = set(merged[job]) & set(numbered)
                if twice:
                    raise KeyError(f"Duplicate keys detected when merging two ClusterSpecs: {twice!r}")
                merged[job].update(numbered)
        return ClusterSpec(merged)

    def master(self, task_type: Any = None, task_id: Any = None, rpc_layer: Any = None) -> Any:
        if task_type is not None and task_id is not None:
            return self._address(task_type, task_id, rpc_layer)
        return self._resolvers[0].master(rpc_layer=rpc_layer)

    def num_accelerators(self, task_type: Any = None, task_id: Any = None, config_proto: Any = None) -> Any:
        return self._resolvers[0].num_accelerators(task_type, task_id, config_proto)

    @property
    def environment(self) -> Any:
        return self._resolvers[0].environment


class TFConfigClusterResolver(ClusterResolver):
    """A cluster as the variable TF_CONFIG says it, in JSON.

    >>> import json, os
    >>> os.environ["TF_CONFIG"] = json.dumps({"cluster": {"worker": ["a:1", "b:1"]}, "task": {"type": "worker", "index": 1}})
    >>> print(tf.distribute.cluster_resolver.TFConfigClusterResolver().master())
    b:1
    >>> del os.environ["TF_CONFIG"]
    """

    def __init__(self, task_type: Any = None, task_id: Any = None, rpc_layer: Any = None, environment: Any = None) -> None:
        self._task_type, self._task_id = task_type, task_id
        self._rpc_layer, self._environment = rpc_layer, environment

    @staticmethod
    def _said(key: str, default: Any = None) -> Any:
        return json.loads(os.environ.get("TF_CONFIG", "{}")).get(key, default)

    @property
    def task_type(self) -> Any:
        found = self._said("task", {}).get("type") if self._task_type is None else self._task_type
        return None if found is None else str(found)

    @task_type.setter
    def task_type(self, task_type: Any) -> None:
        self._task_type = task_type

    @property
    def task_id(self) -> Any:
        found = self._said("task", {}).get("index") if self._task_id is None else self._task_id
        return None if found is None else int(found)

    @task_id.setter
    def task_id(self, task_id: Any) -> None:
        self._task_id = task_id

    @property
    def environment(self) -> Any:
        return self._environment

    @property
    def rpc_layer(self) -> Any:
        return self._said("rpc_layer") if self._rpc_layer is None else self._rpc_layer

    @rpc_layer.setter
    def rpc_layer(self, rpc_layer: Any) -> None:
        self._rpc_layer = rpc_layer

    def cluster_spec(self) -> Any:
        return ClusterSpec(self._said("cluster", {}))

    def master(self, task_type: Any = None, task_id: Any = None, rpc_layer: Any = None) -> Any:
        session_master = self._said("session_master")
        if session_master is not None:
            return session_master
        tasks = [address for job in self.cluster_spec().as_dict().values() for address in job]
        if len(tasks) < 2:
            return ""
        task_type = self.task_type if task_type is None else task_type
        task_id = self.task_id if task_id is None else task_id
        return self._address(task_type, task_id, rpc_layer or self.rpc_layer)


class SlurmClusterResolver(ClusterResolver):
    """The tasks of a Slurm step, on which jobs are laid in the order given; GPUs are divided among a machine's tasks.

    Without `jobs` all are 'worker'. Ports are `port_base` and those behind it. With `auto_set_gpu` the process sees its
    own GPUs alone (CUDA_VISIBLE_DEVICES).
    """

    def __init__(self, jobs: Mapping[str, int] | None = None, port_base: int = 8888, gpus_per_node: int | None = None, gpus_per_task: int | None = None, tasks_per_node: Any = None, auto_set_gpu: bool = True, rpc_layer: str = "grpc") -> None:
        from emplace import _core

        self._rank = int(self._variable("PROCID"))
        count = int(self._variable("STEP_NUM_TASKS"))
        given = ",".join(map(str, tasks_per_node)) if isinstance(tasks_per_node, Sequence) and not isinstance(tasks_per_node, str) else tasks_per_node
        listed = self._variable("STEP_TASKS_PER_NODE")
        hosts, counts = _core.slurm_cluster(self._variable("STEP_NODELIST"), listed if given is None else str(given))
        self._counts = [counts[0]] * len(hosts) if given is not None and len(counts) == 1 else counts
        jobs = {"worker": count} if jobs is None else dict(jobs)
        assigned = sum(self._counts[: len(hosts)])
        if sum(jobs.values()) != assigned:
            raise RuntimeError(f"Requested {sum(jobs.values())} tasks but only {assigned} were assigned.")
        local = int(self._variable("LOCALID"))
        gpus = _gpus_of_node() if gpus_per_node is None else gpus_per_node
        self._gpus_per_task = gpus // max(self._counts) if gpus_per_task is None else gpus_per_task
        if self._gpus_per_task * max(self._counts) > gpus:
            raise RuntimeError("Requested more GPUs per node than available.")
        if auto_set_gpu and self._gpus_per_task > 0:
            first = local * self._gpus_per_task
            os.environ["CUDA_VISIBLE_DEVICES"] = ",".join(map(str, range(first, first + self._gpus_per_task)))
        addresses = iter([f"{host}:{port_base + i}" for host, n in zip(hosts, self._counts) for i in range(n)])
        self._spec = ClusterSpec({job: [next(addresses) for _ in range(n)] for job, n in jobs.items()})
        self.rpc_layer = rpc_layer or ""
        before = 0
        for job, n in jobs.items():
            if before <= self._rank < before + n:
                self._task_type, self._task_id = job, self._rank - before
            before += n

    @staticmethod
    def _variable(name: str) -> str:
        value = os.environ.get(f"SLURM_{name}")
        if value is None:
            raise RuntimeError(f"SLURM_{name} not found in environment. Not running inside a SLURM step?")
        return value

    def cluster_spec(self) -> Any:
        return self._spec

    def get_task_info(self) -> Any:
        """This process's job and number."""
        return self._task_type, self._task_id

    def master(self, task_type: Any = None, task_id: Any = None, rpc_layer: Any = None) -> Any:
        if task_type is None or task_id is None:
            task_type, task_id = self.get_task_info()
        return self._address(task_type, task_id, rpc_layer or self.rpc_layer)

    def num_accelerators(self, task_type: Any = None, task_id: Any = None, config_proto: Any = None) -> Any:
        return {"GPU": self._gpus_per_task}


def _gpus_of_node() -> int:
    from emplace.eager import config

    return len(config.list_physical_devices("GPU"))


class KubernetesExecutableLocation(enum.Enum):
    """Where the program runs that asks: inside the cluster or beside it."""

    WITHIN_CLUSTER = 0
    OFF_CLUSTER = 1


class KubernetesClusterResolver(ClusterResolver):
    """The running pods that bear the labels of a job, as the package `kubernetes` finds them.

    `override_client` is used in its place; it has `list_pod_for_all_namespaces(label_selector=…)`. (Pods of an indexed
    job need none of that: `emplace.cluster.find_task()`.)
    """

    def __init__(self, job_to_label_mapping: Mapping[str, Sequence[str]] | None = None, tf_server_port: int = 8470, rpc_layer: str = "grpc", override_client: Any = None, executable_location: Any = KubernetesExecutableLocation.WITHIN_CLUSTER) -> None:
        self._labels = job_to_label_mapping or {"worker": ["job-name=tensorflow"]}
        self._port, self._client = tf_server_port, override_client
        self.rpc_layer = rpc_layer
        if override_client is not None:
            return
        try:
            from kubernetes import client, config  # type: ignore[import-not-found]
        except ImportError:
            raise ImportError("The Kubernetes Python client must be installed before using the Kubernetes Cluster Resolver. To install the Kubernetes Python client, run `pip install kubernetes` on your command line.") from None
        if executable_location is KubernetesExecutableLocation.OFF_CLUSTER:
            config.load_kube_config()
        elif executable_location is KubernetesExecutableLocation.WITHIN_CLUSTER:
            config.load_incluster_config()
        else:
            raise ValueError("The executable location provided is invalid.")
        self._client = client.CoreV1Api()

    def cluster_spec(self) -> Any:
        jobs = {}
        for job, selectors in self._labels.items():
            found = []
            for selector in selectors:
                pods = self._client.list_pod_for_all_namespaces(label_selector=selector).items
                for pod in sorted(pods, key=lambda pod: pod.metadata.name):
                    if pod.status.phase != "Running":
                        raise RuntimeError(f'Pod "{pod.metadata.name}" is not running; phase: "{pod.status.phase}"')
                    found.append(f"{pod.status.host_ip}:{self._port}")
            jobs[job] = found
        return ClusterSpec(jobs)

    def master(self, task_type: Any = None, task_id: Any = None, rpc_layer: Any = None) -> Any:
        task_type = self.task_type if task_type is None else task_type
        task_id = self.task_id if task_id is None else task_id
        if task_type is not None and task_id is not None:
            return self._address(task_type, task_id, rpc_layer or self.rpc_layer)
        return ""
