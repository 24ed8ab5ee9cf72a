"""Elements of datasets put together: one above another, padded, as ragged rows."""

from __future__ import annotations

from typing import Any

import numpy as np

from emplace.eager import context, nest, op_errors
from emplace.framework import dtypes, errors, ops


def per_leaf(given: Any, n: int) -> list[Any]:
    """One value a component: a tuple of them, or one for all."""
    if isinstance(given, (tuple, dict)) and not hasattr(given, "rank"):
        values = list(given.values()) if isinstance(given, dict) else list(given)
        if len(values) == n:
            return values
    return [given] * n


def count(value: Any) -> int:
    """A whole number of 64 bits."""
    with context.eager_mode():
        return int(ops.convert_to_tensor(value, None if isinstance(value, ops.Tensor) else dtypes.int64))


def fill(given: Any, dtype: Any) -> Any:
    """What a component is padded with; None: nothing was said. Python's numbers may be of another kind if that holds them."""
    if given is None:
        return None
    with context.eager_mode():
        made = ops.convert_to_tensor(given)
    value = np.asarray(made.numpy())
    if made.dtype != dtype and (isinstance(given, ops.Tensor) or dtypes.string in (made.dtype, dtype) or value.astype(dtype.as_numpy_dtype) != value):
        raise TypeError(f"Invalid `padding_values`. `padding_values` values type {made.dtype!r} does not match type {dtype!r} of the corresponding input component.")
    return value


def sizes(shape: Any) -> list[Any]:
    return [shape] if isinstance(shape, int) else list(getattr(shape, "as_list", lambda: shape)())


def padded(parts: Any, shape: Any, fill: Any) -> Any:
    arrays = [np.asarray(p.numpy()) for p in parts]
    most = [max(a.shape[d] for a in arrays) for d in range(arrays[0].ndim)]
    if shape is not None:
        wanted = [m if w in (None, -1) else int(w) for w, m in zip(sizes(shape), most)]
        if any(w < m for w, m in zip(wanted, most)):
            raise errors.DataLossError(None, None, f"Attempted to pad to a smaller size than the input element: {most} to {wanted}.")
        most = wanted
    default = b"" if arrays[0].dtype == object else 0
    out = np.full([len(arrays), *most], default if fill is None else fill, dtype=arrays[0].dtype)
    for i, a in enumerate(arrays):
        out[(i, *(slice(0, s) for s in a.shape))] = a
    with context.eager_mode():
        return ops.convert_to_tensor(out)


def stacked(items: list[Any], spec: Any = None) -> Any:
    from emplace.eager import extension_batch
    from emplace.eager.functions.flow import _one_above_another
    from emplace.eager.ragged import joining

    def column(spec: Any, *parts: Any) -> Any:
        if hasattr(parts[0], "_row_of"):
            return extension_batch.stacked(parts, None, spec)
        return joining.stack(list(parts)) if hasattr(spec, "ragged_rank") else _one_above_another(*parts)

    with context.eager_mode():
        if spec is None or not any(hasattr(s, "ragged_rank") for s in nest.flatten(spec)):  # rows of ragged ones need not be equally long
            _check_alike(items)
        specs = nest.flatten(items[0]) if spec is None else nest.flatten(spec)
        columns = zip(specs, *(nest.flatten(i) for i in items))
        return nest.pack_sequence_as(items[0], [column(*c) for c in columns])


def _check_alike(items: list[Any]) -> None:
    """Tensors that a batch takes have one shape."""
    columns = list(zip(*map(nest.flatten, items)))
    for c, parts in enumerate(columns):
        shapes = [tuple(getattr(p, "shape", ())) for p in parts]
        for i, shape in enumerate(shapes):
            if shape != shapes[0]:
                first, other = (f"[{','.join(map(str, s))}]" for s in (shapes[0], shape))
                said = f"Cannot batch tensors with different shapes in component {c}. First element had shape {first} and element {i} had shape {other}."
                raise op_errors.refused("IteratorGetNext", said, f"_output_types_{len(columns)}")


def batched_spec(spec: Any, lead: Any) -> Any:
    """What several elements together look like."""
    if hasattr(spec, "_part_specs"):
        return spec._batch(lead)
    shape = None if spec.shape.rank is None else [lead, *spec.shape.as_list()]
    if hasattr(spec, "ragged_rank"):
        return type(spec)(shape, spec.dtype, spec.ragged_rank + 1, spec.row_splits_dtype)
    return type(spec)(shape, spec.dtype)
