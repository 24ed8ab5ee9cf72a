"""What programs put aside in a graph, by key."""

from __future__ import annotations

import re
from typing import Any


class GraphKeys:
    """The names of the collections that the library itself fills and reads."""

    GLOBAL_VARIABLES = "variables"
    LOCAL_VARIABLES = "local_variables"
    METRIC_VARIABLES = "metric_variables"
    MODEL_VARIABLES = "model_variables"
    TRAINABLE_VARIABLES = "trainable_variables"
    MOVING_AVERAGE_VARIABLES = "moving_average_variables"
    SUMMARIES = "summaries"
    QUEUE_RUNNERS = "queue_runners"
    TABLE_INITIALIZERS = "table_initializer"
    ASSET_FILEPATHS = "asset_filepaths"
    BIASES = "biases"
    WEIGHTS = "weights"
    ACTIVATIONS = "activations"
    UPDATE_OPS = "update_ops"
    LOSSES = "losses"
    SAVEABLE_OBJECTS = "saveable_objects"
    SAVERS = "savers"
    REGULARIZATION_LOSSES = "regularization_losses"
    CONCATENATED_VARIABLES = "concatenated_variables"
    RESOURCES = "resources"
    LOCAL_RESOURCES = "local_resources"
    INIT_OP = "init_op"
    LOCAL_INIT_OP = "local_init_op"
    READY_OP = "ready_op"
    READY_FOR_LOCAL_INIT_OP = "ready_for_local_init_op"
    SUMMARY_OP = "summary_op"
    GLOBAL_STEP = "global_step"
    EVAL_STEP = "eval_step"
    TRAIN_OP = "train_op"
    COND_CONTEXT = "cond_context"
    WHILE_CONTEXT = "while_context"
    TRAINABLE_RESOURCE_VARIABLES = "trainable_resource_variables"
    VARIABLES = GLOBAL_VARIABLES  # as it was called once
    _STREAMING_MODEL_PORTS = "streaming_model_ports"
    _SUMMARY_COLLECTION = "_SUMMARY_V2"
    _VARIABLE_COLLECTIONS = [
        GLOBAL_VARIABLES, LOCAL_VARIABLES, METRIC_VARIABLES, MODEL_VARIABLES, TRAINABLE_VARIABLES,
        MOVING_AVERAGE_VARIABLES, CONCATENATED_VARIABLES, TRAINABLE_RESOURCE_VARIABLES,
    ]


class Collections:
    """The part of Graph that keeps lists of things by key."""

    _collections: dict[Any, list[Any]]

    def add_to_collection(self, name: Any, value: Any) -> None:
        """Adds a value to a collection of the graph, in which it may be more than once."""
        self._check_not_finalized()
        self._collections.setdefault(name, []).append(value)

    def add_to_collections(self, names: Any, value: Any) -> None:
        """Adds a value to several collections of the graph."""
        names = (names,) if isinstance(names, str) else sorted(set(names), key=str)
        for name in names:
            self.add_to_collection(name, value)

    def get_collection_ref(self, name: Any) -> list[Any]:
        """The list itself that is a collection; changes to it stay."""
        return self._collections.setdefault(name, [])

    def get_collection(self, name: Any, scope: str | None = None) -> list[Any]:
        """A copy of a collection; with `scope` only what has a name that matches this regular expression."""
        items = self._collections.get(name, [])
        if scope is None:
            return list(items)
        regex = re.compile(scope)
        return [i for i in items if hasattr(i, "name") and i.name and regex.match(i.name)]

    @property
    def collections(self) -> list[Any]:
        return list(self._collections)

    def get_all_collection_keys(self) -> list[Any]:
        """The names of all collections of the graph."""
        return [k for k in self._collections if isinstance(k, str)]

    def clear_collection(self, name: Any) -> None:
        """Empties a collection."""
        self._collections.pop(name, None)
