import numpy as np

import emplace.compat.v1 as tf

x = tf.constant([7.0, -3.0, 2.0], name="x")
y = tf.constant([2.0, 2.0, -3.0], name="y")
i = tf.constant([7, -7, 6], name="i")
m = tf.constant([[1, 2, 3], [4, 5, 6], [7, 8, 9]], name="m")
t = tf.constant([True, False, True], name="t")
EXPRESSIONS = [
    "x + y",
    "x - y",
    "x * y",
    "x / y",
    "x // y",
    "x % y",
    "x ** 2.0",
    "-x",
    "abs(x)",
    "1.0 + x",
    "1.0 - x",
    "2.0 * x",
    "1.0 / x",
    "2.0 ** y",
    "10.0 // x",
    "10.0 % y",
    "i // 2",
    "i % 4",
    "i / 2",
    "i * 3",
    "+0 + i",
    "x < y",
    "x <= 2.0",
    "x > y",
    "x >= 7.0",
    "t & True",
    "t | False",
    "t ^ t",
    "~t",
    "m @ m",
    "~i",
    "i & 3",
    "i | 1",
    "i ^ 2",
    "m[0]",
    "m[1, 2]",
    "m[-1]",
    "m[:, 1]",
    "m[1:]",
    "m[::2, ::-1]",
    "m[..., 0]",
    "m[tf.newaxis, 1]",
    "m[:, None, 1:3]",
    "m[tf.constant(1)]",
    "m[0:tf.constant(2), 1]",
    "x[1:2]",
    "m[...]",
    "m[5:]",
]
with tf.Session() as sess:
    for text in EXPRESSIONS:
        z = eval(text)
        value = sess.run(z)
        print(
            "%-28s %s %s %s %s"
            % (text, z.op.type, z.dtype.name, z.shape, np.array2string(value).replace("\n", ""))
        )
    print(x == y, x != y, x == x)
    print({x: 1}[x], x in {x}, hash(x) == id(x))
for text in (
    "x + i",
    "x + 'a'",
    "m[1.5]",
    "m['a']",
    "m[0, 0, 0]",
    "t + 1",
    "x & y",
    "1 + x",
    "i + 1.5",
    "m[9]",
    "x[0:1:0]",
    "m[None, ..., ...]",
    "len(x)",
    "bool(x)",
    "list(x)",
    "x in [y, 3]",
):
    try:
        z = eval(text)
        print(text, z if isinstance(z, (int, bool)) else z.shape)
    except Exception as error:
        print(
            text,
            type(error).__name__,
            "-",
            str(error).split("\n")[0].split(" for '")[0].split(". ")[0],
        )
