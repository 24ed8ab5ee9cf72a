"""Elements and the flat tensors that stand for them inside a pipeline: sparse and ragged ones travel as variants."""

from __future__ import annotations

from typing import Any

from emplace.eager import context, nest, tensor_spec
from emplace.framework import dtypes, gen, ops


class NoneTensorSpec(tensor_spec.TypeSpec):
    """What None looks like among the components of an element: no tensor stands for it."""

    def is_compatible_with(self, spec_or_value: Any) -> bool:
        """Whether it is None, or this spec."""
        return spec_or_value is None or isinstance(spec_or_value, NoneTensorSpec)

    def _part_specs(self) -> list[Any]:
        return []

    def _from_parts(self, parts: list[Any]) -> None:
        return None

    def __repr__(self) -> str:
        return "NoneTensorSpec()"


def is_sparse(spec: Any) -> bool:
    return type(spec).__name__ == "SparseTensorSpec"


def is_ragged(spec: Any) -> bool:
    return hasattr(spec, "ragged_rank")


# ---- Values.


def normalized(element: Any, dtype_of: Any = None) -> Any:
    """An element's leaves as tensors; tuples and dictionaries make the structure, a list is one tensor's value.
    `dtype_of`: what each leaf shall be, where that is known."""
    wanted = None if dtype_of is None else iter(dtype_of)
    with ops.name_scope("normalize_element"):
        return _mapped(element, [], wanted)


def _sparse_class(part: Any) -> Any:
    """A graph program's class in its graphs, the eager one elsewhere."""
    if context._state.eager or not isinstance(part, ops.SymbolicTensor):
        from emplace.eager.sparse import tensor
    else:
        from emplace.framework import sparse_tensor as tensor
    return tensor.SparseTensor


def _mapped(value: Any, count: list[int], wanted: Any) -> Any:
    if isinstance(value, tuple) and not hasattr(value, "dense_shape"):
        parts = [_mapped(v, count, wanted) for v in value]
        return type(value)(*parts) if hasattr(value, "_fields") else tuple(parts)
    if isinstance(value, dict):
        by_key = {k: _mapped(value[k], count, wanted) for k in nest._keys(value)}
        ordered = {k: by_key[k] for k in value}
        if type(value) is dict:
            return ordered
        made = value.copy()
        made.update(ordered)
        return made
    count.append(0)
    dtype = None if wanted is None else next(wanted)
    if value is None or hasattr(value, "_parts"):
        return value
    if hasattr(value, "dense_shape"):
        return value if hasattr(value, "op") else _sparse_class(value.indices)(value.indices, value.values, value.dense_shape)
    return ops.convert_to_tensor(value, dtype, name=f"component_{len(count) - 1}")


def spec_of(element: Any) -> Any:
    """The specs of a normalized element, in its structure."""
    return nest.map_structure(_leaf_spec, element)


def _leaf_spec(value: Any) -> Any:
    if value is None:
        return NoneTensorSpec()
    if isinstance(value, ops.Tensor):
        return tensor_spec.TensorSpec(value.shape, value.dtype.base_dtype)
    if hasattr(value, "dense_shape"):
        from emplace.eager.sparse.tensor import SparseTensorSpec

        return SparseTensorSpec(value.shape, value.dtype)
    return tensor_spec.type_spec_from_value(value)


# ---- Specs as the attributes `output_types` and `output_shapes` have them.


def kinds(spec: Any) -> list[Any]:
    """A TensorSpec for each tensor that stands for a value of this one spec."""
    if isinstance(spec, tensor_spec.TensorSpec):
        return [spec]
    if is_sparse(spec) or is_ragged(spec):
        return [tensor_spec.TensorSpec(None, dtypes.variant)]
    if hasattr(spec, "_encoder"):
        return [k for s in nest.flatten(spec._encoder.encoding_specs(spec)) for k in kinds(s)]
    return spec._part_specs()


def flat_kinds(structure: Any) -> list[Any]:
    return [k for s in nest.flatten(structure) for k in kinds(s)]


def attributes(structure: Any) -> dict[str, Any]:
    flat = flat_kinds(structure)
    return {"output_types": [k.dtype for k in flat], "output_shapes": [k.shape for k in flat]}


# ---- There and back.


def to_tensors(structure: Any, element: Any) -> list[Any]:
    """The tensors that stand for an element with these specs."""
    return _all_encoded(structure, element, False)


def to_batched_tensors(structure: Any, element: Any) -> list[Any]:
    """… whose rows stand for the element's rows."""
    return _all_encoded(structure, element, True)


def _all_encoded(structure: Any, element: Any, by_rows: bool) -> list[Any]:
    pairs = zip(nest.flatten(structure), nest.flatten(element))
    return [t for s, v in pairs for t in _encoded(s, v, by_rows)]


def _encoded(spec: Any, value: Any, by_rows: bool) -> list[Any]:
    if isinstance(spec, tensor_spec.TensorSpec):
        return [value]
    if is_sparse(spec):
        op = "SerializeManySparse" if by_rows else "SerializeSparse"
        return [gen.apply(op, [value.indices, value.values, value.dense_shape], {"out_type": dtypes.variant})]
    if is_ragged(spec):
        return [_ragged_variant(value, spec, by_rows)]
    if hasattr(spec, "_encoder"):
        return _all_encoded(spec._encoder.encoding_specs(spec), spec._encoder.encode(spec, value, int(by_rows)), by_rows)
    if by_rows:
        raise TypeError(f"values of {spec!r} have no rows")
    return [] if value is None else value._parts()


def _ragged_variant(value: Any, spec: Any, by_rows: bool) -> Any:
    if not hasattr(value, "nested_row_splits"):
        splits, flat = [], value
    else:
        splits, flat = list(value.nested_row_splits), value.flat_values
    attrs = {"batched_input": by_rows, "Tsplits": spec.row_splits_dtype}
    return gen.apply("RaggedTensorToVariant", [splits, flat], attrs)


def from_tensors(structure: Any, tensors: Any) -> Any:
    """The element that tensors stand for; an operation's only one may come without a list."""
    if isinstance(tensors, ops.Tensor):
        tensors = [tensors]
    if isinstance(structure, tensor_spec.TensorSpec):
        return tensors[0]
    rest = iter(tensors)
    return nest.map_structure(lambda s: _decoded(s, [next(rest) for _ in kinds(s)]), structure)


def _decoded(spec: Any, tensors: list[Any]) -> Any:
    if isinstance(spec, tensor_spec.TensorSpec):
        return tensors[0]
    if is_sparse(spec):
        return _sparse(spec, tensors[0])
    if is_ragged(spec):
        return _ragged(spec, tensors[0])
    if hasattr(spec, "_encoder"):
        inner, rest = spec._encoder.encoding_specs(spec), iter(tensors)
        codes = [_decoded(s, [next(rest) for _ in kinds(s)]) for s in nest.flatten(inner)]
        return spec._encoder.decode(spec, nest.pack_sequence_as(inner, codes))
    return spec._from_parts(tensors)


def _sparse(spec: Any, variant: Any) -> Any:
    parts = gen.apply("DeserializeSparse", [variant], {"dtype": spec.dtype})
    rank = spec.shape.rank
    for part, shape in zip(parts, ([None, rank], [None], [rank])):
        if isinstance(part, ops.SymbolicTensor):
            part.set_shape(shape)
    made = _sparse_class(parts[0])(*parts)
    if isinstance(parts[0], ops.SymbolicTensor) and rank is not None:
        made.set_shape(spec.shape)
    return made


def _ragged(spec: Any, variant: Any) -> Any:
    from emplace.eager.ragged.tensor import RaggedTensor

    rank = spec.ragged_rank
    attrs = {"input_ragged_rank": -1, "output_ragged_rank": rank, "Tvalues": spec.dtype, "Tsplits": spec.row_splits_dtype}
    made = gen.apply("RaggedTensorFromVariant", [variant], attrs)
    splits, value = made[0], made[1]
    if isinstance(value, ops.SymbolicTensor) and spec.shape.rank is not None:
        value.set_shape([None, *spec.shape.as_list()[rank + 1 :]] if rank else spec.shape)
    for s in reversed(list(splits)):
        value = RaggedTensor.from_row_splits(value, s, validate=False)
    return value


# ---- Specs of batches and of rows.


def batched(spec: Any, lead: Any) -> Any:
    """What `lead` (None: any number) values of a spec together look like."""
    if hasattr(spec, "_batch"):
        return spec._batch(lead)
    if not hasattr(spec, "shape"):
        raise TypeError(f"values of {spec!r} can't be put in a batch")
    shape = None if spec.shape.rank is None else [lead, *spec.shape.as_list()]
    if is_ragged(spec):
        return type(spec)(shape, spec.dtype, spec.ragged_rank + 1, spec.row_splits_dtype)
    return type(spec)(shape, spec.dtype)


def unbatched(spec: Any) -> Any:
    """What a row looks like."""
    from emplace.eager import extension_batch

    return extension_batch.unbatched(spec)


def common(one: Any, other: Any) -> Any:
    """Specs that fit what either structure fits; None where there are none."""
    try:
        nest.assert_same_structure(one, other)
    except (TypeError, ValueError):
        return None
    made = [tensor_spec.common_supertype(pair) for pair in zip(nest.flatten(one), nest.flatten(other))]
    return None if None in made else nest.pack_sequence_as(one, made)
