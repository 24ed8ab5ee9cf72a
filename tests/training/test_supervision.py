"""Coordinators, hooks and monitored sessions."""

import threading
from typing import Any

import emplace.compat.v1 as tf
import numpy as np
import pytest


def counting() -> tuple[Any, Any]:
    step = tf.train.get_or_create_global_step()
    return step, tf.assign_add(step, 1)


def test_coordinator_stops_all_threads_and_raises_the_first_error() -> None:
    coordinator = tf.train.Coordinator()
    seen: list[int] = []

    def work(i: int) -> None:
        with coordinator.stop_on_exception():
            if i == 2:
                raise ValueError("the second thread")
            coordinator.wait_for_stop()
            seen.append(i)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
    for t in threads:
        t.start()
    with pytest.raises(ValueError, match="the second thread"):
        coordinator.join(threads)
    assert sorted(seen) == [0, 1, 3]
    assert coordinator.joined


def test_coordinator_takes_the_end_of_the_input_for_no_error() -> None:
    coordinator = tf.train.Coordinator()
    coordinator.request_stop(tf.errors.OutOfRangeError(None, None, "no more"))
    coordinator.join([])
    assert coordinator.should_stop()
    coordinator.clear_stop()
    assert not coordinator.should_stop()


def test_coordinator_names_the_threads_that_do_not_stop() -> None:
    coordinator, release = tf.train.Coordinator(), threading.Event()
    slow = threading.Thread(target=release.wait, name="slow one", daemon=True)
    slow.start()
    coordinator.request_stop()
    with pytest.raises(RuntimeError, match="slow one"):
        coordinator.join([slow], stop_grace_period_secs=0.01)
    release.set()


def test_monitored_session_initializes_and_stops_at_the_step() -> None:
    with tf.Graph().as_default():
        step, train = counting()
        v = tf.get_variable("v", [2], initializer=tf.ones_initializer())
        ran = 0
        with tf.train.MonitoredTrainingSession(hooks=[tf.train.StopAtStepHook(last_step=5)]) as session:
            assert session.run(v).tolist() == [1.0, 1.0]
            while not session.should_stop():
                session.run(train)
                ran += 1
        assert ran == 5
        assert session.should_stop()
        with pytest.raises(RuntimeError, match="after should_stop"):
            session.run(v)


def test_hooks_are_called_in_order_with_what_they_asked_for() -> None:
    told: list[Any] = []

    class Hook(tf.train.SessionRunHook):
        def begin(self) -> None:
            told.append("begin")
            self.double = tf.constant(21) * 2

        def after_create_session(self, session: Any, coord: Any) -> None:
            told.append("created")
            assert session.graph.finalized

        def before_run(self, run_context: Any) -> Any:
            return tf.train.SessionRunArgs({"d": self.double})

        def after_run(self, run_context: Any, run_values: Any) -> None:
            told.append(int(run_values.results["d"]))
            run_context.request_stop()

        def end(self, session: Any) -> None:
            told.append("end")

    with tf.Graph().as_default():
        one = tf.constant(1)
        with tf.train.MonitoredSession(hooks=[Hook()]) as session:
            assert session.run(one) == 1
            assert session.should_stop()
    assert told == ["begin", "created", 42, "end"]


def test_nan_hook_refuses_or_stops() -> None:
    for fails in (True, False):
        with tf.Graph().as_default():
            x = tf.placeholder(tf.float32, [])
            loss = tf.log(x)
            session = tf.train.MonitoredSession(hooks=[tf.train.NanTensorHook(loss, fail_on_nan_loss=fails)])
            session.run(loss, {x: 1.0})
            if fails:
                with pytest.raises(tf.train.NanLossDuringTrainingError):
                    session.run(loss, {x: -1.0})
            else:
                session.run(loss, {x: -1.0})
                assert session.should_stop()
            session.close()


def test_an_error_in_the_block_comes_out_and_the_end_of_the_input_does_not() -> None:
    class Ended(tf.train.SessionRunHook):
        ended = False

        def end(self, session: Any) -> None:
            Ended.ended = True

    with tf.Graph().as_default():
        tf.constant(1)
        with pytest.raises(ZeroDivisionError), tf.train.MonitoredSession(hooks=[Ended()]):
            _ = 1 / 0
        assert not Ended.ended
        with tf.train.MonitoredSession(hooks=[Ended()]):
            raise tf.errors.OutOfRangeError(None, None, "no more")
        assert Ended.ended


def test_scaffold_makes_what_is_missing_and_calls_what_is_given() -> None:
    called: list[Any] = []
    with tf.Graph().as_default():
        tf.get_variable("v", [2], initializer=tf.zeros_initializer())
        tf.get_local_variable("local", [1], initializer=tf.ones_initializer())
        scaffold = tf.train.Scaffold(init_fn=lambda s, session: called.append(session))
        with tf.train.MonitoredTrainingSession(scaffold=scaffold) as session:
            assert len(session.run(scaffold.ready_op)) == 0
    assert len(called) == 1


def test_logging_hook_logs_every_so_many_steps(caplog: pytest.LogCaptureFixture) -> None:
    tf.logging.set_verbosity(tf.logging.INFO)
    with tf.Graph().as_default():
        step, train = counting()
        hook = tf.train.LoggingTensorHook({"step": step}, every_n_iter=2)
        with tf.train.MonitoredSession(hooks=[hook]) as session:
            for _ in range(5):
                session.run(train)
    tf.logging.set_verbosity(tf.logging.WARN)
    assert len([r for r in caplog.records if "step = " in r.getMessage()]) == 3


def test_moving_average_follows() -> None:
    with tf.Graph().as_default():
        v = tf.get_variable("v", [2], initializer=tf.zeros_initializer())
        average = tf.train.ExponentialMovingAverage(0.5)
        follow = average.apply([v])
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            session.run(v.assign([4.0, 8.0]))
            session.run(follow)
            session.run(follow)
            np.testing.assert_allclose(session.run(average.average(v)), [3.0, 6.0])


def test_queue_runners_feed_batches_until_the_input_ends() -> None:
    with tf.Graph().as_default():
        numbers = np.arange(10, dtype=np.int32)
        number, square = tf.train.slice_input_producer([numbers, numbers**2], num_epochs=2, shuffle=False)
        batch = tf.train.batch([number, square], 4, allow_smaller_final_batch=True)
        seen: list[int] = []
        with tf.Session() as session:
            session.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
            coordinator = tf.train.Coordinator()
            threads = tf.train.start_queue_runners(session, coordinator)
            try:
                while not coordinator.should_stop():
                    a, b = session.run(batch)
                    assert (a**2 == b).all()
                    seen += a.tolist()
            except tf.errors.OutOfRangeError:
                pass
            finally:
                coordinator.request_stop()
            coordinator.join(threads)
    assert seen == [*range(10), *range(10)]


def test_summaries_are_messages() -> None:
    with tf.Graph().as_default():
        tf.summary.scalar("loss", tf.constant(2.5))
        tf.summary.histogram("weights", tf.constant([1.0, 2.0, 2.0]))
        with tf.Session() as session:
            message = session.run(tf.summary.merge_all())
    summary = tf.Summary.FromString(message)
    assert [v.tag for v in summary.value] == ["loss", "weights"]
    assert summary.value[0].simple_value == 2.5
    assert summary.value[1].histo.num == 3 and summary.value[1].histo.sum == 5
