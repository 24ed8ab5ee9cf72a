"""What initializers are told, how variables are reused, and the kinds of dicts a fetch gives back."""

import collections

import pytest

import emplace.compat.v1 as tf


def test_an_initializer_is_told_of_its_part_if_it_has_a_word_for_it():
    told = []

    def ones(shape, dtype, partition_info):
        told.append(partition_info and (partition_info.full_shape, partition_info.var_offset, partition_info.single_offset(shape), partition_info.single_slice_dim(shape)))
        return tf.ones(shape, dtype)

    with tf.Graph().as_default(), tf.Session() as session:
        v = tf.get_variable("v", [2], initializer=ones)
        tf.get_variable("w", [3, 4], initializer=ones, partitioner=tf.fixed_size_partitioner(2, axis=1))
        assert told == [None, ([3, 4], [0, 0], 0, 1), ([3, 4], [0, 2], 2, 1)]
        session.run(tf.global_variables_initializer())
        assert session.run(v).tolist() == [1.0, 1.0]


def test_an_initializer_without_arguments_takes_no_shape():
    with tf.Graph().as_default():
        with pytest.raises(TypeError, match="unexpected keyword argument 'dtype'|positional argument"):
            tf.get_variable("v", [2], initializer=lambda: tf.ones([2]))
        assert tf.get_variable("w", initializer=lambda: tf.ones([2])).shape.as_list() == [2]


@pytest.mark.parametrize("reuse", ["zz", "", 0, 1])
def test_reuse_is_one_of_four(reuse):
    with pytest.raises(ValueError, match="^The reuse parameter must be True or False or None.$"):
        tf.variable_scope("x", reuse=reuse)


def test_dicts_come_back_as_what_they_are():
    class Own(dict):
        pass

    with tf.Graph().as_default(), tf.Session() as session:
        c = tf.constant(1.0)
        found = session.run(collections.defaultdict(list, a=c, b=[c]))
        assert found == {"a": 1.0, "b": [1.0]} and found["c"] == [] and type(found) is collections.defaultdict
        found = session.run({"x": collections.defaultdict(int, a=c), "y": Own(a=c), "z": collections.OrderedDict(a=c)})
        assert [type(v) for v in found.values()] == [collections.defaultdict, Own, collections.OrderedDict]
