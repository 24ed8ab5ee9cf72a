"""Graph snippets: mathematics, reductions, nets, text, random numbers, shapes, control flow."""

from snippet import Fed, Table, Told

snippet = Table()


def _x(tf):
    return tf.constant([7.0, -3.0, 2.5], name="x")


def _m(tf):
    return tf.constant([[1, 2, 3], [4, 5, 6], [7, 8, 9]], name="m")


snippet.one_liners(
    "math",
    [
        (name, lambda tf, f=f: f(tf, _x(tf)))
        for name, f in {
            "add": lambda tf, x: tf.add(x, 1.0),
            "subtract": lambda tf, x: tf.subtract(x, [1.0, 2.0, 3.0], name="less"),
            "multiply": lambda tf, x: tf.multiply(x, x),
            "divide": lambda tf, x: tf.divide(x, 2.0),
            "div": lambda tf, x: tf.div(x, 2.0),
            "realdiv": lambda tf, x: tf.realdiv(x, 2.0),
            "floordiv": lambda tf, x: tf.floordiv(x, 2.0),
            "maximum": lambda tf, x: tf.maximum(x, 0.0),
            "minimum": lambda tf, x: tf.minimum(0.0, x),
            "square": lambda tf, x: tf.square(x),
            "sqrt": lambda tf, x: tf.sqrt(tf.abs(x)),
            "rsqrt": lambda tf, x: tf.rsqrt(tf.square(x)),
            "exp": lambda tf, x: tf.exp(x),
            "log": lambda tf, x: tf.log(x),
            "log1p": lambda tf, x: tf.log1p(tf.abs(x)),
            "tanh": lambda tf, x: tf.tanh(x),
            "sigmoid": lambda tf, x: tf.sigmoid(x),
            "sin_cos": lambda tf, x: [tf.sin(x), tf.cos(x), tf.tan(x)],
            "floor_ceil": lambda tf, x: [tf.floor(x), tf.ceil(x), tf.round(x), tf.rint(x)],
            "sign": lambda tf, x: tf.sign(x),
            "negative": lambda tf, x: tf.negative(x),
            "reciprocal": lambda tf, x: tf.reciprocal(x),
            "is_finite": lambda tf, x: [
                tf.is_nan(x / 0.0 * 0.0),
                tf.is_inf(x / 0.0),
                tf.is_finite(x),
            ],
            "equal": lambda tf, x: [tf.equal(x, 7.0), tf.not_equal(x, 7.0)],
            "pow": lambda tf, x: tf.pow(x, 3.0),
            "squared_difference": lambda tf, x: tf.squared_difference(x, 1.0),
            "clip": lambda tf, x: tf.clip_by_value(x, -1.0, 3.0),
            "clip_norm": lambda tf, x: tf.clip_by_norm(x, 2.0),
            "add_n": lambda tf, x: tf.add_n([x, x, x]),
            "accumulate_n": lambda tf, x: tf.accumulate_n([x, x]),
            "logical": lambda tf, x: tf.logical_not(tf.logical_or(x > 0.0, x < -5.0)),
            "erf": lambda tf, x: tf.erf(x),
            "lgamma": lambda tf, x: tf.lgamma(tf.abs(x)),
            "atan2": lambda tf, x: tf.atan2(x, 2.0),
            "complex": lambda tf, x: [
                tf.real(tf.complex(x, x)),
                tf.imag(tf.complex(x, 2.0 * x)),
                tf.abs(tf.complex(x, x)),
            ],
            "segment_sum": lambda tf, x: tf.segment_sum(x, [0, 0, 1]),
            "unsorted_segment": lambda tf, x: tf.unsorted_segment_sum(x, [1, 0, 1], 3),
            "bincount": lambda tf, x: tf.bincount([1, 1, 3]),
            "norm": lambda tf, x: tf.norm(x),
            "tensordot": lambda tf, x: tf.tensordot(x, x, 1),
            "matmul_transpose": lambda tf, x: tf.matmul(
                tf.ones([3, 2]), tf.ones([3, 4]), transpose_a=True
            ),
            "batch_matmul": lambda tf, x: tf.matmul(tf.ones([2, 2, 3]), tf.ones([2, 3, 1])),
            "einsum": lambda tf, x: tf.einsum("ij,jk->ik", tf.ones([2, 3]), tf.ones([3, 2])),
            "inverse": lambda tf, x: tf.matrix_inverse([[2.0, 0.0], [0.0, 4.0]]),
            "determinant": lambda tf, x: tf.matrix_determinant([[2.0, 1.0], [0.0, 4.0]]),
            "cholesky": lambda tf, x: tf.cholesky([[4.0, 2.0], [2.0, 3.0]]),
            "solve": lambda tf, x: tf.matrix_solve([[2.0, 0.0], [0.0, 4.0]], [[2.0], [8.0]]),
        }.items()
    ],
)

snippet.one_liners(
    "reduce",
    [
        ("sum", lambda tf: tf.reduce_sum(_m(tf))),
        ("sum_axis", lambda tf: tf.reduce_sum(_m(tf), axis=1)),
        ("sum_keep", lambda tf: tf.reduce_sum(_m(tf), axis=[0], keepdims=True)),
        ("sum_old_names", lambda tf: tf.reduce_sum(_m(tf), reduction_indices=[1], keep_dims=True)),
        (
            "sum_unknown",
            lambda tf: Fed(tf.reduce_sum(p := tf.placeholder(tf.float32)), {p: [[1.0, 2.0]]}),
        ),
        ("mean", lambda tf: tf.reduce_mean(_x(tf))),
        ("mean_int", lambda tf: tf.reduce_mean(_m(tf))),
        ("max", lambda tf: tf.reduce_max(_m(tf), 0)),
        ("min", lambda tf: tf.reduce_min(_x(tf))),
        ("prod", lambda tf: tf.reduce_prod(_m(tf), axis=-1)),
        ("any", lambda tf: tf.reduce_any(_x(tf) > 5.0)),
        ("all", lambda tf: tf.reduce_all(_x(tf) > 5.0)),
        ("logsumexp", lambda tf: tf.reduce_logsumexp(_x(tf))),
        ("join", lambda tf: tf.reduce_join([["a", "b"], ["c", "d"]], 1)),
        ("count_nonzero", lambda tf: tf.count_nonzero([0, 1, 2])),
        ("empty", lambda tf: tf.reduce_max(tf.zeros([0]))),
    ],
)

snippet.one_liners(
    "nn",
    [
        ("relu", lambda tf: tf.nn.relu(_x(tf))),
        ("relu6", lambda tf: tf.nn.relu6(_x(tf))),
        ("leaky_relu", lambda tf: tf.nn.leaky_relu(_x(tf))),
        ("elu", lambda tf: [tf.nn.elu(_x(tf)), tf.nn.selu(_x(tf))]),
        ("softplus", lambda tf: [tf.nn.softplus(_x(tf)), tf.nn.softsign(_x(tf))]),
        ("softmax", lambda tf: tf.nn.softmax([_x(tf)])),
        ("softmax_vector", lambda tf: tf.nn.softmax(_x(tf))),
        ("log_softmax", lambda tf: tf.nn.log_softmax([_x(tf)])),
        ("bias_add", lambda tf: tf.nn.bias_add(tf.ones([2, 3]), _x(tf))),
        ("l2_loss", lambda tf: tf.nn.l2_loss(_x(tf))),
        ("l2_normalize", lambda tf: tf.nn.l2_normalize(_x(tf), 0)),
        ("moments", lambda tf: tf.nn.moments(_x(tf), [0])),
        (
            "softmax_cross_entropy",
            lambda tf: tf.nn.softmax_cross_entropy_with_logits_v2(
                labels=[[0.0, 1.0, 0.0]], logits=[_x(tf)]
            ),
        ),
        (
            "sparse_cross_entropy",
            lambda tf: tf.nn.sparse_softmax_cross_entropy_with_logits(labels=[1], logits=[_x(tf)]),
        ),
        (
            "sigmoid_cross_entropy",
            lambda tf: tf.nn.sigmoid_cross_entropy_with_logits(
                labels=[0.0, 1.0, 0.0], logits=_x(tf)
            ),
        ),
        (
            "conv2d",
            lambda tf: tf.nn.conv2d(
                tf.ones([1, 4, 4, 1]), tf.ones([2, 2, 1, 1]), strides=[1, 1, 1, 1], padding="SAME"
            ),
        ),
        (
            "max_pool",
            lambda tf: tf.nn.max_pool(
                tf.reshape(tf.range(16.0), [1, 4, 4, 1]), [1, 2, 2, 1], [1, 2, 2, 1], "VALID"
            ),
        ),
        (
            "avg_pool",
            lambda tf: tf.nn.avg_pool(
                tf.reshape(tf.range(16.0), [1, 4, 4, 1]), [1, 2, 2, 1], [1, 2, 2, 1], "SAME"
            ),
        ),
        (
            "embedding",
            lambda tf: tf.nn.embedding_lookup(tf.constant([[1.0], [2.0], [3.0]]), [2, 0]),
        ),
        ("in_top_k", lambda tf: tf.nn.in_top_k([[0.1, 0.9]], [1], 1)),
        ("dropout_off", lambda tf: tf.nn.dropout(_x(tf), keep_prob=1.0)),
        ("xw_plus_b", lambda tf: tf.nn.xw_plus_b(tf.ones([1, 2]), tf.ones([2, 2]), [1.0, 2.0])),
        ("batch_norm", lambda tf: tf.nn.batch_normalization(_x(tf), 1.0, 4.0, 0.5, 2.0, 0.0)),
    ],
)

snippet.one_liners(
    "string",
    [
        ("join", lambda tf: tf.string_join(["a", ["b", "c"]], separator="-")),
        ("as_string", lambda tf: tf.as_string([1.5, 2.0], precision=2)),
        ("to_number", lambda tf: tf.string_to_number(["1.5", "-2"])),
        ("substr", lambda tf: tf.substr(["hello"], 1, 3)),
        (
            "lower",
            lambda tf: [
                tf.strings.lower(["AbC"]),
                tf.strings.upper(["AbC"]),
                tf.strings.length(["abc", ""]),
            ],
        ),
        ("regex", lambda tf: tf.regex_replace(["aab"], "a+", "x")),
        ("hash_bucket", lambda tf: tf.string_to_hash_bucket_fast(["a", "b"], 10)),
        ("base64", lambda tf: tf.decode_base64(tf.encode_base64(["hi"]))),
        ("equal", lambda tf: tf.equal(["a", "b"], "b")),
    ],
)


def _seeded(build):
    def run(tf):
        tf.set_random_seed(1234)
        return build(tf)

    return run


snippet.one_liners(
    "random",
    [
        ("uniform", _seeded(lambda tf: tf.random_uniform([5], seed=1))),
        ("uniform_range", _seeded(lambda tf: tf.random_uniform([4], -2.0, 3.0, seed=2))),
        ("uniform_int", _seeded(lambda tf: tf.random_uniform([6], 0, 1000, tf.int32, seed=3))),
        ("uniform_int64", _seeded(lambda tf: tf.random_uniform([3], 5, 10**12, tf.int64, seed=3))),
        ("uniform_double", _seeded(lambda tf: tf.random_uniform([3], dtype=tf.float64, seed=4))),
        ("unseeded_ops", _seeded(lambda tf: [tf.random_uniform([2]), tf.random_uniform([2])])),
        ("op_seed_only", lambda tf: tf.random_uniform([3], seed=77)),
        ("shuffle", _seeded(lambda tf: tf.random_shuffle([1, 2, 3, 4, 5], seed=6))),
    ],
    exact=True,
)
snippet.one_liners(
    "random",
    [
        ("normal", _seeded(lambda tf: tf.random_normal([5], seed=1))),
        ("normal_scaled", _seeded(lambda tf: tf.random_normal([2, 2], 5.0, 0.1, seed=1))),
        ("truncated", _seeded(lambda tf: tf.truncated_normal([5], seed=5))),
        ("multinomial", _seeded(lambda tf: tf.multinomial([[0.0, 1.0, 2.0]], 5, seed=2))),
        ("gamma", _seeded(lambda tf: tf.random_gamma([3], 2.0, seed=2))),
        ("stateless", lambda tf: tf.random.stateless_uniform([3], seed=[1, 2])),
        ("stateless_normal", lambda tf: tf.random.stateless_normal([3], seed=[1, 2])),
        (
            "initializers",
            _seeded(
                lambda tf: [
                    tf.glorot_uniform_initializer(seed=1)([2, 3]),
                    tf.truncated_normal_initializer(seed=2)([2]),
                ]
            ),
        ),
    ],
)


@snippet
def placeholder_kinds(tf):
    a = tf.placeholder(tf.float32)
    b = tf.placeholder(tf.int32, [])
    c = tf.placeholder(tf.string, [None, 2], name="text")
    d = tf.placeholder_with_default([1.0, 2.0], [None])
    return Fed([a, b, c, d], {a: [[1.5]], b: 3, c: [["x", "y"]]})


@snippet
def broadcasting(tf):
    return [
        tf.ones([2, 1]) + tf.ones([3]),
        tf.zeros([0, 3]) + tf.ones([1, 3]),
        tf.constant(1) * tf.ones([2, 2], tf.int32),
    ]


@snippet
def partly_known_shapes(tf):
    a = tf.placeholder(tf.float32, [None, 3])
    b = tf.placeholder(tf.float32, [2, None])
    c = tf.placeholder(tf.float32)
    return Told(
        [
            str(t.shape)
            for t in (
                a + b,
                tf.matmul(b, a),
                tf.concat([a, a], 1),
                tf.concat([a, b], 0),
                tf.transpose(a),
                a[0],
                a[:, 1:],
                tf.reduce_sum(a, 0),
                tf.reduce_sum(a, 1, keepdims=True),
                c + a,
                tf.reshape(a, [3, -1]),
                tf.reshape(a, tf.shape(b)),
                tf.stack([a, b]),
                tf.tile(a, [1, 2]),
                tf.expand_dims(a, 1),
                tf.identity(c),
                tf.squeeze(tf.placeholder(tf.float32, [1, None, 3])),
                tf.range(tf.placeholder(tf.int32, [])),
                tf.fill(tf.shape(a), 1.0),
                tf.zeros([2, 3]) + c,
                tf.where(c),
                tf.gather(a, [1, 2]),
                tf.one_hot([1], 4),
            )
        ]
    )


@snippet
def constant_values_flow_into_shapes(tf):
    n = tf.constant([2, 3])
    p = tf.placeholder(tf.float32, [None, 6])
    return Told(
        [
            str(tf.zeros(n).shape),
            str(tf.reshape(p, [-1, 2, 3]).shape),
            str(tf.fill(n + 1, 0).shape),
            str(tf.random_uniform(tf.concat([n, [4]], 0)).shape),
            str(tf.reshape(p, tf.stack([tf.shape(p)[0], 6])).shape),
        ]
    )


@snippet
def gradients_of_a_product(tf):
    x = tf.constant(3.0, name="x")
    y = tf.constant(4.0, name="y")
    return tf.gradients(x * y + tf.square(x), [x, y])


@snippet
def gradients_of_matmul(tf):
    a = tf.constant([[1.0, 2.0]], name="a")
    b = tf.constant([[3.0], [4.0]], name="b")
    return tf.gradients(tf.reduce_sum(tf.matmul(a, b)), [a, b])


@snippet
def gradients_unconnected(tf):
    x = tf.constant(1.0)
    y = tf.constant(2.0)
    return Told([g is None for g in tf.gradients(x * 2.0, [x, y])])


@snippet
def cond_v1(tf):
    p = tf.placeholder(tf.bool, [])
    return Fed(tf.cond(p, lambda: tf.constant(1.0), lambda: tf.constant(2.0)), {p: False})


@snippet
def while_v1(tf):
    return tf.while_loop(lambda i, x: i < 5, lambda i, x: (i + 1, x * 2.0), [0, 1.0])


@snippet
def map_fn(tf):
    return tf.map_fn(lambda x: x * x, tf.constant([1.0, 2.0, 3.0]))
