"""Optimizers of graph programs."""

from __future__ import annotations

from typing import Any

from emplace.framework import control_flow_ops, gen, math_ops, ops, variables
from emplace.framework.dispatch import execute as _op


class Optimizer:
    """minimize = compute_gradients, then apply_gradients."""

    GATE_NONE, GATE_OP, GATE_GRAPH = 0, 1, 2

    def __init__(self, use_locking: bool, name: str) -> None:
        if not name:
            raise ValueError("Must specify the optimizer name")
        self._use_locking, self._name = use_locking, name

    def get_name(self) -> str:
        return self._name

    def minimize(self, loss: Any, global_step: Any = None, var_list: Any = None, gate_gradients: int = GATE_OP, aggregation_method: Any = None, colocate_gradients_with_ops: bool = False, name: str | None = None, grad_loss: Any = None) -> Any:
        pairs = self.compute_gradients(loss, var_list, gate_gradients, aggregation_method, colocate_gradients_with_ops, grad_loss)
        if all(g is None for g, _ in pairs):
            raise ValueError(f"No gradients provided for any variable, check your graph for ops that do not support gradients, between variables {[str(v) for _, v in pairs]} and loss {loss}.")
        return self.apply_gradients(pairs, global_step, name)

    def compute_gradients(self, loss: Any, var_list: Any = None, gate_gradients: int = GATE_OP, aggregation_method: Any = None, colocate_gradients_with_ops: bool = False, grad_loss: Any = None) -> list[Any]:
        from emplace.framework import gradients

        var_list = variables.trainable_variables() if var_list is None else list(var_list)
        if not var_list:
            raise ValueError("No variables to optimize.")
        # Gated, an update waits until the operation that read the variable is done with it.
        found = gradients.gradients(
            loss, var_list, grad_ys=grad_loss, gate_gradients=gate_gradients == Optimizer.GATE_OP,
            aggregation_method=aggregation_method, colocate_gradients_with_ops=colocate_gradients_with_ops,
        )
        if gate_gradients == Optimizer.GATE_GRAPH:
            found = control_flow_ops.tuple(found)
        return list(zip(found, var_list))

    def apply_gradients(self, grads_and_vars: Any, global_step: Any = None, name: str | None = None) -> Any:
        pairs = list(grads_and_vars)
        if not pairs:
            raise ValueError("No variables provided.")
        if all(g is None for g, _ in pairs):
            raise ValueError(f"No gradients provided for any variable: {[str(v) for _, v in pairs]}.")
        self._create_slots([v for g, v in pairs if g is not None])
        with ops.name_scope(name, self._name) as scope:
            self._prepare()
            updates = []
            for g, v in pairs:
                if g is not None:
                    with ops.name_scope("update_" + v.op.name), ops.colocate_with(v):
                        updates.append(self._apply(ops.convert_to_tensor(g), v))
            if global_step is None:
                return control_flow_ops.group(*updates, *self._finish(updates), name=scope)
            with ops.control_dependencies([control_flow_ops.group(*updates, *self._finish(updates), name="update")]), ops.colocate_with(global_step):
                return variables.assign_add(global_step, 1, name=scope).op

    def _create_slots(self, var_list: list[Any]) -> None:
        """What is kept for each variable; plain descent keeps nothing."""

    def _finish(self, updates: list[Any]) -> list[Any]:
        """What happens after all updates."""
        return []

    def _prepare(self) -> None:
        raise NotImplementedError

    def _apply(self, grad: Any, var: Any) -> Any:
        raise NotImplementedError


class GradientDescentOptimizer(Optimizer):
    def __init__(self, learning_rate: Any, use_locking: bool = False, name: str = "GradientDescent") -> None:
        super().__init__(use_locking, name)
        self._rate = learning_rate
        self._rate_tensor: Any = None

    def _prepare(self) -> None:
        rate = self._rate() if callable(self._rate) else self._rate
        self._rate_tensor = ops.convert_to_tensor(rate, name="learning_rate")

    def _apply(self, grad: Any, var: Any) -> Any:
        rate = math_ops.cast(self._rate_tensor, var.dtype.base_dtype)
        if gen.has("ApplyGradientDescent"):
            return _op("ApplyGradientDescent", [var._ref(), rate, grad], {"use_locking": self._use_locking}).op
        return variables.assign_sub(var._ref(), rate * grad, use_locking=self._use_locking).op
