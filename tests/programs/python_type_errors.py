import emplace.compat.v1 as tf

x = tf.constant([1.0, 2.0], name="x")
i = tf.constant([1, 2], name="i")
CALLS = {
    "add dtypes": lambda: tf.add(x, i),
    "add string": lambda: tf.add(x, "a"),
    "add float to int": lambda: tf.add(i, 1.5),
    "operator dtypes": lambda: x + i,
    "constant dtype": lambda: tf.constant(1.5, dtype=tf.int32),
    "constant string": lambda: tf.constant("a", dtype=tf.float32),
    "constant shape": lambda: tf.constant([1, 2, 3], shape=[2]),
    "constant none": lambda: tf.constant(None),
    "constant mixed": lambda: tf.constant([1, "a"]),
    "matmul shapes": lambda: tf.matmul(tf.ones([2, 3]), tf.ones([2, 3])),
    "matmul ranks": lambda: tf.matmul(x, x),
    "matmul dtypes": lambda: tf.matmul(tf.ones([1, 1]), tf.ones([1, 1], tf.int32)),
    "reshape": lambda: tf.reshape(x, [3]),
    "concat": lambda: tf.concat([tf.ones([2, 1]), tf.ones([3, 2])], 1),
    "stack": lambda: tf.stack([tf.ones([2]), tf.ones([3])]),
    "placeholder dtype": lambda: tf.placeholder("nothing"),
    "placeholder shape": lambda: tf.placeholder(tf.float32, [-5]),
    "reduce axis": lambda: tf.reduce_sum(x, axis=3),
    "squeeze": lambda: tf.squeeze(x, [0]),
    "cast": lambda: tf.cast(x, "nope"),
    "add_n": lambda: tf.add_n([]),
    "add_n shapes": lambda: tf.add_n([x, tf.ones([3])]),
    "gather": lambda: tf.gather(x, 0.5),
    "expand": lambda: tf.expand_dims(x, 5),
    "transpose": lambda: tf.transpose(tf.ones([2, 2]), [0, 0, 1]),
    "split": lambda: tf.split(tf.ones([5]), 2),
    "eval": lambda: x.eval(),
    "convert dtype": lambda: tf.convert_to_tensor(x, dtype=tf.int32),
    "variable": lambda: tf.Variable(None),
    "select": lambda: tf.where(x, x, x),
    "logical": lambda: tf.logical_and(x, x),
    "broadcast": lambda: tf.add(tf.ones([2]), tf.ones([3])),
    "too big": lambda: tf.constant(2**70),
}
for name, call in CALLS.items():
    try:
        print(name, "gave", call())
    except Exception as error:
        print(
            name,
            "|",
            type(error).__name__,
            "|",
            str(error).split("\n")[0].split(" for '")[0].split(". ")[0],
        )
