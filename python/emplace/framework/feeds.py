"""Values for the tensors a run is fed with."""

from __future__ import annotations

import collections.abc
from typing import Any

import numpy as np

from emplace.framework import constant_op, ops, session_tensors
from emplace.framework.fetches import _fetch_converters

_Pairs = list[tuple[Any, Any]]


def expand(graph: Any, feed_dict: Any) -> tuple[list[Any], list[Any]]:
    """The tensors that a feed_dict names, and their values."""
    if not feed_dict:
        return [], []
    feeds, values = [], []
    if not isinstance(feed_dict, collections.abc.Mapping):
        raise TypeError(f"FlattenDictItems: 'dict' must be a dictionary or collection.Mapping type object, instead of '{type(feed_dict).__name__}'.")
    for key, value in feed_dict.items():
        for element, v in _expand_nested(graph, key, value):
            feeds.append(element)
            values.append(v)
    return feeds, values_for(feeds, values)


def _expand_nested(graph: Any, key: Any, value: Any) -> _Pairs:
    if not isinstance(key, tuple):
        return _expand_one(graph, key, value)
    return [pair for k, v in zip(key, value) for pair in _expand_nested(graph, k, v)]


def _expand_one(graph: Any, key: Any, value: Any) -> _Pairs:
    if isinstance(key, ops.IndexedSlices):
        parts = [key.values, key.indices] + ([key.dense_shape] if key.dense_shape is not None else [])
        return list(zip(parts, value))
    for kind, _, function in _fetch_converters:
        if function is not None and isinstance(key, kind):
            return function(key, value)
    try:
        element = graph.as_graph_element(key, allow_operation=False)
    except Exception as e:
        raise TypeError(f"Cannot interpret feed_dict key as Tensor: {e.args[0] if e.args else e}") from None
    return [(element, value)]


def values_for(tensors: list[Any], values: Any) -> list[Any]:
    return [
        value_for(t, session_tensors.fed_value(t, i, v) if isinstance(v, session_tensors.TensorHandle) else v)
        for i, (t, v) in enumerate(zip(tensors, values))
    ]


def value_for(tensor: Any, value: Any) -> Any:
    """`value` as the array that the engine takes for `tensor`."""
    if tensor.graph._unfeedable and not tensor.graph.is_feedable(tensor):
        raise ValueError(f"Tensor {tensor.name} may not be fed.")
    dtype = tensor._dtype
    numpy_type = dtype.as_numpy_dtype
    if type(value) is np.ndarray and value.dtype == numpy_type and dtype._enum != 7:
        array = value
    else:
        array = _convert(tensor, value, dtype, numpy_type)
    shape = tensor._dims
    if shape is not None:
        given = array.shape
        if len(given) != len(shape) or any(d is not None and d != g for d, g in zip(shape, given)):
            raise ValueError(
                f"Cannot feed value of shape {given} for Tensor {tensor.name}, which has shape "
                f"{tensor.shape}"
            )
    return array


def _convert(tensor: Any, value: Any, dtype: Any, numpy_type: Any) -> Any:
    if isinstance(value, (ops.Tensor, ops.Operation)):
        raise TypeError(
            "The value of a feed cannot be a tf.Tensor object. Acceptable feed values include "
            "Python scalars, strings, lists, numpy ndarrays, or TensorHandles. For reference, "
            f"the tensor object was {value} which was passed to the argument `feed_dict` with key {tensor}."
        )
    if isinstance(value, (list, tuple)):
        constant_op._refuse_deep(value)
    if isinstance(value, int) and not isinstance(value, bool) and dtype.is_integer:
        limits = np.iinfo(numpy_type)
        if not limits.min <= value <= limits.max:
            raise TypeError(f"Type of feed value {value} with type {type(value)} is not compatible with Tensor type {numpy_type}. Try explicitly setting the type of the feed tensor to a larger type (e.g. int64).")
    if hasattr(value, "__dlpack__") and not isinstance(value, (np.ndarray, np.generic)):
        value = np.from_dlpack(value)  # shares its memory
    if dtype._enum % 100 == 7:
        _refuse_numbers(value)
        constant_op._strings(value)  # refuses what is no text
        return np.asarray(value, dtype=object)
    if dtype.is_integer:
        return constant_op.held(np.asarray(value), dtype, copy=False)
    try:
        return np.asarray(value, dtype=numpy_type)
    except ValueError:
        return np.asarray(np.asarray(value), dtype=numpy_type)  # says what NumPy says of an array


def _refuse_numbers(value: Any) -> None:
    if isinstance(value, int) and not isinstance(value, bool):
        raise TypeError(f"Type of feed value {value} with type {type(value)} is not compatible with Tensor type {object}. Try explicitly setting the type of the feed tensor to a larger type (e.g. int64).")
