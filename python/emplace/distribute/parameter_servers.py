"""Strategies whose variables are on servers of their own."""

from __future__ import annotations

from typing import Any

from emplace.distribute.strategy import Strategy


class ParameterServerStrategy(Strategy):
    """Variables on servers of their own. It can't be made yet."""

    def __init__(self, cluster_resolver: Any = None, variable_partitioner: Any = None) -> None:
        raise NotImplementedError("ParameterServerStrategy needs servers, which Emplace does not have yet")
