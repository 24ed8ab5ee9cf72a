"""SyncReplicasOptimizer with a chief and a worker."""

import threading

import numpy as np


def run(tf, cluster):
    results = {}

    def program(index):
        with tf.Graph().as_default():
            with tf.device(tf.train.replica_device_setter(cluster=cluster.spec, worker_device=f"/job:worker/task:{index}")):
                step = tf.train.get_or_create_global_step()
                w = tf.get_variable("w", initializer=[1.0, -1.0, 2.0])
                target = tf.constant(np.array([1.0, 2.0, 3.0], np.float32) * (index + 1))
                loss = tf.reduce_sum(tf.square(w - target))
                opt = tf.train.SyncReplicasOptimizer(tf.train.GradientDescentOptimizer(0.1), replicas_to_aggregate=2, total_num_replicas=2)
                train = opt.minimize(loss, global_step=step)
            hook = opt.make_session_run_hook(index == 0, num_tokens=0)
            if index == 0:
                kinds = sorted({(op.type, op.device) for op in tf.get_default_graph().get_operations() if "Accumulator" in op.type or "Queue" in op.type})
                print(len(kinds), sorted({device for _, device in kinds}))
            with tf.train.MonitoredTrainingSession(
                master=cluster.target("worker", index), is_chief=index == 0, hooks=[hook], stop_grace_period_secs=1, max_wait_secs=60, log_step_count_steps=None,
            ) as sess:
                for _ in range(6):
                    sess.run(train)
                    done.wait()  # nobody gives two gradients to one step
                if index == 0:
                    while sess.run(step) < 6:
                        pass
                    results["w"] = [round(float(x), 4) for x in sess.run(w)]
                    results["step"] = int(sess.run(step)) >= 6
                done.wait()

    done = threading.Barrier(2)
    threads = [threading.Thread(target=program, args=(i,)) for i in range(2)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    print(results)
