"""Supervisors: chiefs that save, and others that wait for them."""

import tempfile, os, glob
def run(tf, cluster):
    d = tempfile.mkdtemp()
    for round in range(2):
        with tf.Graph().as_default():
            with tf.device("/job:ps/task:1"):
                gs = tf.train.get_or_create_global_step()
                w = tf.Variable([1.0, 2.0], name="w")
            with tf.device("/job:worker/task:1"):
                step = tf.group(tf.assign_add(w, [0.5, 0.5]), tf.assign_add(gs, 1))
            tf.summary.scalar("w0", w[0])
            sv = tf.train.Supervisor(is_chief=True, logdir=d, save_model_secs=0, save_summaries_secs=0, init_op=tf.global_variables_initializer(), global_step=gs, local_init_op=None)
            with sv.managed_session(cluster.target("worker", 0)) as sess:
                for _ in range(3):
                    if sv.should_stop(): break
                    sess.run(step)
                print(sess.run([w, gs]))
                sv.saver.save(sess, sv.save_path, global_step=gs)
                try: sess.run(tf.no_op())
                except Exception as e: print(type(e).__name__, str(e)[:60])
            print(sv.should_stop(), sv.is_chief, sv.session_manager is not None)
            try: sess.run(w)
            except Exception as e: print(type(e).__name__, str(e)[:60])
    print(sorted(os.path.basename(f) for f in glob.glob(d + "/*") if "events" not in f))
    with tf.Graph().as_default():
        with tf.device("/job:ps/task:0"): u = tf.Variable(3.0)
        sv = tf.train.Supervisor(is_chief=False, logdir=None, ready_op=tf.report_uninitialized_variables(), recovery_wait_secs=1)
        try:
            sv.prepare_or_wait_for_session(cluster.target("worker", 0), max_wait_secs=2)
        except Exception as e: print(type(e).__name__, str(e)[:100])
    with tf.Graph().as_default():
        with tf.device("/job:ps/task:0"): u = tf.Variable(3.0)
        sv = tf.train.Supervisor(logdir="")
        try:
            with sv.managed_session(cluster.target("worker", 0)) as s:
                raise ValueError("mine")
        except Exception as e: print(type(e).__name__, e)
