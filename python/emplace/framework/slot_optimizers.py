"""Optimizers that keep something for each variable."""

from __future__ import annotations

from typing import Any

from emplace.framework import array_ops, constant_op, control_flow_ops, init_ops, math_ops, ops, variables
from emplace.framework.dispatch import execute as _op
from emplace.framework.optimizers import OperationOptimizer, operation_of
from emplace.framework.resource_variables import is_resource_variable


def _filled(value: float) -> Any:
    return lambda var: init_ops.Constant(value, dtype=var.dtype.base_dtype)


def _like(var: Any, value: float) -> Any:
    """A constant in the shape of the variable, beside it."""
    with ops.colocate_with(var):
        return constant_op.constant(value, dtype=var.dtype.base_dtype, shape=var.shape)


class MomentumOptimizer(OperationOptimizer):
    """Steps along a running sum of gradients, `momentum` of it kept each time; `use_nesterov` looks a step ahead."""

    _kind = "Momentum"

    def __init__(self, learning_rate: Any, momentum: Any, use_locking: bool = False, name: str = "Momentum", use_nesterov: bool = False) -> None:
        super().__init__(use_locking, name)
        self._numbers = {"learning_rate": learning_rate, "momentum": momentum}
        self._nesterov = use_nesterov

    def _make_slots(self, var: Any) -> None:
        self._slot(var, "momentum")

    def _arguments(self, kept: Any, n: Any, grad: Any) -> Any:
        return [kept["momentum"], n["learning_rate"], *grad, n["momentum"]]

    def _attributes(self) -> dict[str, Any]:
        return {"use_locking": self._use_locking, "use_nesterov": self._nesterov}


class AdagradOptimizer(OperationOptimizer):
    """Steps scaled by the root of the sum of all squared gradients so far."""

    _kind = "Adagrad"

    def __init__(self, learning_rate: Any, initial_accumulator_value: float = 0.1, use_locking: bool = False, name: str = "Adagrad") -> None:
        if initial_accumulator_value <= 0.0:
            raise ValueError(f"initial_accumulator_value must be positive: {initial_accumulator_value}")
        super().__init__(use_locking, name)
        self._numbers = {"learning_rate": learning_rate}
        self._initial = _filled(initial_accumulator_value)

    def _make_slots(self, var: Any) -> None:
        self._slot(var, "accumulator", self._initial(var))

    def _arguments(self, kept: Any, n: Any, grad: Any) -> Any:
        return [kept["accumulator"], n["learning_rate"], *grad]


class RMSPropOptimizer(OperationOptimizer):
    """Steps scaled by the root of a running mean of squared gradients; `centered` takes off the mean gradient's square."""

    def __init__(
        self, learning_rate: Any, decay: Any = 0.9, momentum: Any = 0.0, epsilon: Any = 1e-10, use_locking: bool = False,
        centered: bool = False, name: str = "RMSProp",
    ) -> None:
        super().__init__(use_locking, name)
        self._numbers = {"learning_rate": learning_rate, "decay": decay, "momentum": momentum, "epsilon": epsilon}
        self._centered = centered
        self._kind = "CenteredRMSProp" if centered else "RMSProp"

    def _make_slots(self, var: Any) -> None:
        self._slot(var, "rms", init_ops.Ones(dtype=var.dtype.base_dtype))
        if self._centered:
            self._slot(var, "mg")
        self._slot(var, "momentum")

    def _arguments(self, kept: Any, n: Any, grad: Any) -> Any:
        means = [kept["mg"]] if self._centered else []
        return [*means, kept["rms"], kept["momentum"], n["learning_rate"], n["decay"], n["momentum"], n["epsilon"], *grad]


class AdadeltaOptimizer(OperationOptimizer):
    """Steps scaled by running means of squared gradients and of squared steps before."""

    _kind = "Adadelta"

    def __init__(self, learning_rate: Any = 0.001, rho: Any = 0.95, epsilon: Any = 1e-8, use_locking: bool = False, name: str = "Adadelta") -> None:
        super().__init__(use_locking, name)
        self._numbers = {"lr": learning_rate, "rho": rho, "epsilon": epsilon}

    def _make_slots(self, var: Any) -> None:
        self._slot(var, "accum")
        self._slot(var, "accum_update")

    def _arguments(self, kept: Any, n: Any, grad: Any) -> Any:
        return [kept["accum"], kept["accum_update"], n["lr"], n["rho"], n["epsilon"], *grad]


class FtrlOptimizer(OperationOptimizer):
    """Follow the regularized leader; with shrinkage its operation is the second version."""

    def __init__(
        self, learning_rate: Any, learning_rate_power: float = -0.5, initial_accumulator_value: float = 0.1,
        l1_regularization_strength: float = 0.0, l2_regularization_strength: float = 0.0, use_locking: bool = False, name: str = "Ftrl",
        accum_name: str | None = None, linear_name: str | None = None, l2_shrinkage_regularization_strength: float = 0.0,
        beta: float | None = None,
    ) -> None:
        for what, value in {
            "initial_accumulator_value": initial_accumulator_value, "l1_regularization_strength": l1_regularization_strength,
            "l2_regularization_strength": l2_regularization_strength,
            "l2_shrinkage_regularization_strength": l2_shrinkage_regularization_strength,
        }.items():
            if value < 0.0:
                raise ValueError(f"{what} {value} needs to be positive or zero")
        if learning_rate_power > 0.0:
            raise ValueError(f"learning_rate_power {learning_rate_power} needs to be negative or zero")
        super().__init__(use_locking, name)
        self._rate, self._l1, self._l2, self._power = learning_rate, l1_regularization_strength, l2_regularization_strength, learning_rate_power
        self._beta = 0.0 if beta is None else beta
        self._shrinkage = l2_shrinkage_regularization_strength
        self._initial, self._names = initial_accumulator_value, (accum_name, linear_name)
        self._kind = "FtrlV2" if self._shrinkage > 0.0 else "Ftrl"

    def _make_slots(self, var: Any) -> None:
        self._slot(var, "accum", lambda shape, dtype: array_ops.ones(shape, dtype) * self._initial, self._names[0])
        self._slot(var, "linear", None, self._names[1])

    def _prepare(self) -> None:
        convert = ops.convert_to_tensor
        rate = self._call_if_callable(self._rate)
        values = {"learning_rate": convert(rate, name="learning_rate"), "l1": convert(self._l1, name="l1_regularization_strength")}
        # `beta` shifts the rate's denominator; the operation knows only l2, which does the same.
        values["l2"] = self._l2 + self._beta / (2.0 * _op("Maximum", [rate, 1e-36], {}))
        convert(self._beta, name="beta")
        values["shrinkage"] = convert(self._shrinkage, name="l2_shrinkage_regularization_strength")
        values["power"] = convert(self._power, name="learning_rate_power")
        self._values = values

    def _arguments(self, kept: Any, n: Any, grad: Any) -> Any:
        shrinkage = [n["shrinkage"]] if self._kind == "FtrlV2" else []
        return [kept["accum"], kept["linear"], *grad, n["learning_rate"], n["l1"], n["l2"], *shrinkage, n["power"]]


class AdamOptimizer(OperationOptimizer):
    """Steps by running means of gradients over the root of those of their squares, made up for their start at 0."""

    _kind = "Adam"

    def __init__(
        self, learning_rate: Any = 0.001, beta1: Any = 0.9, beta2: Any = 0.999, epsilon: Any = 1e-8, use_locking: bool = False, name: str = "Adam"
    ) -> None:
        super().__init__(use_locking, name)
        self._numbers = {"learning_rate": learning_rate, "beta1": beta1, "beta2": beta2, "epsilon": epsilon}

    def _create_slots(self, var_list: list[Any]) -> None:
        first = min(var_list, key=lambda v: v.name)
        for beta in ("beta1", "beta2"):
            self._create_non_slot_variable(self._call_if_callable(self._numbers[beta]), f"{beta}_power", first)
        super()._create_slots(var_list)

    def _make_slots(self, var: Any) -> None:
        self._slot(var, "m")
        self._slot(var, "v")

    def _powers(self) -> tuple[Any, Any]:
        graph = ops.get_default_graph()
        return self._get_non_slot_variable("beta1_power", graph), self._get_non_slot_variable("beta2_power", graph)

    def _arguments(self, kept: Any, n: Any, grad: Any) -> Any:
        powers = [p if is_resource_variable(p) else math_ops.cast(p, n["beta1"].dtype) for p in self._powers()]
        return [kept["m"], kept["v"], *powers, n["learning_rate"], n["beta1"], n["beta2"], n["epsilon"], *grad]

    def _apply_sparse(self, grad: Any, var: Any) -> Any:
        return self._apply_rows(grad.values, var, grad.indices)

    def _resource_apply_sparse(self, grad: Any, handle: Any, indices: Any) -> Any:
        return self._apply_rows(grad, handle, indices)

    def _apply_rows(self, values: Any, var: Any, indices: Any) -> Any:
        """The moments fade everywhere; only the rows at hand get something new."""
        power1, power2 = (math_ops.cast(p, var.dtype.base_dtype) for p in self._powers())
        rate, beta1, beta2, epsilon = (math_ops.cast(self._values[k], var.dtype.base_dtype) for k in self._numbers)
        step = rate * math_ops.sqrt(1 - power2) / (1 - power1)
        m, v = self.get_slot(var, "m"), self.get_slot(var, "v")
        new_m = self._fade(m, beta1, values * (1 - beta1), indices)
        new_v = self._fade(v, beta2, (values * values) * (1 - beta2), indices)
        root = math_ops.sqrt(new_v)
        moved = variables.assign_sub(var, step * new_m / (root + epsilon), use_locking=self._use_locking)
        return control_flow_ops.group(moved, new_m, new_v)

    def _fade(self, slot: Any, beta: Any, rows: Any, indices: Any) -> Any:
        faded = variables.assign(slot, slot * beta, use_locking=self._use_locking)
        with ops.control_dependencies([faded]):
            if not is_resource_variable(slot):
                return _op("ScatterAdd", [slot._ref(), indices, rows], {"use_locking": self._use_locking})
            return self._resource_scatter_add(slot, indices, rows)

    def _resource_scatter_add(self, x: Any, i: Any, v: Any) -> Any:
        """The value of `x` once rows are added to it."""
        with ops.control_dependencies([_op("ResourceScatterAdd", [x.handle, i, v], {})]):
            return x.value()

    def _finish(self, updates: list[Any], name: str) -> Any:
        with ops.control_dependencies(updates):
            powers = self._powers()
            with ops.colocate_with(powers[0]):
                faded = [operation_of(p.assign(p * self._values[b], use_locking=self._use_locking)) for b, p in zip(("beta1", "beta2"), powers)]
        return super()._finish([*updates, *faded], name)


class ProximalGradientDescentOptimizer(OperationOptimizer):
    """Gradient descent with L1 and L2 regularization applied to the result of each step."""

    _kind = "ProximalGradientDescent"

    def __init__(
        self, learning_rate: Any, l1_regularization_strength: float = 0.0, l2_regularization_strength: float = 0.0,
        use_locking: bool = False, name: str = "ProximalGradientDescent",
    ) -> None:
        super().__init__(use_locking, name)
        self._numbers = {
            "learning_rate": learning_rate, "l1_regularization_strength": l1_regularization_strength,
            "l2_regularization_strength": l2_regularization_strength,
        }

    def _arguments(self, kept: Any, n: Any, grad: Any) -> Any:
        return [*n.values(), *grad]


class ProximalAdagradOptimizer(AdagradOptimizer):
    """Adagrad with L1 and L2 regularization applied to the result of each step."""

    _kind = "ProximalAdagrad"

    def __init__(
        self, learning_rate: Any, initial_accumulator_value: float = 0.1, l1_regularization_strength: float = 0.0,
        l2_regularization_strength: float = 0.0, use_locking: bool = False, name: str = "ProximalAdagrad",
    ) -> None:
        super().__init__(learning_rate, initial_accumulator_value, use_locking, name)
        self._numbers |= {"l1_regularization_strength": l1_regularization_strength, "l2_regularization_strength": l2_regularization_strength}
        self._value = initial_accumulator_value

    def _make_slots(self, var: Any) -> None:
        self._slot(var, "accumulator", _like(var, self._value))

    def _arguments(self, kept: Any, n: Any, grad: Any) -> Any:
        return [kept["accumulator"], *n.values(), *grad]


class AdagradDAOptimizer(OperationOptimizer):
    """Adagrad by dual averaging: weights follow from sums over all steps; suits sparse linear models."""

    _kind = "AdagradDA"

    def __init__(
        self, learning_rate: Any, global_step: Any, initial_gradient_squared_accumulator_value: float = 0.1,
        l1_regularization_strength: float = 0.0, l2_regularization_strength: float = 0.0, use_locking: bool = False, name: str = "AdagradDA",
    ) -> None:
        if initial_gradient_squared_accumulator_value <= 0.0:
            raise ValueError(f"initial_gradient_squared_accumulator_value must be positive: {initial_gradient_squared_accumulator_value}")
        super().__init__(use_locking, name)
        self._numbers = {"learning_rate": learning_rate}
        self._step, self._initial = global_step, initial_gradient_squared_accumulator_value
        self._strengths = l1_regularization_strength, l2_regularization_strength

    def _make_slots(self, var: Any) -> None:
        sums, squares = _like(var, 0.0), _like(var, self._initial)
        self._slot(var, "gradient_accumulator", sums)
        self._slot(var, "gradient_squared_accumulator", squares)

    def _prepare(self) -> None:
        super()._prepare()
        with ops.colocate_with(self._values["learning_rate"]):
            self._counted = array_ops.identity(self._step) + 1

    def _arguments(self, kept: Any, n: Any, grad: Any) -> Any:
        step = array_ops.identity(self._counted)
        return [
            kept["gradient_accumulator"], kept["gradient_squared_accumulator"], *grad, n["learning_rate"],
            *(math_ops.cast(s, n["learning_rate"].dtype) for s in self._strengths), step,
        ]
