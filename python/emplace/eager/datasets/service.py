"""`tf.data.experimental.service`: pipelines that other processes run."""

from __future__ import annotations

import enum
from collections.abc import Callable
from typing import Any, NamedTuple

from emplace import _core
from emplace.eager import context, structured_values
from emplace.eager.datasets import building, functions
from emplace.eager.tensor_spec import TensorSpec
from emplace.framework import dtypes, errors, gen, ops

_PROTOCOL = "grpc"
_AUTO, _NONE, _ALWAYS = 2, 1, 3  # DataServiceMetadata.Compression


class ShardingPolicy(enum.IntEnum):
    """How a dataset is divided among the workers of a service: not at all, element by element as they ask for more, or by
    files, elements or hints, among workers that the dispatcher knows beforehand."""

    OFF, DYNAMIC, FILE, DATA, FILE_OR_DATA, HINT = range(6)


class CrossTrainerCache:
    """Elements that several trainers are to share; refused where a dataset is read with it."""

    def __init__(self, trainer_id: Any) -> None:
        if not trainer_id:
            raise ValueError("tf.data service cross-trainer cache requires a non-empty trainer ID.")
        self.trainer_id = trainer_id


# ---- Servers.


class _DispatcherFields(NamedTuple):
    port: int
    protocol: Any
    work_dir: Any
    fault_tolerant_mode: bool
    worker_addresses: Any
    job_gc_check_interval_ms: Any
    job_gc_timeout_ms: Any
    worker_timeout_ms: Any
    worker_max_concurrent_snapshots: int


class DispatcherConfig(_DispatcherFields):
    """What a DispatchServer is told."""

    def __new__(
        cls, port: int = 0, protocol: Any = None, work_dir: Any = None, fault_tolerant_mode: bool = False, worker_addresses: Any = None,
        job_gc_check_interval_ms: Any = None, job_gc_timeout_ms: Any = None, worker_timeout_ms: Any = None,
        worker_max_concurrent_snapshots: int = 0,
    ) -> DispatcherConfig:
        return super().__new__(
            cls, port, protocol or _PROTOCOL, work_dir, fault_tolerant_mode, worker_addresses, _time(job_gc_check_interval_ms),
            _time(job_gc_timeout_ms), worker_timeout_ms, worker_max_concurrent_snapshots,
        )


class _WorkerFields(NamedTuple):
    dispatcher_address: Any
    worker_address: Any
    port: int
    protocol: Any
    heartbeat_interval_ms: Any
    dispatcher_timeout_ms: Any
    data_transfer_protocol: Any
    data_transfer_address: Any


class WorkerConfig(_WorkerFields):
    """What a WorkerServer is told."""

    def __new__(
        cls, dispatcher_address: Any, worker_address: Any = None, port: int = 0, protocol: Any = None, heartbeat_interval_ms: Any = None,
        dispatcher_timeout_ms: Any = None, data_transfer_protocol: Any = None, data_transfer_address: Any = None,
    ) -> WorkerConfig:
        return super().__new__(
            cls, dispatcher_address, worker_address or "localhost:%port%", port, protocol or _PROTOCOL, _time(heartbeat_interval_ms),
            _time(dispatcher_timeout_ms), data_transfer_protocol, data_transfer_address or "localhost:%dts_port%",
        )


def _time(ms: Any) -> int:
    """0 stands for "as ever": who wants none at all gets the least there is."""
    return 1 if ms == 0 else 0 if ms is None else ms


def _check_protocol(protocol: str) -> None:
    if protocol != _PROTOCOL:
        raise errors.NotFoundError(None, None, f"No credentials factory has been registered for protocol {protocol}. The available types are: [ grpc ]")


class _Server:
    """Runs from `start` to `stop`, or as long as the object lives."""

    _core: Any = None

    def _make(self) -> Any:
        raise NotImplementedError

    def start(self) -> None:
        """Starts the server; one that runs already goes on."""
        if self._core is None:
            self._core = self._make()

    def join(self) -> None:
        """Waits until the server is stopped; Ctrl-C ends the wait."""
        while not self._started().join_for(200):
            pass

    def stop(self) -> None:
        """Ends what the server does."""
        if self._core is not None:
            self._core.stop()

    def __del__(self) -> None:
        self.stop()

    def _started(self) -> Any:
        if self._core is None:
            raise errors.FailedPreconditionError(None, None, "The server has not been started: call start().")
        return self._core

    @property
    def _address(self) -> str:
        return f"localhost:{self._started().port}"


class DispatchServer(_Server):
    """Hands datasets out to WorkerServers, which come to it by its address."""

    def __init__(self, config: Any = None, start: bool = True) -> None:
        self._config = config or DispatcherConfig()
        if self._config.fault_tolerant_mode and not self._config.work_dir:
            raise ValueError(
                "Cannot enable fault tolerant mode without configuring a work dir. Make sure to set `work_dir` in the `config` object passed to "
                "`DispatcherServer`."
            )
        if self._config.fault_tolerant_mode:
            raise errors.UnimplementedError(None, None, "DispatcherConfig.fault_tolerant_mode: a dispatcher keeps nothing on disk; start it once.")
        _check_protocol(self._config.protocol)
        if start:
            self.start()

    def _make(self) -> Any:
        c = self._config
        return _core.DataDispatcher(
            c.port, list(c.worker_addresses or ()), c.job_gc_check_interval_ms or 0, c.job_gc_timeout_ms or 0, c.worker_timeout_ms or 0
        )

    @property
    def target(self) -> str:
        """Where it is: "grpc://localhost:5050"."""
        return f"{_PROTOCOL}://{self._address}"

    def _num_workers(self) -> int:
        return self._started().num_workers()


class WorkerServer(_Server):
    """Runs datasets that a dispatcher hands out, and gives their elements to whoever reads."""

    def __init__(self, config: Any, start: bool = True) -> None:
        if config.dispatcher_address is None:
            raise ValueError("Must specify a `dispatcher_address` in the `config` passed to `WorkerServer`.")
        _check_protocol(config.protocol)
        self._config = config
        if start:
            self.start()

    def _make(self) -> Any:
        context.engine()
        c = self._config
        return _core.DataWorker(c.dispatcher_address, c.worker_address, c.port, c.dispatcher_timeout_ms or 0)

    def _num_tasks(self) -> int:
        return self._started().num_tasks()


# ---- Datasets.


def _policy(mode: Any) -> ShardingPolicy:
    named = {"parallel_epochs": ShardingPolicy.OFF, "distributed_epoch": ShardingPolicy.DYNAMIC}
    if isinstance(mode, ShardingPolicy):
        return mode
    if isinstance(mode, str) and mode in named:
        return named[mode]
    raise ValueError(
        "tf.data service processing mode should be a `tf.data.experimental.service.ShardingPolicy`, `\"parallel_epochs\"`, or "
        f"`\"distributed_epoch\"`. Got {mode!r}."
    )


def _check_job_name(name: Any) -> None:
    if name is not None and not isinstance(name, str):
        raise ValueError(f"`job_name` must be a string, but `job_name` was of type {type(name)}. job_name={name}")
    if name == "":
        raise ValueError("`job_name` must not be empty")


def _compression(compression: Any) -> int:
    known = {"AUTO": _AUTO, None: _NONE, "SNAPPY": _ALWAYS}
    if compression not in known:
        raise ValueError(f"Invalid `compression` argument: {compression}. Must be one of {list(known)}.")
    return known[compression]


def _place(service: Any) -> tuple[str, str]:
    """Protocol and address."""
    if isinstance(service, tuple):
        return service
    if not isinstance(service, str):
        raise ValueError(f"`service` must be a string, but `service` was of type {type(service)}. service={service}")
    if not service:
        raise ValueError("`service` must not be empty")
    parts = service.split("://")
    if len(parts) > 2:
        raise ValueError(f"Malformed `service` string has multiple '://': {service}.")
    protocol = parts[0] if len(parts) == 2 else _PROTOCOL
    _check_protocol(protocol)
    return protocol, parts[-1]


def distribute(
    processing_mode: Any, service: Any, job_name: Any = None, consumer_index: Any = None, num_consumers: Any = None,
    max_outstanding_requests: Any = None, data_transfer_protocol: Any = None, compression: Any = "AUTO", cross_trainer_cache: Any = None,
    target_workers: str = "AUTO",
) -> Callable[[Any], Any]:
    """For `Dataset.apply`: what is before it runs on a service's workers, what is behind it here."""
    _check_job_name(job_name)
    policy = _policy(processing_mode)
    _compression(compression)

    def apply(dataset: Any) -> Any:
        return from_dataset_id(
            policy, service, register_dataset(service, dataset, compression), dataset.element_spec, job_name, consumer_index, num_consumers,
            max_outstanding_requests, data_transfer_protocol, cross_trainer_cache, target_workers,
        )

    return apply


def register_dataset(service: Any, dataset: Any, compression: Any = "AUTO", dataset_id: Any = None) -> Any:
    """Makes a dataset known to a service; gives the id by which others read it."""
    said = _compression(compression)
    protocol, address = _place(service)
    return dataset._in_mode(lambda: _registered(dataset, protocol, address, said, dataset_id))


def _registered(dataset: Any, protocol: str, address: str, compression: int, dataset_id: Any) -> Any:
    from emplace.proto import data_service_pb2, saved_model_pb2

    metadata = data_service_pb2.DataServiceMetadata(compression=compression)
    known = building.known(dataset.cardinality())
    metadata.cardinality = building.UNKNOWN if known is None else int(known)
    if context.executing_eagerly():
        spec = structured_values.encoded(dataset.element_spec, saved_model_pb2.StructuredValue())
        metadata.element_spec = spec.SerializeToString(deterministic=True)
    policy = dataset.options().experimental_external_state_policy
    attrs: dict[str, Any] = {"external_state_policy": 0 if policy is None else policy.value, "metadata": metadata.SerializeToString(deterministic=True)}
    if dataset_id is not None:
        attrs["requested_dataset_id"] = dataset_id if isinstance(dataset_id, bytes) else str(dataset_id)
    return gen.apply("RegisterDatasetV2", [dataset._variant_tensor, address, protocol], attrs)


def from_dataset_id(
    processing_mode: Any, service: Any, dataset_id: Any, element_spec: Any = None, job_name: Any = None, consumer_index: Any = None,
    num_consumers: Any = None, max_outstanding_requests: Any = None, data_transfer_protocol: Any = None, cross_trainer_cache: Any = None,
    target_workers: str = "AUTO",
) -> Any:
    """A dataset that a service knows, of elements that its workers make."""
    from emplace.eager.datasets.dataset import Dataset

    policy = _policy(processing_mode)
    protocol, address = _place(service)
    if job_name is not None and not isinstance(job_name, (str, ops.Tensor)):
        raise ValueError(f"`job_name` must be a string or Tensor, but `job_name` was of type {type(job_name)}. job_name={job_name}.")
    if (consumer_index is None) != (num_consumers is None):
        raise ValueError(
            "Must either set both `consumer_index` and `num_consumers`, or neither. "
            f"consumer_index={consumer_index}, num_consumers={num_consumers}"
        )
    if num_consumers is not None and job_name is None:
        raise ValueError(f"`job_name` must be set when setting `num_consumers`. num_consumers was set to {num_consumers}.")
    if data_transfer_protocol not in (None, _PROTOCOL):
        raise errors.NotFoundError(None, None, f"No data transfer protocol is named {data_transfer_protocol}: there is {_PROTOCOL}.")
    if not element_spec:
        element_spec = _known_spec(address, dataset_id)
    return building.in_its_mode(lambda _: _read(
        [_text_id(dataset_id), _mode(policy), address, protocol, "" if job_name is None else job_name],
        {"consumer_index": consumer_index, "num_consumers": num_consumers, "max_outstanding_requests": max_outstanding_requests},
        element_spec, target_workers=target_workers, data_transfer_protocol=data_transfer_protocol or "",
        cross_trainer_cache_options=b"" if cross_trainer_cache is None else str(cross_trainer_cache.trainer_id).encode(),
    ))(Dataset)


def _read(texts: list[Any], numbers: dict[str, Any], spec: Any, **attrs: Any) -> Any:
    from emplace.eager.datasets.dataset import Dataset

    unpack = functions.Traced(lambda packed: _unpacked(packed, spec), "DataServiceDataset.uncompress", TensorSpec([], dtypes.variant))
    made = Dataset._made(
        "_DataServiceDatasetV2", "DataServiceDatasetV4",
        [*texts, *(building.whole(-1 if n is None else n, name) for name, n in numbers.items()), gen.apply("DummyIterationCounter", [], {})],
        spec, functions=[unpack], uncompress=True, uncompress_fn=unpack.name, **attrs,
    )
    named = texts[-1] != "" if isinstance(texts[-1], str) else True
    return _unsharded(made) if named else made


def _unpacked(packed: Any, spec: Any) -> Any:
    from emplace.eager.datasets import structure

    kinds = structure.flat_kinds(spec)
    attrs = {"output_types": [k.dtype for k in kinds], "output_shapes": [k.shape for k in kinds]}
    return structure.from_tensors(spec, gen.apply("UncompressElement", [packed], attrs))


def _known_spec(address: str, dataset_id: Any) -> Any:
    """As whoever registered the dataset said it."""
    from emplace.proto import saved_model_pb2

    if not context.executing_eagerly():
        raise ValueError("In graph mode `element_spec` must be provided manually.")
    known = building.known(_text_id(dataset_id))
    name = known.item() if hasattr(known, "item") else known
    try:
        encoded = _core.registered_element_spec(address, name.decode() if isinstance(name, bytes) else name)
    except errors.NotFoundError:
        encoded = b""
    if not encoded:
        raise ValueError(
            f"Failed to fetch element spec for dataset id {name} from tf.data service. If the dataset was registered in graph mode or inside a "
            "tf.function, the `element_spec` must be specified as an argument to `from_dataset_id`."
        )
    return structured_values.decoded(saved_model_pb2.StructuredValue.FromString(encoded))


def _text_id(dataset_id: Any) -> Any:
    if isinstance(dataset_id, ops.Tensor) and dataset_id.dtype != dtypes.string:
        return gen.apply("AsString", [dataset_id], {})
    return dataset_id if isinstance(dataset_id, (ops.Tensor, str, bytes)) else str(dataset_id)


def _mode(policy: ShardingPolicy) -> bytes:
    from emplace.proto import data_service_pb2

    return data_service_pb2.ProcessingModeDef(sharding_policy=int(policy)).SerializeToString()


def _unsharded(dataset: Any) -> Any:
    """Readers of one job share its elements: strategies must not divide them once more."""
    from emplace.eager.datasets.options import AutoShardPolicy, Options

    options = Options()
    options.experimental_distribute.auto_shard_policy = AutoShardPolicy.OFF
    return dataset.with_options(options)


def distributed_save(dataset: Any, path: Any, data_service_address: Any, compression: str = "AUTO") -> Any:
    """Lets a service save a dataset; UnimplementedError."""
    raise errors.UnimplementedError(None, None, "tf.data.experimental.distributed_save: a service saves no datasets; read it and use `Dataset.save`.")
