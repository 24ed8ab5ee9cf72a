"""Variables in both forms, queues, tables of names."""

import numpy as np

from case import Case, case, table


def _with(resource, function):
    def build(tf):
        v = tf.get_variable("v", initializer=[1.0, 2.0, 3.0], use_resource=resource)
        fetches, targets = function(tf, v)
        return Case(fetches, {}, [tf.global_variables_initializer(), *targets])

    return build


def _op(x):
    return x if not hasattr(x, "op") else x.op


VARIABLES = {
    "read": lambda tf, v: ([v.read_value()], []), "assign": lambda tf, v: ([v.read_value()], [_op(tf.assign(v, [4.0, 5.0, 6.0]))]),
    "assign_add": lambda tf, v: ([v.read_value()], [_op(tf.assign_add(v, [1.0, 1.0, 1.0]))] * 3),
    "assign_sub": lambda tf, v: ([v.read_value()], [_op(tf.assign_sub(v, [1.0, 1.0, 1.0]))]),
    "scatter_update": lambda tf, v: ([v.read_value()], [_op(tf.scatter_update(v, [0, 2], [9.0, 8.0]))]),
    "scatter_add": lambda tf, v: ([v.read_value()], [_op(tf.scatter_add(v, [1, 1], [1.0, 2.0]))]),
    "scatter_sub": lambda tf, v: ([v.read_value()], [_op(tf.scatter_sub(v, [0], [1.0]))]),
    "initialized": lambda tf, v: ([tf.is_variable_initialized(v)], []), "gather": lambda tf, v: ([tf.gather(v, [2, 0])], []),
    "slice": lambda tf, v: ([v[1:]], []), "strided_assign": lambda tf, v: ([v.read_value()], [_op(v[1:2].assign([7.0]))]),
}
table("variable_ref", [(n, _with(False, f)) for n, f in VARIABLES.items()])
table("variable_resource", [(n, _with(True, f)) for n, f in VARIABLES.items()])


@case
def variable_initialised_from_another(tf):
    a = tf.Variable([1.0, 2.0], name="a", use_resource=False)
    b = tf.Variable(a.initialized_value() * 2, name="b", use_resource=False)
    return Case([b.read_value()], {}, [a.initializer, b.initializer])


@case
def variable_random_initialiser(tf):
    v = tf.get_variable("v", [4, 3], initializer=tf.truncated_normal_initializer(stddev=0.1, seed=5))
    return Case([v.read_value()], {}, [tf.global_variables_initializer()])


@case
def variable_count_up_to(tf):
    v = tf.Variable(0, use_resource=False)
    up = tf.count_up_to(v, 3)
    return Case([v.read_value()], {}, [v.initializer, up.op, up.op])


@case
def variable_partitioned(tf):
    v = tf.get_variable("v", [4, 2], initializer=tf.ones_initializer(), partitioner=tf.fixed_size_partitioner(2))
    return Case([tf.convert_to_tensor(v)], {}, [tf.global_variables_initializer()])


@case
def variable_int_and_string(tf):
    a, b = tf.Variable(7, use_resource=False), tf.Variable("text", use_resource=False)
    return Case([a.read_value(), b.read_value()], {}, [tf.global_variables_initializer()])


@case
def queue_fifo(tf):
    queue = tf.FIFOQueue(10, tf.float32, shapes=[[]])
    fill = queue.enqueue_many([[1.0, 2.0, 3.0]])
    first = queue.dequeue()
    with tf.control_dependencies([first]):
        return Case([first, queue.size()], {}, [fill, fill])


@case
def table_lookup(tf):
    keys, values = tf.constant(["a", "b"]), tf.constant([1, 2], tf.int64)
    found = tf.lookup.StaticHashTable(tf.lookup.KeyValueTensorInitializer(keys, values), -1)
    return Case([found.lookup(tf.constant(["b", "x"]))], {}, [tf.tables_initializer()])


@case
def saver_round_trip(tf):
    """TensorFlow's own Saver operations, run here: what is saved comes back."""
    import tempfile

    a = tf.get_variable("a", initializer=[1.0, 2.0], use_resource=False)
    b = tf.get_variable("b", initializer=7, use_resource=False)
    saver = tf.train.Saver({"x": a, "y": b}).saver_def
    graph = tf.get_default_graph()
    path = tempfile.mkdtemp() + "/model"
    clear = tf.group(tf.assign(a, [0.0, 0.0]), tf.assign(b, 0))
    return Case(
        [a.read_value(), b.read_value()], {saver.filename_tensor_name: np.array(path, dtype=object)},
        [tf.global_variables_initializer(), graph.get_tensor_by_name(saver.save_tensor_name).op, clear, graph.get_operation_by_name(saver.restore_op_name)],
    )
