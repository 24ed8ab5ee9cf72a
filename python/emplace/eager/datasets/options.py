"""What a program asks of the engine for a pipeline; `OptionsDataset` carries it as a message."""

from __future__ import annotations

import enum
from typing import Any

from emplace.proto import dataset_options_pb2


class AutoShardPolicy(enum.IntEnum):
    """How a dataset is divided among workers."""

    OFF, AUTO, FILE, DATA, HINT = -1, 0, 1, 2, 3


class AutotuneAlgorithm(enum.Enum):
    """How the number of parallel calls is found."""

    DEFAULT, HILL_CLIMB, GRADIENT_DESCENT, MAX_PARALLELISM, STAGE_BASED = range(5)


class ExternalStatePolicy(enum.Enum):
    """What is done about state that a checkpoint of an iterator cannot hold."""

    WARN, IGNORE, FAIL = range(3)


class _Settings:
    """Properties of known names and types; what was not set is what `_DEFAULTS` says, or None."""

    _TYPES: dict[str, Any] = {}
    _DEFAULTS: dict[str, Any] = {}

    def __init__(self) -> None:
        for name, kind in self._TYPES.items():
            inner = isinstance(kind, type) and issubclass(kind, _Settings)
            self.__dict__[name] = kind() if inner else self._DEFAULTS.get(name)

    def __setattr__(self, name: str, value: Any) -> None:
        if name not in self._TYPES:
            raise AttributeError(f"Cannot set the property {name} on {type(self).__name__}.")
        kind = self._TYPES[name]
        if value is not None and not isinstance(value, kind):
            raise TypeError(f'Property "{name}" must be of type {kind}, got: {value!r} (type: {type(value)})')
        self.__dict__[name] = value

    def __eq__(self, other: Any) -> bool:
        return type(self) is type(other) and self.__dict__ == other.__dict__

    def __ne__(self, other: Any) -> bool:
        return not self == other

    __hash__ = None  # type: ignore[assignment]

    def merge(self, other: Any) -> Any:
        """Both together as a new object; what the other sets goes before."""
        merged = type(self)()
        for name, mine in self.__dict__.items():
            theirs = getattr(other, name)
            if isinstance(mine, _Settings):
                merged.__dict__[name] = mine.merge(theirs)
            else:
                merged.__dict__[name] = mine if theirs is None or theirs == self._DEFAULTS.get(name) else theirs
        return merged


def _written(settings: _Settings, message: Any, names: Any = None) -> None:
    """What was set, into the fields of a message."""
    for name, value in settings.__dict__.items():
        field = (names or {}).get(name, name)
        if isinstance(value, _Settings):
            getattr(message, field).SetInParent()
            _written(value, getattr(message, field))
        elif isinstance(value, list):
            getattr(message, field).extend(value)
        elif value is not None:
            setattr(message, field, value.value if isinstance(value, enum.Enum) else value)


class AutotuneOptions(_Settings):
    """What tuning may use."""

    _TYPES = {
        "enabled": bool, "cpu_budget": int, "ram_budget": int, "autotune_algorithm": AutotuneAlgorithm, "initial_parallelism": int,
        "min_parallelism": int,
    }


class DistributeOptions(_Settings):
    """How a dataset is divided among workers."""

    _TYPES = {"auto_shard_policy": AutoShardPolicy, "num_devices": int}
    _DEFAULTS = {"auto_shard_policy": AutoShardPolicy.AUTO}


class OptimizationOptions(_Settings):
    """Which rewrites of a pipeline are wanted."""

    _TYPES = dict.fromkeys((
        "apply_default_optimizations", "filter_fusion", "filter_parallelization", "inject_prefetch", "map_and_batch_fusion",
        "map_and_filter_fusion", "map_fusion", "map_parallelization", "noop_elimination", "parallel_batch", "seq_interleave_prefetch",
        "shuffle_and_repeat_fusion",
    ), bool)  # fmt: skip


class ServiceOptions(_Settings):
    """Settings of a data service."""

    _TYPES = {"pinned": bool}


class ThreadingOptions(_Settings):
    """Threads: how many one operation of a function may use, and how many functions may be under way at once."""

    _TYPES = {"max_intra_op_parallelism": int, "private_threadpool_size": int}


class Options(_Settings):
    """Settings for `Dataset.with_options`; a name or type that does not fit is refused."""

    _TYPES = {
        "autotune": AutotuneOptions, "dataset_name": str, "deterministic": bool, "experimental_distribute": DistributeOptions,
        "experimental_external_state_policy": ExternalStatePolicy, "experimental_optimization": OptimizationOptions,
        "experimental_service": ServiceOptions, "experimental_slack": bool, "experimental_symbolic_checkpoint": bool,
        "experimental_warm_start": bool, "framework_type": list, "threading": ThreadingOptions,
    }
    _OLD = {"experimental_deterministic": "deterministic", "experimental_threading": "threading"}

    def __setattr__(self, name: str, value: Any) -> None:
        super().__setattr__(self._OLD.get(name, name), value)

    def __getattr__(self, name: str) -> Any:
        if name in self._OLD:
            return getattr(self, self._OLD[name])
        raise AttributeError(f"'{type(self).__name__}' object has no attribute {name!r}")

    _FIELDS = {
        "autotune": "autotune_options", "experimental_distribute": "distribute_options", "experimental_optimization": "optimization_options",
        "threading": "threading_options", "experimental_service": "service_options", "experimental_slack": "slack",
        "experimental_external_state_policy": "external_state_policy", "experimental_symbolic_checkpoint": "symbolic_checkpoint",
        "experimental_warm_start": "warm_start",
    }

    def _serialized(self) -> bytes:
        """As the attribute of OptionsDataset has it."""
        message = dataset_options_pb2.Options()
        _written(self, message, self._FIELDS)
        return message.SerializeToString(deterministic=True)
