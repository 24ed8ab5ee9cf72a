"""Loops and branches: written in Python, and by function."""
import tensorflow as tf


@tf.function
def nested(n, m):
    total = tf.constant(0)
    for i in tf.range(n):
        j = tf.constant(0)
        while j < m:
            j += 1
            if (i + j) % 2 == 0:
                continue
            if j > 4:
                break
            total += i * j
    return total


print(nested(tf.constant(4), tf.constant(7)))


@tf.function
def logic(x, y):
    if x > 0 and y > 0 or not (x > -5):
        return "both or far"
    elif x > 0:
        return "x"
    else:
        return "none"


for a, b in ((1, 1), (1, -1), (-1, 1), (-9, 0)):
    print(logic(tf.constant(a), tf.constant(b)))


@tf.function
def chained(x):
    return 1 if 0 < x < 10 else -1


print(chained(tf.constant(5)), chained(tf.constant(50)))


@tf.function
def dicts(x):
    state = {"i": tf.constant(0), "pair": (x, x * 2)}
    for _ in range(3):
        state["i"] += 1
    while state["i"] < 10:
        state = {"i": state["i"] + 2, "pair": (state["pair"][1], state["pair"][0])}
    return state


print(dicts(tf.constant(1.5)))


@tf.function
def lists(n):
    items = []
    for i in range(3):
        items.append(i * n)
    return items, len(items), sum(items), list(zip(items, "abc"))[0][0], [k for k in items if k is not None]


print(lists(tf.constant(2)))


@tf.function
def iterate(t):
    out = tf.zeros([2])
    k = 0.0
    for row in t:
        out += row * k
        k += 1.0
    return out


print(iterate(tf.constant([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])))


@tf.function
def loop_with_array(xs):
    ta = tf.TensorArray(tf.int32, size=tf.shape(xs)[0])
    for i in tf.range(tf.shape(xs)[0]):
        ta = ta.write(i, xs[i] ** 2)
    return ta.stack(), ta.read(1), ta.gather([0, 1])


print(loop_with_array(tf.constant([1, 2, 3])))
ta = tf.TensorArray(tf.float32, size=3, clear_after_read=False, element_shape=[2])
ta = ta.write(0, [1.0, 2.0]).write(2, [5.0, 6.0]).write(1, [3.0, 4.0])
print(ta.stack(), ta.concat(), ta.size(), ta.element_shape, ta.dtype)
print(tf.TensorArray(tf.int32, 0, dynamic_size=True).unstack([1, 2, 3]).scatter([4], [[9]]).stack() if False else tf.TensorArray(tf.int32, 3).unstack([1, 2, 3]).split if False else tf.TensorArray(tf.int32, 3).unstack([1, 2, 3]).stack())
print(tf.cond(tf.constant(True), lambda: tf.constant(1), lambda: tf.constant(2)), tf.cond(tf.constant(1) > 2, lambda: (1, "a"), lambda: (2, "b")))
print(tf.case([(tf.constant(False), lambda: 1), (tf.constant(True), lambda: 2)], default=lambda: 3), tf.switch_case(tf.constant(5), [lambda: 10, lambda: 20], default=lambda: 30), tf.switch_case(tf.constant(1), {0: lambda: "p", 1: lambda: "q"}))
print(tf.while_loop(lambda i, s: i < 5, lambda i, s: (i + 1, s + i), [tf.constant(0), tf.constant(0)]), tf.while_loop(lambda i: True, lambda i: [i + 1], [0], maximum_iterations=7))
print(tf.map_fn(lambda x: x * 2, tf.range(4)), tf.map_fn(lambda t: (t[0] + t[1], t[0]), (tf.range(3), tf.range(3)), fn_output_signature=(tf.int32, tf.int32)), tf.scan(lambda a, x: a + x, tf.range(1, 5)), tf.foldl(lambda a, x: a * 2 + x, tf.range(4)), tf.foldr(lambda a, x: a - x, tf.range(4)), tf.vectorized_map(lambda r: tf.reduce_sum(r), tf.ones([2, 3])))


@tf.function
def graph_flow(x):
    a = tf.cond(x > 0, lambda: x, lambda: -x)
    b = tf.while_loop(lambda i: i < 10.0, lambda i: i * 2.0 + 1.0, [a])[0]
    c = tf.map_fn(lambda v: v + a, tf.stack([a, b]))
    return a, b, tf.scan(lambda s, v: s + v, c), tf.switch_case(tf.cast(x, tf.int32), [lambda: 0, lambda: 1], lambda: 2)


print(graph_flow(tf.constant(1.0)), graph_flow(tf.constant(-3.0)))


@tf.function
def powers(x, n):
    result = tf.ones_like(x)
    for _ in tf.range(n):
        result *= x
    return result


x = tf.Variable(3.0)
with tf.GradientTape() as tape:
    y = powers(x, tf.constant(4))
print(y, tape.gradient(y, x))
with tf.GradientTape() as outer:
    with tf.GradientTape() as inner:
        y = tf.while_loop(lambda i, v: i < 3, lambda i, v: (i + 1, v * x), [0, x])[1]
    g = inner.gradient(y, x)
print(y, g, outer.gradient(g, x))


@tf.function
def grows(n):
    x = tf.ones([1])
    for _ in tf.range(n):
        tf.autograph.experimental.set_loop_options(shape_invariants=[(x, tf.TensorShape([None]))])
        x = tf.concat([x, x], 0)
    return x


print(grows(tf.constant(3)))


@tf.function
def grows_without(n):
    x = tf.ones([1])
    for _ in tf.range(n):
        x = tf.concat([x, x], 0)
    return x


for bad in (lambda: grows_without(tf.constant(2)), lambda: tf.function(lambda t: 1 if t else 2, autograph=False)(tf.constant(True)), lambda: tf.function(lambda t: [1 for _ in t], autograph=False)(tf.constant([1])), lambda: tf.function(lambda t: int(t))(tf.constant(1)), lambda: tf.function(lambda t: t.numpy())(tf.constant(1)), lambda: tf.function(lambda t: float(t), autograph=False)(tf.constant(1.0))):
    try:
        print(bad())
    except Exception as e:
        print(type(e).__name__, str(e).strip().splitlines()[-1][:200])


@tf.function
def recursive(n):
    if tf.executing_eagerly():
        return -1
    return tf.cond(n > 0, lambda: n, lambda: tf.constant(0))


print(recursive(tf.constant(2)), tf.executing_eagerly(), tf.inside_function())
v = tf.Variable(0)


@tf.function
def effects(n):
    for i in tf.range(n):
        if i % 2 == 0:
            v.assign_add(i)
        else:
            v.assign_sub(1)
    return v.read_value()


print(effects(tf.constant(5)), v)


@tf.function
def try_finally(x):
    try:
        y = x + 1
    finally:
        z = 1
    with tf.name_scope("scope"):
        w = tf.identity(y, name="named")
    assert z == 1
    return w


print(try_finally(tf.constant(1)), [op.name for op in try_finally.get_concrete_function(tf.constant(1)).graph.get_operations()])


def outer_function(flag):
    @tf.function
    def made(x):
        nonlocal count
        count += 1
        if flag:
            return x
        return -x

    count = 0
    r = made(tf.constant(1)), made(tf.constant(2)), made(tf.constant(2.0))
    return r, count


print(outer_function(True), outer_function(False))
