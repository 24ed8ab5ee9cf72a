"""Modules and their variables."""

import os

import numpy as np
import tensorflow as tf

class SimpleModule(tf.Module):

    def __init__(self, name=None):
        super().__init__(name=name)
        self.a_variable = tf.Variable(5.0, name='train_me')
        self.non_trainable_variable = tf.Variable(5.0, trainable=False, name='do_not_train_me')

    def __call__(self, x):
        return self.a_variable * x + self.non_trainable_variable
simple_module = SimpleModule(name='simple')
print(simple_module(tf.constant(5.0)))
print('trainable variables:', simple_module.trainable_variables)
print('all variables:', simple_module.variables)

class Dense(tf.Module):

    def __init__(self, in_features, out_features, name=None):
        super().__init__(name=name)
        self.w = tf.Variable(tf.ones([in_features, out_features]), name='w')
        self.b = tf.Variable(tf.zeros([out_features]), name='b')

    def __call__(self, x):
        y = tf.matmul(x, self.w) + self.b
        return tf.nn.relu(y)

class SequentialModule(tf.Module):

    def __init__(self, name=None):
        super().__init__(name=name)
        self.dense_1 = Dense(in_features=3, out_features=3)
        self.dense_2 = Dense(in_features=3, out_features=2)

    def __call__(self, x):
        x = self.dense_1(x)
        return self.dense_2(x)
my_model = SequentialModule(name='the_model')
print('Model results:', my_model(tf.constant([[2.0, 2.0, 2.0]])))
print('Submodules:', [type(m).__name__ for m in my_model.submodules])
for var in my_model.variables:
    print(var, '\n')

class FlexibleDenseModule(tf.Module):

    def __init__(self, out_features, name=None):
        super().__init__(name=name)
        self.is_built = False
        self.out_features = out_features

    def __call__(self, x):
        if not self.is_built:
            self.w = tf.Variable(tf.ones([x.shape[-1], self.out_features]), name='w')
            self.b = tf.Variable(tf.zeros([self.out_features]), name='b')
            self.is_built = True
        return tf.nn.relu(tf.matmul(x, self.w) + self.b)
m = FlexibleDenseModule(2)
print(m(tf.ones([1, 3])))
print(m.name, m.name_scope.name if hasattr(m.name_scope, 'name') else m.name_scope)
import tempfile
d = tempfile.mkdtemp()
checkpoint = tf.train.Checkpoint(model=my_model)
p = checkpoint.write(d + '/c')
print(os.path.basename(p))
print(tf.train.list_variables(d + '/c'))
new = SequentialModule()
new.dense_1.w.assign(tf.zeros([3, 3]))
st = tf.train.Checkpoint(model=new).restore(d + '/c')
print(new(tf.constant([[2.0, 2.0, 2.0]])))
print(type(st).__name__)
