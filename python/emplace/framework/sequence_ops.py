"""TensorFlow 1's functions of sequences of labels, of sets, and of boxes in images."""

from __future__ import annotations

from typing import Any, TYPE_CHECKING

from emplace.framework import array_ops, dtypes, math_ops, random_ops
from emplace.framework.dispatch import execute as _op
from emplace.framework.ops import convert_to_tensor as _convert
from emplace.framework.ops import name_scope
from emplace.framework.sparse_tensor import SparseTensor

if TYPE_CHECKING:
    from emplace.framework.gen import Outputs
    from emplace.framework.tensor import Tensor


def _parts(sparse: Any, what: str) -> list[Any]:
    if not hasattr(sparse, "dense_shape"):
        raise TypeError(f"{what} must be a SparseTensor.")
    return [sparse.indices, sparse.values, sparse.dense_shape]


# ---- Connectionist temporal classification.


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


def edit_distance(hypothesis: Any, truth: Any, normalize: bool = True, name: str = "edit_distance") -> Tensor:
    """How many insertions, deletions and replacements make one sequence the other."""
    if not hasattr(hypothesis, "dense_shape"):
        raise TypeError("Hypothesis must be a SparseTensor.")
    if not hasattr(truth, "dense_shape"):
        raise TypeError("Truth must be a SparseTensor.")
    return _op("EditDistance", [*_parts(hypothesis, "Hypothesis"), *_parts(truth, "Truth")], {"normalize": normalize}, name)


# ---- Sets in the last dimension.


def set_size(a: Any, validate_indices: bool = True) -> Tensor:
    """The number of different elements in each row, the sets of a sparse tensor."""
    return _op("SetSize", _parts(a, "a"), {"validate_indices": validate_indices})


def _set_operation(a: Any, b: Any, how: str, validate_indices: bool) -> Any:
    attrs = {"set_operation": how, "validate_indices": validate_indices}
    sparse = [hasattr(v, "dense_shape") for v in (a, b)]
    if sparse == [True, False]:
        raise ValueError("sparse `a` and dense `b` are not supported: give them the other way round")
    kind = {(True, True): "SparseToSparse", (False, True): "DenseToSparse", (False, False): "DenseToDense"}[tuple(sparse)]
    inputs = [part for v in (a, b) for part in (_parts(v, "set") if hasattr(v, "dense_shape") else [_convert(v)])]
    return SparseTensor(*_op(f"{kind}SetOperation", inputs, attrs))


def set_intersection(a: Any, b: Any, validate_indices: bool = True) -> Any:
    """What rows of `a` and `b` have in common, sets along the last dimension, as a sparse tensor."""
    return _set_operation(a, b, "intersection", validate_indices)


def set_union(a: Any, b: Any, validate_indices: bool = True) -> Any:
    """What is in rows of `a` or `b`, sets along the last dimension, as a sparse tensor."""
    return _set_operation(a, b, "union", validate_indices)


def set_difference(a: Any, b: Any, aminusb: bool = True, validate_indices: bool = True) -> Any:
    """What rows of `a` have and those of `b` have not (the reverse if not `aminusb`), as a sparse tensor."""
    return _set_operation(a, b, "a-b" if aminusb else "b-a", validate_indices)


# ---- Boxes.


def draw_bounding_boxes(images: Any, boxes: Any, name: str | None = None, colors: Any = None) -> Tensor:
    """Images with the outlines of boxes, [y_min, x_min, y_max, x_max] from 0 to 1."""
    if colors is None:
        return _op("DrawBoundingBoxes", [images, boxes], {}, name)
    return _op("DrawBoundingBoxesV2", [images, boxes, colors], {}, name)


def sample_distorted_bounding_box(
    image_size: Any, bounding_boxes: Any, seed: int | None = None, seed2: int | None = None, min_object_covered: Any = 0.1, aspect_ratio_range: Any = None,
    area_range: Any = None, max_attempts: int | None = None, use_image_if_no_bounding_boxes: bool | None = None, name: str | None = None,
) -> Outputs["SampleDistortedBoundingBoxV2"]:
    """(begin, size, box) of a random piece that covers enough of the boxes."""
    with name_scope(name, "sample_distorted_bounding_box"):
        attrs: dict[str, Any] = {
            "seed": seed or 0, "seed2": seed2 or 0, "aspect_ratio_range": aspect_ratio_range, "area_range": area_range,
            "max_attempts": max_attempts, "use_image_if_no_bounding_boxes": use_image_if_no_bounding_boxes,
        }
        attrs = {k: v for k, v in attrs.items() if v is not None}
        return _op("SampleDistortedBoundingBoxV2", [image_size, bounding_boxes, min_object_covered], attrs)


def sample_distorted_bounding_box_v2(
    image_size: Any, bounding_boxes: Any, seed: int = 0, min_object_covered: Any = 0.1, aspect_ratio_range: Any = None,
    area_range: Any = None, max_attempts: int | None = None, use_image_if_no_bounding_boxes: bool | None = None, name: str | None = None,
) -> Any:
    """A random part of an image that covers enough of an object: where it begins, its size and its box."""
    first, second = random_ops.get_seed(seed) if seed else (0, 0)
    return sample_distorted_bounding_box(
        image_size, bounding_boxes, first, second, min_object_covered, aspect_ratio_range, area_range, max_attempts,
        use_image_if_no_bounding_boxes, name,
    )


def stateless_sample_distorted_bounding_box(
    image_size: Any, bounding_boxes: Any, seed: Any, min_object_covered: Any = 0.1, aspect_ratio_range: Any = None,
    area_range: Any = None, max_attempts: int | None = None, use_image_if_no_bounding_boxes: bool | None = None, name: str | None = None,
) -> Outputs["StatelessSampleDistortedBoundingBox"]:
    """A part of an image that covers enough of an object, as the seed alone decides."""
    with name_scope(name, "stateless_sample_distorted_bounding_box"):
        attrs: dict[str, Any] = {
            "aspect_ratio_range": aspect_ratio_range, "area_range": area_range, "max_attempts": max_attempts,
            "use_image_if_no_bounding_boxes": use_image_if_no_bounding_boxes,
        }
        attrs = {k: v for k, v in attrs.items() if v is not None}
        return _op("StatelessSampleDistortedBoundingBox", [image_size, bounding_boxes, min_object_covered, seed], attrs)


# ---- Moments by weights.


def weighted_moments(x: Any, axes: Any, frequency_weights: Any, name: str | None = None, keep_dims: Any = None, keepdims: Any = None) -> tuple[Any, Any]:
    """The mean and the variance in which each value counts as often as its weight says."""
    keep = bool(keepdims if keep_dims is None else keep_dims)
    with name_scope(name, "weighted_moments", [x, frequency_weights, axes]):
        x, weights = _convert(x, name="x"), _convert(frequency_weights, name="frequency_weights")
        narrow = x.dtype == dtypes.float16
        x, weights = (math_ops.cast(v, dtypes.float32) if narrow else v for v in (x, weights))
        if weights.dtype != x.dtype:
            weights = math_ops.cast(weights, x.dtype)
        weighted = math_ops.reduce_sum(weights * x, axes, name="weighted_input_sum", keepdims=True)
        spread = weights + array_ops.zeros_like(x)
        total = math_ops.reduce_sum(spread, axes, name="sum_of_weights", keepdims=True)
        mean = math_ops.div_no_nan(weighted, total)
        far = math_ops.reduce_sum(weights * _op("SquaredDifference", [x, mean], {}), axes, name="weighted_distsq", keepdims=True)
        variance = math_ops.div_no_nan(far, total)
        if not keep:
            mean, variance = array_ops.squeeze(mean, axes), array_ops.squeeze(variance, axes)
        return tuple(math_ops.cast(v, dtypes.float16) if narrow else v for v in (mean, variance))  # type: ignore[return-value]


def batch_norm_with_global_normalization(
    t: Any = None, m: Any = None, v: Any = None, beta: Any = None, gamma: Any = None, variance_epsilon: Any = None, scale_after_normalization: Any = None,
    name: str | None = None, input: Any = None, mean: Any = None, variance: Any = None,  # noqa: A002
) -> Tensor:
    """Batch normalization with given mean and variance, as the old operation did it."""
    from emplace.framework import nn_ops

    values = [a if b is None else b for a, b in ((t, input), (m, mean), (v, variance))]
    return nn_ops.batch_normalization(*values, beta, gamma if scale_after_normalization else None, variance_epsilon, name)


def serialize_tensor(tensor: Any, name: str | None = None) -> Tensor:
    """The tensor as a serialized TensorProto, for `parse_tensor`."""
    return _op("SerializeTensor", [tensor], {}, name)


def serialize_sparse(sp_input: Any, name: str | None = None, out_type: Any = dtypes.string) -> Tensor:
    """A sparse tensor as a vector of three serialized tensors: indices, values and shape."""
    return _op("SerializeSparse", _parts(sp_input, "Input"), {"out_type": out_type}, name)


def serialize_many_sparse(sp_input: Any, name: str | None = None, out_type: Any = dtypes.string) -> Tensor:
    """Each row of a sparse tensor as three serialized tensors."""
    return _op("SerializeManySparse", _parts(sp_input, "Input"), {"out_type": out_type}, name)


def serialize_sparse_v2(sp_input: Any, out_type: Any = dtypes.string, name: str | None = None) -> Any:
    """A sparse tensor as a vector of three serialized tensors: indices, values and shape."""
    return serialize_sparse(sp_input, name, out_type)


def serialize_many_sparse_v2(sp_input: Any, out_type: Any = dtypes.string, name: str | None = None) -> Any:
    """Each row of a sparse tensor as three serialized tensors."""
    return serialize_many_sparse(sp_input, name, out_type)


def stateless_multinomial(logits: Any, num_samples: Any, seed: Any, output_dtype: Any = dtypes.int64, name: str | None = None) -> Tensor:
    """Draws `num_samples` class numbers for each row of log-odds; the same seed, the same draws."""
    return _op("StatelessMultinomial", [logits, num_samples, seed], {"output_dtype": output_dtype}, name)


def grad_pass_through(f: Any) -> Any:
    """`f` forwards, nothing backwards."""
    from emplace.framework.gradients import custom_gradient

    @custom_gradient
    def function(*args: Any, **kwargs: Any) -> Any:
        return f(*args, **kwargs), lambda *grads: grads if len(grads) != 1 else grads[0]

    return function
