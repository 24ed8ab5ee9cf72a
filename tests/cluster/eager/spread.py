"""Functions over several tasks: values, variables, branches, loops and errors."""


def run(tf, show):
    def on(task):
        return tf.device(f"/job:worker/task:{task}")

    with on(0):
        a = tf.Variable([1.0, 2.0])
    with on(1):
        b = tf.Variable([10.0, 20.0])
    here = tf.Variable(100.0)

    @tf.function
    def towers(x):
        parts = []
        for task in (0, 1):
            with on(task):
                parts.append(tf.reduce_sum(x * (a if task == 0 else b)))
        return parts[0] + parts[1] + here, [p * 2.0 for p in parts]

    print(towers(tf.constant([1.0, 1.0]))[0].numpy())
    total, parts = towers(tf.constant([2.0, 0.5]))
    print(total.numpy(), [p.numpy() for p in parts])
    for task in (0, 1):
        with on(task):
            print(towers(tf.constant([3.0, 1.0]))[0].numpy())

    @tf.function
    def train(n):
        for i in tf.range(n):
            with on(0):
                a.assign_add([1.0, 1.0])
            with on(1):
                b.assign_sub(a * 0.5)
            if i % 2 == 0:
                here.assign_add(tf.reduce_sum(a) + tf.reduce_sum(b))
        return a + b

    print(train(tf.constant(3)).numpy().tolist(), a.numpy().tolist(), b.numpy().tolist(), here.numpy())
    print(train(tf.constant(0)).numpy().tolist())

    @tf.function
    def inner(x):
        with on(1):
            return x * b

    @tf.function
    def outer(x, deep):
        with on(0):
            y = x + a
        if deep:
            z = inner(y)
        else:
            z = -y
        with on(0):
            return tf.reduce_sum(z)

    for deep in (True, False, True):
        print(outer(tf.constant([1.0, 2.0]), tf.constant(deep)).numpy())

    with tf.GradientTape() as tape:
        loss = outer(tf.constant([1.0, 2.0]), tf.constant(True))
    print([g.numpy().tolist() for g in tape.gradient(loss, [a, b])])

    @tf.function
    def bad(i):
        with on(0):
            x = tf.constant([1, 2, 3])
        with on(1):
            y = tf.gather(x, i)
        with on(0):
            return y + 1

    print(bad(tf.constant(2)).numpy())
    show(lambda: bad(tf.constant(7)), only_class=True)
    print(bad(tf.constant(0)).numpy())

    @tf.function
    def effects():
        with on(0):
            a.assign([0.0, 0.0])
        with on(1):
            b.assign([0.0, 0.0])
        here.assign(0.0)

    effects()
    print(a.numpy().tolist(), b.numpy().tolist(), here.numpy())

    @tf.function
    def texts(s):
        with on(0):
            joined = tf.strings.join([s, "-", s])
        with on(1):
            return tf.strings.length(joined), tf.strings.upper(joined)

    print([t.numpy() for t in texts(tf.constant("ab"))])
