"""Strategies without copies of variables: on one device, or with the variables on the host."""

from __future__ import annotations

from typing import Any

from emplace.distribute import inputs, strategy as strategies, variables
from emplace.distribute.strategy import Strategy, StrategyExtended, full_name, host
from emplace.eager import config


class OneDeviceExtended(StrategyExtended):
    """One replica."""

    def _make_variable(self, initial_value: Any, kwargs: dict[str, Any]) -> Any:
        with variables._on(self._devices[0]):
            made = variables.plain(initial_value, kwargs)
        made._strategy = self._strategy
        return made


class OneDeviceStrategy(Strategy):
    """Everything on one device: to try a program of strategies before it has several."""

    def __init__(self, device: str) -> None:
        super().__init__(OneDeviceExtended(self, (full_name(device),)))


class CentralStorageExtended(StrategyExtended):
    """Several replicas, one copy of the variables."""

    _copies_variables = False
    parameter_devices = property(lambda self: (self._variables_on,))

    def __init__(self, strategy: Any, devices: tuple[str, ...], variables_on: str) -> None:
        super().__init__(strategy, devices)
        self._variables_on = variables_on

    def _make_variable(self, initial_value: Any, kwargs: dict[str, Any]) -> Any:
        with variables._on(self._variables_on):
            made = variables.plain(initial_value, kwargs)
        made._strategy = self._strategy
        return variables.AggregatingVariable(self._strategy, made, made.aggregation) if len(self._devices) > 1 else made

    def _part_sizes(self, batch: int) -> list[int]:
        return inputs.equal_sizes(batch, len(self._devices))


class CentralStorageStrategy(Strategy):
    """Replicas on several devices that share the variables, which lie on the host or on the only GPU."""

    def __init__(self, compute_devices: Any = None, parameter_device: str | None = None) -> None:
        gpus = [d.name for d in config.list_logical_devices("GPU")]
        devices = tuple(full_name(d) for d in (compute_devices or gpus or [host()]))
        where = full_name(parameter_device) if parameter_device else devices[0] if len(devices) == 1 else host()
        super().__init__(CentralStorageExtended(self, devices, where))
        strategies.log().info(
            "ParameterServerStrategy (CentralStorageStrategy if you are using a single machine) with compute_devices = "
            f"{list(devices)}, variable_device = '{where}'"
        )
