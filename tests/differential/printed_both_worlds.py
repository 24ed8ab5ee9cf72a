"""Names of TensorFlow 2 used in graph programs, managers of sessions, older helpers, what variables remember."""

import tempfile
from typing import Any


def functions_in_graphs(tf: Any, np: Any, say: Any, fails: Any) -> None:
    x, sess = tf.placeholder(tf.float32, [2], "x"), tf.Session()

    @tf.function
    def summed(v: Any, n: int = 3) -> Any:
        total = tf.constant(0.0)
        for _ in tf.range(n):
            if v[0] > 0:
                total += v[1]
        return total

    def grown(v: Any) -> Any:
        while tf.reduce_sum(v) < 10:
            v = v * 2
        return v

    y = summed(x)
    say(y.shape, y.dtype, sess.run(y, {x: [1, 2]}), sess.run(y, {x: [-1, 2]}))
    say(sess.run(tf.autograph.to_graph(grown)(x), {x: [1, 2]}))


def tapes_and_modules(tf: Any, np: Any, say: Any, fails: Any) -> None:
    class Scale(tf.Module):
        def __init__(self, name: Any = None) -> None:
            super().__init__(name=name)
            with self.name_scope:
                self.w = tf.Variable([2.0, 3.0], name="w")

        def __call__(self, v: Any) -> Any:
            return v * self.w

    x, module = tf.placeholder(tf.float32, [2], "x"), Scale("lin")
    with tf.GradientTape() as tape:
        tape.watch(x)
        z = tf.reduce_sum(x**3)
    slope = tape.gradient(z, x)
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        say(slope.shape, sess.run(slope, {x: [1, 2]}))
        say(module.name, [v.name for v in module.trainable_variables], sess.run(module(x), {x: [1, 1]}))


def older_helpers(tf: Any, np: Any, say: Any, fails: Any) -> None:
    say(tf.queue.FIFOQueue is tf.FIFOQueue, sorted(n for n in dir(tf.queue) if n[0] != "_"), sorted(d.name for d in tf.QUANTIZED_DTYPES))
    say(tf.convert_to_tensor_or_indexed_slices([1]), isinstance(tf.GRAPH_DEF_VERSION, int), type(tf.COMPILER_VERSION))
    parts = tf.create_partitioned_variables([4, 2], [2, 1], tf.ones_initializer(), name="pv")
    say([p.name for p in parts], [p.shape for p in parts])
    fails(tf.create_partitioned_variables, [4, 2], [2], tf.ones_initializer())
    table = tf.constant([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    ids = tf.SparseTensor([[0, 0], [0, 1], [2, 0]], tf.constant([0, 2, -1], tf.int64), [3, 2])
    image = tf.reshape(tf.range(16.0), [1, 4, 4, 1])
    with tf.Session() as sess:
        say(sess.run(tf.nn.safe_embedding_lookup_sparse([table], ids, combiner="sum")))
        say(sess.run(tf.nn.safe_embedding_lookup_sparse([table], ids, default_id=1)))
        say(sess.run(tf.nn.collapse_repeated([[1, 1, 2, 0], [3, 3, 3, 1]], [3, 4])), sess.run(tf.nn.ctc_unique_labels([[3, 4, 4, 3]])))
        say(sess.run(tf.nn.max_pool_v2(image, 2, 2, "VALID"))[0, :, :, 0], sess.run(tf.nn.avg_pool_v2(image, 2, 2, "VALID"))[0, :, :, 0])
        say(sess.run(tf.fingerprint(["a"])), sess.run(tf.debugging.assert_all_finite(image, "m")).shape)


def managed_sessions(tf: Any, np: Any, say: Any, fails: Any) -> None:
    folder = tempfile.mkdtemp()
    v = tf.Variable(1.0, name="v")
    saver, init = tf.train.Saver(), tf.global_variables_initializer()
    manager = tf.train.SessionManager(ready_op=tf.report_uninitialized_variables())
    sess, ok = manager.recover_session("", saver, checkpoint_dir=folder)
    say(ok)
    sess = manager.prepare_session("", init_op=init, saver=saver, checkpoint_dir=folder, init_fn=lambda s: s.run(v.assign(3.0)))
    say(sess.run(v), saver.save(sess, folder + "/m", 7)[len(folder) :])
    again, ok = manager.recover_session("", saver, checkpoint_dir=folder)
    say(ok, again.run(v), manager.prepare_session("", init_op=init, saver=saver, checkpoint_dir=folder).run(v))
    fails(manager.prepare_session, "")
    fails(manager.prepare_session, "", init_op=tf.no_op(name="nothing"))
    fails(tf.train.SessionManager, ready_for_local_init_op=init)


def what_variables_remember(tf: Any, np: Any, say: Any, fails: Any) -> None:
    def told(getter: Any, name: str, *args: Any, **kwargs: Any) -> Any:
        say(name, kwargs["shape"], kwargs["trainable"])
        return getter(name, *args, **kwargs)

    on_read = tf.VariableSynchronization.ON_READ
    with tf.variable_scope("outer", custom_getter=told):
        tf.get_variable("w", [2, 3])
        tf.get_variable("b", [3], trainable=False)
        kept = tf.get_variable("k", [2], synchronization=on_read, aggregation=tf.VariableAggregation.MEAN)
    say(kept.trainable, kept.aggregation, kept.synchronization, tf.trainable_variables())
    resource = tf.get_variable("r", initializer=[1.0, 2.0], use_resource=True)
    fails(iter, resource)
    fails(tf.gradients, resource * 2.0, resource, aggregation_method=99)
    fails(tf.FIFOQueue, 3, [tf.int32], names=["a", "b"])
    tf.cond(tf.constant(True), lambda: tf.constant(1.0), lambda: tf.constant(2.0))
    fails(tf.add_check_numerics_ops)
