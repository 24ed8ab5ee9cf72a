"""Eager snippets: tf.nn, tf.random, tf.strings, tf.image."""

from snippet import Table

snippet = Table()


def _x(tf):
    return tf.constant([[0.5, -1.5], [2.0, 3.25]])


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
        (
            "softmax_cross_entropy",
            lambda tf: tf.nn.softmax_cross_entropy_with_logits(
                labels=[[0.0, 1.0], [0.5, 0.5]], logits=_x(tf)
            ),
        ),
        (
            "sparse_cross_entropy",
            lambda tf: tf.nn.sparse_softmax_cross_entropy_with_logits(labels=[0, 1], logits=_x(tf)),
        ),
        (
            "sigmoid_cross_entropy",
            lambda tf: tf.nn.sigmoid_cross_entropy_with_logits(
                labels=[[0.0, 1.0], [1.0, 0.0]], logits=_x(tf)
            ),
        ),
        (
            "weighted_cross_entropy",
            lambda tf: tf.nn.weighted_cross_entropy_with_logits(
                labels=[0.0, 1.0], logits=[0.5, -0.5], pos_weight=2.0
            ),
        ),
        ("bias_add", lambda tf: tf.nn.bias_add(_x(tf), [1.0, 2.0])),
        ("l2_loss", lambda tf: tf.nn.l2_loss(_x(tf))),
        ("l2_normalize", lambda tf: tf.nn.l2_normalize(_x(tf), axis=1)),
        ("moments", lambda tf: tf.nn.moments(_x(tf), axes=[0])),
        ("moments_keep", lambda tf: tf.nn.moments(_x(tf), axes=[0, 1], keepdims=True)),
        (
            "batch_normalization",
            lambda tf: tf.nn.batch_normalization(_x(tf), 0.5, 2.0, 1.0, 3.0, 1e-3),
        ),
        (
            "normalize_moments",
            lambda tf: tf.nn.normalize_moments(
                tf.constant(4.0), tf.constant(8.0), tf.constant(20.0), None
            ),
        ),
        ("zero_fraction", lambda tf: tf.nn.zero_fraction([0.0, 1.0, 0.0, 2.0])),
        (
            "conv2d",
            lambda tf: tf.nn.conv2d(_image(tf), tf.ones([2, 2, 1, 1]), strides=1, padding="VALID"),
        ),
        (
            "conv2d_same",
            lambda tf: tf.nn.conv2d(_image(tf), tf.ones([3, 3, 1, 2]), strides=2, padding="SAME"),
        ),
        (
            "conv2d_dilated",
            lambda tf: tf.nn.conv2d(_image(tf), tf.ones([2, 2, 1, 1]), 1, "VALID", dilations=2),
        ),
        (
            "conv2d_padding",
            lambda tf: tf.nn.conv2d(
                _image(tf), tf.ones([2, 2, 1, 1]), 1, [[0, 0], [1, 0], [0, 1], [0, 0]]
            ),
        ),
        (
            "conv1d",
            lambda tf: tf.nn.conv1d(
                tf.reshape(tf.range(6.0), [1, 6, 1]), tf.ones([3, 1, 1]), 1, "SAME"
            ),
        ),
        (
            "conv3d",
            lambda tf: tf.nn.conv3d(
                tf.ones([1, 2, 2, 2, 1]), tf.ones([2, 2, 2, 1, 1]), [1, 1, 1, 1, 1], "VALID"
            ),
        ),
        (
            "depthwise",
            lambda tf: tf.nn.depthwise_conv2d(
                tf.ones([1, 3, 3, 2]), tf.ones([2, 2, 2, 1]), [1, 1, 1, 1], "VALID"
            ),
        ),
        (
            "separable",
            lambda tf: tf.nn.separable_conv2d(
                tf.ones([1, 3, 3, 2]),
                tf.ones([2, 2, 2, 1]),
                tf.ones([1, 1, 2, 1]),
                [1, 1, 1, 1],
                "VALID",
            ),
        ),
        (
            "conv2d_transpose",
            lambda tf: tf.nn.conv2d_transpose(
                tf.ones([1, 2, 2, 1]), tf.ones([2, 2, 1, 1]), [1, 4, 4, 1], 2
            ),
        ),
        (
            "max_pool",
            lambda tf: [
                tf.nn.max_pool(_image(tf), 2, 2, "VALID"),
                tf.nn.max_pool2d(_image(tf), 3, 2, "SAME"),
            ],
        ),
        (
            "avg_pool",
            lambda tf: [
                tf.nn.avg_pool(_image(tf), 2, 2, "VALID"),
                tf.nn.avg_pool2d(_image(tf), 3, 1, "SAME"),
            ],
        ),
        ("max_pool_argmax", lambda tf: tf.nn.max_pool_with_argmax(_image(tf), 2, 2, "VALID")),
        (
            "pool1d",
            lambda tf: tf.nn.max_pool1d(tf.reshape(tf.range(6.0), [1, 6, 1]), 2, 2, "VALID"),
        ),
        ("lrn", lambda tf: tf.nn.local_response_normalization(_image(tf))),
        (
            "embedding",
            lambda tf: tf.nn.embedding_lookup(tf.constant([[1.0], [2.0], [3.0]]), [2, 0, 2]),
        ),
        ("top_k", lambda tf: tf.nn.top_k([[1.0, 3.0, 2.0]], 2)),
        ("in_top_k", lambda tf: tf.nn.in_top_k([0], [[0.3, 0.7]], 2)),
        ("dropout_none", lambda tf: tf.nn.dropout(_x(tf), rate=0)),
        (
            "dropout_seeded",
            lambda tf: _seeded(tf, lambda: tf.nn.dropout(tf.ones([8]), rate=0.5, seed=1)),
        ),
        (
            "compute_average_loss",
            lambda tf: tf.nn.compute_average_loss([1.0, 2.0, 3.0], global_batch_size=4),
        ),
        (
            "space_to_depth",
            lambda tf: [
                tf.nn.space_to_depth(_image(tf), 2),
                tf.nn.depth_to_space(tf.ones([1, 1, 1, 4]), 2),
            ],
        ),
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
        (
            "uniform_op_seed",
            lambda tf: _seeded(
                tf, lambda: [tf.random.uniform([2], seed=1), tf.random.uniform([2], seed=1)]
            ),
        ),
        (
            "uniform_int",
            lambda tf: _seeded(
                tf, lambda: tf.random.uniform([5], maxval=10, dtype=tf.int32, seed=2)
            ),
        ),
        (
            "reset",
            lambda tf: [
                _seeded(tf, lambda: tf.random.uniform([1])),
                _seeded(tf, lambda: tf.random.uniform([1])),
            ],
        ),
        (
            "normal",
            lambda tf: _seeded(tf, lambda: tf.random.normal([2, 2], mean=5.0, stddev=2.0, seed=3)),
        ),
        ("truncated", lambda tf: _seeded(tf, lambda: tf.random.truncated_normal([4], seed=3))),
        ("shuffle", lambda tf: _seeded(tf, lambda: tf.random.shuffle([1, 2, 3, 4, 5], seed=3))),
        (
            "categorical",
            lambda tf: _seeded(tf, lambda: tf.random.categorical([[0.0, 1.0]], 5, seed=1)),
        ),
        ("gamma", lambda tf: _seeded(tf, lambda: tf.random.gamma([3], 1.5, seed=1))),
        ("stateless_uniform", lambda tf: tf.random.stateless_uniform([3], seed=[1, 2])),
        (
            "stateless_int",
            lambda tf: tf.random.stateless_uniform(
                [4], [1, 2], minval=0, maxval=100, dtype=tf.int32
            ),
        ),
        ("stateless_normal", lambda tf: tf.random.stateless_normal([3], seed=(3, 4))),
        ("stateless_truncated", lambda tf: tf.random.stateless_truncated_normal([3], seed=(3, 4))),
        (
            "stateless_categorical",
            lambda tf: tf.random.stateless_categorical([[0.0, 1.0]], 4, seed=(3, 4)),
        ),
        (
            "stateless_shuffle",
            lambda tf: tf.random.experimental.stateless_shuffle([1, 2, 3, 4], seed=(3, 4)),
        ),
        (
            "stateless_shuffle_in_a_function",
            lambda tf: tf.function(lambda x: tf.random.experimental.stateless_shuffle(x, seed=(3, 4)))(tf.range(9)),
        ),
        (
            "generator",
            lambda tf: [
                (g := tf.random.Generator.from_seed(1)).normal([2]),
                g.uniform([2]),
                g.uniform([2], maxval=9, dtype=tf.int32),
            ],
        ),
        (
            "unseeded_differ",
            lambda tf: bool(tf.reduce_all(tf.random.uniform([4]) == tf.random.uniform([4]))),
        ),
    ],
)

snippet.one_liners(
    "strings",
    [
        (
            "join",
            lambda tf: [
                tf.strings.join(["abc", "def"]),
                tf.strings.join([["a", "b"], "c"], separator=" "),
            ],
        ),
        (
            "length",
            lambda tf: [
                tf.strings.length(["hi", "", "é"]),
                tf.strings.length("é", unit="UTF8_CHAR"),
            ],
        ),
        ("case", lambda tf: [tf.strings.lower("AbC"), tf.strings.upper("AbC")]),
        (
            "substr",
            lambda tf: [
                tf.strings.substr("hello", 1, 3),
                tf.strings.substr(["abc", "defg"], [0, 1], [2, 2]),
            ],
        ),
        ("split", lambda tf: [tf.strings.split("a b  c"), tf.strings.split("a,b", sep=",")]),
        (
            "as_string",
            lambda tf: [
                tf.strings.as_string([3, 2]),
                tf.strings.as_string([3.1415926], precision=2),
                tf.strings.as_string(True),
            ],
        ),
        (
            "to_number",
            lambda tf: [tf.strings.to_number("1.55"), tf.strings.to_number(["3", "4"], tf.int32)],
        ),
        (
            "regex",
            lambda tf: [
                tf.strings.regex_replace("Text with tags", "[aeiou]", "_"),
                tf.strings.regex_full_match(["TF lib", "lib TF"], ".*lib$"),
            ],
        ),
        (
            "reduce_join",
            lambda tf: [
                tf.strings.reduce_join([["abc", "123"], ["def", "456"]]),
                tf.strings.reduce_join([["a", "b"]], axis=-1, separator="-"),
            ],
        ),
        ("strip", lambda tf: tf.strings.strip(["\n a ", "b\t"])),
        ("hash", lambda tf: tf.strings.to_hash_bucket_fast(["Hello", "World"], 1000)),
        (
            "format",
            lambda tf: [
                tf.strings.format("tensor: {}, suffix", tf.range(10)),
                tf.strings.format("{} {}", (tf.constant(1), tf.constant("s"))),
            ],
        ),
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
        (
            "flip",
            lambda tf: [
                tf.image.flip_left_right(_image(tf)[0]),
                tf.image.flip_up_down(_image(tf)[0]),
            ],
        ),
        (
            "crop",
            lambda tf: tf.image.crop_and_resize(_image(tf), [[0.0, 0.0, 0.5, 0.5]], [0], [2, 2]),
        ),
    ],
)
