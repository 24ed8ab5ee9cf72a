"""Input pipelines on the workers: queue runners."""


def run(tf, cluster):
    with tf.device("/job:worker/task:1"):
        queue = tf.train.input_producer([7, 8, 9], num_epochs=2, shuffle=False)
        taken = tf.train.batch([queue.dequeue()], 3)
    with tf.Session(cluster.target("worker", 0)) as sess:
        sess.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
        coord = tf.train.Coordinator()
        threads = tf.train.start_queue_runners(sess, coord)
        for _ in range(3):
            try:
                print(sorted(sess.run(taken).tolist()))
            except tf.errors.OutOfRangeError as e:
                print(type(e).__name__, e.op.type)
        coord.request_stop()
        coord.join(threads)
