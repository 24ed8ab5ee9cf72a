"""Programs that are refused, and why."""

from typing import Any


def feeds(tf: Any, np: Any, say: Any, fails: Any) -> None:
    x = tf.placeholder(tf.float32, [None, 2], name="x")
    y = x * 2
    c = tf.constant(5.0)
    z = c + 1
    i = tf.placeholder(tf.int32, name="i")
    st = tf.placeholder(tf.string, [])
    b = tf.placeholder(tf.bool)
    with tf.Session() as s:
        say(s.run(y, {x: [[1, 2]]}))
        say(s.run(y, {"x:0": np.array([[1, 2]], np.int64)}))
        say(s.run(z, {c: 10}))
        fails(s.run, y)
        fails(s.run, y, {x: [1, 2]})
        fails(s.run, y, {"nope:0": 1})
        fails(s.run, y, {x: tf.constant(1.0)})
        fails(s.run, y, {3: 1})
        fails(s.run, i, {i: 1.5})
        fails(s.run, i, {i: 2**40})
        say(s.run(i, {i: []}), s.run(i, {i: np.int64(4)}))
        fails(s.run, i, {i: np.array([2.5])})
        say(s.run(st, {st: "héllo"}), s.run(st, {st: b"x\x00y"}))
        fails(s.run, st, {st: 5})
        say(s.run(b, {b: True}), s.run(b, {b: [0, 1]}))
        fails(s.run, y, {x: None})
        fails(s.run, y, {x: [[1, 2], [3]]})
        fails(s.run, y, "x")
        fails(s.run, None)
        fails(s.run, [None])
        fails(s.run, 3.5)
        fails(s.run, "nope")
        fails(s.run, y, {x: object()})
        say(s.run({"a": y, "b": [z, (c,)]}, {x: np.zeros((0, 2))}))
        say(s.run([], {}))
        say(s.run({}))
        say(s.run(()))
        g2 = tf.Graph()
        with g2.as_default():
            q = tf.constant(1)
        fails(s.run, q)
        fails(s.run, y, {q: 1})
        say(s.run("x:0", {x: [[7, 8]]}))
        say(s.run(y.op, {x: [[7, 8]]}))
        say(s.run([x.name, c.op], {x: [[7, 8]]}))


def asserts(tf: Any, np: Any, say: Any, fails: Any) -> None:
    a = tf.constant([1, 2])
    p = tf.placeholder(tf.int32, [None])
    with tf.Session() as s:
        for f in [
            lambda: tf.assert_equal(p, a),
            lambda: tf.assert_less(p, a, message="hey"),
            lambda: tf.assert_positive(p),
            lambda: tf.assert_non_negative(p),
            lambda: tf.assert_negative(p),
            lambda: tf.assert_greater(p, a),
            lambda: tf.assert_greater_equal(p, a),
            lambda: tf.assert_less_equal(p, a),
            lambda: tf.assert_none_equal(p, a),
            lambda: tf.assert_rank(p, 1),
        ]:
            try:
                o = f()
                say(o.name)
            except Exception as e:
                say(type(e).__name__, str(e))
                continue
            fails(s.run, o, {p: [-1, 2]})
    fails(tf.assert_rank, a, 2)
    fails(tf.assert_equal, a, [1, 3])
    fails(tf.assert_type, a, tf.float32)
    fails(tf.assert_integer, tf.constant(1.0))
    fails(tf.assert_rank_at_least, a, 2)
    fails(tf.assert_rank_in, a, [2, 3])
    fails(tf.assert_scalar, a)
    fails(tf.assert_positive, [-1])
    say(tf.assert_type(a, tf.int32))
    say(tf.is_numeric_tensor(a))
    fails(tf.ensure_shape, a, [3])


def name_errors(tf: Any, np: Any, say: Any, fails: Any) -> None:
    fails(tf.constant, 1, name="a b")
    fails(tf.add, 1, 2, name="a b")
    fails(tf.placeholder, tf.float32, name="$")
    fails(tf.Variable, 1.0, name="a b")
    fails(tf.get_variable, "a b", [1])
    with tf.name_scope("x"):
        fails(tf.constant, 1, name="_a")
        say(tf.add(1, 2, name="_b").name)
    fails(tf.placeholder, "nope")
    fails(tf.placeholder, None)
    fails(tf.placeholder, tf.float32, [1.5])
    fails(tf.reshape, [1, 2], [3])
    fails(tf.reshape, [1, 2], "a")
    fails(tf.concat, [1, 2], 0)
    fails(tf.stack, [[1], [1, 2]])
    fails(tf.matmul, [1.0], [2.0])
    fails(tf.matmul, [[1.0]], [[1]])
    fails(tf.cast, "a", tf.float32)
    fails(tf.cast, 1, "nope")
    fails(tf.split, [1, 2, 3], 2)
    fails(tf.squeeze, [[1, 2]], 1)
    fails(tf.one_hot, [1.0], 3)
    fails(tf.gather, [1], [1.0])
    fails(tf.transpose, [[1]], [0, 0])
    fails(tf.expand_dims, 1, 3)
    fails(tf.reduce_sum, [1], 5)
    fails(tf.argmax, [1], 3)
    fails(tf.tile, [1], [1, 2])
    fails(tf.pad, [1], [[1]])
    fails(tf.slice, [1, 2], [0], [5])
    fails(tf.fill, [-1], 0)
    fails(tf.zeros, [-1])
    fails(tf.ones, "a")
    fails(tf.nn.conv2d, tf.ones([1, 2, 2, 1]), tf.ones([1, 1, 2, 1]), [1, 1, 1, 1], "SAME")
    fails(tf.nn.conv2d, tf.ones([1, 2, 2, 1]), tf.ones([1, 1, 1, 1]), [1, 1, 1, 1], "BAD")
    fails(tf.nn.softmax, 1.0)
    fails(tf.nn.max_pool, tf.ones([2, 2]), [1, 1, 1, 1], [1, 1, 1, 1], "SAME")
    fails(tf.nn.bias_add, tf.ones([2, 2]), tf.ones([3]))
    fails(tf.nn.sparse_softmax_cross_entropy_with_logits, labels=[1.0], logits=[[1.0]])
    fails(tf.nn.softmax_cross_entropy_with_logits_v2, labels=[[1.0, 2.0]], logits=[[1.0]])
    fails(tf.nn.dropout, tf.ones([2]), rate=2.0)
    fails(tf.nn.embedding_lookup, None, [1])
    fails(tf.assign, tf.constant(1.0), 2.0)
    fails(tf.add_n, [])
    fails(tf.add_n, [1, 2.0])
    fails(tf.where, [True], [1])
    fails(tf.while_loop, lambda i: i, lambda i: i, [tf.constant(1)])
    fails(tf.nn.relu, "a")
    fails(tf.nn.relu, None)
    fails(tf.add, None, 1)
    fails(tf.add, [1], ["a"])
    fails(tf.constant(1).set_shape, [2])
    fails(tf.group, 3)
    fails(tf.identity, None)
    fails(tf.convert_to_tensor, None)
    fails(tf.convert_to_tensor, [tf.constant(1), tf.constant(1.0)])
    fails(tf.shape, None)
    fails(tf.Variable(1.0).assign, "a")
    fails(tf.Variable(1.0).assign, [1.0, 2.0])
    fails(tf.scatter_update, tf.Variable([1.0]), [0], [1])


def run_errors(tf: Any, np: Any, say: Any, fails: Any) -> None:
    p = tf.placeholder(tf.float32)
    q = tf.placeholder(tf.int32)
    with tf.Session() as s:
        for f, fd in [
            (tf.matmul(p, p), {p: [[1.0, 2.0]]}),
            (tf.reshape(p, [3]), {p: [1.0]}),
            (tf.gather([1, 2], q), {q: [5]}),
            (tf.constant(1) // q, {q: 0}),
            (tf.constant(1) % q, {q: 0}),
            (tf.check_numerics(p, "bad"), {p: float("nan")}),
            (tf.cholesky(p), {p: [[-1.0]]}),
            (tf.matrix_inverse(p), {p: [[0.0]]}),
            (tf.concat([p, [[1.0]]], 0), {p: [1.0]}),
            (tf.concat([p, [[1.0]]], 0), {p: [[1.0, 2.0]]}),
            (tf.one_hot([1], q), {q: -1}),
            (tf.split(p, 2), {p: [1.0, 2.0, 3.0]}),
            (tf.tile([1], q), {q: [-1]}),
            (tf.range(0, 10, q), {q: 0}),
            (tf.slice([1, 2, 3], q, [2]), {q: [2]}),
            (tf.string_to_number("abc") + p, {p: 0.0}),
            (tf.unstack(tf.placeholder_with_default([1.0], [1])), {}),
            (tf.transpose(p, [1, 0]), {p: [1.0]}),
            (tf.nn.top_k(p, 3).values, {p: [1.0]}),
            (tf.gather_nd([[1, 2]], q), {q: [[0, 5]]}),
            (tf.scatter_nd(q, [1], [2]), {q: [[7]]}),
            (tf.squeeze(p, [0]), {p: [1.0, 2.0]}),
            (tf.expand_dims(p, q), {p: 1.0, q: 5}),
            (tf.reduce_sum(p, q), {p: [1.0], q: 3}),
            (
                tf.nn.sparse_softmax_cross_entropy_with_logits(labels=q, logits=[[1.0, 2.0]]),
                {q: [5]},
            ),
            (
                tf.boolean_mask([1, 2], tf.cast(tf.placeholder_with_default([1, 1], [2]), tf.bool)),
                {},
            ),
            (tf.segment_sum([1.0, 2.0], q), {q: [1, 0]}),
            (tf.nn.in_top_k([[1.0, 2.0]], q, 1), {q: [4]}),
            (tf.matrix_solve([[0.0]], p), {p: [[1.0]]}),
            (tf.bincount(q), {q: [-1]}),
            (tf.fill(q, 1), {q: [-2]}),
            (tf.sqrt(p), {p: -1.0}),
            (tf.argmax(p, 0), {p: []}),
            (tf.cumsum(p, q), {p: [1.0], q: 4}),
            (tf.stack([p, [1.0]]), {p: [1.0, 2.0]}),
            (tf.nn.conv2d(p, tf.ones([1, 1, 1, 1]), [1, 1, 1, 1], "VALID"), {p: [[1.0]]}),
            (tf.nn.bias_add(p, [1.0, 2.0]), {p: [[1.0]]}),
            (
                tf.nn.softmax_cross_entropy_with_logits_v2(labels=p, logits=[[1.0, 2.0]]),
                {p: [[1.0]]},
            ),
            (tf.dynamic_partition(p, [0, 5], 2), {p: [1.0, 2.0]}),
            (tf.pad(p, q), {p: [1.0], q: [[-1, 0]]}),
            (tf.random_uniform(q), {q: [-1]}),
            (tf.multinomial(p, 1), {p: [1.0]}),
            (tf.as_string(p), {p: 1.0}),
            (tf.broadcast_to(p, [2]), {p: [1.0, 2.0, 3.0]}),
            (tf.clip_by_value(p, [1.0, 2.0], 2.0), {p: [1.0, 2.0, 3.0]}),
            (tf.diag(p), {p: 1.0}),
            (tf.matrix_diag_part(p), {p: 1.0}),
            (tf.batch_to_space_nd(p, [2], [[0, 0]]), {p: [[1.0]]}),
            (tf.unique(p)[0], {p: [[1.0]]}),
        ]:
            fails(s.run, f, fd)


def options(tf: Any, np: Any, say: Any, fails: Any) -> None:
    m = tf.RunMetadata()
    o = tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE)
    x = tf.constant(1.0) + 2.0
    with tf.Session() as s:
        say(s.run(x, options=o, run_metadata=m))
        say(len(m.step_stats.dev_stats) > 0, m.step_stats.dev_stats[0].device)
        fails(s.run, x, options=3)
        fails(s.run, x, run_metadata=3)
        say(o)
        fails(tf.RunOptions, nope=3)
        q = tf.FIFOQueue(1, [tf.int32])
        fails(s.run, q.dequeue(), options=tf.RunOptions(timeout_in_ms=50))
    with tf.Session(config=tf.ConfigProto(operation_timeout_in_ms=50)) as s:
        fails(s.run, q.dequeue())


def errors_api(tf: Any, np: Any, say: Any, fails: Any) -> None:
    with tf.Session() as s:
        try:
            s.run(tf.placeholder(tf.float32, name="p") * 2)
        except tf.errors.InvalidArgumentError as e:
            say(
                e.error_code == tf.errors.INVALID_ARGUMENT,
                e.op.name,
                e.op.type,
                e.node_def.name,
                isinstance(e, tf.errors.OpError),
                isinstance(e, tf.OpError),
            )
    say([(k, getattr(tf.errors, k)) for k in sorted(dir(tf.errors)) if k.isupper() and k[0] != "_"])
    say(sorted((k for k in dir(tf.errors) if k.endswith("Error") and k[:4] != "Oper")))
    e = tf.errors.NotFoundError(None, None, "msg")
    say(e, e.message, e.error_code, e.op, e.node_def, repr(e))
    say(
        tf.errors.exception_type_from_error_code(5).__name__,
        tf.errors.error_code_from_exception_type(tf.errors.AbortedError),
    )
