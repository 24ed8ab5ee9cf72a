"""Checks."""

import os

import numpy as np
import tensorflow as tf

d = tf.debugging

def t(s):
    try:
        print(s, '=>', repr(eval(s)))
    except Exception as e:
        print(s, type(e).__name__, repr(str(e)))
for s in ['d.assert_equal([1,2,3,4,5],[1,9,3,9,9],summarize=2)', 'd.assert_equal([[1,2],[3,4]],[[1,2],[3,9]])', "d.assert_equal([1,2],1,message='m')", "d.assert_equal(['a'],['b'])", 'd.assert_none_equal([1,2],[1,3])', 'd.assert_less([1,2],[1,3])', 'd.assert_less_equal([1.5],[1.])', "d.assert_greater(1,2,message='msg')", 'd.assert_greater_equal([1,2,3,4,5],9)', 'd.assert_positive([0,1])', "d.assert_negative([1],message='mm')", 'd.assert_non_negative([-1])', 'd.assert_non_positive([2])', "d.assert_near(1.,2.,message='m')", 'd.assert_near([1.,2],[1.,3],rtol=.1,atol=.2)', 'd.assert_near(1.,1.)', 'd.assert_near(1,2)', "d.assert_rank([1],0,message='m')", 'd.assert_rank([1],2)', 'd.assert_rank_at_least([1],2)', "d.assert_rank_at_least([1],2,message='m')", 'd.assert_rank_in([1],[2,3])', "d.assert_rank_in([1],(0,),message='m')", 'd.assert_integer(1.)', "d.assert_integer(1.,message='m')", 'd.assert_scalar([1])', "d.assert_scalar([1],message='m')", 'd.assert_scalar(1)', "d.assert_shapes([(tf.ones([2,3]),('N','N'))])", "d.assert_shapes([(tf.ones([2,3]),('N',4))])", "d.assert_shapes([(tf.ones([2,3]),('N','M')),(tf.ones([3]),('N',))],message='m')", "d.assert_shapes([(tf.ones([2,3]),'NM')])", 'd.assert_shapes([(tf.ones([2,3]),())])', 'd.assert_shapes([(tf.ones([2]),(None,))])', "d.assert_shapes([(tf.ones([2,3]),('...','M')),(tf.ones([4]),('M',))])", 'd.assert_type(1.,tf.int32)', "d.assert_type(1.,tf.int32,message='m')", 'd.assert_same_float_dtype([tf.constant(1.),tf.constant(1.,tf.float64)])', 'd.assert_same_float_dtype([tf.constant(1)])', 'd.assert_proper_iterable(tf.constant([1]))', 'd.assert_proper_iterable(1)', "d.is_numeric_tensor(tf.constant('a'))", 'tf.Assert(True,[1])', "tf.Assert(False,['msg',[1,2,3,4,5]],summarize=2)", "tf.Assert(tf.constant(False),['msg',tf.constant([1.5])])", 'tf.Assert(tf.constant([True]),[1])', 'd.Assert(1>2,[tf.constant([[1,2],[3,4]])])', "d.check_numerics([float('nan')],'m')", 'd.assert_equal(tf.constant([1.,2.]),tf.constant([1.,2.]))', 'd.assert_less(tf.constant([]),tf.constant([]))', 'd.assert_rank(tf.constant(1),tf.constant([1]))', 'd.assert_rank(tf.constant(1),1.5)', 'd.assert_greater(tf.range(10),tf.range(10)+tf.cast(tf.range(10)>3,tf.int32))']:
    t(s)
