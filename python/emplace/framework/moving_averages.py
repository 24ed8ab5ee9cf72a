"""Averages that follow variables and tensors."""

from __future__ import annotations

from typing import Any

from emplace.framework import control_flow_ops, dispatch, gen, init_ops, math_ops, ops, slots, variable_scope, variables
from emplace.framework.dispatch import execute as _op
from emplace.framework.ops import GraphKeys, name_scope


def assign_moving_average(variable: Any, value: Any, decay: Any, zero_debias: bool = True, name: str | None = None) -> Any:
    """variable -= (variable - value) * (1 - decay)."""
    with name_scope(name, "AssignMovingAvg", [variable, value, decay]) as scope:
        rate = ops.convert_to_tensor(1.0 - decay, name="decay")
        rate = math_ops.cast(rate, variable.dtype.base_dtype)
        if zero_debias:
            return _zero_debiased(variable, value, rate, scope)
        return variable.assign_sub((variable - value) * rate, name=scope)


def _zero_debiased(variable: Any, value: Any, rate: Any, scope: str) -> Any:
    """The average starts at zero; what that takes off is put back, step by step."""
    with variable_scope.variable_scope(variable.op.name, auxiliary_name_scope=False):
        prefix = variable_scope.get_variable_scope().name
    with ops.colocate_with(variable):
        zeros = init_ops.Zeros()
        biased = variable_scope.get_absolute(f"{prefix}/biased", variable.shape, variable.dtype.base_dtype, zeros, trainable=False)
        steps = variable_scope.get_absolute(f"{prefix}/local_step", [], variable.dtype.base_dtype, zeros, trainable=False)
    moved = variables.assign_sub(biased, (biased - value) * rate)
    counted = variables.assign_add(steps, 1)
    unbiased = moved / (1 - math_ops.pow(1.0 - rate, counted))
    return variables.assign(variable, unbiased, name=scope)


class ExponentialMovingAverage:
    """`apply` makes, for each variable or tensor, a variable that follows it."""

    def __new__(cls, *args: Any, **kwargs: Any) -> Any:
        if cls is ExponentialMovingAverage and dispatch.executing_eagerly():
            from emplace.eager import moving_averages

            return moving_averages.ExponentialMovingAverage(*args, **kwargs)
        return super().__new__(cls)

    def __init__(self, decay: Any, num_updates: Any = None, zero_debias: bool = False, name: str = "ExponentialMovingAverage") -> None:
        self._decay, self._num_updates, self._zero_debias, self._name = decay, num_updates, zero_debias, name
        self._averages: dict[Any, Any] = {}

    @property
    def name(self) -> str:
        return self._name

    def apply(self, var_list: Any = None) -> Any:
        """Makes averages of variables or tensors, and an op that moves each towards its value."""
        var_list = variables.trainable_variables() if var_list is None else list(var_list)
        debiased = set()
        for v in var_list:
            if v.dtype.base_dtype.name not in ("bfloat16", "float16", "float32", "float64"):
                raise TypeError(f"The variables must be half, float, or double: {v.name}")
            if v in self._averages:
                continue
            with ops.control_dependencies(None):
                if isinstance(v, variables.Variable):
                    with ops.device(v.device):
                        start = v.initialized_value() if gen.has("Switch") else v.initial_value
                    self._averages[v] = slots.create(v, self._name, start)
                    ops.add_to_collection(GraphKeys.MOVING_AVERAGE_VARIABLES, v)
                else:
                    self._averages[v] = slots.create(v, self._name, init_ops.Zeros(), colocate=v.op.type in ("Variable", "VariableV2", "VarHandleOp"))
                    if self._zero_debias:
                        debiased.add(v)
        with name_scope(self._name) as scope:
            decay = self._rate()
            updates = [assign_moving_average(self._averages[v], v, decay, zero_debias=v in debiased) for v in var_list]
            return control_flow_ops.group(*[u.op if hasattr(u, "op") else u for u in updates], name=scope)

    def _rate(self) -> Any:
        decay = ops.convert_to_tensor(self._decay, name="decay")
        if self._num_updates is None:
            return decay
        count = math_ops.cast(self._num_updates, decay.dtype, name="num_updates")
        return _op("Minimum", [decay, (1.0 + count) / (10.0 + count)], {})

    def average(self, var: Any) -> Any:
        """The variable that holds the average, or None."""
        return self._averages.get(var)

    def average_name(self, var: Any) -> str:
        """The name that the average has, or would have."""
        if var in self._averages:
            return self._averages[var].op.name
        return ops.get_default_graph().unique_name(f"{var.op.name}/{self._name}", mark_as_used=False)

    def variables_to_restore(self, moving_avg_variables: Any = None) -> dict[str, Any]:
        """Variables by the names of their averages, so that a checkpoint's averages become their values."""
        followed = moving_avg_variables
        if followed is None:
            followed = variables.trainable_variables() + variables.moving_average_variables()
        found = {self.average_name(v): v for v in dict.fromkeys(followed)}
        taken = {v.name for v in followed}
        for v in dict.fromkeys(variables.global_variables()):
            if v.name not in taken and v.op.name not in found:
                found[v.op.name] = v
        return found
