"""Steps of strategies on virtual GPUs: one program for all replicas, the same bits, and what happens when one fails."""

import os
import pathlib
import subprocess
import sys
import textwrap

import pytest

HEAD = """
import emplace as tf
import numpy as np
D = tf.distribute
s = D.MirroredStrategy()
context = D.get_replica_context
"""


def run(program: str, folder: pathlib.Path, gpus: int = 2) -> list[str]:
    env = {**os.environ, "EMPLACE_VIRTUAL_GPUS": str(gpus), "CUDA_VISIBLE_DEVICES": "-1"}
    file = folder / "program.py"
    file.write_text(HEAD + textwrap.dedent(program))
    done = subprocess.run([sys.executable, file], env=env, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


TRAINING = """
w = {}
with s.scope():
    w["w"] = tf.Variable(np.linspace(-1, 1, 20).reshape(4, 5).astype("f"))
    w["seen"] = tf.Variable(0, dtype=tf.int64, synchronization=tf.VariableSynchronization.ON_READ, aggregation=tf.VariableAggregation.SUM)

def step(x, y):
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum((tf.tanh(x @ w["w"]) - y) ** 2) / 8.0
    gradient = context().all_reduce("SUM", tape.gradient(loss, w["w"]))
    context().merge_call(lambda strategy, g: strategy.extended.update(w["w"], lambda v, g: v.assign_sub(0.1 * g), (g,)), (gradient,))
    w["seen"].assign_add(tf.shape(x, out_type=tf.int64)[0])
    return loss

@tf.function
def train(x, y):
    return s.reduce("SUM", s.run(step, (x, y)), axis=None)

r = np.random.RandomState(0)
rows = r.randn(21, 4).astype("f"), r.randn(21, 5).astype("f")
batches = s.experimental_distribute_dataset(tf.data.Dataset.from_tensor_slices(rows).batch(8))
"""


@pytest.mark.parametrize("gpus", [0, 1, 2, 4])
def test_trains_like_one_device_on_any_number(gpus: int, tmp_path: pathlib.Path) -> None:
    out = run(
        TRAINING
        + """
plain = tf.Variable(np.linspace(-1, 1, 20).reshape(4, 5).astype("f"))
for _ in range(3):
    for x, y in batches:
        loss = train(x, y)
    for at in range(0, 21, 8):
        with tf.GradientTape() as tape:
            alone = tf.reduce_sum((tf.tanh(rows[0][at:at + 8] @ plain) - rows[1][at:at + 8]) ** 2) / 8.0
        plain.assign_sub(0.1 * tape.gradient(alone, plain))
print(s.num_replicas_in_sync, int(w["seen"].numpy()))
print(np.allclose(plain, w["w"].numpy(), atol=1e-5), np.allclose(alone, loss, atol=1e-5))
print(all(np.array_equal(v.numpy(), w["w"].numpy()) for v in s.experimental_local_results(w["w"])))
""",
        tmp_path,
        gpus,
    )
    assert out == [f"{max(gpus, 1)} 63", "True True", "True"]


def test_a_step_is_one_graph_with_a_part_on_each_device(tmp_path: pathlib.Path) -> None:
    out = run(
        TRAINING
        + """
graph = train.get_concrete_function(*next(iter(batches))).graph
for kind in ("Tanh", "AssignSubVariableOp"):
    print(kind, sorted(op.device[-5:] for op in graph.get_operations() if op.type == kind))
print([op.name for op in graph.get_operations() if op.type == "Tanh"])
import threading
print(train(*next(iter(batches))).shape, threading.active_count())
""",
        tmp_path,
    )
    assert out == ["Tanh ['GPU:0', 'GPU:1']", "AssignSubVariableOp ['GPU:0', 'GPU:1']", "['Tanh', 'replica_1/Tanh']", "() 1"]


BITS = """
import hashlib
kind, n = {kind!r}, {n}
if kind == "CPU":
    cpu = tf.config.list_physical_devices("CPU")[0]
    tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * n)
s = D.MirroredStrategy([f"{{kind}}:{{i}}" for i in range(n)], deterministic=True)
tf.random.set_seed(3)
r = np.random.RandomState(0)
with s.scope():
    kernel = tf.Variable(r.randn(3, 3, 3, 8).astype("f") * 0.2)
    w = tf.Variable(r.randn(128, 5).astype("f") * 0.1)
    moving = tf.Variable(tf.zeros([8]), trainable=False)  # of each slice

def step(x, y):
    with tf.GradientTape() as tape:
        h = tf.nn.conv2d(x, kernel, 1, "SAME")
        mean = tf.reduce_sum(h, [0, 1, 2]) / 256.0
        moving.assign(moving * 0.9 + mean * 0.1)
        h = tf.nn.dropout(tf.nn.max_pool2d(tf.nn.relu(h - mean), 2, 2, "SAME"), 0.3)
        loss = tf.reduce_sum(tf.nn.sparse_softmax_cross_entropy_with_logits(y, tf.reshape(h, [-1, 128]) @ w)) / 32.0
    gradients = context().all_reduce("SUM", tape.gradient(loss, [kernel, w]))
    def update(strategy, *gradients):
        for v, g in zip((kernel, w), gradients):
            strategy.extended.update(v, lambda v, g: v.assign_sub(0.1 * g), (g,))
    context().merge_call(update, tuple(gradients))
    return loss

@tf.function
def train(x, y):
    return s.reduce("SUM", s.run(step, (x, y)), axis=None)

rows = r.randn(100, 8, 8, 3).astype("f"), r.randint(0, 5, 100)
for _ in range(2):
    for batch in s.experimental_distribute_dataset(tf.data.Dataset.from_tensor_slices(rows).batch(32)):
        loss = train(*batch)
assert np.isfinite(loss)
print(hashlib.md5(b"".join(v.numpy().tobytes() for v in (kernel, w, moving))).hexdigest(), loss.numpy().tobytes().hex())
"""


def test_deterministic_strategies_give_the_same_bits(tmp_path: pathlib.Path) -> None:
    found = {}
    for kind, n in [("CPU", 1), ("CPU", 3), ("GPU", 2), ("GPU", 4), ("GPU", 8)]:
        program = BITS.format(kind=kind, n=n)
        env_head = program if kind == "GPU" else program.replace("s = D", "del s\ns = D", 1)
        found[kind, n] = run_alone(env_head, tmp_path, n if kind == "GPU" else 0)
    assert len(set(found.values())) == 1, found


def run_alone(program: str, folder: pathlib.Path, gpus: int) -> str:
    env = {**os.environ, "EMPLACE_VIRTUAL_GPUS": str(gpus), "CUDA_VISIBLE_DEVICES": "-1"}
    head = HEAD.replace("s = D.MirroredStrategy()\n", "s = None\n")
    done = subprocess.run([sys.executable, "-c", head + program], env=env, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("shares", [(0.75, 0.25), (0.6, 0.3, 0.1)])
def test_unlike_parts_weigh_as_on_one_device(shares: tuple[float, ...], tmp_path: pathlib.Path) -> None:
    out = run(
        f"""
        from emplace.distribute import speeds
        found = speeds.measured(s.extended.worker_devices)
        assert len(found) == {len(shares)} and abs(sum(found) - 1) < 1e-9 and min(found) > 0
        speeds.measured = lambda devices: {shares}
        s = D.MirroredStrategy(split="measured")
        """
        + """
        r = np.random.RandomState(0)
        x, y = r.randn(23, 4).astype("f"), r.randn(23, 1).astype("f")
        alone = np.ones((4, 1))
        for i in range(0, 23, 9):
            alone = alone - 0.1 * (2 * x[i:i + 9].T @ (x[i:i + 9] @ alone - y[i:i + 9]) / len(x[i:i + 9]) + 0.02 * alone)

        def mean(e):  # as Keras's losses have it
            return tf.reduce_mean(e) * tf.cast(1.0 / s.num_replicas_in_sync, tf.float32)

        for average in (tf.nn.compute_average_loss, mean):
            with s.scope():
                w = tf.Variable(np.ones((4, 1), "f"))
            def step(x, y):
                with tf.GradientTape() as tape:
                    loss = average(tf.reduce_sum((x @ w - y) ** 2, 1)) + tf.nn.scale_regularization_loss(0.01 * w ** 2)
                g = context().all_reduce("SUM", tape.gradient(loss, w))
                context().merge_call(lambda st, g: st.extended.update(w, lambda v, g: v.assign_sub(0.1 * g), (g,)), (g,))
            train = tf.function(lambda x, y: s.run(step, (x, y)))
            for batch in s.experimental_distribute_dataset(tf.data.Dataset.from_tensor_slices((x, y)).batch(9)):
                train(*batch)
            print(np.allclose(w, alone, atol=1e-5), [len(v) for v in s.experimental_local_results(batch[0])])
        """,
        tmp_path,
        len(shares),
    )
    rows = {2: "[4, 1]", 3: "[3, 2, 0]"}[len(shares)]
    assert out == [f"True {rows}"] * 2


KERAS = """
import hashlib
import numpy as np
import tensorflow as tf
strategy = tf.distribute.MirroredStrategy(deterministic=True)
tf.keras.utils.set_random_seed(1)
layers, r = tf.keras.layers, np.random.RandomState(0)
images, kinds = r.randn(104, 8, 8, 3).astype("f"), r.randint(0, 5, 104)
with strategy.scope():
    model = tf.keras.Sequential([layers.Input((8, 8, 3)), layers.Conv2D(4, 3), layers.BatchNormalization(), layers.ReLU(),
                                 layers.Dropout(0.3, seed=2), layers.Flatten(), layers.Dense(5)])
    model.compile(optimizer="adam", loss=tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True))
history = model.fit(images, kinds, batch_size=40, epochs=2, shuffle=False, verbose=0).history
print(history["loss"], hashlib.md5(b"".join(w.tobytes() for w in model.get_weights())).hexdigest())
"""


def test_a_deterministic_fit_gives_the_same_bits(tmp_path: pathlib.Path) -> None:
    pytest.importorskip("keras")
    (tmp_path / "fit.py").write_text(KERAS)
    found = set()
    for gpus in (0, 2, 3):
        env = {**os.environ, "EMPLACE_VIRTUAL_GPUS": str(gpus), "CUDA_VISIBLE_DEVICES": "-1"}
        done = subprocess.run([sys.executable, "-m", "emplace", tmp_path / "fit.py"], env=env, capture_output=True, text=True, timeout=600)
        assert done.returncode == 0, done.stderr
        found.add(done.stdout.splitlines()[-1])
    assert len(found) == 1, found


def test_a_failing_replica_fails_the_step_and_the_next_one_works(tmp_path: pathlib.Path) -> None:
    out = run(
        """
        @tf.function
        def step(x):
            def one(x):
                tf.debugging.assert_positive(x)
                return context().all_reduce("SUM", x)
            return s.run(one, (x,))

        def parts(a, b):
            return s.experimental_distribute_values_from_function(lambda c: tf.constant((a, b)[c.replica_id_in_sync_group]))

        print([float(v) for v in step(parts(1.0, 2.0)).values])
        try:
            step(parts(1.0, -2.0))
        except tf.errors.InvalidArgumentError as e:
            print("InvalidArgumentError", "replica_1" in str(e))
        print([float(v) for v in step(parts(3.0, 2.0)).values])

        def fails(x):
            if context().replica_id_in_sync_group == 1:
                raise KeyError("here")
            return context().all_reduce("SUM", x)
        for run in (s.run, tf.function(s.run)):
            try:
                run(fails, (tf.constant(1.0),))
            except KeyError as e:
                print("KeyError", "here" in str(e))
        tf.compat.v1.get_default_graph()  # a replica's thread goes on with it, not with a copy
        print(s.run(lambda: context().all_reduce("SUM", tf.constant(2.0))).values[1].numpy())
        import threading
        print(threading.active_count())
        """,
        tmp_path,
    )
    assert out == ["[3.0, 3.0]", "InvalidArgumentError True", "[5.0, 5.0]", "KeyError True", "KeyError True", "4.0", "1"]


def test_ctrl_c_ends_the_replicas(tmp_path: pathlib.Path) -> None:
    out = run(
        """
        import os, signal, threading, time
        def slow(x):
            if context().replica_id_in_sync_group == 1:
                threading.Timer(0.3, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
                for _ in range(3000):
                    time.sleep(0.02)
            return context().all_reduce("SUM", x)
        try:
            s.run(slow, (tf.constant(1.0),))
        except KeyboardInterrupt:
            print("KeyboardInterrupt")
        print(s.run(lambda: context().all_reduce("SUM", tf.constant(2.0))).values[0].numpy())
        """,
        tmp_path,
    )
    assert out == ["KeyboardInterrupt", "4.0"]


def test_merging_inside_another_graph_is_refused(tmp_path: pathlib.Path) -> None:
    out = run(
        """
        @tf.function
        def inner(x):
            return context().all_reduce("SUM", x)
        for step in (lambda: s.run(lambda: inner(tf.constant(1.0))), tf.function(lambda: s.run(lambda: inner(tf.constant(1.0))))):
            try:
                step()
            except RuntimeError as e:
                print("`merge_call` called while defining a new graph or a tf.function. " in str(e))
        print(s.run(inner, (tf.constant(1.0),)).values[1].numpy())  # the function itself is of all replicas
        """,
        tmp_path,
    )
    assert out == ["True", "True", "2.0"]


def test_replicas_share_the_variables_that_they_make(tmp_path: pathlib.Path) -> None:
    out = run(
        """
        made = []
        @tf.function
        def step():
            def one():
                if len(made) < 2:
                    made.append(tf.Variable([1.0, 2.0], name="late", aggregation=tf.VariableAggregation.MEAN))
                return made[0].assign_add(tf.ones([2]) * tf.cast(context().replica_id_in_sync_group, tf.float32))
            return s.run(one)
        step()
        step()
        print(made[0] is made[1], [v.name for v in made[0].values], made[0].values[1].device[-5:])
        print(made[0].numpy(), made[0].values[1].numpy())
        """,
        tmp_path,
    )
    assert out == ["True ['late:0', 'late/replica_1:0'] GPU:1", "[2. 3.] [2. 3.]"]


def test_a_function_is_traced_for_each_replica(tmp_path: pathlib.Path) -> None:
    """What one replica's trace captured, its copies of variables, is no other's."""
    out = run(
        """
        with s.scope():
            v = tf.Variable(1.0)
        v.values[1].assign(5.0)
        @tf.function
        def read(x):
            return v * x
        print([float(t) for t in s.run(lambda: read(tf.constant(2.0))).values], float(read(tf.constant(2.0))))
        print([float(t) for t in tf.function(lambda: s.run(lambda: read(tf.constant(2.0))))().values])
        """,
        tmp_path,
    )
    assert out == ["[2.0, 10.0] 2.0", "[2.0, 10.0]"]


def test_checkpoints_hold_the_first_copy_and_restore_all(tmp_path: pathlib.Path) -> None:
    out = run(
        f"""
        with s.scope():
            v = tf.Variable([1.0, 2.0])
        saved = tf.train.Checkpoint(v=v).save({str(tmp_path / "ckpt")!r})
        v.assign([0.0, 0.0])
        tf.train.Checkpoint(v=v).restore(saved).assert_consumed()
        print([c.numpy().tolist() for c in v.values])
        alone = tf.Variable([0.0, 0.0])
        tf.train.Checkpoint(v=alone).restore(saved).assert_consumed()
        print(alone.numpy())
        """,
        tmp_path,
    )
    assert out == ["[[1.0, 2.0], [1.0, 2.0]]", "[1. 2.]"]


@pytest.mark.parametrize("gpus", [2, 4])
def test_ring_and_tree_give_the_sum_everywhere(gpus: int, tmp_path: pathlib.Path) -> None:
    out = run(
        """
        from emplace.distribute import cross_device_ops
        large = np.arange(100003, dtype="f") % 7
        def parts(x):
            return s.run(lambda: context().all_reduce("SUM", tf.constant(x) * tf.cast(context().replica_id_in_sync_group + 1, tf.float32)))
        n = s.num_replicas_in_sync
        for ring in (True, False):
            cross_device_ops.ring_is_cheaper = lambda parts, devices: ring
            made = tf.function(lambda: parts(large))()
            assert all(np.array_equal(v, large * (n * (n + 1) / 2)) for v in made.values)
            print([v.device[-5:] for v in made.values])
        """,
        tmp_path,
        gpus,
    )
    assert out == [str([f"GPU:{i}" for i in range(gpus)])] * 2


def test_what_is_not_there_says_so(tmp_path: pathlib.Path) -> None:
    out = run(
        """
        import os
        def refused(make):
            try:
                return make()
            except (AttributeError, NotImplementedError, ValueError) as e:
                print(type(e).__name__, str(e)[:60])
        refused(D.TPUStrategy)
        refused(lambda: D.ParameterServerStrategy(D.cluster_resolver.SimpleClusterResolver(tf.train.ClusterSpec({"worker": ["localhost:1"]}))))
        refused(lambda: D.MirroredStrategy(deterministic=1))
        refused(lambda: D.MirroredStrategy(split="fast"))
        os.environ["TF_CONFIG"] = '{"cluster": {"worker": ["localhost:1", "localhost:2"]}}'
        refused(D.MultiWorkerMirroredStrategy)
        os.environ["TF_CONFIG"] = '{"cluster": {"ps": ["localhost:1"]}, "task": {"type": "ps", "index": 0}}'
        refused(D.MultiWorkerMirroredStrategy)
        del os.environ["TF_CONFIG"]
        print(D.MultiWorkerMirroredStrategy().num_replicas_in_sync)
        """,
        tmp_path,
    )
    assert out == [
        "NotImplementedError TPUStrategy: TPUs are not part of Emplace",
        "ValueError There must be at least one ps.",
        "ValueError deterministic=1 slices are fewer than the 2 devices: some wo",
        "ValueError split is 'even' or 'measured', and 'even' where deterministi",
        "ValueError When `cluster_spec` is given, you must also specify `task_ty",
        "ValueError No `worker`, `chief` or `evaluator` tasks can be found in `c",
        "2",
    ]
