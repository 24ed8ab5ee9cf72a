"""Constants of every dtype, strings, random numbers."""

import numpy as np

from case import Case, case, table

DTYPES = "float16 bfloat16 float32 float64 int8 int16 int32 int64 uint8 uint16 uint32 uint64 complex64 complex128 bool".split()
table("constant", [(d, lambda tf, d=d: tf.identity(tf.constant(np.array([[1, 0], [1, 1]]).astype(tf.as_dtype(d).as_numpy_dtype), d))) for d in DTYPES])
table("feed", [(d, lambda tf, d=d: _fed(tf, d)) for d in DTYPES if d != "bfloat16"])


def _fed(tf, dtype):
    x = tf.placeholder(dtype, [None])
    return Case([tf.identity(x)], {x: np.array([1, 0, 1]).astype(dtype)})


@case
def constant_all_alike(tf):
    return tf.constant(3.5, shape=[100, 3])


@case
def constant_empty(tf):
    return [tf.constant([], tf.float32), tf.zeros([0, 3]), tf.zeros([2, 0], tf.string)]


@case
def constant_scalar_string(tf):
    return tf.constant("hello")


# ---- Strings.
table("string", [
    ("join", lambda tf: tf.strings.join([tf.constant(["a", "b"]), tf.constant(["x", ""])], "-")),
    ("length", lambda tf: tf.strings.length(["abc", "", "é"])), ("lower_upper", lambda tf: [tf.strings.lower(["Ab"]), tf.strings.upper(["Ab"])]),
    ("substr", lambda tf: tf.strings.substr(["hello", "world"], 1, 3)), ("as_string", lambda tf: [tf.as_string([1.5, 2.0]), tf.as_string([7, -1])]),
    ("to_number", lambda tf: tf.strings.to_number(["1.5", "-2"])), ("strip", lambda tf: tf.strings.strip([" a ", "b"])),
    ("regex_replace", lambda tf: tf.strings.regex_replace(["banana"], "a(n)", "<\\1>")),
    ("regex_match", lambda tf: tf.strings.regex_full_match(["ab", "abc"], "a.")), ("reduce_join", lambda tf: tf.strings.reduce_join([["a", "b"], ["c", "d"]], 1)),
    ("hash_fast", lambda tf: tf.strings.to_hash_bucket_fast(["a", "bc"], 97)), ("equal", lambda tf: tf.equal(["a", "b"], ["a", "c"])),
    ("gather", lambda tf: tf.gather(["a", "b", "c"], [2, 0])), ("format", lambda tf: tf.strings.format("x={}", tf.constant([1, 2]))),
    ("encode", lambda tf: [tf.io.encode_base64("hi?"), tf.io.decode_base64(tf.io.encode_base64("hi"))]),
    ("decode_raw", lambda tf: tf.io.decode_raw(tf.constant(["abcd"]), tf.uint8)),
])


@case
def string_fed(tf):
    x = tf.placeholder(tf.string, [None])
    return Case([tf.strings.join([x, "!"])], {x: np.array([b"one", b"", b"three"], dtype=object)})


# ---- Random numbers: equal in bits.
table("random", [
    ("uniform", lambda tf: tf.random_uniform([100], seed=7)), ("uniform_range", lambda tf: tf.random_uniform([3, 5], -2.0, 5.0, seed=3)),
    ("uniform_int", lambda tf: tf.random_uniform([50], 0, 1000, tf.int32, seed=5)), ("uniform_int64", lambda tf: tf.random_uniform([50], 0, 10**12, tf.int64, seed=5)),
    ("normal", lambda tf: tf.random_normal([101], seed=9)), ("normal_double", lambda tf: tf.random_normal([20], dtype=tf.float64, seed=9)),
    ("truncated", lambda tf: tf.truncated_normal([64], seed=2)), ("graph_seed_only", lambda tf: [tf.random_uniform([4]), tf.random_normal([4])]),
    ("shuffle", lambda tf: tf.random_shuffle(tf.range(20), seed=4)), ("multinomial", lambda tf: tf.random.categorical([[0.1, 0.5, 0.4]], 20, seed=6)),
    ("gamma", lambda tf: tf.random.gamma([10], 2.0, seed=8)), ("stateless_uniform", lambda tf: tf.random.stateless_uniform([10], [1, 2])),
    ("stateless_normal", lambda tf: tf.random.stateless_normal([11], [3, 4])), ("stateless_int", lambda tf: tf.random.stateless_uniform([10], [1, 2], 0, 99, tf.int32)),
    ("stateless_truncated", lambda tf: tf.random.stateless_truncated_normal([9], [5, 6])), ("half", lambda tf: tf.random_uniform([16], dtype=tf.float16, seed=1)),
    ("dropout", lambda tf: tf.nn.dropout(tf.ones([50]), rate=0.4, seed=3)),
])


@case
def random_two_runs(tf):
    return Case([tf.random_uniform([5], seed=11), tf.random_normal([5], seed=12)], steps=3)


# ---- Linear algebra.
M = np.array([[4.0, 1.0], [1.0, 3.0]], np.float32)
table("linalg", [
    ("cholesky", lambda tf: tf.linalg.cholesky(M)), ("inverse", lambda tf: tf.linalg.inv(M)), ("det", lambda tf: tf.linalg.det(M)),
    ("solve", lambda tf: tf.linalg.solve(M, [[1.0], [2.0]])), ("band_part", lambda tf: tf.linalg.band_part(M, 0, -1)),
    ("triangular_solve", lambda tf: tf.linalg.triangular_solve(M, [[1.0], [2.0]])), ("eigvalsh", lambda tf: tf.linalg.eigvalsh(M)),
    ("trace", lambda tf: tf.linalg.trace(M)), ("cross", lambda tf: tf.linalg.cross([1.0, 2.0, 3.0], [3.0, 1.0, 2.0])),
])
