"""Branches, loops, Python functions, recurrent nets, strings, errors that are caught and printed."""

from typing import Any


def loops_in_anger(tf: Any, np: Any, say: Any, fails: Any) -> None:
    i = tf.constant(0)
    c = lambda i, acc: tf.less(i, 5)  # noqa: E731
    b = lambda i, acc: (tf.add(i, 1), acc + tf.cast(i, tf.float32))  # noqa: E731
    r = tf.while_loop(c, b, [i, 0.0])
    say([t.name for t in r], r[0].op.type)
    x = tf.constant(2.0)
    n, p = tf.while_loop(lambda n, p: n < 4, lambda n, p: [n + 1, p * x], [0, 1.0], parallel_iterations=1, swap_memory=True)
    g = tf.gradients(p, x)[0]
    ragged = tf.while_loop(lambda i, v: i < 3, lambda i, v: (i + 1, tf.concat([v, [i]], 0)), [0, tf.constant([9])], shape_invariants=[tf.TensorShape([]), tf.TensorShape([None])])
    fails(tf.while_loop, lambda i, v: i < 3, lambda i, v: (i + 1, tf.concat([v, [i]], 0)), [0, tf.constant([9])])
    fails(tf.while_loop, lambda i: i < 3, lambda i: (i, i), [0])
    fails(tf.while_loop, lambda: True, lambda: (), [])
    fails(tf.while_loop, 3, lambda i: i, [0])
    fails(tf.while_loop, lambda i: i < 3, lambda i: i + 1, [0], parallel_iterations=0)
    limited = tf.while_loop(lambda i: True, lambda i: i + 1, [tf.constant(0)], maximum_iterations=7)
    nested = tf.while_loop(lambda i, t: i < 3, lambda i, t: (i + 1, t + tf.while_loop(lambda j, s: j < i, lambda j, s: (j + 1, s + j), [0, 0])[1]), [0, 0])
    ta = tf.TensorArray(tf.int32, size=0, dynamic_size=True, infer_shape=True)
    _, ta = tf.while_loop(lambda i, a: i < 4, lambda i, a: (i + 1, a.write(i, i * i)), [0, ta])
    names = tf.while_loop(lambda s: tf.strings.length(s) < 4, lambda s: s + "a", [tf.constant("b")])
    v = tf.Variable(0)
    with tf.control_dependencies([v.initializer]):
        bumps = tf.while_loop(lambda i: i < 6, lambda i: tf.tuple([i + 1], control_inputs=[tf.assign_add(v, 2)])[0], [0])
    with tf.Session() as s:
        say(s.run(r), s.run([p, g]), s.run(ragged), s.run(limited), s.run(nested), s.run(ta.stack()), s.run(names))
        s.run(v.initializer)
        say(s.run(bumps), s.run(v))
        fails(s.run, tf.while_loop(lambda i: i < 3, lambda i: tf.div(i + 1, 0), [1]))


def conds_in_anger(tf: Any, np: Any, say: Any, fails: Any) -> None:
    p = tf.placeholder(tf.bool, [])
    a, b = tf.Variable(1.0), tf.Variable(2.0)
    out = tf.cond(p, lambda: a + b, lambda: a - b)
    say(out.name, out.op.type, [x.name for x in out.op.inputs])
    multi = tf.cond(p, lambda: (a, [b * 2]), lambda: (b, [a * 2]))
    say(multi)
    strict = tf.cond(p, lambda: [a * 1], lambda: [b * 1], strict=True)
    say(strict)
    side = tf.cond(p, lambda: tf.assign(a, 10.0), lambda: tf.identity(a))
    noop = tf.cond(p, lambda: tf.no_op(), lambda: tf.no_op())
    say(noop)
    fails(tf.cond, p, lambda: (a, b), lambda: a)
    fails(tf.cond, p, lambda: a, lambda: tf.constant(1))
    fails(tf.cond, p, a, b)
    fails(tf.cond, tf.constant(3), lambda: a, lambda: b)
    g = tf.gradients(out, [a, b])
    k = tf.placeholder(tf.int32, [])
    case = tf.case([(tf.less(k, 1), lambda: tf.constant(10)), (tf.less(k, 5), lambda: tf.constant(20))], default=lambda: tf.constant(30), exclusive=False)
    excl = tf.case({tf.less(k, 3): lambda: tf.constant(1), tf.greater(k, 1): lambda: tf.constant(2)}, exclusive=True)
    sw = tf.switch_case(k, {0: lambda: tf.constant("zero"), 1: lambda: tf.constant("one")}, default=lambda: tf.constant("many"))
    with tf.Session() as s:
        s.run(tf.global_variables_initializer())
        for flag in (True, False):
            say(s.run([out, multi, strict], {p: flag}), s.run(g, {p: flag}))
        say(s.run(side, {p: False}), s.run(side, {p: True}), s.run(a))
        for i in (0, 2, 9):
            say(s.run([case, sw], {k: i}))
        say(s.run(excl, {k: 0}))
        nan = tf.cond(p, lambda: tf.constant(1.0), lambda: tf.constant(0.0) / 0.0)
        say(s.run(nan, {p: True}))
    z = tf.multiply(a, b)
    r = tf.cond(a < b, lambda: tf.add(a, z), lambda: tf.square(b))
    where = tf.where([True, False], [1, 2], [3, 4]), tf.where([[True, False], [False, True]])
    with tf.Session() as s:
        s.run(tf.global_variables_initializer())
        say(s.run(r), s.run(where))


def python_functions(tf: Any, np: Any, say: Any, fails: Any) -> None:
    def f(x: Any, y: Any) -> Any:
        return np.sinh(x).astype(np.float32), (x + y).astype(np.float64)

    x = tf.placeholder(tf.float32, [None])
    a, b = tf.py_func(f, [x, tf.constant([1.0])], [tf.float32, tf.float64], name="mine")
    say(a.name, b.name, a.shape, a.dtype, a.op.type)
    one = tf.py_func(lambda: np.int64(3), [], tf.int64, stateful=False)
    none = tf.py_func(lambda v: None, [x], [])
    words = tf.py_func(lambda s: s.upper(), [tf.constant(b"abc")], tf.string)
    bad = tf.py_func(lambda v: v, [x], tf.int32)
    few = tf.py_func(lambda v: v, [x], [tf.float32, tf.float32])

    def boom(v: Any) -> Any:
        raise ValueError("boom at %s" % v)

    def stop(v: Any) -> Any:
        raise StopIteration("done")

    def typed(v: Any) -> Any:
        raise TypeError("typed")

    with tf.Session() as s:
        say(s.run([a, b], {x: [0.0, 1.0]}), s.run(one), s.run(none, {x: [1]}), s.run(words))
        for op in (bad, few):
            try:
                s.run(op, {x: [1.0]})
            except tf.errors.OpError as e:
                say(type(e).__name__, e.op.type)
        for fn in (boom, stop, typed):
            try:
                s.run(tf.py_func(fn, [x], tf.float32), {x: [1.0]})
            except tf.errors.OpError as e:
                say(type(e).__name__, fn.__name__ in str(e) or str(e).count("py_func") > 0)
    a.set_shape([2])
    say(a.shape)
    nf = tf.numpy_function(lambda q: q * 2, [x], tf.float32)
    pf = tf.py_function(lambda q: q * q, [x], tf.float32)
    with tf.Session() as s:
        say(s.run([nf, pf], {x: [3.0]}), s.run(tf.gradients(pf, x), {x: [3.0]}))


def rnn_variants(tf: Any, np: Any, say: Any, fails: Any) -> None:
    x = tf.constant(np.arange(24).reshape(2, 4, 3) / 24.0, tf.float32)
    init = tf.constant_initializer(0.1)
    with tf.variable_scope("r", initializer=init):
        out, st = tf.nn.dynamic_rnn(tf.nn.rnn_cell.BasicRNNCell(2), x, sequence_length=[4, 2], dtype=tf.float32)
        say(out, st)
    with tf.variable_scope("l", initializer=init):
        cell = tf.nn.rnn_cell.MultiRNNCell([tf.nn.rnn_cell.LSTMCell(2, use_peepholes=True, num_proj=3), tf.nn.rnn_cell.DropoutWrapper(tf.nn.rnn_cell.GRUCell(2), output_keep_prob=1.0)])
        o2, s2 = tf.nn.dynamic_rnn(cell, x, dtype=tf.float32, time_major=False)
        say(o2.shape, s2)
        say(cell.state_size, cell.output_size)
    with tf.variable_scope("b", initializer=init):
        (fw, bw), fin = tf.nn.bidirectional_dynamic_rnn(tf.nn.rnn_cell.GRUCell(2), tf.nn.rnn_cell.GRUCell(2), x, dtype=tf.float32, sequence_length=[3, 4])
    with tf.variable_scope("st", initializer=init):
        so, ss = tf.nn.static_rnn(tf.nn.rnn_cell.BasicLSTMCell(2), tf.unstack(x, axis=1), dtype=tf.float32)
        say(len(so), ss)
    say([(v.name, v.shape.as_list()) for v in tf.trainable_variables()])
    g = tf.gradients(tf.reduce_sum(out), tf.trainable_variables("r"))
    with tf.Session() as s:
        s.run(tf.global_variables_initializer())
        for t in (out, st, o2, fw, bw, so[-1], ss.c, g[0]):
            say(np.round(s.run(t), 4).tolist())
    fails(tf.nn.dynamic_rnn, tf.nn.rnn_cell.BasicRNNCell(2), x)
    fails(tf.nn.dynamic_rnn, "cell", x, dtype=tf.float32)
    fails(tf.nn.static_rnn, tf.nn.rnn_cell.BasicRNNCell(2), x, dtype=tf.float32)
    z = tf.nn.rnn_cell.LSTMStateTuple(tf.zeros([2, 2]), tf.zeros([2, 2]))
    say(tf.nn.rnn_cell.BasicLSTMCell(2).zero_state(2, tf.float32), z.dtype)


def functional_tools(tf: Any, np: Any, say: Any, fails: Any) -> None:
    e = tf.constant([1.0, 2.0, 3.0])
    outs = [
        tf.map_fn(lambda x: x * x, e), tf.map_fn(lambda t: (t[0] + 1, t[1] * 2), (e, e)), tf.map_fn(lambda x: tf.cast(x, tf.int32), e, dtype=tf.int32),
        tf.foldl(lambda a, x: a + x, e), tf.foldr(lambda a, x: a * 2 + x, e), tf.scan(lambda a, x: a + x, e), tf.scan(lambda a, x: (a[0] + x, a[1] * x), e, (0.0, 1.0)),
        tf.scan(lambda a, x: a + x, e, reverse=True), tf.foldl(lambda a, x: a - x, e, initializer=10.0),
    ]
    say(outs)
    with tf.Session() as s:
        for o in outs:
            say(s.run(o))
        say(s.run(tf.gradients(outs[0], e)), s.run(tf.gradients(outs[5], e)))
    fails(tf.map_fn, lambda x: x, tf.constant(1.0))
    fails(tf.scan, lambda a, x: (a, x), e)


def string_work(tf: Any, np: Any, say: Any, fails: Any) -> None:
    w = tf.constant(["alpha beta", "gamma", ""])
    sp = tf.string_split(w)
    outs = [
        sp.values, sp.indices, sp.dense_shape, tf.string_join([w, w], separator="-"), tf.strings.length(w), tf.substr(w[:2], 1, 3), tf.regex_replace(w, "a", "<a>"),
        tf.string_to_hash_bucket_fast(w, 10), tf.string_to_hash_bucket(w, 10), tf.string_to_number(["1.5", "-2"]), tf.as_string([1.5, 2.25], precision=1), tf.as_string([True, False]),
        tf.reduce_join([["a", "b"], ["c", "d"]], 1), tf.reduce_join([["a", "b"], ["c", "d"]], [0, 1], separator=","), tf.strings.upper(w), tf.strings.strip([" x "]), tf.encode_base64(["hi"]),
        tf.decode_base64(["aGk"]), tf.decode_raw(["abcd"], tf.uint8), tf.strings.regex_full_match(w, "g.*"), tf.strings.format("{} and {}", (tf.constant([1, 2]), tf.constant("x"))),
        tf.sparse_tensor_to_dense(sp, default_value="-"), tf.equal(w, "gamma"), tf.strings.to_hash_bucket_strong(w, 10, [1, 2]), tf.string_strip([" y"]),
    ]
    say([o.name for o in outs])
    with tf.Session() as s:
        for o in outs:
            say(s.run(o))
        fails(s.run, tf.string_to_number(["x"]))
        fails(s.run, tf.substr("abc", 7, 1))
        fails(s.run, tf.decode_raw(["abc"], tf.int32))


def tables_and_vocab(tf: Any, np: Any, say: Any, fails: Any) -> None:
    import os
    import tempfile
    path = os.path.join(tempfile.mkdtemp(), "vocab.txt")
    with open(path, "w") as f:
        f.write("emerson\nlake\npalmer\n")
    t = tf.lookup.StaticHashTable(tf.lookup.KeyValueTensorInitializer(["a", "b"], [1, 2]), -1)
    v = tf.lookup.StaticVocabularyTable(tf.lookup.TextFileInitializer(path, tf.string, tf.lookup.TextFileIndex.WHOLE_LINE, tf.int64, tf.lookup.TextFileIndex.LINE_NUMBER), 2)
    look = t.lookup(tf.constant(["a", "z"]))
    vl = v.lookup(tf.constant(["lake", "oov", "emerson"]))
    m = tf.lookup.experimental.DenseHashTable(tf.int64, tf.int64, -1, 0, -2)
    ins = m.insert([5, 6], [50, 60])
    with tf.Session() as s:
        fails(s.run, look)
        s.run(tf.tables_initializer())
        say(s.run(look), s.run(vl), s.run(t.size()), s.run(v.size()))
        s.run(ins)
        say(s.run(m.lookup(tf.constant([5, 7], tf.int64))), s.run(m.size()))
    fails(t.lookup, tf.constant([1, 2]))


def caught_errors(tf: Any, np: Any, say: Any, fails: Any) -> None:
    x = tf.placeholder(tf.float32, [None, None], name="x")
    y = tf.placeholder(tf.float32, [None, None], name="y")
    mm = tf.matmul(x, y, name="mm")
    with tf.Session() as s:
        try:
            s.run(mm, {x: np.ones((2, 3)), y: np.ones((2, 3))})
        except tf.errors.InvalidArgumentError as e:
            say(e.op.name, e.error_code, e.node_def.name)
        fails(s.run, tf.reshape(x, [3, 2]), {x: np.ones((2, 2))})
        fails(s.run, tf.gather(x, [5]), {x: np.ones((2, 2))})
        fails(s.run, tf.concat([x, y], 0), {x: np.ones((2, 2)), y: np.ones((2, 3))})
        fails(s.run, x + y, {x: np.ones((2, 2)), y: np.ones((2, 3))})
        fails(s.run, tf.slice(x, [0, 0], [3, 1]), {x: np.ones((2, 2))})
        fails(s.run, tf.Assert(tf.reduce_all(x > 2), [x, "too small"]), {x: np.ones((2, 2))})
        fails(s.run, tf.assert_equal(x, y, message="not the same"), {x: np.ones((1, 1)), y: np.zeros((1, 1))})
        fails(s.run, tf.nn.sparse_softmax_cross_entropy_with_logits(labels=[9], logits=x), {x: np.ones((1, 2))})
        fails(s.run, tf.transpose(x, [0, 0]), {x: np.ones((1, 2))})
        fails(s.run, tf.split(x, 3)[0], {x: np.ones((2, 2))})
        fails(s.run, tf.cholesky(x), {x: -np.eye(2)})
        fails(s.run, tf.matrix_inverse(x), {x: np.zeros((2, 2))})
        fails(s.run, tf.unstack(x, 2)[0], {x: np.ones((3, 2))})
        fails(s.run, tf.random_uniform([2], 3, 1, tf.int32))
        fails(s.run, tf.read_file("/no/such/file"))
        fails(s.run, tf.decode_csv("a,b", [[1], [2]]))
    fails(tf.matmul, tf.ones([2, 3]), tf.ones([2, 3]))
    fails(tf.matmul, tf.ones([2, 3]), tf.ones([3, 3], tf.int32))
    fails(tf.add, tf.ones([2]), tf.ones([3]))
    fails(tf.add, tf.ones([2]), "s")
    fails(tf.reshape, tf.ones([4]), [3])
    fails(tf.concat, [tf.ones([2, 2]), tf.ones([2, 3])], 0)
    fails(tf.constant, "a", tf.float32)
    fails(tf.constant, [[1, 2], [3]])
    fails(tf.placeholder, "bogus")
    fails(tf.zeros, [-1])
    fails(tf.nn.conv2d, tf.ones([1, 4, 4, 3]), tf.ones([3, 3, 2, 8]), [1, 1, 1, 1], "SAME")
    fails(tf.nn.softmax, tf.constant(1.0))
    fails(tf.expand_dims, tf.ones([2]), 4)
    fails(tf.squeeze, tf.ones([2]), [0])
    fails(tf.cast, "a", tf.int32)
    fails(tf.stack, [tf.ones([2]), tf.ones([3])])
    fails(tf.unstack, x)
    fails(tf.argmax, tf.ones([2]), 3)
    fails(tf.tile, tf.ones([2]), [1, 2])
    fails(lambda: tf.ones([2])[0, 0])
    fails(lambda: tf.ones([2])["a"])
    fails(lambda: tf.ones([2])[1.5])
    fails(lambda: tf.ones([2]) @ tf.ones([2]))
    fails(lambda: bool(tf.ones([])))
    fails(lambda: [1 for _ in tf.ones([2])])
    fails(lambda: len(tf.ones([2])))
    fails(lambda: tf.ones([2]) + tf.ones([2], tf.int32))
    fails(lambda: np.array(tf.ones([2])))
    fails(lambda: float(tf.ones([])))


def ctc_and_speech(tf: Any, np: Any, say: Any, fails: Any) -> None:
    logits = tf.constant(np.sin(np.arange(40)).reshape(5, 2, 4), tf.float32)
    labels = tf.SparseTensor(tf.constant([[0, 0], [0, 1], [1, 0]], tf.int64), tf.constant([0, 1, 2]), tf.constant([2, 2], tf.int64))
    loss = tf.nn.ctc_loss(labels, logits, [5, 4])
    dec, prob = tf.nn.ctc_greedy_decoder(logits, [5, 4])
    dist = tf.edit_distance(tf.cast(dec[0], tf.int32), labels)
    g = tf.gradients(loss, logits)[0]
    say(loss.name, dec[0].values.name, prob.name, dist.name)
    with tf.Session() as s:
        say(np.round(s.run(loss), 4), s.run(dec[0]), np.round(s.run(prob), 4), s.run(dist))
        say(np.round(s.run(g)[0], 4))


def detection_images(tf: Any, np: Any, say: Any, fails: Any) -> None:
    img = tf.constant(np.arange(48).reshape(1, 4, 4, 3) / 48.0, tf.float32)
    boxes = tf.constant([[[0.0, 0.0, 0.5, 0.5]]])
    outs = [
        tf.image.draw_bounding_boxes(img, boxes), tf.image.crop_and_resize(img, boxes[0], [0], [2, 2]), tf.image.resize_images(img, [2, 2]), tf.image.resize_bilinear(img, [8, 8], align_corners=True),
        tf.image.rgb_to_grayscale(img), tf.image.flip_left_right(img), tf.image.per_image_standardization(img[0]), tf.image.central_crop(img[0], 0.5), tf.image.adjust_brightness(img, 0.1),
        tf.image.pad_to_bounding_box(img, 1, 1, 6, 6), tf.image.resize_image_with_crop_or_pad(img, 3, 5), tf.image.total_variation(img), tf.image.psnr(img, img * 0.5, 1.0), tf.image.rot90(img),
        tf.extract_image_patches(img, [1, 2, 2, 1], [1, 2, 2, 1], [1, 1, 1, 1], "VALID"),
    ]
    say([o.shape for o in outs])
    idx = tf.image.non_max_suppression([[0.0, 0, 1, 1], [0, 0, 0.9, 1], [2, 2, 3, 3]], [0.9, 0.8, 0.7], 3, 0.5)
    with tf.Session() as s:
        for o in outs:
            say(np.round(np.float64(s.run(o)).sum(), 3))
        say(s.run(idx))
        big = tf.random_uniform([1, 16, 16, 1], seed=1)
        say(np.round(s.run(tf.image.ssim(big, big * 0.9, 1.0, filter_size=5)), 3))
