"""Eager snippets: what a thread sees of the thread that started it."""

import threading

from snippet import Table

snippet = Table()


def _beside(work):
    """What `work` gives in another thread; an error by its class's name."""
    found = []

    def run():
        try:
            found.append(work())
        except Exception as e:
            found.append(type(e).__name__)

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    return found[0]


@snippet
def threads_name_scope(tf):
    with tf.name_scope("outer"):
        return [_beside(tf.get_current_name_scope), _beside(lambda: tf.Variable(1.0).name), tf.Variable(1.0).name]


@snippet
def threads_default_graph(tf):
    with tf.Graph().as_default() as graph:
        inside = _beside(lambda: tf.compat.v1.get_default_graph() is graph)
        return [inside, _beside(tf.executing_eagerly), _beside(lambda: tf.constant(1.0) + 1.0)]


@snippet
def threads_root_graph(tf):
    root = tf.compat.v1.get_default_graph()
    return _beside(lambda: tf.compat.v1.get_default_graph() is root)


@snippet
def threads_blocks_of_a_graph(tf):
    with tf.Graph().as_default() as graph:
        c = tf.constant(1.0)

        def made():
            with graph.as_default():
                op = tf.constant(2.0).op
                return [op.name, op.device, len(op.control_inputs), tf.compat.v1.get_variable_scope().name]

        with graph.name_scope("a"), tf.compat.v1.variable_scope("v"):
            named = _beside(made)
        return [named, c.name]


@snippet
def threads_tape(tf):
    mine, other = tf.Variable(3.0, name="mine"), tf.Variable(5.0, name="other")
    with tf.GradientTape(persistent=True) as tape:
        y = mine * mine
        z = _beside(lambda: other * other)
    found = _beside(lambda: tape.gradient(y, mine))
    return [[v.name for v in tape.watched_variables()], found, tape.gradient(z, other)]


@snippet
def threads_accumulator(tf):
    v = tf.Variable(3.0)
    with tf.autodiff.ForwardAccumulator(v, tf.constant(1.0)) as around:
        z, y = _beside(lambda: v * v), v * v
    return [around.jvp(y), around.jvp(z)]


@snippet
def threads_beside_a_trace(tf):
    seen = []

    @tf.function(autograph=False)
    def traced(x):
        seen.append(_beside(lambda: tf.Variable(1.0).name))
        seen.append(_beside(tf.executing_eagerly))
        seen.append(_beside(lambda: x + 1.0))
        return x + 1.0

    return [traced(tf.constant(1.0)), traced(tf.constant([1.0])), seen]


@snippet
def threads_first_calls(tf):
    traces = []

    @tf.function(autograph=False)
    def slow(x):
        traces.append(1)
        threading.Event().wait(0.05)
        return x + 1.0

    threads = [threading.Thread(target=slow, args=(tf.constant(1.0),)) for _ in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    return [len(traces), slow.experimental_get_tracing_count()]


@snippet
def threads_summary_step(tf):
    tf.summary.experimental.set_step(7)
    found = [tf.summary.experimental.get_step(), _beside(tf.summary.experimental.get_step)]
    tf.summary.experimental.set_step(None)
    return found


@snippet
def threads_shared_generator(tf):
    def numbers():
        yield from range(100)

    elements = iter(tf.data.Dataset.from_generator(numbers, output_signature=tf.TensorSpec([], tf.int64)))
    taken = []
    threads = [threading.Thread(target=lambda: taken.extend(int(x) for x in elements)) for _ in range(3)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    return sorted(taken)
