"""Tensors, operations, NumPy: the first pages of a tutorial."""
import numpy as np
import tensorflow as tf

print(tf.math.add(1, 2), tf.math.add([1, 2], [3, 4]), tf.math.square(5), tf.math.reduce_sum([1, 2, 3]))
print(tf.math.square(2) + tf.math.square(3))
x = tf.linalg.matmul([[1]], [[2, 3]])
print(x, x.shape, x.dtype)
ndarray = np.ones([3, 3])
tensor = tf.math.multiply(ndarray, 42)
print(tensor)
print(np.add(tensor, 1))
print(tensor.numpy())
print("on CPU", x.device.endswith("CPU:0"))
ds_tensors = tf.data.Dataset.from_tensor_slices([1, 2, 3, 4, 5, 6])
ds_tensors = ds_tensors.map(tf.math.square).shuffle(2, seed=1).batch(2)
for x in ds_tensors:
    print(x)


class Dense(tf.Module):
    def __init__(self, n_in, n_out, name=None):
        super().__init__(name=name)
        self.w = tf.Variable(tf.fill([n_in, n_out], 0.1), name="w")
        self.b = tf.Variable(tf.zeros([n_out]), name="b")

    def __call__(self, x):
        return tf.nn.relu(x @ self.w + self.b)


class Net(tf.Module):
    def __init__(self):
        super().__init__(name="net")
        self.layers = [Dense(3, 4), Dense(4, 2, name="last")]

    @tf.function
    def __call__(self, x):
        for layer in self.layers:
            x = layer(x)
        return x


net = Net()
print(net.name, net.name_scope.name, [v.name for v in net.trainable_variables], len(net.submodules))
print(net(tf.ones([2, 3])))
print(net.layers[1].name, net.layers[0].variables)
v = tf.Variable([1.0, 2.0], name="kept", trainable=False)
print(v, v.trainable, v.numpy(), v.shape, v.value(), v[0], v + 1, -v, v == v, v.name)
v.assign_add([1.0, 1.0])
v[0].assign(7.0)
print(v, tf.convert_to_tensor(v), tf.reduce_max(v), tf.argmax(v), tf.reshape(v, [1, 2]))
a, b = tf.Variable(2.0), tf.Variable(3.0)
b.assign(a)
a.assign(9.0)
print(a.numpy(), b.numpy(), a.assign_sub(1.0).numpy())
print(repr(tf.constant([[1, 2], [3, 4]], dtype=tf.int16)), tf.zeros([2, 0]), tf.constant("héllo"), tf.constant([True]))
print(f"{tf.constant(1.5):.3f} {tf.constant(3)} {tf.constant([1.25, 2])}")
print(tf.rank(tensor), tf.size(tensor), tf.shape(tensor), tensor.ndim, len(tensor))
for row in tf.constant([[1, 2], [3, 4]]):
    print(row, [int(e) for e in row])
print(tf.constant([1, 2, 3]) > 2, tf.constant(5) % 3, tf.constant(7) // 2, tf.constant(7) / 2, 2 ** tf.constant(3), ~tf.constant(True))
print(tf.cast(3.7, tf.int32), tf.cast([0, 1, 2], tf.bool), tf.complex(1.0, 2.0), tf.cast(True, tf.float32))
