"""Eager snippets: tf.math, tf.bitwise, tf.linalg."""

import numpy as np

from snippet import Table

snippet = Table()


def _x(tf):
    return tf.constant([[0.5, -1.5], [2.0, 3.25]])


def _v(tf):
    return tf.constant([0.25, 0.5, 0.75])


def _normal_between_gradient(tf):
    given = [tf.constant(v) for v in ([0.0, 1.0], 1.5, -1.0, [[2.0], [3.0]])]
    with tf.GradientTape() as tape:
        tape.watch(given)
        drawn = tf.random.stateless_parameterized_truncated_normal([3, 2, 2], [1, 2], *given)
        loss = tf.reduce_sum(drawn * drawn)
    return tape.gradient(loss, given)


UNARY = """
abs acos acosh asin asinh atan atanh ceil cos cosh digamma erf erfc erfinv exp expm1 floor
is_finite is_inf is_nan l2_normalize lgamma log log1p log_sigmoid ndtri negative reciprocal
reciprocal_no_nan rint round rsqrt sigmoid sign sin sinh softplus softsign sqrt square tan tanh
""".split()

snippet.one_liners(
    "unary",
    [
        (
            name,
            lambda tf, name=name: [getattr(tf.math, name)(_v(tf)), getattr(tf.math, name)(_x(tf))],
        )
        for name in UNARY
    ],
)

BINARY = """
add atan2 divide divide_no_nan floordiv floormod greater greater_equal equal not_equal less
less_equal maximum minimum mod multiply multiply_no_nan nextafter pow squared_difference
subtract truediv xdivy xlog1py xlogy
""".split()

snippet.one_liners(
    "binary",
    [
        (
            name,
            lambda tf, name=name: [
                getattr(tf.math, name)([0.0, 2.0, 3.5], [2.0, 2.0, 1.5]),
                getattr(tf.math, name)([[1.0], [2.0]], 4.0),
            ],
        )
        for name in BINARY
    ],
)

INTEGER = """
add subtract multiply floordiv floormod maximum minimum squared_difference truediv equal less
""".split()

snippet.one_liners(
    "integer",
    [
        (name, lambda tf, name=name: getattr(tf.math, name)([7, -7, 8], [2, 2, -3]))
        for name in INTEGER
    ],
)

REDUCTIONS = """
reduce_sum reduce_mean reduce_max reduce_min reduce_prod reduce_std reduce_variance
reduce_logsumexp reduce_euclidean_norm
""".split()

snippet.one_liners(
    "reduction",
    [
        (
            name,
            lambda tf, name=name: [
                getattr(tf.math, name)(_x(tf)),
                getattr(tf.math, name)(_x(tf), axis=0),
                getattr(tf.math, name)(_x(tf), axis=[-1], keepdims=True),
            ],
        )
        for name in REDUCTIONS
    ],
)

snippet.one_liners(
    "math",
    [
        ("accumulate_n", lambda tf: tf.math.accumulate_n([_x(tf), _x(tf)])),
        ("add_n", lambda tf: tf.math.add_n([[1, 2], [3, 4], [5, 6]])),
        (
            "argmax",
            lambda tf: [
                tf.math.argmax([2, 20, 30, 3, 6]),
                tf.argmin([[3, 1], [0, 9]], axis=1),
                tf.argmax([1, 1], output_type=tf.int32),
            ],
        ),
        (
            "bincount",
            lambda tf: [
                tf.math.bincount([1, 1, 2, 3]),
                tf.math.bincount([1, 1, 2], weights=[0.5, 0.5, 2.0]),
                tf.math.bincount([1], minlength=3),
            ],
        ),
        ("ceil_int", lambda tf: tf.math.ceil([-1.7, -1.5, -0.2, 0.2, 1.5, 1.7, 2.0])),
        (
            "complex_parts",
            lambda tf: [
                tf.math.real(z := tf.constant([1 + 2j, -3.5j])),
                tf.math.imag(z),
                tf.math.conj(z),
                tf.math.abs(z),
                tf.math.angle(z),
            ],
        ),
        ("complex", lambda tf: tf.complex([1.0, 2.0], [3.0, 4.0])),
        ("confusion_matrix", lambda tf: tf.math.confusion_matrix([1, 2, 4], [2, 2, 4])),
        (
            "count_nonzero",
            lambda tf: [
                tf.math.count_nonzero([[0, 1], [2, 3]]),
                tf.math.count_nonzero([[0.0, 1.0]], axis=1),
            ],
        ),
        (
            "cumsum",
            lambda tf: [
                tf.cumsum([1, 2, 3]),
                tf.cumsum([1, 2, 3], exclusive=True),
                tf.cumsum([1, 2, 3], reverse=True),
            ],
        ),
        ("cumprod", lambda tf: tf.math.cumprod([[1, 2], [3, 4]], axis=1)),
        ("cumulative_logsumexp", lambda tf: tf.math.cumulative_logsumexp([1.0, 2.0, 3.0])),
        (
            "igamma",
            lambda tf: [
                tf.math.igamma([1.0, 2.0], [0.5, 1.5]),
                tf.math.igammac([1.0, 2.0], [0.5, 1.5]),
            ],
        ),
        ("in_top_k", lambda tf: tf.math.in_top_k([1, 0], [[0.1, 0.9], [0.2, 0.8]], 1)),
        ("invert_permutation", lambda tf: tf.math.invert_permutation([3, 4, 0, 2, 1])),
        (
            "is_non_decreasing",
            lambda tf: [
                tf.math.is_non_decreasing([1, 1, 2]),
                tf.math.is_strictly_increasing([1, 1, 2]),
            ],
        ),
        ("lbeta", lambda tf: tf.math.lbeta([1.0, 2.0, 3.0])),
        (
            "logical",
            lambda tf: [
                tf.math.logical_and([True, False], True),
                tf.logical_or([True, False], [False, False]),
                tf.logical_not([True]),
                tf.math.logical_xor([True, True], [True, False]),
            ],
        ),
        (
            "nextafter",
            lambda tf: tf.math.nextafter(
                tf.constant([1.0], tf.float64), tf.constant([2.0], tf.float64)
            ),
        ),
        ("polygamma", lambda tf: tf.math.polygamma([1.0, 2.0], [0.5, 1.5])),
        ("polyval", lambda tf: tf.math.polyval([2.0, 1.0, 0.0], 3.0)),
        ("pow_int", lambda tf: tf.pow([[2, 2], [3, 3]], [[8, 16], [2, 3]])),
        (
            "reduce_all",
            lambda tf: [
                tf.reduce_all([[True, True], [False, True]]),
                tf.reduce_all([[True, True], [False, True]], 1),
            ],
        ),
        (
            "reduce_any",
            lambda tf: [
                tf.reduce_any([[True, True], [False, False]], 0),
                tf.reduce_any([[True, True], [False, False]], 1),
            ],
        ),
        (
            "reduce_empty",
            lambda tf: [
                tf.reduce_sum(tf.zeros([0])),
                tf.reduce_max(tf.zeros([0])),
                tf.reduce_prod(tf.zeros([0])),
                tf.reduce_mean(tf.zeros([0])),
            ],
        ),
        ("reduce_int_mean", lambda tf: tf.reduce_mean([1, 0, 1, 0])),
        ("scalar_mul", lambda tf: tf.math.scalar_mul(3.0, _x(tf))),
        ("segment_sum", lambda tf: tf.math.segment_sum([[1, 2], [3, 4], [5, 6]], [0, 0, 1])),
        (
            "segment_others",
            lambda tf: [
                getattr(tf.math, f"segment_{k}")([1.0, 2.0, 4.0], [0, 0, 1])
                for k in ("max", "min", "mean", "prod")
            ],
        ),
        (
            "unsorted_segment",
            lambda tf: [
                getattr(tf.math, f"unsorted_segment_{k}")([1.0, 2.0, 4.0], [1, 0, 1], 2)
                for k in ("sum", "max", "min", "mean", "prod", "sqrt_n")
            ],
        ),
        ("sobol_like_ranges", lambda tf: tf.math.floormod([-3, 5], 4)),
        ("sobol_sample", lambda tf: [tf.math.sobol_sample(3, 5), tf.math.sobol_sample(2, 2, skip=9, dtype=tf.float64)]),
        ("unicode_script", lambda tf: tf.strings.unicode_script([33, 65, 0x4E00])),
        ("normal_between", lambda tf: tf.random.stateless_parameterized_truncated_normal([3, 2], [1, 2], [0.0, 1.0], 1.5, -1.0, 2.0)),
        ("normal_between_gradient", _normal_between_gradient),
        ("special_zeta", lambda tf: tf.math.zeta([2.0, 3.0], [1.0, 2.0])),
        ("betainc", lambda tf: tf.math.betainc([1.0], [2.0], [0.25])),
        ("top_k", lambda tf: tf.math.top_k([1, 5, 2, 8], k=2)),
        ("approx_max", lambda tf: tf.math.top_k([[1.0, 3.0], [4.0, 2.0]], k=1, sorted=True).values),
        (
            "clip",
            lambda tf: [
                tf.clip_by_value([-5.0, 0.5, 9.0], -1.0, 1.0),
                tf.clip_by_norm([3.0, 4.0], 1.0),
                tf.clip_by_global_norm([tf.constant([3.0]), tf.constant([4.0])], 1.0),
            ],
        ),
        (
            "tensordot",
            lambda tf: [
                tf.tensordot([[1, 2], [3, 4]], [[1, 0], [0, 1]], 1),
                tf.tensordot([1, 2], [3, 4], 0),
                tf.tensordot([[1, 2]], [[3], [4]], [[1], [0]]),
            ],
        ),
        (
            "einsum",
            lambda tf: [
                tf.einsum("ij,jk->ik", _x(tf), _x(tf)),
                tf.einsum("ii->i", _x(tf)),
                tf.einsum("...ij->...", _x(tf)),
                tf.einsum("i,j->ij", _v(tf), _v(tf)),
            ],
        ),
        (
            "norm",
            lambda tf: [
                tf.norm([3.0, 4.0]),
                tf.norm(_x(tf), ord=1),
                tf.norm(_x(tf), ord=np.inf, axis=1),
                tf.norm(_x(tf), axis=0, keepdims=True),
            ],
        ),
        ("cross", lambda tf: tf.linalg.cross([1.0, 0.0, 0.0], [0.0, 1.0, 0.0])),
        ("truediv_int", lambda tf: tf.truediv(7, 2)),
        ("round_half_even", lambda tf: tf.round([0.5, 1.5, 2.5, -0.5])),
        ("sign_complex", lambda tf: tf.sign([3 + 4j])),
        (
            "approximate_equal",
            lambda tf: [
                tf.experimental.numpy.isclose is not None,
                tf.raw_ops.ApproximateEqual(x=[1.0], y=[1.1], tolerance=0.2),
            ],
        ),
    ],
)

snippet.one_liners(
    "bitwise",
    [
        (
            "and_or_xor",
            lambda tf: [
                tf.bitwise.bitwise_and([5, 12], [6, 10]),
                tf.bitwise.bitwise_or([5], [6]),
                tf.bitwise.bitwise_xor([5], [6]),
            ],
        ),
        (
            "invert",
            lambda tf: [
                tf.bitwise.invert(tf.constant([0, 1], tf.uint8)),
                tf.bitwise.invert([0, 1]),
            ],
        ),
        (
            "shifts",
            lambda tf: [
                tf.bitwise.left_shift([1, 3], [2, 4]),
                tf.bitwise.right_shift([-16, 16], [2, 3]),
            ],
        ),
    ],
)

SPD = [[4.0, 2.0], [2.0, 3.0]]

snippet.one_liners(
    "linalg",
    [
        (
            "matmul",
            lambda tf: tf.linalg.matmul([[1, 2, 3], [4, 5, 6]], [[7, 8], [9, 10], [11, 12]]),
        ),
        (
            "matmul_transposed",
            lambda tf: [
                tf.matmul(_x(tf), _x(tf), transpose_a=True),
                tf.matmul(_x(tf), _x(tf), transpose_b=True),
            ],
        ),
        (
            "matmul_batch",
            lambda tf: tf.matmul(
                tf.reshape(tf.range(12.0), [2, 2, 3]), tf.reshape(tf.range(12.0), [2, 3, 2])
            ),
        ),
        ("matmul_broadcast", lambda tf: tf.matmul(tf.ones([2, 1, 2, 3]), tf.ones([3, 1]))),
        ("matvec", lambda tf: tf.linalg.matvec(_x(tf), [1.0, 2.0])),
        ("det", lambda tf: [tf.linalg.det(SPD), tf.linalg.logdet(SPD), tf.linalg.slogdet(SPD)]),
        ("inv", lambda tf: tf.linalg.inv(SPD)),
        ("cholesky", lambda tf: tf.linalg.cholesky(SPD)),
        ("solve", lambda tf: tf.linalg.solve(SPD, [[2.0], [1.0]])),
        (
            "cholesky_solve",
            lambda tf: tf.linalg.cholesky_solve(tf.linalg.cholesky(SPD), [[2.0], [1.0]]),
        ),
        (
            "triangular_solve",
            lambda tf: tf.linalg.triangular_solve([[2.0, 0.0], [1.0, 4.0]], [[2.0], [9.0]]),
        ),
        (
            "lstsq",
            lambda tf: tf.linalg.lstsq([[1.0, 0.0], [0.0, 2.0], [0.0, 0.0]], [[1.0], [4.0], [5.0]]),
        ),
        ("qr", lambda tf: [tf.abs(part) for part in tf.linalg.qr(SPD)]),
        ("svd", lambda tf: tf.linalg.svd(SPD, compute_uv=False)),
        ("eigh", lambda tf: tf.linalg.eigvalsh(SPD)),
        ("trace", lambda tf: tf.linalg.trace(_x(tf))),
        (
            "diag",
            lambda tf: [
                tf.linalg.diag([1, 2]),
                tf.linalg.diag([1, 2], k=1),
                tf.linalg.tensor_diag([1, 2]),
            ],
        ),
        (
            "diag_part",
            lambda tf: [
                tf.linalg.diag_part(_x(tf)),
                tf.linalg.diag_part(_x(tf), k=1),
                tf.linalg.tensor_diag_part(_x(tf)),
            ],
        ),
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
