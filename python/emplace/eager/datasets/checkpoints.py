"""Where an iterator stands, as a part of checkpoints."""

from __future__ import annotations

from typing import Any

import numpy as np

from emplace.eager import variables


def children(iterator: Any) -> dict[str, Any]:
    """A variable that holds how many elements were taken; what is restored into it moves the iterator there."""
    if iterator._position is None:
        iterator._position = variables.Variable(np.int64(0), trainable=False, name="position")
        iterator._position.assign_hook = iterator._restart
    variables.Variable.assign(iterator._position, np.int64(iterator._count), hooked=False)
    return {"position": iterator._position}
