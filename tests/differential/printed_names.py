"""Programs that use rarer names of TensorFlow 1."""

import os
import tempfile
from typing import Any


def flags_of_every_kind(tf: Any, np: Any, say: Any, fails: Any) -> None:
    import enum

    flags, mark = tf.flags, "pn%d_" % id(tf)
    Color = enum.Enum("Color", "red green")
    flags.DEFINE_multi_integer(mark + "mi", [1, 2], "several")
    flags.DEFINE_multi_float(mark + "mf", 0.5, "several")
    flags.DEFINE_multi_enum(mark + "me", ["a"], ["a", "b"], "several")
    flags.DEFINE_enum_class(mark + "ec", Color.red, Color, "a color")
    flags.DEFINE_integer(mark + "n", 3, "a number")
    flags.register_validator(mark + "n", lambda v: v < 10, message="too large")
    flags.DEFINE_string(mark + "x", None, "either")
    flags.DEFINE_string(mark + "y", None, "or")
    flags.mark_flags_as_mutual_exclusive([mark + "x", mark + "y"])
    F = flags.FLAGS
    rest = F(["prog", f"--{mark}mi=7", f"--{mark}mi=8", f"--{mark}me=b", f"--{mark}ec=green", "left"])
    say(rest, [getattr(F, mark + n) for n in ("mi", "mf", "me", "n")], F[mark + "ec"].value.name)
    for bad in ([f"--{mark}n=12"], [f"--{mark}n=x"], [f"--{mark}me=z"]):
        try:
            F(["prog", *bad])
        except flags.Error as e:
            say(type(e).__name__)
    setattr(F, mark + "n", 3)
    try:
        F(["prog", f"--{mark}x=1", f"--{mark}y=2"])
    except flags.Error as e:
        say(type(e).__name__)


def joined_batches(tf: Any, np: Any, say: Any, fails: Any) -> None:
    rows = [[tf.constant([i, i]), tf.constant(float(i))] for i in (1, 2)]
    joined = tf.train.batch_join(rows, 4)
    shuffled = tf.train.shuffle_batch_join([{"a": tf.constant(1)}, {"a": tf.constant(2)}], 3, 20, 4, seed=1)
    say([t.name for t in joined], [t.shape for t in joined], shuffled["a"].name, shuffled["a"].shape)
    say([(len(r.enqueue_ops) if hasattr(r, "enqueue_ops") else len(r._enqueue_ops)) for r in tf.get_collection(tf.GraphKeys.QUEUE_RUNNERS)])
    with tf.Session() as s:
        coord = tf.train.Coordinator()
        threads = tf.train.start_queue_runners(s, coord)
        a, b = s.run(joined)
        say((a[:, 0] == b).all(), set(b.tolist()) <= {1.0, 2.0}, s.run(shuffled)["a"].shape)
        coord.request_stop()
        coord.join(threads)


def files_matched_once(tf: Any, np: Any, say: Any, fails: Any) -> None:
    d = tempfile.mkdtemp()
    for n in ("b.txt", "a.txt", "c.dat"):
        open(os.path.join(d, n), "w").close()
    names = tf.train.match_filenames_once(os.path.join(d, "*.txt"))
    say(names.name, names.dtype, [v.name for v in tf.local_variables()])
    with tf.Session() as s:
        s.run(tf.local_variables_initializer())
        say([os.path.basename(n).decode() for n in sorted(s.run(names))])


def signatures(tf: Any, np: Any, say: Any, fails: Any) -> None:
    x, y, c = tf.placeholder(tf.string, [None], name="x"), tf.placeholder(tf.float32, [None], name="y"), tf.placeholder(tf.string, [None], name="c")
    m = tf.saved_model
    sigs = [m.classification_signature_def(x, c, y), m.regression_signature_def(x, y), m.predict_signature_def({"x": x}, {"y": y})]
    for sig in sigs:
        say(sig.method_name, sorted(sig.inputs), sorted(sig.outputs), m.is_valid_signature(sig))
    say(m.SERVING, m.PREDICT_METHOD_NAME, m.ASSETS_DIRECTORY, m.signature_def_utils.is_valid_signature(sigs[0]))
    fails(m.classification_signature_def, None, c, y)
    fails(m.classification_signature_def, x, None, None)
    fails(m.regression_signature_def, x, None)
    fails(m.regression_signature_def, y, y)
    fails(m.regression_signature_def, x, x)
    fails(m.classification_signature_def, y, c, y)
    fails(m.classification_signature_def, x, y, y)
    fails(m.classification_signature_def, x, c, c)


def nested_structures(tf: Any, np: Any, say: Any, fails: Any) -> None:
    s = {"b": [1, (2, 3)], "a": 4}
    say(tf.nest.flatten(s), tf.nest.pack_sequence_as(s, [10, 20, 30, 40]), tf.nest.map_structure(lambda v: v * 2, s), tf.nest.is_nested(s))
    fails(tf.nest.assert_same_structure, [1, 2], [1])
    fails(tf.nest.pack_sequence_as, [1, 2], [1])


def sets_and_moments(tf: Any, np: Any, say: Any, fails: Any) -> None:
    a, b = tf.constant([[1, 2, 3], [4, 4, 5]]), tf.constant([[3, 9, 9], [4, 5, 6]])
    out = [tf.sets.set_intersection(a, b), tf.sets.set_union(a, b), tf.sets.set_difference(a, b), tf.sets.set_difference(a, b, False)]
    x = tf.constant([[1.0, 2.0], [3.0, 5.0]])
    wm = tf.nn.weighted_moments(x, [0], [[1.0], [3.0]])
    ss = tf.nn.sufficient_statistics(x, [0])
    blob = tf.serialize_tensor(x)
    with tf.Session() as s:
        for o in out:
            say(s.run(o).values.tolist(), s.run(o).dense_shape.tolist(), s.run(tf.sets.set_size(o)).tolist())
        say(s.run(wm), s.run(ss[:3]), s.run(tf.parse_tensor(blob, tf.float32)).tolist())
        say(s.run(tf.cast(tf.SparseTensor([[0, 1]], [1.7], [2, 2]), tf.int32)))
        say(s.run(tf.grad_pass_through(lambda v: tf.round(v))(x)), s.run(tf.gradients(tf.grad_pass_through(tf.round)(x) * 2.0, x)))


def scattered_methods(tf: Any, np: Any, say: Any, fails: Any) -> None:
    v = tf.Variable([2.0, 4.0, 6.0], name="v")
    d = tf.IndexedSlices(tf.constant([3.0]), tf.constant([1]))
    with tf.Session() as s:
        s.run(v.initializer)
        for f in (v.scatter_mul, v.scatter_div, v.scatter_min, v.scatter_max, v.scatter_add):
            say(s.run(f(d)).tolist())
        say(s.run(v.scatter_nd_add([[0]], [1.0])).tolist(), s.run(v.scatter_nd_sub([[0]], [1.0])).tolist(), s.run(v.scatter_nd_update([[2]], [0.0])).tolist())


def reads_after_writes(tf: Any, np: Any, say: Any, fails: Any) -> None:
    """What waits for a write of a reference variable sees what was written."""
    v = tf.Variable(1.0, name="v")
    assign = v.assign(5.0)
    with tf.control_dependencies([assign]):
        twice, same, again = v * 2.0, tf.identity(v), v.read_value()
    early = tf.identity(v)
    with tf.control_dependencies([tf.assign_add(v, 1.0)]):
        late = early + 0.0
    w = tf.Variable([1.0, 2.0], name="w")
    train = tf.train.GradientDescentOptimizer(0.5).minimize(tf.reduce_sum(w * w), var_list=[w])
    ema = tf.train.ExponentialMovingAverage(0.5)
    with tf.control_dependencies([train]):
        step = ema.apply([w])
    with tf.control_dependencies([train]):
        loss = tf.reduce_sum(w * w)
    with tf.Session() as s:
        for f in (twice, same, again, [twice, again], late, late):
            s.run(v.initializer)
            say(s.run(f))
        s.run(tf.global_variables_initializer())
        say(s.run(loss))
        s.run(step)
        say(s.run([w, ema.average(w)]))
