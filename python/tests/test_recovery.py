"""Lost workers, scaffolds that do not initialize, restore errors, optimizers of programs themselves."""

import numpy as np
import pytest

import emplace.compat.v1 as tf


class Failing(tf.train.SessionRunHook):
    """Raises `error` once, in the method `where`; asks to stop after three steps."""

    def __init__(self, where, error):
        self.where, self.error, self.told, self.steps = where, error, [], 0

    def _fail(self, where):
        self.told.append(where)
        if where == self.where and self.told.count(where) == 1:
            raise self.error(None, None, "lost")

    def after_create_session(self, session, coord):
        self._fail("created")

    def before_run(self, run_context):
        self._fail("before")

    def after_run(self, run_context, run_values):
        self._fail("after")
        self.steps += 1
        if self.steps == 3:
            run_context.request_stop()

    def end(self, session):
        self.told.append("end")


@pytest.mark.parametrize("where", ["created", "before", "after"])
@pytest.mark.parametrize("error", [tf.errors.AbortedError, tf.errors.UnavailableError])
def test_a_lost_worker_means_a_new_session(where, error):
    with tf.Graph().as_default():
        add = tf.get_variable("v", initializer=1.0).assign_add(1.0)
        hook, values = Failing(where, error), []
        with tf.train.MonitoredSession(hooks=[hook]) as session:
            while not session.should_stop():
                values.append(session.run(add))
    first = {"created": ["created"], "before": ["created", "before"], "after": ["created", "before", "after"]}[where]
    assert hook.told == [*first, "created", *["before", "after"] * 3, "end"]
    assert values == [2.0, 3.0, 4.0]  # the new session began anew


def test_a_lost_worker_seen_by_a_thread():
    class Thread(tf.train.SessionRunHook):
        coordinators = []

        def after_create_session(self, session, coord):
            self.coordinators.append(coord)
            with coord.stop_on_exception():
                if len(self.coordinators) == 1:
                    raise tf.errors.AbortedError(None, None, "lost")

    with tf.Graph().as_default():
        v = tf.get_variable("v", initializer=1.0)
        with tf.train.MonitoredSession(hooks=[Thread()]) as session:
            assert not session.should_stop() and len(Thread.coordinators) == 2
            assert session.run(v) == 1.0


def test_a_step_function_is_called_again():
    with tf.Graph().as_default():
        add, calls = tf.get_variable("v", initializer=1.0).assign_add(1.0), []

        def step(step_context):
            calls.append(step_context.session.run(add))
            if len(calls) == 1:
                raise tf.errors.AbortedError(None, None, "lost")
            return step_context.run_with_hooks(add)

        with tf.train.MonitoredSession() as session:
            assert session.run_step_fn(step) == 3.0 and calls == [2.0, 2.0]
            session.run_step_fn(lambda step_context: step_context.request_stop())
            pytest.fail("the block is left")


def test_a_singular_session_does_not_recover():
    with tf.Graph().as_default():
        v, hook = tf.get_variable("v", initializer=1.0), Failing("after", tf.errors.AbortedError)
        with pytest.raises(tf.errors.AbortedError, match="lost"), tf.train.SingularMonitoredSession(hooks=[hook]) as session:
            session.run(v)
    assert hook.told == ["created", "before", "after"]


def test_other_errors_are_not_recovered_from():
    with tf.Graph().as_default():
        v, hook = tf.get_variable("v", initializer=1.0), Failing("after", tf.errors.InternalError)
        with pytest.raises(tf.errors.InternalError, match="lost"), tf.train.MonitoredSession(hooks=[hook]) as session:
            session.run(v)


def _refused(**parts):
    with pytest.raises(RuntimeError) as e:
        tf.train.MonitoredTrainingSession(scaffold=tf.train.Scaffold(**parts))
    return str(e.value)


def test_a_scaffold_that_leaves_variables_is_refused():
    with tf.Graph().as_default():
        tf.get_variable("v", initializer=1.0)
        words = "Init operations did not make model ready for local_init.  Init op: NoOp, init fn: None, error: Variables not initialized: v"
        assert _refused(init_op=tf.no_op()) == words
    with tf.Graph().as_default():
        tf.get_local_variable("l", initializer=1.0)
        words = 'Init operations did not make model ready.  Init op: group_deps, init fn: None, local_init_op: name: "NoOp"\nop: "NoOp"\n, error: Variables not initialized: l'
        assert _refused(local_init_op=tf.no_op()) == words


def test_a_scaffold_may_initialize_by_a_function():
    with tf.Graph().as_default():
        v = tf.get_variable("v", initializer=1.0)
        scaffold = tf.train.Scaffold(init_op=tf.no_op(), init_fn=lambda given, session: session.run(v.initializer) if given is scaffold else None)
        with tf.train.MonitoredTrainingSession(scaffold=scaffold) as session:
            assert session.run(v) == 1.0


@pytest.mark.parametrize(
    ("name", "shape", "error", "node"),
    [("w", [2], tf.errors.NotFoundError, "mine/RestoreV2"), ("v", [3], tf.errors.InvalidArgumentError, "mine/Assign")],
)
def test_a_failed_restore_names_its_operation(tmp_path, name, shape, error, node):
    with tf.Graph().as_default(), tf.Session() as session:
        tf.get_variable("v", [2])
        session.run(tf.global_variables_initializer())
        path = tf.train.Saver().save(session, str(tmp_path / "m"))
    with tf.Graph().as_default(), tf.Session() as session:
        tf.get_variable(name, shape)
        with pytest.raises(error) as e:
            tf.train.Saver(name="mine").restore(session, path)
        assert f"\n\t [[{{{{node {node}}}}}]]" in str(e.value)
        assert e.value.op.name == node


class Own(tf.train.Optimizer):
    """Plain descent, with slots of each kind."""

    def __init__(self):
        super().__init__(False, "Own")
        self.called = []

    def _create_slots(self, var_list):
        for v in var_list:
            self._zeros_slot(v, "zeros", self._name)
            self._get_or_make_slot(v, tf.fill([2], 3.0), "threes", self._name)
            self._get_or_make_slot_with_initializer(v, tf.ones_initializer(), tf.TensorShape([3]), tf.float64, "ones", "other")
        self._create_non_slot_variable(0.5, "power", var_list[0])

    def _prepare(self):
        self._rate = tf.convert_to_tensor(self._call_if_callable(lambda: 0.1), name="rate")

    def _power(self):
        return self._get_non_slot_variable("power", tf.get_default_graph())

    def _apply_dense(self, grad, var):
        self.called.append("dense")
        return var.assign_sub(self._rate * grad * self._power())

    def _apply_sparse(self, grad, var):
        self.called.append("sparse")
        return var.scatter_sub(grad)

    def _resource_apply_dense(self, grad, handle):
        self.called.append("resource dense")
        return handle.assign_sub(self._rate * grad * self._power())

    def _resource_apply_sparse(self, grad, handle, indices):
        self.called.append("resource sparse")
        return handle.scatter_sub(tf.IndexedSlices(grad, indices))

    def _finish(self, update_ops, name_scope):
        self.called.append(len(update_ops))
        return super()._finish(update_ops, name_scope)


@pytest.mark.parametrize("resource", [False, True])
def test_an_optimizer_of_the_program(resource):
    with tf.Graph().as_default():
        v = tf.get_variable("v", initializer=[1.0, 2.0], use_resource=resource)
        w = tf.get_variable("w", initializer=[1.0, 2.0], use_resource=resource, constraint=lambda x: tf.clip_by_value(x, 0.0, 0.9))
        e = tf.get_variable("e", initializer=[5.0, 6.0], use_resource=resource)
        own, step = Own(), tf.train.get_or_create_global_step()
        train = own.minimize(tf.reduce_sum(v * v) + tf.reduce_sum(w) + tf.reduce_sum(tf.gather(e, [1, 1])), step)
        kind = "resource " if resource else ""
        assert own.called == [f"{kind}dense", f"{kind}dense", f"{kind}sparse", 3]
        assert own.get_slot_names() == ["ones", "threes", "zeros"]
        assert [s.name for s in own.variables()] == [
            "e/Own:0", "e/Own_1:0", "e/other:0", "power:0", "v/Own:0", "v/Own_1:0", "v/other:0", "w/Own:0", "w/Own_1:0", "w/other:0",
        ]
        ones = own.get_slot(v, "ones")
        assert ones.shape.as_list() == [3] and ones.dtype.base_dtype == tf.float64 and len(own._slot_dict("ones")) == 3
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            session.run(train)
            np.testing.assert_allclose(session.run([v, w, e]), [[0.9, 1.8], [0.9, 0.9], [5.0, 4.0]], rtol=1e-6)
            assert session.run(step) == 1 and session.run(own.get_slot(v, "threes")).tolist() == [3.0, 3.0]


@pytest.mark.parametrize("resource", [False, True])
@pytest.mark.parametrize("sparse", [False, True])
def test_an_optimizer_that_applies_nothing(resource, sparse):
    class Bare(tf.train.Optimizer):
        pass

    with tf.Graph().as_default():
        v = tf.get_variable("v", initializer=[1.0, 2.0], use_resource=resource)
        with pytest.raises(NotImplementedError):
            Bare(False, "Bare").minimize(tf.reduce_sum(tf.gather(v, [0, 0]) if sparse else v))


def test_an_optimizer_says_which_types_it_takes():
    class Double(tf.train.Optimizer):
        def _valid_dtypes(self):
            return {tf.float64}

    with tf.Graph().as_default():
        v = tf.get_variable("v", initializer=[1.0])
        with pytest.raises(ValueError, match=r"Invalid type tf.float32 for Sum:0, expected: \[tf.float64\]"):
            Double(False, "Double").compute_gradients(tf.reduce_sum(v))
        with pytest.raises(NotImplementedError, match="Trying to update a Tensor"):
            tf.train.Optimizer(False, "Bare").apply_gradients([(tf.ones([1]), tf.ones([1]))])


@pytest.mark.parametrize("resource", [False, True])
def test_a_known_optimizer_may_be_refined(resource):
    class Twice(tf.train.GradientDescentOptimizer):
        def _apply_dense(self, grad, var):
            return super()._apply_dense(2 * grad, var)

        def _resource_apply_dense(self, grad, handle):
            return super()._resource_apply_dense(2 * grad, handle)

    class Rows(tf.train.AdamOptimizer):
        seen = []

        def _apply_sparse(self, grad, var):
            self.seen.append(False)
            return super()._apply_sparse(grad, var)

        def _resource_apply_sparse(self, grad, handle, indices):
            self.seen.append(True)
            return super()._resource_apply_sparse(grad, handle, indices)

    with tf.Graph().as_default():
        v = tf.get_variable("v", initializer=[1.0, 2.0], use_resource=resource)
        steps = [Twice(0.1).minimize(tf.reduce_sum(v * v)), Rows(0.1).minimize(tf.reduce_sum(tf.gather(v, [1, 1])))]
        assert Rows.seen == [resource]
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            found = [session.run(step) or session.run(v) for step in steps]
            np.testing.assert_allclose(found, [[0.6, 1.2], [0.6, 1.1]], rtol=1e-5)
