"""Strategies with version 1's methods: in graphs iterators are initialized and results grouped by who asks for it."""

from __future__ import annotations

from typing import Any

from emplace.distribute import cluster_resolver as resolvers, contexts, graph_inputs, inputs, mirrored_strategy, parameter_servers, replica_context, simple_strategies
from emplace.distribute import strategy as strategies, worker_strategies
from emplace.distribute.cross_device_ops import ReduceOp
from emplace.framework import control_flow_ops


class _OfVersion1:
    """What strategies have besides in version 1."""

    _of_version1 = True
    extended: Any

    def reduce(self, reduce_op: Any, value: Any, axis: Any = None) -> Any:
        """The sum or mean of what the replicas gave; with an axis over its elements along that axis, too."""
        return super().reduce(reduce_op, value, axis)  # type: ignore[misc]

    def make_dataset_iterator(self, dataset: Any) -> Any:
        """An iterator over a dataset whose batches are divided among the replicas; `initialize()` puts it at the start."""
        return graph_inputs.ReplicaIterator(self.experimental_distribute_dataset(dataset))

    def make_input_fn_iterator(self, input_fn: Any, replication_mode: Any = inputs.InputReplicationMode.PER_WORKER) -> Any:
        """An iterator over the dataset that `input_fn(InputContext)` gives, whose elements go to replicas in turn."""
        if replication_mode != inputs.InputReplicationMode.PER_WORKER:
            raise ValueError(f"Input replication mode not supported: {replication_mode}")
        return graph_inputs.ReplicaIterator(self.distribute_datasets_from_function(input_fn))

    def experimental_distribute_dataset(self, dataset: Any, options: Any = None) -> Any:
        """A dataset whose elements, batches for all replicas together, are divided among them."""
        with contexts.building(self):
            if not contexts.in_session_graph():
                return super().experimental_distribute_dataset(dataset, options)  # type: ignore[misc]
        return graph_inputs.ReplicaDataset(dataset, self.extended, in_turn=False)

    def distribute_datasets_from_function(self, dataset_fn: Any, options: Any = None) -> Any:
        """The dataset that `dataset_fn(InputContext)` gives, whose elements in a row go to replicas in turn."""
        with contexts.building(self):
            if not contexts.in_session_graph():
                return super().distribute_datasets_from_function(dataset_fn, options)  # type: ignore[misc]
            made = dataset_fn(inputs.InputContext(1, 0, self.extended._num_replicas_in_sync))
        return graph_inputs.ReplicaDataset(made, self.extended, in_turn=True)

    experimental_distribute_datasets_from_function = distribute_datasets_from_function

    def experimental_make_numpy_dataset(self, numpy_input: Any, session: Any = None) -> Any:
        """A dataset of the rows of arrays."""
        return graph_inputs.of_arrays(self, numpy_input)

    def experimental_run(self, fn: Any, input_iterator: Any = None) -> Any:
        """Calls `fn` in each replica, with its part of the iterator's next element if there is one."""
        with strategies._Scope(self):  # type: ignore[arg-type]
            return self.run(fn, args=(input_iterator.get_next(),) if input_iterator is not None else ())  # type: ignore[attr-defined]

    def experimental_run_v2(self, fn: Any, args: Any = (), kwargs: Any = None, options: Any = None) -> Any:
        """The older name of `run`."""
        return self.run(fn, args, kwargs, options)  # type: ignore[attr-defined]

    def unwrap(self, value: Any) -> tuple[Any, ...]:
        """The replicas' values, or a variable's copies, as a tuple."""
        return self.experimental_local_results(value)  # type: ignore[attr-defined,no-any-return]

    def group(self, value: Any, name: str | None = None) -> Any:
        """One operation for what all replicas gave."""
        parts = self.unwrap(value)
        if len(parts) == 1 and name is None:
            return parts[0]
        with contexts.building(self):
            return control_flow_ops.group(*parts, name=name)

    def colocate_vars_with(self, colocate_with_variable: Any) -> Any:
        """Variables made within it go to the devices of another."""
        return self.extended.colocate_vars_with(colocate_with_variable)

    def configure(self, session_config: Any = None, cluster_spec: Any = None, task_type: Any = None, task_id: Any = None) -> None:
        """Does nothing: a strategy of one machine has nothing to learn of a session's options."""

    def update_config_proto(self, config_proto: Any) -> Any:
        """A copy of a session's options, as the strategy wants them: allowing soft placement."""
        made = type(config_proto)()
        made.CopyFrom(config_proto)
        made.isolate_session_state = True
        return made


class Strategy(_OfVersion1, strategies.Strategy):
    """How one program is run by several replicas. Made by its subclasses."""


class MirroredStrategy(_OfVersion1, mirrored_strategy.MirroredStrategy):
    """Training on several devices at once: each batch is divided among them, and what they find is added up."""


class OneDeviceStrategy(_OfVersion1, simple_strategies.OneDeviceStrategy):
    """Everything on one device: to try a program of strategies before it has several."""


class CentralStorageStrategy(_OfVersion1, simple_strategies.CentralStorageStrategy):
    """Replicas on several devices that share the variables, which lie on the host or on the only GPU."""


class MultiWorkerMirroredStrategy(_OfVersion1, worker_strategies.MultiWorkerMirroredStrategy):
    """A copy of the variables on each device of each worker; there may be one worker."""

    def __init__(self, communication: Any = worker_strategies.CommunicationImplementation.AUTO, cluster_resolver: Any = None) -> None:
        super().__init__(cluster_resolver, worker_strategies.CommunicationOptions(implementation=communication))


class ParameterServerStrategy(_OfVersion1, strategies.Strategy):
    """Variables on servers, and workers that each build and run a graph of their own, without waiting for each other.

    Who this process is `cluster_resolver` says, or TF_CONFIG; where neither does, all is on this machine.
    """

    def __init__(self, cluster_resolver: Any = None) -> None:
        self._resolver = cluster_resolver or resolvers.TFConfigClusterResolver()
        spec = self._resolver.cluster_spec()
        if not spec.as_dict():
            made: Any = simple_strategies.CentralStorageStrategy()
            super().__init__(simple_strategies.CentralStorageExtended(self, made.extended.worker_devices, made.extended.parameter_devices[0]))
            return
        job, task = self._resolver.task_type, self._resolver.task_id
        super().__init__(parameter_servers.ParameterServersInGraphs(self, spec, job, task))
        strategies.log().info(
            f"Multi-worker ParameterServerStrategy with cluster_spec = {spec.as_dict()}, task_type = {job!r}, task_id = {task}, num_ps_replicas = "
            f"{len(self.extended.parameter_devices)}, is_chief = {self.extended.should_checkpoint}, worker_devices = {self.extended.worker_devices}"
        )

    cluster_resolver = property(lambda self: self._resolver)

    def update_config_proto(self, config_proto: Any) -> Any:
        """A copy of a session's options, as the strategy wants them: one that sees no other worker."""
        made = super().update_config_proto(config_proto)
        made.isolate_session_state = False
        extended = self.extended
        if isinstance(extended, parameter_servers.ParameterServersInGraphs):
            made.device_filters[:] = [*(d.replace("/replica:0", "").replace("/device:CPU:0", "") for d in extended.worker_devices), "/job:ps"]
        return made


class ReplicaContext(replica_context.ReplicaContext):
    """The replica that `strategy.run` calls a function in."""


def get_loss_reduction() -> Any:
    """How losses of replicas come together: as sums, for optimizers add up their gradients."""
    return ReduceOp.SUM
