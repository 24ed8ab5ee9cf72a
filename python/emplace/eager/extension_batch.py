"""`tf.experimental.BatchableExtensionType`: extension types whose values `tf.map_fn` and datasets put together and take apart.

An encoder says how: what a batch looks like, and which tensors stand for a value."""

from __future__ import annotations

from typing import Any

from emplace.eager import extension_fields as fields, extension_type, nest, tensor_spec


class ExtensionTypeBatchEncoder:
    """Field by field: each tensor of a batch is the tensors of its elements one above another."""

    def batch(self, spec: Any, batch_size: Any) -> Any:
        """The spec of `batch_size` values of a spec stacked."""
        return spec._mapped(lambda s: batched(s, batch_size))

    def unbatch(self, spec: Any) -> Any:
        """The spec of one value out of a batch."""
        return spec._mapped(unbatched)

    def encode(self, spec: Any, value: Any, minimum_rank: int = 0) -> Any:
        """The tensors that a value is made of, in a fixed order."""
        found: list[Any] = []
        for n in value._types:
            fields.mapped(lambda leaf: found.append(leaf) or leaf, value.__dict__[n])
        return found

    def decode(self, spec: Any, encoding: Any) -> Any:
        """The value that `encode` took apart, from its tensors and spec."""
        rest = iter(nest.flatten(encoding))
        held = {n: fields.mapped(lambda _: next(rest), spec.__dict__[n]) for n in spec.value_type._types}
        return spec.value_type._holding(held)

    def encoding_specs(self, spec: Any) -> Any:
        """The specs of the tensors that `encode` gives."""
        return spec._leaves()


class _BatchableSpec(extension_type.ExtensionTypeSpec):
    @property
    def _encoder(self) -> Any:
        return self.value_type.__batch_encoder__

    def _batch(self, batch_size: Any) -> Any:
        return self._encoder.batch(self, batch_size)

    def _unbatch(self) -> Any:
        return self._encoder.unbatch(self)


class BatchableExtensionType(extension_type.ExtensionType, abstract=True):
    """An extension type that can be an element of a batch."""

    _spec_base = _BatchableSpec
    __batch_encoder__ = ExtensionTypeBatchEncoder()

    def _encoded(self, minimum_rank: int = 1) -> Any:
        return self.__batch_encoder__.encode(self._type_spec, self, minimum_rank=minimum_rank)

    def _num_rows(self) -> int | None:
        """How many elements there are; ValueError where its tensors don't agree."""
        counts = [t.shape[:1] for t in nest.flatten(self._encoded())]
        if any(not c.rank for c in counts):
            raise ValueError("Unbatching a tensor is only supported for rank >= 1")
        for c in counts:
            if not c.is_compatible_with(counts[0]):
                raise ValueError(f"Dimensions {counts[0][0]} and {c[0]} are not compatible")
        return next((c[0] for c in counts if c[0] is not None), None)

    def _row_of(self, i: Any) -> Any:
        from emplace.eager.functions.flow import _row

        rows = nest.map_structure(lambda t: _row(t, i), self._encoded())
        return self.__batch_encoder__.decode(self._type_spec._unbatch(), rows)


def stacked(values: Any, batch_size: Any, spec: Any = None) -> Any:
    """Values one above another, of which each fits `spec`; `batch_size` as the batch's spec shall have it."""
    from emplace.eager.functions.flow import _one_above_another
    from emplace.eager.ragged import joining

    if not hasattr(spec, "_encoder"):
        spec = values[0]._type_spec
        spec = spec.most_specific_common_supertype([v._type_spec for v in values[1:]]) or spec
    codes = [v._encoded(0) for v in values]
    columns = zip(nest.flatten(spec._encoder.encoding_specs(spec)), *map(nest.flatten, codes))
    made = [joining.stack(c) if hasattr(s, "ragged_rank") else _one_above_another(*c) for s, *c in columns]
    return spec._encoder.decode(spec._batch(batch_size), nest.pack_sequence_as(codes[0], made))


def batched(spec: Any, batch_size: Any) -> Any:
    if hasattr(spec, "_batch"):
        return spec._batch(batch_size)
    from emplace.eager.datasets import structure

    return structure.batched(spec, batch_size)


def unbatched(spec: Any) -> Any:
    """What a row looks like."""
    if hasattr(spec, "_unbatch"):
        return spec._unbatch()
    if not hasattr(spec, "shape"):
        raise ValueError(f"{spec!r} can't be taken apart")
    if spec.shape.rank == 0:
        raise ValueError("Unbatching a tensor is only supported for rank >= 1")
    shape = spec.shape if spec.shape.rank is None else spec.shape[1:]
    if hasattr(spec, "ragged_rank"):
        if shape.rank == 0:
            return tensor_spec.TensorSpec(shape, spec.dtype)
        return type(spec)(shape, spec.dtype, max(spec.ragged_rank - 1, 0), spec.row_splits_dtype)
    return type(spec)(shape, spec.dtype)


# ---- tf.map_fn inside a function: over the tensors that stand for the values.


def is_batchable(leaf: Any) -> bool:
    return isinstance(leaf, (BatchableExtensionType, _BatchableSpec))


def map_encoded(map_fn: Any, fn: Any, elems: Any, signature: Any) -> Any:
    """`map_fn(fn, encodings, signature)` over values that stand in `elems`."""
    row_specs = nest.map_structure(lambda e: e._type_spec._unbatch() if is_batchable(e) else None, elems)
    wanted = signature
    if wanted is None:
        wanted = nest.map_structure(lambda e: e._type_spec._unbatch() if is_batchable(e) else e.dtype, elems)
    total = next((e._num_rows() for e in nest.flatten(elems) if is_batchable(e)), None)

    def inner(rows: Any) -> Any:
        result = fn(_paired(row_specs, rows, lambda s, r: s._encoder.decode(s, r)))
        return nest.map_structure(lambda v: v._encoded(0) if is_batchable(v) else v, result)

    flat = nest.map_structure(lambda e: e._encoded() if is_batchable(e) else e, elems)
    kinds = nest.map_structure(lambda s: _dtypes(s._encoder.encoding_specs(s)) if is_batchable(s) else s, wanted)
    return _paired(wanted, map_fn(inner, flat, kinds), lambda s, r: s._encoder.decode(s._batch(total), r))


def _dtypes(specs: Any) -> Any:
    return nest.map_structure(lambda s: s.dtype, specs)


def _paired(outline: Any, values: Any, decode: Any) -> Any:
    """`values` with what stands where `outline` has a batchable spec decoded."""
    if is_batchable(outline):
        return decode(outline, values)
    if isinstance(outline, dict):
        return {k: _paired(outline[k], values[k], decode) for k in outline}
    if isinstance(outline, (list, tuple)):
        inner = [_paired(o, v, decode) for o, v in zip(outline, values)]
        return type(outline)(*inner) if hasattr(outline, "_fields") else type(outline)(inner)
    return values
