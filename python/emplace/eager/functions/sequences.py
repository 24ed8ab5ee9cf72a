"""Sequences: connectionist temporal classification, isotonic regression, embeddings of bags of ids."""

from __future__ import annotations

from typing import Any, TYPE_CHECKING

from emplace.framework import array_ops, dtypes, index_values, math_ops, nn_ops, sparse_ops
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


_KINDS_OF_MEANS = {k: k for k in (dtypes.float32, dtypes.float16, dtypes.bfloat16)} | {
    k: dtypes.float32 for k in (dtypes.int8, dtypes.int16, dtypes.uint8, dtypes.uint16)
}


def isotonic_regression(inputs: Any, decreasing: bool = True, axis: int = -1) -> Any:
    """The monotone sequence nearest to the inputs along an axis, and the number of the block with one mean that each element is in."""
    inputs = _convert(inputs)
    rank = inputs.shape.rank
    at = index_values.axis(axis, rank)
    order = [a for a in range(rank) if a != at] + [at]
    turned = array_ops.transpose(inputs, order)
    rows = array_ops.reshape(turned, [-1, array_ops.shape(turned)[-1]])
    found = _op("IsotonicRegression", [rows if decreasing else -rows], {"output_dtype": _KINDS_OF_MEANS.get(inputs.dtype, dtypes.float64)})
    if decreasing and rank in (1, 2) and at == rank - 1:
        return found if rank == 2 else type(found)(*(v[0] for v in found))
    back, shape = [order.index(a) for a in range(rank)], array_ops.shape(turned)
    return tuple(array_ops.transpose(array_ops.reshape(v, shape), back) for v in (found[0] if decreasing else -found[0], found[1]))


def embedding_lookup_sparse(
    params: Any, sp_ids: Any, sp_weights: Any, combiner: Any = None, max_norm: Any = None, name: str | None = None,
    allow_fast_lookup: bool = False,
) -> Any:
    """The rows that each bag of ids names, combined."""
    return sparse_ops.embedding_lookup_sparse(params, sp_ids, sp_weights, "div", name, combiner, max_norm)


def safe_embedding_lookup_sparse(
    embedding_weights: Any, sparse_ids: Any, sparse_weights: Any = None, combiner: Any = "mean", default_id: Any = None, max_norm: Any = None,
    name: str | None = None, allow_fast_lookup: bool = False,
) -> Any:
    """The rows that each bag of ids names, combined; ids below zero and weights not above it are left out, an empty bag is the row
    of `default_id`, or zeros."""
    return sparse_ops.safe_embedding_lookup_sparse(embedding_weights, sparse_ids, sparse_weights, combiner, default_id, name, "div", max_norm)
