"""A graph's iterator as something that `Saver` saves."""

from __future__ import annotations

from typing import Any

from emplace.eager.datasets.options import ExternalStatePolicy
from emplace.framework import dtypes, gen, ops


class IteratorSaveable:
    """For a Saver's list or the collection SAVEABLE_OBJECTS: where the iterator is."""

    dtype = dtypes.variant

    def __init__(self, resource: Any, policy: ExternalStatePolicy) -> None:
        self._resource, self._policy = resource, policy
        self.name = resource.name
        self._shared_name = f"{self.name}_STATE"

    @property
    def op(self) -> Any:
        return self._resource.op

    @property
    def device(self) -> str:
        return self._resource.device

    def _saved_value(self) -> Any:
        return gen.apply("SerializeIterator", [self._resource], {"external_state_policy": self._policy.value})

    def _restored(self, state: Any) -> Any:
        with ops.colocate_with(self._resource):
            return gen.apply("DeserializeIterator", [self._resource, state], {})


def make_saveable_from_iterator(iterator: Any, external_state_policy: Any = None) -> IteratorSaveable:
    """What a Saver takes to save where an iterator of a graph is; `external_state_policy` ("warn", "ignore", "fail") says
    what to do about functions with state of their own."""
    if isinstance(external_state_policy, ExternalStatePolicy):
        return IteratorSaveable(iterator._iterator_resource, external_state_policy)
    word = "fail" if external_state_policy is None else external_state_policy
    if word not in ("warn", "ignore", "fail"):
        raise ValueError(f"Invalid `ExternalStatePolicy.` Supported values include 'warn', 'ignore', and 'fail.' Received {word}.")
    return IteratorSaveable(iterator._iterator_resource, ExternalStatePolicy[word.upper()])
