import numpy as np

import emplace.compat.v1 as tf

a = tf.Variable(3.0, name="a")
b = tf.Variable([[1, 2], [3, 4]], name="b", dtype=tf.int64)
c = tf.Variable(a.initialized_value() * 2.0, name="c")
d = tf.Variable(lambda: tf.fill([2], 9.0), name="d", dtype=tf.float32)
e = tf.Variable(np.float64(1.5), name="e", trainable=False)
u = tf.Variable(tf.random_uniform([2]), validate_shape=False, name="u")
for v in (a, b, c, d, e):
    print(
        v.name,
        v.dtype,
        v.shape,
        v.op.type in ("Variable", "VariableV2"),
        v.initializer.name,
        v.trainable,
    )
print(a)
print(
    [op.name for op in tf.get_default_graph().get_operations() if op.name.startswith(("a", "c/"))]
)
print(
    a.value().name,
    a.read_value().name,
    a.initial_value.name,
    a.device == "",
    a.graph is tf.get_default_graph(),
)
add = a.assign_add(1.0)
print(add.name, add.dtype, (a + 1.0).name, tf.identity(a).name, tf.convert_to_tensor(a).name)
with tf.Session() as sess:
    try:
        sess.run(a)
    except tf.errors.FailedPreconditionError as error:
        print(type(error).__name__, "Attempting to use uninitialized value a" in error.message)
    print(sess.run([tf.is_variable_initialized(a), tf.is_variable_initialized(b)]))
    sess.run(tf.variables_initializer([a, b]))
    print(sess.run([a, b]))
    sess.run(tf.global_variables_initializer())
    print(sess.run([c, d, e]), sess.run(u).shape)
    print(sess.run(a.assign(10.0)), sess.run(add), sess.run(a.assign_sub(0.5)))
    print(sess.run([a * 2.0, a + a, -a, a / 4.0, a**2.0, abs(-a), 1.0 - a, a > 3.0]))
    print(sess.run([b[0], b[:, 1], b + 1, b @ b]))
    a.load(7.0, sess)
    print(a.eval(), a.eval(sess), sess.run("a:0"))
    print(sess.run(tf.assign(b, [[0, 0], [1, 1]])).tolist())
    sess.run(tf.assign_add(b, [[5, 6], [0, 0]]))
    print(sess.run(b).tolist())
    sess.run(tf.scatter_update(b, [1], [[8, 8]]))
    sess.run(tf.scatter_add(b, [0, 0], [[1, 1], [2, 2]]))
    print(sess.run(b).tolist())
    print(sess.run(tf.assign(a, 1.0).op), sess.run(a))
    try:
        sess.run(tf.assign(d, [1.0, 2.0, 3.0]))
    except ValueError as error:
        print("ValueError -", str(error).split(" for '")[0])
    sess.run(tf.assign(d, [1.0, 2.0, 3.0], validate_shape=False))
    print(sess.run(d))
with tf.Session() as fresh:
    print(sorted(fresh.run(tf.report_uninitialized_variables()).tolist()))
for bad in (
    lambda: tf.Variable(),
    lambda: a.assign("text"),
    lambda: a.assign_add([1.0, 2.0]),
    lambda: list(a),
    lambda: tf.Variable(1.0, dtype=tf.int32),
    lambda: tf.Variable(tf.placeholder(tf.float32)),
):
    try:
        print(bad())
    except (TypeError, ValueError) as error:
        print(
            type(error).__name__, "-", str(error).split("\n")[0].split(". ")[0].split(" for '")[0]
        )
