"""What users tell the dynamic placer of their operations."""

from __future__ import annotations

import math
from typing import Any, Iterable, Mapping

from emplace.framework import ops


def _operation(node: Any) -> Any:
    op = getattr(node, "op", node) if not isinstance(node, ops.Operation) else node
    if not isinstance(op, ops.Operation):
        raise TypeError(f"a tensor or operation of a graph is needed, not {type(node).__name__}")
    return op


def _seconds(value: Any) -> str:
    seconds = float(value)
    if not math.isfinite(seconds) or seconds < 0:
        raise ValueError(f"a cost is a number of seconds, not {value!r}")
    return repr(seconds)


def hint(node: Any, cost: float | Mapping[str, float]) -> Any:
    """Tells the dynamic placer what one run of a node takes; it counts for more than measurements.

    Args:
      node: A tensor or operation of a graph.
      cost: Seconds on any device, or by type of device: `{"GPU": 1e-4, "CPU": 2e-3}`.

    Returns:
      The node.
    """
    if isinstance(cost, Mapping):
        said = [f"{device}={_seconds(seconds)}" for device, seconds in cost.items()]
    else:
        said = [_seconds(cost)]
    _operation(node)._set_attr("_placement_cost", said)
    return node


def keep_together(nodes: Iterable[Any]) -> None:
    """Asks the dynamic placer to give nodes one device, where their requests and kernels let it.

    Args:
      nodes: Tensors or operations of one graph.
    """
    operations = [_operation(node) for node in nodes]
    for op in operations:
        op._set_attr("_placement_together", operations[0].name)
