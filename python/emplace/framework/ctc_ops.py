"""Connectionist temporal classification: losses, decoders, labels."""

from __future__ import annotations

from typing import Any

from emplace.framework import array_ops, dtypes, gen, index_values, math_ops, ops
from emplace.framework.dispatch import execute as _op
from emplace.framework.ops import convert_to_tensor as _convert
from emplace.framework.sparse_tensor import SparseTensor


def ctc_loss(
    labels: Any, inputs: Any = None, sequence_length: Any = None, preprocess_collapse_repeated: bool = False, ctc_merge_repeated: bool = True,
    ignore_longer_outputs_than_inputs: bool = False, time_major: bool = True, logits: Any = None,
) -> Any:
    """Minus the logarithm of the chance of the labels."""
    if not hasattr(labels, "dense_shape"):
        raise TypeError("Expected argument `labels` to be a SparseTensor. Received instead: labels=" f"{labels} of type: {type(labels)}")
    inputs = _convert(inputs if logits is None else logits)
    if not time_major:
        inputs = array_ops.transpose(inputs, [1, 0, 2])
    attrs = {
        "preprocess_collapse_repeated": preprocess_collapse_repeated, "ctc_merge_repeated": ctc_merge_repeated,
        "ignore_longer_outputs_than_inputs": ignore_longer_outputs_than_inputs,
    }
    return _op("CTCLoss", [inputs, labels.indices, labels.values, sequence_length], attrs)[0]


def ctc_greedy_decoder(inputs: Any, sequence_length: Any, merge_repeated: bool = True, blank_index: Any = None) -> Any:
    """The likeliest label of each frame, repeats merged, blanks left out."""
    attrs = {"merge_repeated": merge_repeated, "blank_index": -1 if blank_index is None else blank_index}
    indices, values, shape, chance = _op("CTCGreedyDecoder", [inputs, sequence_length], attrs)
    return [SparseTensor(indices, values, shape)], chance


def ctc_beam_search_decoder(inputs: Any, sequence_length: Any, beam_width: int = 100, top_paths: int = 1, merge_repeated: bool = True) -> Any:
    """The likeliest labellings, and the logarithms of how likely they are."""
    attrs = {"beam_width": beam_width, "top_paths": top_paths, "merge_repeated": merge_repeated}
    found = _op("CTCBeamSearchDecoder", [_convert(inputs), index_values.tensor(sequence_length)], attrs, None)
    flat = list(gen.flat(found))
    decoded = [SparseTensor(*flat[k : 3 * top_paths : top_paths]) for k in range(top_paths)]
    return decoded, flat[-1]


def ctc_beam_search_decoder_v2(inputs: Any, sequence_length: Any, beam_width: int = 100, top_paths: int = 1) -> Any:
    """The best `top_paths` label sequences of CTC logits by beam search, and their log probabilities."""
    return ctc_beam_search_decoder(inputs, sequence_length, beam_width, top_paths, merge_repeated=False)


def collapse_repeated(labels: Any, seq_length: Any, name: str | None = None) -> tuple[Any, Any]:
    """Labels without those that repeat the one before, and their numbers."""
    with ops.name_scope(name, "collapse_repeated_labels"):
        labels, lengths = ops.convert_to_tensor(labels, name="labels"), ops.convert_to_tensor(seq_length, name="seq_length")
        new = array_ops.concat([array_ops.ones_like(labels[:, :1], dtypes.bool), math_ops.not_equal(labels[:, 1:], labels[:, :-1])], 1)
        new = new & array_ops.sequence_mask(lengths, array_ops.shape(labels)[1])
        kept = math_ops.reduce_sum(math_ops.cast(new, lengths.dtype), 1)
        places = array_ops.where(array_ops.sequence_mask(kept))
        flat = array_ops.boolean_mask(labels, new)
        size = array_ops.stack([array_ops.shape(labels)[0], math_ops.cast(math_ops.reduce_max(kept), dtypes.int32)])
        return gen.make_function("ScatterNd", "scatter_nd")(math_ops.cast(places, dtypes.int32), flat, size), kept


def ctc_unique_labels(labels: Any, name: str | None = None) -> list[Any]:
    """Each row's different labels in their order, filled up with zeros, and where each label stands among them."""
    from emplace.framework import functional

    with ops.name_scope(name, "ctc_unique_labels"):
        labels = math_ops.cast(ops.convert_to_tensor(labels, name="labels"), dtypes.int64)

        def one(row: Any) -> list[Any]:
            found = array_ops.unique(row)
            left = array_ops.shape(row)[0] - array_ops.shape(found.y)[0]
            filled = array_ops.pad(found.y, [[0, left]])
            filled.set_shape(row.shape)
            found.idx.set_shape(row.shape)
            return [filled, found.idx]

        return functional.map_fn(one, labels, dtype=[labels.dtype, dtypes.int32])
