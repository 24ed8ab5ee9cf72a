"""`tf.config`: devices, memory and threads; most of it must be said before the first operation."""

from __future__ import annotations

import collections
import os
from typing import Any

from emplace import _core
from emplace.eager import context
from emplace.framework import settings

PhysicalDevice = collections.namedtuple("PhysicalDevice", ["name", "device_type"])
LogicalDevice = collections.namedtuple("LogicalDevice", ["name", "device_type"])
LogicalDeviceConfiguration = collections.namedtuple("LogicalDeviceConfiguration", ["memory_limit", "experimental_priority", "experimental_device_ordinal"], defaults=(None, None, None))
PhysicalDevice.__doc__ = "A device of the machine: its name, such as \"/physical_device:GPU:0\", and type."
LogicalDevice.__doc__ = "A device that ops can be placed on: its name and type."
LogicalDeviceConfiguration.__doc__ = "One part of a physical device: on a GPU `memory_limit` megabytes of its memory."

_HERE = "/job:localhost/replica:0/task:0"
_visible: dict[str, list[PhysicalDevice]] | None = None
_growth: dict[PhysicalDevice, bool] = {}
_logical: dict[PhysicalDevice, list[LogicalDeviceConfiguration]] = {}
_physical: list[PhysicalDevice] | None = None


def list_physical_devices(device_type: str | None = None) -> list[PhysicalDevice]:
    """The machine's devices, all or of one type such as "GPU", whether they are visible or not."""
    global _physical
    if _physical is None:
        rows = [row for row in (context.engine() if context.started() else _core.Eager({}, settings.task)).list_devices() if row[0].startswith(context.here())]
        kinds = sorted((row[1], int(row[0].rpartition(":")[2])) for row in rows)
        _physical = [PhysicalDevice(f"/physical_device:{kind}:{i}", kind) for kind, i in kinds]
    return [d for d in _physical if device_type is None or d.device_type == device_type]


def list_logical_devices(device_type: str | None = None) -> list[LogicalDevice]:
    """The devices that ops can be placed on, all or of one type: this process's, then those of tasks it is connected to.
    Starts the engine."""
    rows = [(row[0], row[1]) for row in context.engine().list_devices()]
    devices = [LogicalDevice(name.removeprefix(_HERE), kind) for name, kind in rows]
    return [d for d in devices if device_type is None or d.device_type == device_type]


def _too_late(words: str) -> None:
    if context.started():
        raise RuntimeError(words)


def get_visible_devices(device_type: str | None = None) -> list[PhysicalDevice]:
    """The physical devices that this program uses, all or of one type."""
    found = list_physical_devices(device_type)
    if _visible is None:
        return found
    return [d for d in found if d.device_type not in _visible or d in _visible[d.device_type]]


def set_visible_devices(devices: Any, device_type: str | None = None) -> None:
    """Uses only these devices of their type (`device_type` where the list is empty); before the engine starts."""
    global _visible
    devices = list(devices) if isinstance(devices, (list, tuple)) and not isinstance(devices, PhysicalDevice) else [devices] if devices else []
    known = list_physical_devices()
    for d in devices:
        if d not in known:
            raise ValueError(f"Unrecognized device: {d!r}")
        if device_type is not None and d.device_type != device_type:
            raise ValueError(f"Unrecognized device: {d!r}")
    kinds = {device_type} if device_type is not None else {d.device_type for d in known}
    chosen = {kind: [d for d in devices if d.device_type == kind] for kind in kinds}
    if context.started():
        if any(get_visible_devices(k) != v for k, v in chosen.items()):
            raise RuntimeError("Visible devices cannot be modified after being initialized")
        return
    _visible = {**(_visible or {}), **chosen}


def _gpu_options() -> dict[str, Any]:
    """The engine's options of what was said about GPUs, one by one."""
    made: dict[str, Any] = {}
    if _visible is not None and "GPU" in _visible:
        made["visible_device_list"] = ",".join(d.name.rpartition(":")[2] for d in get_visible_devices("GPU"))
        if not _visible["GPU"]:
            made["device_count"] = {**context._options.get("device_count", {}), "GPU": 0}
    if any(d.device_type == "GPU" for d in _logical):
        made["virtual_devices"] = [[float(c.memory_limit) for c in _logical.get(d, ())] for d in get_visible_devices("GPU")]
    elif growths := _growth and {_growth.get(d) for d in get_visible_devices("GPU")}:
        if len(growths) > 1:
            raise ValueError("Memory growth cannot differ between GPU devices")
        made["allow_growth"] = bool(growths.pop())
    return made


settings.gpu_options = _gpu_options


def get_memory_growth(device: Any) -> bool:
    """Whether a GPU's memory is taken bit by bit rather than at once."""
    _known(device)
    if device.device_type != "GPU":
        raise KeyError(device)
    return _growth.get(device, False)


def set_memory_growth(device: Any, enable: bool) -> None:
    """Whether a GPU's memory is taken bit by bit, as needed, rather than at once; before the engine starts."""
    _known(device)
    if device in _logical:
        raise ValueError("Cannot set memory growth on device when virtual devices configured")
    if device.device_type != "GPU":
        raise ValueError("Cannot set memory growth on non-GPU and non-Pluggable devices")
    if get_memory_growth(device) == enable and context.started():
        return
    _too_late("Physical devices cannot be modified after being initialized")
    _growth[device] = bool(enable)


def _known(device: Any) -> None:
    if device not in list_physical_devices():
        raise ValueError(f"Unrecognized device: {device!r}")


def get_logical_device_configuration(device: Any) -> Any:
    """The list of configurations by which a device is divided, or None."""
    _known(device)
    return _logical.get(device)


def set_logical_device_configuration(device: Any, logical_devices: Any) -> None:
    """Divides a physical device into logical ones, a configuration each, on a GPU with memory limits; before the engine starts."""
    _known(device)
    for c in logical_devices:
        if device.device_type == "GPU":
            if c.memory_limit is None:
                raise ValueError("Setting memory limit is required for GPU virtual devices")
            continue
        if c.memory_limit is not None:
            raise ValueError("Setting memory limit on CPU virtual devices is currently not supported")
        for word in ("experimental_priority", "experimental_device_ordinal"):
            if getattr(c, word) is not None:
                raise ValueError(f"Setting {word} on CPU virtual  devices is currently not supported")
    if _logical.get(device) == list(logical_devices):
        return
    _too_late("Virtual devices cannot be modified after being initialized")
    _logical[device] = list(logical_devices)
    if device.device_type == "CPU":
        context._options.setdefault("device_count", {})["CPU"] = len(logical_devices)


def set_per_process_memory_growth(enabled: bool = True) -> None:
    """Whether memory of all GPUs is taken bit by bit; before the engine starts."""
    _too_late("GPU options must be set at program startup")
    context._options["allow_growth"] = bool(enabled)


def get_per_process_memory_growth() -> bool:
    """Whether memory of all GPUs is taken bit by bit."""
    return bool(context._options.get("allow_growth", False))


def set_per_process_memory_fraction(fraction: float) -> None:
    """The share of a GPU's memory, 0 to 1, that this process may take; before the engine starts."""
    if not 0.0 <= fraction <= 1.0:
        raise ValueError(f"`fraction` must be between 0 and 1, got {fraction}")
    _too_late("GPU options must be set at program startup")
    context._options["per_process_gpu_memory_fraction"] = float(fraction)


def get_per_process_memory_fraction() -> float:
    """The share of a GPU's memory that this process may take, 0 if nobody said."""
    return float(context._options.get("per_process_gpu_memory_fraction", 0.0))


def _threads(option: str) -> Any:
    def get() -> int:
        return int(context._options.get(option, 0))

    def set_(num_threads: int) -> None:
        if get() == num_threads:
            return
        if context.started():
            word = "Intra" if "intra" in option else "Inter"
            raise RuntimeError(f"{word} op parallelism cannot be modified after initialization.")
        context._options[option] = int(num_threads)

    kind = "inside one op" if "intra" in option else "for ops side by side"
    get.__doc__ = f"The number of threads {kind}, 0 where the engine chooses."
    set_.__doc__ = f"Sets the number of threads {kind}, 0 to let the engine choose; before it starts."
    get.__name__, set_.__name__ = f"get_{option}", f"set_{option}"
    return get, set_


get_intra_op_parallelism_threads, set_intra_op_parallelism_threads = _threads("intra_op_parallelism_threads")
get_inter_op_parallelism_threads, set_inter_op_parallelism_threads = _threads("inter_op_parallelism_threads")
_functions_eagerly = False


def run_functions_eagerly(run_eagerly: bool) -> None:
    """Whether functions made by `tf.function` run as plain Python, op by op: for looking inside them."""
    global _functions_eagerly
    _functions_eagerly = bool(run_eagerly)
    _core.set_functions_run_eagerly(_functions_eagerly)


def functions_run_eagerly() -> bool:
    """Whether functions made by `tf.function` run as plain Python."""
    return _functions_eagerly


def get_synchronous_execution() -> bool:
    """An operation's result can be looked at as soon as its call returns."""
    return True


def set_synchronous_execution(enable: bool) -> None:
    """Kept for programs that ask; results are the same either way."""


_POLICIES = ("explicit", "warn", "silent", "silent_for_int32")


def get_device_policy() -> str:
    """What is needed on another device is copied there without a word."""
    return "silent"


def set_device_policy(device_policy: str | None) -> None:
    """Checks the policy's name and does no more: inputs on another device are always copied."""
    if device_policy not in (*_POLICIES, None):
        raise ValueError(
            f"Invalid argument `device_policy`: {device_policy!r}. Please refer to https://www.tensorflow.org/api_docs/python/tf/config/experimental/set_device_policy for valid `device_policy` arguments."
        )


def get_device_details(device: Any) -> dict[str, Any]:
    """What is known of a physical GPU, its product name under "device_name"; an empty dict for other devices."""
    if not isinstance(device, PhysicalDevice):
        raise ValueError(f"device must be a tf.config.PhysicalDevice, but got: {device}")
    _known(device)
    if device.device_type != "GPU":
        return {}
    wanted = device.name.rpartition(":")[2]
    rows = context.engine().list_devices() if context.started() else _core.Eager({}).list_devices()
    for name, kind, _, _, description in rows:
        if kind == "GPU" and name.rpartition(":")[2] == wanted and "name: " in description:
            return {"device_name": description.partition("name: ")[2].partition(",")[0]}
    return {}


def _memory_device(device: str) -> str:
    kind, _, number = device.rpartition(":")
    kind = kind.rpartition(":")[2].rpartition("/")[2].upper()
    if not number.isdigit():
        raise ValueError(f'Failed parsing device name: {device!r}. Note a valid device string should at least contain a device type and a device index, like "GPU:0".')
    if not any(d.name.endswith(f"{kind}:{number}") for d in list_logical_devices()):
        raise ValueError(f"No matching devices found for {device!r}")
    return kind


def get_memory_info(device: str) -> dict[str, int]:
    """Raises ValueError: devices do not count their memory for this function."""
    _memory_device(device)
    raise ValueError(f"Allocator stats not available for device {device!r}")


def get_memory_usage(device: str) -> int:
    """Raises ValueError, as `get_memory_info` does."""
    return get_memory_info(device)["current"]


def reset_memory_stats(device: str) -> None:
    """Raises ValueError: there are no counts to reset."""
    _memory_device(device)
    raise ValueError(f"Cannot reset memory stats for device {device!r}")


def set_memory_limit(device: str, bytes: int) -> None:
    """From now on this process takes no more than so many bytes of a device's memory, whoever asks.

    What is held stays. Who needs more gets `ResourceExhaustedError`, which says who holds what.

    Args:
      device: Its name: `"CPU:0"` for the host's memory, `"GPU:1"`, ….
      bytes: How many; 0 for no limit of this kind.
    """
    context.engine().limit_memory(device if device.startswith("/") else f"/device:{device}", bytes)


_optimizer: dict[str, Any] = {"disable_model_pruning": False, "disable_meta_optimizer": False}
_jit = ""


def get_jit() -> str:
    """What `set_jit` was given last, "" for nothing."""
    return _jit


def set_jit(enabled: Any) -> None:
    """Programs are compiled to flat plans in any case; the word is kept."""
    global _jit
    _jit = enabled if isinstance(enabled, str) else "autoclustering" if enabled else ""


def get_experimental_options() -> dict[str, Any]:
    """The graph optimizer's options that were set, by name."""
    return {**{k: v for k, v in _optimizer.items() if not k.startswith("disable")}, **{k: v for k, v in _optimizer.items() if k.startswith("disable")}}


def set_experimental_options(options: dict[str, Any]) -> None:
    """Sets options of the graph optimizer by name; others stay."""
    _optimizer.update(options)


def enable_tensor_float_32_execution(enabled: bool) -> None:
    """Whether a GPU may round float32 products and convolutions to TF32: for plans made from now on."""
    os.environ["EMPLACE_TF32"] = "1" if enabled else "0"


def tensor_float_32_execution_enabled() -> bool:
    """Whether float32 products on a GPU may be rounded to TensorFloat-32 (EMPLACE_TF32=0 forbids it)."""
    return os.environ.get("EMPLACE_TF32", "1") != "0"


def enable_op_determinism() -> None:
    """Every run gives the same bits: a GPU's convolutions leave out what adds in changing order."""
    os.environ["EMPLACE_DETERMINISM"] = "1"


def disable_op_determinism() -> None:
    """Takes `enable_op_determinism` back."""
    os.environ.pop("EMPLACE_DETERMINISM", None)


def is_op_determinism_enabled() -> bool:
    """Whether every run gives the same bits on GPUs too."""
    return os.environ.get("EMPLACE_DETERMINISM") == "1"


def start_anew() -> None:
    """Devices can be configured again: the next operation starts another engine. Values made so far stay with theirs, which
    lasts as long as the process."""
    global _visible, _physical
    context.end_engine()
    _visible = _physical = None
    for told in (_growth, _logical, settings.options):
        told.clear()
