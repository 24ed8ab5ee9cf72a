"""Losses over a sample of many classes: sampled softmax, noise-contrastive estimation."""

from __future__ import annotations

from typing import Any, TYPE_CHECKING

from emplace.framework import array_ops, dtypes, gen, math_ops, nn_ops, ops, random_ops
from emplace.framework.dispatch import execute as _op

if TYPE_CHECKING:
    from emplace.framework.tensor import Tensor


def _draw(op_type: str, true_classes: Any, attrs: dict[str, Any], seed: Any, name: str | None) -> Any:
    """Drawn classes, and how often the labels and they were to be expected."""
    seed1, seed2 = random_ops.get_seed(seed)
    return gen.make_function(op_type, op_type)(true_classes, **attrs, seed=seed1 or 0, seed2=seed2 or 0, name=name)


def _asked(num_true: int, num_sampled: int, unique: bool, **more: Any) -> dict[str, Any]:
    return {"num_true": num_true, "num_sampled": num_sampled, "unique": unique, **more}


def uniform_candidate_sampler(true_classes: Any, num_true: int, num_sampled: int, unique: bool, range_max: int, seed: Any = None, name: str | None = None) -> Any:
    """Classes of which each is as likely as the others."""
    return _draw("UniformCandidateSampler", true_classes, _asked(num_true, num_sampled, unique, range_max=range_max), seed, name)


def log_uniform_candidate_sampler(true_classes: Any, num_true: int, num_sampled: int, unique: bool, range_max: int, seed: Any = None, name: str | None = None) -> Any:
    """Classes that are sorted from common to rare."""
    return _draw("LogUniformCandidateSampler", true_classes, _asked(num_true, num_sampled, unique, range_max=range_max), seed, name)


def learned_unigram_candidate_sampler(true_classes: Any, num_true: int, num_sampled: int, unique: bool, range_max: int, seed: Any = None, name: str | None = None) -> Any:
    """Classes as often as they were labels in the steps before."""
    return _draw("LearnedUnigramCandidateSampler", true_classes, _asked(num_true, num_sampled, unique, range_max=range_max), seed, name)


def fixed_unigram_candidate_sampler(
    true_classes: Any, num_true: int, num_sampled: int, unique: bool, range_max: int, vocab_file: str = "", distortion: float = 1.0,
    num_reserved_ids: int = 0, num_shards: int = 1, shard: int = 0, unigrams: Any = (), seed: Any = None, name: str | None = None,
) -> Any:
    """Classes by given weights, or by those in the last column of a file."""
    attrs = _asked(
        num_true, num_sampled, unique, range_max=range_max, vocab_file=vocab_file, distortion=distortion,
        num_reserved_ids=num_reserved_ids, num_shards=num_shards, shard=shard, unigrams=list(unigrams),
    )
    return _draw("FixedUnigramCandidateSampler", true_classes, attrs, seed, name)


def all_candidate_sampler(true_classes: Any, num_true: int, num_sampled: int, unique: bool, seed: Any = None, name: str | None = None) -> Any:
    """Every class: for tests of what a sample stands for."""
    return _draw("AllCandidateSampler", true_classes, _asked(num_true, num_sampled, unique), seed, name)


def compute_accidental_hits(true_classes: Any, sampled_candidates: Any, num_true: int, seed: Any = None, name: str | None = None) -> Any:
    """Where a drawn class is a label: row, place in the sample, and a weight that puts it out."""
    seed1, seed2 = random_ops.get_seed(seed)
    hits = gen.make_function("ComputeAccidentalHits", "compute_accidental_hits")
    return hits(true_classes, sampled_candidates, num_true=num_true, seed=seed1 or 0, seed2=seed2 or 0, name=name)


def _row_sums(x: Any) -> Any:
    """Sums of a matrix's rows, as a product with ones."""
    width = array_ops.shape(x)[1]
    ones = array_ops.ones(array_ops.stack([width, 1]), x.dtype)
    return array_ops.reshape(math_ops.matmul(x, ones), [-1])


def _parts(value: Any) -> list[Any]:
    from emplace.framework.partitioned_variables import PartitionedVariable

    return list(value) if isinstance(value, (list, tuple, PartitionedVariable)) else [value]


def _true_logits(rows: Any, biases: Any, inputs: Any, num_true: int) -> Any:
    width = array_ops.shape(rows)[1:2]
    by_label = array_ops.concat([[-1, num_true], width], 0)
    products = math_ops.multiply(array_ops.expand_dims(inputs, 1), array_ops.reshape(rows, by_label), name="Mul")
    sums = _row_sums(array_ops.reshape(products, array_ops.concat([[-1], width], 0)))
    logits = array_ops.reshape(sums, [-1, num_true])
    return logits + array_ops.reshape(biases, [-1, num_true])


def _without_hits(logits: Any, labels: Any, sampled: Any, num_true: int, num_sampled: int) -> Any:
    """Labels that were drawn as well get no chance."""
    rows, places, weights = compute_accidental_hits(labels, sampled, num_true)
    rows = array_ops.reshape(rows, [-1, 1])
    places = array_ops.reshape(math_ops.cast(places, dtypes.int32), [-1, 1])
    indices = array_ops.concat([rows, places], 1, "sparse_indices")
    shape = array_ops.concat([array_ops.shape(labels)[:1], array_ops.expand_dims(num_sampled, 0)], 0)
    if weights.dtype != logits.dtype:
        weights = math_ops.cast(weights, logits.dtype)
    none = ops.convert_to_tensor(0.0, dtype=weights.dtype, name="SparseToDense/default_value")
    return logits + _op("SparseToDense", [indices, shape, weights, none], {"validate_indices": False}, "SparseToDense")


def _logits(
    weights: Any, biases: Any, labels: Any, inputs: Any, num_sampled: int, num_classes: int, num_true: int, sampled_values: Any,
    subtract_log_q: bool, remove_hits: bool, strategy: str, name: str | None, seed: Any,
) -> tuple[Any, Any]:
    """Logits of the labels, then of the sample, and what they should be."""
    weights = _parts(weights)
    with ops.name_scope(name, "compute_sampled_logits", [*weights, biases, inputs, labels]):
        labels = ops.convert_to_tensor(labels)
        if labels.dtype != dtypes.int64:
            labels = math_ops.cast(labels, dtypes.int64)
        flat = array_ops.reshape(labels, [-1])
        if sampled_values is None:
            sampled_values = log_uniform_candidate_sampler(labels, num_true, num_sampled, True, num_classes, seed)
        sampled, of_labels, of_sampled = (array_ops.stop_gradient(v) for v in sampled_values)
        sampled = math_ops.cast(sampled, dtypes.int64)
        both = array_ops.concat([flat, sampled], 0)
        rows = nn_ops.embedding_lookup(weights, both, partition_strategy=strategy)
        if rows.dtype != inputs.dtype:
            rows = math_ops.cast(rows, inputs.dtype)
        true_rows = array_ops.slice(rows, [0, 0], array_ops.stack([array_ops.shape(flat)[0], -1]))
        sampled_rows = array_ops.slice(rows, array_ops.stack([array_ops.shape(flat)[0], 0]), [-1, -1])
        sampled_logits = math_ops.matmul(inputs, sampled_rows, transpose_b=True)
        offsets = nn_ops.embedding_lookup(_parts(biases), both, partition_strategy=strategy)
        if offsets.dtype != inputs.dtype:
            offsets = math_ops.cast(offsets, inputs.dtype)
        true_offsets = array_ops.slice(offsets, [0], array_ops.shape(flat))
        sampled_offsets = array_ops.slice(offsets, array_ops.shape(flat), [-1])
        true_logits = _true_logits(true_rows, true_offsets, inputs, num_true)
        sampled_logits = sampled_logits + sampled_offsets
        if remove_hits:
            sampled_logits = _without_hits(sampled_logits, labels, sampled, num_true, num_sampled)
        if subtract_log_q:
            true_logits = true_logits - _op("Log", [of_labels], {})
            sampled_logits = sampled_logits - _op("Log", [of_sampled], {})
        logits = array_ops.concat([true_logits, sampled_logits], 1)
        wanted = array_ops.concat([array_ops.ones_like(true_logits) / num_true, array_ops.zeros_like(sampled_logits)], 1)
        return logits, wanted


def nce_loss(
    weights: Any, biases: Any, labels: Any, inputs: Any, num_sampled: int, num_classes: int, num_true: int = 1, sampled_values: Any = None,
    remove_accidental_hits: bool = False, partition_strategy: str = "mod", name: str = "nce_loss",
) -> Tensor:
    """Each label, and each class of a sample, told from noise."""
    logits, wanted = _logits(
        weights, biases, labels, inputs, num_sampled, num_classes, num_true, sampled_values, True, remove_accidental_hits,
        partition_strategy, name, None,
    )
    losses = nn_ops.sigmoid_cross_entropy_with_logits(labels=wanted, logits=logits, name="sampled_losses")
    return _row_sums(losses)


def nce_loss_v2(
    weights: Any, biases: Any, labels: Any, inputs: Any, num_sampled: int, num_classes: int, num_true: int = 1, sampled_values: Any = None,
    remove_accidental_hits: bool = False, name: str = "nce_loss",
) -> Tensor:
    """Noise-contrastive estimation: a binary loss an example over its true and sampled classes."""
    return nce_loss(weights, biases, labels, inputs, num_sampled, num_classes, num_true, sampled_values, remove_accidental_hits, "div", name)


def sampled_softmax_loss(
    weights: Any, biases: Any, labels: Any, inputs: Any, num_sampled: int, num_classes: int, num_true: int = 1, sampled_values: Any = None,
    remove_accidental_hits: bool = True, partition_strategy: str = "mod", name: str = "sampled_softmax_loss", seed: Any = None,
) -> Tensor:
    """Softmax cross entropy over the labels and a sample of the other classes; for training only."""
    logits, wanted = _logits(
        weights, biases, labels, inputs, num_sampled, num_classes, num_true, sampled_values, True, remove_accidental_hits,
        partition_strategy, name, seed,
    )
    wanted = array_ops.stop_gradient(wanted, name="labels_stop_gradient")
    return nn_ops.softmax_cross_entropy_with_logits_v2(labels=wanted, logits=logits)


def sampled_softmax_loss_v2(
    weights: Any, biases: Any, labels: Any, inputs: Any, num_sampled: int, num_classes: int, num_true: int = 1, sampled_values: Any = None,
    remove_accidental_hits: bool = True, seed: Any = None, name: str = "sampled_softmax_loss",
) -> Tensor:
    """Softmax loss an example over its true class and a sample of the others."""
    return sampled_softmax_loss(
        weights, biases, labels, inputs, num_sampled, num_classes, num_true, sampled_values, remove_accidental_hits, "div", name, seed,
    )
