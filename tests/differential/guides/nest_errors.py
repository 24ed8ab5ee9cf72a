"""What is said of structures that differ."""
import tensorflow as tf
import numpy as np, collections
def t(f):
    try: print(f())
    except BaseException as e: print(type(e).__name__,e)
A=collections.namedtuple('A','x y')
s=tf.nest.assert_same_structure
t(lambda:s([1,2],[1]))
t(lambda:s([1,[2,3]],[1,[2]]))
t(lambda:s({'a':1},{'b':1}))
t(lambda:s({'a':1,'c':{'z':1}},{'a':1,'c':{'y':1}}))
t(lambda:s((1,2),[1,2]))
t(lambda:s([1,(2,)],[1,[2]]))
t(lambda:s([1,[2]],[1,2]))
t(lambda:s(1,[2]))
t(lambda:s(A(1,2),(1,2)))
t(lambda:tf.nest.map_structure(lambda a,b:a,[1,2],[1,2,3]))
t(lambda:tf.nest.map_structure(lambda a,b:a,{'a':1},{'a':1,'b':2}))
t(lambda:tf.nest.pack_sequence_as([1,2],[1,2,3]))
t(lambda:tf.nest.pack_sequence_as([1,[2]],5))
