"""Arithmetic, reductions, arrays."""

import numpy as np

from case import Case, table

X = np.array([[0.5, -1.25, 2.0], [3.5, 0.1, -0.75]], np.float32)
P = np.abs(X) + 0.25


def fed(function, value=X):
    def build(tf):
        x = tf.placeholder(value.dtype, [None, *value.shape[1:]], name="x")
        made = function(tf, x)
        return Case(list(made) if isinstance(made, (list, tuple)) else [made], {x: value})

    return build


UNARY = "abs ceil cos cosh erf exp expm1 floor neg:negative reciprocal rint round sigmoid sign sin sinh square tan tanh softplus:nn.softplus relu:nn.relu relu6:nn.relu6 elu:nn.elu selu:nn.selu softsign:nn.softsign leaky_relu:nn.leaky_relu softmax:nn.softmax log_softmax:nn.log_softmax".split()
POSITIVE = "log log1p sqrt rsqrt lgamma digamma".split()


def _named(tf, path):
    found = tf
    for part in path.split("."):
        found = getattr(found, part)
    return found


def _unary(entry, value):
    name, _, path = entry.partition(":")
    spelled = path or (f"math.{name}" if name in ("reciprocal", "rint", "ceil", "negative") else name)
    return name, fed(lambda tf, x: _named(tf, spelled)(x), value)


table("unary", [_unary(e, X) for e in UNARY] + [_unary(e, P) for e in POSITIVE])

BINARY = {
    "add": lambda tf, x, y: x + y, "sub": lambda tf, x, y: x - y, "mul": lambda tf, x, y: x * y, "div": lambda tf, x, y: x / y,
    "floordiv": lambda tf, x, y: x // y, "mod": lambda tf, x, y: x % y, "pow": lambda tf, x, y: tf.pow(tf.abs(x), y),
    "maximum": lambda tf, x, y: tf.maximum(x, y), "minimum": lambda tf, x, y: tf.minimum(x, y), "atan2": lambda tf, x, y: tf.atan2(x, y),
    "squared_difference": lambda tf, x, y: tf.squared_difference(x, y), "less": lambda tf, x, y: x < y,
    "greater_equal": lambda tf, x, y: x >= y, "equal": lambda tf, x, y: tf.equal(x, y), "not_equal": lambda tf, x, y: tf.not_equal(x, y),
    "matmul": lambda tf, x, y: tf.matmul(x, y, transpose_b=True), "broadcast": lambda tf, x, y: x + y[0] * tf.ones([2, 1]),
    "where": lambda tf, x, y: tf.where(x > 0, x, y), "select_scalar": lambda tf, x, y: tf.where_v2(x > 0, x, 0.0),
    "add_n": lambda tf, x, y: tf.add_n([x, y, x]), "logical": lambda tf, x, y: tf.logical_and(x > 0, tf.logical_not(y > 0)),
}


def _binary(function):
    def build(tf):
        x, y = tf.placeholder(tf.float32, [2, 3]), tf.constant([[1.5, 0.5, 2.0], [-0.5, 0.1, 3.0]])
        return Case([function(tf, x, y)], {x: X})

    return build


table("binary", [(n, _binary(f)) for n, f in BINARY.items()])


def _integers(dtype):
    def build(tf):
        x = tf.constant([7, 3, 100, 0], dtype)
        y = tf.constant([2, 5, 9, 1], dtype)
        return [x + y, x * y, x // y, x % y, tf.maximum(x, y), tf.cast(x, tf.float32) / 2, x - y]

    return build


table("integer", [(d, _integers(d)) for d in ("int32", "int64", "int8", "uint8", "int16", "uint16")])


def _cast(to):
    return lambda tf: tf.cast(tf.constant([0.4, 1.6, -2.5, 100.0], tf.float64), to)


table("cast", [(d, _cast(d)) for d in ("float16", "bfloat16", "float32", "int8", "int32", "int64", "bool", "complex64")])

REDUCE = ("sum", "mean", "max", "min", "prod", "logsumexp")
table("reduce", [(f"{r}_{a}", fed(lambda tf, x, r=r, a=a: getattr(tf, f"reduce_{r}")(x, axis=None if a == "all" else int(a), keepdims=a == "1"))) for r in REDUCE for a in ("all", "0", "1")])
table("reduce", [
    ("any", fed(lambda tf, x: tf.reduce_any(x > 3, axis=1))), ("all_true", fed(lambda tf, x: tf.reduce_all(x > -9))),
    ("argmax", fed(lambda tf, x: tf.argmax(x, 1))), ("argmin32", fed(lambda tf, x: tf.argmin(x, 0, output_type=tf.int32))),
    ("cumsum", fed(lambda tf, x: tf.cumsum(x, 1, exclusive=True, reverse=True))), ("cumprod", fed(lambda tf, x: tf.cumprod(x, 0))),
    ("top_k", fed(lambda tf, x: list(tf.nn.top_k(x, 2)))), ("moments", fed(lambda tf, x: list(tf.nn.moments(x, [0])))),
    ("norm", fed(lambda tf, x: tf.norm(x, axis=1))), ("segment_sum", fed(lambda tf, x: tf.segment_sum(x, [0, 0]))),
    ("unsorted_segment_sum", fed(lambda tf, x: tf.unsorted_segment_sum(x, [1, 0], 3))), ("bincount", lambda tf: tf.math.bincount([1, 1, 3, 0])),
])

table("array", [
    ("reshape", fed(lambda tf, x: tf.reshape(x, [3, -1]))), ("transpose", fed(lambda tf, x: tf.transpose(x))),
    ("concat", fed(lambda tf, x: tf.concat([x, x], 0))), ("split", fed(lambda tf, x: tf.split(x, 3, axis=1))),
    ("split_sizes", fed(lambda tf, x: tf.split(x, [1, 2], axis=1))), ("stack", fed(lambda tf, x: tf.stack([x, x * 2], 1))),
    ("unstack", fed(lambda tf, x: tf.unstack(x, 3, axis=1))), ("slice", fed(lambda tf, x: tf.slice(x, [0, 1], [-1, 2]))),
    ("strided_slice", fed(lambda tf, x: [x[0, ::2], x[:, -1], x[..., tf.newaxis], x[1:, :]])), ("gather", fed(lambda tf, x: tf.gather(x, [1, 0, 1]))),
    ("gather_axis", fed(lambda tf, x: tf.gather(x, [2, 0], axis=1))), ("gather_nd", fed(lambda tf, x: tf.gather_nd(x, [[0, 1], [1, 2]]))),
    ("scatter_nd", lambda tf: tf.scatter_nd([[1], [3]], [5.0, 7.0], [4])), ("pad", fed(lambda tf, x: tf.pad(x, [[1, 0], [0, 2]]))),
    ("mirror_pad", fed(lambda tf, x: tf.pad(x, [[1, 1], [1, 1]], "REFLECT"))), ("tile", fed(lambda tf, x: tf.tile(x, [2, 1]))),
    ("expand_squeeze", fed(lambda tf, x: tf.squeeze(tf.expand_dims(x, 1), [1]))), ("one_hot", lambda tf: tf.one_hot([0, 2, 5], 4, on_value=2.0)),
    ("range", lambda tf: [tf.range(5), tf.range(1.0, 2.0, 0.25)]), ("linspace", lambda tf: tf.linspace(0.0, 1.0, 5)),
    ("fill", lambda tf: tf.fill([2, 2], 7)), ("eye", lambda tf: tf.eye(3, 2)), ("reverse", fed(lambda tf, x: tf.reverse(x, [0]))),
    ("roll", fed(lambda tf, x: tf.roll(x, 1, 1))), ("shape_size_rank", fed(lambda tf, x: [tf.shape(x), tf.size(x), tf.rank(x)])),
    ("diag", lambda tf: [tf.linalg.diag([1.0, 2.0]), tf.linalg.diag_part(tf.ones([2, 2]))]), ("sequence_mask", lambda tf: tf.sequence_mask([1, 3], 4)),
    ("unique", lambda tf: list(tf.unique([3, 1, 3, 2]))), ("where_index", fed(lambda tf, x: tf.where(x > 0))),
    ("boolean_mask", fed(lambda tf, x: tf.boolean_mask(x, x > 0))), ("depth_to_space", lambda tf: tf.depth_to_space(tf.ones([1, 1, 1, 4]), 2)),
    ("space_to_batch", lambda tf: tf.space_to_batch_nd(tf.ones([1, 2, 2, 1]), [2, 2], [[0, 0], [0, 0]])),
    ("dynamic_partition", fed(lambda tf, x: tf.dynamic_partition(x, [0, 1], 2))), ("dynamic_stitch", lambda tf: tf.dynamic_stitch([[0, 2], [1]], [[1.0, 2.0], [3.0]])),
    ("broadcast_to", lambda tf: tf.broadcast_to([1, 2], [3, 2])), ("invert_permutation", lambda tf: tf.math.invert_permutation([2, 0, 1])),
    ("searchsorted", lambda tf: tf.searchsorted([1.0, 3.0, 5.0], [0.0, 3.0, 9.0])), ("sort", fed(lambda tf, x: tf.sort(x))),
    ("zeros_ones_like", fed(lambda tf, x: [tf.zeros_like(x), tf.ones_like(x, tf.int32)])), ("einsum", fed(lambda tf, x: tf.einsum("ij,kj->ik", x, x))),
    ("tensordot", fed(lambda tf, x: tf.tensordot(x, x, [[0], [0]]))), ("batch_matmul", lambda tf: tf.matmul(tf.ones([2, 2, 3]), tf.ones([2, 3, 1]))),
])
