"""Checkpoints restored before their objects are there, signatures with names of their own."""

import os
import tempfile

import tensorflow as tf

folder = tempfile.mkdtemp()


class Inner(tf.Module):
    pass


first = tf.train.Checkpoint(v=tf.Variable(3.0), m=Inner())
first.m.w = tf.Variable([5.0])
path = first.save(os.path.join(folder, "ck"))
later = tf.train.Checkpoint()
status = later.restore(path)
later.v = tf.Variable(0.0)
print(later.v)
later.m = Inner()
later.m.w = tf.Variable([0.0])
print(later.m.w, status.assert_consumed() is status)


class Model(tf.Module):
    def __init__(self):
        super().__init__()
        self.scale = tf.Variable(2.0)

    @tf.function
    def __call__(self, x):
        return {"out": x * self.scale}


model = Model()
model(tf.constant([1.0, 2.0]))
plain = model.__call__.get_concrete_function(tf.TensorSpec([None]))
named = model.__call__.get_concrete_function(tf.TensorSpec([None], name="rows"))
print([t.name for t in plain.inputs][:1], [t.name for t in named.inputs][:1])
target = os.path.join(folder, "model")
tf.saved_model.save(model, target, signatures={"serving_default": named})
print(sorted(os.listdir(os.path.join(target, "variables"))))
loaded = tf.saved_model.load(target)
serve = loaded.signatures["serving_default"]
print(serve(rows=tf.constant([4.0])), loaded.signatures, serve)
for kwargs in ({}, {"x": tf.constant([1.0])}):
    try:
        serve(**kwargs)
    except TypeError as e:
        print(e)
try:
    tf.saved_model.save(3, target)
except ValueError as e:
    print(e)


class Empty:
    @tf.function(input_signature=())
    def zero(self):
        return tf.constant(0)


print(Empty().zero.get_concrete_function())
