"""Optimizers that keep slots: Momentum, Adam, Adagrad, RMSProp, Adadelta.

Their steps are put together from elementary operations: every new value is computed from the old
ones, and only then are they all assigned.
"""

from __future__ import annotations

from typing import Any

from emplace.framework import array_ops, control_flow_ops, math_ops, ops, variables
from emplace.framework.optimizers import Optimizer


class SlotOptimizer(Optimizer):
    """`slots`: name and initial value; `numbers`: name and value of the step's parameters."""

    def __init__(self, use_locking: bool, name: str, slots: dict[str, float], numbers: dict[str, Any]) -> None:
        super().__init__(use_locking, name)
        self._initial, self._numbers = slots, numbers
        self._slots: dict[tuple[str, Any], Any] = {}
        self._values: dict[str, Any] = {}

    def get_slot(self, var: Any, name: str) -> Any:
        return self._slots.get((name, var))

    def get_slot_names(self) -> list[str]:
        return sorted(self._initial)

    def variables(self) -> list[Any]:
        return sorted(self._slots.values(), key=lambda v: v.name)

    def _create_slots(self, var_list: list[Any]) -> None:
        for slot, initial in self._initial.items():
            for v in var_list:
                if (slot, v) not in self._slots:
                    with ops.name_scope(None), ops.control_dependencies(None):
                        self._slots[slot, v] = variables.Variable(
                            lambda v=v, i=initial: array_ops.fill(v.shape.as_list(), ops.convert_to_tensor(i, dtype=v.dtype.base_dtype)),
                            trainable=False, name=f"{v.op.name}/{self._name}",
                        )

    def _prepare(self) -> None:
        self._values = {k: ops.convert_to_tensor(n() if callable(n) else n, name=k) for k, n in self._numbers.items()}

    def _apply(self, grad: Any, var: Any) -> Any:
        numbers = {k: math_ops.cast(n, var.dtype.base_dtype) for k, n in self._values.items()}
        slots = {k: self._slots[k, var].value() for k in self._initial}
        new_var, new = self._step(var.value(), grad, slots, numbers)
        with ops.control_dependencies([new_var, *new.values()]):
            made = [variables.assign(var._ref(), new_var, use_locking=self._use_locking)]
            made += [variables.assign(self._slots[k, var]._ref(), n, use_locking=self._use_locking) for k, n in new.items()]
        return control_flow_ops.group(*made)

    def _step(self, var: Any, g: Any, slots: dict[str, Any], n: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
        raise NotImplementedError


class MomentumOptimizer(SlotOptimizer):
    def __init__(self, learning_rate: Any, momentum: Any, use_locking: bool = False, name: str = "Momentum", use_nesterov: bool = False) -> None:
        super().__init__(use_locking, name, {"momentum": 0.0}, {"learning_rate": learning_rate, "momentum": momentum})
        self._nesterov = use_nesterov

    def _step(self, var: Any, g: Any, slots: Any, n: Any) -> Any:
        accum = slots["momentum"] * n["momentum"] + g
        move = g + accum * n["momentum"] if self._nesterov else accum
        return var - n["learning_rate"] * move, {"momentum": accum}


class AdagradOptimizer(SlotOptimizer):
    def __init__(self, learning_rate: Any, initial_accumulator_value: float = 0.1, use_locking: bool = False, name: str = "Adagrad") -> None:
        if initial_accumulator_value <= 0.0:
            raise ValueError(f"initial_accumulator_value must be positive: {initial_accumulator_value}")
        super().__init__(use_locking, name, {"accumulator": initial_accumulator_value}, {"learning_rate": learning_rate})

    def _step(self, var: Any, g: Any, slots: Any, n: Any) -> Any:
        accum = slots["accumulator"] + g * g
        return var - n["learning_rate"] * g / math_ops.sqrt(accum), {"accumulator": accum}


class RMSPropOptimizer(SlotOptimizer):
    def __init__(
        self, learning_rate: Any, decay: Any = 0.9, momentum: Any = 0.0, epsilon: Any = 1e-10, use_locking: bool = False,
        centered: bool = False, name: str = "RMSProp",
    ) -> None:
        slots = {"rms": 1.0, **({"mg": 0.0} if centered else {}), "momentum": 0.0}
        super().__init__(use_locking, name, slots, {"learning_rate": learning_rate, "decay": decay, "momentum": momentum, "epsilon": epsilon})

    def _step(self, var: Any, g: Any, slots: Any, n: Any) -> Any:
        new = {"rms": slots["rms"] + (g * g - slots["rms"]) * (1 - n["decay"])}
        spread = new["rms"] + n["epsilon"]
        if "mg" in slots:
            new["mg"] = slots["mg"] + (g - slots["mg"]) * (1 - n["decay"])
            spread = spread - new["mg"] * new["mg"]
        new["momentum"] = slots["momentum"] * n["momentum"] + n["learning_rate"] * g / math_ops.sqrt(spread)
        return var - new["momentum"], new


class AdadeltaOptimizer(SlotOptimizer):
    def __init__(self, learning_rate: Any = 0.001, rho: Any = 0.95, epsilon: Any = 1e-8, use_locking: bool = False, name: str = "Adadelta") -> None:
        super().__init__(use_locking, name, {"accum": 0.0, "accum_update": 0.0}, {"lr": learning_rate, "rho": rho, "epsilon": epsilon})

    def _step(self, var: Any, g: Any, slots: Any, n: Any) -> Any:
        rho, epsilon = n["rho"], n["epsilon"]
        accum = slots["accum"] * rho + g * g * (1 - rho)
        move = math_ops.sqrt(slots["accum_update"] + epsilon) / math_ops.sqrt(accum + epsilon) * g
        return var - n["lr"] * move, {"accum": accum, "accum_update": slots["accum_update"] * rho + move * move * (1 - rho)}


class AdamOptimizer(SlotOptimizer):
    def __init__(
        self, learning_rate: Any = 0.001, beta1: Any = 0.9, beta2: Any = 0.999, epsilon: Any = 1e-8, use_locking: bool = False, name: str = "Adam"
    ) -> None:
        super().__init__(use_locking, name, {"m": 0.0, "v": 0.0}, {"learning_rate": learning_rate, "beta1": beta1, "beta2": beta2, "epsilon": epsilon})
        self._powers: dict[str, Any] = {}

    def variables(self) -> list[Any]:
        return [*self._powers.values(), *super().variables()]

    def _create_slots(self, var_list: list[Any]) -> None:
        for beta in ("beta1", "beta2"):
            if beta not in self._powers:
                first = self._numbers[beta]
                self._powers[beta] = variables.Variable(first() if callable(first) else first, trainable=False, name=f"{beta}_power")
        super()._create_slots(var_list)

    def _step(self, var: Any, g: Any, slots: Any, n: Any) -> Any:
        m = slots["m"] + (g - slots["m"]) * (1 - n["beta1"])
        v = slots["v"] + (g * g - slots["v"]) * (1 - n["beta2"])
        left1, left2 = (1 - math_ops.cast(self._powers[b].value(), g.dtype) for b in ("beta1", "beta2"))
        rate = n["learning_rate"] * math_ops.sqrt(left2) / left1
        return var - rate * m / (math_ops.sqrt(v) + n["epsilon"]), {"m": m, "v": v}

    def _finish(self, updates: list[Any]) -> list[Any]:
        with ops.control_dependencies(updates):
            return [p.assign(p.value() * self._values[b], use_locking=self._use_locking).op for b, p in self._powers.items()]
