"""Names of modules and variables."""

import os

import numpy as np
import tensorflow as tf

class M(tf.Module):

    def __init__(self, name=None):
        super().__init__(name)
        self.b = tf.Variable(1.0, name='b')
        self.a = [tf.Variable(2.0, name='a0'), {'k': tf.Variable(3.0, name='k'), 'c': tf.Variable(4.0, name='c')}]
        self.t = (tf.Variable(5.0),)
        self.sub = [M2(), M2('other')]
        self.n = 3
        self.none = None

    @tf.Module.with_name_scope
    def make(self):
        self.z = tf.Variable(0.0, name='z')
        return self.z.name

class M2(tf.Module):

    def __init__(self, name=None):
        super().__init__(name)
        with self.name_scope:
            self.v = tf.Variable(9.0, name='v')
m = M()
print([v.name for v in m.variables])
print([s.name for s in m.submodules])
print(m.make())
print(m.name)
try:
    M(name='a b')
except ValueError as e:
    print(e)
try:
    tf.Module(name='1a')
except ValueError as e:
    print(e)

class NoInit(tf.Module):

    def __init__(self):
        self.x = tf.Variable(1.0)
n = NoInit()
try:
    print(n.variables)
except Exception as e:
    print(type(e).__name__, e)
try:
    print(n.name)
except Exception as e:
    print(type(e).__name__, e)
with tf.name_scope('outer') as s:
    print(s)
    print(tf.Variable(1.0, name='q').name)
    mm = M2()
    print(mm.v.name, mm.name_scope.name)

class A(tf.Module):
    pass
a = A()
a.x = tf.Variable(1.0)
a.y = a
print(len(a.variables), len(a.submodules))
print(A().name, type('HTTPServer2', (tf.Module,), {})().name)
