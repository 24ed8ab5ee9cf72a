"""Programs as people write them: loops with gradients of gradients, recurrent nets, tables, embeddings, pictures,
queues, random numbers, errors within loops."""

import numpy as np

from case import Case, case, table
from cases_flow import both

X = np.float32([[0.1, -0.4, 0.3], [0.7, 0.2, -0.6]])


def _fed(tf, value=X, shape=None):
    return tf.placeholder(tf.as_dtype(value.dtype), shape if shape is not None else value.shape)


# ---- Loops and branches.


@both
def second_gradient_of_a_loop(tf):
    x = _fed(tf, np.float32(0.9))
    y = tf.while_loop(lambda i, a: i < 3, lambda i, a: (i + 1, a * a * x), [0, x])[1]
    first = tf.gradients(y, x)[0]
    return Case([y, first], {x: np.float32(0.9)})


@both
def loop_over_a_tensor_array_with_gradient(tf):
    x = _fed(tf)
    rows = tf.TensorArray(tf.float32, 2).unstack(x)

    def body(i, state, out):
        state = tf.tanh(state + rows.read(i))
        return i + 1, state, out.write(i, state * 2.0)

    _, last, out = tf.while_loop(lambda i, *_: i < 2, body, [0, tf.zeros([3]), tf.TensorArray(tf.float32, 2)])
    loss = tf.reduce_sum(out.stack() ** 2) + tf.reduce_sum(last)
    return Case([loss, *tf.gradients(loss, x)], {x: X})


@both
def loop_in_a_branch_in_a_loop(tf):
    x = _fed(tf)

    def inner(a):
        return tf.while_loop(lambda j, b: j < 3, lambda j, b: (j + 1, b * 0.5 + x), [0, a])[1]

    def body(i, a):
        return i + 1, tf.cond(tf.reduce_sum(a) > 0, lambda: inner(a), lambda: a + 1.0)

    y = tf.while_loop(lambda i, a: i < 4, body, [0, x - 1.0])[1]
    return Case([y, *tf.gradients(tf.reduce_sum(y * y), x)], {x: X})


@both
def loop_that_ends_by_its_values(tf):
    x = _fed(tf)
    y = tf.while_loop(lambda a, n: tf.reduce_max(tf.abs(a)) > 0.05, lambda a, n: (a * 0.6, n + 1), (x, 0), maximum_iterations=20)
    return Case(list(y), {x: X})


@both
def loop_with_many_variables(tf):
    x = _fed(tf)

    end = tf.while_loop(lambda i, *_: i < 7, lambda i, a, b: (i + 1, b, a + tf.reduce_sum(b)), [tf.constant(0), x, x * 2.0])
    return Case([end[1], end[2]], {x: X})


@both
def loop_that_updates_a_variable(tf):
    v = tf.get_variable("v", initializer=np.float32([1, 2]), use_resource=True)

    def body(i):
        with tf.control_dependencies([v.assign_add([1.0, 10.0])]):
            return i + 1

    init, end = tf.global_variables_initializer(), tf.while_loop(lambda i: i < 4, body, [0], parallel_iterations=1)
    with tf.control_dependencies([end]):
        return Case([v.read_value()], {}, [init])


@both
def error_inside_a_loop(tf):
    x = _fed(tf)

    def body(i, a):
        with tf.control_dependencies([tf.Assert(i < 2, ["too far", i])]):
            return i + 1, a + 1.0

    return Case([tf.while_loop(lambda i, a: i < 5, body, [0, x])[1]], {x: X})


@both
def branch_with_side_effects(tf):
    v, x = tf.get_variable("v", initializer=0.0, use_resource=True), _fed(tf)
    init = tf.global_variables_initializer()
    done = tf.cond(tf.reduce_sum(x) > 100, lambda: tf.identity(v.assign_add(5.0)), lambda: tf.identity(v.assign_sub(1.0)))
    with tf.control_dependencies([done]):
        return Case([v.read_value()], {x: X}, [init])


@both
def foldl_and_foldr(tf):
    x = _fed(tf)
    return Case([tf.foldl(lambda a, r: a * 0.5 + r, x), tf.foldr(lambda a, r: a - r, x)], {x: X})


@both
def map_fn_of_structures(tf):
    x = _fed(tf)
    return Case(list(tf.map_fn(lambda p: (p[0] + p[1], tf.reduce_sum(p[0])), (x, x * 2.0))), {x: X})


@both
def scan_with_gradient(tf):
    x = _fed(tf)
    y = tf.scan(lambda a, r: tf.sigmoid(a + r), x, initializer=tf.zeros([3]))
    return Case([y, *tf.gradients(y, x)], {x: X})


@both
def switch_case(tf):
    x = _fed(tf, np.int32(1))
    return Case([tf.switch_case(x, [lambda: tf.constant(10.0), lambda: tf.constant(20.0)], default=lambda: tf.constant(-1.0))], {x: np.int32(1)})


@case
def function_with_nested_flow(tf):
    import tensorflow

    @tensorflow.function
    def collatz(n):
        steps = tf.constant(0)
        while n > 1:
            if tf.equal(n % 2, 0):
                n = n // 2
            else:
                n = 3 * n + 1
                if n > 100:
                    steps += 10
            steps += 1
        return steps

    return [collatz(tf.constant(27)), collatz(tf.constant(6))]


@case
def function_with_break_and_continue(tf):
    import tensorflow

    @tensorflow.function
    def total(x, limit):
        found = 0.0
        for i in tf.range(tf.shape(x)[0]):
            if x[i] < 0:
                continue
            found += x[i]
            if found > limit:
                break
        return found

    x = tf.constant([0.1, -0.5, 0.9, 4.0])
    return [total(x, 0.4), total(x, 20.0)]


@case
def custom_gradient(tf):
    import tensorflow

    @tensorflow.custom_gradient
    def clipped(x):
        return tf.identity(x), lambda dy: tf.clip_by_value(dy, -0.1, 0.1)

    x = _fed(tf)
    return Case(tf.gradients(tf.reduce_sum(clipped(x) ** 2), x), {x: X})


# ---- Tables, embeddings, queues.


@case
def embedding_by_words(tf):
    words = tf.lookup.StaticVocabularyTable(tf.lookup.KeyValueTensorInitializer(["a", "b", "c"], tf.constant([0, 1, 2], tf.int64)), 2)
    rows = tf.get_variable("rows", initializer=np.arange(10, dtype="float32").reshape(5, 2), use_resource=True)
    x = tf.placeholder(tf.string, [None, None])
    mean = tf.reduce_mean(tf.nn.embedding_lookup(rows, words.lookup(x)), 1)
    step = tf.train.AdagradOptimizer(0.5).minimize(tf.reduce_sum(mean ** 2))
    return Case([mean, rows.read_value()], {x: np.array([["a", "c"], ["zz", "b"]], object)}, [tf.global_variables_initializer(), tf.tables_initializer(), step])


@case
def embedding_sparse_weighted(tf):
    rows = tf.get_variable("rows", initializer=np.arange(12, dtype="float32").reshape(4, 3), use_resource=True)
    ids = tf.SparseTensor([[0, 0], [0, 1], [2, 0]], tf.constant([1, 3, 2], tf.int64), [3, 2])
    weights = tf.SparseTensor([[0, 0], [0, 1], [2, 0]], [0.5, 2.0, 1.0], [3, 2])
    outs = [tf.nn.embedding_lookup_sparse(rows, ids, weights, combiner=c) for c in ("sum", "mean", "sqrtn")]
    safe = tf.nn.safe_embedding_lookup_sparse([rows], ids)
    return Case([*outs, safe, tf.convert_to_tensor(tf.gradients(tf.reduce_sum(outs[1]), rows)[0])], {}, [tf.global_variables_initializer()])


@case
def feature_columns(tf):
    fc = tf.feature_column
    words = fc.categorical_column_with_vocabulary_list("w", ["red", "green"], num_oov_buckets=1)
    columns = [fc.numeric_column("n", shape=[2]), fc.indicator_column(words), fc.embedding_column(words, 2, initializer=tf.constant_initializer(0.5)),
               fc.bucketized_column(fc.numeric_column("a"), [1.0, 3.0])]
    layer = fc.input_layer({"n": tf.constant([[1.0, 2.0], [3.0, 4.0]]), "w": tf.constant([["green"], ["?"]]), "a": tf.constant([[0.5], [2.0]])}, columns)
    return Case([layer], {}, [tf.global_variables_initializer(), tf.tables_initializer()])


@case
def queues_of_many_kinds(tf):
    padded = tf.PaddingFIFOQueue(4, tf.int32, shapes=[[None]])
    ordered = tf.PriorityQueue(4, [tf.string], [[]])
    fill = tf.group(padded.enqueue([[1, 2]]), ordered.enqueue_many([tf.constant([3, 1], tf.int64), ["c", "a"]]))
    more = padded.enqueue([[7]])
    return Case([padded.dequeue_many(2), *ordered.dequeue()], {}, [fill, more])


PIXELS = np.linspace(-1, 2, 2 * 4 * 5 * 3).astype("float32").reshape(2, 4, 5, 3)

# ---- Values.
table("program", [
    ("summary_of_pictures", lambda tf: [tf.summary.image("signed", PIXELS), tf.summary.image("one", np.abs(PIXELS), max_outputs=1), tf.summary.image("bytes", (PIXELS * 100 + 100).astype("uint8")),
                                        tf.summary.image("odd", np.where(PIXELS > 1.9, np.nan, PIXELS).astype("float32")), tf.summary.image("half", tf.cast(PIXELS[..., :1], tf.half))]),
    ("summary_of_sounds", lambda tf: [tf.summary.audio("two", np.sin(np.arange(40.0)).astype("float32").reshape(2, 20), 8000), tf.summary.audio("stereo", np.ones((1, 10, 2), "float32") * 0.25, 44100.0, 1)]),
    ("summary_of_texts", lambda tf: [tf.summary.text("words", tf.constant(["a", "b"])), tf.summary.tensor_summary("numbers", tf.constant([1.5, 2.5]), summary_description="what", display_name="shown", family="f")]),
    ("summary_merged", lambda tf: tf.summary.merge([tf.summary.scalar("loss", 2.5), tf.summary.histogram("weights", [1.0, -2.0, 0.5]), tf.summary.text("t", tf.constant("hi"))])),
    ("summary_of_a_wrong_shape", lambda tf: tf.raw_ops.ImageSummary(tag="x", tensor=tf.placeholder_with_default(tf.zeros([2, 3]), None))),
    ("stateless", lambda tf: [tf.random.stateless_uniform([5], [1, 2]), tf.random.stateless_uniform([5], [1, 2], 0, 100, tf.int32), tf.random.stateless_normal([4], [3, 4]),
                              tf.random.stateless_truncated_normal([4], [5, 6]), tf.random.stateless_categorical([[0.1, 0.9, 0.4]], 6, [7, 8]),
                              tf.random.stateless_gamma([3], [1, 1], alpha=[0.5, 2.0, 9.0]), tf.random.stateless_poisson([4], [2, 2], 1.5)]),
    ("stateless_algorithms", lambda tf: [tf.random.stateless_uniform([5], [1, 2], alg=a) for a in ("philox", "auto_select")]),
    ("seeded", lambda tf: [tf.random.uniform([4], seed=3), tf.random.normal([4], seed=3), tf.random.poisson([1.0, 5.0], [2], seed=4), tf.multinomial([[1.0, 2.0]], 5, seed=9),
                           tf.random.gamma([2], [1.0, 3.0], seed=2), tf.random.shuffle(tf.range(8), seed=1)]),
    ("string_split", lambda tf: [tf.string_split(["a b  c", "d"]).values, tf.strings.split(["x,y", "", "z"], sep=",").values, *tf.unique_with_counts(["a", "b", "a"])]),
    ("string_numbers", lambda tf: [tf.as_string([1e-7, 3.25, -0.0, float("inf")], precision=3), tf.as_string([1.5], scientific=True), tf.as_string([True, False]), tf.as_string([7], width=4, fill="0")]),
    ("picture_distortion", lambda tf: [tf.image.random_flip_left_right(tf.reshape(tf.range(24.0), [2, 4, 3]), seed=4), tf.image.random_brightness(tf.reshape(tf.range(24.0), [2, 4, 3]), 0.3, seed=4),
                                       tf.image.random_crop(tf.reshape(tf.range(24.0), [2, 4, 3]), [1, 2, 3], seed=2), tf.image.random_hue(tf.reshape(tf.range(24.0), [2, 4, 3]) / 24, 0.2, seed=2)]),
    ("einsum", lambda tf: [tf.einsum("bhqd,bhkd->bhqk", tf.ones([2, 2, 3, 4]), tf.ones([2, 2, 5, 4])), tf.einsum("ij,jk,kl->il", tf.ones([2, 3]), tf.ones([3, 4]), tf.ones([4, 2])), tf.einsum("ii->i", tf.reshape(tf.range(9.0), [3, 3]))]),
    ("ragged_to_dense", lambda tf: [tf.ragged.constant([[1, 2], [], [3]]).to_tensor(), tf.reduce_max(tf.ragged.constant([[1, 5], [2]]), 1), tf.ragged.constant([["a"], ["b", "c"]]).to_tensor("-")]),
    ("sets", lambda tf: [tf.sparse.to_dense(tf.sets.intersection([[1, 2, 3]], [[2, 3, 9]])), tf.sets.size(tf.sets.union([[1, 2]], [[5, 2]])), tf.sparse.to_dense(tf.sets.difference([[1, 2]], [[2, 7]]))]),
    ("confusion", lambda tf: [tf.math.confusion_matrix([0, 1, 2, 1], [0, 2, 2, 1]), tf.nn.in_top_k([[0.1, 0.9], [0.2, 0.8]], [1, 0], 1)]),
    ("metrics", lambda tf: Case([tf.metrics.accuracy(tf.constant([1, 0, 1]), tf.constant([1, 1, 1]))[1], tf.metrics.auc(tf.constant([True, False, True]), tf.constant([0.8, 0.6, 0.3]))[1], tf.metrics.mean(tf.constant([1.0, 3.0]))[1]], {}, [tf.local_variables_initializer()])),
    ("losses", lambda tf: [tf.losses.softmax_cross_entropy([[0.0, 1.0]], [[0.3, 0.4]], label_smoothing=0.1), tf.losses.hinge_loss([[1.0, 0.0]], [[0.3, 0.4]]), tf.losses.log_loss([1.0, 0.0], [0.8, 0.3]),
                           tf.losses.cosine_distance([[0.6, 0.8]], [[1.0, 0.0]], axis=1), tf.losses.mean_pairwise_squared_error([[1.0, 2.0]], [[2.0, 5.0]])]),
    ("ctc", lambda tf: tf.nn.ctc_loss(tf.SparseTensor([[0, 0], [0, 1]], [1, 2], [1, 2]), tf.reshape(tf.sin(tf.range(20.0)), [5, 1, 4]), [5])),
    ("learning_rates", lambda tf: [tf.train.exponential_decay(0.1, 37, 10, 0.9, staircase=True), tf.train.piecewise_constant(tf.constant(7), [5, 9], [1.0, 0.5, 0.1]), tf.train.polynomial_decay(0.1, 3, 10), tf.train.cosine_decay(0.1, 3, 10)]),
    ("histogram", lambda tf: [tf.histogram_fixed_width([-1.0, 0.0, 1.5, 2.0, 5.0, 15.0], [0.0, 5.0], nbins=5), tf.math.bincount([1, 1, 3]), tf.raw_ops.Bucketize(input=[0.5, 2.0], boundaries=[1.0])]),
    ("batch_matrices", lambda tf: [tf.linalg.matmul(tf.ones([3, 1, 2, 4]), tf.ones([5, 4, 3])), tf.linalg.diag([[1.0, 2.0]]), tf.linalg.det([[[2.0, 1.0], [1.0, 3.0]]]), tf.linalg.band_part(tf.ones([3, 3]), 0, 1)]),
    ("quantized", lambda tf: [tf.quantization.fake_quant_with_min_max_args([-10.0, 0.3, 5.0]), tf.quantization.quantize([0.1, 0.9], 0.0, 1.0, tf.quint8)[1], tf.quantization.quantize_and_dequantize_v2([0.1, 0.77], 0.0, 1.0, range_given=True)]),
    ("bit_work", lambda tf: [tf.bitwise.bitwise_xor([12], [10]), tf.bitwise.left_shift([1], [5]), tf.bitwise.invert(tf.constant([1], tf.uint8)), tf.bitcast(tf.constant([1.0]), tf.int32), tf.raw_ops.PopulationCount(x=[7, 8])]),
    ("py_like_slices", lambda tf: [tf.reshape(tf.range(24), [2, 3, 4])[..., ::-1], tf.reshape(tf.range(24), [2, 3, 4])[1, tf.newaxis, 1:, 0], tf.reshape(tf.range(24), [4, 6])[-3:-1, ::-2]]),
])
