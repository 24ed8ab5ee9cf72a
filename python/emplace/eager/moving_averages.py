"""Averages that follow variables, operation by operation."""

from __future__ import annotations

from typing import Any

from emplace.eager import context, variables
from emplace.framework import array_ops, control_flow_ops, math_ops, ops
from emplace.framework.dispatch import execute as _op


class ExponentialMovingAverage:
    """`apply` makes, for each variable or tensor, a variable that follows it."""

    def __init__(self, decay: Any, num_updates: Any = None, zero_debias: bool = False, name: str = "ExponentialMovingAverage") -> None:
        self._decay, self._num_updates, self._zero_debias, self._name = decay, num_updates, zero_debias, name
        self._averages: dict[Any, Any] = {}
        self._steps: dict[Any, Any] = {}

    @property
    def name(self) -> str:
        return self._name

    def apply(self, var_list: Any = None) -> Any:
        """Moves the average of each variable towards its value; the first time makes it. In a graph an op."""
        if var_list is None:
            raise ValueError("In eager mode the variables to follow must be given.")
        with context.eager_mode() if context.outside_graph() else ops.name_scope(self._name):
            updates = [self._moved(v) for v in var_list]
        return None if context.outside_graph() else control_flow_ops.group(*(u.op for u in updates))

    def _moved(self, followed: Any) -> Any:
        if followed.dtype.base_dtype.name not in ("bfloat16", "float16", "float32", "float64"):
            raise TypeError(f"The variables must be half, float, or double: {followed.name}")
        is_variable = isinstance(followed, variables.Variable)
        key = followed.ref()
        if key not in self._averages:
            start = (lambda: followed.read_value()) if is_variable else (lambda: array_ops.zeros(followed.shape, followed.dtype))
            self._averages[key] = variables.Variable(start, trainable=False, name=self.average_name(followed))
        average = self._averages[key]
        rate = math_ops.cast(1.0 - self._rate(), average.dtype)
        if is_variable or not self._zero_debias:
            return average.assign_sub((average - followed) * rate)
        return self._unbiased(key, average, followed, rate)

    def _unbiased(self, key: Any, average: Any, followed: Any, rate: Any) -> Any:
        """The average starts at zero; what that takes off is put back, step by step."""
        if key not in self._steps:
            zeros = [variables.Variable(lambda s=s: array_ops.zeros(s, average.dtype), trainable=False) for s in (average.shape, [])]
            self._steps[key] = zeros
        biased, count = self._steps[key]
        moved = biased.assign_sub((biased - followed) * rate)
        return average.assign(moved / (1 - math_ops.pow(1.0 - rate, count.assign_add(1.0))))

    def _rate(self) -> Any:
        decay = ops.convert_to_tensor(self._decay)
        if self._num_updates is None:
            return decay
        count = math_ops.cast(self._num_updates, decay.dtype)
        return _op("Minimum", [decay, (1.0 + count) / (10.0 + count)], {})

    def average(self, var: Any) -> Any:
        """The variable that holds a variable's average, or None."""
        return self._averages.get(var.ref())

    def average_name(self, var: Any) -> str:
        """The name that the average has, or would have."""
        made = self._averages.get(var.ref())
        return f"{var.name.partition(':')[0]}/{self._name}" if made is None else made.name.partition(":")[0]

    def variables_to_restore(self, moving_avg_variables: Any = None) -> dict[str, Any]:
        """Variables by the names of their averages, so that a checkpoint's averages become their values."""
        return {self.average_name(v): v for v in moving_avg_variables or ()}
