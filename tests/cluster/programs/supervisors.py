"""Supervisor and SessionManager: chief first, a worker that waits until the model is ready."""

import tempfile
import threading


def run(tf, cluster):
    folder = tempfile.mkdtemp()

    def build(index):
        graph = tf.Graph()
        with graph.as_default():
            with tf.device(tf.train.replica_device_setter(cluster=cluster.spec, worker_device=f"/job:worker/task:{index}")):
                step = tf.train.get_or_create_global_step()
                w = tf.get_variable("w", initializer=2.0)
                train = tf.group(tf.assign_add(step, 1), w.assign(w * 0.5))
        return graph, step, w, train

    graph, step, w, train = build(0)
    with graph.as_default():
        manager = tf.train.SessionManager(ready_op=tf.report_uninitialized_variables(), recovery_wait_secs=1)
        sess, found = manager.recover_session(cluster.target("worker", 0), saver=tf.train.Saver(), checkpoint_dir=folder)
        print("found", found)
        sess.close()
        try:
            manager.wait_for_session(cluster.target("worker", 0), max_wait_secs=2)
        except tf.errors.DeadlineExceededError as e:
            print(type(e).__name__, e.message.splitlines()[0])
    seen = []

    def worker():
        graph, step, w, train = build(1)
        with graph.as_default():
            manager = tf.train.SessionManager(ready_op=tf.report_uninitialized_variables(), recovery_wait_secs=1)
            with manager.wait_for_session(cluster.target("worker", 1), max_wait_secs=60) as sess:
                seen.append(float(sess.run(w)))
                sess.run(train)
                seen.append(int(sess.run(step)))

    thread = threading.Thread(target=worker)
    thread.start()
    with graph.as_default():
        supervisor = tf.train.Supervisor(is_chief=True, logdir=folder, summary_op=None, global_step=step, save_model_secs=0)
        with supervisor.managed_session(cluster.target("worker", 0)) as sess:
            thread.join()
            print(seen, sess.run([step, w]))
            sess.run(train)
            supervisor.saver.save(sess, supervisor.save_path, global_step=step)
            print(supervisor.should_stop())
    tf.Session.reset(cluster.target("worker", 0))
    graph, step, w, train = build(0)
    with graph.as_default():
        supervisor = tf.train.Supervisor(is_chief=True, logdir=folder, summary_op=None, global_step=step, save_model_secs=0)
        with supervisor.managed_session(cluster.target("worker", 0)) as sess:
            print(sess.run([step, w]))
