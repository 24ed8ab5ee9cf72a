import emplace.compat.v1 as tf

p = tf.placeholder(tf.bool, [])
x = tf.placeholder(tf.float32, [])
picked = tf.cond(p, lambda: x * 2.0, lambda: x - 1.0)
i, total = tf.while_loop(lambda i, s: i < 10, lambda i, s: (i + 1, s + i), [0, 0])
nested = tf.while_loop(
    lambda a: a < 100.0, lambda a: tf.cond(a > 10.0, lambda: a * 3.0, lambda: a + 4.0), [x]
)
cased = tf.case(
    [(x < 0.0, lambda: tf.constant(-1)), (x > 0.0, lambda: tf.constant(1))],
    default=lambda: tf.constant(0),
)
squares = tf.map_fn(lambda t: t * t, tf.constant([1.0, 2.0, 3.0]))
running = tf.scan(lambda acc, t: acc + t, tf.constant([1, 2, 3, 4]))
folded = tf.foldl(lambda acc, t: acc * t, tf.constant([1, 2, 3, 4]))
with tf.Session() as sess:
    print(sess.run(picked, {p: True, x: 5.0}), sess.run(picked, {p: False, x: 5.0}))
    print(sess.run([i, total]))
    print(sess.run(nested, {x: 1.0}))
    print([sess.run(cased, {x: value}) for value in (-2.0, 0.0, 2.0)])
    print(sess.run([squares, running, folded]))
try:
    tf.cond(p, lambda: 1.0, lambda: 1)
except (TypeError, ValueError) as error:
    print(type(error).__name__)
print(
    sorted(
        {op.type for op in tf.get_default_graph().get_operations()}
        & {"Switch", "Merge", "Enter", "Exit", "NextIteration", "LoopCond", "If", "While"}
    )
)
