"""Functions that are methods."""

import tensorflow as tf


class Adder(tf.Module):
    def __init__(self):
        super().__init__()
        self.by = tf.Variable(1.0)

    @tf.function(input_signature=[tf.TensorSpec([], tf.float32)])
    def add(self, x):
        return x + self.by

    @tf.function
    def twice(self, x, times=2):
        print("tracing", x)
        return x * times

    @tf.function(input_signature=[tf.TensorSpec([None], tf.float32), tf.TensorSpec([], tf.float32)])
    def __call__(self, x, scale=2.0):
        return x * scale


adder = Adder()
print(adder.add(1.0), adder.twice(tf.constant(2)), adder.twice(tf.constant(3)), adder.twice(4), adder([1.0, 2.0]))
print(adder.add.get_concrete_function())
print(adder.add.pretty_printed_concrete_signatures()[:60])
for bad in (lambda: adder.add("x"), lambda: adder.add(), lambda: adder.add(1.0, 2.0), lambda: adder(1.0)):
    try:
        print(bad())
    except (TypeError, ValueError) as e:
        print(type(e).__name__, e)
other = Adder()
other.by.assign(10.0)
print(other.add(1.0), adder.add(1.0), [v.numpy() for v in other.variables])
