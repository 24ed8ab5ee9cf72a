"""tf.gradients of every differentiable operation: nodes and values.

Every row is built twice: over constants, whose shapes are known, and over placeholders of no known
shape, which take other ways through many gradients.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from snippet import Fed, Table

snippet = Table()
ROWS: dict[str, tuple[Callable[..., Any], tuple[Any, ...]]] = {}  # what test_numeric.py takes up


def spread(low: float, high: float, *shape: int) -> np.ndarray:
    """Values between `low` and `high`, in an order that is not sorted."""
    count = int(np.prod(shape))
    order = (np.arange(count) * 7 + 3) % count if count % 7 else np.arange(count)[::-1]
    return (low + (high - low) * (order + 0.5) / max(count, 1)).reshape(shape).astype(np.float32)


def complex_of(tf: Any, x: Any) -> Any:
    return tf.complex128 if x.dtype == tf.float64 else tf.complex64


def put(name: str, make: Callable[..., Any], *values: Any, dynamic: bool = True, nodes: bool = True) -> None:
    """`nodes`: False where our backward pass is written with other operations than TensorFlow's."""
    def known(tf: Any) -> Any:
        inputs = [tf.constant(v) for v in values]
        return [g for g in tf.gradients(make(tf, *inputs), inputs) if g is not None]

    def unknown(tf: Any) -> Any:
        inputs = [tf.placeholder(v.dtype) for v in values]
        found = [g for g in tf.gradients(make(tf, *inputs), inputs) if g is not None]
        return Fed(found, dict(zip(inputs, values)))

    ROWS[name] = make, values
    snippet.put(f"grad_{name}", known, nodes=nodes)
    if dynamic:
        snippet.put(f"grad_dynamic_{name}", unknown, nodes=nodes)


A, B = spread(0.1, 0.9, 2, 3), spread(-0.8, 0.7, 2, 3)
ROW, COLUMN, POSITIVE = spread(0.2, 1.5, 3), spread(0.3, 1.2, 2, 1), spread(0.4, 3.0, 2, 3)
CUBE = spread(-1, 1, 2, 3, 4)
SQUARE = spread(-1, 1, 3, 3) + 3 * np.eye(3, dtype=np.float32)
HERMITIAN = (SQUARE @ SQUARE.T).astype(np.float32)
COMPLEX = (A + 1j * B).astype(np.complex64)

for _name in (
    "abs exp sin cos tan asin acos atan sinh cosh asinh atanh tanh sigmoid square sqrt log log1p expm1 erf erfc"
    " lgamma digamma negative sign floor ceil round reciprocal rsqrt"
).split():
    put(_name, lambda tf, x, f=_name: getattr(tf.math, f)(x), A)
put("acosh", lambda tf, x: tf.math.acosh(x), POSITIVE + 1)
put("ndtri", lambda tf, x: tf.math.ndtri(x), A)
put("erfinv", lambda tf, x: tf.math.erfinv(x), B)
put("rint", lambda tf, x: tf.math.rint(x), A)
put("inv", lambda tf, x: tf.raw_ops.Inv(x=x), A)
for _name in "bessel_i0 bessel_i0e bessel_i1 bessel_i1e bessel_j0 bessel_j1 bessel_k0 bessel_k0e bessel_k1 bessel_k1e bessel_y0 bessel_y1 dawsn expint fresnel_cos fresnel_sin spence".split():
    put(_name, lambda tf, x, f=_name: getattr(tf.math.special, f, None)(x) if hasattr(tf.math, "special") else getattr(tf.math, f)(x), POSITIVE)

for _name in "add subtract multiply divide maximum minimum squared_difference div_no_nan".split():
    _f = "divide_no_nan" if _name == "div_no_nan" else _name
    put(f"{_name}_same", lambda tf, x, y, f=_f: getattr(tf.math, f)(x, y), A, POSITIVE)
    put(f"{_name}_row", lambda tf, x, y, f=_f: getattr(tf.math, f)(x, y), A, ROW)
    put(f"{_name}_column", lambda tf, x, y, f=_f: getattr(tf.math, f)(y, x), A, COLUMN)
put("add_scalar", lambda tf, x: x + 2.0, A)
put("sub_scalar", lambda tf, x: 2.0 - x, A)
put("mul_scalar", lambda tf, x: x * 3.0, A)
put("div_scalar", lambda tf, x: x / 3.0, A)
put("rdiv_scalar", lambda tf, x: 3.0 / x, A)
put("pow", lambda tf, x, y: tf.pow(x, y), POSITIVE, ROW)
put("pow_scalar", lambda tf, x: x**2.0, A)
put("floordiv", lambda tf, x, y: tf.floordiv(x, y), POSITIVE, ROW)
put("floormod", lambda tf, x, y: tf.floormod(x, y), POSITIVE, ROW)
put("atan2", lambda tf, x, y: tf.atan2(x, y), A, ROW)
put("xlogy", lambda tf, x, y: tf.math.xlogy(x, y), A, ROW)
put("xdivy", lambda tf, x, y: tf.math.xdivy(x, y), A, ROW)
put("xlog1py", lambda tf, x, y: tf.math.xlog1py(x, y), A, ROW)
put("mul_no_nan", lambda tf, x, y: tf.math.multiply_no_nan(x, y), A, ROW)
put("zeta", lambda tf, x, y: tf.math.zeta(x + 2.0, y), A, POSITIVE)
put("polygamma", lambda tf, x: tf.math.polygamma(tf.ones([3]), x), POSITIVE)
put("igamma", lambda tf, a, x: tf.math.igamma(a, x), POSITIVE, ROW)
put("igammac", lambda tf, a, x: tf.math.igammac(a, x), POSITIVE, ROW)
put("betainc", lambda tf, x: tf.math.betainc(POSITIVE, POSITIVE, x), A)
put("nextafter", lambda tf, x, y: tf.math.nextafter(x, y), A.astype(np.float64), B.astype(np.float64))
put("add_n", lambda tf, x, y: tf.add_n([x, y, x]), A, B)
put("cross", lambda tf, x, y: tf.linalg.cross(x, y), A, B)

put("matmul", lambda tf, x, y: tf.matmul(x, y), A, spread(-1, 1, 3, 4))
put("matmul_ta", lambda tf, x, y: tf.matmul(x, y, transpose_a=True), A, spread(-1, 1, 2, 4))
put("matmul_tb", lambda tf, x, y: tf.matmul(x, y, transpose_b=True), A, spread(-1, 1, 4, 3))
put("matmul_tab", lambda tf, x, y: tf.matmul(x, y, transpose_a=True, transpose_b=True), A, spread(-1, 1, 4, 2))
put("batch_matmul", lambda tf, x, y: tf.matmul(x, y), CUBE, spread(-1, 1, 2, 4, 2))
put("batch_matmul_adjoint", lambda tf, x, y: tf.matmul(x, y, adjoint_a=True, adjoint_b=True), CUBE, spread(-1, 1, 2, 2, 3))
put("batch_matmul_broadcast", lambda tf, x, y: tf.matmul(x, y), CUBE, spread(-1, 1, 1, 4, 2))
put("tensordot", lambda tf, x, y: tf.tensordot(x, y, 1), CUBE, spread(-1, 1, 4, 2), dynamic=False)
put("einsum", lambda tf, x, y: tf.einsum("bij,bjk->bik", x, y), CUBE, spread(-1, 1, 2, 4, 2))
put("einsum_diagonal", lambda tf, x: tf.einsum("ii->i", x), SQUARE)
put("einsum_trace", lambda tf, x: tf.einsum("ii", x), SQUARE)
put("einsum_turned", lambda tf, x: tf.einsum("ij->ji", x), A)
put("einsum_dots", lambda tf, x, y: tf.einsum("...ij,jk->...ik", x, y), CUBE, spread(-1, 1, 4, 2))
put("einsum_dots_spread", lambda tf, x, y: tf.einsum("...ij,...jk->...ik", x, y), CUBE, spread(-1, 1, 1, 4, 2))
put("einsum_dots_alike", lambda tf, x, y: tf.einsum("...ij,...jk->...ik", x, y), CUBE, spread(-1, 1, 2, 4, 2))
put("einsum_dots_summed", lambda tf, x: tf.einsum("...i->...", x), A)
put("einsum_dots_inside", lambda tf, x, y: tf.einsum("i...j,jk...->...k", x, y), CUBE, spread(-1, 1, 4, 2, 3))
put("einsum_repeated", lambda tf, x, y: tf.einsum("iji,jk->k", x, y), spread(-1, 1, 2, 3, 2), spread(-1, 1, 3, 2))
put("einsum_summed", lambda tf, x, y: tf.einsum("ij,kj->i", x, y), A, B)

for _name in "sum mean max min prod".split():
    _f = f"reduce_{_name}"
    put(f"{_f}_all", lambda tf, x, f=_f: getattr(tf, f)(x), A)
    put(f"{_f}_axis", lambda tf, x, f=_f: getattr(tf, f)(x, 1), A)
    put(f"{_f}_negative", lambda tf, x, f=_f: getattr(tf, f)(x, [-1], keepdims=True), A)
    put(f"{_f}_two", lambda tf, x, f=_f: getattr(tf, f)(x, [0, 2]), CUBE)
put("reduce_logsumexp", lambda tf, x: tf.reduce_logsumexp(x, 1), A, dynamic=False)
put("reduce_euclidean", lambda tf, x: tf.math.reduce_euclidean_norm(x, 1), A)
put("reduce_std", lambda tf, x: tf.math.reduce_std(x, 1), A)
put("reduce_variance", lambda tf, x: tf.math.reduce_variance(x, 0), A)
put("cumsum", lambda tf, x: tf.cumsum(x, 1), A)
put("cumsum_reverse", lambda tf, x: tf.cumsum(x, 1, exclusive=True, reverse=True), A)
put("cumprod", lambda tf, x: tf.cumprod(x, 1), A)
put("cumprod_reverse", lambda tf, x: tf.cumprod(x, 1, exclusive=True, reverse=True), A)
put("cumulative_logsumexp", lambda tf, x: tf.math.cumulative_logsumexp(x, 1), A)
IDS = np.array([0, 0, 1], np.int32)
LONG = spread(-1, 1, 3, 2)
for _name in "sum mean max min prod".split():
    put(f"segment_{_name}", lambda tf, x, f=_name: getattr(tf.math, f"segment_{f}")(x, IDS), LONG)
for _name in "sum max min prod mean sqrt_n".split():
    put(f"unsorted_segment_{_name}", lambda tf, x, f=_name: getattr(tf.math, f"unsorted_segment_{f}")(x, np.array([1, -1, 0], np.int32), 2), LONG, dynamic=_name not in ("mean", "sqrt_n"))
for _name in "sum mean sqrt_n".split():
    put(f"sparse_segment_{_name}", lambda tf, x, f=_name: getattr(tf.sparse, f"segment_{f}")(x, np.array([2, 0, 1], np.int32), IDS), LONG)

put("where", lambda tf, x, y: tf.where(tf.constant(A > 0.5), x, y), A, B)
put("where_v2", lambda tf, x, y: tf.where_v2(tf.constant(A > 0.5), x, y), A, ROW)
put("cast", lambda tf, x: tf.cast(x, tf.float64), A)
put("cast_down", lambda tf, x: tf.cast(x, tf.float32), A.astype(np.float64))
put("clip_by_value", lambda tf, x: tf.clip_by_value(x, 0.3, 0.6), A)
put("clip_by_norm", lambda tf, x: tf.clip_by_norm(x, 0.5), A)
put("complex", lambda tf, x, y: tf.real(tf.complex(x, y) * tf.complex(y, x)), A, B)
put("complex_abs", lambda tf, x, y: tf.abs(tf.complex(x, y)), A, B)
put("imag", lambda tf, x, y: tf.imag(tf.conj(tf.complex(x, y))), A, B)
put("angle", lambda tf, x, y: tf.angle(tf.complex(x, y)), A, B)

put("identity", lambda tf, x: tf.identity(x), A)
put("identity_n", lambda tf, x, y: tf.identity_n([x, y]), A, B)
put("stop_gradient", lambda tf, x: x * tf.stop_gradient(x), A)
put("reshape", lambda tf, x: tf.reshape(x, [3, 2]) * 2.0, A)
put("expand_dims", lambda tf, x: tf.expand_dims(x, 1) * 2.0, A)
put("squeeze", lambda tf, x: tf.squeeze(x, [1]) * 2.0, COLUMN)
put("transpose", lambda tf, x: tf.transpose(x, [2, 0, 1]) * 2.0, CUBE)
put("transpose_all", lambda tf, x: tf.transpose(x) * 2.0, A)
put("conjugate_transpose", lambda tf, x: tf.real(tf.transpose(tf.complex(x, x), [1, 0], conjugate=True)), A)
put("broadcast_to", lambda tf, x: tf.broadcast_to(x, [2, 3]) * 2.0, ROW)
put("fill", lambda tf, x: tf.fill([2, 3], x) * 2.0, np.float32(1.5).reshape(()))
put("tile", lambda tf, x: tf.tile(x, [2, 1]) * 2.0, A)
put("concat", lambda tf, x, y: tf.concat([x, y], 1) * 2.0, A, COLUMN)
put("concat_negative", lambda tf, x, y: tf.concat([x, y], -1) * 2.0, A, COLUMN)
put("concat_three", lambda tf, x, y: tf.concat([x, y, x], 0) * 2.0, A, B)
put("stack", lambda tf, x, y: tf.stack([x, y], 1) * 2.0, A, B)
put("unstack", lambda tf, x: tf.unstack(x, 2)[1] * 2.0, A)
put("split", lambda tf, x: tf.split(x, 3, 1)[1] * 2.0, A)
put("split_v", lambda tf, x: tf.split(x, [1, 2], 1)[1] * 2.0, A)
put("slice", lambda tf, x: tf.slice(x, [0, 1], [2, 2]) * 2.0, A)
put("strided_slice", lambda tf, x: x[:, 1:, ::2] * 2.0, CUBE)
put("strided_slice_shrink", lambda tf, x: x[1, ..., tf.newaxis, -1] * 2.0, CUBE)
put("gather", lambda tf, x: tf.gather(x, [1, 0, 1]) * 2.0, A)
put("gather_dense", lambda tf, x: tf.reduce_sum(tf.square(tf.gather(x * 2.0, [1, 0, 1]))), A)
put("gather_axis", lambda tf, x: tf.gather(x, [2, 0, 2], axis=1) * 2.0, A)
put("gather_batch", lambda tf, x: tf.gather(x, [[2, 0], [1, 1]], axis=1, batch_dims=1) * 2.0, A)
put("gather_batch_last", lambda tf, x: tf.gather(x, tf.constant([[2, 0], [1, 1]], tf.int64), axis=-1, batch_dims=1) * 2.0, CUBE)
put("gather_batches", lambda tf, x: tf.gather(x, tf.constant([[[2, 0], [1, 1], [0, 1]]] * 2, tf.int64), axis=2, batch_dims=2) * 2.0, CUBE)
put("gather_batch_negative", lambda tf, x: tf.gather(x, [[2, 0], [1, 1]], axis=1, batch_dims=-1) * 2.0, CUBE)
put("gather_nd", lambda tf, x: tf.gather_nd(x, [[1, 2], [0, 0]]) * 2.0, A)
put("gather_nd_rows", lambda tf, x: tf.gather_nd(x, [[1], [0]]) * 2.0, A)
put("scatter_nd", lambda tf, x: tf.scatter_nd([[1], [3]], x, [4, 3]) * 2.0, A)
put("tensor_scatter_update", lambda tf, x, y: tf.tensor_scatter_nd_update(x, [[1]], y) * 2.0, A, spread(0, 1, 1, 3))
put("tensor_scatter_add", lambda tf, x, y: tf.tensor_scatter_nd_add(x, [[1]], y) * 2.0, A, spread(0, 1, 1, 3))
put("tensor_scatter_sub", lambda tf, x, y: tf.tensor_scatter_nd_sub(x, [[1]], y) * 2.0, A, spread(0, 1, 1, 3))
put("tensor_scatter_max", lambda tf, x, y: tf.tensor_scatter_nd_max(x, [[1]], y) * 2.0, A, spread(0, 1, 1, 3))
put("pad", lambda tf, x: tf.pad(x, [[1, 0], [2, 1]]) * 2.0, A)
put("pad_value", lambda tf, x: tf.pad(x, [[1, 0], [2, 1]], constant_values=3.0) * 2.0, A)
put("pad_reflect", lambda tf, x: tf.pad(x, [[1, 0], [2, 1]], "REFLECT") * 2.0, A)
put("reverse", lambda tf, x: tf.reverse(x, [1]) * 2.0, A)
put("reverse_sequence", lambda tf, x: tf.reverse_sequence(x, [2, 3], seq_axis=1) * 2.0, A)
put("roll", lambda tf, x: tf.roll(x, 1, 1) * 2.0, A)
put("diag", lambda tf, x: tf.diag(x) * 2.0, ROW)
put("diag_part", lambda tf, x: tf.diag_part(x) * 2.0, SQUARE)
put("matrix_diag", lambda tf, x: tf.matrix_diag(x) * 2.0, A)
put("matrix_diag_part", lambda tf, x: tf.matrix_diag_part(x) * 2.0, A)
put("matrix_set_diag", lambda tf, x, y: tf.matrix_set_diag(x, y) * 2.0, SQUARE, ROW)
put("matrix_band_part", lambda tf, x: tf.matrix_band_part(x, 1, 0) * 2.0, SQUARE)
put("space_to_depth", lambda tf, x: tf.space_to_depth(x, 2) * 2.0, spread(-1, 1, 1, 2, 4, 1))
put("depth_to_space", lambda tf, x: tf.depth_to_space(x, 2) * 2.0, spread(-1, 1, 1, 1, 2, 4))
put("space_to_batch_nd", lambda tf, x: tf.space_to_batch_nd(x, [2, 2], [[0, 0], [0, 0]]) * 2.0, spread(-1, 1, 1, 2, 4, 1))
put("batch_to_space_nd", lambda tf, x: tf.batch_to_space_nd(x, [2, 2], [[0, 0], [0, 0]]) * 2.0, spread(-1, 1, 4, 1, 2, 1))
put("dynamic_partition", lambda tf, x: tf.dynamic_partition(x, [0, 1, 0], 2)[0] * 2.0, LONG)
put("dynamic_stitch", lambda tf, x, y: tf.dynamic_stitch([[0, 2], [1, 3]], [x, y]) * 2.0, A, B)
put("boolean_mask", lambda tf, x: tf.boolean_mask(x, [True, False, True]) * 2.0, LONG, dynamic=False)
put("top_k", lambda tf, x: tf.math.top_k(x, 2)[0] * 2.0, A)
put("extract_patches", lambda tf, x: tf.extract_image_patches(x, [1, 2, 2, 1], [1, 1, 1, 1], [1, 1, 1, 1], "VALID") * 2.0, spread(-1, 1, 1, 3, 3, 1), dynamic=False)
put("extract_patches_strided", lambda tf, x: tf.raw_ops.ExtractImagePatches(images=x, ksizes=[1, 2, 3, 1], strides=[1, 2, 1, 1], rates=[1, 1, 2, 1], padding="SAME") * 2.0, spread(-1, 1, 2, 4, 5, 2), dynamic=False)
put("extract_volume_patches", lambda tf, x: tf.extract_volume_patches(x, [1, 2, 2, 1, 1], [1, 1, 2, 1, 1], "VALID") * 2.0, spread(-1, 1, 1, 3, 4, 2, 2), dynamic=False, nodes=False)
put("matrix_diag_v1", lambda tf, x: tf.raw_ops.MatrixDiag(diagonal=x) * 2.0, A)
put("matrix_diag_part_v1", lambda tf, x: tf.raw_ops.MatrixDiagPart(input=x) * 2.0, SQUARE)
put("matrix_diag_part_v1_wide", lambda tf, x: tf.raw_ops.MatrixDiagPart(input=x) * 2.0, A)
put("matrix_set_diag_v1", lambda tf, x, y: tf.raw_ops.MatrixSetDiag(input=x, diagonal=y) * 2.0, SQUARE, ROW)
put("matrix_diag_v2", lambda tf, x: tf.raw_ops.MatrixDiagV2(diagonal=x, k=1, num_rows=-1, num_cols=-1, padding_value=0.0) * 2.0, ROW)
put("matrix_set_diag_v2", lambda tf, x, y: tf.raw_ops.MatrixSetDiagV2(input=x, diagonal=y, k=0) * 2.0, SQUARE, ROW, dynamic=False)
put("reverse_v1", lambda tf, x: tf.raw_ops.Reverse(tensor=x, dims=[True, False]) * 2.0, A, dynamic=False)
put("space_to_batch", lambda tf, x: tf.raw_ops.SpaceToBatch(input=x, paddings=[[0, 0], [0, 0]], block_size=2) * 2.0, spread(-1, 1, 1, 2, 4, 1))
put("batch_to_space", lambda tf, x: tf.raw_ops.BatchToSpace(input=x, crops=[[0, 0], [0, 0]], block_size=2) * 2.0, spread(-1, 1, 4, 1, 2, 1))
put("strided_slice_update", lambda tf, x, y: tf.raw_ops.TensorStridedSliceUpdate(input=x, begin=[1], end=[3], strides=[1], value=y) * 2.0, ROW, spread(0, 1, 2))
put("nth_element", lambda tf, x: tf.raw_ops.NthElement(input=x, n=1) * 2.0, A, nodes=False)
put("check_numerics", lambda tf, x: tf.check_numerics(x, "here") * 2.0, A)
put("print", lambda tf, x: tf.raw_ops.Print(input=x, data=[x], first_n=0) * 2.0, A)
put("meshgrid", lambda tf, x: tf.meshgrid(x, x)[0] * 2.0, ROW, dynamic=False)
put("sort", lambda tf, x: tf.sort(x, direction="DESCENDING") * 2.0, A, dynamic=False)

for _name in "relu relu6 elu selu softplus softsign leaky_relu softmax log_softmax swish".split():
    put(_name, lambda tf, x, f=_name: getattr(tf.nn, f)(x) * 2.0, B, dynamic=_name not in ("softmax", "log_softmax"))
put("crelu", lambda tf, x: tf.nn.crelu(x), B, dynamic=False)
put("bias_add", lambda tf, x, b: tf.nn.bias_add(x, b) * 2.0, A, ROW)
put("l2_loss", lambda tf, x: tf.nn.l2_loss(x), A)
put("l2_normalize", lambda tf, x: tf.nn.l2_normalize(x, 1) * 2.0, A)
put("softmax_cross_entropy", lambda tf, x: tf.nn.softmax_cross_entropy_with_logits_v2(labels=tf.constant([[0, 1, 0], [0.5, 0.5, 0]]), logits=x), B)
put("softmax_cross_entropy_labels", lambda tf, x, y: tf.nn.softmax_cross_entropy_with_logits_v2(labels=y, logits=x), B, A)
put("softmax_cross_entropy_v1", lambda tf, x: tf.nn.softmax_cross_entropy_with_logits(labels=tf.constant([[0, 1, 0], [0.5, 0.5, 0]]), logits=x), B)
put("sparse_softmax_cross_entropy", lambda tf, x: tf.nn.sparse_softmax_cross_entropy_with_logits(labels=[2, 0], logits=x), B, dynamic=False)
put("sigmoid_cross_entropy", lambda tf, x: tf.nn.sigmoid_cross_entropy_with_logits(labels=tf.constant(A), logits=x), B)
put("weighted_cross_entropy", lambda tf, x: tf.nn.weighted_cross_entropy_with_logits(labels=tf.constant(A), logits=x, pos_weight=2.0), B)
put("moments", lambda tf, x: tf.nn.moments(x, [0])[1], A)
put("batch_normalization", lambda tf, x, s, o: tf.nn.batch_normalization(x, tf.constant([0.1, 0.2, 0.3]), tf.constant([1.0, 2.0, 3.0]), o, s, 1e-3), A, ROW, ROW)
IMAGE, FILTER = spread(-1, 1, 1, 4, 4, 2), spread(-1, 1, 2, 2, 2, 3)
put("conv2d", lambda tf, x, w: tf.nn.conv2d(x, w, [1, 1, 1, 1], "SAME") * 2.0, IMAGE, FILTER)
put("conv2d_valid", lambda tf, x, w: tf.nn.conv2d(x, w, [1, 2, 2, 1], "VALID") * 2.0, IMAGE, FILTER)
put("conv2d_transpose", lambda tf, x, w: tf.nn.conv2d_transpose(x, w, [1, 4, 4, 3], [1, 1, 1, 1], "SAME") * 2.0, IMAGE, spread(-1, 1, 2, 2, 3, 2))
put("depthwise", lambda tf, x, w: tf.nn.depthwise_conv2d_native(x, w, [1, 1, 1, 1], "SAME") * 2.0, IMAGE, FILTER)
put("max_pool", lambda tf, x: tf.nn.max_pool(x, [1, 2, 2, 1], [1, 2, 2, 1], "SAME") * 2.0, IMAGE)
put("avg_pool", lambda tf, x: tf.nn.avg_pool(x, [1, 2, 2, 1], [1, 2, 2, 1], "SAME") * 2.0, IMAGE)
put("max_pool_argmax", lambda tf, x: tf.nn.max_pool_with_argmax(x, [1, 2, 2, 1], [1, 2, 2, 1], "SAME")[0] * 2.0, IMAGE)
put("bias_add_v1", lambda tf, x, b: tf.raw_ops.BiasAddV1(value=x, bias=b) * 2.0, A, ROW)
put("max_pool_v2", lambda tf, x: tf.raw_ops.MaxPoolV2(input=x, ksize=[1, 2, 2, 1], strides=[1, 2, 2, 1], padding="SAME") * 2.0, IMAGE)
put("rgb_to_hsv", lambda tf, x: tf.image.rgb_to_hsv(x), spread(0.1, 0.9, 4, 3), nodes=False)
put("conv3d", lambda tf, x, w: tf.nn.conv3d(x, w, [1, 1, 1, 1, 1], "SAME") * 2.0, spread(-1, 1, 1, 2, 3, 3, 1), spread(-1, 1, 2, 2, 2, 1, 2))
put("avg_pool3d", lambda tf, x: tf.nn.avg_pool3d(x, [1, 2, 2, 2, 1], [1, 1, 1, 1, 1], "VALID") * 2.0, spread(-1, 1, 1, 2, 3, 3, 1))
put("max_pool3d", lambda tf, x: tf.nn.max_pool3d(x, [1, 2, 2, 2, 1], [1, 1, 1, 1, 1], "VALID") * 2.0, spread(-1, 1, 1, 2, 3, 3, 1))
put("dilation2d", lambda tf, x, w: tf.nn.dilation2d(x, w, [1, 1, 1, 1], [1, 1, 1, 1], "SAME") * 2.0, IMAGE, spread(-1, 1, 2, 2, 2))
put("lrn", lambda tf, x: tf.nn.lrn(x) * 2.0, IMAGE)
put("fused_batch_norm", lambda tf, x, s, o: tf.nn.fused_batch_norm(x, s, o)[0] * 2.0, IMAGE, spread(0.5, 1, 2), spread(0, 1, 2))
put("fused_batch_norm_frozen", lambda tf, x, s, o: tf.nn.fused_batch_norm(x, s, o, [0.1, 0.2], [1.0, 2.0], is_training=False)[0] * 2.0, IMAGE, spread(0.5, 1, 2), spread(0, 1, 2))
put("resize_bilinear", lambda tf, x: tf.image.resize_bilinear(x, [3, 5]) * 2.0, IMAGE)
put("resize_nearest", lambda tf, x: tf.image.resize_nearest_neighbor(x, [3, 5]) * 2.0, IMAGE)
put("resize_bicubic", lambda tf, x: tf.image.resize_bicubic(x, [3, 5]) * 2.0, IMAGE)
put("crop_and_resize", lambda tf, x: tf.image.crop_and_resize(x, [[0.1, 0.2, 0.8, 0.9]], [0], [2, 2]) * 2.0, IMAGE)

put("cholesky", lambda tf, x: tf.cholesky(x), HERMITIAN)
put("inverse", lambda tf, x: tf.matrix_inverse(x), SQUARE)
put("determinant", lambda tf, x: tf.matrix_determinant(x), SQUARE)
put("slogdet", lambda tf, x: tf.linalg.slogdet(x)[1], SQUARE)
put("solve", lambda tf, x, y: tf.matrix_solve(x, y), SQUARE, spread(-1, 1, 3, 2))
put("solve_adjoint", lambda tf, x, y: tf.matrix_solve(x, y, adjoint=True), SQUARE, spread(-1, 1, 3, 2))
put("triangular_solve", lambda tf, x, y: tf.matrix_triangular_solve(x, y), SQUARE, spread(-1, 1, 3, 2))
put("triangular_solve_upper", lambda tf, x, y: tf.matrix_triangular_solve(x, y, lower=False, adjoint=True), SQUARE, spread(-1, 1, 3, 2))
put("eigh", lambda tf, x: tf.self_adjoint_eigvals(x), HERMITIAN)
put("eigh_vectors", lambda tf, x: tf.square(tf.self_adjoint_eig(x)[1]), HERMITIAN)
TALL, WIDE = spread(-1, 1, 4, 2), spread(-1, 1, 2, 4)
for _name, _x in {"square": SQUARE, "tall": TALL, "wide": WIDE}.items():
    put(f"qr_{_name}", lambda tf, x: [tf.square(q) for q in tf.qr(x)], _x, dynamic=False, nodes=False)
    put(f"svd_{_name}", lambda tf, x: [tf.square(f) for f in tf.svd(x)], _x, dynamic=False, nodes=False)
    if _name == "square" or _name == "tall":
        put(f"solve_ls_{_name}", lambda tf, x, y: tf.raw_ops.MatrixSolveLs(matrix=x, rhs=y, l2_regularizer=np.float64(0.1)), _x, spread(-1, 1, len(_x), 2), dynamic=False, nodes=False)
put("solve_ls_wide", lambda tf, x, y: tf.raw_ops.MatrixSolveLs(matrix=x, rhs=y, l2_regularizer=np.float64(0.1)), WIDE, spread(-1, 1, 2, 2), dynamic=False, nodes=False)
put("svd", lambda tf, x: tf.svd(x, compute_uv=False), SQUARE)
put("svd_full", lambda tf, x: [tf.square(f) for f in tf.svd(x, full_matrices=True)], spread(-1, 1, 3, 2), dynamic=False, nodes=False)
put("svd_batch", lambda tf, x: [tf.square(f) for f in tf.svd(x)], CUBE, dynamic=False, nodes=False)
put("eig", lambda tf, x: tf.real(tf.raw_ops.Eig(input=x, Tout=complex_of(tf, x))[0]), SQUARE, dynamic=False, nodes=False)
put("eig_vectors", lambda tf, x: tf.abs(tf.raw_ops.Eig(input=x, Tout=complex_of(tf, x))[1]), SQUARE, dynamic=False, nodes=False)
for _lower in (True, False):
    put(f"banded_solve_{'lower' if _lower else 'upper'}", lambda tf, x, y, lower=_lower: tf.raw_ops.BandedTriangularSolve(matrix=x, rhs=y, lower=lower, adjoint=False), spread(1, 2, 2, 3), spread(-1, 1, 3, 2), dynamic=False, nodes=False)
put("banded_solve_adjoint", lambda tf, x, y: tf.raw_ops.BandedTriangularSolve(matrix=x, rhs=y, lower=True, adjoint=True), spread(1, 2, 2, 3), spread(-1, 1, 3, 2), dynamic=False, nodes=False)
THREE = spread(0.1, 0.9, 3, 3) + np.array([[0], [3], [0]], np.float32)
put("tridiagonal_solve", lambda tf, x, y: tf.raw_ops.TridiagonalSolve(diagonals=x, rhs=y), THREE, spread(-1, 1, 3, 2), dynamic=False, nodes=False)
put("tridiagonal_matmul", lambda tf, x, y: tf.raw_ops.TridiagonalMatMul(superdiag=x[:1], maindiag=x[1:2], subdiag=x[2:], rhs=y), THREE, spread(-1, 1, 3, 2), dynamic=False, nodes=False)
put("fft", lambda tf, x: tf.abs(tf.fft(tf.complex(x, x))), ROW)
put("ifft", lambda tf, x: tf.abs(tf.ifft(tf.complex(x, x))), ROW)
put("rfft", lambda tf, x: tf.abs(tf.signal.rfft(x)), spread(-1, 1, 4), dynamic=False)
put("rfft_rows", lambda tf, x: tf.abs(tf.signal.rfft(x)), spread(-1, 1, 2, 5))
put("rfft_long", lambda tf, x: tf.abs(tf.signal.rfft(x, [7])), spread(-1, 1, 2, 5))
put("rfft2d", lambda tf, x: tf.real(tf.signal.rfft2d(x)) * x[0, 0], spread(-1, 1, 3, 4), dynamic=False, nodes=False)
put("irfft", lambda tf, x: tf.signal.irfft(tf.complex(x, x)), A, dynamic=False)
put("irfft_long", lambda tf, x: tf.signal.irfft(tf.complex(x, x), [6]), A)
put("irfft2d", lambda tf, x: tf.signal.irfft2d(tf.complex(x, x)), A, dynamic=False)
put("matrix_square_root", lambda tf, x: tf.linalg.sqrtm(x), HERMITIAN)
put("matrix_square_roots", lambda tf, x: tf.linalg.sqrtm(x), np.stack([HERMITIAN, HERMITIAN + np.eye(3, dtype=np.float32)]))


# ---- Gradients that come as rows, which each operation makes whole in its own scope.

_NUMBERS = ("l2_loss", "determinant", "slogdet", "einsum_trace", "gather_dense")  # of which there are no rows
# Their shapes depend on values that TensorFlow computes while it builds.
_COMPUTED = ("segment_", "sparse_segment_", "dynamic_partition", "boolean_mask")
for _name, (_make, _values) in list(ROWS.items()):
    def _picked(tf: Any, make: Callable[..., Any] = _make, values: Any = _values) -> Any:
        inputs = [tf.constant(v) for v in values]
        made = make(tf, *inputs)
        rows = tf.gather(made[0] if isinstance(made, (list, tuple)) else made, [0, 0])
        return [g for g in tf.gradients(rows, inputs) if g is not None]

    if snippet.rows[f"grad_{_name}"].nodes and not _name.endswith("_all") and _name not in _NUMBERS and not _name.startswith(_COMPUTED):
        snippet.put(f"grad_rows_{_name}", _picked)


# ---- Second derivatives.

for _name, _f in {
    "square": lambda tf, x: tf.square(x), "tanh": lambda tf, x: tf.tanh(x), "sigmoid": lambda tf, x: tf.sigmoid(x),
    "sqrt": lambda tf, x: tf.sqrt(x), "rsqrt": lambda tf, x: tf.rsqrt(x), "exp": lambda tf, x: tf.exp(x), "log": lambda tf, x: tf.log(x),
    "reciprocal": lambda tf, x: tf.math.reciprocal(x), "softplus": lambda tf, x: tf.nn.softplus(x), "elu": lambda tf, x: tf.nn.elu(x - 0.5),
    "selu": lambda tf, x: tf.nn.selu(x - 0.5), "softmax": lambda tf, x: tf.square(tf.nn.softmax(x)), "matmul": lambda tf, x: tf.matmul(x, x, transpose_b=True),
    "pow": lambda tf, x: x**3.0, "divide": lambda tf, x: 1.0 / x, "sum": lambda tf, x: tf.square(tf.reduce_sum(x, 1)), "mean": lambda tf, x: tf.square(tf.reduce_mean(x)),
    "softmax_cross_entropy": lambda tf, x: tf.nn.softmax_cross_entropy_with_logits_v2(labels=tf.constant(A), logits=x),
    "leaky_relu": lambda tf, x: tf.square(tf.nn.leaky_relu(x)), "relu": lambda tf, x: tf.square(tf.nn.relu(x)), "relu6": lambda tf, x: tf.square(tf.nn.relu6(x)),
    "bias_add": lambda tf, x: tf.square(tf.nn.bias_add(x, x[0])), "strided_slice": lambda tf, x: tf.square(x[:, 1:]),
    "conv2d": lambda tf, x: tf.square(tf.nn.conv2d(tf.reshape(x, [1, 2, 3, 1]), tf.reshape(x[:, :2], [2, 2, 1, 1]), [1, 1, 1, 1], "SAME")),
    "max_pool": lambda tf, x: tf.square(tf.nn.max_pool(tf.reshape(x, [1, 2, 3, 1]), [1, 2, 2, 1], [1, 1, 1, 1], "VALID")),
    "avg_pool": lambda tf, x: tf.square(tf.nn.avg_pool(tf.reshape(x, [1, 2, 3, 1]), [1, 2, 2, 1], [1, 1, 1, 1], "SAME")),
    "sin": lambda tf, x: tf.sin(x), "erf": lambda tf, x: tf.math.erf(x), "lgamma": lambda tf, x: tf.math.lgamma(x),
}.items():
    def _twice(tf: Any, f: Any = _f) -> Any:
        x = tf.constant(A)
        (first,) = tf.gradients(f(tf, x), x)
        return tf.gradients(first, x)

    snippet.put(f"grad_twice_{_name}", _twice)

for _training in (True, False):
    def _norm_twice(tf: Any, training: bool = _training) -> Any:
        x, scale = tf.constant(IMAGE), tf.constant([0.5, 0.9])
        y = tf.nn.fused_batch_norm(x, scale, [0.1, 0.2], *(() if training else ([0.1, 0.2], [1.0, 2.0])), is_training=training)[0]
        first = tf.gradients(tf.square(y) * tf.constant(spread(0, 1, 1, 4, 4, 2)), [x, scale])
        return tf.gradients([tf.square(g) for g in first], [x, scale])

    snippet.put(f"grad_twice_fused_batch_norm_{'trained' if _training else 'frozen'}", _norm_twice, nodes=False)
