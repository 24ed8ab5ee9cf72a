"""Graphs of strangers: functions in loops, words to numbers, pictures cut and scaled, matrices taken apart, rows of
different lengths, several devices."""

import numpy as np

from case import Case, case

X = np.float32([[0.5, -1.0, 2.0], [1.5, 0.25, -0.75]])
IMAGE = np.linspace(0, 1, 2 * 6 * 5 * 3, dtype=np.float32).reshape(2, 6, 5, 3)


@case
def strangers_attention_with_gradient(tf):
    q = tf.placeholder(tf.float32, [None, 3])
    w = tf.get_variable("w", [3, 3], initializer=tf.constant_initializer(np.arange(9) / 9.0))
    scores = tf.matmul(tf.matmul(q, w), q, transpose_b=True) / tf.sqrt(3.0)
    mask = tf.linalg.band_part(tf.ones_like(scores), -1, 0)
    weights = tf.nn.softmax(tf.where(mask > 0, scores, tf.fill(tf.shape(scores), -1e9)))
    out = tf.einsum("ij,jk->ik", weights, q)
    return Case([out, *tf.gradients(tf.reduce_sum(out * out), [q, w])], {q: X}, [tf.global_variables_initializer()])


@case
def strangers_layer_norm_and_gelu(tf):
    x = tf.placeholder(tf.float32, [2, 3])
    mean, variance = tf.nn.moments(x, [1], keepdims=True)
    y = tf.nn.batch_normalization(x, mean, variance, tf.constant([0.1, 0.2, 0.3]), tf.constant([1.0, 2.0, 0.5]), 1e-5)
    z = 0.5 * y * (1.0 + tf.erf(y / np.sqrt(2.0)))
    return Case([z, *tf.gradients(z, x)], {x: X})


@case
def strangers_words_counted(tf):
    lines = tf.placeholder(tf.string, [None])
    words = tf.string_split(lines)
    table = tf.lookup.StaticHashTable(tf.lookup.KeyValueTensorInitializer(["the", "cat"], tf.constant([1, 2], tf.int64)), 0)
    ids = tf.sparse.to_dense(table.lookup(words), default_value=-1)
    distinct, _, counts = tf.unique_with_counts(words.values)
    shout = tf.strings.upper(tf.strings.regex_replace(lines, "[aeiou]", "_"))
    given = np.array([b"the cat sat", b"the mat", b""], object)
    return Case([ids, distinct, counts, shout, tf.strings.length(lines)], {lines: given}, [tf.tables_initializer()])


@case
def strangers_numbers_as_text(tf):
    x = tf.constant([1.5, -2.25, 1e10])
    text = tf.as_string(x, precision=2)
    back = tf.string_to_number(["1.5", "2e3"])
    rows = tf.decode_csv(["1,2.5,a", "3,,b"], [[0], [9.0], [""]])
    return [text, tf.as_string([7, 8], width=3, fill="0"), back, *rows, tf.reduce_join(text, 0, separator="|"), tf.encode_base64(text)]


@case
def strangers_pictures(tf):
    image = tf.placeholder(tf.float32, [None, 6, 5, 3])
    flipped = tf.image.flip_left_right(image)
    small = tf.image.resize_bilinear(flipped, [3, 4])
    cut = tf.image.crop_and_resize(image, [[0.0, 0.0, 0.5, 0.5], [0.2, 0.1, 1.0, 0.9]], [0, 1], [3, 3])
    gray = tf.image.rgb_to_grayscale(tf.image.adjust_contrast(image, 1.5))
    keep = tf.image.non_max_suppression([[0.0, 0.0, 1.0, 1.0], [0.0, 0.0, 1.0, 0.9], [2.0, 2.0, 3.0, 3.0]], [0.9, 0.8, 0.7], 2)
    return Case([small, cut, gray, keep, *tf.gradients(small, image), tf.image.adjust_saturation(image, 0.5)], {image: IMAGE})


@case
def strangers_convolutions(tf):
    image = tf.placeholder(tf.float32, [2, 6, 5, 3])
    k = tf.constant(np.linspace(-1, 1, 3 * 3 * 3 * 4, dtype=np.float32).reshape(3, 3, 3, 4))
    a = tf.nn.relu(tf.nn.conv2d(image, k, strides=[1, 2, 1, 1], padding="SAME"))
    b = tf.nn.depthwise_conv2d(a, k[:, :, :1, :][:, :, :, :4] * tf.ones([3, 3, 4, 1]), [1, 1, 1, 1], "VALID")
    c = tf.nn.atrous_conv2d(image, k, 2, "SAME")
    pooled = tf.nn.avg_pool(a, [1, 2, 2, 1], [1, 1, 1, 1], "SAME") + tf.nn.max_pool(a, [1, 2, 2, 1], [1, 1, 1, 1], "SAME")
    return Case([b, c, *tf.gradients(tf.reduce_sum(pooled ** 2), [image, k])], {image: IMAGE})


@case
def strangers_matrices(tf):
    a = tf.constant([[4.0, 1.0, 0.5], [1.0, 3.0, 0.2], [0.5, 0.2, 2.0]])
    low = tf.cholesky(a)
    q, r = tf.qr(a)
    values = tf.self_adjoint_eigvals(a)
    solved = tf.matrix_solve(a, tf.ones([3, 1]))
    return [low, tf.matmul(q, r), values, solved, tf.matrix_determinant(a), tf.svd(a, compute_uv=False), *tf.gradients(tf.linalg.logdet(a), a)]


@case
def strangers_embedding_training(tf):
    ids = tf.placeholder(tf.int32, [None])
    table = tf.get_variable("table", [5, 2], initializer=tf.constant_initializer(np.arange(10) / 10.0))
    step = tf.train.get_or_create_global_step()
    loss = tf.reduce_sum(tf.square(tf.nn.embedding_lookup(table, ids) - 1.0))
    rate = tf.train.exponential_decay(0.5, step, 2, 0.5)
    train = tf.train.AdagradOptimizer(rate).minimize(loss, global_step=step)
    with tf.control_dependencies([train]):
        after = [tf.identity(table.read_value() if hasattr(table, "read_value") else table), tf.identity(step)]
    return Case([loss, *after], {ids: np.int32([1, 3, 1])}, [tf.global_variables_initializer()], steps=3)


@case
def strangers_clipped_momentum(tf):
    x = tf.placeholder(tf.float32, [2, 3])
    w = tf.Variable(tf.ones([3, 1]), name="w")
    loss = tf.losses.huber_loss(tf.zeros([2, 1]), tf.matmul(x, w))
    opt = tf.train.MomentumOptimizer(0.1, 0.9, use_nesterov=True)
    grads, names = zip(*opt.compute_gradients(loss))
    clipped, norm = tf.clip_by_global_norm(grads, 0.3)
    train = opt.apply_gradients(zip(clipped, names))
    with tf.control_dependencies([train]):
        now = tf.identity(w)
    return Case([loss, norm, now], {x: X}, [tf.global_variables_initializer()], steps=4)


@case
def strangers_signal(tf):
    x = tf.placeholder(tf.float32, [16])
    spectrum = tf.signal.rfft(x)
    frames = tf.signal.frame(x, 4, 2)
    return Case([spectrum, tf.abs(tf.signal.stft(x, 8, 4)), frames, tf.signal.dct(x), tf.cumsum(x, reverse=True)], {x: np.sin(np.arange(16)).astype(np.float32)})


@case
def strangers_dynamic_pieces(tf):
    x = tf.placeholder(tf.float32, [None, 3])
    parts = tf.dynamic_partition(x, tf.cast(x[:, 0] > 1.0, tf.int32), 2)
    stitched = tf.dynamic_stitch([[0], [1, 2]], [tf.zeros([1, 3]), x])
    best, where = tf.nn.top_k(x, 2)
    return Case(
        [*parts, stitched, best, where, tf.boolean_mask(x, x[:, 2] > 0), tf.scatter_nd([[1], [3]], x, [4, 3]), tf.gather_nd(x, [[0, 1], [1, 2]]), *tf.gradients(best, x)],
        {x: X},
    )


@case
def strangers_switch_of_functions(tf):
    import tensorflow

    @tensorflow.function
    def body(n, a):
        for i in tensorflow.range(n):
            if a[0] > 3.0:
                break
            a = a * 1.5 + tensorflow.cast(i, tensorflow.float32)
        return a

    n, a = tf.placeholder(tf.int32, []), tf.placeholder(tf.float32, [2])
    chosen = tensorflow.switch_case(n % 3, [lambda: a + 1.0, lambda: a * 2.0, lambda: body(n, a)])
    return Case([body(n, a), chosen], {n: np.int32(5), a: np.float32([0.5, 1.0])})


@case
def strangers_folds_and_maps(tf):
    x = tf.placeholder(tf.float32, [2, 3])
    scanned = tf.scan(lambda s, row: s * 0.5 + row, x, initializer=tf.zeros([3]))
    mapped = tf.map_fn(lambda row: tf.reduce_max(row) - row, x)
    folded = tf.foldl(lambda s, row: s + tf.reduce_sum(row), x, initializer=0.0)
    return Case([scanned, mapped, folded, *tf.gradients(scanned, x)], {x: X})


@case
def strangers_seeded(tf):
    a = tf.random_normal([3], seed=4)
    b = tf.random_uniform([2, 2], minval=-3, maxval=9, dtype=tf.int32, seed=5)
    c = tf.random_shuffle(tf.range(6), seed=6)
    d = tf.random.stateless_uniform([3], [1, 2])
    e = tf.multinomial(tf.log([[0.2, 0.3, 0.5]]), 4, seed=7)
    return [a, b, c, d, e, tf.nn.dropout(tf.ones([6]), rate=0.5, seed=8), tf.truncated_normal([2], seed=9)]


@case
def pins_strangers_towers(tf):
    x = tf.placeholder(tf.float32, [4, 3])
    losses, grads = [], []
    with tf.variable_scope("model") as scope:
        for i, piece in enumerate(tf.split(x, 2)):
            with tf.device(f"/cpu:{i + 1}"), tf.name_scope(f"tower{i}"):
                w = tf.get_variable("w", [3, 1], initializer=tf.ones_initializer())
                loss = tf.reduce_mean(tf.square(tf.matmul(piece, w) - 1.0))
                scope.reuse_variables()
                losses.append(loss)
                grads.append(tf.gradients(loss, w)[0])
    with tf.device("/cpu:3"):
        mean = tf.add_n(grads) / 2.0
        with tf.colocate_with(w), tf.control_dependencies([tf.assign_sub(w, 0.1 * mean)]):
            new = tf.identity(w)
    return Case([*losses, mean, new], {x: np.concatenate([X, X * 0.5])}, [tf.global_variables_initializer()], cpus=4)


@case
def strangers_checks(tf):
    x = tf.placeholder(tf.float32, [None])
    with tf.control_dependencies([tf.assert_positive(x, message="must be positive")]):
        y = tf.sqrt(x)
    return Case([y], {x: np.float32([1.0, -4.0])})
