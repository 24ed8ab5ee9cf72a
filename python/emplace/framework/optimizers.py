"""Optimizers of graph programs: what they share, and plain descent."""

from __future__ import annotations

from typing import Any

from emplace.framework import array_ops, control_flow_ops, dispatch, dtypes, math_ops, ops, slots, variables
from emplace.framework.dispatch import execute as _op
from emplace.framework.ops import GraphKeys
from emplace.framework.resource_variables import is_resource_variable
from emplace.framework.thread_state import own


class Optimizer:
    """minimize = compute_gradients, then apply_gradients.

    Programs derive their own from it. A kind says what it keeps for each variable
    (`_create_slots`) and how a gradient changes one: `_apply_dense` and `_apply_sparse`, or
    `_resource_apply_dense` and `_resource_apply_sparse` where the variable is a resource.
    """

    GATE_NONE, GATE_OP, GATE_GRAPH = 0, 1, 2

    def __init__(self, use_locking: bool, name: str) -> None:
        if not name:
            raise ValueError("Must specify the optimizer name")
        self._use_locking, self._name = use_locking, name
        self._slots: dict[str, dict[Any, Any]] = {}
        self._non_slot_dict: dict[tuple[str, Any], Any] = {}  # variables that belong to no other variable

    def get_name(self) -> str:
        """The name that the optimizer was given."""
        return self._name

    # ---- Gradients.

    def minimize(self, loss: Any, global_step: Any = None, var_list: Any = None, gate_gradients: int = GATE_OP, aggregation_method: Any = None, colocate_gradients_with_ops: bool = False, name: str | None = None, grad_loss: Any = None) -> Any:
        """An op for one step: gradients of `loss` applied to the variables, and 1 added to `global_step`."""
        pairs = self.compute_gradients(loss, var_list, gate_gradients, aggregation_method, colocate_gradients_with_ops, grad_loss)
        if all(g is None for g, _ in pairs):
            raise ValueError(f"No gradients provided for any variable, check your graph for ops that do not support gradients, between variables {[str(v) for _, v in pairs]} and loss {loss}.")
        return self.apply_gradients(pairs, global_step, name)

    def compute_gradients(self, loss: Any, var_list: Any = None, gate_gradients: int = GATE_OP, aggregation_method: Any = None, colocate_gradients_with_ops: bool = False, grad_loss: Any = None) -> list[Any]:
        """Pairs of (gradient, variable) of `loss`, for the trainable variables or those listed."""
        from emplace.framework import gradients

        if gate_gradients not in (self.GATE_NONE, self.GATE_OP, self.GATE_GRAPH):
            raise ValueError(f"gate_gradients must be one of: Optimizer.GATE_NONE, Optimizer.GATE_OP, Optimizer.GATE_GRAPH. Not {gate_gradients}")
        if callable(loss):
            return self._recorded(loss, var_list, grad_loss)
        if dispatch.executing_eagerly():
            raise RuntimeError("`loss` passed to Optimizer.compute_gradients should be a function when eager execution is enabled.")
        self._assert_valid_dtypes([loss] if grad_loss is None else [loss, grad_loss])
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
        self._assert_valid_dtypes([v for g, v in zip(found, var_list) if g is not None])
        return list(zip(found, var_list))

    def _recorded(self, loss: Any, var_list: Any, grad_loss: Any) -> list[Any]:
        """Of a function that gives the loss: what it reads is what is trained."""
        from emplace.eager import nest, tape

        with tape.GradientTape() as recorder:
            if var_list is not None:
                recorder.watch(var_list)
            value = loss()
        wanted = list(recorder.watched_variables()) if var_list is None else nest.flatten(var_list)
        self._assert_valid_dtypes([value])
        return list(zip(recorder.gradient(value, wanted, grad_loss), wanted))

    def _valid_dtypes(self) -> set[Any]:
        return {dtypes.float32, dtypes.float64, dtypes.float16, dtypes.bfloat16}

    def _assert_valid_dtypes(self, tensors: list[Any]) -> None:
        valid = self._valid_dtypes()
        for t in tensors:
            if hasattr(t, "dtype") and t.dtype.base_dtype not in valid:
                raise ValueError(f"Invalid type {t.dtype.base_dtype!r} for {t.name}, expected: {list(valid)}.")

    # ---- Updates.

    def apply_gradients(self, grads_and_vars: Any, global_step: Any = None, name: str | None = None) -> Any:
        """An op for one step from pairs of (gradient, variable), and 1 added to `global_step`."""
        pairs = [(_as_gradient(g), v) for g, v in grads_and_vars]
        if not pairs:
            raise ValueError("No variables provided.")
        var_list = [v for g, v in pairs if g is not None]
        if not var_list:
            raise ValueError(f"No gradients provided for any variable: {[str(v) for _, v in pairs]}.")
        where = own.distribution[-1] if own.distribution else None
        if where is not None and where.strategy.extended._several:
            if where.replica is None:
                raise RuntimeError("Use `_distributed_apply()` instead of `apply_gradients()` in a cross-replica context.")
            return where.replica.merge_call(self._distributed_apply, args=(pairs, global_step, name))
        with ops.control_dependencies(None):
            self._create_slots(var_list)
        with ops.name_scope(name, self._name) as scope:
            self._prepare()
            updates = [self._update(g, v) for g, v in pairs if g is not None]
            if global_step is None:
                train = self._finish(updates, scope)
            else:
                train = self._count(self._finish(updates, "update"), global_step, scope)
        return _noted(train)

    def _distributed_apply(self, distribution: Any, grads_and_vars: Any, global_step: Any = None, name: str | None = None) -> Any:
        """Across a strategy's replicas: their gradients are summed, then each copy of a variable is changed."""
        extended = distribution.extended
        pairs = [(g, v) for g, v in grads_and_vars if g is not None]
        summed = extended.batch_reduce_to("SUM", pairs)
        with ops.control_dependencies(None):
            self._create_slots([v for _, v in pairs])
        with ops.name_scope(name, self._name) as scope:
            self._prepare()
            updates = [u for g, (_, v) in zip(summed, pairs) for u in _each(extended.update(v, lambda v, g: self._update(g, v), args=(g,), group=False))]
            if global_step is None:
                train = self._finish(updates, scope)
            else:
                with ops.control_dependencies([self._finish(updates, "update")]):
                    counted = extended.update(global_step, lambda v: variables.assign_add(v, 1) if not is_resource_variable(v) else v.assign_add(1, read_value=False), group=False)
                    train = control_flow_ops.group(*_each(counted), name=scope)
        return _noted(train)

    def _update(self, grad: Any, var: Any) -> Any:
        if isinstance(var, ops.Tensor):
            raise NotImplementedError("Trying to update a Tensor ", var)
        sparse, resource = isinstance(grad, ops.IndexedSlices), is_resource_variable(var)
        with ops.name_scope("update_" + slots.name_of(var)), ops.colocate_with(var):
            if sparse and var.constraint is not None:
                raise RuntimeError("Cannot use a constraint function on a sparse variable.")
            if sparse and resource:
                return self._resource_apply_sparse_duplicate_indices(grad.values, var, grad.indices)
            if sparse:
                return self._apply_sparse_duplicate_indices(grad, var)
            made = self._resource_apply_dense(grad, var) if resource else self._apply_dense(grad, var)
            if var.constraint is None:
                return made
            with ops.control_dependencies([made]):
                return operation_of(var.assign(var.constraint(var)))

    def _count(self, done: Any, global_step: Any, scope: str) -> Any:
        with ops.control_dependencies([done]), ops.colocate_with(global_step):
            if is_resource_variable(global_step):
                return global_step.assign_add(1, name=scope, read_value=False)
            return variables.assign_add(global_step, 1, name=scope).op

    def _finish(self, updates: list[Any], name: str) -> Any:
        """All updates as one operation."""
        return None if dispatch.executing_eagerly() else control_flow_ops.group(*(u for u in updates if u is not None), name=name)

    def _prepare(self) -> None:
        """Makes the tensors that the updates share."""

    def _apply_dense(self, grad: Any, var: Any) -> Any:
        raise NotImplementedError

    def _apply_sparse(self, grad: Any, var: Any) -> Any:
        raise NotImplementedError

    def _apply_sparse_duplicate_indices(self, grad: Any, var: Any) -> Any:
        """Rows that occur several times are summed first: each is updated once."""
        values, indices = _without_repeats(grad.values, grad.indices)
        return self._apply_sparse(ops.IndexedSlices(values, indices, grad.dense_shape), var)

    def _resource_apply_dense(self, grad: Any, handle: Any) -> Any:
        """`handle` is the variable, here and below."""
        raise NotImplementedError

    def _resource_apply_sparse(self, grad: Any, handle: Any, indices: Any) -> Any:
        raise NotImplementedError

    def _resource_apply_sparse_duplicate_indices(self, grad: Any, handle: Any, indices: Any) -> Any:
        values, unique = _without_repeats(grad, indices)
        return self._resource_apply_sparse(values, handle, unique)

    def _call_if_callable(self, param: Any) -> Any:
        return param() if callable(param) else param

    # ---- What is kept.

    def _create_slots(self, var_list: list[Any]) -> None:
        """None unless told."""

    def _slot_dict(self, slot_name: str) -> dict[Any, Any]:
        return self._slots.setdefault(slot_name, {})

    def _slot(self, var: Any, slot: str, initializer: Any = None, name: str | None = None, shape: Any = None, dtype: Any = None) -> Any:
        found, var = self._slot_dict(slot), _whole(var)
        if (key := _key(var)) not in found:
            found[key] = slots.create(var, name or self._name, initializer, shape=shape, dtype=dtype)
        return found[key]

    def _zeros_slot(self, var: Any, slot_name: str, op_name: str) -> Any:
        return self._slot(var, slot_name, None, op_name)

    def _get_or_make_slot(self, var: Any, val: Any, slot_name: str, op_name: str) -> Any:
        return self._slot(var, slot_name, val, op_name)

    def _get_or_make_slot_with_initializer(self, var: Any, initializer: Any, shape: Any, dtype: Any, slot_name: str, op_name: str) -> Any:
        return self._slot(var, slot_name, initializer, op_name, shape, dtype)

    def _create_non_slot_variable(self, initial_value: Any, name: str, colocate_with: Any) -> Any:
        key = name, None if slots.is_eager(colocate_with) else colocate_with.graph
        if key not in self._non_slot_dict:
            with ops.colocate_with(colocate_with):
                self._non_slot_dict[key] = slots.alone(colocate_with, initial_value, name)
        return self._non_slot_dict[key]

    def _get_non_slot_variable(self, name: str, graph: Any = None) -> Any:
        return self._non_slot_dict.get((name, None), self._non_slot_dict.get((name, graph)))

    def _non_slot_variables(self) -> Any:
        return self._non_slot_dict.values()

    def get_slot(self, var: Any, name: str) -> Any:
        """A variable of the optimizer's own for a variable, such as "momentum", or None."""
        slot = self._slots.get(name, {}).get(_key(var))
        return slot._get() if slot is not None and var is not _whole(var) else slot

    def get_slot_names(self) -> list[str]:
        """The names of the optimizer's own variables."""
        return sorted(self._slots)

    def variables(self) -> list[Any]:
        """All variables of the optimizer's own in the default graph."""
        graph = ops.get_default_graph()
        found = [v for (_, g), v in self._non_slot_dict.items() if g is graph or slots.is_eager(v)]
        found += [s for kept in self._slots.values() for s in kept.values() if slots.is_eager(s) or s.graph is graph]
        return sorted(found, key=lambda v: v.name)


def _whole(var: Any) -> Any:
    """The variable that a strategy's copy belongs to, else the variable itself."""
    return var._distributed_container() if hasattr(var, "_distributed_container") else var


def _key(var: Any) -> Any:
    """What stands for a variable in dicts."""
    return var.ref() if slots.is_eager(var) else _whole(var)


def operation_of(made: Any) -> Any:
    """The operation behind what an update gave; nothing where it has run, or a function sees to it."""
    return made if isinstance(made, ops.Operation) else None if slots.is_eager(made) or hasattr(made, "_numpy_of_eager") else made.op


def _noted(train: Any) -> Any:
    """The operation of a step, in its collection."""
    if dispatch.executing_eagerly():
        return None
    train = train.op if isinstance(train, ops.Tensor) else train
    known = ops.get_collection_ref(GraphKeys.TRAIN_OP)
    if train not in known:
        known.append(train)
    return train


def _each(made: Any) -> tuple[Any, ...]:
    return made if isinstance(made, tuple) else (made,)


def _as_gradient(grad: Any) -> Any:
    if grad is None or isinstance(grad, (ops.Tensor, ops.IndexedSlices)):
        return grad
    return ops.convert_to_tensor(grad)


def _without_repeats(values: Any, indices: Any) -> tuple[Any, Any]:
    unique, places = array_ops.unique(indices)
    return _op("UnsortedSegmentSum", [values, places, array_ops.shape(unique)[0]], {}), unique


class OperationOptimizer(Optimizer):
    """One whose update of a variable is one operation.

    A kind says which numbers it takes (`_numbers`), what it keeps for each variable
    (`_make_slots`), and the inputs of its operation (`_arguments`).
    """

    _kind = ""  # ApplyKIND, SparseApplyKIND, ResourceApplyKIND, …

    def __init__(self, use_locking: bool, name: str) -> None:
        super().__init__(use_locking, name)
        self._numbers: dict[str, Any] = {}
        self._values: dict[str, Any] = {}

    def _prepare(self) -> None:
        self._values = {k: ops.convert_to_tensor(self._call_if_callable(n), name=k) for k, n in self._numbers.items()}

    def _apply_dense(self, grad: Any, var: Any) -> Any:
        return self._run("Apply", var, [grad])

    def _apply_sparse(self, grad: Any, var: Any) -> Any:
        return self._run("SparseApply", var, [grad.values, grad.indices])

    def _resource_apply_dense(self, grad: Any, handle: Any) -> Any:
        return self._run("ResourceApply", handle, [grad])

    def _resource_apply_sparse(self, grad: Any, handle: Any, indices: Any) -> Any:
        return self._run("ResourceSparseApply", handle, [grad, indices])

    def _run(self, prefix: str, var: Any, grad: list[Any]) -> Any:
        numbers = {k: math_ops.cast(n, var.dtype.base_dtype) for k, n in self._values.items()}
        kept = {k: slots.reference(s[_key(var)]) for k, s in self._slots.items() if _key(var) in s}
        made = _op(prefix + self._kind, [slots.reference(var), *self._arguments(kept, numbers, grad)], self._attributes())
        return made.op if isinstance(made, ops.SymbolicTensor) else made

    def _arguments(self, kept: dict[str, Any], numbers: dict[str, Any], grad: list[Any]) -> list[Any]:
        """The inputs after the variable; `grad` is the gradient, and the rows' indices if sparse."""
        raise NotImplementedError

    def _attributes(self) -> dict[str, Any]:
        return {"use_locking": self._use_locking}

    def _create_slots(self, var_list: list[Any]) -> None:
        for v in var_list:
            self._make_slots(v)

    def _make_slots(self, var: Any) -> None:
        """None unless told."""


class GradientDescentOptimizer(OperationOptimizer):
    """Steps against the gradient times the learning rate."""

    _kind = "GradientDescent"

    def __init__(self, learning_rate: Any, use_locking: bool = False, name: str = "GradientDescent") -> None:
        super().__init__(use_locking, name)
        self._numbers = {"learning_rate": learning_rate}

    def _arguments(self, kept: Any, numbers: Any, grad: Any) -> Any:
        return [numbers["learning_rate"], *grad]

    def _apply_sparse_duplicate_indices(self, grad: Any, var: Any) -> Any:
        """Repeated rows may be subtracted one after the other."""
        rate = math_ops.cast(self._values["learning_rate"], var.dtype.base_dtype)
        return _op("ScatterSub", [var._ref(), grad.indices, grad.values * rate], {"use_locking": self._use_locking}).op

    def _resource_apply_sparse_duplicate_indices(self, grad: Any, handle: Any, indices: Any) -> Any:
        rate = math_ops.cast(self._values["learning_rate"], handle.dtype.base_dtype)
        return _op("ResourceScatterAdd", [handle.handle, indices, -grad * rate], {})
