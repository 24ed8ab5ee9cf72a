"""Writes cases.txt: the bits of TensorFlow's random operations on the CPU.

A line is `kind dtype seed seed2 call low high count bits`: `kind` the operation, `call` how often
it had run before, `bits` the output's bytes in hex or, over 64 bytes, their FNV-1a hash after `#`.
`keys` lines give the key and counter that scrambled seeds lead to.
A graph's operation runs twice, the second run going on where the first stopped.
"""
import os
import pathlib

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import numpy as np
import tensorflow as tf

REAL = {"float": tf.float32, "double": tf.float64, "half": tf.float16, "bfloat16": tf.bfloat16}
INTS = {"int32": tf.int32, "int64": tf.int64}
FULL = INTS | {"uint32": tf.uint32, "uint64": tf.uint64}
WORDS = {2: tf.uint16, 4: tf.uint32, 8: tf.uint64}
SEEDS = [(0, 1), (1, 0), (87654321, 42), (-1, -7), (1 << 40, (1 << 62) + 5)]
COUNTS = [1, 3, 4, 5, 7, 17, 1000, 65537]
RANGES = [(0, 10), (-5, 3), (-(1 << 31), (1 << 31) - 1)]


def bits(t):
    raw = t.numpy().tobytes()
    if len(raw) <= 64:
        return raw.hex()
    h = 0xCBF29CE484222325
    for b in raw:
        h = (h ^ b) * 0x100000001B3 & (1 << 64) - 1
    return f"#{h:016x}"


def lines():
    ops = tf.raw_ops
    kinds = [("uniform", ops.RandomUniform, ops.StatelessRandomUniform,
              ops.StatelessRandomUniformV2),
             ("normal", ops.RandomStandardNormal, ops.StatelessRandomNormal,
              ops.StatelessRandomNormalV2),
             ("truncated", ops.TruncatedNormal, ops.StatelessTruncatedNormal,
              ops.StatelessTruncatedNormalV2)]
    for kind, op, stateless, stateless2 in kinds:
        for name, dtype in REAL.items():
            for seed in SEEDS:
                for count in COUNTS if seed[0] == 1 else COUNTS[:5]:
                    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
                        out = op(shape=[count], seed=seed[0], seed2=seed[1], dtype=dtype)
                        raw = tf.bitcast(out, WORDS[dtype.size])
                        runs = [session.run(raw) for _ in range(2)]
                    for call, run in enumerate(runs):
                        yield kind, name, *seed, call, 0, 0, count, bits(tf.constant(run))
                    out = stateless(shape=[count], seed=tf.constant(seed, tf.int64), dtype=dtype)
                    yield kind + "-stateless", name, *seed, 0, 0, 0, count, bits(out)
                    key = tf.constant([seed[0] % (1 << 64)], tf.uint64)
                    counter = tf.constant([seed[1] % (1 << 64), 3], tf.uint64)
                    out = stateless2(shape=[count], key=key, counter=counter, alg=1, dtype=dtype)
                    yield kind + "-keyed", name, *seed, 0, 0, 0, count, bits(out)
    for name, dtype in INTS.items():
        for low, high in RANGES:
            for seed in SEEDS:
                for count in COUNTS[:7]:
                    lo, hi = tf.constant(low, dtype), tf.constant(high, dtype)
                    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
                        out = ops.RandomUniformInt(shape=[count], seed=seed[0], seed2=seed[1],
                                                   minval=tf.constant(low, dtype),
                                                   maxval=tf.constant(high, dtype))
                        runs = [session.run(out) for _ in range(2)]
                    for call, run in enumerate(runs):
                        yield "int", name, *seed, call, low, high, count, bits(tf.constant(run))
                    out = ops.StatelessRandomUniformInt(shape=[count], minval=lo, maxval=hi,
                                                        seed=tf.constant(seed, tf.int64))
                    yield "int-stateless", name, *seed, 0, low, high, count, bits(out)
    for name, dtype in FULL.items():
        for seed in SEEDS:
            for count in COUNTS[:7]:
                out = ops.StatelessRandomUniformFullInt(shape=[count], dtype=dtype,
                                                        seed=tf.constant(seed, tf.int64))
                yield "full-stateless", name, *seed, 0, 0, 0, count, bits(out)
    for seed in SEEDS + [(5, 6), (-2, 3)]:
        key, counter = ops.StatelessRandomGetKeyCounter(seed=tf.constant(seed, tf.int64))
        words = np.concatenate([key.numpy(), counter.numpy()]).astype(np.uint64)
        yield "keys", "uint64", *seed, 0, 0, 0, 3, words.tobytes().hex()


if __name__ == "__main__":
    text = "".join(" ".join(map(str, line)) + "\n" for line in lines())
    pathlib.Path(__file__).with_name("cases.txt").write_text(text)
