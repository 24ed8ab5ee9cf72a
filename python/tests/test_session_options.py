"""Prepared calls, run options, metadata, devices, and what a ConfigProto says."""

import numpy as np
import pytest

import emplace.compat.v1 as tf

pytestmark = pytest.mark.usefixtures("graph")
FULL = tf.RunOptions.FULL_TRACE


def full_trace():
    return tf.RunOptions(trace_level=FULL)


def test_a_callable_of_a_tensor_with_options():
    a = tf.constant(42.0)
    with tf.Session() as sess:
        call = sess.make_callable(a, accept_options=True)
        metadata = tf.RunMetadata()
        assert call(options=full_trace(), run_metadata=metadata) == 42.0
        assert len(metadata.step_stats.dev_stats) > 0


def test_a_callable_of_an_operation_with_options():
    a = tf.Variable(42.0)
    b = a.assign_add(1.0)
    with tf.Session() as sess:
        sess.run(a.initializer)
        call = sess.make_callable(b.op, accept_options=True)
        metadata = tf.RunMetadata()
        assert call(options=full_trace(), run_metadata=metadata) is None
        assert sess.run(a) == 43.0
        assert len(metadata.step_stats.dev_stats) > 0


def test_a_callable_of_feeds_with_options():
    x = tf.placeholder(tf.float32, [])
    a = x + 1.0
    with tf.Session() as sess:
        call = sess.make_callable(a, feed_list=[x.name], accept_options=True)
        metadata = tf.RunMetadata()
        assert call(41.0, options=full_trace(), run_metadata=metadata) == 42.0
        assert len(metadata.step_stats.dev_stats) > 0


def test_callables_of_every_structure():
    x, y = tf.placeholder(tf.float32, [2]), tf.placeholder(tf.float32, [2])
    total = x + y
    with tf.Session() as sess:
        for i in range(5):
            v = np.array([i, 1], np.float32)
            np.testing.assert_array_equal(sess.make_callable(total, [x, y])(v, v), v + v)
            got = sess.make_callable([total, x], [x, y])(v, [1, 1])
            np.testing.assert_array_equal(got[0], v + 1)
            np.testing.assert_array_equal(got[1], v)
            got = sess.make_callable({"t": (total,)}, [x, y])(v, v)
            np.testing.assert_array_equal(got["t"][0], v + v)


def test_callables_check_their_arguments():
    x = tf.placeholder(tf.float32, [2])
    with tf.Session() as sess:
        call = sess.make_callable(x * 2.0, [x])
        with pytest.raises(tf.errors.InvalidArgumentError, match="You must feed a value for placeholder tensor 'Placeholder'"):
            call()
        with pytest.raises(ValueError, match=r"Cannot feed value of shape \(\)"):
            call(1, 2)
        with pytest.raises(ValueError, match="Cannot feed value of shape"):
            call([1.0, 2.0, 3.0])
        with pytest.raises(TypeError, match="must be a list or tuple"):
            sess.make_callable(x, feed_list=x)


def test_a_trace_of_every_step():
    with tf.Session() as sess:
        metadata = tf.RunMetadata()
        c = tf.constant(1.0, name="c") + tf.constant(2.0)
        sess.run(c)
        assert not metadata.HasField("step_stats")
        sess.run(c, options=full_trace(), run_metadata=metadata)
        assert metadata.HasField("step_stats") and len(metadata.step_stats.dev_stats) >= 1
        nodes = [n.node_name for d in metadata.step_stats.dev_stats for n in d.node_stats]
        assert "add" in nodes


def test_options_and_metadata_need_not_come_together():
    c = tf.constant(1.0)
    with tf.Session() as sess:
        metadata = tf.RunMetadata()
        assert sess.run(c, options=None, run_metadata=None) == 1.0
        assert sess.run(c, options=None, run_metadata=metadata) == 1.0
        assert not metadata.HasField("step_stats")
        assert sess.run(c, options=full_trace(), run_metadata=None) == 1.0
        assert sess.run(c, options=full_trace(), run_metadata=metadata) == 1.0
        assert metadata.HasField("step_stats")


def test_a_graph_of_every_device_when_asked_for():
    a, fed = tf.constant(1.0, name="a"), tf.exp(2.0, name="fed")
    with tf.device("/cpu:1"):
        total = tf.add(a, fed, name="total")
    wanted = tf.RunOptions(output_partition_graphs=True)
    # A node that is fed lies where the simple placer's rules put it.
    with tf.Session(config=tf.ConfigProto(device_count={"CPU": 2}, placer="simple")) as sess:
        metadata = tf.RunMetadata()
        assert sess.run(total, {fed: 4.0}, options=wanted, run_metadata=metadata) == 5.0
        graphs = {g.node[0].device[-5:]: {n.name: n.op for n in g.node} for g in metadata.partition_graphs}
        assert graphs == {"CPU:0": {"fed": "Placeholder"}, "CPU:1": {"a": "Const", "total": "AddV2"}}
        metadata = tf.RunMetadata()
        sess.run(total, options=full_trace(), run_metadata=metadata)
        assert not metadata.partition_graphs
    config = tf.ConfigProto()
    config.experimental.disable_output_partition_graphs = True
    with tf.Session(config=config) as sess, pytest.raises(tf.errors.InvalidArgumentError, match="is not supported when"):
        sess.run(a, options=wanted, run_metadata=tf.RunMetadata())


@pytest.mark.parametrize("pool", [-2, 1])
def test_a_thread_pool_that_is_none(pool):
    with tf.Session() as sess, pytest.raises(tf.errors.InvalidArgumentError, match=f"Invalid inter_op_thread_pool: {pool}"):
        sess.run(tf.exp(1.0), options=tf.RunOptions(inter_op_thread_pool=pool))


def test_options_of_the_optimizer_are_taken():
    for level in (tf.OptimizerOptions.L0, tf.OptimizerOptions.L1):
        for folding in (False, True):
            config = tf.ConfigProto()
            config.graph_options.optimizer_options.opt_level = level
            config.graph_options.optimizer_options.do_constant_folding = folding
            with tf.Session(config=config) as sess:
                assert sess.run(tf.constant(2.0) * 3.0) == 6.0


def test_infer_shapes_is_taken():
    config = tf.ConfigProto(graph_options=tf.GraphOptions(infer_shapes=True))
    with tf.Session(config=config) as sess:
        assert sess.run(tf.constant(1.0)) == 1.0


def test_placement_is_logged_when_asked_for(capsys):
    with tf.Session(config=tf.ConfigProto(log_device_placement=True)) as sess:
        c = tf.constant(1.0, name="shown")
        sess.run(c)
        first = capsys.readouterr().out
        sess.run(c)
        again = capsys.readouterr().out
    assert "shown" in first and "device:CPU:0" in first
    assert again == ""


def test_a_setting_of_the_process_logs_every_session(capsys):
    tf.debugging.set_log_device_placement(True)
    try:
        with tf.Session() as sess:
            sess.run(tf.constant(1.0, name="shown"))
    finally:
        tf.debugging.set_log_device_placement(False)
    assert "shown" in capsys.readouterr().out


def test_devices_tell_about_themselves():
    with tf.Session() as sess:
        devices = sess.list_devices()
    cpu = devices[0]
    assert cpu.name == "/job:localhost/replica:0/task:0/device:CPU:0"
    assert cpu.device_type == "CPU" and cpu.memory_limit_bytes > 0 and cpu.incarnation != 0
    assert repr(cpu).startswith("_DeviceAttributes(/job:localhost/replica:0/task:0/device:CPU:0, CPU, ")


def test_device_names_are_written_in_full():
    with tf.Session(config=tf.ConfigProto(device_count={"CPU": 3})) as sess:
        for d in sess.list_devices():
            assert tf.DeviceSpec.from_string(d.name).to_string() == d.name


def test_every_device_can_be_used():
    with tf.Session(config=tf.ConfigProto(device_count={"CPU": 3})) as sess:
        for d in sess.list_devices():
            with tf.device(d.name):
                assert sess.run(tf.constant(1.0) + 1.0) == 2.0


def test_one_device_too_many_is_refused():
    with tf.Session(config=tf.ConfigProto(device_count={"CPU": 2})) as sess:
        with tf.device("/cpu:2"):
            c = tf.constant(1.0)
        with pytest.raises(tf.errors.InvalidArgumentError, match="device:CPU:2"):
            sess.run(c)
