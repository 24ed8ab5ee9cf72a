"""Examples that do not fit what is asked of them, rows of text, other refusals."""

import tensorflow as tf

example = tf.train.Example(
    features=tf.train.Features(
        feature={
            "a": tf.train.Feature(int64_list=tf.train.Int64List(value=[1, 2])),
            "s": tf.train.Feature(bytes_list=tf.train.BytesList(value=[b"x"])),
        }
    )
)
text = example.SerializeToString()
fixed = tf.io.FixedLenFeature


def attempt(function, *args, **kwargs):
    try:
        print(function(*args, **kwargs))
    except Exception as e:
        print(type(e).__name__, e)


for parse, given in ((tf.io.parse_single_example, text), (tf.io.parse_example, [text, text])):
    attempt(parse, given, {"a": fixed([3], tf.int64)})
    attempt(parse, given, {"zz": fixed([], tf.int64)})
    attempt(parse, given, {"a": fixed([2], tf.float32)})
    attempt(parse, given, {"a": fixed([2], tf.int64), "s": tf.io.VarLenFeature(tf.int64)})
    attempt(parse, given, {"s": fixed([3], tf.string)})
    attempt(parse, given, {"a": fixed([2], tf.int64), "s": tf.io.VarLenFeature(tf.string), "d": fixed([], tf.float32, 3.0)})
attempt(tf.io.decode_csv, ["1,x"], [[0], [1.0]])
attempt(tf.strings.unicode_decode, b"\xff\xfe", "UTF-8", errors="strict")
attempt(tf.io.decode_png, b"notpng")
attempt(tf.nest.map_structure, 3, [1])
attempt(tf.nest.pack_sequence_as, 1, [1, 2])
attempt(tf.switch_case, tf.constant(1), {0: lambda: 1, 2: lambda: 3})
v = tf.Variable([1, 2])
print(v[0].assign(9))
try:
    v[0] = 1
except TypeError as e:
    print(e)
