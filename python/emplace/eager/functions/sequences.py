"""Sequences: connectionist temporal classification, isotonic regression, embeddings of bags of ids."""

from __future__ import annotations

from typing import Any, TYPE_CHECKING

import numpy as np

from emplace.framework import array_ops, dtypes, index_values, math_ops, nn_ops, ops
from emplace.framework.dispatch import execute as _op
from emplace.framework.ops import convert_to_tensor as _convert

if TYPE_CHECKING:
    from emplace.framework.tensor import Tensor

_NEVER = -1e30  # the logarithm of no chance, still finite so that gradients are


def ctc_loss(
    labels: Any, logits: Any, label_length: Any, logit_length: Any, logits_time_major: bool = True, unique: Any = None,
    blank_index: Any = None, name: str | None = None,
) -> Tensor:
    """Minus the logarithm of the chance of the labels: the forward algorithm over the frames, in
    logarithms; its gradient is that of its steps."""
    logits = _convert(logits)
    if not logits_time_major:
        logits = array_ops.transpose(logits, [1, 0, 2])
    if hasattr(labels, "dense_shape"):
        labels, label_length = _dense_labels(labels)
    labels = index_values.narrow(labels)
    blank = (0 if blank_index is None else int(blank_index)) % int(logits.shape[2])
    chances = nn_ops.log_softmax(logits)
    states, leap = _states(labels, blank)
    return -_last(_forward(chances, states, leap), index_values.narrow(logit_length), index_values.narrow(label_length))


def _dense_labels(sparse: Any) -> tuple[Any, Any]:
    from emplace.eager.ragged.tensor import RaggedTensor

    rows = RaggedTensor.from_sparse(sparse)
    return rows.to_tensor(), rows.row_lengths()


def _states(labels: Any, blank: int) -> tuple[Any, Any]:
    """Blank, label, blank, …; and where a step may leave out the blank between two different labels."""
    shape = array_ops.shape(labels)
    blanks = array_ops.fill(shape, blank)
    pairs = array_ops.reshape(array_ops.stack([blanks, labels], 2), array_ops.stack([shape[0], 2 * shape[1]]))
    states = array_ops.concat([pairs, blanks[:, :1]], 1)
    # A label may be the blank itself: then it is a label all the same.
    differs = _op("NotEqual", [labels[:, 1:], labels[:, :-1]], {})
    differs = array_ops.concat([array_ops.fill(array_ops.stack([shape[0], 1]), True), differs], 1)
    never = array_ops.fill(shape, False)
    leaps = array_ops.reshape(array_ops.stack([never, differs], 2), array_ops.stack([shape[0], 2 * shape[1]]))
    return states, array_ops.concat([leaps, never[:, :1]], 1)


def _forward(chances: Any, states: Any, leap: Any) -> Any:
    """[frames, batch, states]: the chance of having come to each state."""
    def shifted(x: Any, by: int) -> Any:
        return array_ops.concat([array_ops.fill(array_ops.stack([array_ops.shape(x)[0], by]), _convert(_NEVER, x.dtype)), x[:, :-by]], 1)

    seen = array_ops.gather(chances, array_ops.expand_dims(states, 0) + array_ops.zeros([int(chances.shape[0]), 1, 1], dtypes.int32), batch_dims=2, axis=2)
    never = array_ops.zeros_like(seen[0]) + _convert(_NEVER, seen.dtype)
    now = array_ops.concat([seen[0][:, :2], never[:, 2:]], 1)
    steps = [now]
    for t in range(1, int(chances.shape[0])):
        leapt = array_ops.where_v2(leap, shifted(now, 2), never)
        now = math_ops.reduce_logsumexp(array_ops.stack([now, shifted(now, 1), leapt]), 0) + seen[t]
        steps.append(now)
    return array_ops.stack(steps)


def _last(steps: Any, frames: Any, lengths: Any) -> Any:
    """The chance of ending in the last label or in the blank behind it."""
    batch = math_ops.range(array_ops.shape(lengths)[0])
    ends = [array_ops.gather_nd(steps, array_ops.stack([frames - 1, batch, 2 * lengths - k], 1)) for k in (0, 1)]
    second = array_ops.where_v2(lengths > 0, ends[1], array_ops.zeros_like(ends[1]) + _convert(_NEVER, steps.dtype))
    return math_ops.reduce_logsumexp(array_ops.stack([ends[0], second]), 0)


def ctc_greedy_decoder(inputs: Any, sequence_length: Any, merge_repeated: bool = True, blank_index: Any = None) -> Any:
    """The likeliest label of each frame, repeats merged, blanks left out."""
    from emplace.eager.sparse.tensor import SparseTensor

    inputs = _convert(inputs)
    scores, lengths = inputs.numpy(), _convert(sequence_length).numpy()
    blank = (scores.shape[2] - 1 if blank_index is None else int(blank_index)) % scores.shape[2]
    best = scores.argmax(2)
    places, values, longest = [], [], 0
    for b, n in enumerate(lengths):
        row, before = [], None
        for label in best[:n, b]:
            if label != blank and not (merge_repeated and label == before):
                row.append(label)
            before = label
        places += [[b, i] for i in range(len(row))]
        values += row
        longest = max(longest, len(row))
    total = [[-scores[:n, b].max(1).sum()] for b, n in enumerate(lengths)]
    decoded = SparseTensor(np.array(places, np.int64).reshape(-1, 2), np.array(values, np.int64), [len(lengths), longest])
    return [decoded], _convert(np.array(total, scores.dtype))


def isotonic_regression(inputs: Any, decreasing: bool = True, axis: int = -1) -> tuple[Tensor, Tensor]:
    """The monotone sequence nearest to the inputs: neighbours that go the wrong way share their mean."""
    inputs = _convert(inputs)
    if inputs.dtype.is_integer:
        inputs = math_ops.cast(inputs, dtypes.float32)
    rank = inputs.shape.rank
    at = index_values.axis(axis, rank)
    order = [a for a in range(rank) if a != at] + [at]
    turned = array_ops.transpose(inputs, order)
    n = turned.shape[-1]
    flat = array_ops.reshape(turned, [-1, n])
    segments = np.stack([_blocks(row if decreasing else -row) for row in flat.numpy()])
    ids = _convert(segments + np.arange(len(segments))[:, None] * n)
    count = _convert(len(segments) * n)
    sums = _op("UnsortedSegmentSum", [flat, ids, count], {})
    sizes = _op("UnsortedSegmentSum", [array_ops.ones_like(flat), ids, count], {})
    means = array_ops.gather(_op("DivNoNan", [sums, sizes], {}), ids)
    back = [order.index(a) for a in range(rank)]
    shape = array_ops.shape(turned)
    return tuple(array_ops.transpose(array_ops.reshape(v, shape), back) for v in (means, _convert(segments.astype(np.int32))))


def _blocks(row: np.ndarray) -> np.ndarray:
    """The number of the block each element is in: pooled while a later mean exceeds an earlier one."""
    blocks: list[list[float]] = []  # sum, length
    for value in row.astype(np.float64):
        blocks.append([value, 1])
        while len(blocks) > 1 and blocks[-1][0] / blocks[-1][1] >= blocks[-2][0] / blocks[-2][1]:
            total, length = blocks.pop()
            blocks[-1][0] += total
            blocks[-1][1] += length
    return np.repeat(np.arange(len(blocks)), [int(b[1]) for b in blocks])


def embedding_lookup_sparse(
    params: Any, sp_ids: Any, sp_weights: Any, combiner: Any = None, max_norm: Any = None, name: str | None = None,
    allow_fast_lookup: bool = False,
) -> Any:
    """The rows that each bag of ids names, combined."""
    from emplace.eager.functions import nn

    how = combiner or "mean"
    if how not in ("mean", "sqrtn", "sum"):
        raise ValueError(f"`combiner` must be one of 'mean', 'sqrtn' or 'sum', got {how}")
    if not hasattr(sp_ids, "_parts"):
        raise TypeError(f"`sp_ids` must be a SparseTensor or RaggedTensor, got {type(sp_ids).__name__}")
    ids = sp_ids.values
    rows = sp_ids.value_rowids() if hasattr(sp_ids, "value_rowids") else sp_ids.indices[:, 0]
    n = math_ops.cast(sp_ids.nrows() if hasattr(sp_ids, "nrows") else rows[-1] + 1, dtypes.int32)
    found = nn.embedding_lookup(params, ids, max_norm)
    beside = [-1] + [1] * (found.shape.rank - 1)
    weights = array_ops.ones(array_ops.shape(found)[:1], found.dtype) if sp_weights is None else math_ops.cast(sp_weights.values, found.dtype)
    total = _op("UnsortedSegmentSum", [found * array_ops.reshape(weights, beside), rows, n], {})
    if how == "sum":
        return total
    powers = _op("UnsortedSegmentSum", [weights if how == "mean" else weights * weights, rows, n], {})
    scale = powers if how == "mean" else math_ops.sqrt(powers)
    return math_ops.truediv(total, array_ops.reshape(scale, beside))


def safe_embedding_lookup_sparse(
    embedding_weights: Any, sparse_ids: Any, sparse_weights: Any = None, combiner: Any = "mean", default_id: Any = None, max_norm: Any = None,
    name: str | None = None, allow_fast_lookup: bool = False,
) -> Any:
    """The rows that each bag of ids names, combined; ids below zero and weights not above it are left out, an empty bag is the row
    of `default_id`, or zeros."""
    from emplace.eager.sparse import functions as sparse

    combiner = combiner or "mean"
    shape = ops.convert_to_tensor(sparse_ids.dense_shape)
    lead, width = shape[:-1], shape[-1]
    flat = array_ops.stack([math_ops.reduce_prod(lead), width])
    ids = sparse.reshape(sparse_ids, flat)
    valid = ids.values >= 0
    weights = None
    if sparse_weights is not None:
        weights = sparse.reshape(sparse_weights, flat)
        valid = valid & (weights.values > 0) if combiner != "sum" else valid
        weights, _ = sparse.fill_empty_rows(sparse.retain(weights, valid), math_ops.cast(1.0, weights.dtype))
    ids, empty = sparse.fill_empty_rows(sparse.retain(ids, valid), math_ops.cast(default_id or 0, ids.dtype))
    found = embedding_lookup_sparse(embedding_weights, ids, weights, combiner, max_norm)
    if default_id is None:
        found = array_ops.where_v2(array_ops.reshape(empty, [-1] + [1] * (found.shape.rank - 1)), array_ops.zeros_like(found), found)
    return array_ops.reshape(found, array_ops.concat([math_ops.cast(lead, dtypes.int32), array_ops.shape(found)[1:]], 0), name)
