"""Which jobs a cluster has, and where their tasks are."""

from __future__ import annotations

from typing import Any

from emplace import compat


def _text(what: str, value: Any) -> str:
    if not isinstance(value, (str, bytes)):
        raise TypeError(f"{what} {value!r} must be bytes or unicode")
    return compat.as_text(value)


class ClusterSpec:
    """Jobs and the addresses of their tasks."""

    def __init__(self, cluster: Any) -> None:
        if isinstance(cluster, ClusterSpec):
            cluster = cluster.as_dict()
        if hasattr(cluster, "job") and not isinstance(cluster, dict):
            cluster = {job.name: dict(job.tasks) for job in cluster.job}
        if not isinstance(cluster, dict):
            raise TypeError("`cluster` must be a dictionary mapping one or more job names to lists of network addresses, or a `ClusterDef` protocol buffer")
        self._jobs: dict[str, dict[int, str]] = {}
        for job, tasks in cluster.items():
            if isinstance(tasks, (list, tuple)):
                tasks = dict(enumerate(tasks))
            elif not isinstance(tasks, dict):
                raise TypeError(f"The tasks for job {job!r} must be a list or a dictionary from integers to strings.")
            self._jobs[_text("Job name", job)] = {int(k): _text("Task address", tasks[k]) for k in sorted(tasks, key=int)}

    @property
    def jobs(self) -> list[str]:
        return list(self._jobs)

    def num_tasks(self, job_name: str) -> int:
        """The number of a job's tasks."""
        return len(self._of(job_name))

    def task_indices(self, job_name: str) -> list[int]:
        """The numbers of a job's tasks, in ascending order."""
        return sorted(self._of(job_name))

    def task_address(self, job_name: str, task_index: int) -> str:
        """The address "host:port" of a task; ValueError if there is none."""
        tasks = self._of(job_name)
        if task_index not in tasks:
            raise ValueError(f"No task with index {task_index!r} in job {job_name!r}")
        return tasks[task_index]

    def job_tasks(self, job_name: str) -> list[Any]:
        """The addresses of a job's tasks, None where a number is not used."""
        tasks = self._of(job_name)
        return [tasks.get(i) for i in range(max(tasks, default=-1) + 1)]

    def _of(self, job_name: str) -> dict[int, str]:
        if job_name not in self._jobs:
            raise ValueError(f"No such job in cluster: {job_name!r}")
        return self._jobs[job_name]

    def as_dict(self) -> dict[str, Any]:
        """Addresses by job: a list, or a dict by number where numbers are left out."""
        return {j: self.job_tasks(j) if t and list(sorted(t)) == list(range(len(t))) else dict(t) for j, t in self._jobs.items()}

    def as_cluster_def(self) -> Any:
        """The same as a ClusterDef message."""
        from emplace.proto import cluster_pb2

        made = cluster_pb2.ClusterDef()
        for job in sorted(self._jobs):
            tasks = made.job.add(name=job).tasks
            for index in sorted(self._jobs[job]):
                tasks[index] = self._jobs[job][index]
        return made

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ClusterSpec) and self.as_dict() == other.as_dict()

    def __bool__(self) -> bool:
        return bool(self._jobs)

    def __repr__(self) -> str:
        jobs = self.as_dict()
        return f"ClusterSpec({ {job: jobs[job] for job in sorted(jobs)}!r})"
