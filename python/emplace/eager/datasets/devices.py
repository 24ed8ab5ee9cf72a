"""Elements on a device: what makes them runs on the host, the copy on a thread of its own where it is prefetched."""

from __future__ import annotations

from typing import Any

from emplace.eager import nest
from emplace.framework import array_ops, dtypes, ops


def copied(dataset: Any, device: Any) -> Any:
    """Text stays where it is."""

    def moved(*element: Any) -> Any:
        with ops.device(device):
            made = nest.map_structure(_moved, element)
        return made if len(made) > 1 else made[0]

    return dataset._mapped_by(moved)


def _moved(value: Any) -> Any:
    return array_ops.identity(value) if isinstance(value, ops.Tensor) and value.dtype != dtypes.string else value
