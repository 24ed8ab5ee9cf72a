"""Values that differ from replica to replica, and how structures of them are taken apart and put together."""

from __future__ import annotations

import collections.abc
from typing import Any, Callable

from emplace.eager import composite, nest, tensor_spec
from emplace.framework import constant_op


class DistributedValues:
    """One value for each replica: `values`."""

    def __init__(self, values: Any) -> None:
        self._values = tuple(values)

    @property
    def values(self) -> tuple[Any, ...]:
        return self._values

    @property
    def _primary(self) -> Any:
        return self.values[0]

    def _get(self) -> Any:
        from emplace.distribute import contexts

        at = contexts.replica_index()
        return self._primary if at is None else self.values[at]

    def _shown(self, how: Callable[[Any], str]) -> str:
        rows = ",\n  ".join(f"{i}: {how(v)}" for i, v in enumerate(self.values))
        return f"{type(self).__name__}:{{\n  {rows}\n}}"

    def __str__(self) -> str:
        return self._shown(str)

    def __repr__(self) -> str:
        return self._shown(repr)


class PerReplica(DistributedValues, composite.Composite):
    """What a step gives, or is given, where replicas differ."""

    of_batch = False  # the parts of one: they need not have as many rows each

    __hash__ = composite.Composite.__hash__

    def _parts(self) -> list[Any]:
        return nest.flatten(list(self._values), True)

    def _rebuilt(self, parts: list[Any]) -> Any:
        made = type(self)(nest.pack_sequence_as(list(self._values), parts, True))
        made.of_batch = self.of_batch
        return made

    def _part_specs(self) -> list[Any]:
        return [tensor_spec.type_spec_from_value(p) for p in self._parts()]

    def _outline(self) -> str:
        return f"PerReplica{len(self._values)}{'of a batch' * self.of_batch}"

    @property
    def _type_spec(self) -> Any:
        return PerReplicaSpec(*map(tensor_spec.type_spec_from_value, self._values))


def parts_of_batch(parts: Any) -> PerReplica:
    """Those of one tensor."""
    made = PerReplica(parts)
    made.of_batch = True
    return made


class Mirrored(PerReplica):
    """The same value on each replica's device."""

    def _as_graph_element(self) -> Any:
        """What a session fetches."""
        return self._get()

    @property
    def op(self) -> Any:
        return self._get().op


class PerReplicaSpec(tensor_spec.TypeSpec):
    """What the values of the replicas look like."""

    def __init__(self, *value_specs: Any) -> None:
        self._value_specs = tuple(value_specs)

    @property
    def value_type(self) -> Any:
        return PerReplica

    def _part_specs(self) -> list[Any]:
        return [part for s in self._value_specs for part in (s._part_specs() if hasattr(s, "_part_specs") else [s])]

    def _value_of(self, given: Any) -> Any:
        return given

    def is_compatible_with(self, spec_or_value: Any) -> bool:
        """Whether a spec or value has as many parts, each of which fits."""
        parts = getattr(spec_or_value, "_value_specs", None) or getattr(spec_or_value, "_values", ())
        return len(parts) == len(self._value_specs) and all(s.is_compatible_with(p) for s, p in zip(self._value_specs, parts))

    def __repr__(self) -> str:
        return f"PerReplicaSpec({', '.join(map(repr, self._value_specs))}{',' * (len(self._value_specs) == 1)})"


def _refuse(value: Any, dtype: Any = None, name: str | None = None, as_ref: bool = False) -> Any:
    raise ValueError(
        f"It looks like you are using a {type(value).__name__} object while not inside a replica context, which is not supported. "
        "Try running your op or function inside a replica context by using `strategy.run`"
    )


constant_op.register_tensor_conversion_function(PerReplica, _refuse, priority=1)


def select(index: int, structure: Any) -> Any:
    """What the replica sees of it."""

    def one(value: Any) -> Any:
        if not isinstance(value, DistributedValues) or hasattr(value, "_is_eager"):
            return value  # a variable knows by itself which replica asks
        return value.values[index]

    return nest.map_structure(one, structure)


def regroup(values: Any, wrap: Any = PerReplica) -> Any:
    """One structure from those that the replicas gave."""
    first = values[0]
    if len(values) == 1 or all(v is first for v in values):
        return first
    if isinstance(first, collections.abc.Mapping):
        made = {k: regroup([v[k] for v in values], wrap) for k in first}
        return made if type(first) is dict else type(first)(made)
    if isinstance(first, (list, tuple)):
        assert all(len(v) == len(first) for v in values), "the replicas gave sequences of different lengths"
        parts = [regroup(list(row), wrap) for row in zip(*values)]
        return type(first)(*parts) if hasattr(first, "_fields") else type(first)(parts)
    whole = getattr(first, "_copy_of", None)  # a copy of a variable stands for all of them
    return whole if whole is not None and all(v is copy for v, copy in zip(values, whole.values)) else wrap(values)
