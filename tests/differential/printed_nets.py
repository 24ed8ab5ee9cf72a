"""Nets as tutorials have them: word vectors, recurrent and convolution nets, pairs of nets, policies."""

from typing import Any


def word2vec_nce(tf: Any, np: Any, say: Any, fails: Any) -> None:
    tf.set_random_seed(1)
    vocab, dim, batch = (40, 8, 16)
    words = tf.placeholder(tf.int32, [batch])
    labels = tf.placeholder(tf.int32, [batch, 1])
    emb = tf.Variable(tf.random_uniform([vocab, dim], -1.0, 1.0), name="embeddings")
    embed = tf.nn.embedding_lookup(emb, words)
    w = tf.Variable(tf.truncated_normal([vocab, dim], stddev=1.0 / np.sqrt(dim)))
    b = tf.Variable(tf.zeros([vocab]))
    loss = tf.reduce_mean(
        tf.nn.nce_loss(
            weights=w, biases=b, labels=labels, inputs=embed, num_sampled=5, num_classes=vocab
        )
    )
    train = tf.train.GradientDescentOptimizer(0.5).minimize(loss)
    norm = tf.sqrt(tf.reduce_sum(tf.square(emb), 1, keep_dims=True))
    normed = emb / norm
    sim = tf.matmul(tf.nn.embedding_lookup(normed, tf.constant([1, 2])), normed, transpose_b=True)
    rng = np.random.RandomState(0)
    with tf.Session() as s:
        s.run(tf.global_variables_initializer())
        for _ in range(5):
            x = rng.randint(0, vocab, batch)
            l, _ = s.run([loss, train], {words: x, labels: ((x + 1) % vocab)[:, None]})
            say(round(float(l), 3))
        say(np.round(sim.eval()[:, :4], 3))
    say(len(tf.get_default_graph().get_operations()))


def sampled_softmax(tf: Any, np: Any, say: Any, fails: Any) -> None:
    tf.set_random_seed(3)
    w = tf.get_variable("w", [30, 4], initializer=tf.random_normal_initializer(seed=1))
    b = tf.get_variable("b", [30], initializer=tf.zeros_initializer())
    x = tf.constant(np.random.RandomState(1).randn(6, 4), tf.float32)
    y = tf.constant([[1], [2], [3], [4], [5], [6]], tf.int64)
    loss = tf.reduce_mean(tf.nn.sampled_softmax_loss(w, b, y, x, 8, 30))
    opt = tf.train.AdagradOptimizer(0.3)
    gv = opt.compute_gradients(loss)
    say([type(g).__name__ for g, _ in gv])
    train = opt.apply_gradients(gv)
    with tf.Session() as s:
        s.run(tf.global_variables_initializer())
        for _ in range(4):
            say(np.round(s.run([loss, train])[0], 3))
        say(np.round(s.run(w)[:3], 3))


def lstm_by_hand(tf: Any, np: Any, say: Any, fails: Any) -> None:
    tf.set_random_seed(2)
    n, h, t = (3, 5, 4)
    x = tf.placeholder(tf.float32, [None, t, n])

    def gate(name, xh, act):
        with tf.variable_scope(name):
            W = tf.get_variable("W", [n + h, h], initializer=tf.glorot_uniform_initializer())
            b = tf.get_variable("b", [h], initializer=tf.zeros_initializer())
            return act(tf.nn.xw_plus_b(xh, W, b))

    state = tf.zeros([tf.shape(x)[0], h])
    c = tf.zeros_like(state)
    with tf.variable_scope("lstm") as vs:
        for k in range(t):
            if k > 0:
                vs.reuse_variables()
            xh = tf.concat([x[:, k, :], state], 1)
            i, f, o = (gate(g, xh, tf.sigmoid) for g in ("i", "f", "o"))
            c = f * c + i * gate("c", xh, tf.tanh)
            state = o * tf.tanh(c)
    logits = tf.layers.dense(state, 2, name="out")
    loss = tf.reduce_mean(
        tf.nn.sparse_softmax_cross_entropy_with_logits(labels=[0, 1], logits=logits)
    )
    grads, norm = tf.clip_by_global_norm(tf.gradients(loss, tf.trainable_variables()), 1.0)
    train = tf.train.AdamOptimizer(0.05).apply_gradients(zip(grads, tf.trainable_variables()))
    say([v.name for v in tf.trainable_variables()])
    data = np.random.RandomState(0).rand(2, t, n)
    with tf.Session() as s:
        s.run(tf.global_variables_initializer())
        for _ in range(4):
            l, g, _ = s.run([loss, norm, train], {x: data})
            say(round(float(l), 4), round(float(g), 4))


def dynamic_rnn_classifier(tf: Any, np: Any, say: Any, fails: Any) -> None:
    tf.set_random_seed(5)
    x = tf.placeholder(tf.float32, [None, 6, 3])
    seq = tf.placeholder(tf.int32, [None])
    cell = tf.nn.rnn_cell.MultiRNNCell(
        [
            tf.nn.rnn_cell.DropoutWrapper(tf.nn.rnn_cell.BasicLSTMCell(4), output_keep_prob=1.0),
            tf.nn.rnn_cell.GRUCell(5),
        ]
    )
    out, state = tf.nn.dynamic_rnn(cell, x, sequence_length=seq, dtype=tf.float32)
    say(out.shape, state)
    last = tf.gather_nd(out, tf.stack([tf.range(tf.shape(seq)[0]), seq - 1], 1))
    loss = tf.losses.mean_squared_error(tf.ones_like(last), last)
    train = tf.train.RMSPropOptimizer(0.01).minimize(loss)
    with tf.Session() as s:
        s.run(tf.global_variables_initializer())
        d = np.random.RandomState(1).rand(2, 6, 3)
        for _ in range(3):
            say(np.round(s.run([loss, train], {x: d, seq: [3, 6]})[0], 4))
        say(np.round(s.run(out, {x: d, seq: [3, 6]})[0, :, :2], 3))
    say([v.name for v in tf.global_variables()])


def autoencoder(tf: Any, np: Any, say: Any, fails: Any) -> None:
    tf.set_random_seed(0)
    x = tf.placeholder("float", [None, 8], name="X")
    weights = {
        "e1": tf.Variable(tf.random_normal([8, 5])),
        "e2": tf.Variable(tf.random_normal([5, 2])),
        "d1": tf.Variable(tf.random_normal([2, 5])),
        "d2": tf.Variable(tf.random_normal([5, 8])),
    }
    biases = {k: tf.Variable(tf.random_normal([int(v.shape[1])])) for k, v in weights.items()}
    layer = x
    for k in ("e1", "e2", "d1", "d2"):
        layer = tf.nn.sigmoid(tf.add(tf.matmul(layer, weights[k]), biases[k]))
    cost = tf.reduce_mean(tf.pow(x - layer, 2))
    opt = tf.train.RMSPropOptimizer(0.01).minimize(cost)
    init = tf.initialize_all_variables()
    with tf.Session() as sess:
        sess.run(init)
        d = np.random.RandomState(0).rand(10, 8)
        for i in range(3):
            _, c = sess.run([opt, cost], feed_dict={x: d})
            say("Epoch:", "%04d" % (i + 1), "cost=", "{:.5f}".format(c))
        say(np.round(sess.run(layer, {x: d[:1]}), 3))


def gan_steps(tf: Any, np: Any, say: Any, fails: Any) -> None:
    tf.set_random_seed(9)

    def G(z):
        with tf.variable_scope("generator"):
            return tf.layers.dense(
                tf.layers.dense(z, 6, activation=tf.nn.leaky_relu), 2, activation=tf.nn.tanh
            )

    def D(x, reuse=False):
        with tf.variable_scope("discriminator", reuse=reuse):
            h = tf.layers.dense(x, 6, activation=tf.nn.leaky_relu)
            return tf.layers.dense(h, 1)

    z = tf.placeholder(tf.float32, [None, 3])
    x = tf.placeholder(tf.float32, [None, 2])
    fake = G(z)
    dr, df = (D(x), D(fake, reuse=True))
    d_loss = tf.reduce_mean(
        tf.nn.sigmoid_cross_entropy_with_logits(logits=dr, labels=tf.ones_like(dr) * 0.9)
        + tf.nn.sigmoid_cross_entropy_with_logits(logits=df, labels=tf.zeros_like(df))
    )
    g_loss = tf.reduce_mean(
        tf.nn.sigmoid_cross_entropy_with_logits(logits=df, labels=tf.ones_like(df))
    )
    tv = tf.trainable_variables()
    dv = [v for v in tv if v.name.startswith("disc")]
    gv = tf.get_collection(tf.GraphKeys.TRAINABLE_VARIABLES, scope="generator")
    say([v.name for v in dv], [v.name for v in gv])
    dt = tf.train.AdamOptimizer(0.01, beta1=0.5).minimize(d_loss, var_list=dv)
    gt = tf.train.AdamOptimizer(0.01, beta1=0.5).minimize(g_loss, var_list=gv)
    rng = np.random.RandomState(0)
    with tf.Session() as s:
        s.run(tf.global_variables_initializer())
        for _ in range(3):
            f = {z: rng.randn(4, 3), x: rng.randn(4, 2)}
            say(np.round(s.run([dt, d_loss], f)[1], 4), np.round(s.run([gt, g_loss], f)[1], 4))
    say([v.name for v in tf.global_variables()][-6:])


def policy_gradient(tf: Any, np: Any, say: Any, fails: Any) -> None:
    tf.set_random_seed(4)
    obs = tf.placeholder(tf.float32, (None, 4), "obs")
    acts = tf.placeholder(tf.int32, (None,), "acts")
    adv = tf.placeholder(tf.float32, (None,), "adv")
    logits = tf.layers.dense(tf.layers.dense(obs, 8, tf.tanh, name="h"), 2, name="pi")
    sample = tf.squeeze(tf.multinomial(logits, 1, seed=3), axis=1)
    probs = tf.nn.softmax(logits)
    logp = tf.reduce_sum(tf.one_hot(acts, 2) * tf.nn.log_softmax(logits), 1)
    entropy = -tf.reduce_mean(tf.reduce_sum(probs * tf.log(probs), 1))
    loss = -tf.reduce_mean(logp * adv) - 0.01 * entropy
    opt = tf.train.AdamOptimizer(0.01)
    gvs = opt.compute_gradients(loss)
    capped = [(tf.clip_by_value(g, -1.0, 1.0), v) for g, v in gvs if g is not None]
    train = opt.apply_gradients(capped)
    rng = np.random.RandomState(0)
    with tf.Session() as s:
        s.run(tf.global_variables_initializer())
        for _ in range(3):
            o = rng.rand(5, 4)
            a = s.run(sample, {obs: o})
            say(a)
            say(np.round(s.run([loss, entropy, train], {obs: o, acts: a, adv: rng.rand(5)})[:2], 4))


def q_learning(tf: Any, np: Any, say: Any, fails: Any) -> None:
    tf.set_random_seed(6)
    s_ = tf.placeholder(tf.float32, [None, 3], name="s_")
    with tf.variable_scope("eval_net"):
        c_names = ["eval_net_params", tf.GraphKeys.GLOBAL_VARIABLES]
        w1 = tf.get_variable(
            "w1", [3, 4], initializer=tf.random_normal_initializer(0.0, 0.3), collections=c_names
        )
        q = tf.matmul(s_, w1)
    with tf.variable_scope("target_net"):
        w2 = tf.get_variable(
            "w1",
            [3, 4],
            initializer=tf.constant_initializer(0.1),
            collections=["target_net_params", tf.GraphKeys.GLOBAL_VARIABLES],
        )
    t, e = (tf.get_collection("target_net_params"), tf.get_collection("eval_net_params"))
    replace = [tf.assign(a, b) for a, b in zip(t, e)]
    say(t, e, [r.name for r in replace], tf.trainable_variables())
    with tf.Session() as s:
        s.run(tf.global_variables_initializer())
        say(np.allclose(s.run(w1), s.run(w2)))
        s.run(replace)
        say(np.allclose(s.run(w1), s.run(w2)))


def convnet(tf: Any, np: Any, say: Any, fails: Any) -> None:
    tf.set_random_seed(1)
    x = tf.placeholder(tf.float32, [None, 64])
    y = tf.placeholder(tf.int64, [None])
    training = tf.placeholder_with_default(False, ())
    net = tf.reshape(x, [-1, 8, 8, 1])
    net = tf.layers.conv2d(
        net,
        4,
        3,
        padding="same",
        use_bias=False,
        name="c1",
        kernel_initializer=tf.glorot_uniform_initializer(seed=1),
    )
    net = tf.nn.relu(tf.layers.batch_normalization(net, training=training, name="bn"))
    net = tf.layers.max_pooling2d(net, 2, 2)
    net = tf.layers.flatten(net)
    net = tf.layers.dropout(net, 0.0, training=training)
    logits = tf.layers.dense(
        net,
        3,
        kernel_initializer=tf.glorot_uniform_initializer(seed=2),
        kernel_regularizer=lambda w: 0.01 * tf.nn.l2_loss(w),
    )
    loss = tf.losses.sparse_softmax_cross_entropy(y, logits)
    total = tf.losses.get_total_loss()
    with tf.control_dependencies(tf.get_collection(tf.GraphKeys.UPDATE_OPS)):
        train = tf.train.MomentumOptimizer(0.1, 0.9, use_nesterov=True).minimize(total)
    acc = tf.reduce_mean(tf.cast(tf.equal(tf.argmax(logits, 1), y), tf.float32))
    rng = np.random.RandomState(0)
    X, Y = (rng.rand(12, 64), rng.randint(0, 3, 12))
    with tf.Session() as s:
        s.run(tf.global_variables_initializer())
        for _ in range(4):
            say(np.round(s.run([total, loss, train], {x: X, y: Y, training: True})[:2], 3))
        say(np.round(s.run(acc, {x: X, y: Y}), 3), np.round(s.run("bn/moving_mean:0"), 4))
    say([v.name for v in tf.global_variables()], tf.get_collection(tf.GraphKeys.UPDATE_OPS))


def vae(tf: Any, np: Any, say: Any, fails: Any) -> None:
    tf.set_random_seed(3)
    x = tf.placeholder(tf.float32, [None, 6])
    h = tf.layers.dense(x, 5, tf.nn.elu, kernel_initializer=tf.variance_scaling_initializer())
    mu, lv = (tf.layers.dense(h, 2), tf.layers.dense(h, 2))
    eps = tf.random_normal(tf.shape(mu), seed=4)
    z = mu + tf.exp(0.5 * lv) * eps
    out = tf.layers.dense(z, 6)
    rec = tf.reduce_sum(tf.nn.sigmoid_cross_entropy_with_logits(labels=x, logits=out), 1)
    kl = -0.5 * tf.reduce_sum(1 + lv - tf.square(mu) - tf.exp(lv), axis=1)
    loss = tf.reduce_mean(rec + kl)
    train = tf.train.AdamOptimizer().minimize(loss)
    d = np.random.RandomState(0).rand(4, 6)
    with tf.Session() as s:
        s.run(tf.global_variables_initializer())
        for _ in range(3):
            say(np.round(s.run([loss, train], {x: d})[0], 3))


def siamese(tf: Any, np: Any, say: Any, fails: Any) -> None:
    tf.set_random_seed(8)

    def net(x, reuse):
        with tf.name_scope("model"), tf.variable_scope("fc", reuse=reuse):
            return tf.layers.dense(
                x,
                3,
                name="d",
                kernel_initializer=tf.truncated_normal_initializer(stddev=0.5, seed=1),
            )

    l, r, lab = (
        tf.placeholder(tf.float32, [None, 4], "left"),
        tf.placeholder(tf.float32, [None, 4], "right"),
        tf.placeholder(tf.float32, [None, 1]),
    )
    a, b = (net(l, False), net(r, True))
    d = tf.reduce_sum(tf.square(a - b), 1, keepdims=True)
    ds = tf.sqrt(d + 1e-06)
    loss = 0.5 * tf.reduce_mean(lab * d + (1 - lab) * tf.square(tf.maximum(0.0, 1.0 - ds)))
    gs = tf.Variable(0, trainable=False)
    train = tf.train.MomentumOptimizer(0.01, 0.99).minimize(loss, global_step=gs)
    rng = np.random.RandomState(1)
    with tf.Session() as s:
        s.run(tf.global_variables_initializer())
        for _ in range(3):
            say(
                np.round(
                    s.run(
                        [train, loss],
                        {l: rng.rand(4, 4), r: rng.rand(4, 4), lab: [[1], [0], [1], [0]]},
                    )[1],
                    4,
                )
            )
        say(s.run(gs), a.name, b.name)


def seq2seq_attention(tf: Any, np: Any, say: Any, fails: Any) -> None:
    tf.set_random_seed(7)
    src = tf.constant([[1, 2, 3, 0], [4, 5, 0, 0]])
    tgt = tf.constant([[1, 2], [3, 4]])
    V, H = (8, 4)
    emb = tf.get_variable(
        "emb", [V, H], initializer=tf.random_uniform_initializer(-0.5, 0.5, seed=1)
    )
    enc_in = tf.nn.embedding_lookup(emb, src)
    lens = tf.reduce_sum(tf.sign(src), 1)
    with tf.variable_scope("enc"):
        (fw, bw), st = tf.nn.bidirectional_dynamic_rnn(
            tf.nn.rnn_cell.GRUCell(H, kernel_initializer=tf.orthogonal_initializer(seed=1)),
            tf.nn.rnn_cell.GRUCell(H, kernel_initializer=tf.orthogonal_initializer(seed=2)),
            enc_in,
            sequence_length=lens,
            dtype=tf.float32,
        )
    mem = tf.concat([fw, bw], 2)
    state = tf.concat(st, 1)
    mask = tf.sequence_mask(lens, 4, dtype=tf.float32)
    logits = []
    cell = tf.nn.rnn_cell.GRUCell(2 * H, kernel_initializer=tf.glorot_uniform_initializer(seed=4))
    with tf.variable_scope("dec") as vs:
        inp = tf.zeros([2, H])
        for t in range(2):
            if t:
                vs.reuse_variables()
            sc = tf.reduce_sum(mem * tf.expand_dims(state, 1), 2) + (1 - mask) * -1000000000.0
            ctx = tf.reduce_sum(mem * tf.expand_dims(tf.nn.softmax(sc), 2), 1)
            o, state = cell(tf.concat([inp, ctx], 1), state)
            logits.append(
                tf.layers.dense(
                    o, V, name="proj", kernel_initializer=tf.glorot_uniform_initializer(seed=5)
                )
            )
            inp = tf.nn.embedding_lookup(emb, tgt[:, t])
    loss = tf.reduce_mean(
        tf.nn.sparse_softmax_cross_entropy_with_logits(labels=tgt, logits=tf.stack(logits, 1))
    )
    tr = tf.train.AdamOptimizer(0.01).minimize(loss)
    with tf.Session() as s:
        s.run(tf.global_variables_initializer())
        for _ in range(3):
            say(np.round(s.run([loss, tr])[0], 4))
    say([v.name for v in tf.trainable_variables()])
