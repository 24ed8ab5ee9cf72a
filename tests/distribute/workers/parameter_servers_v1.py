"""Version 1's parameter servers: each worker builds its own graph over variables on the servers."""
import json
import os

import numpy as np
import tensorflow.compat.v1 as tf

tf.disable_v2_behavior()
config = json.loads(os.environ["TF_CONFIG"])
job, task = config["task"]["type"], config["task"]["index"]
server = tf.train.Server(config["cluster"], job_name=job, task_index=task)
if job == "ps":
    server.join()

strategy = tf.distribute.experimental.ParameterServerStrategy()
e = strategy.extended
print(strategy.num_replicas_in_sync, list(e.worker_devices), e.parameter_devices, e.should_checkpoint, e.experimental_should_init, e.experimental_between_graph)
x = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0], [2.0, 1.0]], "f")
y = np.array([[3.0], [5.0], [7.0], [9.0]], "f")
with strategy.scope():
    w = tf.get_variable("w", initializer=[[1.0], [2.0]])
    b = tf.get_variable("b", initializer=[0.5])
    step_count = tf.train.get_or_create_global_step()
    print([(v.name, v.device) for v in (w, b, step_count)])
    iterator = strategy.make_dataset_iterator(tf.data.Dataset.from_tensor_slices((x, y)).repeat().batch(4))

    def step(batch):
        a, t = batch
        loss = tf.reduce_mean((tf.matmul(a, w) + b - t) ** 2)
        optimizer = tf.train.GradientDescentOptimizer(0.05)
        with tf.control_dependencies([optimizer.minimize(loss, global_step=step_count)]):
            kept["loss"] = tf.identity(loss)

    kept = {}
    strategy.experimental_run(step, iterator)
    print([v.name for v in tf.trainable_variables()])
    start = iterator.initialize()
    chief = task == 0
    session_config = strategy.update_config_proto(tf.ConfigProto())
    print(list(session_config.device_filters), session_config.isolate_session_state)
    hooks = [tf.train.StopAtStepHook(last_step=30)]
    with tf.train.MonitoredTrainingSession(server.target, is_chief=chief, hooks=hooks, config=session_config) as session:
        session.run(start)
        seen = []
        while not session.should_stop():
            seen.append(session.run(kept["loss"]))
    print(bool(np.isfinite(seen).all()))  # it may come when all steps are done
