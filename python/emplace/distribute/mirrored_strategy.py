"""`tf.distribute.MirroredStrategy`: a copy of the variables on each device, kept alike."""

from __future__ import annotations

from typing import Any

from emplace.distribute import cross_device_ops, inputs, speeds, strategy as strategies, variables
from emplace.distribute.strategy import Strategy, StrategyExtended, full_name
from emplace.eager import config, context

SLICES = 8  # of a batch, where `deterministic` does not say how many


class MirroredExtended(StrategyExtended):
    """Replicas with a copy each."""

    _mirrors = True

    def __init__(self, strategy: Any, devices: tuple[str, ...], ops_across: Any, unlike: bool = False) -> None:
        super().__init__(strategy, devices, ops_across)
        self._unlike = unlike

    def _make_variable(self, initial_value: Any, kwargs: dict[str, Any]) -> Any:
        if len(self._devices) == 1:
            with variables._on(self._devices[0]):
                return variables.create(self._strategy, initial_value, kwargs)
        return variables.create(self._strategy, initial_value, kwargs)

    def _part_sizes(self, batch: int) -> list[int]:
        if self._unlike:
            return speeds.shares_of(batch, speeds.measured(self._devices))
        sliced = len(set(self._devices)) < len(self._devices)
        return (inputs.even_sizes if sliced else inputs.equal_sizes)(batch, len(self._devices))


class MirroredStrategy(Strategy):
    """Training on several devices at once: each batch is divided among them, and what they find is added up.

    `devices`: all GPUs unless said; CPUs where there are none. With `deterministic` a batch is cut into that many slices (8
    for True), each of them a replica of its own: variables end up with the same bits however many devices share the slices.
    `split="measured"` divides batches by the devices' speed, and means weigh accordingly.
    """

    def __init__(self, devices: Any = None, cross_device_ops: Any = None, deterministic: Any = False, split: str = "even") -> None:
        if split not in ("even", "measured") or deterministic and split != "even":
            raise ValueError(f"split is 'even' or 'measured', and 'even' where deterministic; not {split!r}")
        names = tuple(full_name(d) for d in devices) if devices else default_devices()
        assert len(set(names)) == len(names), f"No duplicates allowed in `devices` argument: {names}"
        super().__init__(MirroredExtended(self, _slices(names, deterministic), _ops(cross_device_ops, deterministic), split == "measured"))
        strategies.log().info(f"Using MirroredStrategy with devices {names}")


def default_devices() -> tuple[str, ...]:
    """Those of a strategy that was not told of any: this process's GPUs, else its CPUs."""
    names = [full_name(d.name) for kind in ("GPU", "CPU") for d in config.list_logical_devices(kind)]
    own = [n for n in names if n.startswith(context.here())]
    return tuple(n for n in own if "GPU" in n) or tuple(own)


def _slices(devices: tuple[str, ...], deterministic: Any) -> tuple[str, ...]:
    """For each replica its device: neighbours share one where there are more slices than devices."""
    if not deterministic:
        return devices
    count = SLICES if deterministic is True else int(deterministic)
    if count < len(devices):
        raise ValueError(f"deterministic={count} slices are fewer than the {len(devices)} devices: some would have nothing to do")
    sizes = inputs.even_sizes(count, len(devices))
    return tuple(d for d, n in zip(devices, sizes) for _ in range(n))


def _ops(given: Any, deterministic: Any) -> Any:
    if given is None:
        return cross_device_ops.Tree() if deterministic else cross_device_ops.HierarchicalCopyAllReduce()
    if not isinstance(given, cross_device_ops.CrossDeviceOps):
        raise ValueError(f"cross_device_ops must be a tf.distribute.CrossDeviceOps, not {given!r}")
    if deterministic:
        raise ValueError("deterministic=True adds in an order of its own: cross_device_ops can't be chosen too")
    return given
