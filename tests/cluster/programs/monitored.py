"""A chief and a worker under MonitoredTrainingSession: hooks, checkpoints, the end of both."""

import os
import tempfile
import threading


def run(tf, cluster):
    lines = {0: [], 1: []}
    folder = tempfile.mkdtemp()
    started = threading.Event()

    class Tell(tf.train.SessionRunHook):
        def __init__(self, index):
            self.index = index

        def begin(self):
            lines[self.index].append("begin")

        def after_create_session(self, session, coord):
            lines[self.index].append("created")

        def end(self, session):
            lines[self.index].append("end")

    def program(index):
        with tf.Graph().as_default():
            with tf.device(tf.train.replica_device_setter(cluster=cluster.spec, worker_device=f"/job:worker/task:{index}")):
                step = tf.train.get_or_create_global_step()
                w = tf.get_variable("w", initializer=[3.0, -1.0])
                loss = tf.reduce_sum(tf.square(w - 1.0))
                train = tf.train.GradientDescentOptimizer(0.05).minimize(loss, global_step=step)
            if index:
                started.wait()
            hooks = [tf.train.StopAtStepHook(last_step=12), Tell(index)]
            with tf.train.MonitoredTrainingSession(
                master=cluster.target("worker", index), is_chief=index == 0, checkpoint_dir=folder if index == 0 else None,
                hooks=hooks, save_checkpoint_steps=4, save_summaries_steps=None, log_step_count_steps=None, max_wait_secs=60,
            ) as sess:
                if index == 0:
                    lines[0].append([float(x) for x in sess.run(w)])
                    started.set()
                count = 0
                while not sess.should_stop():
                    sess.run(train)
                    count += 1
                lines[index].append(count > 0)

    threads = [threading.Thread(target=program, args=(i,)) for i in range(2)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    for index in lines:
        print(index, lines[index])
    print(os.path.exists(os.path.join(folder, "checkpoint")), int(tf.train.load_variable(folder, "global_step")) >= 12)
