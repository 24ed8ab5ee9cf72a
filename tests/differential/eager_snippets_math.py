"""Eager snippets: tf.math, tf.linalg, tf.nn, tf.random, tf.strings, tf.bitwise, tf.image."""

import numpy as np
from snippet import Table

snippet = Table()


def _x(tf):
    return tf.constant([[0.5, -1.5], [2.0, 3.25]])


def _v(tf):
    return tf.constant([0.25, 0.5, 0.75])


UNARY = """abs acos acosh asin asinh atan atanh ceil cos cosh digamma erf erfc erfinv exp expm1 floor is_finite is_inf is_nan
l2_normalize lgamma log log1p log_sigmoid ndtri negative reciprocal reciprocal_no_nan rint round rsqrt sigmoid sign sin
sinh softplus softsign sqrt square tan tanh""".split()

snippet.one_liners(
    "unary",
    [
        (name, lambda tf, name=name: [getattr(tf.math, name)(_v(tf)), getattr(tf.math, name)(_x(tf))])
        for name in UNARY
    ],
)

BINARY = """add atan2 divide divide_no_nan floordiv floormod greater greater_equal equal not_equal less less_equal maximum minimum
mod multiply multiply_no_nan nextafter pow squared_difference subtract truediv xdivy xlog1py xlogy""".split()

snippet.one_liners(
    "binary",
    [
        (name, lambda tf, name=name: [getattr(tf.math, name)([0.0, 2.0, 3.5], [2.0, 2.0, 1.5]), getattr(tf.math, name)([[1.0], [2.0]], 4.0)])
        for name in BINARY
    ],
)

snippet.one_liners(
    "integer",
    [
        (name, lambda tf, name=name: getattr(tf.math, name)([7, -7, 8], [2, 2, -3]))
        for name in "add subtract multiply floordiv floormod maximum minimum squared_difference truediv equal less".split()
    ],
)

REDUCTIONS = "reduce_sum reduce_mean reduce_max reduce_min reduce_prod reduce_std reduce_variance reduce_logsumexp reduce_euclidean_norm".split()

snippet.one_liners(
    "reduction",
    [
        (name, lambda tf, name=name: [getattr(tf.math, name)(_x(tf)), getattr(tf.math, name)(_x(tf), axis=0), getattr(tf.math, name)(_x(tf), axis=[-1], keepdims=True)])
        for name in REDUCTIONS
    ],
)

snippet.one_liners(
    "math",
    [
        ("accumulate_n", lambda tf: tf.math.accumulate_n([_x(tf), _x(tf)])),
        ("add_n", lambda tf: tf.math.add_n([[1, 2], [3, 4], [5, 6]])),
        ("argmax", lambda tf: [tf.math.argmax([2, 20, 30, 3, 6]), tf.argmin([[3, 1], [0, 9]], axis=1), tf.argmax([1, 1], output_type=tf.int32)]),
        ("bincount", lambda tf: [tf.math.bincount([1, 1, 2, 3]), tf.math.bincount([1, 1, 2], weights=[0.5, 0.5, 2.0]), tf.math.bincount([1], minlength=3)]),
        ("ceil_int", lambda tf: tf.math.ceil([-1.7, -1.5, -0.2, 0.2, 1.5, 1.7, 2.0])),
        ("complex_parts", lambda tf: [tf.math.real(z := tf.constant([1 + 2j, -3.5j])), tf.math.imag(z), tf.math.conj(z), tf.math.abs(z), tf.math.angle(z)]),
        ("complex", lambda tf: tf.complex([1.0, 2.0], [3.0, 4.0])),
        ("confusion_matrix", lambda tf: tf.math.confusion_matrix([1, 2, 4], [2, 2, 4])),
        ("count_nonzero", lambda tf: [tf.math.count_nonzero([[0, 1], [2, 3]]), tf.math.count_nonzero([[0.0, 1.0]], axis=1)]),
        ("cumsum", lambda tf: [tf.cumsum([1, 2, 3]), tf.cumsum([1, 2, 3], exclusive=True), tf.cumsum([1, 2, 3], reverse=True)]),
        ("cumprod", lambda tf: tf.math.cumprod([[1, 2], [3, 4]], axis=1)),
        ("cumulative_logsumexp", lambda tf: tf.math.cumulative_logsumexp([1.0, 2.0, 3.0])),
        ("igamma", lambda tf: [tf.math.igamma([1.0, 2.0], [0.5, 1.5]), tf.math.igammac([1.0, 2.0], [0.5, 1.5])]),
        ("in_top_k", lambda tf: tf.math.in_top_k([1, 0], [[0.1, 0.9], [0.2, 0.8]], 1)),
        ("invert_permutation", lambda tf: tf.math.invert_permutation([3, 4, 0, 2, 1])),
        ("is_non_decreasing", lambda tf: [tf.math.is_non_decreasing([1, 1, 2]), tf.math.is_strictly_increasing([1, 1, 2])]),
        ("lbeta", lambda tf: tf.math.lbeta([1.0, 2.0, 3.0])),
        ("logical", lambda tf: [tf.math.logical_and([True, False], True), tf.logical_or([True, False], [False, False]), tf.logical_not([True]), tf.math.logical_xor([True, True], [True, False])]),
        ("nextafter", lambda tf: tf.math.nextafter(tf.constant([1.0], tf.float64), tf.constant([2.0], tf.float64))),
        ("polygamma", lambda tf: tf.math.polygamma([1.0, 2.0], [0.5, 1.5])),
        ("polyval", lambda tf: tf.math.polyval([2.0, 1.0, 0.0], 3.0)),
        ("pow_int", lambda tf: tf.pow([[2, 2], [3, 3]], [[8, 16], [2, 3]])),
        ("reduce_all", lambda tf: [tf.reduce_all([[True, True], [False, True]]), tf.reduce_all([[True, True], [False, True]], 1)]),
        ("reduce_any", lambda tf: [tf.reduce_any([[True, True], [False, False]], 0), tf.reduce_any([[True, True], [False, False]], 1)]),
        ("reduce_empty", lambda tf: [tf.reduce_sum(tf.zeros([0])), tf.reduce_max(tf.zeros([0])), tf.reduce_prod(tf.zeros([0])), tf.reduce_mean(tf.zeros([0]))]),
        ("reduce_int_mean", lambda tf: tf.reduce_mean([1, 0, 1, 0])),
        ("scalar_mul", lambda tf: tf.math.scalar_mul(3.0, _x(tf))),
        ("segment_sum", lambda tf: tf.math.segment_sum([[1, 2], [3, 4], [5, 6]], [0, 0, 1])),
        ("segment_others", lambda tf: [getattr(tf.math, f"segment_{k}")([1.0, 2.0, 4.0], [0, 0, 1]) for k in ("max", "min", "mean", "prod")]),
        ("unsorted_segment", lambda tf: [getattr(tf.math, f"unsorted_segment_{k}")([1.0, 2.0, 4.0], [1, 0, 1], 2) for k in ("sum", "max", "min", "mean", "prod", "sqrt_n")]),
        ("sobol_like_ranges", lambda tf: tf.math.floormod([-3, 5], 4)),
        ("special_zeta", lambda tf: tf.math.zeta([2.0, 3.0], [1.0, 2.0])),
        ("betainc", lambda tf: tf.math.betainc([1.0], [2.0], [0.25])),
        ("top_k", lambda tf: tf.math.top_k([1, 5, 2, 8], k=2)),
        ("approx_max", lambda tf: tf.math.top_k([[1.0, 3.0], [4.0, 2.0]], k=1, sorted=True).values),
        ("clip", lambda tf: [tf.clip_by_value([-5.0, 0.5, 9.0], -1.0, 1.0), tf.clip_by_norm([3.0, 4.0], 1.0), tf.clip_by_global_norm([tf.constant([3.0]), tf.constant([4.0])], 1.0)]),
        ("tensordot", lambda tf: [tf.tensordot([[1, 2], [3, 4]], [[1, 0], [0, 1]], 1), tf.tensordot([1, 2], [3, 4], 0), tf.tensordot([[1, 2]], [[3], [4]], [[1], [0]])]),
        ("einsum", lambda tf: [tf.einsum("ij,jk->ik", _x(tf), _x(tf)), tf.einsum("ii->i", _x(tf)), tf.einsum("...ij->...", _x(tf)), tf.einsum("i,j->ij", _v(tf), _v(tf))]),
        ("norm", lambda tf: [tf.norm([3.0, 4.0]), tf.norm(_x(tf), ord=1), tf.norm(_x(tf), ord=np.inf, axis=1), tf.norm(_x(tf), axis=0, keepdims=True)]),
        ("cross", lambda tf: tf.linalg.cross([1.0, 0.0, 0.0], [0.0, 1.0, 0.0])),
        ("truediv_int", lambda tf: tf.truediv(7, 2)),
        ("round_half_even", lambda tf: tf.round([0.5, 1.5, 2.5, -0.5])),
        ("sign_complex", lambda tf: tf.sign([3 + 4j])),
        ("approximate_equal", lambda tf: [tf.experimental.numpy.isclose is not None, tf.raw_ops.ApproximateEqual(x=[1.0], y=[1.1], tolerance=0.2)]),
    ],
)

snippet.one_liners(
    "bitwise",
    [
        ("and_or_xor", lambda tf: [tf.bitwise.bitwise_and([5, 12], [6, 10]), tf.bitwise.bitwise_or([5], [6]), tf.bitwise.bitwise_xor([5], [6])]),
        ("invert", lambda tf: [tf.bitwise.invert(tf.constant([0, 1], tf.uint8)), tf.bitwise.invert([0, 1])]),
        ("shifts", lambda tf: [tf.bitwise.left_shift([1, 3], [2, 4]), tf.bitwise.right_shift([-16, 16], [2, 3])]),
    ],
)

SPD = [[4.0, 2.0], [2.0, 3.0]]

snippet.one_liners(
    "linalg",
    [
        ("matmul", lambda tf: tf.linalg.matmul([[1, 2, 3], [4, 5, 6]], [[7, 8], [9, 10], [11, 12]])),
        ("matmul_transposed", lambda tf: [tf.matmul(_x(tf), _x(tf), transpose_a=True), tf.matmul(_x(tf), _x(tf), transpose_b=True)]),
        ("matmul_batch", lambda tf: tf.matmul(tf.reshape(tf.range(12.0), [2, 2, 3]), tf.reshape(tf.range(12.0), [2, 3, 2]))),
        ("matmul_broadcast", lambda tf: tf.matmul(tf.ones([2, 1, 2, 3]), tf.ones([3, 1]))),
        ("matvec", lambda tf: tf.linalg.matvec(_x(tf), [1.0, 2.0])),
        ("det", lambda tf: [tf.linalg.det(SPD), tf.linalg.logdet(SPD), tf.linalg.slogdet(SPD)]),
        ("inv", lambda tf: tf.linalg.inv(SPD)),
        ("cholesky", lambda tf: tf.linalg.cholesky(SPD)),
        ("solve", lambda tf: tf.linalg.solve(SPD, [[2.0], [1.0]])),
        ("cholesky_solve", lambda tf: tf.linalg.cholesky_solve(tf.linalg.cholesky(SPD), [[2.0], [1.0]])),
        ("triangular_solve", lambda tf: tf.linalg.triangular_solve([[2.0, 0.0], [1.0, 4.0]], [[2.0], [9.0]])),
        ("lstsq", lambda tf: tf.linalg.lstsq([[1.0, 0.0], [0.0, 2.0], [0.0, 0.0]], [[1.0], [4.0], [5.0]])),
        ("qr", lambda tf: [tf.abs(part) for part in tf.linalg.qr(SPD)]),
        ("svd", lambda tf: tf.linalg.svd(SPD, compute_uv=False)),
        ("eigh", lambda tf: tf.linalg.eigvalsh(SPD)),
        ("trace", lambda tf: tf.linalg.trace(_x(tf))),
        ("diag", lambda tf: [tf.linalg.diag([1, 2]), tf.linalg.diag([1, 2], k=1), tf.linalg.tensor_diag([1, 2])]),
        ("diag_part", lambda tf: [tf.linalg.diag_part(_x(tf)), tf.linalg.diag_part(_x(tf), k=1), tf.linalg.tensor_diag_part(_x(tf))]),
        ("set_diag", lambda tf: tf.linalg.set_diag(_x(tf), [9.0, 9.0])),
        ("band_part", lambda tf: tf.linalg.band_part(tf.ones([3, 3]), 1, 0)),
        ("adjoint", lambda tf: tf.linalg.adjoint([[1 + 1j, 2], [3, 4j]])),
        ("transpose", lambda tf: tf.linalg.matrix_transpose([[[1, 2]], [[3, 4]]])),
        ("eye", lambda tf: tf.linalg.eye(2)),
        ("normalize", lambda tf: tf.linalg.normalize([3.0, 4.0])),
        ("global_norm", lambda tf: tf.linalg.global_norm([tf.constant([3.0]), tf.constant([4.0])])),
        ("expm_like_power", lambda tf: tf.linalg.matmul(SPD, tf.linalg.inv(SPD))),
    ],
)


def _image(tf):
    return tf.reshape(tf.range(16.0), [1, 4, 4, 1])


snippet.one_liners(
    "nn",
    [
        ("relu", lambda tf: [tf.nn.relu(_x(tf)), tf.nn.relu([-1, 2])]),
        ("relu6", lambda tf: tf.nn.relu6([-1.0, 3.0, 9.0])),
        ("leaky_relu", lambda tf: tf.nn.leaky_relu(_x(tf), alpha=0.1)),
        ("elu", lambda tf: [tf.nn.elu(_x(tf)), tf.nn.selu(_x(tf))]),
        ("gelu", lambda tf: [tf.nn.gelu(_x(tf)), tf.nn.gelu(_x(tf), approximate=True)]),
        ("silu", lambda tf: [tf.nn.silu(_x(tf)), tf.nn.swish(_x(tf))]),
        ("crelu", lambda tf: tf.nn.crelu(_x(tf))),
        ("softplus", lambda tf: [tf.nn.softplus(_x(tf)), tf.nn.softsign(_x(tf))]),
        ("sigmoid", lambda tf: [tf.nn.sigmoid(_x(tf)), tf.nn.tanh(_x(tf))]),
        ("softmax", lambda tf: [tf.nn.softmax(_x(tf)), tf.nn.softmax(_x(tf), axis=0)]),
        ("log_softmax", lambda tf: tf.nn.log_softmax(_x(tf))),
        ("softmax_cross_entropy", lambda tf: tf.nn.softmax_cross_entropy_with_logits(labels=[[0.0, 1.0], [0.5, 0.5]], logits=_x(tf))),
        ("sparse_cross_entropy", lambda tf: tf.nn.sparse_softmax_cross_entropy_with_logits(labels=[0, 1], logits=_x(tf))),
        ("sigmoid_cross_entropy", lambda tf: tf.nn.sigmoid_cross_entropy_with_logits(labels=[[0.0, 1.0], [1.0, 0.0]], logits=_x(tf))),
        ("weighted_cross_entropy", lambda tf: tf.nn.weighted_cross_entropy_with_logits(labels=[0.0, 1.0], logits=[0.5, -0.5], pos_weight=2.0)),
        ("bias_add", lambda tf: tf.nn.bias_add(_x(tf), [1.0, 2.0])),
        ("l2_loss", lambda tf: tf.nn.l2_loss(_x(tf))),
        ("l2_normalize", lambda tf: tf.nn.l2_normalize(_x(tf), axis=1)),
        ("moments", lambda tf: tf.nn.moments(_x(tf), axes=[0])),
        ("moments_keep", lambda tf: tf.nn.moments(_x(tf), axes=[0, 1], keepdims=True)),
        ("batch_normalization", lambda tf: tf.nn.batch_normalization(_x(tf), 0.5, 2.0, 1.0, 3.0, 1e-3)),
        ("normalize_moments", lambda tf: tf.nn.normalize_moments(tf.constant(4.0), tf.constant(8.0), tf.constant(20.0), None)),
        ("zero_fraction", lambda tf: tf.nn.zero_fraction([0.0, 1.0, 0.0, 2.0])),
        ("conv2d", lambda tf: tf.nn.conv2d(_image(tf), tf.ones([2, 2, 1, 1]), strides=1, padding="VALID")),
        ("conv2d_same", lambda tf: tf.nn.conv2d(_image(tf), tf.ones([3, 3, 1, 2]), strides=2, padding="SAME")),
        ("conv2d_dilated", lambda tf: tf.nn.conv2d(_image(tf), tf.ones([2, 2, 1, 1]), 1, "VALID", dilations=2)),
        ("conv2d_padding", lambda tf: tf.nn.conv2d(_image(tf), tf.ones([2, 2, 1, 1]), 1, [[0, 0], [1, 0], [0, 1], [0, 0]])),
        ("conv1d", lambda tf: tf.nn.conv1d(tf.reshape(tf.range(6.0), [1, 6, 1]), tf.ones([3, 1, 1]), 1, "SAME")),
        ("conv3d", lambda tf: tf.nn.conv3d(tf.ones([1, 2, 2, 2, 1]), tf.ones([2, 2, 2, 1, 1]), [1, 1, 1, 1, 1], "VALID")),
        ("depthwise", lambda tf: tf.nn.depthwise_conv2d(tf.ones([1, 3, 3, 2]), tf.ones([2, 2, 2, 1]), [1, 1, 1, 1], "VALID")),
        ("separable", lambda tf: tf.nn.separable_conv2d(tf.ones([1, 3, 3, 2]), tf.ones([2, 2, 2, 1]), tf.ones([1, 1, 2, 1]), [1, 1, 1, 1], "VALID")),
        ("conv2d_transpose", lambda tf: tf.nn.conv2d_transpose(tf.ones([1, 2, 2, 1]), tf.ones([2, 2, 1, 1]), [1, 4, 4, 1], 2)),
        ("max_pool", lambda tf: [tf.nn.max_pool(_image(tf), 2, 2, "VALID"), tf.nn.max_pool2d(_image(tf), 3, 2, "SAME")]),
        ("avg_pool", lambda tf: [tf.nn.avg_pool(_image(tf), 2, 2, "VALID"), tf.nn.avg_pool2d(_image(tf), 3, 1, "SAME")]),
        ("max_pool_argmax", lambda tf: tf.nn.max_pool_with_argmax(_image(tf), 2, 2, "VALID")),
        ("pool1d", lambda tf: tf.nn.max_pool1d(tf.reshape(tf.range(6.0), [1, 6, 1]), 2, 2, "VALID")),
        ("lrn", lambda tf: tf.nn.local_response_normalization(_image(tf))),
        ("embedding", lambda tf: tf.nn.embedding_lookup(tf.constant([[1.0], [2.0], [3.0]]), [2, 0, 2])),
        ("top_k", lambda tf: tf.nn.top_k([[1.0, 3.0, 2.0]], 2)),
        ("in_top_k", lambda tf: tf.nn.in_top_k([0], [[0.3, 0.7]], 2)),
        ("dropout_none", lambda tf: tf.nn.dropout(_x(tf), rate=0)),
        ("dropout_seeded", lambda tf: _seeded(tf, lambda: tf.nn.dropout(tf.ones([8]), rate=0.5, seed=1))),
        ("compute_average_loss", lambda tf: tf.nn.compute_average_loss([1.0, 2.0, 3.0], global_batch_size=4)),
        ("space_to_depth", lambda tf: [tf.nn.space_to_depth(_image(tf), 2), tf.nn.depth_to_space(tf.ones([1, 1, 1, 4]), 2)]),
        ("poisson_loss", lambda tf: tf.nn.log_poisson_loss([1.0, 2.0], [0.5, 0.25])),
        ("sufficient_statistics", lambda tf: tf.nn.sufficient_statistics(_x(tf), [0])[:3]),
    ],
)


def _seeded(tf, build):
    tf.random.set_seed(1234)
    return build()


snippet.one_liners(
    "random",
    [
        ("uniform", lambda tf: _seeded(tf, lambda: tf.random.uniform([3]))),
        ("uniform_op_seed", lambda tf: _seeded(tf, lambda: [tf.random.uniform([2], seed=1), tf.random.uniform([2], seed=1)])),
        ("uniform_int", lambda tf: _seeded(tf, lambda: tf.random.uniform([5], maxval=10, dtype=tf.int32, seed=2))),
        ("reset", lambda tf: [_seeded(tf, lambda: tf.random.uniform([1])), _seeded(tf, lambda: tf.random.uniform([1]))]),
        ("normal", lambda tf: _seeded(tf, lambda: tf.random.normal([2, 2], mean=5.0, stddev=2.0, seed=3))),
        ("truncated", lambda tf: _seeded(tf, lambda: tf.random.truncated_normal([4], seed=3))),
        ("shuffle", lambda tf: _seeded(tf, lambda: tf.random.shuffle([1, 2, 3, 4, 5], seed=3))),
        ("categorical", lambda tf: _seeded(tf, lambda: tf.random.categorical([[0.0, 1.0]], 5, seed=1))),
        ("gamma", lambda tf: _seeded(tf, lambda: tf.random.gamma([3], 1.5, seed=1))),
        ("stateless_uniform", lambda tf: tf.random.stateless_uniform([3], seed=[1, 2])),
        ("stateless_int", lambda tf: tf.random.stateless_uniform([4], [1, 2], minval=0, maxval=100, dtype=tf.int32)),
        ("stateless_normal", lambda tf: tf.random.stateless_normal([3], seed=(3, 4))),
        ("stateless_truncated", lambda tf: tf.random.stateless_truncated_normal([3], seed=(3, 4))),
        ("stateless_categorical", lambda tf: tf.random.stateless_categorical([[0.0, 1.0]], 4, seed=(3, 4))),
        ("stateless_shuffle", lambda tf: tf.random.experimental.stateless_shuffle([1, 2, 3, 4], seed=(3, 4))),
        ("generator", lambda tf: [(g := tf.random.Generator.from_seed(1)).normal([2]), g.uniform([2]), g.uniform([2], maxval=9, dtype=tf.int32)]),
        ("unseeded_differ", lambda tf: bool(tf.reduce_all(tf.random.uniform([4]) == tf.random.uniform([4])))),
    ],
)

snippet.one_liners(
    "strings",
    [
        ("join", lambda tf: [tf.strings.join(["abc", "def"]), tf.strings.join([["a", "b"], "c"], separator=" ")]),
        ("length", lambda tf: [tf.strings.length(["hi", "", "é"]), tf.strings.length("é", unit="UTF8_CHAR")]),
        ("case", lambda tf: [tf.strings.lower("AbC"), tf.strings.upper("AbC")]),
        ("substr", lambda tf: [tf.strings.substr("hello", 1, 3), tf.strings.substr(["abc", "defg"], [0, 1], [2, 2])]),
        ("split", lambda tf: [tf.strings.split("a b  c"), tf.strings.split("a,b", sep=",")]),
        ("as_string", lambda tf: [tf.strings.as_string([3, 2]), tf.strings.as_string([3.1415926], precision=2), tf.strings.as_string(True)]),
        ("to_number", lambda tf: [tf.strings.to_number("1.55"), tf.strings.to_number(["3", "4"], tf.int32)]),
        ("regex", lambda tf: [tf.strings.regex_replace("Text with tags", "[aeiou]", "_"), tf.strings.regex_full_match(["TF lib", "lib TF"], ".*lib$")]),
        ("reduce_join", lambda tf: [tf.strings.reduce_join([["abc", "123"], ["def", "456"]]), tf.strings.reduce_join([["a", "b"]], axis=-1, separator="-")]),
        ("strip", lambda tf: tf.strings.strip(["\n a ", "b\t"])),
        ("hash", lambda tf: tf.strings.to_hash_bucket_fast(["Hello", "World"], 1000)),
        ("format", lambda tf: [tf.strings.format("tensor: {}, suffix", tf.range(10)), tf.strings.format("{} {}", (tf.constant(1), tf.constant("s")))]),
        ("bytes_split", lambda tf: tf.strings.bytes_split("abc")),
        ("compare", lambda tf: [tf.equal(["a", "b"], ["a", "c"]), tf.constant("a") == "a"]),
        ("base64", lambda tf: [tf.io.encode_base64("hello"), tf.io.decode_base64("aGVsbG8")]),
        ("decode_raw", lambda tf: tf.io.decode_raw(["\x01\x02"], tf.uint8)),
        ("unicode", lambda tf: tf.constant("Ωmega")),
    ],
)

snippet.one_liners(
    "image",
    [
        ("resize", lambda tf: tf.image.resize(_image(tf), [2, 2])),
        ("resize_nearest", lambda tf: tf.image.resize(_image(tf), [8, 8], method="nearest")),
        ("resize_bicubic", lambda tf: tf.image.resize(_image(tf), [6, 6], method="bicubic")),
        ("resize_area", lambda tf: tf.image.resize(_image(tf), [2, 2], method="area")),
        ("flip", lambda tf: [tf.image.flip_left_right(_image(tf)[0]), tf.image.flip_up_down(_image(tf)[0])]),
        ("crop", lambda tf: tf.image.crop_and_resize(_image(tf), [[0.0, 0.0, 0.5, 0.5]], [0], [2, 2])),
    ],
)
