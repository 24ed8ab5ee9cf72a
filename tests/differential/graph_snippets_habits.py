"""What TF 1 training code does around a model: queues and coordinators, monitored sessions and hooks,
metrics that stream, averages, decays, gradients with options, nested loops. Most of these run their own
sessions, and what they saw is compared."""

from typing import Any

import numpy as np
from snippet import Fed, Steps, Table, Told

snippet = Table()
X = np.linspace(-1, 1, 12).reshape(6, 2).astype(np.float32)
Y = (X @ np.array([[2.0], [-1.0]]) + 0.5).astype(np.float32)


def regression(tf: Any, optimizer: Any = None) -> Any:
    """A loss and a step of linear regression."""
    step = tf.train.get_or_create_global_step()
    w = tf.get_variable("w", [2, 1], initializer=tf.zeros_initializer())
    b = tf.get_variable("b", [1], initializer=tf.zeros_initializer())
    loss = tf.reduce_mean(tf.square(tf.matmul(tf.constant(X), w) + b - Y))
    return loss, (optimizer or tf.train.GradientDescentOptimizer(0.1)).minimize(loss, global_step=step), step


# ---- Queues and coordinators.


@snippet
def habit_fifo_queue_with_runner(tf: Any) -> Any:
    queue = tf.FIFOQueue(10, [tf.float32], shapes=[[]])
    runner = tf.train.QueueRunner(queue, [queue.enqueue_many([[1.0, 2.0, 3.0]])])
    value = queue.dequeue()
    with tf.Session() as session:
        coord = tf.train.Coordinator()
        threads = runner.create_threads(session, coord=coord, daemon=True, start=True)
        got = [float(session.run(value)) for _ in range(7)]
        coord.request_stop()
        coord.join(threads)
    return Told([got, coord.should_stop()])


@snippet(nodes=False)
def habit_input_producer_ends(tf: Any) -> Any:
    queue = tf.train.string_input_producer(["a", "b"], num_epochs=2, shuffle=False)
    value = queue.dequeue()
    got = []
    with tf.Session() as session:
        session.run(tf.local_variables_initializer())
        coord = tf.train.Coordinator()
        threads = tf.train.start_queue_runners(session, coord=coord)
        try:
            while not coord.should_stop():
                got.append(session.run(value))
        except tf.errors.OutOfRangeError:
            got.append("end")
        finally:
            coord.request_stop()
        coord.join(threads)
    return Told(got)


@snippet
def habit_batches_of_slices(tf: Any) -> Any:
    x, y = tf.train.slice_input_producer([tf.constant(X), tf.constant(Y)], num_epochs=1, shuffle=False)
    xs, ys = tf.train.batch([x, y], batch_size=4, allow_smaller_final_batch=True)
    sizes = []
    with tf.Session() as session:
        session.run(tf.local_variables_initializer())
        coord = tf.train.Coordinator()
        threads = tf.train.start_queue_runners(session, coord=coord)
        try:
            while True:
                sizes.append([v.tolist() for v in session.run([xs, ys])])
        except tf.errors.OutOfRangeError:
            pass
        coord.request_stop()
        coord.join(threads)
    return Told([xs.shape.as_list(), sizes])


@snippet
def habit_shuffle_batch_covers_all(tf: Any) -> Any:
    value = tf.train.range_input_producer(12, num_epochs=1, shuffle=True, seed=3).dequeue()
    batch = tf.train.shuffle_batch([value], batch_size=4, capacity=20, min_after_dequeue=5, seed=1)
    seen: list[int] = []
    with tf.Session() as session:
        session.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
        coord = tf.train.Coordinator()
        threads = tf.train.start_queue_runners(session, coord=coord)
        try:
            while not coord.should_stop():
                seen += session.run(batch).tolist()
        except tf.errors.OutOfRangeError:
            pass
        coord.request_stop()
        coord.join(threads)
    return Told(sorted(seen))


@snippet
def habit_coordinator_reports_an_error(tf: Any) -> Any:
    queue = tf.FIFOQueue(2, [tf.float32])
    bad = tf.Assert(tf.constant(False), ["no"])
    with tf.control_dependencies([bad]):
        runner = tf.train.QueueRunner(queue, [queue.enqueue([1.0])])
    with tf.Session() as session:
        coord = tf.train.Coordinator()
        threads = runner.create_threads(session, coord=coord, start=True)
        try:
            coord.join(threads)
        except tf.errors.OpError as error:
            return Told([type(error).__name__, coord.should_stop()])
    return Told("nothing")


@snippet
def habit_padding_queue(tf: Any) -> Any:
    queue = tf.PaddingFIFOQueue(10, [tf.int32], shapes=[[None]])
    puts = [queue.enqueue([[1] * n]) for n in (1, 3, 2)]
    return Steps([*puts, queue.size(), queue.dequeue_many(2), queue.dequeue(), queue.close()])


@snippet
def habit_priority_queue(tf: Any) -> Any:
    queue = tf.PriorityQueue(10, [tf.string], shapes=[[]])
    puts = [queue.enqueue([tf.constant(p, tf.int64), s]) for p, s in ((3, "c"), (1, "a"), (2, "b"))]
    return Steps([*puts, queue.dequeue(), queue.dequeue_many(2), queue.size()])


@snippet
def habit_dequeue_up_to(tf: Any) -> Any:
    queue = tf.FIFOQueue(10, [tf.float32], shapes=[[]])
    return Steps([queue.enqueue_many([[1.0, 2.0, 3.0]]), queue.close(), queue.dequeue_up_to(2), queue.dequeue_up_to(2)])


@snippet
def habit_closed_queue_refuses(tf: Any) -> Any:
    queue = tf.FIFOQueue(2, [tf.float32])
    said = []
    with tf.Session() as session:
        session.run(queue.close())
        for op in (queue.enqueue([1.0]), queue.dequeue()):
            try:
                session.run(op)
            except tf.errors.OpError as error:
                said.append(type(error).__name__)
    return Told(said)


# ---- Monitored sessions.


class Noting:
    """Makes a hook of `tf` that notes what it is told."""

    def __new__(cls, tf: Any, notes: list[Any], fetch: Any = None, stop_at: int | None = None) -> Any:
        class Hook(tf.train.SessionRunHook):
            def begin(self) -> None:
                notes.append("begin")

            def after_create_session(self, session: Any, coord: Any) -> None:
                notes.append("created")

            def before_run(self, context: Any) -> Any:
                notes.append("before")
                return tf.train.SessionRunArgs(fetch) if fetch is not None else None

            def after_run(self, context: Any, values: Any) -> None:
                notes.append(("after", None if values.results is None else np.asarray(values.results).tolist()))
                if stop_at is not None and values.results >= stop_at:
                    context.request_stop()

            def end(self, session: Any) -> None:
                notes.append("end")

        return Hook()


@snippet(nodes=False)
def habit_monitored_session_hooks(tf: Any) -> Any:
    loss, train, step = regression(tf)
    notes: list[Any] = []
    with tf.train.MonitoredTrainingSession(hooks=[Noting(tf, notes, step, stop_at=3)]) as session:
        while not session.should_stop():
            session.run(train)
    return Told(notes)


@snippet(nodes=False)
def habit_stop_at_step(tf: Any) -> Any:
    loss, train, step = regression(tf)
    seen = []
    with tf.train.MonitoredTrainingSession(hooks=[tf.train.StopAtStepHook(last_step=4)]) as session:
        while not session.should_stop():
            seen.append(session.run([train, step, loss])[1:])
    return Told([[int(s), round(float(v), 5)] for s, v in seen])


@snippet(nodes=False)
def habit_stop_after_steps(tf: Any) -> Any:
    _, train, step = regression(tf)
    count = 0
    with tf.train.SingularMonitoredSession(hooks=[tf.train.StopAtStepHook(num_steps=3)]) as session:
        while not session.should_stop():
            session.run(train)
            count += 1
    return Told(count)


@snippet(nodes=False)
def habit_nan_hook_fails(tf: Any) -> Any:
    step = tf.train.get_or_create_global_step()
    loss = tf.constant(0.0) / tf.cast(step * 0, tf.float32)
    try:
        with tf.train.MonitoredTrainingSession(hooks=[tf.train.NanTensorHook(loss)]) as session:
            session.run(tf.assign_add(step, 1) if False else loss)
    except tf.train.NanLossDuringTrainingError as error:
        return Told(str(error))
    return Told("no error")


@snippet(nodes=False)
def habit_nan_hook_stops(tf: Any) -> Any:
    step = tf.train.get_or_create_global_step()
    loss = tf.constant(0.0) / tf.cast(step * 0, tf.float32)
    add = tf.assign_add(step, 1)
    runs = 0
    with tf.train.MonitoredTrainingSession(hooks=[tf.train.NanTensorHook(loss, fail_on_nan_loss=False)]) as session:
        while not session.should_stop():
            session.run(add)
            runs += 1
    return Told(runs)


@snippet(nodes=False)
def habit_logging_hook(tf: Any) -> Any:
    loss, train, step = regression(tf)
    said: list[str] = []
    hook = tf.train.LoggingTensorHook({"step": step}, every_n_iter=2, formatter=lambda v: said.append(int(v["step"])) or "")
    with tf.train.MonitoredTrainingSession(hooks=[hook, tf.train.StopAtStepHook(last_step=5)]) as session:
        while not session.should_stop():
            session.run(train)
    return Told(said)


@snippet(nodes=False)
def habit_final_ops_hook(tf: Any) -> Any:
    loss, train, step = regression(tf)
    hook = tf.train.FinalOpsHook({"step": step})
    with tf.train.MonitoredTrainingSession(hooks=[tf.train.StopAtStepHook(last_step=3), hook]) as session:
        while not session.should_stop():
            session.run(train)
    return Told(int(hook.final_ops_values["step"]))


@snippet(nodes=False)
def habit_step_counter_and_feed(tf: Any) -> Any:
    _, train, step = regression(tf)
    x = tf.placeholder(tf.float32, [])
    y = x * 2.0
    feeder = tf.train.FeedFnHook(lambda: {x: 3.0})
    with tf.train.MonitoredTrainingSession(hooks=[feeder]) as session:
        return Told(float(session.run(y)))


@snippet(nodes=False)
def habit_scaffold(tf: Any) -> Any:
    v = tf.get_variable("v", initializer=1.0)
    seven = v.assign(7.0).op
    scaffold = tf.train.Scaffold(init_op=tf.global_variables_initializer(), init_fn=lambda scaffold, session: session.run(seven))
    with tf.train.MonitoredTrainingSession(scaffold=scaffold) as session:
        return Told(float(session.run(v)))


@snippet(nodes=False)
def habit_error_in_monitored_session(tf: Any) -> Any:
    notes: list[Any] = []
    bad = tf.Assert(tf.constant(False), ["no"])
    try:
        with tf.train.MonitoredTrainingSession(hooks=[Noting(tf, notes)]) as session:
            session.run(bad)
    except tf.errors.InvalidArgumentError:
        notes.append("caught")
    return Told(notes)


@snippet(nodes=False)
def habit_run_step_fn(tf: Any) -> Any:
    v = tf.get_variable("v", initializer=2.0)
    with tf.train.MonitoredTrainingSession() as session:
        return Told(float(session.run_step_fn(lambda step_context: step_context.session.run(v) * 3)))


@snippet(nodes=False)
def habit_finalized_by_monitored_session(tf: Any) -> Any:
    tf.get_variable("v", initializer=2.0)
    with tf.train.MonitoredTrainingSession():
        return Told(tf.get_default_graph().finalized)


# ---- Steps and rates.


@snippet
def habit_global_step_helpers(tf: Any) -> Any:
    step = tf.train.create_global_step()
    return Steps([step, tf.assign_add(step, 5), tf.train.get_global_step(), Told([step.name, step.dtype.name, step.trainable])])


for _name, _rate in {
    "exponential": lambda tf, s: tf.train.exponential_decay(0.1, s, 10, 0.96),
    "natural_exp": lambda tf, s: tf.train.natural_exp_decay(0.1, s, 10, 0.5, staircase=True),
    "inverse_time": lambda tf, s: tf.train.inverse_time_decay(0.1, s, 10, 0.5),
    "polynomial": lambda tf, s: tf.train.polynomial_decay(0.1, s, 10, 0.01, power=0.5),
    "polynomial_cycle": lambda tf, s: tf.train.polynomial_decay(0.1, s, 10, 0.01, cycle=True),
    "cosine": lambda tf, s: tf.train.cosine_decay(0.1, s, 30),
    "cosine_restarts": lambda tf, s: tf.train.cosine_decay_restarts(0.1, s, 10),
    "linear_cosine": lambda tf, s: tf.train.linear_cosine_decay(0.1, s, 30),
    "piecewise": lambda tf, s: tf.train.piecewise_constant(s, [5, 20], [1.0, 0.5, 0.1]),
}.items():
    def _decay(tf: Any, make: Any = _rate) -> Any:
        step = tf.train.get_or_create_global_step()
        rate = make(tf, step)
        return Steps([rate, tf.assign(step, 7), rate, tf.assign(step, 25), rate])

    snippet.put(f"habit_decay_{_name}", _decay, nodes=_name != "piecewise")


@snippet
def habit_moving_average_of_losses(tf: Any) -> Any:
    loss, train, step = regression(tf)
    averages = tf.train.ExponentialMovingAverage(0.9, name="avg")
    follow = averages.apply([loss])
    with tf.control_dependencies([follow]):
        total = tf.identity(loss)
    return Steps([[train, total], [train, averages.average(loss)], [averages.average(loss)]])


@snippet(nodes=False)
def habit_evaluate_with_averages(tf: Any) -> Any:
    v = tf.get_variable("v", initializer=0.0)
    averages = tf.train.ExponentialMovingAverage(0.5)
    keep = averages.apply([v])
    return Steps([tf.assign(v, 4.0), keep, averages.average(v), Told(averages.average_name(v)), Told(sorted(averages.variables_to_restore()))])


# ---- Metrics that stream.

LABELS, GUESSES = np.array([0, 1, 1, 0, 1]), np.array([0, 1, 0, 0, 1])
for _name, _metric in {
    "accuracy": lambda tf: tf.metrics.accuracy(LABELS, GUESSES),
    "mean": lambda tf: tf.metrics.mean([1.0, 2.0, 6.0]),
    "mean_weighted": lambda tf: tf.metrics.mean([1.0, 2.0, 6.0], weights=[1.0, 0.0, 1.0]),
    "precision": lambda tf: tf.metrics.precision(LABELS, GUESSES),
    "recall": lambda tf: tf.metrics.recall(LABELS, GUESSES),
    "mean_squared_error": lambda tf: tf.metrics.mean_squared_error([1.0, 2.0], [2.0, 4.0]),
    "root_mean_squared_error": lambda tf: tf.metrics.root_mean_squared_error([1.0, 2.0], [2.0, 4.0]),
    "mean_absolute_error": lambda tf: tf.metrics.mean_absolute_error([1.0, 2.0], [2.0, 4.0]),
    "auc": lambda tf: tf.metrics.auc(tf.constant(LABELS), tf.constant([0.1, 0.9, 0.4, 0.3, 0.8])),
    "true_positives": lambda tf: tf.metrics.true_positives(LABELS, GUESSES),
    "false_negatives": lambda tf: tf.metrics.false_negatives(LABELS, GUESSES),
    "percentage_below": lambda tf: tf.metrics.percentage_below([1.0, 2.0, 6.0], 3.0),
    "mean_iou": lambda tf: tf.metrics.mean_iou(tf.constant(LABELS), tf.constant(GUESSES), 2),
    "mean_per_class_accuracy": lambda tf: tf.metrics.mean_per_class_accuracy(tf.constant(LABELS), tf.constant(GUESSES), 2),
    "auc_pr": lambda tf: tf.metrics.auc(tf.constant(LABELS), tf.constant([0.1, 0.9, 0.4, 0.3, 0.8]), curve="PR", num_thresholds=50),
    "precision_at_thresholds": lambda tf: tf.metrics.precision_at_thresholds(tf.constant(LABELS), tf.constant([0.1, 0.9, 0.4, 0.3, 0.8]), [0.2, 0.5]),
    "recall_at_thresholds": lambda tf: tf.metrics.recall_at_thresholds(tf.constant(LABELS), tf.constant([0.1, 0.9, 0.4, 0.3, 0.8]), [0.2, 0.5]),
    "false_positives_at_thresholds": lambda tf: tf.metrics.false_positives_at_thresholds(tf.constant(LABELS), tf.constant([0.1, 0.9, 0.4, 0.3, 0.8]), [0.2, 0.5]),
    "mean_relative_error": lambda tf: tf.metrics.mean_relative_error([1.0, 2.0], [2.0, 4.0], [1.0, 0.0]),
    "precision_weighted": lambda tf: tf.metrics.precision(LABELS, GUESSES, weights=[1.0, 0.5, 1.0, 1.0, 2.0]),
    "mean_tensor": lambda tf: tf.metrics.mean_tensor([1.0, 2.0]),
}.items():
    def _streams(tf: Any, make: Any = _metric) -> Any:
        value, update = make(tf)
        return Steps([update, value, update, value])

    snippet.put(f"habit_metric_{_name}", _streams, nodes=False)


# ---- Gradients with options.


@snippet
def habit_gradients_given_and_stopped(tf: Any) -> Any:
    x, y = tf.constant([1.0, 2.0]), tf.constant(3.0)
    a = x * y
    b = a * tf.stop_gradient(x)
    return [*tf.gradients([b], [x, y], grad_ys=[tf.constant([1.0, 0.5])]), *tf.gradients(b, [a, x], stop_gradients=[a])[:1]]


@snippet
def habit_gradients_gated_and_colocated(tf: Any) -> Any:
    with tf.device("/cpu:0"):
        x = tf.constant([1.0, 2.0])
        y = tf.tanh(x) * x
    return tf.gradients(y, [x], gate_gradients=True, colocate_gradients_with_ops=True)


@snippet
def habit_gradients_unconnected(tf: Any) -> Any:
    x, y = tf.constant(1.0), tf.constant([2.0, 3.0])
    found = tf.gradients(x * 2.0, [x, y])
    zero = tf.gradients(x * 2.0, [x, y], unconnected_gradients=tf.UnconnectedGradients.ZERO)
    return [found[0], *zero]


@snippet(nodes=False)
def habit_hessians(tf: Any) -> Any:
    x = tf.constant([1.0, 2.0, 3.0])
    return tf.hessians(tf.reduce_sum(x**3.0) + x[0] * x[1], x)


@snippet
def habit_custom_gradient(tf: Any) -> Any:
    @tf.custom_gradient
    def log1pexp(x: Any) -> Any:
        e = tf.exp(x)
        return tf.log(1 + e), lambda dy: dy * (1 - 1 / (1 + e))

    x = tf.constant([0.0, 100.0])
    y = log1pexp(x)
    return [tf.gradients(y, x)[0]]


@snippet(nodes=False)
def habit_custom_gradient_of_two(tf: Any) -> Any:
    @tf.custom_gradient
    def swap(x: Any, y: Any) -> Any:
        return (y * 2.0, x * 3.0), lambda dy, dx: (dx * 30.0, dy * 20.0)

    x, y = tf.constant(1.0), tf.constant(2.0)
    return [*swap(x, y), *tf.gradients(list(swap(x, y)), [x, y])]


@snippet(nodes=False)
def habit_custom_gradient_with_variables(tf: Any) -> Any:
    @tf.custom_gradient
    def layer(x: Any) -> Any:
        w = tf.get_variable("w", initializer=3.0, use_resource=True)

        def grad(dy: Any, variables: Any = None) -> Any:
            return dy * 100.0, [dy * 7.0 for _ in variables]

        return x * w, grad

    x = tf.constant(2.0)
    with tf.variable_scope("net", use_resource=True):
        y = layer(x)
    return tf.gradients(y, [x, *tf.trainable_variables()])


@snippet
def habit_gradient_override_map(tf: Any) -> Any:
    name = f"Reversed{id(tf.get_default_graph())}"

    @tf.RegisterGradient(name)
    def reversed_gradient(op: Any, grad: Any) -> Any:
        return tf.negative(grad)

    x = tf.constant([1.0, 2.0])
    with tf.get_default_graph().gradient_override_map({"Identity": name}):
        y = tf.identity(x)
    return tf.gradients(y * 3.0, x)


@snippet
def habit_clip_each_gradient(tf: Any) -> Any:
    w = tf.get_variable("w", initializer=[1.0, -2.0])
    optimizer = tf.train.MomentumOptimizer(0.1, 0.9)
    pairs = optimizer.compute_gradients(tf.reduce_sum(tf.square(w)), var_list=[w])
    clipped = [(tf.clip_by_norm(tf.clip_by_value(g, -1.0, 1.0), 0.5), v) for g, v in pairs]
    return Steps([optimizer.apply_gradients(clipped), w, optimizer.apply_gradients(clipped), w])


@snippet
def habit_accumulated_gradients(tf: Any) -> Any:
    w = tf.get_variable("w", initializer=[1.0, 2.0])
    total = tf.Variable(tf.zeros_like(w.initialized_value()), trainable=False, name="total")
    optimizer = tf.train.AdamOptimizer(0.1)
    (gradient, _), = optimizer.compute_gradients(tf.reduce_sum(w * w), [w])
    add, apply = total.assign_add(gradient), optimizer.apply_gradients([(total / 2.0, w)])
    return Steps([add, add, apply, w])


@snippet
def habit_two_optimizers(tf: Any) -> Any:
    a, b = tf.get_variable("g/a", initializer=1.0), tf.get_variable("d/b", initializer=2.0)
    loss = a * b
    first = tf.train.AdamOptimizer(0.1).minimize(loss, var_list=tf.trainable_variables("g"))
    second = tf.train.RMSPropOptimizer(0.1).minimize(-loss, var_list=tf.trainable_variables("d"))
    return Steps([first, second, [a, b], Told([v.name for v in tf.global_variables()])])


# ---- Loops over elements, in nested structures.


@snippet
def habit_map_fn_of_a_tuple(tf: Any) -> Any:
    return tf.map_fn(lambda pair: (pair[0] + pair[1], pair[0] * pair[1]), (tf.constant([1.0, 2.0]), tf.constant([3.0, 4.0])))


@snippet
def habit_map_fn_of_a_dict(tf: Any) -> Any:
    return tf.map_fn(lambda d: {"sum": d["a"] + d["b"]}, {"a": tf.constant([1.0, 2.0]), "b": tf.constant([3.0, 4.0])}, dtype={"sum": tf.float32})


@snippet
def habit_nested_map_fn(tf: Any) -> Any:
    return tf.map_fn(lambda row: tf.map_fn(lambda v: v * v, row), tf.constant(X))


@snippet
def habit_scan_with_state(tf: Any) -> Any:
    start = (tf.constant(0.0), tf.constant(1.0))
    return tf.scan(lambda a, x: (a[0] + x, a[1] * x), tf.constant([1.0, 2.0, 3.0]), initializer=start)


@snippet
def habit_foldl_foldr(tf: Any) -> Any:
    x = tf.constant([1.0, 2.0, 3.0])
    return tf.foldl(lambda a, v: a * 2.0 + v, x), tf.foldr(lambda a, v: a * 2.0 + v, x, initializer=1.0)


@snippet
def habit_fibonacci_by_scan(tf: Any) -> Any:
    start = (np.array(0), np.array(1))
    return tf.scan(lambda a, _: (a[1], a[0] + a[1]), tf.zeros([8]), initializer=start)[0]


@snippet(nodes=False)
def habit_gradient_through_scan(tf: Any) -> Any:
    x = tf.constant([1.0, 2.0, 3.0])
    return tf.gradients(tf.scan(lambda a, v: a * v, x), x)


@snippet
def habit_while_with_named_tuple(tf: Any) -> Any:
    import collections

    Pair = collections.namedtuple("Pair", "j k")
    out = tf.while_loop(lambda i, p: i < 3, lambda i, p: (i + 1, Pair(p.j + p.k, p.j - p.k)), (tf.constant(0), Pair(tf.constant(1), tf.constant(2))))
    return out[1].j, out[1].k, Told(type(out[1]).__name__) if False else out[0]


@snippet
def habit_case_of_pairs(tf: Any) -> Any:
    x = tf.placeholder(tf.int32, [])
    y = tf.case([(tf.less(x, 1), lambda: tf.constant(10)), (tf.less(x, 5), lambda: tf.constant(20))], default=lambda: tf.constant(30))
    return Steps([Fed(y, {x: v}) for v in (0, 3, 9)])


@snippet(nodes=False)
def habit_case_exclusive(tf: Any) -> Any:
    x = tf.placeholder(tf.int32, [])
    y = tf.case({tf.less(x, 1): lambda: tf.constant(10), tf.greater(x, 5): lambda: tf.constant(20)}, default=lambda: tf.constant(30), exclusive=True)
    return Steps([Fed(y, {x: v}) for v in (0, 3, 9)])


@snippet(nodes=False)
def habit_case_without_default(tf: Any) -> Any:
    x = tf.placeholder(tf.int32, [])
    y = tf.case([(tf.less(x, 1), lambda: x + 1), (tf.less(x, 5), lambda: x * 2)])
    return Steps([Fed(y, {x: v}) for v in (0, 3)])


@snippet(nodes=False)
def habit_switch_case(tf: Any) -> Any:
    x = tf.placeholder(tf.int32, [])
    y = tf.switch_case(x, {0: lambda: tf.constant(1.0), 1: lambda: tf.constant(2.0)}, default=lambda: tf.constant(3.0))
    return Steps([Fed(y, {x: v}) for v in (0, 1, 7, -1)])


@snippet(nodes=False)
def habit_switch_case_list(tf: Any) -> Any:
    x = tf.placeholder(tf.int32, [])
    y = tf.switch_case(x, [lambda: tf.constant(1.0), lambda: tf.constant(2.0)])
    return Steps([Fed(y, {x: v}) for v in (0, 1)])


# ---- Candidates, embeddings, and other parts of losses.


@snippet(nodes=False)
def habit_embedding_max_norm_and_shards(tf: Any) -> Any:
    tables = [tf.get_variable(f"t{i}", initializer=tf.constant(X[i::2] * 3)) for i in range(2)]
    return tf.nn.embedding_lookup(tables, [0, 3, 5, 1], max_norm=1.0), tf.nn.embedding_lookup(tables, [[0, 2]], partition_strategy="div")


@snippet
def habit_losses_in_a_collection(tf: Any) -> Any:
    tf.losses.mean_squared_error([1.0, 2.0], [2.0, 4.0])
    tf.losses.softmax_cross_entropy([[0.0, 1.0]], tf.constant([[1.0, 2.0]]), label_smoothing=0.1)
    tf.losses.add_loss(tf.constant(3.0))
    return [tf.losses.get_total_loss(), *tf.losses.get_losses()]


@snippet
def habit_weighted_losses(tf: Any) -> Any:
    a, b, w = tf.constant([1.0, 2.0, 3.0]), tf.constant([2.0, 4.0, 1.0]), tf.constant([1.0, 0.0, 2.0])
    return [
        tf.losses.absolute_difference(a, b, weights=w), tf.losses.huber_loss(a, b, delta=0.5), tf.losses.hinge_loss([0.0, 1.0], tf.constant([0.3, 0.4])),
        tf.losses.log_loss([0.0, 1.0], tf.constant([0.3, 0.4])), tf.losses.mean_squared_error(a, b, reduction=tf.losses.Reduction.NONE),
        tf.losses.cosine_distance(a, b, axis=0), tf.losses.sigmoid_cross_entropy([0.0, 1.0], tf.constant([0.3, 0.4])),
    ]


@snippet(nodes=False)
def habit_regularized_variables(tf: Any) -> Any:
    with tf.variable_scope("net", regularizer=lambda w: 0.1 * tf.nn.l2_loss(w)):
        w = tf.get_variable("w", initializer=[1.0, 2.0])
    return [tf.losses.get_regularization_loss(), tf.add_n(tf.get_collection(tf.GraphKeys.REGULARIZATION_LOSSES)), w]


@snippet
def habit_summaries(tf: Any) -> Any:
    tf.summary.scalar("loss", tf.constant(1.5))
    with tf.name_scope("layer"):
        tf.summary.histogram("weights", tf.constant([1.0, 2.0, 3.0]))
    return tf.summary.merge_all()


@snippet(nodes=False)
def habit_confusion_matrix(tf: Any) -> Any:
    return tf.confusion_matrix([0, 1, 2, 2], [0, 2, 2, 1], num_classes=3)


@snippet
def habit_update_ops_by_hand(tf: Any) -> Any:
    mean = tf.get_variable("mean", initializer=0.0, trainable=False)
    tf.add_to_collection(tf.GraphKeys.UPDATE_OPS, tf.assign(mean, mean * 0.9 + 0.1 * 5.0))
    loss, _, _ = regression(tf)
    with tf.control_dependencies(tf.get_collection(tf.GraphKeys.UPDATE_OPS)):
        train = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
    return Steps([train, mean, train, mean])


@snippet
def habit_py_func_in_a_pipeline(tf: Any) -> Any:
    def augment(x: Any) -> Any:
        return (x[::-1] * 2).astype(np.float32)

    x = tf.placeholder(tf.float32, [None, 2])
    y = tf.py_func(augment, [x], tf.float32)
    y.set_shape(x.shape)
    return Fed(tf.reduce_sum(y, 0), {x: X})


@snippet
def habit_tf_print_and_assert(tf: Any) -> Any:
    x = tf.constant([1.0, 2.0])
    with tf.control_dependencies([tf.assert_positive(x), tf.assert_less(x, 3.0)]):
        return tf.identity(x)


@snippet(nodes=False)
def habit_partitioned_losses(tf: Any) -> Any:
    x = tf.constant(X)
    parts = tf.dynamic_partition(x, [0, 1, 0, 1, 0, 1], 2)
    return tf.gradients([tf.reduce_sum(parts[0]), 2.0 * tf.reduce_sum(parts[1])], x)
