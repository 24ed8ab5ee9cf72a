"""Elements of unequal sizes put together: what they are padded to and with, or as the rows of ragged tensors."""

from __future__ import annotations

from typing import Any

import numpy as np

from emplace.eager import nest, tensor_spec
from emplace.eager.datasets import building, structure
from emplace.framework import dtypes, ops, tensor_shape


def plan(element_spec: Any, shapes: Any, fills: Any) -> tuple[list[Any], list[Any], list[Any]]:
    """For each component: the shape that it is padded to, the value, and what it looks like then."""
    specs = nest.flatten(element_spec)
    for s in specs:
        if not isinstance(s, tensor_spec.TensorSpec):
            raise TypeError(f"`padded_batch` is only supported for datasets that produce tensor elements but type spec of elements in the input dataset is not a subclass of TensorSpec: `{s}`.")
    wanted = [s.shape for s in specs] if shapes is None else _per_component(shapes, element_spec, _is_shape)
    padded, made = [], []
    for i, (spec, shape) in enumerate(zip(specs, wanted)):
        if shapes is None and spec.shape.rank is None:
            raise ValueError(f"You must provide `padded_shapes` argument because component {i} has unknown rank.")
        tensor = building.shape_tensor(shape)
        padded.append(tensor)
        made.append(tensor_spec.TensorSpec(_static(tensor, shape, spec), spec.dtype))
    values = [None] * len(specs) if fills is None else _per_component(fills, element_spec, lambda v: True)
    return padded, [_fill(v, s.dtype) for v, s in zip(values, specs)], made


def _is_shape(value: Any) -> bool:
    """A tuple of sizes is one shape, a tuple of shapes is not."""
    return not isinstance(value, dict) and (not isinstance(value, tuple) or all(v is None or isinstance(v, (int, np.integer)) for v in value))


def _per_component(given: Any, element_spec: Any, is_leaf: Any) -> list[Any]:
    """One value for each component: in their structure, or one for all."""
    if not nest.is_nested(element_spec):
        return [given]
    if not isinstance(given, (tuple, dict)) or isinstance(given, tensor_shape.TensorShape):
        return [given] * len(nest.flatten(element_spec))
    return _beside(given, element_spec, is_leaf)


def _beside(given: Any, spec: Any, is_leaf: Any) -> list[Any]:
    if isinstance(spec, dict):
        if set(given) != set(spec):
            raise ValueError(f"The two structures don't have the same sequence of keys: {list(given)} and {list(spec)}.")
        return [leaf for k in nest._keys(spec) for leaf in _beside(given[k], spec[k], is_leaf)]
    if isinstance(spec, tuple):
        if not isinstance(given, tuple) or len(given) != len(spec):
            raise ValueError(f"The two structures don't have the same sequence length: {given} and {spec}.")
        return [leaf for g, s in zip(given, spec) for leaf in _beside(g, s, is_leaf)]
    return [given]


def _static(tensor: Any, shape: Any, spec: Any) -> Any:
    dims = building.known(tensor)
    if dims is None:
        n = tensor.shape.as_list()
        return None if not n or n[0] is None else [None] * n[0]
    made = [None if d < 0 else int(d) for d in dims]
    own = spec.shape
    if own.rank is not None and (own.rank != len(made) or any(a is not None and b is not None and a > b for a, b in zip(own.as_list(), made))):
        raise ValueError(f"The padded shape {tensor_shape.TensorShape(made)} is not compatible with the shape {own} of the corresponding input component.")
    return made


def _fill(given: Any, dtype: Any) -> Any:
    """Python's numbers may be of another kind if the component's dtype holds them."""
    if given is None:
        if dtype == dtypes.variant:
            raise TypeError("Unable to create default padding value for a component of type `tf.variant`.")
        given = "" if dtype == dtypes.string else np.zeros([], dtype.as_numpy_dtype)
        return ops.convert_to_tensor(given, dtype, name="padding_value")
    made = given if isinstance(given, ops.Tensor) else _number(given, dtype)
    if made is None:
        made = ops.convert_to_tensor(given, name="padding_value")
    if not made.shape.is_compatible_with([]):
        raise ValueError(f"Invalid `padding_values`. `padding_values` values should be scalars, but got {made.shape}.")
    if made.dtype != dtype:
        raise TypeError(f"Invalid `padding_values`. `padding_values` values type {made.dtype} does not match type {dtype} of the corresponding input component.")
    return made


def _number(given: Any, dtype: Any) -> Any:
    value = np.asarray(given)
    if value.dtype.kind not in "biuf" or dtype == dtypes.string or value.astype(dtype.as_numpy_dtype) != value:
        return None
    return ops.convert_to_tensor(value.astype(dtype.as_numpy_dtype), name="padding_value")


def ragged_spec(spec: Any, row_splits_dtype: Any) -> Any:
    """What a tensor whose sizes are open looks like as a ragged one."""
    from emplace.eager.ragged.spec import RaggedTensorSpec

    if not isinstance(spec, tensor_spec.TensorSpec) or spec.shape.rank is None or spec.shape.is_fully_defined():
        return spec
    rank = max(i for i, d in enumerate(spec.shape.as_list()) if d is None)
    return RaggedTensorSpec(spec.shape, spec.dtype, rank, row_splits_dtype)


def ragged_variant(value: Any, spec: Any) -> Any:
    """The tensor as the variant that stands for it then; what stays as it is, as it is."""
    from emplace.eager.ragged.tensor import RaggedTensor

    if not isinstance(value, ops.Tensor) or not structure.is_ragged(spec):
        return value
    if spec.ragged_rank:
        value = RaggedTensor.from_tensor(value, ragged_rank=spec.ragged_rank, row_splits_dtype=spec.row_splits_dtype)
    return structure.to_tensors(spec, value)[0]
