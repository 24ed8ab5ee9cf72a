"""Python control flow in functions."""

import os

import numpy as np
import tensorflow as tf

@tf.function
def f(x):
    while tf.reduce_sum(x) > 1:
        tf.print(x)
        x = tf.tanh(x)
    return x
print(f(tf.constant([0.5, 0.6, 0.7])))

@tf.function
def fizzbuzz(n):
    for i in tf.range(1, n + 1):
        print('Tracing for loop')
        if i % 15 == 0:
            print('Tracing fizzbuzz branch')
            tf.print('fizzbuzz')
        elif i % 3 == 0:
            print('Tracing fizz branch')
            tf.print('fizz')
        elif i % 5 == 0:
            print('Tracing buzz branch')
            tf.print('buzz')
        else:
            print('Tracing default branch')
            tf.print(i)
fizzbuzz(tf.constant(5))
fizzbuzz(tf.constant(20))

@tf.function
def g(n):
    s = 0
    for i in tf.range(n):
        if i == 2:
            continue
        if i > 5:
            break
        s += i
    return s
print(g(tf.constant(10)))

@tf.function
def early(x):
    if x > 0:
        return x * 2
    if x < -5:
        return x
    return -x
print(early(tf.constant(3)), early(tf.constant(-3)), early(tf.constant(-30)))

@tf.function
def nested(n):
    t = tf.constant(0)
    for i in tf.range(n):
        for j in range(3):
            if tf.equal(i, j):
                t += i * j
            else:
                t -= 1
    return t
print(nested(tf.constant(4)))

@tf.function
def dyn(input_data, rnn_step, initial_state):
    max_seq_len = tf.shape(input_data)[0]
    states = tf.TensorArray(tf.float32, size=max_seq_len)
    state = initial_state
    for i in tf.range(max_seq_len):
        state = rnn_step(input_data[i], state)
        states = states.write(i, state)
    return tf.transpose(states.stack(), [1, 0])
print(dyn(tf.ones([3, 2]), lambda a, b: a + b, tf.zeros([2])))
for name, src in {'undef': 'if x>0:\n        y=1\n    return y', 'types': 'if x>0:\n        y=1\n    else:\n        y=1.0\n    return y', 'loopshape': 'y=tf.ones([1])\n    while tf.reduce_sum(y)<5:\n        y=tf.concat([y,y],0)\n    return y', 'none': 'if x>0:\n        y=tf.constant(1)\n    else:\n        y=None\n    return y', 'loopdtype': 'y=1\n    for i in tf.range(x):\n        y=y*1.5\n    return y', 'loopundef': 'for i in tf.range(x):\n        z=i\n    return z', 'assert': "assert x>5, 'too small'\n    return x", 'andor': 'if x>0 and x<10 or x==100:\n        return 1\n    else:\n        return 0', 'ternary': 'return 1 if x>0 else 2', 'not': 'return not (x>0)', 'whileelse': 'while x<5:\n        x+=1\n    return x', 'rangepy': 'for i in range(x):\n        tf.print(i)\n    return x', 'enum': 's=0\n    for i,v in enumerate(tf.range(x)):\n        s+=v*tf.cast(i,tf.int32)\n    return s', 'zip': 's=0\n    for a,b in zip(tf.range(x),tf.range(x)):\n        s+=a*b\n    return s', 'print': "print('py', x)\n    return x", 'len': 'return len(tf.range(x))', 'int': 'return int(x)', 'float': 'return float(x)+1.', 'abs': 'return abs(x)', 'max': 'return max(x,3)', 'any': 'return any(x>tf.constant([1,2]))', 'sorted': 'return sorted(tf.constant([3,1,2]))', 'sum': 'return sum(tf.constant([1,2]))', 'global': 'global GG\n    GG=x\n    return x', 'tryex': 'try:\n        y=x+1\n    except ValueError:\n        y=x\n    return y', 'with': "with tf.name_scope('a'):\n        if x>0:\n            x=x+1\n    return x", 'lambda': 'f=lambda z: z if z>0 else -z\n    return f(x)', 'listcomp': 'return [i*x for i in range(3)]', 'dataset': 's=0\n    for v in tf.data.Dataset.range(3):\n        s+=tf.cast(v,tf.int32)*x\n    return s', 'dict': "d={'a':x}\n    if x>0:\n        d['a']=x+1\n    return d", 'raise': "if x>0:\n        raise ValueError('bad')\n    return x"}.items():
    code = f'def f(x):\n    {src}\n'
    import linecache
    fn = f'<{name}>'
    linecache.cache[fn] = (len(code), None, code.splitlines(True), fn)
    ns = {'tf': tf, 'np': np}
    exec(compile(code, fn, 'exec'), ns)
    for arg in (tf.constant(3),):
        try:
            print(name, tf.function(ns['f'])(arg))
        except Exception as e:
            print(name, type(e).__name__, str(e)[:600])
