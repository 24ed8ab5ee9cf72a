"""Tensors out of serialized examples that have lists over time."""

from __future__ import annotations

from typing import Any

from emplace.framework import array_ops, constant_op, dtypes, gen, tensor_shape
from emplace.framework.dispatch import execute as _op
from emplace.framework.ops import convert_to_tensor as _convert
from emplace.framework.ops import name_scope
from emplace.framework.sparse_tensor import SparseTensor


class _Wanted:
    """Keys of one kind, in their order: of varying and of fixed length."""

    def __init__(self, features: dict[str, Any] | None, lists: bool) -> None:
        self.sparse: dict[str, Any] = {}
        self.dense: dict[str, Any] = {}
        for key in sorted(features or {}):
            feature = (features or {})[key]
            if feature.dtype is None:
                raise ValueError(f"Missing type for feature {key}. Received feature={feature}.")
            kind = type(feature).__name__
            if kind == "VarLenFeature":
                self.sparse[key] = dtypes.as_dtype(feature.dtype)
            elif kind == ("FixedLenSequenceFeature" if lists else "FixedLenFeature"):
                self.dense[key] = feature
            else:
                raise ValueError(f"Unsupported {kind} {feature} for key '{key}'")

    @property
    def shapes(self) -> list[Any]:
        return [tensor_shape.as_shape(f.shape) for f in self.dense.values()]

    @property
    def types(self) -> list[Any]:
        return [dtypes.as_dtype(f.dtype) for f in self.dense.values()]

    def defaults(self) -> list[Any]:
        made = []
        for key, feature in self.dense.items():
            dtype = dtypes.as_dtype(feature.dtype)
            if feature.default_value is None:
                made.append(constant_op.constant([], dtype))
            else:
                value = _convert(feature.default_value, dtype=dtype, name=f"key_{key}")
                made.append(array_ops.reshape(value, tensor_shape.as_shape(feature.shape).as_list()))
        return made

    def missing_allowed(self) -> list[str]:
        return [k for k, f in self.dense.items() if f.allow_missing]


def _attrs(context: _Wanted, lists: _Wanted) -> dict[str, Any]:
    return {
        "Ncontext_sparse": len(context.sparse), "Nfeature_list_sparse": len(lists.sparse), "Nfeature_list_dense": len(lists.dense),
        "context_sparse_types": list(context.sparse.values()), "Tcontext_dense": context.types, "feature_list_dense_types": lists.types,
        "context_dense_shapes": context.shapes, "feature_list_sparse_types": list(lists.sparse.values()), "feature_list_dense_shapes": lists.shapes,
    }


def _found(flat: list[Any], context: _Wanted, lists: _Wanted) -> tuple[dict[str, Any], dict[str, Any], list[Any]]:
    """Features, lists, and what is left of the outputs."""
    at = 0

    def taken(wanted: _Wanted) -> dict[str, Any]:
        nonlocal at
        n = len(wanted.sparse)
        made = {k: SparseTensor(*flat[at + i : at + 3 * n : n]) for i, k in enumerate(wanted.sparse)}
        at += 3 * n
        made.update(zip(wanted.dense, flat[at:]))
        at += len(wanted.dense)
        return made

    first = taken(context)
    return first, taken(lists), flat[at:]


def parse_single_sequence_example(
    serialized: Any, context_features: Any = None, sequence_features: Any = None, example_name: Any = None, name: str | None = None,
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Features of one example, and its lists over time."""
    if not (context_features or sequence_features):
        raise ValueError("Both `context_features` and `sequence_features` argument are None, but at least one should have values.")
    context, lists = _Wanted(context_features, False), _Wanted(sequence_features, True)
    with name_scope(name, "ParseSingleSequenceExample", [serialized]):
        text = lambda value: _convert(value, dtype=dtypes.string)  # noqa: E731
        inputs = [text(serialized), constant_op.constant(lists.missing_allowed(), dtypes.string)]
        inputs += [[text(k) for k in keys] for keys in (context.sparse, context.dense, lists.sparse, lists.dense)]
        inputs += [context.defaults(), text(example_name or "")]
        found = _op("ParseSingleSequenceExample", inputs, {**_attrs(context, lists), "Ncontext_dense": len(context.dense)}, None)
        first, second, _ = _found(list(gen.flat(found)), context, lists)
        return first, second


def parse_sequence_example(
    serialized: Any, context_features: Any = None, sequence_features: Any = None, example_names: Any = None, name: str | None = None,
) -> tuple[dict[str, Any], dict[str, Any], dict[str, Any]]:
    """Features of examples, their lists over time, and how long those are."""
    if not (context_features or sequence_features):
        raise ValueError("Both `context_features` and `sequence_features` argument are None, but at least one should have values.")
    context, lists = _Wanted(context_features, False), _Wanted(sequence_features, True)
    with name_scope(name, "ParseSequenceExample", [serialized]):
        text = lambda value: constant_op.constant(list(value), dtypes.string)  # noqa: E731
        allowed = set(lists.missing_allowed())
        inputs = [
            _convert(serialized, dtype=dtypes.string), text(example_names or []), text(context.sparse), text(context.dense), text([]), text(lists.sparse),
            text(lists.dense), text([]), constant_op.constant([k in allowed for k in lists.dense], dtypes.bool), context.defaults(),
        ]
        none: dict[str, Any] = {n: [] for n in ("context_ragged_value_types", "context_ragged_split_types", "feature_list_ragged_value_types", "feature_list_ragged_split_types")}
        found = _op("ParseSequenceExampleV2", inputs, {**_attrs(context, lists), **none}, None)
        first, second, lengths = _found(list(gen.flat(found)), context, lists)
        return first, second, dict(zip(lists.dense, lengths))
