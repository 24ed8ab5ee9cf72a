"""Tracing, retracing, side effects, variables, printing, errors."""
import tensorflow as tf


@tf.function
def double(a):
    print("Tracing with", a)
    return a + a


print(double(tf.constant(1)))
print(double(tf.constant(1.1)))
print(double(tf.constant("a")))
double_strings = double.get_concrete_function(tf.constant("a"))
print(double_strings(tf.constant("b")), double_strings(a=tf.constant("c")))
print(double.get_concrete_function(tf.TensorSpec(shape=[], dtype=tf.string))(tf.constant("d")))
print(double_strings.structured_input_signature, double_strings.structured_outputs)


@tf.function(input_signature=(tf.TensorSpec(shape=[None], dtype=tf.int32),))
def next_collatz(x):
    print("Tracing with", x)
    return tf.where(x % 2 == 0, x // 2, 3 * x + 1)


print(next_collatz(tf.constant([1, 2])))
for bad in (tf.constant([[1, 2], [3, 4]]), tf.constant([1.0, 2.0])):
    try:
        next_collatz(bad)
    except TypeError as e:
        print(e)


@tf.function
def train_one_step(one=True):
    print("Tracing", one)
    return tf.constant(1 if one else 2)


train_one_step(), train_one_step(True), train_one_step(one=True), train_one_step(False)


@tf.function
def f(x):
    print("Traced with", x)
    tf.print("Executed with", x)


f(1)
f(1)
f(2)


@tf.function
def collatz(n):
    steps = 0
    while n != 1:
        if n % 2 == 0:
            n = n // 2
        else:
            n = 3 * n + 1
        steps += 1
        if steps > 100:
            break
    return steps


print(collatz(tf.constant(6)), collatz(tf.constant(27)))


@tf.function
def skipping(xs):
    total = tf.constant(0)
    for x in xs:
        if x < 0:
            continue
        for y in tf.range(x):
            if y == 3:
                break
            total += y
        if total > 20:
            break
    return -total


print(skipping(tf.constant([1, -5, 4, 2])), skipping(tf.constant([5] * 20)))


@tf.function
def fizzbuzz(n):
    for i in tf.range(1, n + 1):
        if i % 15 == 0:
            tf.print("FizzBuzz")
        elif i % 3 == 0:
            tf.print("Fizz", i, sep=":")
        elif i % 5 == 0:
            tf.print("Buzz", summarize=2)
        else:
            tf.print(i)


fizzbuzz(tf.constant(6))


@tf.function
def simulate(n):
    ta = tf.TensorArray(tf.float32, size=0, dynamic_size=True)
    state = tf.zeros([2])
    for i in tf.range(n):
        state += tf.cast(i, tf.float32)
        ta = ta.write(i, state)
    return ta.stack(), ta.size()


print(simulate(4))


class Counter(tf.Module):
    def __init__(self):
        self.count = None

    @tf.function
    def __call__(self):
        if self.count is None:
            self.count = tf.Variable(0)
        return self.count.assign_add(1)


c = Counter()
print(c(), c(), c.count)


@tf.function
def bad(x):
    v = tf.Variable(1.0)
    return v + x


try:
    bad(1.0)
except ValueError as e:
    print(str(e).splitlines()[-1])


@tf.function
def leak(x):
    leaked.append(x + 1)
    return x


leaked = []
leak(tf.constant(1))
print(type(leaked[0]).__name__, leaked[0].dtype)


@tf.function
def branch(x):
    if tf.reduce_sum(x) > 0:
        y = "positive"
        z = x
    else:
        y = "negative"
        z = -x
    return y, z


print(branch(tf.constant([1.0])), branch(tf.constant([-1.0])))


@tf.function
def undefined(x):
    if x > 0:
        y = x
    return y


try:
    undefined(tf.constant(1))
except Exception as e:
    print(type(e).__name__, str(e).splitlines()[-1])


@tf.function
def changes(x):
    y = 0
    while x > 0:
        y = 1.5
        x -= 1
    return y


try:
    print(changes(tf.constant(1)))
except Exception as e:
    print(type(e).__name__, str(e).splitlines()[-1])
print(double.experimental_get_tracing_count(), double.pretty_printed_concrete_signatures())
outer = tf.Variable(1.0)


@tf.function
def nested(x):
    @tf.function
    def inner(y):
        return y * outer

    return inner(x) + inner(x + 1)


print(nested(tf.constant(2.0)))
outer.assign(10.0)
print(nested(tf.constant(2.0)))
tf.config.run_functions_eagerly(True)
print(nested(tf.constant(1.0)), tf.config.functions_run_eagerly())
tf.config.run_functions_eagerly(False)


@tf.function
def assertion(x):
    tf.debugging.assert_positive(x, message="must be positive")
    tf.Assert(tf.reduce_all(x < 10), [x, "too large"])
    return x


print(assertion(tf.constant([1, 2])))
for bad_value in ([-1], [11]):
    try:
        assertion(tf.constant(bad_value))
    except tf.errors.InvalidArgumentError as e:
        print([line for line in str(e).splitlines() if "assert" in line or "large" in line][-1])
py = []


@tf.function
def side(x):
    py.append(1)
    a = tf.numpy_function(lambda t: t * 2, [x], tf.float32)
    b = tf.py_function(lambda t: t.numpy() + 1, [x], tf.float32)
    return a + b


print(side(tf.constant(3.0)), side(tf.constant(4.0)), len(py))
