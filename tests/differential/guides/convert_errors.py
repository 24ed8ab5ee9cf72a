"""Values that become no tensor."""

import os

import numpy as np
import tensorflow as tf

def t(s):
    try:
        print(s, repr(eval(s)))
    except Exception as e:
        print(s, type(e).__name__, e)
for d in ['tf.float32', 'tf.float64', 'tf.float16', 'tf.bfloat16', 'tf.int32', 'tf.int64', 'tf.uint8', 'tf.int8', 'tf.bool', 'tf.complex64', 'tf.string', 'tf.uint32']:
    t(f"tf.constant('x',{d})")
    t(f'tf.constant(1.5,{d})')
    t(f'tf.constant(True,{d})')
    t(f'tf.constant(1j,{d})')
    t(f"tf.constant([1,'a'],{d})")
    t(f'tf.constant([],{d})')
    t(f'tf.constant(None,{d})')
t("tf.constant([1,'a'])")
t('tf.constant([1,2.5,True])')
t('tf.constant([[1,2],[3]])')
t('tf.constant([1,None])')
t("tf.constant({'a':1})")
t('tf.constant(object())')
t('tf.constant(2**70)')
t('tf.constant([True,1])')
t('tf.constant([1,2,3],shape=[2,2])')
t('tf.constant(7,shape=[2,2])')
t('tf.constant([1,2,3,4],shape=[2,2])')
t("tf.constant(np.array(['a','b']))")
t('tf.constant(np.array([object()]))')
t('tf.constant(set([1]))')
t('tf.constant([[]])')
t('tf.constant(range(3))')
t('tf.constant((1,(2,3)))')
t('tf.constant(np.float128(1))')
t("tf.constant(np.datetime64('2020-01-01'))")
t("tf.constant(b'a')")
t('tf.constant(tf.Variable(3.))')
t('tf.constant(tf.constant(1),tf.float32)')
t('tf.convert_to_tensor(tf.constant(1),tf.float32)')
t('tf.convert_to_tensor(1,dtype_hint=tf.float32)')
t("tf.convert_to_tensor('a',dtype_hint=tf.float32)")
t('tf.convert_to_tensor(1.5,dtype_hint=tf.int32)')
t("tf.cast('a',tf.int32)")
t('tf.cast([1.9,-1.9],tf.int32)')
t("tf.cast(1,'nope')")
t("tf.as_dtype('nope')")
t('tf.as_dtype(None)')
t('tf.as_dtype(np.int32)')
t('tf.as_dtype(float)')
t('tf.as_dtype(object)')
t('tf.as_dtype(99)')
