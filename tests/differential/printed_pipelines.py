"""Programs that read datasets, records and tables."""

import collections
import os
import tempfile
from typing import Any


def data_one_shot(tf: Any, np: Any, say: Any, fails: Any) -> None:
    ds = (
        tf.data.Dataset.from_tensor_slices(
            (np.arange(6, dtype=np.float32).reshape(6, 1), np.arange(6))
        )
        .map(lambda x, y: (x * 2, y + 1))
        .batch(2)
        .repeat(2)
    )
    it = (
        ds.make_one_shot_iterator()
        if hasattr(ds, "make_one_shot_iterator")
        else tf.data.make_one_shot_iterator(ds)
    )
    x, y = it.get_next()
    say(x.shape, x.dtype, y.shape, y.dtype)
    with tf.Session() as s:
        n = 0
        while True:
            try:
                a, b = s.run([x, y])
                n += 1
                last = (a.tolist(), b.tolist())
            except tf.errors.OutOfRangeError as e:
                say("end", n, last, type(e).__name__)
                break


def data_initializable(tf: Any, np: Any, say: Any, fails: Any) -> None:
    p = tf.placeholder(tf.float32, [None, 2])
    n = tf.placeholder(tf.int64, [])
    ds = tf.data.Dataset.from_tensor_slices(p).shuffle(10, seed=3).batch(n)
    it = tf.data.make_initializable_iterator(ds)
    nx = it.get_next()
    say(
        ds.output_types if hasattr(ds, "output_types") else tf.data.get_output_types(ds),
        tf.data.get_output_shapes(ds),
        nx,
    )
    with tf.Session() as s:
        fails(s.run, nx)
        for k in (2, 3):
            s.run(it.initializer, {p: np.arange(8).reshape(4, 2), n: k})
            tot = []
            try:
                while True:
                    tot.append(s.run(nx).shape)
            except tf.errors.OutOfRangeError:
                say(tot)


def data_reinit(tf: Any, np: Any, say: Any, fails: Any) -> None:
    tr, va = (tf.data.Dataset.range(3), tf.data.Dataset.range(10, 12))
    it = tf.data.Iterator.from_structure(
        tf.data.get_output_types(tr), tf.data.get_output_shapes(tr)
    )
    nx = it.get_next()
    a, b = (it.make_initializer(tr), it.make_initializer(va))
    with tf.Session() as s:
        for op in (a, b, a):
            s.run(op)
            got = []
            try:
                while True:
                    got.append(int(s.run(nx)))
            except tf.errors.OutOfRangeError:
                say(got)


def data_feedable(tf: Any, np: Any, say: Any, fails: Any) -> None:
    h = tf.placeholder(tf.string, [])
    d1, d2 = (tf.data.Dataset.range(3).repeat(), tf.data.Dataset.range(100, 103))
    it = tf.data.Iterator.from_string_handle(
        h, tf.data.get_output_types(d1), tf.data.get_output_shapes(d1)
    )
    nx = it.get_next()
    i1, i2 = (tf.data.make_one_shot_iterator(d1), tf.data.make_initializable_iterator(d2))
    with tf.Session() as s:
        h1, h2 = (s.run(i1.string_handle()), s.run(i2.string_handle()))
        s.run(i2.initializer)
        say([int(s.run(nx, {h: k})) for k in (h1, h1, h2, h1, h2)])


def data_misc(tf: Any, np: Any, say: Any, fails: Any) -> None:
    ds = tf.data.Dataset.from_generator(
        lambda: ((i, [float(i)] * i) for i in range(4)),
        (tf.int32, tf.float32),
        (tf.TensorShape([]), tf.TensorShape([None])),
    )
    ds = ds.filter(lambda i, x: i > 0).padded_batch(2, ([], [None])).prefetch(1)
    n = tf.data.make_one_shot_iterator(ds).get_next()
    z = tf.data.make_one_shot_iterator(
        tf.data.Dataset.zip(
            (
                tf.data.Dataset.range(5).skip(1).take(3),
                tf.data.Dataset.from_tensors({"a": 1, "b": [1, 2]}).repeat(3),
            )
        )
    ).get_next()
    fm = tf.data.make_one_shot_iterator(
        tf.data.Dataset.range(3)
        .flat_map(lambda i: tf.data.Dataset.from_tensors(i).repeat(i))
        .concatenate(tf.data.Dataset.range(2))
    ).get_next()
    with tf.Session() as s:
        say(s.run(n))
        say(s.run(n))
        fails(s.run, n)
        say(z)
        say(s.run(z))
        say([int(s.run(fm)) for _ in range(5)])


def sparse_logistic(tf: Any, np: Any, say: Any, fails: Any) -> None:
    sp = tf.sparse_placeholder(tf.float32, shape=[None, 5])
    w = tf.Variable(tf.ones([5, 1]))
    y = tf.sparse_tensor_dense_matmul(sp, w)
    say(y)
    st = tf.SparseTensor([[0, 1], [1, 2]], [1.0, 2.0], [2, 4])
    dn = tf.sparse_tensor_to_dense(st)
    say(st, dn, st.get_shape())
    e = tf.nn.embedding_lookup_sparse(
        tf.constant(np.arange(8.0).reshape(4, 2), tf.float32),
        tf.SparseTensor([[0, 0], [0, 1], [1, 0]], [1, 3, 0], [2, 2]),
        None,
        combiner="mean",
    )
    with tf.Session() as s:
        s.run(tf.global_variables_initializer())
        say(s.run(y, {sp: tf.SparseTensorValue([[0, 0], [1, 4]], [2.0, 3.0], [2, 5])}))
        say(s.run(y, {sp: ([[0, 0]], [2.0], [1, 5])}))
        say(s.run(dn))
        say(s.run(st))
        say(s.run(e))
        say(
            s.run(tf.sparse_reduce_sum(st, 1)),
            s.run(tf.sparse_to_dense([[0], [2]], [4], 7)),
            s.run(tf.sparse_add(st, st)).values,
            s.run(tf.sparse_retain(st, [True, False])),
        )


def records(tf: Any, np: Any, say: Any, fails: Any) -> None:
    d = tempfile.mkdtemp()
    p = d + "/a.tfrecord"
    with tf.python_io.TFRecordWriter(p) as w:
        for i in range(3):
            ex = tf.train.Example(
                features=tf.train.Features(
                    feature={
                        "i": tf.train.Feature(int64_list=tf.train.Int64List(value=[i])),
                        "f": tf.train.Feature(float_list=tf.train.FloatList(value=[i, i + 0.5])),
                        "s": tf.train.Feature(bytes_list=tf.train.BytesList(value=[b"x%d" % i])),
                    }
                )
            )
            w.write(ex.SerializeToString())
    say(len(list(tf.python_io.tf_record_iterator(p))))
    q = tf.train.string_input_producer([p], num_epochs=1, shuffle=False)
    _, ser = tf.TFRecordReader().read(q)
    f = tf.parse_single_example(
        ser,
        {
            "i": tf.FixedLenFeature([], tf.int64),
            "f": tf.FixedLenFeature([2], tf.float32),
            "s": tf.FixedLenFeature((), tf.string, default_value=""),
            "v": tf.VarLenFeature(tf.int64),
        },
    )
    say(f["i"], f["f"], f["s"])
    with tf.Session() as s:
        s.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
        c = tf.train.Coordinator()
        t = tf.train.start_queue_runners(s, c)
        for _ in range(3):
            r = s.run([f["i"], f["f"], f["s"]])
            say(r)
        c.request_stop()
        c.join(t)

    def parse(x):
        return tf.io.parse_single_example(
            x, {"i": tf.io.FixedLenFeature([], tf.int64), "v": tf.io.VarLenFeature(tf.int64)}
        )["i"]

    nx = tf.data.make_one_shot_iterator(tf.data.TFRecordDataset([p]).map(parse).batch(3)).get_next()
    b = tf.parse_example([ex.SerializeToString()] * 2, {"f": tf.FixedLenFeature([2], tf.float32)})
    with tf.Session() as s:
        say(s.run(nx), s.run(b))


def text_reader(tf: Any, np: Any, say: Any, fails: Any) -> None:
    d = tempfile.mkdtemp()
    p = d + "/a.csv"
    open(p, "w").write("h\n1,2.5,a\n3,,b\n")
    q = tf.train.string_input_producer([p], num_epochs=1)
    k, v = tf.TextLineReader(skip_header_lines=1).read(q)
    cols = tf.decode_csv(v, record_defaults=[[0], [9.0], [""]])
    say(cols)
    with tf.Session() as s:
        s.run(tf.local_variables_initializer())
        c = tf.train.Coordinator()
        t = tf.train.start_queue_runners(s, c)
        say([s.run(cols) for _ in range(2)])
        c.request_stop()
        c.join(t)


def tables(tf: Any, np: Any, say: Any, fails: Any) -> None:
    t = tf.lookup.StaticHashTable(tf.lookup.KeyValueTensorInitializer(["a", "b"], [1, 2]), -1)
    o = t.lookup(tf.constant(["b", "z"]))
    with tf.Session() as s:
        fails(s.run, o)
        s.run(tf.tables_initializer())
        say(s.run(o), s.run(t.size()))


def metrics_streamed(tf: Any, np: Any, say: Any, fails: Any) -> None:
    l, p = (tf.placeholder(tf.int32, [None]), tf.placeholder(tf.float32, [None]))
    pi = tf.cast(p > 0.5, tf.int32)
    m = {
        "acc": tf.metrics.accuracy(l, pi),
        "prec": tf.metrics.precision(l, pi),
        "rec": tf.metrics.recall(l, pi),
        "auc": tf.metrics.auc(l, p),
        "mse": tf.metrics.mean_squared_error(tf.cast(l, tf.float32), p),
        "iou": tf.metrics.mean_iou(l, pi, 2),
        "fp": tf.metrics.false_positives(l, pi),
        "rmse": tf.metrics.root_mean_squared_error(tf.cast(l, tf.float32), p),
        "mae": tf.metrics.mean_absolute_error(tf.cast(l, tf.float32), p),
    }
    say([v.name for v in tf.local_variables()])
    with tf.Session() as s:
        s.run(tf.local_variables_initializer())
        for f in ({l: [1, 0, 1], p: [0.9, 0.6, 0.2]}, {l: [0, 0, 1], p: [0.1, 0.2, 0.8]}):
            s.run([u for _, u in m.values()], f)
        say({k: float(np.round(s.run(v[0]), 4)) for k, v in m.items()})


def freeze_and_import(tf: Any, np: Any, say: Any, fails: Any) -> None:
    x = tf.placeholder(tf.float32, [None, 2], name="x")
    w = tf.Variable([[1.0], [2.0]], name="w")
    y = tf.matmul(x, w, name="y")
    d = tempfile.mkdtemp()
    with tf.Session() as s:
        s.run(tf.global_variables_initializer())
        g = tf.graph_util.convert_variables_to_constants(s, s.graph.as_graph_def(), ["y"])
        say([(n.name, n.op) for n in g.node])
        say(os.path.basename(tf.train.write_graph(g, d, "f.pb", as_text=False)))
    with tf.gfile.GFile(d + "/f.pb", "rb") as f:
        gd = tf.GraphDef()
        gd.ParseFromString(f.read())
    with tf.Graph().as_default() as gr:
        out = tf.import_graph_def(
            gd, input_map={"x:0": tf.constant([[1.0, 1.0]])}, return_elements=["y:0"], name="imp"
        )
        say(out)
        with tf.Session() as s:
            say(s.run(out), [o.name for o in gr.get_operations()])
    fails(tf.import_graph_def, gd, return_elements=["zz:0"])
    fails(tf.import_graph_def, gd, input_map={"nope:0": tf.constant(1.0)})


def init_from_ckpt(tf: Any, np: Any, say: Any, fails: Any) -> None:
    d = tempfile.mkdtemp()
    with tf.Graph().as_default():
        with tf.variable_scope("old"):
            a = tf.get_variable("a", [2], initializer=tf.constant_initializer(3.0))
        with tf.Session() as s:
            s.run(tf.global_variables_initializer())
            tf.train.Saver().save(s, d + "/m")
    with tf.variable_scope("new"):
        b = tf.get_variable("a", [2], initializer=tf.zeros_initializer())
    tf.train.init_from_checkpoint(d, {"old/": "new/"})
    with tf.Session() as s:
        s.run(tf.global_variables_initializer())
        say(s.run(b))


def supervisor(tf: Any, np: Any, say: Any, fails: Any) -> None:
    d = tempfile.mkdtemp()
    gs = tf.Variable(0, name="global_step", trainable=False)
    inc = tf.assign_add(gs, 1)
    sv = tf.train.Supervisor(logdir=d, save_model_secs=0, save_summaries_secs=0)
    with sv.managed_session() as s:
        while not sv.should_stop():
            if s.run(inc) >= 3:
                break
        sv.saver.save(s, sv.save_path, global_step=sv.global_step)
    say(sorted((f for f in os.listdir(d) if "events" not in f)))


def sessions(tf: Any, np: Any, say: Any, fails: Any) -> None:
    a = tf.constant(2.0)
    b = a * 3
    N = collections.namedtuple("N", "p q")
    s = tf.InteractiveSession()
    say(b.eval())
    s.close()
    with tf.Session(
        config=tf.ConfigProto(inter_op_parallelism_threads=1, log_device_placement=False)
    ) as s:
        say(s.run({"x": a, "l": [a, (b,)], "n": N(a, b)}))
        say(s.run([]))
        say(s.run("mul:0"))
        say(s.run(b.op))
        fails(s.run, None)
        fails(s.run, "nope:0")
        fails(s.run, 3)
        fails(s.run, b, {"x": 1})
        say(s.graph is tf.get_default_graph(), tf.get_default_session() is s)
        md = tf.RunMetadata()
        s.run(b, options=tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE), run_metadata=md)
        say(len(md.step_stats.dev_stats) > 0)
        f = s.make_callable(b, [a])
        say(f(5.0))
        fails(s.run, b, feed_dict={a: "x"})
        fails(s.run, b, feed_dict=3)
    fails(s.run, b)
    with tf.Graph().as_default():
        fails(b.eval)
        c = tf.constant(1)
    with tf.Session() as s:
        fails(s.run, c)
    fails(a.eval)
