"""Optimizers of graph programs: what they share, and plain descent."""

from __future__ import annotations

from typing import Any

from emplace.framework import array_ops, control_flow_ops, dtypes, math_ops, ops, slots, variables
from emplace.framework.dispatch import execute as _op
from emplace.framework.ops import GraphKeys
from emplace.framework.resource_variables import is_resource_variable

_TRAINABLE = (dtypes.float32, dtypes.float64, dtypes.float16, dtypes.bfloat16)


class Optimizer:
    """minimize = compute_gradients, then apply_gradients.

    A kind of optimizer says which numbers it takes (`_numbers`), what it keeps for each variable
    (`_make_slots`), and the inputs of its Apply operation (`_arguments`).
    """

    GATE_NONE, GATE_OP, GATE_GRAPH = 0, 1, 2
    _kind = ""  # ApplyKIND, SparseApplyKIND, ResourceApplyKIND, …

    def __init__(self, use_locking: bool, name: str) -> None:
        if not name:
            raise ValueError("Must specify the optimizer name")
        self._use_locking, self._name = use_locking, name
        self._slots: dict[str, dict[Any, Any]] = {}
        self._others: dict[tuple[str, Any], Any] = {}  # variables that belong to no other variable
        self._numbers: dict[str, Any] = {}
        self._values: dict[str, Any] = {}

    def get_name(self) -> str:
        return self._name

    # ---- Gradients.

    def minimize(self, loss: Any, global_step: Any = None, var_list: Any = None, gate_gradients: int = GATE_OP, aggregation_method: Any = None, colocate_gradients_with_ops: bool = False, name: str | None = None, grad_loss: Any = None) -> Any:
        pairs = self.compute_gradients(loss, var_list, gate_gradients, aggregation_method, colocate_gradients_with_ops, grad_loss)
        if all(g is None for g, _ in pairs):
            raise ValueError(f"No gradients provided for any variable, check your graph for ops that do not support gradients, between variables {[str(v) for _, v in pairs]} and loss {loss}.")
        return self.apply_gradients(pairs, global_step, name)

    def compute_gradients(self, loss: Any, var_list: Any = None, gate_gradients: int = GATE_OP, aggregation_method: Any = None, colocate_gradients_with_ops: bool = False, grad_loss: Any = None) -> list[Any]:
        from emplace.framework import gradients

        if gate_gradients not in (self.GATE_NONE, self.GATE_OP, self.GATE_GRAPH):
            raise ValueError(f"gate_gradients must be one of: Optimizer.GATE_NONE, Optimizer.GATE_OP, Optimizer.GATE_GRAPH. Not {gate_gradients}")
        self._check_types([loss])
        var_list = variables.trainable_variables() if var_list is None else list(var_list) if isinstance(var_list, (list, tuple)) else [var_list]
        if not var_list:
            raise ValueError("No variables to optimize.")
        # Gated, an update waits until the operation that read the variable is done with it.
        found = gradients.gradients(
            loss, var_list, grad_ys=grad_loss, gate_gradients=gate_gradients == Optimizer.GATE_OP,
            aggregation_method=aggregation_method, colocate_gradients_with_ops=colocate_gradients_with_ops,
        )
        if gate_gradients == Optimizer.GATE_GRAPH:
            found = control_flow_ops.tuple(found)
        self._check_types([v for g, v in zip(found, var_list) if g is not None])
        return list(zip(found, var_list))

    def _check_types(self, tensors: list[Any]) -> None:
        for t in tensors:
            if hasattr(t, "dtype") and t.dtype.base_dtype not in _TRAINABLE:
                raise ValueError(f"Invalid type {t.dtype.base_dtype!r} for {t.name}, expected: {list(_TRAINABLE)}.")

    # ---- Updates.

    def apply_gradients(self, grads_and_vars: Any, global_step: Any = None, name: str | None = None) -> Any:
        pairs = [(_as_gradient(g), v) for g, v in grads_and_vars]
        if not pairs:
            raise ValueError("No variables provided.")
        var_list = [v for g, v in pairs if g is not None]
        if not var_list:
            raise ValueError(f"No gradients provided for any variable: {[str(v) for _, v in pairs]}.")
        with ops.control_dependencies(None):
            self._create_slots(var_list)
        with ops.name_scope(name, self._name) as scope:
            self._prepare()
            updates = [self._update(g, v) for g, v in pairs if g is not None]
            if global_step is None:
                train = self._finish(updates, scope)
            else:
                train = self._count(self._finish(updates, "update"), global_step, scope)
        known = ops.get_collection_ref(GraphKeys.TRAIN_OP)
        if train not in known:
            known.append(train)
        return train

    def _update(self, grad: Any, var: Any) -> Any:
        scope = "update_" + var.op.name
        with ops.name_scope(scope), ops.colocate_with(var):
            if isinstance(grad, ops.IndexedSlices):
                made = self._apply_sparse(grad, var)
            else:
                made = self._apply_dense(grad, var)
            if var.constraint is None:
                return made
            if isinstance(grad, ops.IndexedSlices):
                raise RuntimeError("Cannot use a constraint function on a sparse variable.")
            with ops.control_dependencies([made]):
                return var.assign(var.constraint(var)).op

    def _count(self, done: Any, global_step: Any, scope: str) -> Any:
        with ops.control_dependencies([done]), ops.colocate_with(global_step):
            if is_resource_variable(global_step):
                return global_step.assign_add(1, name=scope, read_value=False)
            return variables.assign_add(global_step, 1, name=scope).op

    def _finish(self, updates: list[Any], name: str) -> Any:
        """All updates as one operation."""
        return control_flow_ops.group(*updates, name=name)

    def _prepare(self) -> None:
        self._values = {k: ops.convert_to_tensor(n() if callable(n) else n, name=k) for k, n in self._numbers.items()}

    def _apply_dense(self, grad: Any, var: Any) -> Any:
        return self._run("Apply", var, [grad])

    def _apply_sparse(self, grad: Any, var: Any) -> Any:
        """Rows that occur several times are summed first: each is updated once."""
        values, indices = _without_repeats(grad.values, grad.indices)
        return self._run("SparseApply", var, [values, indices])

    def _run(self, prefix: str, var: Any, grad: list[Any]) -> Any:
        numbers = {k: math_ops.cast(n, var.dtype.base_dtype) for k, n in self._values.items()}
        kept = {k: s[var]._ref() for k, s in self._slots.items() if var in s}
        resource = "Resource" if is_resource_variable(var) else ""
        made = _op(resource + prefix + self._kind, [var._ref(), *self._arguments(kept, numbers, grad)], self._attributes())
        return made if resource else made.op

    def _arguments(self, kept: dict[str, Any], numbers: dict[str, Any], grad: list[Any]) -> list[Any]:
        """The inputs after the variable; `grad` is the gradient, and the rows' indices if sparse."""
        raise NotImplementedError

    def _attributes(self) -> dict[str, Any]:
        return {"use_locking": self._use_locking}

    # ---- What is kept.

    def _create_slots(self, var_list: list[Any]) -> None:
        for v in var_list:
            self._make_slots(v)

    def _make_slots(self, var: Any) -> None:
        """Plain descent keeps nothing."""

    def _slot(self, var: Any, slot: str, initializer: Any = None, name: str | None = None) -> Any:
        found = self._slots.setdefault(slot, {})
        if var not in found:
            found[var] = slots.create(var, name or self._name, initializer)
        return found[var]

    def _other(self, value: Any, name: str, beside: Any) -> Any:
        key = name, beside.graph
        if key not in self._others:
            with ops.colocate_with(beside):
                self._others[key] = variables.Variable(value, name=name, trainable=False, use_resource=is_resource_variable(beside))
        return self._others[key]

    def get_slot(self, var: Any, name: str) -> Any:
        return self._slots.get(name, {}).get(var)

    def get_slot_names(self) -> list[str]:
        return sorted(self._slots)

    def variables(self) -> list[Any]:
        graph = ops.get_default_graph()
        found = [v for (_, g), v in self._others.items() if g is graph]
        found += [s for kept in self._slots.values() for v, s in kept.items() if v.graph is graph]
        return sorted(found, key=lambda v: v.name)


def _as_gradient(grad: Any) -> Any:
    if grad is None or isinstance(grad, (ops.Tensor, ops.IndexedSlices)):
        return grad
    return ops.convert_to_tensor(grad)


def _without_repeats(values: Any, indices: Any) -> tuple[Any, Any]:
    unique, places = array_ops.unique(indices)
    return _op("UnsortedSegmentSum", [values, places, array_ops.shape(unique)[0]], {}), unique


class GradientDescentOptimizer(Optimizer):
    _kind = "GradientDescent"

    def __init__(self, learning_rate: Any, use_locking: bool = False, name: str = "GradientDescent") -> None:
        super().__init__(use_locking, name)
        self._numbers = {"learning_rate": learning_rate}

    def _arguments(self, kept: Any, numbers: Any, grad: Any) -> Any:
        return [numbers["learning_rate"], *grad]

    def _apply_sparse(self, grad: Any, var: Any) -> Any:
        rate = math_ops.cast(self._values["learning_rate"], var.dtype.base_dtype)
        if is_resource_variable(var):
            return _op("ResourceScatterAdd", [var.handle, grad.indices, -grad.values * rate], {})
        return _op("ScatterSub", [var._ref(), grad.indices, grad.values * rate], {"use_locking": self._use_locking}).op
