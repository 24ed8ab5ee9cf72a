import emplace.compat.v1 as tf


def attempt(action):
    try:
        print(action())
    except ValueError as error:
        print("ValueError -", str(error).split(" Originally defined at")[0])


def layer(size):
    weights = tf.get_variable("weights", [2, size], initializer=tf.ones_initializer())
    bias = tf.get_variable("bias", [size], initializer=tf.zeros_initializer())
    return weights, bias


with tf.variable_scope("first"):
    w1, b1 = layer(3)
with tf.variable_scope("second") as second:
    w2, b2 = layer(4)
    print(second.name, second.reuse, second.original_name_scope)
with tf.variable_scope("first", reuse=True):
    w3, b3 = layer(3)
print(w1.name, b1.name, w2.name, b2.name)
print(w3 is w1, b3 is b1)

with tf.variable_scope(second, reuse=True):
    print(tf.get_variable("bias", [4]) is b2)
with tf.variable_scope("outer"):
    with tf.variable_scope("inner"):
        v = tf.get_variable("v", shape=(), dtype=tf.int64, initializer=tf.zeros_initializer())
        same_scope = tf.get_variable_scope()
        print(v.name, v.dtype.base_dtype, v.shape, same_scope.name)
        tensor = tf.identity(v, name="copy")
        print(tensor.name)
for _ in range(2):
    with tf.variable_scope("auto", reuse=tf.AUTO_REUSE):
        auto = tf.get_variable("value", [1])
        print(auto.name, tf.add(auto, 1.0).name)
with tf.variable_scope("outer"):
    print(tf.constant(0, name="c").name)
with tf.variable_scope("", reuse=tf.AUTO_REUSE):
    print(tf.get_variable("root", [1]).name)
with tf.variable_scope("defaults", initializer=tf.constant_initializer(7.0), dtype=tf.float64):
    seven = tf.get_variable("seven", [2])
    print(seven.dtype)
with tf.variable_scope(None, default_name="made"):
    print(tf.get_variable("v", [1]).name)
with tf.variable_scope(None, default_name="made"):
    print(tf.get_variable("v", [1]).name)
with tf.variable_scope("reused"):
    tf.get_variable("v", [1])
    tf.get_variable_scope().reuse_variables()
    print(tf.get_variable("v", [1]).name, tf.get_variable_scope().reuse)


def again():
    with tf.variable_scope("first"):
        return tf.get_variable("weights", [2, 3])


def missing():
    with tf.variable_scope("first", reuse=True):
        return tf.get_variable("nowhere", [2])


def other_shape():
    with tf.variable_scope("first", reuse=True):
        return tf.get_variable("weights", [5, 5])


def other_dtype():
    with tf.variable_scope("first", reuse=True):
        return tf.get_variable("weights", [2, 3], dtype=tf.float64)


def no_shape():
    return tf.get_variable("shapeless")


def shape_twice():
    return tf.get_variable("twice", shape=[2], initializer=tf.constant([1.0, 2.0]))


for action in (again, missing, other_shape, other_dtype, no_shape, shape_twice):
    attempt(action)

print([v.op.name for v in tf.trainable_variables()])
print([v.op.name for v in tf.trainable_variables(scope="first")])
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    print(sess.run([w1, b1]))
    print(sess.run(seven), sess.run(v))
