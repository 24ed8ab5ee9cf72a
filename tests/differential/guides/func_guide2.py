import timeit
import tensorflow as tf


@tf.function
def add(a, b):
    return a + b


print(add(tf.ones([2, 2]), tf.ones([2, 2])), add(1, 2), add(1.0, 2))


@tf.function
def double(a):
    print("Tracing with", a)
    return a + a


print(double(tf.constant(1)), double(tf.constant(1.1)), double(tf.constant("a")))
print(double.pretty_printed_concrete_signatures())
double_strings = double.get_concrete_function(tf.constant("a"))
print(double_strings(tf.constant("a")), double_strings(a=tf.constant("b")))
print(double.get_concrete_function(tf.TensorSpec(shape=[], dtype=tf.string))(tf.constant("c")))
print(double_strings, double_strings.structured_input_signature, double_strings.structured_outputs)
try:
    double_strings(tf.constant(1))
except Exception as e:
    print(type(e).__name__, str(e).splitlines()[0])


@tf.function(input_signature=(tf.TensorSpec(shape=[None], dtype=tf.int32),))
def next_collatz(x):
    print("Tracing with", x)
    return tf.where(x % 2 == 0, x // 2, 3 * x + 1)


print(next_collatz(tf.constant([1, 2])))
for bad in (tf.constant([[1, 2], [3, 4]]), tf.constant([1.0, 2.0])):
    try:
        next_collatz(bad)
    except TypeError as e:
        print("TypeError", str(e).splitlines()[0])


@tf.function(reduce_retracing=True)
def g(x):
    print("tracing", x.shape)
    return x


g(tf.constant([1, 2, 3])), g(tf.constant([1, 2, 3, 4, 5])), g(tf.constant([1])), g(tf.constant([1, 1]))


@tf.function
def fizzbuzz(n):
    for i in tf.range(1, n + 1):
        if i % 15 == 0:
            tf.print("fizzbuzz", output_stream="file:///dev/null")
        elif i % 5 == 0:
            tf.print("buzz", output_stream="file:///dev/null")
    return i


print(fizzbuzz(tf.constant(20)))


@tf.function
def while_break(x):
    total = 0
    while x < 1000:
        x = x + 1
        if x > 100:
            break
        if x % 2 == 1:
            continue
        total += x
    return total, x


print(while_break(tf.constant(90)))


class Counter(tf.Module):
    def __init__(self):
        self.count = None

    @tf.function
    def __call__(self):
        if self.count is None:
            self.count = tf.Variable(0)
        return self.count.assign_add(1)


c = Counter()
print(c(), c())


@tf.function
def f(x):
    v = tf.Variable(1.0)
    return v.assign_add(x)


try:
    f(1.0)
except ValueError as e:
    print("ValueError:", str(e).splitlines()[0])
external = []


@tf.function
def side(x):
    external.append(x)
    tf.py_function(lambda t: print("py", t.numpy()), [x], [])
    return tf.numpy_function(lambda t: t * 2, [x], tf.int32)


print(side(tf.constant(4)), len(external), external[0])


@tf.function
def dyn(x, *args, scale=2, **kw):
    return x * scale + sum(args) + kw.get("extra", 0)


print(dyn(1, 2, 3, scale=4, extra=tf.constant(5)), dyn.python_function(1))
graph = double_strings.graph
for node in graph.as_graph_def().node:
    print(f"{node.input} -> {node.name}")


@tf.function(autograph=False)
def plain(x):
    return tf.cond(x > 0, lambda: x, lambda: -x)


print(plain(tf.constant(-3)), tf.config.functions_run_eagerly())
tf.config.run_functions_eagerly(True)
print(double(tf.constant(2)))
tf.config.run_functions_eagerly(False)
print(timeit.timeit(lambda: add(1, 2), number=1) < 5)


@tf.function(jit_compile=False)
def rec(x):
    return tf.while_loop(lambda i, s: i < x, lambda i, s: (i + 1, s + i), [0, 0], maximum_iterations=7)


print(rec(tf.constant(5)), rec(tf.constant(50)))


@tf.function
def lists(n):
    l = []
    for i in range(3):
        l.append(tf.constant(i) * n)
    return l, {"sum": tf.add_n(l)}, None


print(lists(tf.constant(2)))
